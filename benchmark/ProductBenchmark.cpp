//===- ProductBenchmark.cpp - time products with a sparse matrix ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   product-benchmark ROWS ENTRIES ROUNDS [WIDTH...]
//
// Times the entries of programs/products.mlir.in on a random matrix of
// ROWS x ROWS with ENTRIES entries a row on average, f32, in turn with loops
// written by hand (ProductLoops.cpp); one thread, the best of ROUNDS. Prints a
// line for each kernel and width: the speed of the program, with its width
// constant and open, as a multiple of the loop's. A call of the program checks
// the storage of the matrix and allocates its results; the loop does neither.
// Results are compared before. An error ends the program with status 1.
//
//===----------------------------------------------------------------------===//

#include "ProductLoops.h"
#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>

using namespace sparse_autograd;

[[noreturn]] static void fail(const llvm::Twine &message) {
  llvm::errs() << "product-benchmark: error: " << message << "\n";
  std::exit(1);
}

namespace {

/// The program for one width, which is open if it is 0.
class Program {
public:
  explicit Program(int64_t width) {
    std::string path = PROGRAMS_DIR "/products.mlir.in";
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file)
      fail(path + ": " + file.getError().message());
    std::string text = (*file)->getBuffer().str();
    replace(text, "WIDTH", width ? std::to_string(width) : "?");
    replace(text, "EMPTY",
            width ? "tensor.empty(%rows) : !dense"
                  : "tensor.empty(%rows, %width) : !dense");
    if (!width)
      replace(text, "  %zero = arith",
              "  %c1 = arith.constant 1 : index\n"
              "  %width = tensor.dim %like, %c1 : !dense\n"
              "  %zero = arith");
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    mlir::MLIRContext context(registry);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      fail(path + " does not parse");
    PipelineOptions options;
    options.cpu = "native";
    if (auto error = runPipeline(*module, options))
      fail(llvm::toString(std::move(error)));
    auto created = ExecutionEngine::create(*module);
    if (!created)
      fail(llvm::toString(created.takeError()));
    engine = std::move(*created);
  }

  SparseAutogradEntry lookup(llvm::StringRef name) {
    auto found = engine->lookup(name);
    if (!found)
      fail(llvm::toString(found.takeError()));
    return *found;
  }

private:
  static void replace(std::string &text, const std::string &from,
                      const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += to.size())
      text.replace(at, from.size(), to);
  }

  std::unique_ptr<ExecutionEngine> engine;
};

/// Arguments or results of an entry: words, and the first of each.
class Words {
public:
  void addList(const void *data, int64_t size) {
    add({address(data), address(data), 0, size, 1});
  }
  void addMatrix(const void *data, int64_t rows, int64_t columns) {
    add({address(data), address(data), 0, rows, columns, columns, 1});
  }
  void addSparse(const loops::Csr &a) {
    int64_t nnz = a.positions[a.rows];
    addList(a.positions, a.rows + 1);
    size_t first = starts.back();
    addList(a.coordinates, nnz);
    addList(a.values, nnz);
    add({a.rows, a.columns});
    starts.resize(starts.size() - 3);
    assert(starts.back() == first);
    (void)first;
  }
  std::vector<void *> getPointers() {
    std::vector<void *> pointers;
    for (size_t start : starts)
      pointers.push_back(&words[start]);
    return pointers;
  }
  std::vector<int64_t> words;

private:
  static int64_t address(const void *data) {
    return reinterpret_cast<int64_t>(data);
  }
  void add(std::initializer_list<int64_t> more) {
    starts.push_back(words.size());
    words.insert(words.end(), more);
  }
  std::vector<size_t> starts;
};

/// One kernel: what it takes, what it gives, and the loop.
struct Kernel {
  const char *name;
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
};

} // namespace

static void release(Kernel &kernel) {
  for (const Kernel::Result &result : kernel.expected)
    for (int buffer = 0; buffer < result.buffers; ++buffer)
      sparseAutogradFree(reinterpret_cast<void *>(
          kernel.results.words[result.word + 5 * buffer]));
}

static void call(Kernel &kernel, SparseAutogradEntry entry) {
  std::vector<void *> arguments = kernel.arguments.getPointers();
  std::vector<void *> results = kernel.results.getPointers();
  if (entry(arguments.data(), results.data()) != SPARSE_AUTOGRAD_SUCCESS)
    fail(sparseAutogradLastError());
}

