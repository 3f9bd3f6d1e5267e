//===- LevelElements.cpp - from entries to elements of levels -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LevelElements.h"

using namespace mlir;
using namespace sparse_autograd;

std::string LevelElements::getName() const {
  std::string name;
  for (int64_t level = 0; level < size(); ++level)
    name += std::string("_") + getFormat(level).letter +
            (isUnique(level) ? "" : "n");
  return name;
}

int64_t LevelElements::countBefore(int64_t level) const {
  int64_t count = 0;
  for (int64_t before = 0; before < level; ++before)
    count += getFormat(before).hasPositions();
  return count;
}

int64_t LevelElements::getCounted(int64_t level) const {
  while (level >= 0 && !getFormat(level).hasPositions())
    --level;
  return level;
}

Value LevelElements::getElement(
    LoopBuilder &loops, int64_t level, ValueRange extents,
    llvm::function_ref<Value(int64_t)> getRank,
    llvm::function_ref<Value(int64_t)> getCoordinate) const {
  int64_t counted = getCounted(level);
  Value element = counted < 0 ? loops.index(0)
                              : loops.sub(getRank(counted), loops.index(1));
  for (int64_t next = counted + 1; next <= level; ++next)
    if (getFormat(next).storesAll())
      element =
          loops.add(loops.mul(element, extents[next]), getCoordinate(next));
  return element;
}
