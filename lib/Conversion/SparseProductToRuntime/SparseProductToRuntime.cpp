//===- SparseProductToRuntime.cpp - sparse matrices to cuSPARSE -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is one generator for all sparse kernels, and what it makes of these two
// products has one form each, which is found again here. Of two sparse matrices
// a product is found before (OfferSparseProducts): its loops are many.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/SparseProductToRuntime/SparseProductToRuntime.h"

#include "../KernelOps.h"
#include "../LibraryCalls.h"
#include "../RuntimeCalls.h"
#include "../Segments.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Runtime/DeviceABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_SPARSEPRODUCTTORUNTIME
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// A dense matrix, and which of its dimensions has the rows.
struct DenseMatrix {
  Value memref;
  unsigned rowDimension;
};

/// A product with a sparse matrix by rows.
struct SparseProduct {
  /// What is computed where something is stored is a product of dense matrices.
  bool isSampled = false;
  bool isDifference = false;
  scf::ForOp rows;
  Value positions, coordinates, values;
  /// As sparseAutogradDeviceMultiplySparse has them.
  DenseMatrix x, y;
  /// Over the columns of x.
  scf::ForOp columns;
};

/// What is added to a running sum: the product of two elements.
struct Term {
  memref::LoadOp factors[2];
  bool isDifference;
};

} // namespace

static bool isPlainLoop(scf::ForOp loop) {
  return matchPattern(loop.getLowerBound(), m_Zero()) &&
         matchPattern(loop.getStep(), m_One());
}

static bool isLoad(Value value, Value memref, ValueRange indices) {
  auto load = value.getDefiningOp<memref::LoadOp>();
  return load && load.getMemref() == memref &&
         llvm::equal(load.getIndices(), indices);
}

/// The one loop in a loop over rows or columns, behind reads, and before a
/// store if `store` is asked for; null if there is anything else.
static scf::ForOp getOnlyLoop(Block *block, memref::StoreOp *store) {
  scf::ForOp loop;
  for (Operation &op : block->without_terminator()) {
    auto nested = dyn_cast<scf::ForOp>(op);
    auto stored = dyn_cast<memref::StoreOp>(op);
    if (nested && !loop)
      loop = nested;
    else if (stored && loop && store && !*store)
      *store = stored;
    else if (loop || !(isa<memref::LoadOp>(op) || isPure(&op)))
      return nullptr;
  }
  return store && !*store ? scf::ForOp() : loop;
}

/// Matches a loop that adds a product of elements to one number, and does
/// nothing else than `loads` reads.
static std::optional<Term> matchSum(scf::ForOp loop, size_t loads) {
  // The product, the sum and the end, and what makes an index of a coordinate.
  size_t ops = llvm::count_if(*loop.getBody(), [](Operation &op) {
    return !isa<arith::IndexCastOp, arith::IndexCastUIOp>(op);
  });
  if (loop.getNumResults() != 1 || ops != loads + 3)
    return std::nullopt;
  Value running = loop.getRegionIterArg(0);
  Operation *sum = loop.getYieldedValues()[0].getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(sum))
    return std::nullopt;
  Value added = sum->getOperand(1);
  if (sum->getOperand(0) != running) {
    if (isa<arith::SubFOp>(sum) || added != running)
      return std::nullopt;
    added = sum->getOperand(0);
  }
  auto product = added.getDefiningOp<arith::MulFOp>();
  if (!product || product->getBlock() != loop.getBody())
    return std::nullopt;
  Term term = {{product.getLhs().getDefiningOp<memref::LoadOp>(),
                product.getRhs().getDefiningOp<memref::LoadOp>()},
               isa<arith::SubFOp>(sum)};
  for (memref::LoadOp factor : term.factors)
    if (!factor || factor->getBlock() != loop.getBody())
      return std::nullopt;
  return term;
}

