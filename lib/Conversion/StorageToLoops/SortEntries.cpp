//===- SortEntries.cpp - the order of entries, by many threads ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A merge sort in which each entry finds its place by itself: in the run that
// its own is merged with, by binary search (Satish, Harris, Garland: Designing
// efficient sorting algorithms for manycore GPUs, IPDPS 2009). It is stable,
// and needs neither atomics nor memory that threads share. The radix sort of
// the same authors reads less, but gives each chunk, whose entries must stay in
// order, to one thread where threads share nothing: thousands of threads
// instead of millions, each of which waits for memory.
//
// What usually comes is sorted already, and is found out first. The keys are
// coordinates, packed into words with as many bits as the largest of each level
// has; levels that do not fit one word are sorted by the last ones first. The
// host reads both. The coordinates of one level are keys as they are, and the
// threads themselves read whether there is nothing to do, so that the host
// waits for nothing. Lists of few entries are sorted by comparing all with all.
//
//===----------------------------------------------------------------------===//

#include "StorageFunctions.h"

using namespace mlir;
using namespace sparse_autograd;

/// So many entries are few.
static constexpr int64_t fewEntries = 256;
/// The length of the runs that are merged first: a power of two.
static constexpr int64_t firstRun = 64;

namespace {

/// Where the coordinates of a level are in the keys.
struct PackedLevel {
  Value group;
  Value shift;
};

/// Keys, and the entries that they belong to.
struct KeyedEntries {
  Value keys;
  Value entries;
};

/// Builds the sort of one list.
class SortBuilder {
public:
  SortBuilder(LoopBuilder &loops, int64_t levels, Value coordinates,
              Value order)
      : loops(loops), levels(levels), coordinates(coordinates), order(order),
        zero(loops.index(0)), one(loops.index(1)),
        count(loops.extent(coordinates, 0)) {}

  void sortFew();
  /// `survey` is what there is to know of the list (see `getSurvey`).
  void sortMany(Value survey);

  Value getCount() const { return count; }

private:
  void keepOrder();
  void sortByKeys(ArrayRef<PackedLevel> packing, Value groups);
  void unlessSorted(llvm::function_ref<void()> body,
                    llvm::function_ref<void()> otherwise = nullptr);
  SmallVector<PackedLevel> pack(ValueRange largest, Value &groups);
  void writeKeys(ArrayRef<PackedLevel> packing, Value group, KeyedEntries to);
  Value countSmaller(Value begin, Value end, Value number,
                     llvm::function_ref<Value(Value, Value)> precedes);
  void sortRuns(KeyedEntries from, KeyedEntries to);
  void mergeRuns(KeyedEntries from, KeyedEntries to, Value length);

  LoopBuilder &loops;
  int64_t levels;
  Value coordinates, order;
  Value zero, one, count;
  /// The survey, if it is the threads that read whether the list is sorted.
  Value readByThreads;
};

} // namespace

/// Runs `body` in a thread if there is something to sort.
void SortBuilder::unlessSorted(llvm::function_ref<void()> body,
                               llvm::function_ref<void()> otherwise) {
  if (!readByThreads)
    return body();
  Value unsorted = loops.load(readByThreads, {zero, zero});
  loops.when(loops.differ(unsorted, zero), body, otherwise);
}

/// How many elements of [begin, end) come before element `number`, itself
/// excepted; `precedes` is asked whether one does, where those that come first
/// in the list are before others that are equal.
Value SortBuilder::countSmaller(
    Value begin, Value end, Value number,
    llvm::function_ref<Value(Value, Value)> precedes) {
  return loops
      .loop(begin, end, one, zero,
            [&](Value other, ValueRange sum) -> SmallVector<Value> {
              Value isBefore = precedes(other, loops.less(other, number));
              return {loops.add(sum.front(), loops.toIndex(isBefore))};
            })
      .front();
}

