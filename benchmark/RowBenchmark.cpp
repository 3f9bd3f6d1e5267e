//===- RowBenchmark.cpp - time operations on rows of a sparse matrix -----===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   row-benchmark ROWS ENTRIES ROUNDS
//
// Times the entries of programs/rows.mlir on a random matrix of ROWS x ROWS
// with ENTRIES entries a row on average, f32, in turn with loops written by
// hand (RowLoops.cpp); one thread, the best of ROUNDS. Prints a line for each
// kernel: the speed of the program as a multiple of the loop's, of calls that
// check the storage of the matrix and of calls with a pattern that has been
// validated. Both allocate results, which the loop does not. An error ends the
// program with status 1.
//
//===----------------------------------------------------------------------===//

#include "RowLoops.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "TimedKernel.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace sparse_autograd;

int main(int argc, char **argv) {
  std::vector<int64_t> numbers = parseNumbers(argc, argv);
  if (numbers.size() != 3)
    fail("takes ROWS, ENTRIES and ROUNDS");
  const int64_t rows = numbers[0];
  const int rounds = numbers[2];
  sparseAutogradSetThreadCount(1);
  RandomMatrix matrix(rows, numbers[1]);
  const loops::Csr a = matrix.get();
  const int64_t nnz = matrix.getNumEntries();
  std::vector<float> dy = matrix.draw(rows), dv = matrix.draw(nnz);
  std::vector<float> y(rows), values(nnz), da(nnz);
  loops::Csr cotangent = a;
  cotangent.values = dv.data();

  std::vector<TimedKernel> kernels;
  auto add = [&](const char *name, std::function<void()> loop) -> auto & {
    TimedKernel &kernel = kernels.emplace_back();
    kernel.name = name;
    kernel.arguments.addSparse(a);
    kernel.loop = std::move(loop);
    return kernel;
  };
  add("row_sum", [&] { loops::rowSum(a, y.data()); }).expectList(&y);
  add("row_max", [&] { loops::rowMax(a, y.data()); }).expectList(&y);
  add("row_logsumexp", [&] {
    loops::rowLogSumExp(a, y.data());
  }).expectList(&y);
  TimedKernel &gradient = add("row_logsumexp_gradient", [&] {
    loops::rowLogSumExpGradient(a, dy.data(), y.data(), da.data());
  });
  gradient.arguments.addList(dy.data(), rows);
  gradient.expectList(&y);
  gradient.expectSparse(a, &da);
  add("softmax", [&] {
    loops::softmax(a, values.data());
  }).expectSparse(a, &values);
  TimedKernel &softmax = add("softmax_gradient", [&] {
    loops::softmaxGradient(a, dv.data(), values.data(), da.data());
  });
  softmax.arguments.addList(dv.data(), nnz);
  softmax.expectSparse(a, &values);
  softmax.expectSparse(a, &da);

  llvm::outs() << rows << " x " << rows << ", " << nnz
               << " entries, f32, 1 thread, best of " << rounds << "\n"
               << "x loop                       call  validated\n";
  Program program(Program::read("rows.mlir"));
  for (TimedKernel &kernel : kernels) {
    SparseAutogradEntry entry = program.lookup(kernel.name);
    std::vector<double> speed =
        timeInTurn(kernel, {{entry}, {entry, matrix.getPattern()}}, rounds);
    llvm::outs() << llvm::format("%-24s %8.2f %10.2f\n", kernel.name.c_str(),
                                 speed[0], speed[1]);
    llvm::outs().flush();
  }
  return 0;
}
