//===- fuzz-npy.cpp - feed the reader of .npy files -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzLimits.h"
#include "SparseAutograd/IO/Npy.h"

using namespace llvm;
using namespace sparse_autograd::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  auto array = parseNpy(bytes, "f", makeFuzzLimits());
  if (!array) {
    checkMessage(array.takeError());
    return 0;
  }
  checkArray(*array);
  // What was read is written and read again without a change.
  std::string copy = cantFail(makeNpyHeader(*array, "f"));
  copy += array->data.str();
  auto again = parseNpy(copy, "f", makeFuzzLimits());
  require(bool(again) && again->type == array->type &&
          again->shape == array->shape &&
          again->data.str() == array->data.str());
  return 0;
}
