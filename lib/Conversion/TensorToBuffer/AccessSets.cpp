//===- AccessSets.cpp - accesses that one-shot analysis compares ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessSets.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace sparse_autograd;

/// The number of accesses that the analysis compares.
static constexpr size_t partLength = 16;

//===----------------------------------------------------------------------===//
// Empty tensors and arguments
//===----------------------------------------------------------------------===//

void sparse_autograd::repeatEmpties(func::FuncOp function) {
  llvm::MapVector<Operation *, SmallVector<OpOperand *>> uses;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (auto empty = operand.get().getDefiningOp<tensor::EmptyOp>())
        uses[empty].push_back(&operand);
  });
  for (auto &[empty, operands] : uses) {
    OpBuilder builder(empty);
    for (size_t i = partLength; i < operands.size(); i += partLength) {
      Value another = builder.clone(*empty)->getResult(0);
      for (OpOperand *operand :
           ArrayRef(operands).drop_front(i).take_front(partLength))
        operand->set(another);
    }
  }
}

/// The content of `buffer`. No other tensor that has it conflicts with this
/// one: none of them is written, or each dies before the next.
static Value readBuffer(OpBuilder &builder, Location loc, Type type,
                        Value buffer, bool writable) {
  return bufferization::ToTensorOp::create(builder, loc, type, buffer,
                                           /*restrict=*/true, writable);
}

void sparse_autograd::splitArguments(func::FuncOp function) {
  if (!function.isPublic() || function.isExternal())
    return;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    SmallVector<OpOperand *> inputs;
    for (OpOperand &use : argument.getUses()) {
      auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
      if (isa<tensor::ExtractSliceOp>(use.getOwner()) ||
          (op && op.isDpsInput(&use) && op.hasPureTensorSemantics()))
        inputs.push_back(&use);
    }
    if (inputs.size() <= partLength)
      continue;
    OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
    Location loc = argument.getLoc();
    Value buffer = bufferization::ToBufferOp::create(
        builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
        argument,
        /*read_only=*/true);
    for (size_t i = 0; i < inputs.size(); i += partLength) {
      Value part = readBuffer(builder, loc, type, buffer, /*writable=*/false);
      for (OpOperand *input :
           ArrayRef(inputs).drop_front(i).take_front(partLength))
        input->set(part);
    }
  }
}

//===----------------------------------------------------------------------===//
// Chains of updates
//===----------------------------------------------------------------------===//

/// Whether nothing reads the content of `source` but its one use: what it is
/// computed from in place is overwritten on the way.
static bool isReadOnce(Value source) {
  while (source.hasOneUse()) {
    Operation *op = source.getDefiningOp();
    if (!op || isa<DestinationStyleOpInterface, scf::ForOp, scf::ForallOp>(op))
      return true;
    if (!isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
            op))
      return false;
    source = op->getOperand(0);
  }
  return false;
}

/// The result of the op that writes to `value` in its place if nothing else
/// uses it, or null.
static OpResult getUpdate(Value value) {
  if (!value.hasOneUse())
    return {};
  OpOperand &use = *value.use_begin();
  auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
  if (!op || !op.isDpsInit(&use) || op->getBlock() != value.getParentBlock())
    return {};
  // A slice may be computed where it is inserted; a later read of it would have
  // to be compared with all that is inserted after it.
  if (auto insertion = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
      insertion && !isReadOnce(insertion.getSource()))
    return {};
  return op.getTiedOpResult(&use);
}

static void writeBuffer(OpBuilder &builder, Location loc, Value tensor,
                        Value buffer) {
  bufferization::MaterializeInDestinationOp::create(
      builder, loc, /*result=*/Type(), tensor, buffer, /*restrict=*/false,
      /*writable=*/true);
}

/// Cuts the chain of `updates`, whose first op writes to `start`.
static LogicalResult
cutChain(OpOperand &start, ArrayRef<OpResult> updates,
         const bufferization::BufferizationOptions &options) {
  OpBuilder builder(start.getOwner());
  Location loc = start.getOwner()->getLoc();
  Value first = start.get();
  auto type = cast<RankedTensorType>(first.getType());
  SmallVector<Value> extents;
  if (auto empty = first.getDefiningOp<tensor::EmptyOp>())
    extents = empty.getDynamicSizes();
  FailureOr<Value> buffer = options.createAlloc(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      extents);
  if (failed(buffer))
    return failure();
  if (first.getDefiningOp<arith::ConstantOp>())
    writeBuffer(builder, loc, first, *buffer);
  start.set(readBuffer(builder, loc, type, *buffer, /*writable=*/true));

  // Accesses of the buffer keep their order, so that each part finds what the
  // one before it has left there; a copy of the buffer to itself folds.
  for (size_t i = partLength; i < updates.size(); i += partLength) {
    OpResult result = updates[i - 1];
    OpOperand &next = *result.use_begin();
    builder.setInsertionPointAfter(result.getOwner());
    loc = result.getOwner()->getLoc();
    writeBuffer(builder, loc, result, *buffer);
    next.set(readBuffer(builder, loc, type, *buffer, /*writable=*/true));
  }
  return success();
}

LogicalResult sparse_autograd::cutUpdateChains(
    func::FuncOp function, const bufferization::BufferizationOptions &options) {
  SmallVector<std::pair<OpOperand *, SmallVector<OpResult>>> chains;
  function.walk([&](DestinationStyleOpInterface op) {
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (!isa_and_nonnull<tensor::EmptyOp, arith::ConstantOp>(
              init.get().getDefiningOp()) ||
          !isa<RankedTensorType>(init.get().getType()))
        continue;
      SmallVector<OpResult> updates;
      for (OpResult result = op.getTiedOpResult(&init); result;
           result = getUpdate(result))
        updates.push_back(result);
      // A constant is copied in any case, here before its first update, and not
      // where the analysis first finds that it must not be written.
      bool isConstant =
          init.get().getDefiningOp<arith::ConstantOp>() != nullptr;
      if (updates.size() > (isConstant ? 1 : partLength))
        chains.emplace_back(&init, std::move(updates));
    }
  });
  for (auto &[start, updates] : chains)
    if (failed(cutChain(*start, updates, options)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

void sparse_autograd::remarkLargestAccessSet(
    ModuleOp module, const bufferization::OneShotAnalysisState &state) {
  if (!module.getContext()->getRemarkEngine())
    return;
  size_t largest = 0;
  llvm::DenseSet<Value> seen;
  auto count = [&](Value value) {
    if (!isa<TensorType>(value.getType()) || seen.contains(value))
      return;
    size_t accesses = 0;
    state.applyOnAliases(value, [&](Value alias) {
      seen.insert(alias);
      accesses += alias.getNumUses();
    });
    largest = std::max(largest, accesses);
  };
  module.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), count);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), count);
  });
  remark::analysis(module.getLoc(),
                   remark::RemarkOpts::name("compared")
                       .category("sparse-autograd-tensor-to-buffer"))
      << "accesses of one buffer are compared with each other, at most "
      << remark::metric("Accesses", largest);
}
