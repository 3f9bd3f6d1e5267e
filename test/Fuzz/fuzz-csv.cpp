//===- fuzz-csv.cpp - feed the reader of tables of triplets ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzLimits.h"
#include "SparseAutograd/IO/Csv.h"

using namespace llvm;
using namespace sparse_autograd::io;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  CsvOptions options;
  // The last byte chooses the options.
  uint8_t choice = size ? data[size - 1] : 0;
  options.ignoreFurtherColumns = choice & 1;
  options.acceptNonFinite = choice & 2;
  if (choice & 4)
    options.valueColumn.reset();
  for (Duplicates duplicates : {Duplicates::Refuse, Duplicates::Coalesce}) {
    auto table = parseCsv(bytes, "f", options, duplicates, makeFuzzLimits());
    if (!table) {
      checkMessage(table.takeError());
      continue;
    }
    checkMatrix(table->matrix);
    require(int64_t(table->rowIds.size()) == table->matrix.rows &&
            int64_t(table->columnIds.size()) == table->matrix.columns);
  }
  return 0;
}
