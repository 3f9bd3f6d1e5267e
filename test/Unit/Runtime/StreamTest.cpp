//===- StreamTest.cpp - write past the caches -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/CompilerABI.h"
#include "gtest/gtest.h"

#include <numeric>
#include <vector>

/// Copies from and to every position relative to a line, lengths around whole
/// lines, past the caches and through them: nothing else is written.
TEST(StreamTest, copiesTheBytesAndNoOthers) {
  constexpr int64_t size = 1024;
  std::vector<unsigned char> source(size);
  std::iota(source.begin(), source.end(), 1);
  for (int64_t total : {int64_t(size), int64_t(1) << 40})
    for (int64_t bytes : {0, 1, 15, 63, 64, 255, 256, 257, 319, 320, 321, 700})
      for (int64_t to = 0; to < 64; ++to)
        for (int64_t from : {0, 1, 4, 33}) {
          std::vector<unsigned char> destination(size, 0xee);
          sparseAutogradStream(destination.data() + to, source.data() + from,
                               bytes, total);
          for (int64_t i = 0; i < size; ++i) {
            bool isInside = i >= to && i < to + bytes;
            ASSERT_EQ(destination[i], isInside ? source[from + i - to] : 0xee)
                << "byte " << i << " of " << bytes << " from " << from << " to "
                << to;
          }
        }
}
