//===- fuzz-tns.cpp - feed the reader of .tns files -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzLimits.h"
#include "SparseAutograd/IO/Tns.h"

using namespace llvm;
using namespace sparse_autograd::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  for (Duplicates duplicates : {Duplicates::Refuse, Duplicates::Coalesce}) {
    auto tensor = parseTns(bytes, "f", duplicates, makeFuzzLimits());
    if (!tensor) {
      checkMessage(tensor.takeError());
      continue;
    }
    checkTensor(*tensor);
    // What was written is read again; the limits are those of the file, which
    // may be longer now.
    std::string text;
    raw_string_ostream stream(text);
    require(!errorToBool(writeTns(stream, *tensor, "f")));
    auto again = parseTns(text, "f", Duplicates::Refuse, {});
    require(again && again->shape == tensor->shape &&
            again->isInferred == SmallVector<bool>(tensor->getRank(), false) &&
            again->coordinates == tensor->coordinates);
  }
  return 0;
}
