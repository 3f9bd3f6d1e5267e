//===- Inflate.cpp - Expansion of deflated bytes ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inflate.h"
#include "llvm/ADT/ScopeExit.h"
#include <algorithm>
#include <limits>
#include <zlib.h>

using namespace llvm;
using namespace sparse_autograd::io;

InflateStatus sparse_autograd::io::inflateStream(StringRef input,
                                                 InflateWrapper wrapper,
                                                 uint64_t maximumSize,
                                                 AlignedBuffer &output,
                                                 uint64_t &consumed) {
  // zlib counts in 32 bits.
  constexpr uint64_t largestStep = uint64_t(1) << 30;
  constexpr uint64_t smallestRoom = uint64_t(1) << 12;

  consumed = 0;
  // Leaves room for one more byte.
  maximumSize =
      std::min<uint64_t>(maximumSize, std::numeric_limits<int64_t>::max());
  z_stream stream = {};
  // Windows of up to 2^15 bytes; 16 more asks for gzip's header and trailer,
  // negative for neither.
  int windowBits = wrapper == InflateWrapper::Gzip ? 15 + 16 : -15;
  if (inflateInit2(&stream, windowBits) != Z_OK)
    return InflateStatus::NoMemory;
  scope_exit endStream([&] { inflateEnd(&stream); });

  uint64_t begin = output.size();
  uint64_t produced = begin;
  auto finish = [&](InflateStatus status) {
    // Shrinking needs no memory.
    (void)output.resize(status == InflateStatus::Done ? produced : begin);
    return status;
  };
  while (true) {
    if (produced == output.size()) {
      // The byte beyond the limit tells a stream that ends there from one that
      // goes on.
      uint64_t wanted =
          produced + std::max(produced, smallestRoom + input.size());
      wanted = std::min(wanted, std::max(maximumSize, produced) + 1);
      if (!output.resize(wanted))
        return finish(InflateStatus::NoMemory);
    }
    uint64_t inputStep =
        std::min<uint64_t>(input.size() - consumed, largestStep);
    uint64_t outputStep = std::min(output.size() - produced, largestStep);
    stream.next_in =
        reinterpret_cast<Bytef *>(const_cast<char *>(input.data() + consumed));
    stream.avail_in = inputStep;
    stream.next_out = reinterpret_cast<Bytef *>(output.data() + produced);
    stream.avail_out = outputStep;
    int status = inflate(&stream, Z_NO_FLUSH);
    consumed += inputStep - stream.avail_in;
    produced += outputStep - stream.avail_out;
    if (produced > maximumSize)
      return finish(InflateStatus::TooLarge);
    if (status == Z_STREAM_END)
      return finish(InflateStatus::Done);
    if (status == Z_MEM_ERROR)
      return finish(InflateStatus::NoMemory);
    if (status != Z_OK && status != Z_BUF_ERROR)
      return finish(InflateStatus::Corrupt);
    // All input used, room left, and yet no end: bytes are missing.
    if (consumed == input.size() && stream.avail_out != 0)
      return finish(InflateStatus::Truncated);
  }
}
