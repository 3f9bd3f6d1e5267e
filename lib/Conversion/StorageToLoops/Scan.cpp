//===- Scan.cpp - sums of all that is before ------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reduce, scan, scan again (Blelloch: Prefix sums and their applications,
// 1990), with chunks instead of pairs: the sums of chunks, their own scan, by
// the same function, and with it the rows of each chunk, one after the other.
// So there are few kernels, two for each power of the chunk's length, and rows
// are read twice and written once.
//
//===----------------------------------------------------------------------===//

#include "StorageFunctions.h"

using namespace mlir;
using namespace sparse_autograd;

func::FuncOp StorageFunctions::getScan(int64_t width) {
  std::string name = "_sparse_autograd_scan_" + std::to_string(width);
  auto body = [&](LoopBuilder &loops, ValueRange arguments) {
    Value numbers = arguments.front();
    Value zero = loops.index(0), one = loops.index(1);
    Value length = loops.extent(numbers, 0);
    Value chunks = loops.countChunks(length, chunkLength);
    SmallVector<Value> ends = {chunks, loops.index(width)};
    /// Adds up the rows of a chunk to `before`.
    auto addUp = [&](ValueRange place, Value before, bool stores) {
      Value begin = loops.mul(place.front(), loops.index(chunkLength));
      Value end =
          loops.minimum(loops.add(begin, loops.index(chunkLength)), length);
      return loops
          .loop(begin, end, one, before,
                [&](Value row, ValueRange sum) -> SmallVector<Value> {
                  SmallVector<Value> at = {row, place.back()};
                  Value next = loops.add(sum.front(), loops.load(numbers, at));
                  if (stores)
                    loops.store(next, numbers, at);
                  return {next};
                })
          .front();
    };
    Value sums = loops.allocate(chunks, width);
    loops.when(loops.less(one, chunks), [&] {
      loops.forEach(ends, [&](ValueRange place) {
        loops.store(addUp(place, zero, /*stores=*/false), sums, place);
      });
      func::CallOp::create(loops.builder, getScan(width), sums);
    });
    loops.forEach(ends, [&](ValueRange place) {
      Value before = loops.choose(
          loops.equal(place.front(), zero), [&] { return zero; },
          [&] {
            return loops.load(sums,
                              {loops.sub(place.front(), one), place.back()});
          });
      addUp(place, before, /*stores=*/true);
    });
    loops.deallocate(sums);
    return SmallVector<Value>();
  };
  return getFunction(name, getBuffer(width), {}, body);
}

func::FuncOp StorageFunctions::getCountBefore() {
  auto body = [&](LoopBuilder &loops, ValueRange arguments) {
    Value counts = arguments[0], before = arguments[1];
    Value zero = loops.index(0), one = loops.index(1);
    Value length = loops.extent(before, 0);
    // The sums up to each of a list that begins with a zero.
    loops.forEach(length, [&](ValueRange place) {
      Value count = loops.choose(
          loops.equal(place.front(), zero), [&] { return zero; },
          [&] { return loops.load(counts, loops.sub(place.front(), one)); });
      loops.store(count, before, place);
    });
    SmallVector<OpFoldResult> shape = {length, loops.builder.getIndexAttr(1)};
    Value rows = memref::ExpandShapeOp::create(
        loops.builder, getBuffer(1), before,
        ArrayRef<ReassociationIndices>{{0, 1}}, shape);
    func::CallOp::create(loops.builder, getScan(1), rows);
    return SmallVector<Value>();
  };
  return getFunction("_sparse_autograd_count_before",
                     {getBuffer(), getBuffer()}, {}, body);
}
