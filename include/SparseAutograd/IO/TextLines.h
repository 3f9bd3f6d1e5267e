//===- TextLines.h - Lines, fields and numbers of text files ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_TEXTLINES_H
#define SPARSEAUTOGRAD_IO_TEXTLINES_H

#include "SparseAutograd/IO/DenseArray.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>

namespace sparse_autograd::io {

/// Goes through the lines of a text, which end with LF or CR LF; the last one
/// may lack its end.
class LineReader {
public:
  LineReader(llvm::StringRef text, llvm::StringRef file)
      : rest(text), file(file) {}

  /// Moves to the next line, given without its end. False at the end.
  bool next(llvm::StringRef &line);

  /// As next, skipping lines of nothing but spaces and tabs.
  bool nextNonBlank(llvm::StringRef &line);

  /// The number of the current line, counting from 1.
  int64_t getLine() const { return line; }
  /// What follows the current line.
  llvm::StringRef getRest() const { return rest; }
  llvm::StringRef getFile() const { return file; }

  /// An error at the current line.
  llvm::Error error(const llvm::Twine &problem,
                    const llvm::Twine &remedy) const;

private:
  llvm::StringRef rest;
  llvm::StringRef file;
  int64_t line = 0;
};

/// Takes the next field, which ends at a space or tab, off `line`; empty at its
/// end.
llvm::StringRef takeField(llvm::StringRef &line);

/// Why a field is not the number that it should be.
enum class NumberError { None, NotANumber, Overflow };

/// Reads a decimal integer with an optional sign. The whole field must be used.
NumberError parseInteger(llvm::StringRef field, int64_t &value);

/// Reads a decimal real number, inf, infinity or nan (any case, with an
/// optional sign), rounded to nearest, independently of the locale. A finite
/// number beyond the largest f64 is an overflow; below the smallest it is
/// rounded to a subnormal or zero. The whole field must be used.
NumberError parseReal(llvm::StringRef field, double &value);

/// Writes the shortest text that reads back as the same value; nan for any NaN.
void writeReal(llvm::raw_ostream &stream, double value);

/// Writes an element so that it reads back as the same value.
void writeElement(llvm::raw_ostream &stream, const DenseArray &array,
                  int64_t index);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_TEXTLINES_H
