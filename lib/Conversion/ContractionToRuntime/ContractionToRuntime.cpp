//===- ContractionToRuntime.cpp - matrix products to the BLAS ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/ContractionToRuntime/ContractionToRuntime.h"

#include "../RuntimeCalls.h"
#include "SparseAutograd/Analysis/ProductBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_CONTRACTIONTORUNTIME
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// The loops of C(m, n) += A(m, k) * B(k, n); one of each kind is the
/// product's, the others surround the call.
struct Product {
  unsigned m, n, k;
  SmallVector<unsigned> outer;
  /// Whether a loop of `outer` sums into the same C.
  bool accumulates = false;
};

/// An operand at the call: its first element and its strides.
struct Matrix {
  Value pointer, rowStride, columnStride;
};

} // namespace

/// C += alpha * A * B of one type, in any order of the factors, or C -=, and
/// nothing else.
static bool isPlainProduct(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !op.hasPureBufferSemantics())
    return false;
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  if (!type.isF32() && !type.isF64())
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto memref = dyn_cast<MemRefType>(operand.get().getType());
    if (!memref || memref.getElementType() != type || !memref.isStrided() ||
        memref.getMemorySpace() ||
        !op.getMatchingIndexingMap(&operand).isProjectedPermutation())
      return false;
  }
  return matchProductBody(op).has_value();
}

/// Of the loops of a kind, the one with the largest static extent; unknown ones
/// count as large. Moves the others to `outer`.
static unsigned takeLargest(ArrayRef<unsigned> loops, ArrayRef<int64_t> extents,
                            SmallVectorImpl<unsigned> &outer) {
  auto size = [&](unsigned loop) {
    return ShapedType::isDynamic(extents[loop])
               ? std::numeric_limits<int64_t>::max()
               : extents[loop];
  };
  unsigned largest = loops.front();
  for (unsigned loop : loops)
    if (size(loop) >= size(largest))
      largest = loop;
  for (unsigned loop : loops)
    if (loop != largest)
      outer.push_back(loop);
  return largest;
}

static FailureOr<Product> matchProduct(linalg::LinalgOp op,
                                       int64_t minimalWork) {
  if (!isPlainProduct(op))
    return failure();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<unsigned> m, n, k, batch;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    bool inA = maps[0].isFunctionOfDim(loop);
    bool inB = maps[1].isFunctionOfDim(loop);
    bool inC = maps[2].isFunctionOfDim(loop);
    if (inA && inB && inC)
      batch.push_back(loop);
    else if (inA && inC)
      m.push_back(loop);
    else if (inB && inC)
      n.push_back(loop);
    else if (inA && inB)
      k.push_back(loop);
    else
      return failure();
  }
  if (m.empty() || n.empty() || k.empty())
    return failure();
  Product product;
  product.outer = batch;
  product.accumulates = k.size() > 1;
  product.m = takeLargest(m, extents, product.outer);
  product.n = takeLargest(n, extents, product.outer);
  product.k = takeLargest(k, extents, product.outer);
  int64_t work = 1;
  for (unsigned loop : {product.m, product.n, product.k}) {
    if (ShapedType::isDynamic(extents[loop]))
      return product;
    // A product with a vector.
    if (extents[loop] == 1 && loop != product.k)
      return failure();
    if (llvm::MulOverflow(work, extents[loop], work))
      return product;
  }
  if (work < minimalWork)
    return failure();
  return product;
}

/// The fill of C with zero that only the product sees, or null.
static linalg::FillOp findZeroFill(linalg::LinalgOp op) {
  Value c = op.getDpsInits()[0];
  // Another name of the buffer could be read in between.
  if (!c.getDefiningOp<memref::AllocOp>())
    return nullptr;
  for (Operation *user : c.getUsers())
    if (isa<ViewLikeOpInterface>(user))
      return nullptr;
  for (Operation *previous = op->getPrevNode(); previous;
       previous = previous->getPrevNode()) {
    if (previous == c.getDefiningOp())
      return nullptr;
    if (auto fill = dyn_cast<linalg::FillOp>(previous);
        fill && fill.getOutputs()[0] == c)
      return matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ? fill
                                                                 : nullptr;
    bool uses = false;
    previous->walk([&](Operation *inner) {
      uses |= llvm::is_contained(inner->getOperands(), c);
    });
    if (uses)
      return nullptr;
  }
  return nullptr;
}

