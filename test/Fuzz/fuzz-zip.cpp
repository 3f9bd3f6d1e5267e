//===- fuzz-zip.cpp - feed the reader of zip files ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzLimits.h"
#include "SparseAutograd/IO/Zip.h"

using namespace llvm;
using namespace sparse_autograd::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  auto members = readZipDirectory(bytes, "f", makeFuzzLimits());
  if (!members) {
    checkMessage(members.takeError());
    return 0;
  }
  for (const ZipMember &member : *members) {
    auto content = readZipMember(bytes, member, "f", makeFuzzLimits());
    if (content)
      require(content->size() == member.expandedBytes);
    else
      checkMessage(content.takeError());
  }
  return 0;
}
