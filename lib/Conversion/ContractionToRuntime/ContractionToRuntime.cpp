//===- ContractionToRuntime.cpp - matrix products to libraries --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/ContractionToRuntime/ContractionToRuntime.h"

#include "../KernelOps.h"
#include "../LibraryCalls.h"
#include "../RuntimeCalls.h"
#include "SparseAutograd/Analysis/ContractionStrategies.h"
#include "SparseAutograd/Runtime/DeviceABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

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
  /// Null: 1.
  Value scale;
  bool isDifference = false;
};

/// An operand at the call: its first element and its strides.
struct Matrix {
  Value pointer, rowStride, columnStride;
};

} // namespace

static Type getElementType(linalg::LinalgOp op, unsigned operand) {
  return getElementTypeOrSelf(op->getOperand(operand).getType());
}

/// Why no library is called for the buffers of `op`; empty if one can be.
static std::string declineBuffers(linalg::LinalgOp op, bool isForDevice) {
  if (!op.hasPureBufferSemantics())
    return "an operand is no buffer";
  for (Value operand : op->getOperands()) {
    auto memref = dyn_cast<MemRefType>(operand.getType());
    if (!memref || !memref.isStrided())
      return "an operand has no strides";
    if (isForDevice ? !isOnDevice(memref) : !!memref.getMemorySpace())
      return "an operand is in other memory";
  }
  return {};
}

/// Why a call is not worth it for that many rows, columns and terms, of which
/// unknown ones are many; empty if it is.
static std::string declineWork(int64_t m, int64_t n, int64_t k,
                               int64_t minimalWork) {
  int64_t work = 1;
  const int64_t extents[] = {m, n, k};
  for (auto [number, extent] : llvm::enumerate(extents)) {
    if (ShapedType::isDynamic(extent))
      return {};
    if (extent == 1 && number != 2)
      return "a factor is a vector";
    if (llvm::MulOverflow(work, extent, work))
      return {};
  }
  if (work >= minimalWork)
    return {};
  return llvm::formatv("{0} multiplications are fewer than {1}", work,
                       minimalWork);
}

/// Of the loops of a kind, the one with the largest static extent; unknown ones
/// count as large. Moves the others to `outer`.
static unsigned takeLargest(ArrayRef<unsigned> loops, ArrayRef<int64_t> extents,
                            SmallVectorImpl<unsigned> &outer) {
  unsigned largest = getLargestLoop(loops, extents);
  for (unsigned loop : loops)
    if (loop != largest)
      outer.push_back(loop);
  return largest;
}

