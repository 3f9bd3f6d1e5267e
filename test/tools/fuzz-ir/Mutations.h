//===- Mutations.h - changes of programs ------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the fuzzer of IR does to a program: to its text, its bytes, or its ops.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_MUTATIONS_H
#define SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_MUTATIONS_H

#include "mlir/IR/BuiltinOps.h"

#include <random>
#include <string>

namespace sparse_autograd::fuzz {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  /// A number below `end`, which is not 0.
  size_t below(size_t end) { return engine() % end; }
  bool oneIn(size_t count) { return below(count) == 0; }
  template <typename Range>
  auto &pick(Range &&range) {
    return range[below(std::size(range))];
  }

private:
  std::mt19937_64 engine;
};

/// Changes words of `text`: names, numbers, types, encodings, attributes; or
/// lines of it: deletes, repeats and exchanges them.
void mutateText(std::string &text, Random &random);

/// Changes, deletes, repeats and inserts bytes.
void mutateBytes(std::string &bytes, Random &random);

/// Changes an op of `module`: deletes, repeats or moves it, exchanges its
/// operands, its attributes or types, or gives it those of another op. What
/// comes out need not be valid.
void mutateOps(mlir::ModuleOp module, Random &random);

} // namespace sparse_autograd::fuzz

#endif // SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_MUTATIONS_H