/// Whether `load` is an element of a matrix at `row` and `column`.
static bool matchElement(memref::LoadOp load, Value row, Value column,
                         DenseMatrix &matrix) {
  if (load.getIndices().size() != 2)
    return false;
  Value first = load.getIndices()[0], second = load.getIndices()[1];
  bool isTransposed = first == column && second == row;
  matrix = {load.getMemref(), isTransposed ? 1u : 0u};
  return isTransposed || (first == row && second == column);
}

/// The list of coordinates, if `value` is that of entry `entry`; else null.
static Value getCoordinates(Value value, Value entry) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    value = op->getOperand(0);
  auto load = value.getDefiningOp<memref::LoadOp>();
  return load && load.getIndices().size() == 1 &&
                 load.getIndices().front() == entry
             ? load.getMemref()
             : Value();
}

/// The index of `load` that is not `known`; null if there is none.
static Value getOtherIndex(memref::LoadOp load, Value known) {
  if (load.getIndices().size() != 2)
    return nullptr;
  Value first = load.getIndices()[0], second = load.getIndices()[1];
  return first == known ? second : second == known ? first : Value();
}

/// x(i, j) = sum over the entries p of row i: x(i, j) + values(p) y(c(p), j).
static bool matchMultiply(SparseProduct &product) {
  scf::ForOp columns = getOnlyLoop(product.rows.getBody(), nullptr);
  memref::StoreOp store;
  if (!columns || !isParallelLoop(columns) || !isPlainLoop(columns) ||
      !product.rows.isDefinedOutsideOfLoop(columns.getUpperBound()))
    return false;
  scf::ForOp entries = getOnlyLoop(columns.getBody(), &store);
  constexpr size_t loads = 3;
  std::optional<Term> term =
      entries ? matchSum(entries, loads) : std::optional<Term>();
  Value row = product.rows.getInductionVar();
  Value column = columns.getInductionVar();
  if (!term || !matchPattern(entries.getStep(), m_One()) ||
      store.getValue() != entries.getResult(0) ||
      !isLoad(entries.getInitArgs()[0], store.getMemref(), store.getIndices()))
    return false;
  Value entry = entries.getInductionVar();
  product.positions = getPositions(entry, row);
  product.columns = columns;
  product.isDifference = term->isDifference;
  if (!product.positions || store.getIndices().size() != 2 ||
      store.getIndices()[0] != row || store.getIndices()[1] != column)
    return false;
  product.x = {store.getMemref(), 0};
  for (int sparse = 0; sparse < 2; ++sparse) {
    memref::LoadOp value = term->factors[sparse];
    memref::LoadOp other = term->factors[1 - sparse];
    Value place = getOtherIndex(other, column);
    if (!place || value.getIndices().size() != 1 ||
        value.getIndices().front() != entry)
      continue;
    product.values = value.getMemref();
    product.coordinates = getCoordinates(place, entry);
    return product.coordinates && matchElement(other, place, column, product.y);
  }
  return false;
}

/// values(p) = sum over k: values(p) + x(i, k) y(k, c(p)), for the entries p of
/// row i.
static bool matchSample(SparseProduct &product) {
  scf::ForOp entries = getOnlyLoop(product.rows.getBody(), nullptr);
  memref::StoreOp store;
  if (!entries || !isParallelLoop(entries) ||
      !matchPattern(entries.getStep(), m_One()))
    return false;
  scf::ForOp sum = getOnlyLoop(entries.getBody(), &store);
  constexpr size_t loads = 2;
  std::optional<Term> term = sum ? matchSum(sum, loads) : std::optional<Term>();
  Value row = product.rows.getInductionVar();
  Value entry = entries.getInductionVar();
  if (!term || !isPlainLoop(sum) ||
      !product.rows.isDefinedOutsideOfLoop(sum.getUpperBound()) ||
      store.getValue() != sum.getResult(0) || store.getIndices().size() != 1 ||
      store.getIndices().front() != entry ||
      !isLoad(sum.getInitArgs()[0], store.getMemref(), store.getIndices()))
    return false;
  product.isSampled = true;
  product.positions = getPositions(entry, row);
  product.values = store.getMemref();
  product.columns = sum;
  product.isDifference = term->isDifference;
  Value variable = sum.getInductionVar();
  for (int left = 0; left < 2; ++left) {
    memref::LoadOp other = term->factors[1 - left];
    Value place = getOtherIndex(other, variable);
    if (!place || !matchElement(term->factors[left], row, variable, product.x))
      continue;
    product.coordinates = getCoordinates(place, entry);
    return product.positions && product.coordinates &&
           matchElement(other, variable, place, product.y);
  }
  return false;
}

