//===- ArgumentFormats.cpp - formats of arguments that leave them open ----===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormatSelection.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

/// The values of `function` that have the pattern of `argument`, and its
/// encoding.
static llvm::SetVector<Value> getAlike(func::FuncOp function,
                                       BlockArgument argument) {
  SparsePatterns patterns;
  llvm::SetVector<Value> alike;
  Attribute encoding = getSparseTensorEncoding(argument.getType());
  auto add = [&](Value value) {
    if (getSparseTensorEncoding(value.getType()) == encoding &&
        patterns.originOf(value) == argument)
      alike.insert(value);
  };
  function.walk<WalkOrder::PreOrder>([&](Block *block) {
    for (BlockArgument value : block->getArguments())
      if (isSparse(value.getType()))
        add(value);
    for (Operation &op : *block)
      for (Value value : op.getResults())
        if (isSparse(value.getType()))
          add(value);
  });
  return alike;
}

/// An op for which it matters in which order the elements of a tensor are
/// stored; null if there is none.
static Operation *findOrdered(const llvm::SetVector<Value> &alike) {
  for (Value value : alike)
    for (Operation *user : value.getUsers())
      if (isa<StoredValuesOp, StoredCoordinatesOp, WithValuesOp,
              CallOpInterface>(user) ||
          movesElements(user))
        return user;
  return nullptr;
}

namespace {
/// An operand of an op that could be stored in another order.
struct Use {
  linalg::LinalgOp op;
  OpOperand *operand;
  double runs;
};
} // namespace

static SmallVector<Use> getUses(const llvm::SetVector<Value> &alike,
                                const CostModel &costs) {
  SparsePatterns patterns;
  SmallVector<Use> uses;
  for (Value value : alike)
    for (OpOperand &use : value.getUses()) {
      auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (!op)
        continue;
      // Operands of one pattern change together.
      SmallVector<OpOperand *> free = getFreeOperands(op, patterns);
      if (free.empty() || free.front() != &use)
        continue;
      double runs = 1;
      for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
           loop = loop->getParentOfType<LoopLikeOpInterface>())
        runs *= costs.getIterations(loop);
      uses.push_back({op, &use, runs});
    }
  return uses;
}

static double getCost(ArrayRef<Use> uses, SparseTensorEncodingAttr encoding,
                      const CostModel &costs) {
  double cost = 0;
  for (const Use &use : uses)
    cost += costs.getRunCost(use.op, *use.operand, encoding) * use.runs;
  return cost;
}

/// Stores the values of `alike` with `encoding`. Results of the function whose
/// format is not open keep theirs. Fails, with `function` unchanged, if some op
/// does not allow that.
static LogicalResult setEncoding(func::FuncOp function,
                                 const llvm::SetVector<Value> &alike,
                                 SparseTensorEncodingAttr encoding) {
  // Where a function returns from is not known in unstructured control flow.
  if (!function.getBody().hasOneBlock())
    return failure();
  IRMapping mapping;
  OwningOpRef<func::FuncOp> changed =
      cast<func::FuncOp>(function->clone(mapping));
  for (Value value : alike) {
    Value copy = mapping.lookup(value);
    copy.setType(
        cast<RankedTensorType>(copy.getType()).cloneWithEncoding(encoding));
  }
  Operation *terminator = changed->front().getTerminator();
  OpBuilder builder(terminator);
  SmallVector<Type> results(changed->getResultTypes());
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (operand.get().getType() == results[number])
      continue;
    if (changed->getResultAttr(number,
                               SparseAutogradDialect::getAnyFormatAttrName()))
      results[number] = operand.get().getType();
    else
      operand.set(ConvertOp::create(builder, terminator->getLoc(),
                                    results[number], operand.get()));
  }
  changed->setFunctionType(FunctionType::get(
      function.getContext(), changed->front().getArgumentTypes(), results));
  // Any op may have something to say about types.
  ScopedDiagnosticHandler silence(function.getContext(),
                                  [](Diagnostic &) { return success(); });
  if (failed(verify(*changed)))
    return failure();
  function.getBody().takeBody(changed->getBody());
  function.setFunctionType(changed->getFunctionType());
  return success();
}

static void chooseFormat(func::FuncOp function, unsigned number,
                         const CostModel &costs) {
  BlockArgument argument = function.getArgument(number);
  auto type = cast<RankedTensorType>(argument.getType());
  llvm::SetVector<Value> alike = getAlike(function, argument);
  SmallVector<Use> uses = getUses(alike, costs);
  double cost = getCost(uses, getSparseTensorEncoding(type), costs);
  double lowest = cost;
  SparseTensorEncodingAttr best;
  for (SparseTensorEncodingAttr encoding : getOtherOrders(type))
    if (double other = getCost(uses, encoding, costs); other < lowest) {
      lowest = other;
      best = encoding;
    }
  std::string text = "argument " + std::to_string(number) + " is stored ";
  if (!best) {
    remark::passed(argument.getLoc(), getRemarkOptions("stored", function))
        << text + "as its type says: no other order costs less";
    return;
  }
  std::string order = describeOrder(best);
  Operation *ordered = findOrdered(alike);
  if (ordered || failed(setEncoding(function, alike, best))) {
    std::string reason =
        ordered
            ? ordered->getName().getStringRef().str() + " depends on the order"
            : "ops on it need the format of another tensor";
    remark::missed(argument.getLoc(), getRemarkOptions("stored", function))
        << text + "as its type says, although one with " + order +
               " costs less: " + reason;
    return;
  }
  remark::passed(function.getArgument(number).getLoc(),
                 getRemarkOptions("stored", function))
      << text + "with " + order << remark::metric("Cost", lowest)
      << remark::metric("Before", cost);
}

void sparse_autograd::chooseArgumentFormats(func::FuncOp function,
                                            const CostModel &costs) {
  StringRef name = SparseAutogradDialect::getAnyFormatAttrName();
  for (unsigned number = 0; number < function.getNumArguments(); ++number)
    if (function.removeArgAttr(number, name))
      chooseFormat(function, number, costs);
  for (unsigned number = 0; number < function.getNumResults(); ++number)
    function.removeResultAttr(number,
                              StringAttr::get(function.getContext(), name));
}
