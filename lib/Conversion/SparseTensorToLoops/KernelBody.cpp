//===- KernelBody.cpp - what is done at each element ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Transforms/FoldConstants.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

KernelBody::KernelBody(Kernel &kernel, const StoredPart &part,
                       std::optional<unsigned> pattern)
    : kernel(kernel), absent(kernel.op->getNumOperands()), pattern(pattern),
      starts(kernel.op->getNumResults()), isScalar(kernel.op->getNumResults()) {
  for (unsigned number : part.missing)
    absent.set(number);
}

std::optional<SmallVector<Value>>
KernelBody::getPlace(OpBuilder &builder, const VisitedElement &element,
                     unsigned number) {
  if (pattern) {
    unsigned operand = kernel.getLoopOperand(*pattern);
    if (!element.isAt(kernel.loops->getOperand(operand), operand))
      return std::nullopt;
    return SmallVector<Value>{
        element.cursors.find(operand)->second.getPosition()};
  }
  AffineMap map =
      kernel.op.getMatchingIndexingMap(kernel.op.getDpsInitOperand(number));
  for (auto [loop, index] : llvm::enumerate(element.indices))
    if (!index && map.isFunctionOfDim(loop))
      return std::nullopt;
  SmallVector<Value> place;
  for (AffineExpr expr : map.getResults())
    place.push_back(affine::expandAffineExpr(builder, kernel.loc, expr,
                                             element.indices, {}));
  return place;
}

bool KernelBody::writesApart(const OutermostLoop &outermost) {
  if (pattern && outermost.operand == kernel.getLoopOperand(*pattern))
    return true;
  if (!outermost.coordinate)
    return false;
  // A place determines the indices that its map consists of, and they the
  // iteration.
  auto separates = [&](OpOperand &operand) {
    AffineMap map = kernel.op.getMatchingIndexingMap(&operand);
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
      if (outermost.coordinate.isFunctionOfDim(loop) &&
          !llvm::is_contained(map.getResults(),
                              kernel.builder.getAffineDimExpr(loop)))
        return false;
    return true;
  };
  if (pattern)
    return separates(kernel.op->getOpOperand(*pattern));
  return llvm::all_of(kernel.op.getDpsInitsMutable(), separates);
}

void KernelBody::begin(
    OpBuilder &builder,
    llvm::function_ref<bool(const llvm::SmallBitVector &)> isVisitedOnce,
    SmallVectorImpl<Value> &carried) {
  // On a device the loops that fill a tensor are fused with these.
  if (!kernel.isReduction() || pattern ||
      kernel.loops->getSchedule().isForDevice)
    return;
  for (unsigned result = 0; result < carried.size(); ++result) {
    OpOperand *init = kernel.op.getDpsInitOperand(result);
    Value tensor = carried[result];
    AffineMap map = kernel.op.getMatchingIndexingMap(init);
    if (!kernel.readsInit(result) || !map.isProjectedPermutation() ||
        !isVisitedOnce(getLoops(init->getOperandNumber())))
      continue;
    auto constant = dyn_cast_or_null<TypedAttr>(getUniformConstant(tensor));
    if (!constant)
      continue;
    starts[result] = arith::ConstantOp::create(builder, kernel.loc, constant);
    carried[result] = tensor::EmptyOp::create(
        builder, kernel.loc, tensor::getMixedSizes(builder, kernel.loc, tensor),
        constant.getType());
  }
}

bool KernelBody::enter(OpBuilder &builder, const VisitedElement &element,
                       SmallVectorImpl<Value> &carried) {
  SmallVector<Promotion> now;
  for (unsigned result = 0; result < carried.size(); ++result) {
    if (isScalar.test(result) || !kernel.isReduction() ||
        !kernel.readsInit(result))
      continue;
    std::optional<SmallVector<Value>> place =
        getPlace(builder, element, result);
    if (!place)
      continue;
    Value tensor = carried[result];
    if (!starts[result])
      carried[result] = load(builder, element, tensor, *place);
    else if (element.lanes)
      carried[result] =
          element.lanes->broadcast(builder, kernel.loc, starts[result]);
    else
      carried[result] = starts[result];
    now.push_back({result, tensor, std::move(*place)});
    isScalar.set(result);
  }
  if (now.empty())
    return false;
  promotions.push_back(std::move(now));
  return true;
}

void KernelBody::exit(OpBuilder &builder, const VisitedElement &element,
                      SmallVectorImpl<Value> &carried) {
  for (const Promotion &promotion : promotions.pop_back_val()) {
    carried[promotion.result] =
        store(builder, element, carried[promotion.result], promotion.tensor,
              promotion.place);
    isScalar.reset(promotion.result);
  }
}

