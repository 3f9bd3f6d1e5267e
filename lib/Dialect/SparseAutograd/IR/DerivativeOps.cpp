//===- DerivativeOps.cpp - calls of derivatives ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What derivatives, and calls with a derivative of their own, require of the
// functions they name.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// The function that `symbol` names.
static FailureOr<FunctionOpInterface>
findFunction(Operation *op, FlatSymbolRefAttr symbol,
             SymbolTableCollection &symbolTable) {
  auto function =
      symbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(op, symbol);
  if (!function)
    return op->emitOpError("'")
           << symbol.getValue() << "' is not a function of this module";
  return function;
}

/// Finds the callee and checks the arguments against it.
static FailureOr<FunctionOpInterface>
verifyCallee(Operation *op, FlatSymbolRefAttr symbol, OperandRange arguments,
             SymbolTableCollection &symbolTable) {
  FailureOr<FunctionOpInterface> callee = findFunction(op, symbol, symbolTable);
  if (failed(callee))
    return failure();
  ArrayRef<Type> inputs = callee->getArgumentTypes();
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
  return callee;
}

/// Checks `wrt` against the arguments of `callee`.
static LogicalResult verifyWrt(Operation *op, FunctionOpInterface callee,
                               ArrayRef<int64_t> wrt) {
  ArrayRef<Type> inputs = callee.getArgumentTypes();
  if (wrt.empty())
    return op->emitOpError("'wrt' lists no argument");
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t index : wrt) {
    if (index < 0 || index >= static_cast<int64_t>(inputs.size()))
      return op->emitOpError("'wrt' lists argument ")
             << index << " of '" << callee.getName() << "', which takes "
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
  return success();
}

/// Finds the callee of a derivative and checks the arguments and `wrt` against
/// it.
static FailureOr<FunctionOpInterface>
verifyCallee(Operation *op, FlatSymbolRefAttr symbol, OperandRange arguments,
             ArrayRef<int64_t> wrt, SymbolTableCollection &symbolTable) {
  FailureOr<FunctionOpInterface> callee =
      verifyCallee(op, symbol, arguments, symbolTable);
  if (failed(callee) || failed(verifyWrt(op, *callee, wrt)))
    return failure();
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

/// Whether a gradient of type `gradient` belongs to an argument of type
/// `argument`: of that type, or dense for a sparse argument, or row-sparse for
/// a dense one.
static bool isGradientType(Type gradient, Type argument) {
  if (gradient == argument)
    return true;
  auto from = dyn_cast<RankedTensorType>(argument);
  auto to = dyn_cast<RankedTensorType>(gradient);
  if (!from || !to || from.getShape() != to.getShape() ||
      from.getElementType() != to.getElementType())
    return false;
  return isSparse(from) ? !to.getEncoding()
                        : !from.getEncoding() && isRowSparse(to);
}

/// Checks the results of a derivative: `first`, then the gradients of
/// `arguments`.
static LogicalResult verifyGradients(Operation *op, ArrayRef<Type> first,
                                     ArrayRef<Type> arguments) {
  TypeRange actual = op->getResultTypes();
  SmallVector<Type> expected = concatenate(first, arguments);
  if (actual.size() == expected.size() &&
      actual.take_front(first.size()) == TypeRange(first) &&
      llvm::all_of_zip(actual.drop_front(first.size()), arguments,
                       isGradientType))
    return success();
  return verifyTypes(op, actual, expected, "results");
}

/// Checks the cotangents: one for each of `results`, of its type, or dense for
/// a sparse one.
static LogicalResult verifyCotangents(Operation *op, TypeRange cotangents,
                                      ArrayRef<Type> results) {
  if (cotangents.size() == results.size() &&
      llvm::all_of_zip(cotangents, results, [](Type cotangent, Type result) {
        return cotangent == result ||
               (isSparse(result) && isGradientType(cotangent, result));
      }))
    return success();
  return verifyTypes(op, cotangents, results, "cotangents");
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
  return verifyGradients(*this, results,
                         select(callee->getArgumentTypes(), getWrt()));
}

LogicalResult VjpOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto callee = verifyCallee(*this, getCalleeAttr(), getArguments(), getWrt(),
                             symbolTable);
  if (failed(callee) ||
      failed(verifyCotangents(*this, getCotangents().getTypes(),
                              floatingTypes(callee->getResultTypes()))))
    return failure();
  return verifyGradients(*this, callee->getResultTypes(),
                         select(callee->getArgumentTypes(), getWrt()));
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

ResultRange JvpOp::getTangentResults() {
  // n results of the callee, and as many tangents as those have floats.
  unsigned numResults = 0, numTangents = 0;
  while (numResults + numTangents < getNumResults())
    numTangents += isDifferentiableType(getResult(numResults++).getType());
  return getResults().drop_front(numResults);
}

LogicalResult
LinearTransposeOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto callee = verifyCallee(*this, getCalleeAttr(), getArguments(), getWrt(),
                             symbolTable);
  if (failed(callee))
    return failure();
  for (Type type : callee->getResultTypes())
    if (!isDifferentiableType(type))
      return emitOpError("'")
             << getCallee() << "' returns " << type
             << "; a linear function returns floats and tensors of floats only";
  if (failed(verifyTypes(*this, getCotangents().getTypes(),
                         callee->getResultTypes(), "cotangents")))
    return failure();
  return verifyTypes(*this, getResultTypes(),
                     select(callee->getArgumentTypes(), getWrt()), "results");
}

