//===- Derivative.cpp - build the derivative of a function ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Differentiate/Derivative.h"
#include "Activity.h"
#include "CotangentConstants.h"
#include "CotangentFactors.h"
#include "CotangentMarks.h"
#include "CotangentSharing.h"
#include "CotangentSums.h"
#include "FloatBits.h"
#include "ImpliedPatterns.h"
#include "Linearization.h"
#include "Normalization.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseCotangents.h"
#include "TransposeInlining.h"
#include "Transposition.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace sparse_autograd;

bool DerivativeRequest::operator<(const DerivativeRequest &other) const {
  auto key = [](const DerivativeRequest &request) {
    auto addresses = [](ArrayRef<Type> types) {
      return llvm::map_to_vector(
          types, [](Type type) { return type.getAsOpaquePointer(); });
    };
    return std::make_tuple(request.mode, request.wrt,
                           addresses(request.tangents),
                           addresses(request.cotangents));
  };
  return key(*this) < key(other);
}

static std::string getDerivativeName(func::FuncOp function,
                                     const DerivativeRequest &request) {
  std::string name = function.getSymName().str();
  switch (request.mode) {
  case DerivativeMode::ValueAndGrad:
    name += "__value_and_grad";
    break;
  case DerivativeMode::Vjp:
    name += "__vjp";
    break;
  case DerivativeMode::Transpose:
    name += "__transpose";
    break;
  case DerivativeMode::Jvp:
    name += "__jvp";
    break;
  }
  for (auto [index, tangent] : llvm::zip_equal(request.wrt, request.tangents)) {
    name += "_" + std::to_string(index);
    if (tangent != function.getArgumentTypes()[index])
      name += isSparse(tangent) ? "_sparse" : "_dense";
  }
  return name;
}

/// The number one as a float or a tensor of rank 0.
static Value createOne(OpBuilder &builder, Location loc, Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(tensor,
                               FloatAttr::get(tensor.getElementType(), 1.0)));
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, 1.0));
}

/// Appends the tangents of the floating results to the results.
static LogicalResult buildForward(func::FuncOp derivative,
                                  const DerivativeRequest &request,
                                  const ActivityAnalysis &activity) {
  Block &body = derivative.getBody().front();
  ProgramLinearizer linearizer(derivative.getContext(), /*reverse=*/false,
                               activity);
  for (auto [index, type] : llvm::zip_equal(request.wrt, request.tangents)) {
    BlockArgument argument = body.getArgument(index);
    linearizer.setTangent(argument, body.addArgument(type, argument.getLoc()));
  }
  for (int64_t index : request.wrt) {
    // A tangent from outside may have another pattern.
    BlockArgument argument = body.getArgument(index);
    if (!isSparse(argument.getType()))
      continue;
    linearizer.builder.setInsertionPointToStart(&body);
    linearizer.setTangent(
        argument, createCopyLike(linearizer.builder, argument.getLoc(),
                                 linearizer.tangent(argument), argument));
  }
  if (failed(linearizer.linearizeBlock(body)))
    return failure();

  Operation *terminator = body.getTerminator();
  linearizer.builder.setInsertionPoint(terminator);
  SmallVector<Value> results(terminator->getOperands());
  for (Value result : terminator->getOperands())
    if (isDifferentiableType(result.getType()))
      results.push_back(
          tangentOrZero(linearizer, result, terminator->getLoc()));
  terminator->setOperands(results);
  return success();
}

/// Checks that only linear ops read what linear ops compute: once transposed,
/// they go.
static LogicalResult checkUnused(ArrayRef<Operation *> linearOps) {
  llvm::SmallPtrSet<Operation *, 16> linear(linearOps.begin(), linearOps.end());
  for (Operation *op : linearOps) {
    Block *block = op->getBlock();
    for (Operation *user : op->getUsers())
      if (!linear.contains(block->findAncestorOpInBlock(*user)))
        return op->emitOpError("is a temporary of a tangent whose shape is "
                               "unknown; the derivative rule that builds it "
                               "must call Linearizer::noteShape");
  }
  return success();
}

/// The results that `mode` differentiates, as the function returns them now.
static SmallVector<Value> getOutputs(Block &body, DerivativeMode mode) {
  SmallVector<Value> outputs;
  for (Value result : body.getTerminator()->getOperands())
    if (isDifferentiableType(result.getType()))
      outputs.push_back(result);
  if (mode == DerivativeMode::ValueAndGrad)
    outputs.resize(1);
  return outputs;
}

/// A zero of the shape of `like` and of `type`, which may be of another format.
static Value createZeroOfType(OpBuilder &builder, Location loc, Value like,
                              Type type) {
  if (type == like.getType())
    return createZero(builder, loc, like);
  if (!isSparse(type))
    return createZero(builder, loc, createDenseLike(builder, loc, like));
  return createEmptyOfType(builder, loc, cast<RankedTensorType>(type), like);
}

