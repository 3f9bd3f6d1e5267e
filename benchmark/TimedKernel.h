//===- TimedKernel.h - entries and loops in turn ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries of a compiled program on a sparse matrix, timed in turn with loops
// written by hand. Results are compared before. An error ends the program with
// status 1.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_BENCHMARK_TIMEDKERNEL_H
#define SPARSEAUTOGRAD_BENCHMARK_TIMEDKERNEL_H

#include "Csr.h"
#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/Runtime/Call.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace sparse_autograd {

/// Says what is wrong and ends the program.
[[noreturn]] void fail(const llvm::Twine &message);

/// The positive numbers of the command line.
std::vector<int64_t> parseNumbers(int argc, char **argv);

/// A program that is compiled for this machine.
class Program {
public:
  /// `text`: the program.
  explicit Program(llvm::StringRef text);

  /// The contents of `name`, one of benchmark/programs.
  static std::string read(llvm::StringRef name);

  SparseAutogradEntry lookup(llvm::StringRef name);

private:
  std::unique_ptr<ExecutionEngine> engine;
};

/// A random square matrix in CSR, whose rows store between nothing and twice
/// the average.
class RandomMatrix {
public:
  RandomMatrix(int64_t rows, int64_t average);

  ~RandomMatrix();

  loops::Csr get() const;
  /// The pattern, validated.
  const SparseAutogradPattern *getPattern() const { return pattern; }
  int64_t getNumEntries() const { return coordinates.size(); }
  /// Other numbers of a normal distribution.
  std::vector<float> draw(int64_t size);

private:
  std::mt19937_64 generator;
  std::vector<int32_t> positions, coordinates;
  std::vector<float> values;
  SparseAutogradPattern *pattern = nullptr;
};

/// Arguments or results of an entry: words, and the first of each.
class Words {
public:
  void addList(const void *data, int64_t size);
  void addMatrix(const void *data, int64_t rows, int64_t columns);
  void addSparse(const loops::Csr &a);
  std::vector<void *> getPointers();
  std::vector<int64_t> words;

private:
  void add(std::initializer_list<int64_t> more);
  std::vector<size_t> starts;
};

/// One kernel: what it takes, what it gives, and the loop.
struct TimedKernel {
  std::string name;
  Words arguments, results;
  /// For each result, the word of its first buffer, how many buffers it has,
  /// which of them holds its elements, and what the loop computes.
  struct Result {
    size_t word;
    int buffers, elements;
    const std::vector<float> *expected;
  };
  std::vector<Result> expected;
  std::function<void()> loop;

  /// A dense result, a vector or a matrix.
  void expectList(const std::vector<float> *values);
  void expectMatrix(const std::vector<float> *values);
  /// A result with the pattern of `a`.
  void expectSparse(const loops::Csr &a, const std::vector<float> *values);
};

/// A way of calling an entry.
struct TimedCall {
  SparseAutogradEntry entry;
  /// The pattern of the first argument, validated once, and then results share
  /// it; null for calls that check the storage and copy its lists.
  const SparseAutogradPattern *pattern = nullptr;
  int32_t threads = 1;
};

/// The speed of each of `calls` as a multiple of the loop's, which runs on one
/// thread, the best of `rounds` each.
std::vector<double> timeInTurn(TimedKernel &kernel,
                               llvm::ArrayRef<TimedCall> calls, int rounds);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_BENCHMARK_TIMEDKERNEL_H
