//===- fuzz-sparse-npz.cpp - feed the reader of sparse .npz files ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Checksums would stop nearly every change of a .npz file, so an input is a
// list of members, which are put into one: for each its name and a line end,
// its length as a decimal number and a line end, its bytes.

#include "FuzzLimits.h"
#include "SparseAutograd/IO/SparseNpz.h"

using namespace llvm;
using namespace sparse_autograd::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef rest(reinterpret_cast<const char *>(data), size);
  std::vector<ZipInput> inputs;
  while (!rest.empty()) {
    auto [name, afterName] = rest.split('\n');
    auto [length, content] = afterName.split('\n');
    size_t count = 0;
    if (length.getAsInteger(10, count))
      break;
    inputs.push_back({name.str(), {content.take_front(count)}});
    rest = content.drop_front(std::min(count, content.size()));
  }
  std::string bytes;
  raw_string_ostream stream(bytes);
  writeZip(stream, inputs);
  auto members = readZipDirectory(bytes, "f", makeFuzzLimits());
  if (!members) {
    checkMessage(members.takeError());
    return 0;
  }
  if (!hasSparseParts(*members, ""))
    return 0;
  for (Duplicates duplicates : {Duplicates::Refuse, Duplicates::Coalesce}) {
    auto tensor =
        readSparseParts(bytes, *members, "", "f", duplicates, makeFuzzLimits());
    if (tensor)
      checkTensor(*tensor);
    else
      checkMessage(tensor.takeError());
  }
  return 0;
}