/// Appends the gradients, or vector-Jacobian products, to the results.
static LogicalResult buildReverse(func::FuncOp derivative,
                                  const DerivativeRequest &request,
                                  const ActivityAnalysis &activity,
                                  TransposeProvider getTranspose) {
  Block &body = derivative.getBody().front();
  ProgramLinearizer linearizer(derivative.getContext(), /*reverse=*/true,
                               activity);
  SmallVector<Value> cotangents;
  DerivativeMode mode = request.mode;
  bool hasCotangents = mode != DerivativeMode::ValueAndGrad;
  if (hasCotangents)
    for (auto [output, type] :
         llvm::zip_equal(getOutputs(body, mode), request.cotangents))
      cotangents.push_back(body.addArgument(type, output.getLoc()));

  // The inputs of the linear program are arguments for as long as it stands.
  unsigned firstInput = body.getNumArguments();
  for (auto [index, type] : llvm::zip_equal(request.wrt, request.tangents)) {
    BlockArgument argument = body.getArgument(index);
    linearizer.setTangent(argument, body.addArgument(type, argument.getLoc()));
  }
  SmallVector<Value> inputs(body.getArguments().drop_front(firstInput));
  if (failed(linearizer.linearizeBlock(body)) ||
      failed(inlineTransposes(body, linearizer, getTranspose)))
    return failure();

  Operation *terminator = body.getTerminator();
  OpBuilder builder(terminator);
  BlockTransposer transposer(builder, body, inputs, linearizer);
  // Loops have been replaced by ones that keep values.
  for (auto [index, output] : llvm::enumerate(getOutputs(body, mode))) {
    Value tangent = linearizer.tangent(output);
    if (!tangent)
      continue;
    Value seed = hasCotangents
                     ? cotangents[index]
                     : createOne(builder, output.getLoc(), output.getType());
    // A cotangent from outside may have another pattern, or format.
    if (isSparse(output.getType())) {
      Location loc = output.getLoc();
      seed = createCopyLike(builder, loc, seed, output);
      if (!isSparse(tangent.getType()))
        seed = createCopyLike(builder, loc, seed,
                              createDenseLike(builder, loc, output));
    }
    transposer.accumulate(tangent, seed, Support());
  }
  if (failed(transposer.run()))
    return failure();

  SmallVector<Value> results;
  if (mode != DerivativeMode::Transpose)
    llvm::append_range(results, terminator->getOperands());
  for (auto [index, input] : llvm::zip_equal(request.wrt, inputs)) {
    Value gradient = transposer.cotangent(input);
    if (!gradient)
      gradient = createZeroOfType(builder, terminator->getLoc(),
                                  body.getArgument(index), input.getType());
    results.push_back(gradient);
  }
  terminator->setOperands(results);
  if (failed(checkUnused(transposer.getLinearOps())))
    return failure();
  for (Operation *op : llvm::reverse(transposer.getLinearOps())) {
    op->dropAllUses();
    op->erase();
  }
  body.eraseArguments(firstInput, inputs.size());
  storeSparseCotangents(derivative);
  dropImpliedPatterns(derivative);
  simplifyCotangentSums(derivative);
  combineCotangentConstants(derivative);
  factorCotangents(derivative);
  shareCotangentProducts(derivative);
  dropCotangentMarks(derivative);
  return success();
}

FailureOr<func::FuncOp> sparse_autograd::buildDerivative(
    func::FuncOp function, const DerivativeRequest &request,
    SymbolTable &symbolTable, TransposeProvider getTranspose) {
  if (function.isDeclaration())
    return function.emitOpError("has no body to differentiate");
  func::FuncOp derivative = function.clone();
  derivative.setName(getDerivativeName(function, request));
  derivative.setPrivate();
  // Names and masks of the arguments are those of the function.
  derivative.removeArgAttrsAttr();
  derivative.removeResAttrsAttr();
  derivative->setAttr(SparseAutogradDialect::getDerivativeOfAttrName(),
                      FlatSymbolRefAttr::get(function));
  symbolTable.insert(derivative, std::next(Block::iterator(function)));
  auto abandon = [&]() -> FailureOr<func::FuncOp> {
    symbolTable.erase(derivative);
    return failure();
  };
  if (failed(normalizeForDifferentiation(derivative)))
    return abandon();
  // Forward mode keeps nothing: there is nothing to compute again.
  if (request.mode == DerivativeMode::Jvp)
    inlineRegions(derivative);

  Block &body = derivative.getBody().front();
  SmallVector<Value> inputs =
      llvm::map_to_vector(request.wrt, [&](int64_t index) -> Value {
        return body.getArgument(index);
      });
  ActivityAnalysis activity(derivative.getBody(), inputs,
                            getOutputs(body, request.mode));
  if (failed(checkFloatBits(derivative.getBody(), inputs, activity)))
    return abandon();
  LogicalResult built =
      request.mode == DerivativeMode::Jvp
          ? buildForward(derivative, request, activity)
          : buildReverse(derivative, request, activity, getTranspose);
  if (failed(built))
    return abandon();
  derivative.setType(
      FunctionType::get(derivative.getContext(), body.getArgumentTypes(),
                        body.getTerminator()->getOperandTypes()));
  if (request.mode == DerivativeMode::ValueAndGrad ||
      request.mode == DerivativeMode::Vjp) {
    unsigned first = derivative.getNumResults() - request.wrt.size();
    OpBuilder builder(derivative.getContext());
    for (auto [offset, index] : llvm::enumerate(request.wrt))
      derivative.setResultAttr(first + offset,
                               SparseAutogradDialect::getGradientOfAttrName(),
                               builder.getI64IntegerAttr(index));
  }
  return derivative;
}
