//===- CallRules.cpp - calls with a derivative of their own ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tangent of a checkpoint is a jvp of its callee, which transposed is a
// vjp. The tangent of a custom_vjp is the transpose of the user's backward
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

/// The counterparts of values that are not linear.
static SmallVector<Value> getPrimals(Transposer &transposer,
                                     ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value value) { return transposer.primal(value); });
}

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

struct CheckpointModel
    : LinearizableOpInterface::ExternalModel<CheckpointModel, CheckpointOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<CheckpointOp>(operation);
    SmallVector<int64_t> wrt;
    SmallVector<Value> tangents;
    for (auto [index, argument] : llvm::enumerate(op.getArguments())) {
      if (Value tangent = linearizer.tangent(argument)) {
        wrt.push_back(static_cast<int64_t>(index));
        tangents.push_back(tangent);
      }
    }
    SmallVector<Value> outputs = getDifferentiable(op.getResults());
    SmallVector<Type> types(op.getResultTypes());
    llvm::append_range(types, TypeRange(ValueRange(outputs)));
    auto tangent =
        JvpOp::create(linearizer.builder, op.getLoc(), types, op.getCallee(),
                      op.getArguments(), tangents, wrt);
    for (auto [output, result] :
         llvm::zip_equal(outputs, tangent.getTangentResults()))
      linearizer.setTangent(output, result);
    // Forward mode has the values from the same call.
    if (!linearizer.isReverse()) {
      replaceResults(op, tangent.getResults(), linearizer);
      linearizer.retire(op);
    }
    return success();
  }
};

/// A jvp is linear in its tangents.
struct JvpModel : LinearizableOpInterface::ExternalModel<JvpModel, JvpOp> {
  LogicalResult linearize(Operation *op, Linearizer &) const {
    return op->emitOpError("is to be expanded before what calls it is "
                           "differentiated");
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<JvpOp>(operation);
    OpBuilder &builder = transposer.builder;
    ResultRange outputs = op.getTangentResults();
    unsigned numPrimals = op.getNumResults() - outputs.size();
    unsigned numArguments = op.getArguments().size();
    SmallVector<Value> inputs = getPrimals(transposer, op.getArguments());
    llvm::append_range(inputs, getCotangentsOrZeros(transposer, outputs));
    auto late = BarrierOp::create(builder, op.getLoc(), inputs);
    SmallVector<Type> types(op->getResults().take_front(numPrimals).getTypes());
    llvm::append_range(types, op.getTangents().getTypes());
    auto pullback =
        VjpOp::create(builder, op.getLoc(), types, op.getCallee(),
                      late.getResults().take_front(numArguments),
                      late.getResults().drop_front(numArguments), op.getWrt());
    for (auto [tangent, cotangent] : llvm::zip_equal(
             op.getTangents(), pullback.getResults().drop_front(numPrimals)))
      transposer.accumulate(tangent, cotangent);
    return success();
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
  JvpOp::attachInterface<JvpModel>(context);
  LinearTransposeOp::attachInterface<LinearTransposeModel>(context);
}
