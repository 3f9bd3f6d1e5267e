//===- CountElements.cpp - elements of levels, from entries in order ------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each entry looks at the one before it. What is new with it is added up over
// all that come before.
//
//===----------------------------------------------------------------------===//

#include "StorageFunctions.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// An entry and the one before it, by their coordinates.
class EntryPair {
public:
  EntryPair(LoopBuilder &loops, const LevelElements &levels, Value coordinates,
            Value order, Value number)
      : loops(loops), levels(levels) {
    Value zero = loops.index(0), one = loops.index(1);
    isFirst = loops.equal(number, zero);
    Value before = loops.sub(loops.maximum(number, one), one);
    Value entry = loops.load(order, number);
    Value previous = loops.load(order, before);
    Value differs = loops.truth(false);
    own = loops.loadRow(coordinates, entry, levels.size());
    others = loops.loadRow(coordinates, previous, levels.size());
    for (auto [mine, other] : llvm::zip_equal(own, others)) {
      differs = loops.bitOr(differs, loops.differ(mine, other));
      differences.push_back(differs);
    }
  }

  Value isNewAt(int64_t level) const;
  Value isWrong(ValueRange extents) const;

private:
  LoopBuilder &loops;
  const LevelElements &levels;
  SmallVector<Value> own, others;
  /// Whether the coordinates differ at a level or before.
  SmallVector<Value> differences;
  Value isFirst;
};
} // namespace

/// Whether the entry has an element of its own at `level`. Where a level before
/// is not unique, equal coordinates are new ones if anything differs.
Value EntryPair::isNewAt(int64_t level) const {
  int64_t decides = level;
  for (int64_t before = 0; before <= level; ++before)
    if (!levels.isUnique(before))
      decides = levels.size() - 1;
  return loops.bitOr(isFirst, differences[decides]);
}

/// Whether the entry cannot be stored behind the one before it.
Value EntryPair::isWrong(ValueRange extents) const {
  Value isWrong = loops.precedes(own, others, loops.truth(false));
  for (int64_t level = 0; level < levels.size(); ++level) {
    Value isOutside =
        loops.compare(arith::CmpIPredicate::uge, own[level], extents[level]);
    isWrong = loops.bitOr(isWrong, isOutside);
    if (!levels.getFormat(level).isSingleton() || !levels.isUnique(level - 1))
      continue;
    // One element of the level before has one of this level.
    Value isSecond = loops.equal(loops.bitOr(isFirst, differences[level - 1]),
                                 loops.truth(false));
    isWrong = loops.bitOr(isWrong, loops.bitAnd(isSecond, isNewAt(level)));
  }
  return isWrong;
}

func::FuncOp
StorageFunctions::getCount(sparse_tensor::SparseTensorEncodingAttr encoding) {
  LevelElements levels(encoding);
  int64_t counted = levels.numCounted(), width = counted + 1;
  SmallVector<Type> arguments = {getBuffer(levels.size()), getBuffer()};
  arguments.append(levels.size(), IndexType::get(module.getContext()));
  auto body = [&](LoopBuilder &loops, ValueRange arguments) {
    Value coordinates = arguments[0], order = arguments[1];
    ValueRange extents = arguments.drop_front(2);
    Value count = loops.extent(coordinates, 0);
    Value ranks = loops.allocate(count, width);
    loops.forEach(count, [&](ValueRange number) {
      EntryPair pair(loops, levels, coordinates, order, number.front());
      auto add = [&](Value condition, int64_t place) {
        loops.store(loops.toIndex(condition), ranks,
                    {number.front(), loops.index(place)});
      };
      for (int64_t level = 0; level < levels.size(); ++level)
        if (levels.getFormat(level).hasPositions())
          add(pair.isNewAt(level), levels.countBefore(level));
      add(pair.isWrong(extents), counted);
    });
    func::CallOp::create(loops.builder, getScan(width), ranks);
    return SmallVector<Value>{ranks};
  };
  return getFunction("_sparse_autograd_count" + levels.getName(), arguments,
                     getBuffer(width), body);
}

Value sparse_autograd::loadTotal(LoopBuilder &loops, Value ranks, Value place) {
  Value count = loops.extent(ranks, 0), zero = loops.index(0);
  return loops.choose(
      loops.equal(count, zero), [&] { return zero; },
      [&] {
        return loops.load(ranks, {loops.sub(count, loops.index(1)), place});
      });
}

func::FuncOp StorageFunctions::getTotals(int64_t width) {
  auto body = [&](LoopBuilder &loops, ValueRange arguments) {
    Value last = loops.allocate(loops.index(1), width);
    loops.forEach(loops.index(width), [&](ValueRange place) {
      Value total = loadTotal(loops, arguments.front(), place.front());
      loops.store(total, last, {loops.index(0), place.front()});
    });
    SmallVector<Value> totals = loops.readFirstRow(last, width);
    loops.deallocate(last);
    return totals;
  };
  SmallVector<Type> results(width, IndexType::get(module.getContext()));
  return getFunction("_sparse_autograd_totals_" + std::to_string(width),
                     getBuffer(width), results, body);
}