static func::FuncOp getGemm(FloatType type, SymbolTable &symbols) {
  Type i64 = IntegerType::get(type.getContext(), 64);
  Type pointer = LLVM::LLVMPointerType::get(type.getContext());
  return declareRuntimeFunction(
      symbols, type.isF32() ? "sparseAutogradGemmF32" : "sparseAutogradGemmF64",
      {i64, i64, i64, type, pointer, i64, i64, pointer, i64, i64, type, pointer,
       i64, i64});
}

/// Operand `operand` at indices `variables` of the outer loops, as the matrix
/// with loop `row` along its rows and `column` along its columns.
static Matrix describeMatrix(OpBuilder &builder, linalg::LinalgOp op,
                             OpOperand *operand, unsigned row, unsigned column,
                             const llvm::DenseMap<unsigned, Value> &variables) {
  Location loc = op.getLoc();
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, operand->get());
  AffineMap map = op.getMatchingIndexingMap(operand);
  Matrix matrix;
  Value offset = metadata.getOffset();
  for (auto [i, expression] : llvm::enumerate(map.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expression).getPosition();
    Value stride = metadata.getStrides()[i];
    if (loop == row) {
      matrix.rowStride = toI64(builder, loc, stride);
    } else if (loop == column) {
      matrix.columnStride = toI64(builder, loc, stride);
    } else {
      Value step =
          arith::MulIOp::create(builder, loc, variables.at(loop), stride);
      offset = arith::AddIOp::create(builder, loc, offset, step);
    }
  }
  matrix.pointer = getElementPointer(builder, loc, operand->get(), offset);
  return matrix;
}

static void emitProduct(IRRewriter &rewriter, linalg::LinalgOp op,
                        const Product &product, func::FuncOp gemm) {
  Location loc = op.getLoc();
  auto type =
      cast<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  linalg::FillOp fill =
      product.accumulates ? linalg::FillOp() : findZeroFill(op);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  SmallVector<Value> extents;
  for (Range range : op.createLoopRanges(rewriter, loc))
    extents.push_back(
        getValueOrCreateConstantIndexOp(rewriter, loc, range.size));

  llvm::DenseMap<unsigned, Value> variables;
  if (!product.outer.empty()) {
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    for (unsigned loop : product.outer) {
      auto outer = scf::ForOp::create(rewriter, loc, zero, extents[loop], one);
      variables[loop] = outer.getInductionVar();
      rewriter.setInsertionPointToStart(outer.getBody());
    }
  }
  Matrix a = describeMatrix(rewriter, op, op.getDpsInputOperand(0), product.m,
                            product.k, variables);
  Matrix b = describeMatrix(rewriter, op, op.getDpsInputOperand(1), product.k,
                            product.n, variables);
  Matrix c = describeMatrix(rewriter, op, op.getDpsInitOperand(0), product.m,
                            product.n, variables);
  std::optional<ScaledSum> body = matchProductBody(op);
  Value alpha = body->scale;
  if (!alpha)
    alpha = arith::ConstantOp::create(rewriter, loc,
                                      rewriter.getFloatAttr(type, 1.0));
  if (body->isDifference)
    alpha = arith::NegFOp::create(rewriter, loc, alpha);
  Value beta = arith::ConstantOp::create(
      rewriter, loc, rewriter.getFloatAttr(type, fill ? 0.0 : 1.0));
  func::CallOp::create(rewriter, loc, gemm,
                       ValueRange{toI64(rewriter, loc, extents[product.m]),
                                  toI64(rewriter, loc, extents[product.n]),
                                  toI64(rewriter, loc, extents[product.k]),
                                  alpha, a.pointer, a.rowStride, a.columnStride,
                                  b.pointer, b.rowStride, b.columnStride, beta,
                                  c.pointer, c.rowStride, c.columnStride});
  rewriter.eraseOp(op);
  if (fill)
    rewriter.eraseOp(fill);
}

namespace {
struct ContractionToRuntimePass
    : sparse_autograd::impl::ContractionToRuntimeBase<
          ContractionToRuntimePass> {
  using ContractionToRuntimeBase::ContractionToRuntimeBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      FailureOr<Product> product = matchProduct(op, minimalWork);
      if (failed(product))
        continue;
      auto type =
          cast<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
      emitProduct(rewriter, op, *product, getGemm(type, symbols));
    }
  }
};
} // namespace
