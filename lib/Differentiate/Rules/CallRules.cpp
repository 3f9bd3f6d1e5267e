//===- CallRules.cpp - calls with a derivative of their own ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tangent of a custom_vjp is the transpose of the user's backward
// function, which transposed is a call of that function. The calls of
// derivatives that come out of this are expanded in their turn.
//
//===----------------------------------------------------------------------===//

#include "CallRules.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace sparse_autograd;

/// The cotangents of `values`, zeros where nothing has reached them.
static SmallVector<Value> getCotangentsOrZeros(Transposer &transposer,
                                               ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) -> Value {
    if (Value cotangent = transposer.cotangent(value))
      return cotangent;
    return createZero(transposer.builder, value.getLoc(),
                      transposer.shapeOf(value));
  });
}

/// The values of `values` that have derivatives.
static SmallVector<Value> getDifferentiable(ValueRange values) {
  SmallVector<Value> result;
  llvm::copy_if(values, std::back_inserter(result), [](Value value) {
    return isDifferentiableType(value.getType());
  });
  return result;
}

/// Uses `replacements` in the place of the results of `op`.
static void replaceResults(Operation *op, ValueRange replacements,
                           Linearizer &linearizer) {
  IRMapping mapping;
  for (auto [old, replacement] : llvm::zip(op->getResults(), replacements)) {
    mapping.map(Value(old), replacement);
    old.replaceAllUsesWith(replacement);
    if (Value tangent = linearizer.tangent(old))
      linearizer.setTangent(replacement, tangent);
  }
  linearizer.noteClones(mapping);
}

namespace {

//===----------------------------------------------------------------------===//
// checkpoint
//===----------------------------------------------------------------------===//

/// A checkpoint is a region by now, unless its callee cannot be one.
struct CheckpointModel
    : LinearizableOpInterface::ExternalModel<CheckpointModel, CheckpointOp> {
  LogicalResult linearize(Operation *operation, Linearizer &) const {
    auto op = cast<CheckpointOp>(operation);
    return op.emitOpError("'")
           << op.getCallee() << "' has no body to differentiate";
  }
};

struct BarrierModel
    : LinearizableOpInterface::ExternalModel<BarrierModel, BarrierOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    for (auto [input, result] :
         llvm::zip_equal(operation->getOperands(), operation->getResults()))
      if (Value tangent = linearizer.tangent(input))
        linearizer.setTangent(result, tangent);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// custom_vjp
//===----------------------------------------------------------------------===//

struct CustomVjpModel
    : LinearizableOpInterface::ExternalModel<CustomVjpModel, CustomVjpOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<CustomVjpOp>(operation);
    Location loc = op.getLoc();
    auto forward = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, op.getForwardAttr());
    if (!forward)
      return op.emitOpError("'")
             << op.getForward()
             << "' is not a func.func; only those are called";

    // The forward function takes the place of the callee.
    OpBuilder builder(op);
    auto call = func::CallOp::create(builder, loc, forward, op.getArguments());
    replaceResults(op, call.getResults(), linearizer);
    ValueRange results = call.getResults().take_front(op.getNumResults());
    ValueRange residuals = call.getResults().drop_front(op.getNumResults());

    // Where the backward function, being linear, is evaluated does not matter;
    // the results have the shape of their cotangents.
    SmallVector<Value> arguments(residuals);
    SmallVector<Value> outputs = getDifferentiable(results);
    llvm::append_range(arguments, outputs);
    SmallVector<int64_t> wrt = llvm::to_vector(llvm::seq<int64_t>(
        residuals.size(), static_cast<int64_t>(arguments.size())));
    SmallVector<Value> tangents;
    for (Value argument : getDifferentiable(op.getArguments()))
      tangents.push_back(tangentOrZero(linearizer, argument, loc));
    auto tangent = LinearTransposeOp::create(
        linearizer.builder, loc, TypeRange(ValueRange(outputs)),
        op.getBackward(), arguments, tangents, wrt);
    for (auto [output, result] : llvm::zip_equal(outputs, tangent.getResults()))
      linearizer.setTangent(output, result);
    linearizer.retire(op);
    return success();
  }
};

struct LinearTransposeModel
    : LinearizableOpInterface::ExternalModel<LinearTransposeModel,
                                             LinearTransposeOp> {
  LogicalResult linearize(Operation *op, Linearizer &) const {
    return op->emitOpError("is to be expanded before what calls it is "
                           "differentiated");
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<LinearTransposeOp>(operation);
    SmallVector<Value> cotangents =
        getCotangentsOrZeros(transposer, op.getResults());
    SmallVector<Value> arguments(op.getArguments());
    for (auto [index, cotangent] : llvm::zip_equal(op.getWrt(), cotangents))
      arguments[index] = cotangent;
    for (auto [index, argument] : llvm::enumerate(arguments))
      if (!llvm::is_contained(op.getWrt(), static_cast<int64_t>(index)))
        argument = transposer.primal(argument);
    auto call = func::CallOp::create(transposer.builder, op.getLoc(),
                                     op.getCalleeAttr(),
                                     op.getCotangents().getTypes(), arguments);
    for (auto [tangent, cotangent] :
         llvm::zip_equal(op.getCotangents(), call.getResults()))
      transposer.accumulate(tangent, cotangent);
    return success();
  }
};

} // namespace

void sparse_autograd::attachCallRules(MLIRContext &context) {
  BarrierOp::attachInterface<BarrierModel>(context);
  CheckpointOp::attachInterface<CheckpointModel>(context);
  CustomVjpOp::attachInterface<CustomVjpModel>(context);
  LinearTransposeOp::attachInterface<LinearTransposeModel>(context);
}
