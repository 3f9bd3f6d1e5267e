//===- ScalarInterpreter.cpp - evaluate scalar ops in f64 -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarInterpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <functional>

using namespace mlir;

namespace {
template <typename Number>
using Function = std::function<SmallVector<Number>(ArrayRef<Number>)>;
} // namespace

/// As IEEE 754's maximum: a NaN operand is the result.
template <typename Number>
static Number maximum(Number a, Number b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  return std::fmax(a, b);
}
template <typename Number>
static Number minimum(Number a, Number b) {
  return -maximum(-a, -b);
}

template <typename Number>
static llvm::StringMap<Function<Number>> makeFunctions() {
  using Arguments = ArrayRef<Number>;
  using Results = SmallVector<Number>;
  llvm::StringMap<Function<Number>> functions;
  auto unary = [&](StringRef name, Number (*function)(Number)) {
    functions[name] = [function](Arguments x) -> Results {
      return {function(x[0])};
    };
  };
  auto binary = [&](StringRef name, Number (*function)(Number, Number)) {
    functions[name] = [function](Arguments x) -> Results {
      return {function(x[0], x[1])};
    };
  };
  auto ternary = [&](StringRef name,
                     Number (*function)(Number, Number, Number)) {
    functions[name] = [function](Arguments x) -> Results {
      return {function(x[0], x[1], x[2])};
    };
  };
  binary("arith.addf", [](Number a, Number b) { return a + b; });
  binary("arith.subf", [](Number a, Number b) { return a - b; });
  binary("arith.mulf", [](Number a, Number b) { return a * b; });
  binary("arith.divf", [](Number a, Number b) { return a / b; });
  binary("arith.remf", std::fmod);
  binary("arith.maximumf", maximum<Number>);
  binary("arith.minimumf", minimum<Number>);
  binary("arith.maxnumf", std::fmax);
  binary("arith.minnumf", std::fmin);
  unary("arith.negf", [](Number x) { return -x; });
  ternary("arith.select", [](Number condition, Number a, Number b) {
    return condition != 0 ? a : b;
  });
  binary("arith.andi",
         [](Number a, Number b) { return Number(int64_t(a) & int64_t(b)); });
  binary("arith.ori",
         [](Number a, Number b) { return Number(int64_t(a) | int64_t(b)); });
  binary("arith.xori", [](Number a, Number b) { return Number(a != b); });
  binary("arith.subi", [](Number a, Number b) { return a - b; });
  binary("arith.maxsi", std::fmax);
  unary("arith.sitofp", [](Number x) { return x; });

  unary("math.absf", std::fabs);
  unary("math.acos", std::acos);
  unary("math.acosh", std::acosh);
  unary("math.asin", std::asin);
  unary("math.asinh", std::asinh);
  unary("math.atan", std::atan);
  unary("math.atanh", std::atanh);
  binary("math.atan2", std::atan2);
  unary("math.cbrt", std::cbrt);
  unary("math.ceil", std::ceil);
  ternary("math.clampf", [](Number x, Number low, Number high) {
    return maximum(minimum(x, high), low);
  });
  binary("math.copysign", std::copysign);
  unary("math.cos", std::cos);
  unary("math.cosh", std::cosh);
  unary("math.erf", std::erf);
  unary("math.erfc", std::erfc);
  unary("math.exp", std::exp);
  unary("math.exp2", std::exp2);
  unary("math.expm1", std::expm1);
  unary("math.floor", std::floor);
  ternary("math.fma", std::fma);
  binary("math.fpowi", std::pow);
  unary("math.log", std::log);
  unary("math.log10", std::log10);
  unary("math.log1p", std::log1p);
  unary("math.log2", std::log2);
  binary("math.powf", std::pow);
  unary("math.round", std::round);
  unary("math.roundeven", std::nearbyint);
  unary("math.rsqrt", [](Number x) { return 1 / std::sqrt(x); });
  unary("math.sin", std::sin);
  functions["math.sincos"] = [](Arguments x) -> Results {
    return {std::sin(x[0]), std::cos(x[0])};
  };
  unary("math.sinh", std::sinh);
  unary("math.sqrt", std::sqrt);
  unary("math.tan", std::tan);
  unary("math.tanh", std::tanh);
  unary("math.trunc", std::trunc);
  return functions;
}

template <typename Number>
std::optional<SmallVector<Number>>
evaluateFunction(StringRef name, ArrayRef<Number> arguments) {
  static const llvm::StringMap<Function<Number>> functions =
      makeFunctions<Number>();
  auto found = functions.find(name);
  if (found == functions.end())
    return std::nullopt;
  return found->second(arguments);
}

template std::optional<SmallVector<double>> evaluateFunction(StringRef,
                                                             ArrayRef<double>);
template std::optional<SmallVector<long double>>
    evaluateFunction(StringRef, ArrayRef<long double>);

bool evaluateOp(Operation &op, llvm::DenseMap<Value, double> &values) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    // A true i1 is 1, not -1.
    if (auto condition = dyn_cast<BoolAttr>(constant.getValue()))
      values[constant] = condition.getValue();
    else if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      values[constant] = number.getValueAsDouble();
    else
      values[constant] = cast<IntegerAttr>(constant.getValue()).getInt();
    return true;
  }
  SmallVector<double> arguments;
  for (Value operand : op.getOperands())
    arguments.push_back(values.lookup(operand));
  if (auto comparison = dyn_cast<arith::CmpFOp>(op)) {
    values[comparison] =
        arith::applyCmpPredicate(comparison.getPredicate(),
                                 APFloat(arguments[0]), APFloat(arguments[1]));
    return true;
  }
  if (auto comparison = dyn_cast<arith::CmpIOp>(op)) {
    if (comparison.getPredicate() != arith::CmpIPredicate::eq)
      return false;
    values[comparison] = arguments[0] == arguments[1];
    return true;
  }
  auto results = evaluateFunction<double>(op.getName().getStringRef(),
                                          ArrayRef<double>(arguments));
  if (!results)
    return false;
  for (auto [result, number] : llvm::zip(op.getResults(), *results))
    values[result] = number;
  return true;
}
