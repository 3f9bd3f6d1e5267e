//===- consumer.cpp - a compiler that embeds the pipeline -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a program with ops of its own dialect, and compares the derivatives
// with differences of the compiled loss.
//
//===----------------------------------------------------------------------===//

#include "Outer.h"

#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdlib>
#include <vector>

using namespace mlir;
using namespace sparse_autograd;

/// The mean of the observed squares. Everything in the loss but the mean is
/// this project's own.
static const char *source = R"mlir(
func.func @loss(%x: tensor<?xf64>, %observed: tensor<?xi1>, %bound: f64)
    -> tensor<f64> {
  %half = arith.constant 0.5 : f64
  %narrow = outer.scale %x by %half : tensor<?xf64>
  %clipped = outer.softclip %narrow at %bound : tensor<?xf64>
  %again = outer.scale %clipped by %bound : tensor<?xf64>
  %square = outer.square %again : tensor<?xf64>
  %mean = sparse_autograd.masked_reduce mean %square, %observed dims = [0]
      : tensor<?xf64>, tensor<?xi1> -> tensor<f64>
  return %mean : tensor<f64>
}

func.func @gradient(%x: tensor<?xf64>, %observed: tensor<?xi1>, %bound: f64)
    -> (tensor<f64>, tensor<?xf64>, f64) {
  %loss, %dx, %dbound =
      sparse_autograd.value_and_grad @loss(%x, %observed, %bound) {wrt = [0, 2]}
      : (tensor<?xf64>, tensor<?xi1>, f64) -> (tensor<f64>, tensor<?xf64>, f64)
  return %loss, %dx, %dbound : tensor<f64>, tensor<?xf64>, f64
}

// How the loss changes along a direction, by forward mode.
func.func @change(%x: tensor<?xf64>, %observed: tensor<?xi1>, %bound: f64,
                  %along: tensor<?xf64>, %boundAlong: f64) -> tensor<f64> {
  %loss, %change = sparse_autograd.jvp @loss(%x, %observed, %bound)
      tangents(%along, %boundAlong) {wrt = [0, 2]}
      : (tensor<?xf64>, tensor<?xi1>, f64), (tensor<?xf64>, f64)
      -> (tensor<f64>, tensor<f64>)
  return %change : tensor<f64>
}
)mlir";

/// The sum of the squares of what a sparse vector stores. An elementwise op
/// needs no more for that than its rule.
static const char *sparseSource = R"mlir(
#Stored = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>

func.func private @loss(%x: tensor<?xf64, #Stored>) -> tensor<f64> {
  %square = outer.square %x : tensor<?xf64, #Stored>
  %again = outer.square %square : tensor<?xf64, #Stored>
  %sum = sparse_autograd.masked_reduce sum %again dims = [0]
      : tensor<?xf64, #Stored> -> tensor<f64>
  return %sum : tensor<f64>
}

func.func @gradient(%x: tensor<?xf64, #Stored>)
    -> (tensor<f64>, tensor<?xf64, #Stored>) {
  %loss, %dx = sparse_autograd.value_and_grad @loss(%x) {wrt = [0]}
      : (tensor<?xf64, #Stored>) -> (tensor<f64>, tensor<?xf64, #Stored>)
  return %loss, %dx : tensor<f64>, tensor<?xf64, #Stored>
}
)mlir";

/// Compiles `source`; null after a diagnostic.
static std::unique_ptr<ExecutionEngine>
compile(MLIRContext &context, const char *source,
        const PipelineOptions &options) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(source, &context, "consumer.mlir");
  if (!module)
    return nullptr;
  // The pipeline knows no lowering of our ops: it starts this phase with ours.
  auto extend = [](Phase phase, OpPassManager &passes) {
    if (phase == Phase::LowerSparse)
      passes.addPass(outer::createLowerToLinalg());
  };
  llvm::Error error = runPipeline(*module, options, extend);
  auto engine = error ? std::move(error) : ExecutionEngine::create(*module);
  if (!engine) {
    llvm::errs() << "error: " << llvm::toString(engine.takeError()) << "\n";
    return nullptr;
  }
  return std::move(*engine);
}

