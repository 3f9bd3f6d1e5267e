//===- Program.h - compile and call a program in a test ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_UNIT_EXECUTIONENGINE_PROGRAM_H
#define SPARSEAUTOGRAD_TEST_UNIT_EXECUTIONENGINE_PROGRAM_H

#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <numeric>
#include <string>
#include <vector>

/// A dense array as an entry takes and returns it. `bool` elements are bytes.
template <typename T>
class Array {
public:
  Array(std::vector<int64_t> shape, T value = T())
      : shape(std::move(shape)), data(count(), value) {}
  Array(std::vector<int64_t> shape, std::vector<T> data)
      : shape(std::move(shape)), data(std::move(data)) {}

  int64_t count() const {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                           std::multiplies<int64_t>());
  }
  T &operator[](int64_t i) { return data[i]; }

  /// Points to a descriptor that is valid until the next call.
  void *getDescriptor() {
    words = {reinterpret_cast<int64_t>(data.data()),
             reinterpret_cast<int64_t>(data.data()), 0};
    words.insert(words.end(), shape.begin(), shape.end());
    std::vector<int64_t> strides(shape.size());
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
      strides[i] = stride;
    words.insert(words.end(), strides.begin(), strides.end());
    return words.data();
  }

  std::vector<int64_t> shape;
  std::vector<T> data;

private:
  std::vector<int64_t> words;
};

/// The place of a result of a rank; owns its buffer.
template <typename T>
class Result {
public:
  explicit Result(unsigned rank) : rank(rank), words(3 + 2 * rank, 0) {}
  ~Result() { sparseAutogradFree(reinterpret_cast<void *>(words[0])); }
  Result(const Result &) = delete;
  void *getDescriptor() { return words.data(); }
  bool isWritten() const { return words[0] != 0; }
  int64_t size(unsigned i) const { return words[3 + i]; }
  int64_t count() const {
    int64_t product = 1;
    for (unsigned i = 0; i < rank; ++i)
      product *= size(i);
    return product;
  }
  T operator[](int64_t i) const {
    return reinterpret_cast<T *>(words[1])[words[2] + i];
  }
  std::vector<T> toVector() const {
    std::vector<T> all;
    for (int64_t i = 0; i < count(); ++i)
      all.push_back((*this)[i]);
    return all;
  }

private:
  unsigned rank;
  std::vector<int64_t> words;
};

/// A program compiled by the whole pipeline, or by other passes, for this
/// processor with more features or fewer.
class Program {
public:
  explicit Program(llvm::StringRef source, llvm::StringRef passes = {},
                   llvm::StringRef features = {});

  /// Calls an entry and returns its status.
  int32_t call(llvm::StringRef name, std::vector<void *> arguments,
               std::vector<void *> results);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<sparse_autograd::ExecutionEngine> engine;
  std::string error;
  std::string optimizedIR;
};

#endif // SPARSEAUTOGRAD_TEST_UNIT_EXECUTIONENGINE_PROGRAM_H
