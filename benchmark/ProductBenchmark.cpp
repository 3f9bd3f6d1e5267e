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
// written by hand (ProductLoops.cpp), the best of ROUNDS on one thread. Prints
// a line for each kernel and width: the speed of the program, with its width
// constant and open, as a multiple of the loop's, and with a constant width and
// a pattern that has been validated; at last the speed of that on two threads
// as a multiple of its speed on one. Other calls check the storage of the
// matrix; all allocate results, which the loop does not. Results are compared
// before. An error ends the program with status 1.
//
//===----------------------------------------------------------------------===//

#include "ProductLoops.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "TimedKernel.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace sparse_autograd;

/// Puts `to` in the place of each `from`.
static void replace(std::string &text, const std::string &from,
                    const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

/// The program for one width, which is open if it is 0.
static std::string getProgram(int64_t width) {
  std::string text = Program::read("products.mlir.in");
  replace(text, "WIDTH", width ? std::to_string(width) : "?");
  replace(text, "EMPTY",
          width ? "tensor.empty(%rows) : !dense"
                : "tensor.empty(%rows, %width) : !dense");
  if (!width)
    replace(text, "  %zero = arith",
            "  %c1 = arith.constant 1 : index\n"
            "  %width = tensor.dim %like, %c1 : !dense\n"
            "  %zero = arith");
  return text;
}

static void run(TimedKernel &kernel, int64_t width, Program &fixed,
                Program &open, const SparseAutogradPattern *pattern,
                int rounds) {
  SparseAutogradEntry entry = fixed.lookup(kernel.name);
  std::vector<double> speed = timeInTurn(kernel,
                                         {{entry},
                                          {open.lookup(kernel.name)},
                                          {entry, pattern},
                                          {entry, pattern, /*threads=*/2}},
                                         rounds);
  llvm::outs() << llvm::format("%-12s %6lld %10.2f %10.2f %10.2f %10.2f\n",
                               kernel.name.c_str(),
                               static_cast<long long>(width), speed[0],
                               speed[1], speed[2], speed[3] / speed[2]);
  llvm::outs().flush();
}

int main(int argc, char **argv) {
  std::vector<int64_t> numbers = parseNumbers(argc, argv);
  if (numbers.size() < 3)
    fail("takes ROWS, ENTRIES and ROUNDS, and widths");
  if (numbers.size() == 3)
    numbers.insert(numbers.end(), {8, 16, 32, 64, 128});
  const int64_t rows = numbers[0];
  const int rounds = numbers[2];
  sparseAutogradSetThreadCount(1);
  RandomMatrix matrix(rows, numbers[1]);
  const loops::Csr a = matrix.get();
  const int64_t nnz = matrix.getNumEntries();

  llvm::outs()
      << rows << " x " << rows << ", " << nnz << " entries, f32, best of "
      << rounds << "\n"
      << "x loop          width   constant       open  validated  2 threads\n";
  Program open(getProgram(0));
  for (int64_t width : llvm::ArrayRef(numbers).drop_front(3)) {
    const loops::Products *products = loops::getProducts(width);
    if (!products)
      fail("there are no loops for " + std::to_string(width) + " columns");
    Program fixed(getProgram(width));
    std::vector<float> x = matrix.draw(rows * width),
                       y = matrix.draw(rows * width);
    std::vector<float> c(rows * width), da(nnz), db(rows * width);
    auto take = [&](TimedKernel &kernel,
                    std::initializer_list<const std::vector<float> *> dense) {
      kernel.arguments.addSparse(a);
      for (const std::vector<float> *matrix : dense)
        kernel.arguments.addMatrix(matrix->data(), rows, width);
    };
    TimedKernel kernels[4];
    kernels[0].name = "product";
    take(kernels[0], {&x});
    kernels[0].expectMatrix(&c);
    kernels[0].loop = [&] { products->product(a, x.data(), c.data()); };
    kernels[1].name = "transposed";
    take(kernels[1], {&x});
    kernels[1].expectMatrix(&c);
    kernels[1].loop = [&] { products->transposed(a, x.data(), c.data()); };
    kernels[2].name = "sampled";
    take(kernels[2], {&x, &y});
    kernels[2].expectSparse(a, &da);
    kernels[2].loop = [&] {
      products->sampled(a, x.data(), y.data(), da.data());
    };
    kernels[3].name = "gradients";
    take(kernels[3], {&x, &y});
    kernels[3].expectMatrix(&c);
    kernels[3].expectSparse(a, &da);
    kernels[3].expectMatrix(&db);
    kernels[3].loop = [&] {
      products->gradients(a, x.data(), y.data(), c.data(), da.data(),
                          db.data());
    };
    for (TimedKernel &kernel : kernels)
      run(kernel, width, fixed, open, matrix.getPattern(), rounds);
  }
  return 0;
}
