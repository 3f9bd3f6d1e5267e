//===- Survey.cpp - what coordinates are like -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that is asked for is a maximum. A thread takes every so-many-th entry, so
// that neighbours read what lies side by side; then, in place, every
// so-many-th of what the threads have found, until one is left.
//
//===----------------------------------------------------------------------===//

#include "StorageFunctions.h"

using namespace mlir;
using namespace sparse_autograd;

func::FuncOp StorageFunctions::getSurvey(int64_t levels) {
  int64_t width = levels + 1;
  auto body = [&](LoopBuilder &loops, ValueRange arguments) {
    Value coordinates = arguments.front();
    Value zero = loops.index(0), one = loops.index(1);
    Value count = loops.extent(coordinates, 0);
    Value threads = loops.maximum(loops.countChunks(count, chunkLength), one);
    Value found = loops.allocate(threads, width);
    loops.forEach(threads, [&](ValueRange thread) {
      SmallVector<Value> none(width, zero);
      SmallVector<Value> largest = loops.loop(
          thread.front(), count, threads, none,
          [&](Value entry, ValueRange carried) {
            Value before = loops.sub(loops.maximum(entry, one), one);
            SmallVector<Value> own = loops.loadRow(coordinates, entry, levels);
            Value precedes =
                loops.precedes(own, loops.loadRow(coordinates, before, levels),
                               loops.truth(false));
            SmallVector<Value> next = {loops.toIndex(precedes)};
            llvm::append_range(next, own);
            for (auto [number, other] : llvm::zip_equal(next, carried))
              number = loops.maximum(other, number);
            return next;
          });
      for (int64_t place = 0; place < width; ++place)
        loops.store(largest[place], found,
                    {thread.front(), loops.index(place)});
    });
    loops.whileAbove(1, threads, [&](Value length) {
      Value left = loops.countChunks(length, chunkLength);
      loops.forEach({left, loops.index(width)}, [&](ValueRange place) {
        Value largest =
            loops
                .loop(place.front(), length, left, zero,
                      [&](Value row, ValueRange carried) -> SmallVector<Value> {
                        Value other = loops.load(found, {row, place.back()});
                        return {loops.maximum(carried.front(), other)};
                      })
                .front();
        loops.store(largest, found, place);
      });
      return left;
    });
    return SmallVector<Value>{found};
  };
  return getFunction("_sparse_autograd_survey_" + std::to_string(levels),
                     getBuffer(levels), getBuffer(width), body);
}
