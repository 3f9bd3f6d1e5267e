//===- GzipStream.h - A stream that compresses ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_IO_GZIPSTREAM_H
#define SPARSEAUTOGRAD_LIB_IO_GZIPSTREAM_H

#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace sparse_autograd::io {

/// What is written goes to another stream as one gzip member (RFC 1952),
/// without a name or a time, so that equal bytes make equal files.
class GzipStream : public llvm::raw_ostream {
public:
  explicit GzipStream(llvm::raw_ostream &target);
  ~GzipStream() override;

  /// Writes the end of the member. False if memory has run out.
  [[nodiscard]] bool finish();

private:
  struct State;

  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return position; }
  void compress(const char *data, size_t size, bool isEnd);

  llvm::raw_ostream &target;
  std::unique_ptr<State> state;
  uint64_t position = 0;
};

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_LIB_IO_GZIPSTREAM_H