/// The call of the host's BLAS for a contraction, or why there is none.
static FailureOr<Product> matchProduct(const Contraction &contraction,
                                       int64_t minimalWork,
                                       std::string &declined) {
  linalg::LinalgOp op = contraction.op;
  declined = blasStrategy.decline(contraction);
  if (declined.empty())
    declined = declineBuffers(op, /*isForDevice=*/false);
  if (!declined.empty())
    return failure();
  const linalg::ContractionDimensions &loops = contraction.dims;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  Product product;
  llvm::append_range(product.outer, loops.batch);
  product.accumulates = loops.k.size() > 1;
  product.scale = contraction.scale;
  product.isDifference = contraction.isDifference;
  product.m = takeLargest(loops.m, extents, product.outer);
  product.n = takeLargest(loops.n, extents, product.outer);
  product.k = takeLargest(loops.k, extents, product.outer);
  declined = declineWork(extents[product.m], extents[product.n],
                         extents[product.k], minimalWork);
  if (!declined.empty())
    return failure();
  return product;
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

/// Calls `gemm` for `op`, which adds to the zeros of `fill` if there is one.
static void emitProduct(IRRewriter &rewriter, linalg::LinalgOp op,
                        const Product &product, linalg::FillOp fill,
                        func::FuncOp gemm) {
  Location loc = op.getLoc();
  auto type = cast<FloatType>(getElementType(op, 0));
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
  Value alpha = product.scale;
  if (!alpha)
    alpha = arith::ConstantOp::create(rewriter, loc,
                                      rewriter.getFloatAttr(type, 1.0));
  if (product.isDifference)
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

//===----------------------------------------------------------------------===//
// Products on a device
//===----------------------------------------------------------------------===//

/// How many iterations `loops` have together, if that is known.
static int64_t countIterations(ArrayRef<unsigned> loops,
                               ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (unsigned loop : loops)
    if (ShapedType::isDynamic(extents[loop]) ||
        llvm::MulOverflow(count, extents[loop], count))
      return ShapedType::kDynamic;
  return count;
}

/// The element types of the factors and the result, as the runtime has them.
static std::pair<int32_t, int32_t> getElements(linalg::LinalgOp op) {
  Type factor = getElementType(op, 0);
  if (factor.isF64())
    return {SPARSE_AUTOGRAD_TENSOR_F64, SPARSE_AUTOGRAD_TENSOR_F64};
  // Narrow products are exact in f32, in which they are summed.
  if (factor.isF16())
    return {SPARSE_AUTOGRAD_TENSOR_F16, SPARSE_AUTOGRAD_TENSOR_F32};
  if (factor.isBF16())
    return {SPARSE_AUTOGRAD_TENSOR_BF16, SPARSE_AUTOGRAD_TENSOR_F32};
  return {SPARSE_AUTOGRAD_TENSOR_F32, SPARSE_AUTOGRAD_TENSOR_F32};
}

/// Why a library of the device is not asked for a contraction; empty if it is.
static std::string declineOffer(const Contraction &contraction,
                                int64_t minimalWork) {
  linalg::LinalgOp op = contraction.op;
  std::string declined = deviceLibraryStrategy.decline(contraction);
  if (declined.empty())
    declined = declineBuffers(op, /*isForDevice=*/true);
  if (!declined.empty())
    return declined;
  if (isInParallelLoop(op))
    return "nothing calls the runtime within a kernel";
  if (contraction.scale && !isKnownToHost(contraction.scale))
    return "the host does not know the scale";
  const linalg::ContractionDimensions &loops = contraction.dims;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<unsigned> terms =
      llvm::to_vector(llvm::concat<const unsigned>(loops.k, loops.batch));
  return declineWork(countIterations(loops.m, extents),
                     countIterations(loops.n, extents),
                     countIterations(terms, extents), minimalWork);
}

/// The scale of a product, as f64.
static Value createScale(RuntimeCallBuilder &calls,
                         const Contraction &product) {
  OpBuilder &builder = calls.builder;
  Type f64 = builder.getF64Type();
  Value scale = product.scale;
  if (!scale)
    return calls.number(product.isDifference ? -1.0 : 1.0);
  if (scale.getType() != f64)
    scale = arith::ExtFOp::create(builder, calls.loc, f64, scale);
  if (product.isDifference)
    scale = arith::NegFOp::create(builder, calls.loc, scale);
  return scale;
}

/// Asks a library of the device for the product, and has the program compute it
/// if there is none. The op adds to the zeros of `fill` if there is one.
static void offerProduct(const Contraction &product, linalg::FillOp fill,
                         SymbolTable &symbols) {
  linalg::LinalgOp op = product.op;
  RuntimeCallBuilder calls(op, symbols);
  OpBuilder &builder = calls.builder;
  Location loc = op.getLoc();
  Value zero = calls.constant(0);
  // SparseAutogradContractionLoop.
  SmallVector<Value> words;
  SmallVector<memref::ExtractStridedMetadataOp> metadata;
  for (Value operand : op->getOperands().take_front(3))
    metadata.push_back(
        memref::ExtractStridedMetadataOp::create(builder, loc, operand));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [loop, range] :
       llvm::enumerate(op.createLoopRanges(builder, loc))) {
    words.push_back(getValueOrCreateConstantIndexOp(builder, loc, range.size));
    for (auto [map, fields] : llvm::zip_equal(maps, metadata)) {
      std::optional<unsigned> place =
          map.getResultPosition(builder.getAffineDimExpr(loop));
      words.push_back(place ? fields.getStrides()[*place] : zero);
    }
  }
  auto [factor, result] = getElements(op);
  offerToLibrary(
      calls, "sparseAutogradDeviceContract",
      {calls.kind(factor), calls.kind(result), calls.constant(op.getNumLoops()),
       calls.list(words), createScale(calls, product),
       calls.pointer(op->getOperand(0)), calls.pointer(op->getOperand(1)),
       calls.number(fill ? 0.0 : 1.0), calls.pointer(op->getOperand(2))},
      fill);
}

namespace {
struct ContractionToRuntimePass
    : sparse_autograd::impl::ContractionToRuntimeBase<
          ContractionToRuntimePass> {
  using ContractionToRuntimeBase::ContractionToRuntimeBase;

  void runOnOperation() override {
    // Matched before the first of them is changed: every change has MLIR number
    // the operations of a block anew when their order is asked for.
    SmallVector<Match, 0> matches;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (std::optional<Contraction> contraction = matchContraction(op))
        if (std::optional<Match> match = matchCall(*contraction))
          matches.push_back(std::move(*match));
    });
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    for (const Match &match : matches) {
      if (forDevice) {
        offerProduct(match.contraction, match.fill, symbols);
        continue;
      }
      linalg::LinalgOp op = match.contraction.op;
      auto type = cast<FloatType>(getElementType(op, 0));
      emitProduct(rewriter, op, match.product, match.fill,
                  getGemm(type, symbols));
    }
  }

private:
  /// A contraction that is a call, of which `product` is that of the BLAS, and
  /// the zeros that it adds to, if it does.
  struct Match {
    Contraction contraction;
    Product product;
    linalg::FillOp fill;
  };

  /// The call for `contraction`, if there is one. Remarks say so, or why not.
  std::optional<Match> matchCall(const Contraction &contraction) {
    linalg::LinalgOp op = contraction.op;
    std::string declined;
    if (forDevice) {
      declined = declineOffer(contraction, minimalWork);
      if (!declined.empty()) {
        remarkContraction(contraction, nullptr, "no library: " + declined);
        return std::nullopt;
      }
      remarkContraction(contraction, &deviceLibraryStrategy,
                        "or the program, if no library does");
      return Match{contraction, {}, findZeroFill(op, op.getDpsInits()[0])};
    }
    FailureOr<Product> product =
        matchProduct(contraction, minimalWork, declined);
    if (failed(product)) {
      remarkContraction(contraction, nullptr, "no blas: " + declined);
      return std::nullopt;
    }
    remarkContraction(contraction, &blasStrategy, "");
    return Match{contraction, *product,
                 product->accumulates ? linalg::FillOp()
                                      : findZeroFill(op, op.getDpsInits()[0])};
  }
};
} // namespace
