//===- WrittenBytes.h - Which bytes have been written -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Definedness of a piece of memory: for each byte whether a kernel, a copy or
// the host has written it. Internal to the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_WRITTENBYTES_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_WRITTENBYTES_H

#include <cstddef>
#include <cstdint>
#include <memory>

namespace sparse_autograd {
namespace emulator {

class WrittenBytes {
public:
  /// So many bytes, all of which count as written, or none. Without memory to
  /// note it, all do.
  void begin(size_t newBytes, bool areWritten);

  void mark(size_t offset, size_t length);
  /// They have not been written any more.
  void unmark(size_t offset, size_t length);
  /// As many bytes of `from` have been written as here from now on.
  void copy(size_t offset, const WrittenBytes &from, size_t fromOffset,
            size_t length);
  /// The offset of the first byte in [offset, offset + length) that has not
  /// been written; their end if all have.
  size_t findUnwritten(size_t offset, size_t length) const;

private:
  struct Release {
    void operator()(uint8_t *memory) const;
  };

  size_t bytes = 0;
  /// 1 for each byte that was written; null if all were.
  std::unique_ptr<uint8_t, Release> states;
};

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_WRITTENBYTES_H
