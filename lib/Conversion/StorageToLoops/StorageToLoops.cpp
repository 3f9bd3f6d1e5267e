//===- StorageToLoops.cpp - storage from entries, by loops ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/StorageToLoops/StorageToLoops.h"

#include "KernelCounts.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "StorageFunctions.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_STORAGETOLOOPS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// Replaces ops by calls of functions that run loops.
class Lowering {
public:
  explicit Lowering(ModuleOp module) : functions(module) {}

  void lower(CountBeforeOp op);
  void lower(SortEntriesOp op);
  void lower(CountPositionsOp op);
  void lower(StorePositionsOp op);

private:
  template <typename OpTy>
  Value count(OpTy op, LoopBuilder &loops);
  ValueRange readTotals(Value counted, LoopBuilder &loops);
  Value findMisfit(StorePositionsOp op, const LevelElements &levels,
                   LoopBuilder &loops);

  StorageFunctions functions;
  /// What the entries of a storage that is yet to be filled were counted by.
  llvm::DenseMap<Operation *, Value> ranks;
};

} // namespace

/// `buffer` as functions take it: a list, or rows of `width`, of a length that
/// is not known.
static Value asArgument(LoopBuilder &loops, Value buffer, int64_t width = 0) {
  auto type = cast<MemRefType>(buffer.getType());
  MemRefType wanted = getBufferType(type.getElementType(), width);
  if (type == wanted)
    return buffer;
  return memref::CastOp::create(loops.builder, wanted, buffer);
}

/// Has the runtime do `op` if `isWrong`, which raises what is wrong with it:
/// it knows the first entry, and its numbers.
static void raiseIf(Value isWrong, Operation *op, LoopBuilder &loops) {
  loops.when(isWrong, [&] { loops.builder.clone(*op); });
}

void Lowering::lower(CountBeforeOp op) {
  OpBuilder builder(op);
  LoopBuilder loops(builder, op.getLoc());
  SmallVector<Value> arguments = {asArgument(loops, op.getCounts()),
                                  asArgument(loops, op.getBefore())};
  func::CallOp::create(loops.builder, functions.getCountBefore(), arguments);
  op.erase();
}

void Lowering::lower(SortEntriesOp op) {
  OpBuilder builder(op);
  LoopBuilder loops(builder, op.getLoc());
  int64_t levels =
      cast<MemRefType>(op.getCoordinates().getType()).getDimSize(1);
  SmallVector<Value> arguments = {
      asArgument(loops, op.getCoordinates(), levels),
      asArgument(loops, op.getOrder())};
  func::CallOp::create(loops.builder, functions.getSort(levels), arguments);
  op.erase();
}

/// What the entries of `op` are counted by.
template <typename OpTy>
Value Lowering::count(OpTy op, LoopBuilder &loops) {
  SmallVector<Value> arguments = {
      asArgument(loops, op.getCoordinates(),
                 op.getEncoding().getLvlTypes().size()),
      asArgument(loops, op.getOrder())};
  llvm::append_range(arguments, op.getExtents());
  return func::CallOp::create(loops.builder,
                              functions.getCount(op.getEncoding()), arguments)
      .getResult(0);
}

/// How many elements there are of each counted level, and then how many entries
/// there is something wrong with; the host waits for them.
ValueRange Lowering::readTotals(Value counted, LoopBuilder &loops) {
  int64_t width = cast<MemRefType>(counted.getType()).getDimSize(1);
  return func::CallOp::create(loops.builder, functions.getTotals(width),
                              counted)
      .getResults();
}

/// The op that fills the storage that `op` counts, if nothing is written in
/// between.
static StorePositionsOp findStore(CountPositionsOp op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (auto store = dyn_cast<StorePositionsOp>(next)) {
      bool isSame = store.getEncoding() == op.getEncoding() &&
                    store.getCoordinates() == op.getCoordinates() &&
                    store.getOrder() == op.getOrder() &&
                    store.getExtents() == op.getExtents();
      return isSame ? store : StorePositionsOp();
    }
    if (!isMemoryEffectFree(next) &&
        !isa<cf::AssertOp, memref::AllocOp, memref::DeallocOp, memref::LoadOp>(
            next))
      return {};
  }
  return {};
}