void SortBuilder::sortFew() {
  loops.forEach(count, [&](ValueRange number) {
    Value entry = number.front();
    SmallVector<Value> own = loops.loadRow(coordinates, entry, levels);
    Value place =
        countSmaller(zero, count, entry, [&](Value other, Value isBefore) {
          return loops.precedes(loops.loadRow(coordinates, other, levels), own,
                                isBefore);
        });
    loops.store(entry, order, place);
  });
}

void SortBuilder::keepOrder() {
  loops.forEach(count, [&](ValueRange number) {
    loops.store(number.front(), order, number);
  });
}

/// Distributes the levels to as few keys as hold them: the last ones, which
/// are group 0, come first.
SmallVector<PackedLevel> SortBuilder::pack(ValueRange largest, Value &groups) {
  constexpr int64_t keyBits = 64;
  SmallVector<PackedLevel> packing(levels);
  Value group = zero, taken = zero;
  for (int64_t level = levels; level-- > 0;) {
    Value bits = loops.countBits(largest[level]);
    Value behind = loops.add(taken, bits);
    Value isFull = loops.less(loops.index(keyBits), behind);
    group = loops.add(group, loops.toIndex(isFull));
    Value shift = loops.select(isFull, zero, taken);
    taken = loops.select(isFull, bits, behind);
    // Behind all bits there is nothing but coordinates that are 0.
    packing[level] = {group, loops.minimum(shift, loops.index(keyBits - 1))};
  }
  groups = loops.add(group, one);
  return packing;
}

/// Writes the keys of one group, for the entries in the order so far; or the
/// order, if the threads find the list to be sorted.
void SortBuilder::writeKeys(ArrayRef<PackedLevel> packing, Value group,
                            KeyedEntries to) {
  Value isFirst = loops.equal(group, zero);
  SmallVector<Value> isInKey;
  for (const PackedLevel &level : packing)
    isInKey.push_back(loops.equal(level.group, group));
  loops.forEach(count, [&](ValueRange number) {
    auto write = [&] {
      Value entry = loops.choose(
          isFirst, [&] { return number.front(); },
          [&] { return loops.load(order, number); });
      Value key = zero;
      for (int64_t level = 0; level < levels; ++level) {
        Value coordinate = loops.load(coordinates, {entry, loops.index(level)});
        Value part = loops.shiftLeft(coordinate, packing[level].shift);
        key = loops.bitOr(key, loops.select(isInKey[level], part, zero));
      }
      loops.store(key, to.keys, number);
      loops.store(entry, to.entries, number);
    };
    unlessSorted(write, [&] { loops.store(number.front(), order, number); });
  });
}

/// Sorts runs of the first length, each by comparing all with all.
void SortBuilder::sortRuns(KeyedEntries from, KeyedEntries to) {
  auto findPlace = [&](Value number) {
    Value key = loops.load(from.keys, number);
    Value inRun = loops.bitAnd(number, loops.index(firstRun - 1));
    Value begin = loops.sub(number, inRun);
    Value end = loops.minimum(loops.add(begin, loops.index(firstRun)), count);
    Value smaller =
        countSmaller(begin, end, number, [&](Value other, Value isBefore) {
          Value theirs = loops.load(from.keys, other);
          return loops.precedes(theirs, key, isBefore);
        });
    Value place = loops.add(begin, smaller);
    loops.store(key, to.keys, place);
    loops.store(loops.load(from.entries, number), to.entries, place);
  };
  loops.forEach(count, [&](ValueRange number) {
    unlessSorted([&] { findPlace(number.front()); });
  });
}

