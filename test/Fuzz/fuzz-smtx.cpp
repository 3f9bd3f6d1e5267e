//===- fuzz-smtx.cpp - feed the reader of .smtx files ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzLimits.h"
#include "SparseAutograd/IO/Smtx.h"

using namespace llvm;
using namespace sparse_autograd::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  for (Duplicates duplicates : {Duplicates::Refuse, Duplicates::Coalesce}) {
    auto matrix = parseSmtx(bytes, "f", duplicates, makeFuzzLimits());
    if (matrix)
      checkMatrix(*matrix);
    else
      checkMessage(matrix.takeError());
  }
  return 0;
}
