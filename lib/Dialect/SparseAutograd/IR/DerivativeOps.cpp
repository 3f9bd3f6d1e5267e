//===- DerivativeOps.cpp - calls of derivatives ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What value_and_grad, vjp and jvp require of the function they name.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// Finds the callee and checks the arguments and `wrt` against it.
static FailureOr<FunctionOpInterface>
verifyCallee(Operation *op, FlatSymbolRefAttr symbol, OperandRange arguments,
             ArrayRef<int64_t> wrt, SymbolTableCollection &symbolTable) {
  auto callee =
      symbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(op, symbol);
  if (!callee)
    return op->emitOpError("'")
           << symbol.getValue() << "' is not a function of this module";
  ArrayRef<Type> inputs = callee.getArgumentTypes();
  if (inputs.size() != arguments.size())
    return op->emitOpError("passes ")
           << arguments.size() << " arguments to '" << symbol.getValue()
           << "', which takes " << inputs.size();
  for (auto [index, pair] :
       llvm::enumerate(llvm::zip_equal(inputs, arguments.getTypes())))
    if (std::get<0>(pair) != std::get<1>(pair))
      return op->emitOpError("passes ")
             << std::get<1>(pair) << " as argument " << index << " of '"
             << symbol.getValue() << "', which takes " << std::get<0>(pair);
  if (wrt.empty())
    return op->emitOpError("'wrt' lists no argument");
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t index : wrt) {
    if (index < 0 || index >= static_cast<int64_t>(inputs.size()))
      return op->emitOpError("'wrt' lists argument ")
             << index << " of '" << symbol.getValue() << "', which takes "
             << inputs.size();
    if (!seen.insert(index).second)
      return op->emitOpError("'wrt' lists argument ") << index << " twice";
    if (isa<ComplexType>(getElementTypeOrSelf(inputs[index])))
      return op->emitOpError("'wrt' lists argument ")
             << index << " of type " << inputs[index]
             << "; complex numbers are not differentiated, split them into "
             << "real and imaginary parts";
    if (isa<BaseMemRefType>(inputs[index]))
      return op->emitOpError("'wrt' lists argument ")
             << index << " of type " << inputs[index]
             << "; memory is not differentiated, pass a tensor";
    if (!isDifferentiableType(inputs[index]))
      return op->emitOpError("'wrt' lists argument ")
             << index << " of type " << inputs[index]
             << "; only floats and tensors of floats are differentiable";
  }
  return callee;
}

/// Checks the types of a list of operands or results against `expected`.
static LogicalResult verifyTypes(Operation *op, TypeRange actual,
                                 ArrayRef<Type> expected, StringRef what) {
  if (actual == TypeRange(expected))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("needs the ") << what << " (";
  llvm::interleaveComma(expected, diagnostic);
  diagnostic << "), not (";
  llvm::interleaveComma(actual, diagnostic);
  return diagnostic << ")";
}

static SmallVector<Type> floatingTypes(ArrayRef<Type> types) {
  return llvm::to_vector(llvm::make_filter_range(
      types, [](Type t) { return isDifferentiableType(t); }));
}

static SmallVector<Type> select(ArrayRef<Type> types, ArrayRef<int64_t> wrt) {
  return llvm::map_to_vector(wrt, [&](int64_t index) { return types[index]; });
}

static SmallVector<Type> concatenate(ArrayRef<Type> a, ArrayRef<Type> b) {
  SmallVector<Type> all(a);
  llvm::append_range(all, b);
  return all;
}

LogicalResult
ValueAndGradOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto callee = verifyCallee(*this, getCalleeAttr(), getArguments(), getWrt(),
                             symbolTable);
  if (failed(callee))
    return failure();
  ArrayRef<Type> results = callee->getResultTypes();
  auto isScalar = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return isDifferentiableType(type) && (!tensor || tensor.getRank() == 0);
  };
  if (results.empty() || !isScalar(results.front())) {
    InFlightDiagnostic diagnostic =
        emitOpError("the first result of '")
        << getCallee()
        << "' is the loss: it must be a float or a tensor of rank 0";
    if (!results.empty())
      diagnostic << ", not " << results.front();
    return diagnostic << "; use vjp for other results";
  }
  return verifyTypes(
      *this, getResultTypes(),
      concatenate(results, select(callee->getArgumentTypes(), getWrt())),
      "results");
}

LogicalResult VjpOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto callee = verifyCallee(*this, getCalleeAttr(), getArguments(), getWrt(),
                             symbolTable);
  if (failed(callee) ||
      failed(verifyTypes(*this, getCotangents().getTypes(),
                         floatingTypes(callee->getResultTypes()),
                         "cotangents")))
    return failure();
  return verifyTypes(*this, getResultTypes(),
                     concatenate(callee->getResultTypes(),
                                 select(callee->getArgumentTypes(), getWrt())),
                     "results");
}

LogicalResult JvpOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto callee = verifyCallee(*this, getCalleeAttr(), getArguments(), getWrt(),
                             symbolTable);
  if (failed(callee) ||
      failed(verifyTypes(*this, getTangents().getTypes(),
                         select(callee->getArgumentTypes(), getWrt()),
                         "tangents")))
    return failure();
  return verifyTypes(*this, getResultTypes(),
                     concatenate(callee->getResultTypes(),
                                 floatingTypes(callee->getResultTypes())),
                     "results");
}