/// Leaves the counts of `op`, which `loads` read, on the device. The host does
/// not raise there what is wrong with an entry: nothing is stored then.
static void keepOnDevice(CountPositionsOp op, Value counted,
                         ArrayRef<memref::LoadOp> loads, LoopBuilder &loops) {
  LevelElements levels(op.getEncoding());
  int64_t width = levels.numCounted() + 1;
  Value zero = loops.index(0);
  Value totals = loops.allocate(loops.index(1), width);
  loops.forEach(loops.index(width), [&](ValueRange place) {
    Value total = loadTotal(loops, counted, place.front());
    Value numWrong = loadTotal(loops, counted, loops.index(width - 1));
    Value isRight = loops.equal(numWrong, zero);
    loops.store(loops.select(isRight, total, zero), totals,
                {zero, place.front()});
    cf::AssertOp::create(loops.builder, isRight,
                         "sparse_autograd.count_positions: an entry is outside "
                         "of the extents of the levels, or not in order");
  });
  Value most = loops.extent(op.getCoordinates(), 0);
  Operation *end = op->getBlock()->getTerminator();
  for (memref::LoadOp load : loads) {
    int64_t level = *getConstantIntValue(load.getIndices().front());
    Value place = loops.index(levels.countBefore(levels.getCounted(level)));
    auto read = [&] {
      return loops.minimum(loops.load(totals, {zero, place}), most);
    };
    Value count = read(), countAtEnd;
    replaceKernelCount(load, count, most, [&] {
      OpBuilder::InsertionGuard guard(loops.builder);
      loops.builder.setInsertionPoint(end);
      return countAtEnd ? countAtEnd : countAtEnd = read();
    });
  }
  OpBuilder::InsertionGuard guard(loops.builder);
  loops.builder.setInsertionPoint(end);
  loops.deallocate(totals);
}

void Lowering::lower(CountPositionsOp op) {
  LevelElements levels(op.getEncoding());
  OpBuilder builder(op);
  LoopBuilder loops(builder, op.getLoc());
  StorePositionsOp store = findStore(op);
  std::optional<SmallVector<memref::LoadOp>> kernelCounts =
      findKernelCounts(op);
  Value counted = count(op, loops);
  Value zero = loops.index(0);
  Value isWrong = loops.truth(false);
  for (Value extent : op.getExtents()) {
    Value isNegative = loops.compare(arith::CmpIPredicate::slt, extent, zero);
    isWrong = loops.bitOr(isWrong, isNegative);
  }
  if (kernelCounts) {
    raiseIf(isWrong, op, loops);
    keepOnDevice(op, counted, *kernelCounts, loops);
  } else {
    ValueRange totals = readTotals(counted, loops);
    isWrong = loops.bitOr(isWrong, loops.differ(totals.back(), zero));
    // As many elements as the runtime takes for what can be addressed.
    Value most = loops.index(int64_t(1) << 58);
    Value elements = loops.index(1);
    SmallVector<Value> counts;
    for (int64_t level = 0; level < levels.size(); ++level) {
      Value extent = op.getExtents()[level];
      if (levels.getFormat(level).storesAll()) {
        Value divisor = loops.maximum(extent, loops.index(1));
        Value isTooMuch = loops.less(loops.div(most, divisor), elements);
        isWrong = loops.bitOr(isWrong, isTooMuch);
        elements = loops.mul(elements, extent);
      } else {
        elements = totals[levels.countBefore(levels.getCounted(level))];
      }
      counts.push_back(elements);
    }
    raiseIf(isWrong, op, loops);
    for (auto [level, elements] : llvm::enumerate(counts))
      loops.store(elements, op.getCounts(),
                  loops.index(static_cast<int64_t>(level)));
  }
  if (store)
    ranks[store] = counted;
  else
    loops.deallocate(counted);
  op.erase();
}

/// The largest number of `width` bits, those of an index if that is 0; not
/// larger than the largest index.
static int64_t getLargest(unsigned width) {
  constexpr unsigned indexBits = 63;
  if (width == 0 || width > indexBits)
    return std::numeric_limits<int64_t>::max();
  return (int64_t(1) << width) - 1;
}