/// What is fast and wrong is not timed.
static void compare(Kernel &kernel, SparseAutogradEntry entry) {
  call(kernel, entry);
  kernel.loop();
  for (const Kernel::Result &result : kernel.expected) {
    const float *got = reinterpret_cast<const float *>(
        kernel.results.words[result.word + 5 * result.elements + 1]);
    for (size_t i = 0; i < result.expected->size(); ++i)
      if (float wanted = (*result.expected)[i];
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

static void run(Kernel &kernel, int64_t width, Program &fixed, Program &open,
                int rounds) {
  SparseAutogradEntry entries[] = {fixed.lookup(kernel.name),
                                   open.lookup(kernel.name)};
  for (SparseAutogradEntry entry : entries)
    compare(kernel, entry);
  int repeats = 1 + static_cast<int>(0.005 / measure(kernel.loop, 1));
  double best[3];
  std::fill_n(best, 3, std::numeric_limits<double>::infinity());
  for (int round = 0; round < rounds; ++round) {
    best[2] = std::min(best[2], measure(kernel.loop, repeats));
    for (int which : {0, 1})
      best[which] = std::min(best[which], measure(
                                              [&] {
                                                call(kernel, entries[which]);
                                                release(kernel);
                                              },
                                              repeats));
  }
  llvm::outs() << llvm::format("%-12s %6lld %10.2f %10.2f\n", kernel.name,
                               static_cast<long long>(width), best[2] / best[0],
                               best[2] / best[1]);
  llvm::outs().flush();
}

int main(int argc, char **argv) {
  std::vector<int64_t> numbers;
  for (llvm::StringRef text : llvm::ArrayRef(argv, argc).drop_front()) {
    int64_t number;
    if (text.getAsInteger(10, number) || number < 1)
      fail("'" + text + "' is no positive number");
    numbers.push_back(number);
  }
  if (numbers.size() < 3)
    fail("takes ROWS, ENTRIES and ROUNDS, and widths");
  if (numbers.size() == 3)
    numbers.insert(numbers.end(), {8, 16, 32, 64, 128});
  const int64_t rows = numbers[0], average = numbers[1];
  const int rounds = numbers[2];
  sparseAutogradSetThreadCount(1);

  // Rows store between nothing and twice the average.
  std::mt19937_64 generator(20261123);
  std::normal_distribution<float> normal;
  std::vector<int32_t> positions = {0}, coordinates;
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
  auto draw = [&](int64_t size) {
    std::vector<float> numbers(size);
    for (float &number : numbers)
      number = normal(generator);
    return numbers;
  };
  const int64_t nnz = coordinates.size();
  std::vector<float> values = draw(nnz);
  loops::Csr a = {static_cast<int32_t>(rows), static_cast<int32_t>(rows),
                  positions.data(), coordinates.data(), values.data()};

  llvm::outs() << rows << " x " << rows << ", " << nnz
               << " entries, f32, 1 thread, best of " << rounds << "\n"
               << "x loop          width   constant       open\n";
  Program open(0);
  for (int64_t width : llvm::ArrayRef(numbers).drop_front(3)) {
    const loops::Products *products = loops::getProducts(width);
    if (!products)
      fail("there are no loops for " + std::to_string(width) + " columns");
    Program fixed(width);
    std::vector<float> x = draw(rows * width), y = draw(rows * width);
    std::vector<float> c(rows * width), da(nnz), db(rows * width);
    auto addDense = [&](Kernel &kernel, const std::vector<float> *expected) {
      kernel.expected.push_back({kernel.results.words.size(), 1, 0, expected});
      kernel.results.addMatrix(nullptr, 0, 0);
    };
    auto addSparse = [&](Kernel &kernel, const std::vector<float> *expected) {
      kernel.expected.push_back({kernel.results.words.size(), 3, 2, expected});
      kernel.results.addSparse(a);
    };
    auto take = [&](Kernel &kernel,
                    std::initializer_list<const std::vector<float> *> dense) {
      kernel.arguments.addSparse(a);
      for (const std::vector<float> *matrix : dense)
        kernel.arguments.addMatrix(matrix->data(), rows, width);
    };
    Kernel kernels[4];
    kernels[0].name = "product";
    take(kernels[0], {&x});
    addDense(kernels[0], &c);
    kernels[0].loop = [&] { products->product(a, x.data(), c.data()); };
    kernels[1].name = "transposed";
    take(kernels[1], {&x});
    addDense(kernels[1], &c);
    kernels[1].loop = [&] { products->transposed(a, x.data(), c.data()); };
    kernels[2].name = "sampled";
    take(kernels[2], {&x, &y});
    addSparse(kernels[2], &da);
    kernels[2].loop = [&] {
      products->sampled(a, x.data(), y.data(), da.data());
    };
    kernels[3].name = "gradients";
    take(kernels[3], {&x, &y});
    addDense(kernels[3], &c);
    addSparse(kernels[3], &da);
    addDense(kernels[3], &db);
    kernels[3].loop = [&] {
      products->gradients(a, x.data(), y.data(), c.data(), da.data(),
                          db.data());
    };
    for (Kernel &kernel : kernels)
      run(kernel, width, fixed, open, rounds);
  }
  return 0;
}
