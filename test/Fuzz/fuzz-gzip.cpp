//===- fuzz-gzip.cpp - feed the reader of gzip files ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzLimits.h"
#include "SparseAutograd/IO/InputFile.h"

using namespace llvm;
using namespace sparse_autograd::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  auto expanded = expandGzip(bytes, "f", makeFuzzLimits());
  if (expanded)
    require(expanded->size() <= makeFuzzLimits().expandedBytes);
  else
    checkMessage(expanded.takeError());
  return 0;
}
