//===- Diagnostic.cpp - Located diagnostics of the readers ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Diagnostic.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace sparse_autograd::io;

/// Replaces control characters, so that text of a file can neither end the line
/// of a diagnostic nor command a terminal.
static std::string escape(StringRef text) {
  std::string result;
  result.reserve(text.size());
  for (unsigned char c : text) {
    if (c >= 0x20 && c != 0x7f && c != '\\') {
      result.push_back(c);
    } else if (c == '\\') {
      result += "\\\\";
    } else {
      result += "\\x";
      result.push_back(hexdigit(c >> 4, /*LowerCase=*/true));
      result.push_back(hexdigit(c & 15, /*LowerCase=*/true));
    }
  }
  return result;
}

Error sparse_autograd::io::fileError(StringRef file, const Twine &problem,
                                     const Twine &remedy) {
  return createStringError(Twine(escape(file)) + ": " + problem + "; " +
                           remedy);
}

Error sparse_autograd::io::lineError(StringRef file, int64_t line,
                                     const Twine &problem,
                                     const Twine &remedy) {
  return createStringError(Twine(escape(file)) + ":" + Twine(line) + ": " +
                           problem + "; " + remedy);
}

Error sparse_autograd::io::byteError(StringRef file, uint64_t offset,
                                     const Twine &problem,
                                     const Twine &remedy) {
  return createStringError(Twine(escape(file)) + ": byte " + Twine(offset) +
                           ": " + problem + "; " + remedy);
}

std::string sparse_autograd::io::quoted(StringRef text) {
  constexpr size_t longest = 40;
  bool isShortened = text.size() > longest;
  std::string result = "'" + escape(text.take_front(longest));
  result += isShortened ? "...'" : "'";
  // Bytes that are not UTF-8, or a character cut in two, would make the
  // diagnostic unreadable to a program that decodes it.
  for (char &c : result)
    if (static_cast<unsigned char>(c) >= 0x80)
      c = '?';
  return result;
}