/// Whether a position or a coordinate does not fit the type of its list.
Value Lowering::findMisfit(StorePositionsOp op, const LevelElements &levels,
                           LoopBuilder &loops) {
  sparse_tensor::SparseTensorEncodingAttr encoding = op.getEncoding();
  Value mostPosition = loops.index(getLargest(encoding.getPosWidth()));
  Value mostCoordinate = loops.index(getLargest(encoding.getCrdWidth()));
  Value isMisfit = loops.truth(false), isLarge = loops.truth(false);
  auto next = op.getLists().begin();
  for (int64_t level = 0; level < levels.size(); ++level) {
    if (levels.getFormat(level).hasPositions()) {
      // The last position is the number of the elements, if there is one.
      Value positions = loops.extent(*next++, 0);
      Value elements = loops.extent(*next, 0);
      Value isTooMuch = loops.bitAnd(loops.less(loops.index(0), positions),
                                     loops.less(mostPosition, elements));
      isMisfit = loops.bitOr(isMisfit, isTooMuch);
    }
    if (levels.getFormat(level).hasCoordinates()) {
      ++next;
      Value extent = op.getExtents()[level];
      isLarge = loops.bitOr(
          isLarge,
          loops.less(loops.add(mostCoordinate, loops.index(1)), extent));
    }
  }
  if (encoding.getCrdWidth() == 0 || encoding.getCrdWidth() == 64)
    return isMisfit;
  // Where extents do not tell, coordinates do.
  Value isTooLarge = loops.choose(
      isLarge,
      [&] {
        Value coordinates =
            asArgument(loops, op.getCoordinates(), levels.size());
        Value survey = func::CallOp::create(loops.builder,
                                            functions.getSurvey(levels.size()),
                                            coordinates)
                           .getResult(0);
        SmallVector<Value> largest =
            loops.readFirstRow(survey, levels.size() + 1);
        loops.deallocate(survey);
        Value found = loops.truth(false);
        for (int64_t level = 0; level < levels.size(); ++level)
          if (levels.getFormat(level).hasCoordinates())
            found = loops.bitOr(found,
                                loops.less(mostCoordinate, largest[level + 1]));
        return found;
      },
      [&] { return loops.truth(false); });
  return loops.bitOr(isMisfit, isTooLarge);
}

void Lowering::lower(StorePositionsOp op) {
  LevelElements levels(op.getEncoding());
  OpBuilder builder(op);
  LoopBuilder loops(builder, op.getLoc());
  Value isWrong = findMisfit(op, levels, loops);
  Value counted = ranks.lookup(op);
  if (!counted) {
    counted = count(op, loops);
    Value numWrong = readTotals(counted, loops).back();
    isWrong = loops.bitOr(isWrong, loops.differ(numWrong, loops.index(0)));
  }
  raiseIf(isWrong, op, loops);
  SmallVector<Value> arguments = {
      asArgument(loops, op.getCoordinates(), levels.size()),
      asArgument(loops, op.getOrder()), counted};
  llvm::append_range(arguments, op.getExtents());
  for (Value list : op.getLists())
    arguments.push_back(asArgument(loops, list));
  func::CallOp::create(loops.builder, functions.getStore(op.getEncoding()),
                       arguments);
  loops.deallocate(counted);
  op.erase();
}

/// Whether loops count and store elements of such levels.
static bool canLower(sparse_tensor::SparseTensorEncodingAttr encoding) {
  return areLevelsValid(encoding) &&
         llvm::none_of(encoding.getLvlTypes(),
                       [](sparse_tensor::LevelType level) {
                         return getFormat(level).isPacked();
                       });
}

/// Whether loops can do `op`; the runtime can do any.
static bool canLower(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), [](Type type) {
        auto buffer = dyn_cast<MemRefType>(type);
        return isa<TensorType>(type) ||
               (buffer &&
                (!buffer.getLayout().isIdentity() || buffer.getMemorySpace()));
      }))
    return false;
  if (isa<CountBeforeOp>(op))
    return true;
  if (auto sort = dyn_cast<SortEntriesOp>(op))
    return !cast<MemRefType>(sort.getCoordinates().getType()).isDynamicDim(1);
  if (auto count = dyn_cast<CountPositionsOp>(op))
    return canLower(count.getEncoding());
  return canLower(cast<StorePositionsOp>(op).getEncoding());
}

namespace {
struct StorageToLoopsPass
    : sparse_autograd::impl::StorageToLoopsBase<StorageToLoopsPass> {
  void runOnOperation() override {
    // In the order of the program, and not those that are made for errors.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<CountBeforeOp, SortEntriesOp, CountPositionsOp, StorePositionsOp>(
              op) &&
          canLower(op))
        ops.push_back(op);
    });
    Lowering lowering(getOperation());
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op)
          .Case<CountBeforeOp, SortEntriesOp, CountPositionsOp,
                StorePositionsOp>(
              [&](auto storageOp) { lowering.lower(storageOp); });
  }
};
} // namespace