template <typename T>
static SparseAutogradMemRef1 describe(std::vector<T> &elements) {
  int64_t size = elements.size();
  return {elements.data(), elements.data(), 0, {size}, {1}};
}

namespace {

struct Gradient {
  double loss;
  std::vector<double> dx;
  double dbound;
};

/// The compiled program; entries are called as Runtime.h says.
class Program {
public:
  Program(MLIRContext &context, const char *source,
          const PipelineOptions &options = {})
      : engine(compile(context, source, options)) {
    if (!engine)
      exit(1);
  }

  /// Calls an entry and returns its status.
  int call(llvm::StringRef name, std::vector<void *> arguments,
           std::vector<void *> results) {
    llvm::Expected<SparseAutogradEntry> entry = engine->lookup(name);
    return cantFail(std::move(entry))(arguments.data(), results.data());
  }

  double loss(std::vector<double> x, std::vector<char> observed, double bound) {
    auto xs = describe(x);
    auto observeds = describe(observed);
    SparseAutogradMemRef0 loss;
    require(call("loss", {&xs, &observeds, &bound}, {&loss}));
    return take(loss);
  }

  Gradient gradient(std::vector<double> x, std::vector<char> observed,
                    double bound) {
    auto xs = describe(x);
    auto observeds = describe(observed);
    SparseAutogradMemRef0 loss;
    SparseAutogradMemRef1 dx;
    Gradient gradient;
    require(call("gradient", {&xs, &observeds, &bound},
                 {&loss, &dx, &gradient.dbound}));
    gradient.loss = take(loss);
    auto *elements = static_cast<double *>(dx.aligned) + dx.offset;
    gradient.dx.assign(elements, elements + dx.sizes[0]);
    sparseAutogradFree(dx.allocated);
    return gradient;
  }

  double change(std::vector<double> x, std::vector<char> observed, double bound,
                std::vector<double> along, double boundAlong) {
    auto xs = describe(x);
    auto observeds = describe(observed);
    auto alongs = describe(along);
    SparseAutogradMemRef0 change;
    require(call("change", {&xs, &observeds, &bound, &alongs, &boundAlong},
                 {&change}));
    return take(change);
  }

private:
  static void require(int status) {
    if (status == SPARSE_AUTOGRAD_SUCCESS)
      return;
    llvm::errs() << "error: " << sparseAutogradLastError() << "\n";
    exit(1);
  }

  /// Reads a result of rank 0 and releases it.
  static double take(const SparseAutogradMemRef0 &result) {
    double value = static_cast<double *>(result.aligned)[result.offset];
    sparseAutogradFree(result.allocated);
    return value;
  }

  std::unique_ptr<ExecutionEngine> engine;
};

} // namespace

static void expectNear(const char *what, size_t index, double actual,
                       double expected, double tolerance) {
  if (std::fabs(actual - expected) <= tolerance)
    return;
  llvm::errs() << "error: " << what << " " << index << " is " << actual
               << ", not " << expected << "\n";
  exit(1);
}

/// The five-point difference of `f` at 0, whose error is about step^4.
template <typename Function>
static double difference(Function f) {
  double step = 1e-3;
  return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) /
         (12 * step);
}

static void checkDerivatives(Program &program, size_t size) {
  std::vector<double> x(size), along(size);
  std::vector<char> observed(size);
  double bound = 1.5, boundAlong = -0.25, poison[] = {NAN, INFINITY};
  for (size_t i = 0; i < size; ++i) {
    x[i] = 3 * std::sin(static_cast<double>(i) + 1);
    along[i] = std::cos(static_cast<double>(i));
    observed[i] = i % 4 != 1;
    // What is not observed reaches no derivative, whatever it is.
    if (!observed[i])
      x[i] = poison[i / 4 % 2];
  }
  Gradient gradient = program.gradient(x, observed, bound);
  expectNear("loss", 0, gradient.loss, program.loss(x, observed, bound), 0);
  if (gradient.dx.size() != size)
    expectNear("size", 0, gradient.dx.size(), size, 0);
  double inner = gradient.dbound * boundAlong;
  for (size_t i = 0; i < size; ++i) {
    double expected = !observed[i] ? 0 : difference([&](double step) {
      std::vector<double> moved = x;
      moved[i] += step;
      return program.loss(moved, observed, bound);
    });
    expectNear("dx", i, gradient.dx[i], expected, 1e-9);
    inner += gradient.dx[i] * along[i];
  }
  expectNear("dbound", 0, gradient.dbound, difference([&](double step) {
               return program.loss(x, observed, bound + step);
             }),
             1e-9);
  expectNear("change", 0, program.change(x, observed, bound, along, boundAlong),
             inner, 1e-12);
}