/// Whether `memref` is on the device from before the loops on.
static bool isOperand(scf::ForOp rows, Value memref) {
  return isOnDevice(memref.getType()) && rows.isDefinedOutsideOfLoop(memref);
}

/// Whether a library has such a product.
static bool isForLibrary(SparseProduct &product) {
  auto isListOf = [&](Value list, function_ref<bool(Type)> isElement) {
    auto type = cast<MemRefType>(list.getType());
    return isOperand(product.rows, list) && type.getRank() == 1 &&
           type.getLayout().isIdentity() && isElement(type.getElementType());
  };
  Type index = getElementTypeOrSelf(product.positions.getType());
  auto isIndex = [&](Type type) { return type == index; };
  Type element = getElementTypeOrSelf(product.values.getType());
  auto isElement = [&](Type type) { return type == element; };
  if (!(element.isF32() || element.isF64()) ||
      !(index.isIndex() || index.isInteger(64) || index.isInteger(32)) ||
      !isListOf(product.positions, isIndex) ||
      !isListOf(product.coordinates, isIndex) ||
      !isListOf(product.values, isElement))
    return false;
  for (Value matrix : {product.x.memref, product.y.memref})
    if (!isOperand(product.rows, matrix) ||
        getElementTypeOrSelf(matrix.getType()) != element ||
        !cast<MemRefType>(matrix.getType()).isStrided())
      return false;
  // What is written is not read elsewhere; lists are no matrices.
  return product.isSampled || product.x.memref != product.y.memref;
}

static std::optional<SparseProduct> matchProduct(scf::ForOp rows) {
  if (!isParallelLoop(rows) || !isPlainLoop(rows))
    return std::nullopt;
  for (bool isSampled : {false, true}) {
    SparseProduct product;
    product.rows = rows;
    if ((isSampled ? matchSample(product) : matchMultiply(product)) &&
        isForLibrary(product))
      return product;
  }
  return std::nullopt;
}

/// The types of values and of positions, as the runtime takes them.
static SmallVector<Value> getKinds(RuntimeCallBuilder &calls, Value values,
                                   Value positions) {
  bool isF32 = getElementTypeOrSelf(values.getType()).isF32();
  bool isNarrow = getElementTypeOrSelf(positions.getType()).isInteger(32);
  return {calls.kind(isF32 ? SPARSE_AUTOGRAD_TENSOR_F32
                           : SPARSE_AUTOGRAD_TENSOR_F64),
          calls.kind(isNarrow ? SPARSE_AUTOGRAD_TENSOR_I32
                              : SPARSE_AUTOGRAD_TENSOR_I64)};
}

