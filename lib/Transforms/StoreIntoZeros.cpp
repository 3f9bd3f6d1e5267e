//===- StoreIntoZeros.cpp - sums that begin and end at once ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/StoreIntoZeros.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether all elements of a tensor are zero.
static bool isZero(Value value) {
  if (auto cast = value.getDefiningOp<tensor::CastOp>())
    return isZero(cast.getSource());
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.value(), m_PosZeroFloat());
  return matchPattern(value, m_PosZeroFloat());
}

/// Whether an index differs from iteration to iteration: the induction variable
/// plus or minus what the loop does not change.
static bool differsByIteration(scf::ForOp loop, Value index) {
  if (index == loop.getInductionVar())
    return true;
  Operation *op = index.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return false;
  for (auto [varying, fixed] :
       {std::pair(op->getOperand(0), op->getOperand(1)),
        std::pair(op->getOperand(1), op->getOperand(0))})
    if (loop.isDefinedOutsideOfLoop(fixed) && differsByIteration(loop, varying))
      return true;
  return false;
}

/// Whether `read` and `write` are of the same part of a tensor, and of another
/// one in each iteration of `loop`.
static bool areOfOwnPart(scf::ForOp loop, Operation *read, Operation *write) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(read)) {
    auto insert = dyn_cast<tensor::InsertOp>(write);
    return insert && insert.getDest() == extract.getTensor() &&
           extract.getIndices() == insert.getIndices() &&
           llvm::any_of(extract.getIndices(), [&](Value index) {
             return differsByIteration(loop, index);
           });
  }
  auto extract = dyn_cast<tensor::ExtractSliceOp>(read);
  auto insert = dyn_cast<tensor::InsertSliceOp>(write);
  if (!extract || !insert || insert.getDest() != extract.getSource() ||
      !extract.isSameAs(insert, [](OpFoldResult a, OpFoldResult b) {
        return isEqualConstantIntOrValue(a, b);
      }))
    return false;
  for (auto [offset, size] :
       llvm::zip_equal(extract.getMixedOffsets(), extract.getMixedSizes()))
    if (auto index = dyn_cast<Value>(offset);
        index && isConstantIntValue(size, 1) && differsByIteration(loop, index))
      return true;
  return false;
}

/// Whether two slices of one tensor have no element in common, for constants in
/// their offsets and sizes.
static bool areDisjoint(OffsetSizeAndStrideOpInterface a,
                        OffsetSizeAndStrideOpInterface b) {
  // The first element of a slice along a dimension, and the one after the last.
  auto getRange =
      [](OffsetSizeAndStrideOpInterface slice,
         unsigned dim) -> std::optional<std::pair<int64_t, int64_t>> {
    std::optional<int64_t> offset =
        getConstantIntValue(slice.getMixedOffsets()[dim]);
    std::optional<int64_t> size =
        getConstantIntValue(slice.getMixedSizes()[dim]);
    if (!offset || !size || !isOneInteger(slice.getMixedStrides()[dim]))
      return std::nullopt;
    return std::pair(*offset, *offset + *size);
  };
  for (unsigned dim = 0, rank = a.getMixedOffsets().size(); dim < rank; ++dim) {
    auto ofA = getRange(a, dim), ofB = getRange(b, dim);
    if (ofA && ofB && (ofA->second <= ofB->first || ofB->second <= ofA->first))
      return true;
  }
  return false;
}

/// Whether `slice` is of zeros that nothing has been inserted into.
static bool readsZeros(tensor::ExtractSliceOp slice) {
  Value source = slice.getSource();
  while (auto insertion = source.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!areDisjoint(slice, insertion))
      return false;
    source = insertion.getDest();
  }
  return isZero(source);
}

namespace {

/// What is added first to a slice of zeros is that slice.
struct AddToZeros : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddFOp sum,
                                PatternRewriter &rewriter) const override {
    for (auto [part, rest] : {std::pair(sum.getLhs(), sum.getRhs()),
                              std::pair(sum.getRhs(), sum.getLhs())})
      if (auto slice = part.getDefiningOp<tensor::ExtractSliceOp>();
          slice && readsZeros(slice)) {
        rewriter.replaceOp(sum, rest);
        return success();
      }
    return failure();
  }
};

struct StoreIntoZeros : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (BlockArgument carried : loop.getRegionIterArgs()) {
      if (!isa<RankedTensorType>(carried.getType()) ||
          !isZero(loop.getTiedLoopInit(carried)->get()))
        continue;
      auto *write =
          loop.getTiedLoopYieldedValue(carried)->get().getDefiningOp();
      // Besides the write there is one read.
      if (!write || !write->hasOneUse() ||
          std::distance(carried.use_begin(), carried.use_end()) != 2)
        continue;
      Operation *read = nullptr;
      for (Operation *user : carried.getUsers())
        if (user != write)
          read = user;
      if (!read || !read->hasOneUse() || !areOfOwnPart(loop, read, write))
        continue;
      auto sum = dyn_cast<arith::AddFOp>(*read->user_begin());
      if (!sum || sum->getBlock() != loop.getBody())
        continue;
      Value part = read->getResult(0);
      rewriter.replaceOp(sum,
                         sum.getLhs() == part ? sum.getRhs() : sum.getLhs());
      changed = true;
    }
    return success(changed);
  }
};

} // namespace

void sparse_autograd::populateStoreIntoZerosPatterns(
    RewritePatternSet &patterns) {
  patterns.add<AddToZeros, StoreIntoZeros>(patterns.getContext());
}
