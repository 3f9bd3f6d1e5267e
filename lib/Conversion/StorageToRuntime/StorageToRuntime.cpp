//===- StorageToRuntime.cpp - storage from entries, in the runtime --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/StorageToRuntime/StorageToRuntime.h"

#include "../RuntimeCalls.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "SparseAutograd/Runtime/CompilerABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_STORAGETORUNTIME
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

namespace {
/// Calls of the runtime from one op.
class CallBuilder : public RuntimeCallBuilder {
public:
  using RuntimeCallBuilder::RuntimeCallBuilder;

  /// Number of entries and of levels.
  SmallVector<Value> counts(Value coordinates) {
    SmallVector<Value> values;
    for (int64_t dim : {0, 1})
      values.push_back(toI64(
          builder, loc, memref::DimOp::create(builder, loc, coordinates, dim)));
    return values;
  }

  SmallVector<Value> formats(SparseTensorEncodingAttr encoding,
                             ValueRange extents) {
    SmallVector<Value> words;
    for (LevelType level : encoding.getLvlTypes())
      words.push_back(constant(getLevelKind(level).getCode()));
    return {list(words), list(SmallVector<Value>(extents))};
  }
};
} // namespace

/// A loop, which no call would be shorter than.
static void lower(CountBeforeOp op, CallBuilder calls) {
  OpBuilder &builder = calls.builder;
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = memref::DimOp::create(builder, loc, op.getCounts(), zero);
  memref::StoreOp::create(builder, loc, zero, op.getBefore(), zero);
  scf::ForOp::create(
      builder, loc, zero, count, one, zero,
      [&](OpBuilder &nested, Location loc, Value place, ValueRange before) {
        Value number =
            memref::LoadOp::create(nested, loc, op.getCounts(), place);
        Value sum = arith::AddIOp::create(nested, loc, before.front(), number);
        Value next = arith::AddIOp::create(nested, loc, place, one);
        memref::StoreOp::create(nested, loc, sum, op.getBefore(), next);
        scf::YieldOp::create(nested, loc, sum);
      });
}

static void lower(SortEntriesOp op, CallBuilder builder) {
  SmallVector<Value> arguments = builder.counts(op.getCoordinates());
  arguments.push_back(builder.pointer(op.getCoordinates()));
  arguments.push_back(builder.pointer(op.getOrder()));
  builder.call("sparseAutogradSortEntries", arguments);
}

template <typename OpTy>
static SmallVector<Value> getEntries(OpTy op, CallBuilder &builder) {
  SmallVector<Value> arguments = builder.counts(op.getCoordinates());
  llvm::append_range(arguments,
                     builder.formats(op.getEncoding(), op.getExtents()));
  arguments.push_back(builder.pointer(op.getCoordinates()));
  arguments.push_back(builder.pointer(op.getOrder()));
  return arguments;
}

static void lower(CountPositionsOp op, CallBuilder builder) {
  SmallVector<Value> arguments = getEntries(op, builder);
  arguments.push_back(builder.pointer(op.getCounts()));
  builder.call("sparseAutogradCountPositions", arguments);
}

/// Bytes of a position or a coordinate; an index has 8.
static int64_t getBytes(unsigned width) { return width == 0 ? 8 : width / 8; }

static void lower(StorePositionsOp op, CallBuilder builder) {
  SmallVector<Value> arguments = getEntries(op, builder);
  SparseTensorEncodingAttr encoding = op.getEncoding();
  arguments.push_back(builder.constant(getBytes(encoding.getPosWidth())));
  arguments.push_back(builder.constant(getBytes(encoding.getCrdWidth())));
  Value none = builder.constant(0);
  SmallVector<Value> positions(encoding.getLvlRank(), none);
  SmallVector<Value> coordinates = positions;
  auto next = op.getLists().begin();
  for (const LevelList &list : getLevelLists(encoding))
    (list.hasPositions ? positions : coordinates)[list.level] =
        builder.pointer(*next++);
  arguments.push_back(builder.list(positions));
  arguments.push_back(builder.list(coordinates));
  arguments.push_back(builder.pointer(*next));
  builder.call("sparseAutogradStorePositions", arguments);
}

//===----------------------------------------------------------------------===//
// 2:4 storage
//===----------------------------------------------------------------------===//