/// Asks a library of the device for the product, and has the program compute it
/// if there is none.
static void offerProduct(SparseProduct &product, SymbolTable &symbols) {
  Value written = product.isSampled ? product.values : product.x.memref;
  linalg::FillOp fill = findZeroFill(product.rows, written);
  RuntimeCallBuilder calls(product.rows, symbols);
  OpBuilder &builder = calls.builder;
  Location loc = product.rows.getLoc();
  auto extent = [&](Value memref, unsigned dimension) {
    return toI64(builder, loc,
                 memref::DimOp::create(builder, loc, memref, dimension));
  };
  // Of y, the columns are those of the sparse matrix, or its rows are.
  unsigned ofColumns =
      product.isSampled ? 1 - product.y.rowDimension : product.y.rowDimension;
  SmallVector<Value> arguments =
      getKinds(calls, product.values, product.positions);
  arguments.append(
      {toI64(builder, loc, product.rows.getUpperBound()),
       extent(product.y.memref, ofColumns), extent(product.coordinates, 0),
       calls.pointer(product.positions), calls.pointer(product.coordinates),
       calls.pointer(product.values),
       toI64(builder, loc, product.columns.getUpperBound())});
  auto addMatrix = [&](double scale, const DenseMatrix &matrix) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, matrix.memref);
    arguments.append({calls.number(scale), calls.pointer(matrix.memref)});
    for (unsigned dimension : {matrix.rowDimension, 1 - matrix.rowDimension})
      arguments.push_back(
          toI64(builder, loc, metadata.getStrides()[dimension]));
  };
  addMatrix(product.isDifference ? -1.0 : 1.0, product.y);
  addMatrix(fill ? 0.0 : 1.0, product.x);
  offerToLibrary(calls,
                 product.isSampled ? "sparseAutogradDeviceSampleProduct"
                                   : "sparseAutogradDeviceMultiplySparse",
                 arguments, fill);
}

static void lower(BeginSparseProductOp op, SymbolTable &symbols) {
  RuntimeCallBuilder calls(op, symbols);
  OpBuilder &builder = calls.builder;
  Location loc = op.getLoc();
  ValueRange factors = op.getFactors();
  SmallVector<Value> arguments = getKinds(calls, factors[2], factors[0]);
  for (Value extent : {op.getRows(), op.getInner(), op.getColumns()})
    arguments.push_back(toI64(builder, loc, extent));
  for (ValueRange matrix : {factors.take_front(3), factors.drop_front(3)}) {
    arguments.push_back(
        toI64(builder, loc, memref::DimOp::create(builder, loc, matrix[1], 0)));
    for (Value list : matrix)
      arguments.push_back(calls.pointer(list));
  }
  Value stored = calls
                     .call("sparseAutogradDeviceBeginSparseProduct", arguments,
                           builder.getI64Type())
                     .front();
  op.replaceAllUsesWith(
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), stored)
          .getResult());
  op.erase();
}

static void lower(EndSparseProductOp op, SymbolTable &symbols) {
  RuntimeCallBuilder calls(op, symbols);
  calls.call("sparseAutogradDeviceEndSparseProduct",
             llvm::map_to_vector(op.getLists(), [&](Value list) {
               return calls.pointer(list);
             }));
  op.erase();
}

/// Whether a loop in `rows`, or itself, is over entries that a tensor stores.
static bool visitsEntries(scf::ForOp rows) {
  return rows
      ->walk([](scf::ForOp loop) {
        return loop->hasAttr(SparseAutogradDialect::getEntriesAttrName())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct SparseProductToRuntimePass
    : sparse_autograd::impl::SparseProductToRuntimeBase<
          SparseProductToRuntimePass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<SparseProduct> products;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // In a kernel nobody calls the runtime.
      if (!isParallelLoop(op))
        return WalkResult::advance();
      if (auto rows = dyn_cast<scf::ForOp>(op)) {
        if (std::optional<SparseProduct> product = matchProduct(rows)) {
          products.push_back(*product);
          remarkChosen(op->getLoc(), op, "library",
                       "a product with a sparse matrix is offered to cusparse; "
                       "kernels are for where it is missing");
        } else if (visitsEntries(rows)) {
          remarkDeclined(op->getLoc(), op, "library",
                         "loops over the entries of a sparse tensor are "
                         "kernels, since they are no SpMM and no SDDMM that "
                         "cusparse has");
        }
      }
      return WalkResult::skip();
    });
    for (SparseProduct &product : products)
      offerProduct(product, symbols);
    getOperation()->walk([&](BeginSparseProductOp op) { lower(op, symbols); });
    getOperation()->walk([&](EndSparseProductOp op) { lower(op, symbols); });
  }
};
} // namespace
