//===- TimedKernel.cpp - entries and loops in turn -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TimedKernel.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>

using namespace sparse_autograd;

void sparse_autograd::fail(const llvm::Twine &message) {
  llvm::errs() << BENCHMARK_NAME << ": error: " << message << "\n";
  std::exit(1);
}

std::vector<int64_t> sparse_autograd::parseNumbers(int argc, char **argv) {
  std::vector<int64_t> numbers;
  for (llvm::StringRef text : llvm::ArrayRef(argv, argc).drop_front()) {
    int64_t number;
    if (text.getAsInteger(10, number) || number < 1)
      fail("'" + text + "' is no positive number");
    numbers.push_back(number);
  }
  return numbers;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::string Program::read(llvm::StringRef name) {
  std::string path = (PROGRAMS_DIR "/" + name).str();
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    fail(path + ": " + file.getError().message());
  return (*file)->getBuffer().str();
}

Program::Program(llvm::StringRef text) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    fail("the program does not parse");
  PipelineOptions options;
  options.cpu = "native";
  if (auto error = runPipeline(*module, options))
    fail(llvm::toString(std::move(error)));
  auto created = ExecutionEngine::create(*module);
  if (!created)
    fail(llvm::toString(created.takeError()));
  engine = std::move(*created);
}

SparseAutogradEntry Program::lookup(llvm::StringRef name) {
  auto found = engine->lookup(name);
  if (!found)
    fail(llvm::toString(found.takeError()));
  return *found;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

RandomMatrix::RandomMatrix(int64_t rows, int64_t average)
    : generator(20261123), positions{0} {
  for (int64_t i = 0; i < rows; ++i) {
    int64_t count = std::min(rows, int64_t(generator() % (2 * average + 1)));
    std::vector<int32_t> row;
    for (int64_t j = 0; j < count; ++j)
      row.push_back(generator() % rows);
    llvm::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
    coordinates.insert(coordinates.end(), row.begin(), row.end());
    positions.push_back(coordinates.size());
  }
  values = draw(getNumEntries());
  const SparseAutogradLevel levels[] = {
      {SPARSE_AUTOGRAD_LEVEL_DENSE, 0, 0, 0},
      {SPARSE_AUTOGRAD_LEVEL_COMPRESSED, 1, 0, 0}};
  const SparseAutogradEncoding encoding = {2, levels, 4, 4};
  Words storage;
  storage.addSparse(get());
  if (sparseAutogradPatternCreate("a", &encoding, storage.getPointers().front(),
                                  SPARSE_AUTOGRAD_BORROW,
                                  &pattern) != SPARSE_AUTOGRAD_SUCCESS)
    fail(sparseAutogradLastError());
}

RandomMatrix::~RandomMatrix() { sparseAutogradPatternDestroy(pattern); }

loops::Csr RandomMatrix::get() const {
  auto rows = static_cast<int32_t>(positions.size() - 1);
  return {rows, rows, positions.data(), coordinates.data(), values.data()};
}

std::vector<float> RandomMatrix::draw(int64_t size) {
  std::normal_distribution<float> normal;
  std::vector<float> numbers(size);
  for (float &number : numbers)
    number = normal(generator);
  return numbers;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static int64_t address(const void *data) {
  return reinterpret_cast<int64_t>(data);
}

void Words::addList(const void *data, int64_t size) {
  add({address(data), address(data), 0, size, 1});
}

void Words::addMatrix(const void *data, int64_t rows, int64_t columns) {
  add({address(data), address(data), 0, rows, columns, columns, 1});
}

void Words::addSparse(const loops::Csr &a) {
  int64_t nnz = a.positions[a.rows];
  addList(a.positions, a.rows + 1);
  addList(a.coordinates, nnz);
  addList(a.values, nnz);
  add({a.rows, a.columns});
  // All of it is one argument.
  starts.resize(starts.size() - 3);
}

std::vector<void *> Words::getPointers() {
  std::vector<void *> pointers;
  for (size_t start : starts)
    pointers.push_back(&words[start]);
  return pointers;
}

void Words::add(std::initializer_list<int64_t> more) {
  starts.push_back(words.size());
  words.insert(words.end(), more);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void TimedKernel::expectList(const std::vector<float> *values) {
  expected.push_back({results.words.size(), 1, 0, values});
  results.addList(nullptr, 0);
}

void TimedKernel::expectMatrix(const std::vector<float> *values) {
  expected.push_back({results.words.size(), 1, 0, values});
  results.addMatrix(nullptr, 0, 0);
}

void TimedKernel::expectSparse(const loops::Csr &a,
                               const std::vector<float> *values) {
  expected.push_back({results.words.size(), 3, 2, values});
  results.addSparse(a);
}

static void release(TimedKernel &kernel) {
  for (const TimedKernel::Result &result : kernel.expected)
    for (int buffer = 0; buffer < result.buffers; ++buffer)
      sparseAutogradFree(reinterpret_cast<void *>(
          kernel.results.words[result.word + 5 * buffer]));
}

static void call(TimedKernel &kernel, const TimedCall &timed) {
  std::vector<void *> arguments = kernel.arguments.getPointers();
  std::vector<void *> results = kernel.results.getPointers();
  std::vector<const SparseAutogradPattern *> patterns(arguments.size());
  std::vector<int32_t> forms(results.size(), SPARSE_AUTOGRAD_RESULT_OWNED);
  if (timed.pattern) {
    patterns.front() = timed.pattern;
    forms.assign(results.size(), SPARSE_AUTOGRAD_RESULT_SHARED);
  }
  SparseAutogradCall form = {};
  form.argumentCount = arguments.size();
  form.resultCount = results.size();
  form.arguments = arguments.data();
  form.results = results.data();
  form.patterns = patterns.data();
  form.resultForms = forms.data();
  sparseAutogradSetThreadCount(timed.threads);
  if (sparseAutogradCall(timed.entry, &form) != SPARSE_AUTOGRAD_SUCCESS)
    fail(sparseAutogradLastError());
}

/// What is fast and wrong is not timed.
static void compare(TimedKernel &kernel, const TimedCall &timed) {
  call(kernel, timed);
  kernel.loop();
  for (const TimedKernel::Result &result : kernel.expected) {
    const float *got = reinterpret_cast<const float *>(
        kernel.results.words[result.word + 5 * result.elements + 1]);
    for (size_t i = 0; i < result.expected->size(); ++i)
      if (float wanted = (*result.expected)[i];
          got[i] != wanted &&
          !(std::abs(got[i] - wanted) <= 1e-3 * (1 + std::abs(wanted))))
        fail(llvm::Twine(kernel.name) + " gives " + std::to_string(got[i]) +
             ", the loop " + std::to_string(wanted));
  }
  release(kernel);
}

/// The seconds of one of several calls in a row.
static double measure(const std::function<void()> &function, int repeats) {
  function();
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i)
    function();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  return seconds.count() / repeats;
}

std::vector<double> sparse_autograd::timeInTurn(TimedKernel &kernel,
                                                llvm::ArrayRef<TimedCall> calls,
                                                int rounds) {
  for (const TimedCall &timed : calls)
    compare(kernel, timed);
  int repeats = 1 + static_cast<int>(0.005 / measure(kernel.loop, 1));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double loop = infinity;
  std::vector<double> best(calls.size(), infinity);
  for (int round = 0; round < rounds; ++round) {
    loop = std::min(loop, measure(kernel.loop, repeats));
    for (size_t number = 0; number < calls.size(); ++number) {
      auto once = [&] {
        call(kernel, calls[number]);
        release(kernel);
      };
      best[number] = std::min(best[number], measure(once, repeats));
    }
  }
  for (double &seconds : best)
    seconds = loop / seconds;
  return best;
}