SmallVector<Value> KernelBody::visit(OpBuilder &builder,
                                     const VisitedElement &element,
                                     ValueRange carried) {
  SmallVector<const Term *> yields = kernel.terms.getYields(absent);
  SmallVector<Value> arguments = kernel.loadDense(builder, element, yields);
  SmallVector<unsigned> optional;
  for (OpOperand *input : kernel.op.getDpsInputOperands()) {
    unsigned number = input->getOperandNumber();
    if (absent.test(number) || !isSparse(input->get().getType()) ||
        !kernel.terms.reads(yields, number))
      continue;
    unsigned operand = kernel.getLoopOperand(number);
    if (!element.isAt(kernel.loops->getOperand(operand), operand)) {
      optional.push_back(number);
      continue;
    }
    arguments[number] = tensor::ExtractOp::create(
        builder, kernel.loc, kernel.getStorage(number).getValues(),
        element.cursors.find(operand)->second.getPosition());
  }
  return visitOptional(builder, element, optional, absent, std::move(arguments),
                       carried);
}

SmallVector<Value> KernelBody::visitOptional(OpBuilder &builder,
                                             const VisitedElement &element,
                                             ArrayRef<unsigned> optional,
                                             llvm::SmallBitVector absent,
                                             SmallVector<Value> arguments,
                                             ValueRange carried) {
  if (optional.empty())
    return compute(builder, element, absent, std::move(arguments), carried);
  unsigned number = optional.front();
  return kernel.loops->lookUp(
      builder, element, kernel.getLoopOperand(number), carried.getTypes(),
      [&](OpBuilder &nested, Value position) {
        SmallVector<Value> with(arguments);
        with[number] = tensor::ExtractOp::create(
            nested, kernel.loc, kernel.getStorage(number).getValues(),
            position);
        return visitOptional(nested, element, optional.drop_front(), absent,
                             std::move(with), carried);
      },
      [&](OpBuilder &nested) {
        llvm::SmallBitVector without(absent);
        without.set(number);
        return visitOptional(nested, element, optional.drop_front(), without,
                             arguments, carried);
      });
}

/// Lets terms be added to `before` in another order, in several partial sums: a
/// fixed order, and no less exact. Lets a product among them be added without
/// being rounded, as an fma does.
static void relaxSum(Value sum, Value before) {
  auto add = sum.getDefiningOp<arith::AddFOp>();
  if (!add || !llvm::is_contained(add->getOperands(), before))
    return;
  add.setFastmath(add.getFastmath() | arith::FastMathFlags::reassoc |
                  arith::FastMathFlags::contract);
  for (Value term : add->getOperands())
    if (auto product = term.getDefiningOp<arith::MulFOp>())
      product.setFastmath(product.getFastmath() |
                          arith::FastMathFlags::contract);
}

SmallVector<Value> KernelBody::compute(OpBuilder &builder,
                                       const VisitedElement &element,
                                       const llvm::SmallBitVector &absent,
                                       SmallVector<Value> arguments,
                                       ValueRange carried) {
  SmallVector<Value> results(carried);
  SmallVector<const Term *> yields = kernel.terms.getYields(absent);
  SmallVector<SmallVector<Value>> places(results.size());
  for (unsigned result = 0; result < results.size(); ++result) {
    OpOperand *init = kernel.op.getDpsInitOperand(result);
    if (!isScalar.test(result))
      places[result] = *getPlace(builder, element, result);
    if (!kernel.terms.reads(yields, init->getOperandNumber()))
      continue;
    Value running = carried[result];
    // Without a reduction the init is an operand like the others, unless what
    // is carried is still the init here.
    if (pattern && !kernel.isReduction())
      running = kernel.getStorage(init->getOperandNumber()).getValues();
    else if (!kernel.keepsInits())
      running = kernel.operands[init->getOperandNumber()].front();
    arguments[init->getOperandNumber()] =
        isScalar.test(result) ? running
                              : load(builder, element, running, places[result]);
  }
  SmallVector<Value> values =
      element.lanes ? kernel.terms.buildVectors(builder, yields, arguments,
                                                element.lanes->count)
                    : kernel.build(builder, yields, arguments, element);
  for (unsigned result = 0; result < results.size(); ++result) {
    if (kernel.isReduction())
      relaxSum(
          values[result],
          arguments[kernel.op.getDpsInitOperand(result)->getOperandNumber()]);
    if (!isScalar.test(result)) {
      results[result] = store(builder, element, values[result], carried[result],
                              places[result]);
      continue;
    }
    results[result] =
        element.lanes
            ? element.lanes->broadcast(builder, kernel.loc, values[result])
            : values[result];
  }
  return results;
}
