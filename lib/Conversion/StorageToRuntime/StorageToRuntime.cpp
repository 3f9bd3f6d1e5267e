//===- StorageToRuntime.cpp - storage from entries, in the runtime --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/StorageToRuntime/StorageToRuntime.h"

#include "../RuntimeCalls.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
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

namespace {
struct StorageToRuntimePass
    : sparse_autograd::impl::StorageToRuntimeBase<StorageToRuntimePass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation()->walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<CountBeforeOp, SortEntriesOp, CountPositionsOp,
                StorePositionsOp>([&](auto storageOp) {
            lower(storageOp, CallBuilder(op, symbols));
            op->erase();
          });
    });
  }
};
} // namespace
