//===- StorePositions.cpp - positions and coordinates, by many threads ----===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry that is new at a level writes its coordinate there. A position is
// found by its parent, by binary search for the first entry that it or one
// behind it has: an empty row costs as much as any other, and no thread has to
// fill in many of them.
//
//===----------------------------------------------------------------------===//

#include "StorageFunctions.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// Builds the lists of one storage.
class StoreBuilder {
public:
  StoreBuilder(LoopBuilder &loops, const LevelElements &levels,
               ValueRange arguments)
      : loops(loops), levels(levels), coordinates(arguments[0]),
        order(arguments[1]), ranks(arguments[2]),
        extents(arguments.slice(3, levels.size())),
        lists(arguments.drop_front(3 + levels.size())), zero(loops.index(0)),
        one(loops.index(1)), count(loops.extent(coordinates, 0)) {}

  void build();

private:
  Value getRank(Value number, int64_t level) {
    return loops.load(ranks, {number, loops.index(levels.countBefore(level))});
  }
  /// How many elements of a counted level there are before entry `number`.
  Value getRankBefore(Value number, int64_t level) {
    return loops.choose(
        loops.equal(number, zero), [&] { return zero; },
        [&] { return getRank(loops.sub(number, one), level); });
  }
  Value getElement(Value number, Value entry, int64_t level);
  void store(Value index, Value list, Value place);
  void storeEntries(ArrayRef<Value> coordinateLists, Value slots);
  void storePositions(int64_t level, Value list);

  LoopBuilder &loops;
  const LevelElements &levels;
  Value coordinates, order, ranks;
  ValueRange extents, lists;
  Value zero, one, count;
};
} // namespace

/// The element of level `level` of the entry `entry`, which has the number
/// `number` in order.
Value StoreBuilder::getElement(Value number, Value entry, int64_t level) {
  return levels.getElement(
      loops, level, extents,
      [&](int64_t counted) { return getRank(number, counted); },
      [&](int64_t dense) {
        return loops.load(coordinates, {entry, loops.index(dense)});
      });
}

void StoreBuilder::store(Value index, Value list, Value place) {
  Type type = cast<MemRefType>(list.getType()).getElementType();
  if (!type.isIndex())
    index = arith::IndexCastOp::create(loops.builder, type, index);
  loops.store(index, list, place);
}

void StoreBuilder::storeEntries(ArrayRef<Value> coordinateLists, Value slots) {
  loops.forEach(count, [&](ValueRange place) {
    Value number = place.front();
    Value entry = loops.load(order, number);
    for (int64_t level = 0; level < levels.size(); ++level) {
      if (!levels.getFormat(level).hasPositions())
        continue;
      Value rank = getRank(number, level);
      Value isNew = loops.differ(rank, getRankBefore(number, level));
      loops.when(isNew, [&] {
        Value element = loops.sub(rank, one);
        // Singletons have one element for each of the level before.
        int64_t next = level;
        do {
          Value coordinate =
              loops.load(coordinates, {entry, loops.index(next)});
          store(coordinate, coordinateLists[next], element);
        } while (++next < levels.size() &&
                 levels.getFormat(next).isSingleton());
      });
    }
    loops.store(getElement(number, entry, levels.size() - 1), slots, entry);
  });
}

void StoreBuilder::storePositions(int64_t level, Value list) {
  loops.forEach(loops.extent(list, 0), [&](ValueRange place) {
    // Where there are several, where the elements of a parent begin and end.
    int64_t ofParent = levels.getFormat(level).positions;
    Value parent = ofParent > 1 ? loops.countChunks(place.front(), ofParent)
                                : place.front();
    Value first = loops.search(zero, count, [&](Value number) {
      Value entry = loops.load(order, number);
      return loops.less(getElement(number, entry, level - 1), parent);
    });
    store(getRankBefore(first, level), list, place.front());
  });
}

void StoreBuilder::build() {
  SmallVector<Value> coordinateLists(levels.size());
  SmallVector<std::pair<int64_t, Value>> positions;
  auto next = lists.begin();
  for (int64_t level = 0; level < levels.size(); ++level) {
    if (levels.getFormat(level).hasPositions())
      positions.push_back({level, *next++});
    if (levels.getFormat(level).hasCoordinates())
      coordinateLists[level] = *next++;
  }
  storeEntries(coordinateLists, *next);
  for (auto [level, list] : positions)
    storePositions(level, list);
}

func::FuncOp
StorageFunctions::getStore(sparse_tensor::SparseTensorEncodingAttr encoding) {
  LevelElements levels(encoding);
  SmallVector<Type> arguments = {getBuffer(levels.size()), getBuffer(),
                                 getBuffer(levels.numCounted() + 1)};
  arguments.append(levels.size(), IndexType::get(module.getContext()));
  for (const LevelList &list : getLevelLists(encoding))
    arguments.push_back(getBufferType(list.elementType));
  arguments.push_back(getBuffer());
  std::string name = "_sparse_autograd_store" + levels.getName() + "_" +
                     std::to_string(encoding.getPosWidth()) + "_" +
                     std::to_string(encoding.getCrdWidth());
  auto body = [&](LoopBuilder &loops, ValueRange arguments) {
    StoreBuilder(loops, levels, arguments).build();
    return SmallVector<Value>();
  };
  return getFunction(name, arguments, {}, body);
}