/// Merges each two runs of `length`.
void SortBuilder::mergeRuns(KeyedEntries from, KeyedEntries to, Value length) {
  Value mask = loops.sub(length, one);
  auto findPlace = [&](Value number) {
    Value key = loops.load(from.keys, number);
    Value inRun = loops.bitAnd(number, mask);
    Value begin = loops.sub(number, inRun);
    Value isSecond = loops.differ(loops.bitAnd(begin, length), zero);
    Value first = loops.select(isSecond, loops.sub(begin, length), begin);
    Value other = loops.select(isSecond, first,
                               loops.minimum(loops.add(begin, length), count));
    Value otherEnd = loops.select(
        isSecond, begin, loops.minimum(loops.add(other, length), count));
    // Equal ones of the first run stay before those of the second.
    Value found = loops.search(other, otherEnd, [&](Value middle) {
      Value theirs = loops.load(from.keys, middle);
      return loops.precedes(theirs, key, isSecond);
    });
    Value place = loops.add(loops.add(first, inRun), loops.sub(found, other));
    loops.store(key, to.keys, place);
    loops.store(loops.load(from.entries, number), to.entries, place);
  };
  loops.forEach(count, [&](ValueRange number) {
    unlessSorted([&] { findPlace(number.front()); });
  });
}

void SortBuilder::sortByKeys(ArrayRef<PackedLevel> packing, Value groups) {
  Value runs = loops.countChunks(count, firstRun);
  Value passes = loops.countBits(loops.sub(runs, one));
  SmallVector<Value> buffers;
  for (int i = 0; i < 3; ++i)
    buffers.push_back(loops.allocate(count));
  // What the last pass writes are the entries in `order`.
  Value isEven = loops.equal(loops.bitAnd(passes, one), zero);
  KeyedEntries unsorted = {buffers[0], loops.select(isEven, buffers[2], order)};
  KeyedEntries inRuns = {buffers[1], loops.select(isEven, order, buffers[2])};
  loops.loop(zero, groups, one, {}, [&](Value group, ValueRange) {
    writeKeys(packing, group, unsorted);
    sortRuns(unsorted, inRuns);
    loops.loop(zero, passes, one,
               {inRuns.keys, inRuns.entries, unsorted.keys, unsorted.entries},
               [&](Value pass, ValueRange carried) -> SmallVector<Value> {
                 KeyedEntries from = {carried[0], carried[1]};
                 KeyedEntries to = {carried[2], carried[3]};
                 mergeRuns(from, to,
                           loops.shiftLeft(loops.index(firstRun), pass));
                 return {to.keys, to.entries, from.keys, from.entries};
               });
    return SmallVector<Value>();
  });
  for (Value buffer : buffers)
    loops.deallocate(buffer);
}

void SortBuilder::sortMany(Value survey) {
  if (levels == 1) {
    readByThreads = survey;
    return sortByKeys(PackedLevel{/*group=*/zero, /*shift=*/zero},
                      /*groups=*/one);
  }
  SmallVector<Value> found = loops.readFirstRow(survey, levels + 1);
  Value isSorted = loops.equal(found.front(), loops.index(0));
  loops.when(
      isSorted, [&] { keepOrder(); },
      [&] {
        Value groups;
        SmallVector<PackedLevel> packing =
            pack(ArrayRef(found).drop_front(), groups);
        sortByKeys(packing, groups);
      });
}

func::FuncOp StorageFunctions::getSort(int64_t levels) {
  auto body = [&](LoopBuilder &loops, ValueRange arguments) {
    Value coordinates = arguments[0];
    SortBuilder sort(loops, levels, coordinates, arguments[1]);
    Value isLong = loops.less(loops.index(fewEntries), sort.getCount());
    auto sortMany = [&] {
      auto survey =
          func::CallOp::create(loops.builder, getSurvey(levels), coordinates);
      sort.sortMany(survey.getResult(0));
      loops.deallocate(survey.getResult(0));
    };
    loops.when(isLong, sortMany, [&] { sort.sortFew(); });
    return SmallVector<Value>();
  };
  return getFunction("_sparse_autograd_sort_" + std::to_string(levels),
                     {getBuffer(levels), getBuffer()}, {}, body);
}
