//===- MaskedBenchmark.cpp - time compiled programs and loops -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs what it is told on its standard input, one command a line, and answers
// each with one line, so that run.py can alternate between this program and
// NumPy. The commands:
//
//   prepare CASE SIZE DENSITY  compiles programs/CASE.mlir, makes the data, and
//                              compares the program's results with the loop's:
//                              "ok BYTES", what has to move to and from memory
//   time program               one call of the compiled program: seconds
//   time loop                  one call of the loop written by hand: seconds
//   time copy                  one copy of SIZE x SIZE floats: seconds
//
// An error ends the program, with a message and status 1.
//
//===----------------------------------------------------------------------===//

#include "MaskedLoops.h"
#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <sstream>
#include <sys/mman.h>
#include <vector>

using namespace sparse_autograd;

[[noreturn]] static void fail(const std::string &message) {
  std::cerr << "masked-benchmark: error: " << message << "\n";
  std::exit(1);
}

namespace {

/// Memory as the runtime of compiled programs has it: aligned to huge pages,
/// and touched before anything is timed.
template <typename T>
class Buffer {
public:
  explicit Buffer(int64_t count) : count(count) {
    constexpr size_t page = size_t(2) << 20;
    size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    data = static_cast<T *>(std::aligned_alloc(page, std::max(bytes, page)));
    if (!data)
      fail("out of memory");
    madvise(data, bytes, MADV_HUGEPAGE);
    std::memset(static_cast<void *>(data), 0, bytes);
  }
  ~Buffer() { std::free(data); }
  Buffer(const Buffer &) = delete;

  T &operator[](int64_t i) { return data[i]; }

  int64_t count;
  T *data;
};

/// A matrix, or a scalar for rank 0, as an entry takes and returns it.
struct Descriptor {
  int64_t words[7] = {};

  Descriptor() = default;
  Descriptor(const void *data, int64_t rows, int64_t columns)
      : words{reinterpret_cast<int64_t>(data),
              reinterpret_cast<int64_t>(data),
              0,
              rows,
              columns,
              columns,
              1} {}

  const float *getData() const {
    return reinterpret_cast<const float *>(words[1]) + words[2];
  }
  void release() { sparseAutogradFree(reinterpret_cast<void *>(words[0])); }
};

/// One case: a program, the loop that it is compared with, and their data.
class Case {
public:
  Case(const std::string &name, int64_t size, double density)
      : isSoftmax(name == "softmax"), size(size), x(size * size),
        dy(size * size), loopY(size * size), loopDx(size * size),
        mask(size * size) {
    if (name == "mean")
      loop = loops::mean;
    else if (name == "max")
      loop = loops::max;
    else if (name == "logsumexp")
      loop = loops::logsumexp;
    else if (!isSoftmax)
      fail("there is no case '" + name + "'");
    makeData(density);
    compile(std::string(PROGRAMS_DIR "/") + name + ".mlir");
    compare();
  }

  int64_t getBytes() const {
    // x and the mask are read and the gradient is written; softmax also reads
    // the cotangent and writes its result.
    return size * size * (isSoftmax ? 4 * 4 + 1 : 2 * 4 + 1);
  }

  void runLoop() {
    loops::Masked input = {x.data, mask.data, size, size};
    if (isSoftmax)
      loops::softmax(input, dy.data, loopY.data, loopDx.data);
    else
      loopValue = loop(input, loopDx.data);
  }

  void runProgram() {
    call();
    first.release();
    second.release();
  }

  void runCopy() { std::memcpy(loopDx.data, x.data, size * size * 4); }

private:
  void makeData(double density) {
    std::mt19937_64 generator(20240607);
    std::normal_distribution<float> normal;
    std::bernoulli_distribution selected(density);
    for (int64_t i = 0; i < size * size; ++i) {
      x[i] = normal(generator);
      dy[i] = normal(generator);
      mask[i] = selected(generator);
    }
  }

  void compile(const std::string &file) {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    mlir::MLIRContext context(registry);
    auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
    if (!module)
      fail(file + " does not parse");
    if (auto error = runPipeline(*module))
      fail(file + ": " + llvm::toString(std::move(error)));
    auto created = ExecutionEngine::create(*module);
    if (!created)
      fail(llvm::toString(created.takeError()));
    engine = std::move(*created);
    auto found = engine->lookup("main");
    if (!found)
      fail(llvm::toString(found.takeError()));
    entry = *found;
  }

  void call() {
    Descriptor inputs[] = {
        {x.data, size, size}, {mask.data, size, size}, {dy.data, size, size}};
    void *arguments[] = {&inputs[0], &inputs[1], &inputs[2]};
    void *results[] = {&first, &second};
    if (entry(arguments, results) != SPARSE_AUTOGRAD_SUCCESS)
      fail(sparseAutogradLastError());
  }

  /// What is fast and wrong is not timed.
  void compare() {
    call();
    runLoop();
    auto expectClose = [](float got, float wanted, double tolerance) {
      if (got != wanted &&
          !(std::abs(got - wanted) <= tolerance * (1e-3 + std::abs(wanted))))
        fail("the program gives " + std::to_string(got) + ", the loop " +
             std::to_string(wanted));
    };
    if (!isSoftmax)
      expectClose(*first.getData(), loopValue, 1e-3);
    for (int64_t i = 0; i < size * size; ++i) {
      if (isSoftmax)
        expectClose(first.getData()[i], loopY[i], 1e-4);
      expectClose(second.getData()[i], loopDx[i], 1e-4);
    }
    first.release();
    second.release();
  }

  bool isSoftmax;
  int64_t size;
  Buffer<float> x, dy, loopY, loopDx;
  Buffer<bool> mask;
  float (*loop)(const loops::Masked &, float *) = nullptr;
  float loopValue = 0;
  std::unique_ptr<ExecutionEngine> engine;
  SparseAutogradEntry entry = nullptr;
  Descriptor first, second;
};

} // namespace

/// The seconds of a call that follows one of its own kind: what ran before it,
/// here or in another process, would decide what it finds in the caches.
template <typename Function>
static double measure(Function function) {
  function();
  auto begin = std::chrono::steady_clock::now();
  function();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  return seconds.count();
}

int main() {
  sparseAutogradSetThreadCount(1);
  std::unique_ptr<Case> current;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string command, what;
    words >> command >> what;
    if (command == "prepare") {
      int64_t size = 0;
      double density = -1;
      if (!(words >> size >> density) || size < 1 || density < 0 || density > 1)
        fail("prepare takes a case, a size and a density, not '" + line + "'");
      current.reset();
      current = std::make_unique<Case>(what, size, density);
      std::cout << "ok " << current->getBytes() << std::endl;
    } else if (command == "time" && current && what == "program") {
      std::cout << measure([&] { current->runProgram(); }) << std::endl;
    } else if (command == "time" && current && what == "loop") {
      std::cout << measure([&] { current->runLoop(); }) << std::endl;
    } else if (command == "time" && current && what == "copy") {
      std::cout << measure([&] { current->runCopy(); }) << std::endl;
    } else {
      fail("there is no command '" + line + "'");
    }
  }
  return 0;
}
