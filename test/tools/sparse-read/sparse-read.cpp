//===- sparse-read.cpp - Prints what the readers read -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The output is exact, so that a test can compare it bit for bit with what
// another reader gives:
//
//   sparse-read [--coalesce] [--non-finite] [--layout=csr|csc|coo|bsr]
//   [--block=2x3]
//               FILE...
//
// prints, for each file, `dense TYPE EXTENT...` and one element a line, or
// `sparse real|pattern ROWS COLUMNS ENTRIES`, one `ROW COLUMN VALUE` a line
// (from 0), and a line of the ids of rows and of columns when there are any. A
// tensor of .tns or .npz is `tensor TYPE|pattern EXTENT...`, then a line for
// each entry, its coordinates and its value; an extent that is inferred ends
// with a question mark. A
// float is printed as the hexadecimal digits of its bits. After a file that
// cannot be read, the diagnostic is printed as `error MESSAGE`, and the exit
// status is 1. With --write=FILE what was read is written again, instead of
// printed. The file - stands for a list on standard input, one `FILE` or `FILE
// TAB OUTPUT` a line, of which each is answered by such a print and a line
// `end`: one process then serves a whole test.

#include "SparseAutograd/IO/Read.h"
#include "SparseAutograd/IO/Write.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <iostream>
#include <string>

using namespace llvm;
using namespace sparse_autograd::io;

static cl::list<std::string> files(cl::Positional, cl::desc("FILE..."),
                                   cl::OneOrMore);
static cl::opt<bool> coalesce("coalesce", cl::desc("Sum duplicates"));
static cl::opt<bool> nonFinite("non-finite",
                               cl::desc("Accept inf and nan in .csv files"));
static cl::opt<bool> list("list", cl::desc("List the arrays of .npz files"));
static cl::opt<SparseLayout::Kind>
    layoutKind("layout", cl::desc("Layout of sparse matrices in .npz files"),
               cl::init(SparseLayout::Csr),
               cl::values(clEnumValN(SparseLayout::Csr, "csr", ""),
                          clEnumValN(SparseLayout::Csc, "csc", ""),
                          clEnumValN(SparseLayout::Coo, "coo", ""),
                          clEnumValN(SparseLayout::Bsr, "bsr", "")));
static cl::opt<std::string> blockText("block",
                                      cl::desc("Extents of a block, as in 2x3"),
                                      cl::init("1x1"));
static cl::opt<std::string> write("write", cl::desc("Write to this file"));

template <typename T>
static void printBits(const DenseArray &array) {
  for (T bits : array.as<T>())
    outs() << format_hex_no_prefix(bits, sizeof(T) * 2) << '\n';
}

static void print(const DenseArray &array) {
  outs() << "dense " << getTypeName(array.type);
  for (int64_t extent : array.shape)
    outs() << ' ' << extent;
  outs() << '\n';
  switch (getByteWidth(array.type)) {
  case 1:
    return printBits<uint8_t>(array);
  case 2:
    return printBits<uint16_t>(array);
  case 4:
    return printBits<uint32_t>(array);
  default:
    return printBits<uint64_t>(array);
  }
}

static std::string joinIds(ArrayRef<int64_t> ids) {
  std::string result;
  for (int64_t id : ids)
    result += (result.empty() ? "" : " ") + std::to_string(id);
  return result;
}

static void print(const TripletTable &table) {
  const CoordinateMatrix &matrix = table.matrix;
  outs() << "sparse " << (matrix.isPattern ? "pattern " : "real ")
         << matrix.rows << ' ' << matrix.columns << ' '
         << matrix.getNumEntries() << '\n';
  for (int64_t i = 0, e = matrix.getNumEntries(); i < e; ++i)
    outs() << matrix.rowIndices[i] << ' ' << matrix.columnIndices[i] << ' '
           << format_hex_no_prefix(bit_cast<uint64_t>(matrix.getValue(i)), 16)
           << '\n';
  if (!table.rowIds.empty())
    outs() << "rows " << joinIds(table.rowIds) << "\ncolumns "
           << joinIds(table.columnIds) << '\n';
}

static void print(const CoordinateTensor &tensor) {
  outs() << "tensor "
         << (tensor.isPattern ? "pattern" : getTypeName(tensor.values.type));
  for (auto [extent, isInferred] : zip_equal(tensor.shape, tensor.isInferred))
    outs() << ' ' << extent << (isInferred ? "?" : "");
  outs() << '\n';
  for (int64_t i = 0, e = tensor.getNumEntries(); i < e; ++i) {
    for (int64_t coordinate : tensor.getCoordinates(i))
      outs() << coordinate << ' ';
    unsigned width = tensor.isPattern ? 0 : getByteWidth(tensor.values.type);
    uint64_t bits = tensor.isPattern;
    if (width)
      std::memcpy(&bits, tensor.values.data.data() + i * width, width);
    outs() << format_hex_no_prefix(bits, width * 2) << '\n';
  }
}

static Error process(StringRef file, StringRef output,
                     const ReadOptions &options) {
  if (list) {
    Expected<std::vector<std::string>> names =
        listMembers(file, options.limits);
    if (!names)
      return names.takeError();
    for (const std::string &name : *names)
      outs() << name << '\n';
    return Error::success();
  }
  auto any = readAny(file, options);
  if (!any)
    return any.takeError();
  if (auto *tensor = std::get_if<CoordinateTensor>(&*any)) {
    if (!output.empty()) {
      SparseLayout layout = layoutKind.getValue();
      auto [rows, columns] = StringRef(blockText).split('x');
      if (rows.getAsInteger(10, layout.block[0]) ||
          columns.getAsInteger(10, layout.block[1]))
        return createStringError("no block");
      return writeSparse(output, *tensor, layout);
    }
    print(*tensor);
    return Error::success();
  }
  auto *array = std::get_if<DenseArray>(&*any);
  auto *table = std::get_if<TripletTable>(&*any);
  if (output.empty()) {
    array ? print(*array) : print(*table);
    return Error::success();
  }
  if (array && output.ends_with(".npz"))
    return writeNpz(output, {{"array", array}});
  return array ? writeDense(output, *array)
               : writeCoordinates(output, table->matrix);
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "prints what the readers read\n");
  ReadOptions options;
  options.duplicates = coalesce ? Duplicates::Coalesce : Duplicates::Refuse;
  options.csv.acceptNonFinite = nonFinite;
  int status = 0;
  auto run = [&](StringRef file, StringRef output) {
    if (Error error = process(file, output, options)) {
      outs() << "error " << toString(std::move(error)) << '\n';
      status = 1;
    }
  };
  for (const std::string &file : files) {
    if (file != "-") {
      run(file, write);
      continue;
    }
    for (std::string line; std::getline(std::cin, line);) {
      auto [input, output] = StringRef(line).split('\t');
      run(input, output);
      outs() << "end\n";
      outs().flush();
    }
  }
  return status;
}
