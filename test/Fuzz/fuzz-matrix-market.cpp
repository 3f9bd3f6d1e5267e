//===- fuzz-matrix-market.cpp - feed the reader of Matrix Market files ----===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzLimits.h"
#include "SparseAutograd/IO/MatrixMarket.h"

using namespace llvm;
using namespace sparse_autograd::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  for (Duplicates duplicates : {Duplicates::Refuse, Duplicates::Coalesce}) {
    auto result = parseMatrixMarket(bytes, "f", duplicates, makeFuzzLimits());
    if (!result) {
      checkMessage(result.takeError());
      continue;
    }
    std::string text;
    raw_string_ostream stream(text);
    if (auto *array = std::get_if<DenseArray>(&*result)) {
      checkArray(*array);
      cantFail(writeMatrixMarket(stream, *array, "f"));
    } else {
      auto &matrix = std::get<CoordinateMatrix>(*result);
      checkMatrix(matrix);
      writeMatrixMarket(stream, matrix);
    }
    // What was written is read again; the limits are those of the file, which
    // may be longer now.
    require(bool(parseMatrixMarket(text, "f", Duplicates::Refuse, {})));
  }
  return 0;
}