/// The elements of a buffer one after the other: itself, or a copy that lives
/// as long as the call.
static Value getContiguous(CallBuilder &builder, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getLayout().isIdentity())
    return memref;
  OpBuilder &b = builder.builder;
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      extents.push_back(memref::DimOp::create(b, builder.loc, memref, dim));
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  Value copy = memref::AllocOp::create(b, builder.loc, plain, extents);
  memref::CopyOp::create(b, builder.loc, memref, copy);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(builder.op);
  memref::DeallocOp::create(b, builder.loc, copy);
  return copy;
}

static void lower(Pack24Op op, CallBuilder builder) {
  OpBuilder &b = builder.builder;
  Location loc = op.getLoc();
  auto type = cast<MemRefType>(op.getInput().getType());
  int64_t rank = type.getRank();
  auto extent = [&](int64_t dim) -> Value {
    return toI64(b, loc, memref::DimOp::create(b, loc, op.getInput(), dim));
  };
  // The product of the extents of the dimensions before `end`.
  auto count = [&](int64_t end) {
    Value number = builder.constant(1);
    for (int64_t dim = 0; dim < end; ++dim)
      number = arith::MulIOp::create(b, loc, number, extent(dim));
    return number;
  };
  Value bytes =
      builder.constant(type.getElementType().getIntOrFloatBitWidth() / 8);
  Value input = builder.pointer(getContiguous(builder, op.getInput()));
  if (!op.getChoice()) {
    builder.call("sparseAutogradPackNonzeros24",
                 {builder.constant(op.getLevel()), count(rank - 1),
                  extent(rank - 1), bytes, input,
                  builder.pointer(op.getLists()[0]),
                  builder.pointer(op.getLists()[1])});
    return;
  }
  Value none =
      LLVM::ZeroOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()));
  SmallVector<Value> lists(4, none);
  for (auto [number, isTransposed] : llvm::enumerate(op.getOrders()))
    for (unsigned i = 0; i < 2; ++i)
      lists[2 * unsigned(isTransposed) + i] =
          builder.pointer(op.getLists()[2 * number + i]);
  SmallVector<Value> arguments = {
      count(rank - 2),
      extent(rank - 2),
      extent(rank - 1),
      bytes,
      input,
      builder.pointer(getContiguous(builder, op.getChoice()))};
  llvm::append_range(arguments, lists);
  builder.call("sparseAutogradPack24", arguments);
}

static void lower(Multiply24Op op, CallBuilder builder) {
  OpBuilder &b = builder.builder;
  Location loc = op.getLoc();
  // The address of a matrix, and its strides along the dimension of its own
  // and along that of columns.
  auto describe = [&](Value matrix, bool isTransposed,
                      SmallVectorImpl<Value> &arguments) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, matrix);
    arguments.push_back(builder.pointer(matrix));
    for (unsigned dim : {unsigned(isTransposed), unsigned(!isTransposed)})
      arguments.push_back(toI64(b, loc, metadata.getStrides()[dim]));
  };
  Value columns = memref::DimOp::create(b, loc, op.getDense(),
                                        op.getDenseTransposed() ? 0 : 1);
  Type type = getElementTypeOrSelf(op.getValues());
  int64_t element = type.isBF16()  ? SPARSE_AUTOGRAD_PRODUCT24_BF16
                    : type.isF16() ? SPARSE_AUTOGRAD_PRODUCT24_F16
                                   : SPARSE_AUTOGRAD_PRODUCT24_F32;
  SmallVector<Value> arguments = {builder.constant(element),
                                  toI64(b, loc, op.getRows()),
                                  toI64(b, loc, columns),
                                  toI64(b, loc, op.getTerms()),
                                  builder.pointer(op.getValues()),
                                  builder.pointer(op.getCoordinates()),
                                  builder.constant(op.getIsTransposed())};
  describe(op.getDense(), op.getDenseTransposed(), arguments);
  describe(op.getSum(), op.getSumTransposed(), arguments);
  arguments.push_back(builder.constant(op.getStrategy()));
  builder.call("sparseAutogradMultiply24", arguments);
}

namespace {
struct StorageToRuntimePass
    : sparse_autograd::impl::StorageToRuntimeBase<StorageToRuntimePass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation()->walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<CountBeforeOp, SortEntriesOp, CountPositionsOp,
                StorePositionsOp, Pack24Op, Multiply24Op>([&](auto storageOp) {
            lower(storageOp, CallBuilder(op, symbols));
            op->erase();
          });
    });
  }
};
} // namespace
