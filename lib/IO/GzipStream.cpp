//===- GzipStream.cpp - A stream that compresses ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GzipStream.h"
#include <algorithm>
#include <limits>
#include <zlib.h>

using namespace llvm;
using namespace sparse_autograd::io;

struct GzipStream::State {
  z_stream zlib = {};
  bool isGood = false;
  char buffer[1 << 16];
};

GzipStream::GzipStream(raw_ostream &target)
    : target(target), state(std::make_unique<State>()) {
  // 16 more bits of the window mean gzip.
  state->isGood =
      deflateInit2(&state->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                   MAX_WBITS + 16, /*memLevel=*/8, Z_DEFAULT_STRATEGY) == Z_OK;
}

GzipStream::~GzipStream() {
  // A stream must not be destroyed with what it has not written.
  flush();
  deflateEnd(&state->zlib);
}

void GzipStream::compress(const char *data, size_t size, bool isEnd) {
  z_stream &zlib = state->zlib;
  zlib.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(data));
  zlib.avail_in = static_cast<uInt>(size);
  do {
    zlib.next_out = reinterpret_cast<Bytef *>(state->buffer);
    zlib.avail_out = sizeof(state->buffer);
    int status = deflate(&zlib, isEnd ? Z_FINISH : Z_NO_FLUSH);
    state->isGood &= status != Z_STREAM_ERROR;
    target.write(state->buffer, sizeof(state->buffer) - zlib.avail_out);
  } while (zlib.avail_out == 0 && state->isGood);
}

void GzipStream::write_impl(const char *data, size_t size) {
  position += size;
  // zlib counts in 32 bits.
  constexpr size_t most = std::numeric_limits<uInt>::max();
  while (size && state->isGood) {
    size_t count = std::min(size, most);
    compress(data, count, /*isEnd=*/false);
    data += count;
    size -= count;
  }
}

bool GzipStream::finish() {
  flush();
  if (state->isGood)
    compress(nullptr, 0, /*isEnd=*/true);
  return state->isGood;
}