/// Calls the gradient of a sparse vector that stores `x` at every third place.
static void checkSparse(Program &program, std::vector<double> x) {
  // The lists of a compressed level, and the values (Runtime.h).
  struct Storage {
    SparseAutogradMemRef1 positions, coordinates, values;
    int64_t extents[1];
  };
  std::vector<uint64_t> positions{0, x.size()}, coordinates;
  for (size_t i = 0; i < x.size(); ++i)
    coordinates.push_back(3 * i);
  Storage given{describe(positions),
                describe(coordinates),
                describe(x),
                {static_cast<int64_t>(3 * x.size() + 1)}};
  Storage gradient;
  SparseAutogradMemRef0 loss;
  if (program.call("gradient", {&given}, {&loss, &gradient})) {
    llvm::errs() << "error: " << sparseAutogradLastError() << "\n";
    exit(1);
  }
  double expected = 0;
  for (double element : x)
    expected += std::pow(element, 4);
  expectNear("sparse loss", 0, *static_cast<double *>(loss.aligned), expected,
             1e-12 * expected);
  expectNear("stored", 0, gradient.values.sizes[0], x.size(), 0);
  for (size_t i = 0; i < x.size(); ++i) {
    auto at = [&](const SparseAutogradMemRef1 &list) {
      return list.offset + static_cast<int64_t>(i);
    };
    expectNear("coordinate", i,
               static_cast<uint64_t *>(
                   gradient.coordinates.aligned)[at(gradient.coordinates)],
               coordinates[i], 0);
    expectNear(
        "sparse dx", i,
        static_cast<double *>(gradient.values.aligned)[at(gradient.values)],
        4 * std::pow(x[i], 3), 1e-12 * std::fabs(x[i] * x[i] * x[i]));
  }
  for (void *buffer :
       {loss.allocated, gradient.positions.allocated,
        gradient.coordinates.allocated, gradient.values.allocated})
    sparseAutogradFree(buffer);
}

int main() {
  DialectRegistry registry;
  registerAllDialects(registry);
  outer::registerDialect(registry);
  MLIRContext context(registry);

  Program program(context, source);
  for (size_t size : {0, 1, 2, 7, 33})
    checkDerivatives(program, size);
  llvm::outs() << "derivatives agree with differences\n";

  Program onHost(context, sparseSource);
  checkSparse(onHost, {-2, 0.5, 0, 3});
  PipelineOptions emulated;
  emulated.target = TargetKind::GPU;
  emulated.emulate = true;
  setenv("SPARSE_AUTOGRAD_DEVICE", "emulated", /*overwrite=*/1);
  Program onDevice(context, sparseSource, emulated);
  checkSparse(onDevice, {-2, 0.5, 0, 3});
  llvm::outs() << "sparse operands have the gradient at their pattern\n";

  // Bad input is a status and a message.
  std::vector<double> x(4);
  std::vector<char> observed(3);
  auto xs = describe(x);
  auto observeds = describe(observed);
  double bound = 1;
  SparseAutogradMemRef0 loss;
  if (program.call("loss", {&xs, &observeds, &bound}, {&loss}) ==
      SPARSE_AUTOGRAD_SUCCESS)
    return 1;
  llvm::outs() << "refused: " << sparseAutogradLastError() << "\n";
  return 0;
}