//===----------------------------------------------------------------------===//
// The derivative of a function in two parts
//===----------------------------------------------------------------------===//

/// Checks a declaration that a split_vjp is going to define.
static LogicalResult verifyDeclaration(Operation *op, FlatSymbolRefAttr symbol,
                                       ArrayRef<Type> inputs,
                                       ArrayRef<Type> results,
                                       SymbolTableCollection &symbolTable) {
  Operation *known = symbolTable.lookupNearestSymbolFrom(op, symbol);
  if (!known)
    return success();
  auto declaration = dyn_cast<FunctionOpInterface>(known);
  if (!declaration || !declaration.isDeclaration())
    return op->emitOpError("defines '")
           << symbol.getValue() << "', which is defined already";
  auto type = FunctionType::get(op->getContext(), inputs, results);
  if (declaration.getFunctionType() != type)
    return op->emitOpError("defines '")
           << symbol.getValue() << "' of type " << type
           << ", which is declared as " << declaration.getFunctionType();
  return success();
}

LogicalResult SplitVjpOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FailureOr<FunctionOpInterface> callee =
      findFunction(*this, getCalleeAttr(), symbolTable);
  if (failed(callee) || failed(verifyWrt(*this, *callee, getWrt())))
    return failure();
  if (getForward() == getBackward())
    return emitOpError("defines '") << getForward() << "' twice";
  Type residuals = ResidualsType::get(getContext(), getForwardAttr());
  ArrayRef<Type> inputs = callee->getArgumentTypes();
  ArrayRef<Type> results = callee->getResultTypes();
  if (failed(verifyDeclaration(*this, getForwardAttr(), inputs,
                               concatenate(results, residuals), symbolTable)))
    return failure();
  return verifyDeclaration(*this, getBackwardAttr(),
                           concatenate(residuals, floatingTypes(results)),
                           select(inputs, getWrt()), symbolTable);
}

//===----------------------------------------------------------------------===//
// Calls with a derivative of their own
//===----------------------------------------------------------------------===//

/// Checks the type of `function` against `inputs` and `results`.
static LogicalResult verifySignature(Operation *op,
                                     FunctionOpInterface function,
                                     ArrayRef<Type> inputs,
                                     ArrayRef<Type> results, StringRef remedy) {
  auto type = FunctionType::get(op->getContext(), inputs, results);
  if (function.getFunctionType() == type)
    return success();
  return op->emitOpError("needs '")
         << function.getName() << "' of type " << type << ", not "
         << function.getFunctionType() << ": " << remedy;
}

LogicalResult
CustomVjpOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FailureOr<FunctionOpInterface> callee =
      verifyCallee(*this, getCalleeAttr(), getArguments(), symbolTable);
  if (failed(callee) ||
      failed(verifyTypes(*this, getResultTypes(), callee->getResultTypes(),
                         "results")))
    return failure();
  FailureOr<FunctionOpInterface> forward =
      findFunction(*this, getForwardAttr(), symbolTable);
  FailureOr<FunctionOpInterface> backward =
      findFunction(*this, getBackwardAttr(), symbolTable);
  if (failed(forward) || failed(backward))
    return failure();
  ArrayRef<Type> inputs = callee->getArgumentTypes();
  ArrayRef<Type> results = callee->getResultTypes();
  ArrayRef<Type> forwardResults = forward->getResultTypes();
  ArrayRef<Type> residuals;
  if (forwardResults.size() >= results.size())
    residuals = forwardResults.drop_front(results.size());
  if (failed(verifySignature(*this, *forward, inputs,
                             concatenate(results, residuals),
                             "it takes the arguments of the callee and returns "
                             "its results, then the residuals")))
    return failure();
  return verifySignature(
      *this, *backward, concatenate(residuals, floatingTypes(results)),
      floatingTypes(inputs),
      "it takes the residuals and a cotangent for each floating result, and "
      "returns a gradient for each floating argument");
}

LogicalResult
CheckpointOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FailureOr<FunctionOpInterface> callee =
      verifyCallee(*this, getCalleeAttr(), getArguments(), symbolTable);
  if (failed(callee))
    return failure();
  return verifyTypes(*this, getResultTypes(), callee->getResultTypes(),
                     "results");
}

LogicalResult BarrierOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

LogicalResult
BarrierOp::reifyResultShapes(OpBuilder &builder,
                             ReifiedRankedShapedTypeDims &shapes) {
  for (Value input : getInputs()) {
    shapes.emplace_back();
    if (isa<RankedTensorType>(input.getType()))
      shapes.back() = tensor::getMixedSizes(builder, getLoc(), input);
  }
  return success();
}
