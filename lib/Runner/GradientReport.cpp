//===- GradientReport.cpp - what a check of gradients found ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runner/GradientCheck.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <cmath>

using namespace sparse_autograd;

static llvm::StringRef getName(Verdict verdict) {
  switch (verdict) {
  case Verdict::Agrees:
    return "agrees";
  case Verdict::Kink:
    return "kink";
  case Verdict::Undecided:
    return "undecided";
  case Verdict::Differs:
    return "DIFFERS";
  }
  llvm_unreachable("not a verdict");
}

bool GradientCheck::agrees() const {
  return std::all_of(pairs.begin(), pairs.end(), [](const PairCheck &pair) {
    return pair.verdict <= Verdict::Kink;
  });
}

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

/// x, or x[1, 2].
static std::string formatElement(llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> index) {
  std::string text = name.str();
  for (auto [dim, position] : llvm::enumerate(index))
    text += (dim ? ", " : "[") + std::to_string(position);
  return text + (index.empty() ? "" : "]");
}

/// With as many digits as tell two derivatives apart that differ.
static std::string formatNumber(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", number + 0.0);
  return text;
}

static std::string formatError(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1e", number);
  return text;
}

static void write(llvm::raw_ostream &stream, const PairCheck &pair,
                  const DerivativeComparison &comparison) {
  std::string result = comparison.resultIndex
                           ? formatElement(pair.result, *comparison.resultIndex)
                           : "(random weights . " + pair.result + ")";
  std::string argument =
      comparison.argumentIndex
          ? formatElement(pair.argument, *comparison.argumentIndex)
          : "(a random direction of " + pair.argument + ")";
  stream << "    d " << result << " / d " << argument << " = "
         << formatNumber(comparison.derivative) << " by "
         << (comparison.isReverse ? "reverse" : "forward") << " mode, "
         << formatNumber(comparison.difference) << " by differences (within "
         << formatError(comparison.bound) << ")\n";
  if (comparison.isJump)
    stream << "      the function jumps there\n";
  if (comparison.oneSided)
    stream << "      near a kink: " << formatNumber(comparison.oneSided->first)
           << " from the left, " << formatNumber(comparison.oneSided->second)
           << " from the right"
           << (comparison.verdict == Verdict::Kink
                   ? "; the derivative is one of those to choose from\n"
                   : "\n");
}

static void writeHints(llvm::raw_ostream &stream, const PairCheck &pair) {
  if (pair.isInOwnTypes)
    stream
        << "    another function in its own types than in f64: compared with "
           "differences in those\n";
  if (!(pair.adjointError <= pair.adjointBound) &&
      pair.verdict == Verdict::Differs)
    stream << "    <J v, u> and <v, J^T u> differ by "
           << formatError(pair.adjointError) << " of their magnitude (within "
           << formatError(pair.adjointBound)
           << "): forward and reverse mode are not transposes\n";
  if (pair.kinks)
    stream << "    " << pair.kinks
           << (pair.kinks == 1 ? " element" : " elements") << " of "
           << pair.argument
           << " at or near a kink, left out of the random directions\n";
  if (pair.notCompared)
    stream << "    " << pair.notCompared
           << (pair.notCompared == 1 ? " element" : " elements") << " of "
           << pair.result << " not compared: not finite\n";
  if (pair.verdict == Verdict::Undecided)
    stream << "    the differences cannot tell: "
           << (std::isfinite(pair.bound) && !pair.notCompared
                   ? "rounding, kinks or curvature hide the derivative; choose "
                     "other arguments, or f64\n"
                   : "the function is not finite around the arguments\n");
}

static void writeText(llvm::raw_ostream &stream, const GradientCheck &check) {
  stream << llvm::formatv("gradients of '{0}', seed {1}: {2} directions an "
                          "argument, differences of "
                          "five points{3}, unit roundoff {4}, step {5}\n",
                          check.function, check.seed, check.directions,
                          check.isInF64 ? " in f64" : "",
                          formatError(check.roundoff),
                          formatNumber(check.step));
  if (!check.whyNotInF64.empty())
    stream << "differences are those of its own types, as it has no f64 form: "
           << check.whyNotInF64 << "\n";
  if (check.roundoff > 1e-4 && !check.isInF64)
    stream << "the narrowest type has few digits: the bounds are coarse\n";
  size_t width = 8;
  for (const PairCheck &pair : check.pairs)
    width = std::max(width, pair.result.size() + pair.argument.size() + 8);
  size_t good = 0;
  for (const PairCheck &pair : check.pairs) {
    std::string name = "d " + pair.result + " / d " + pair.argument;
    stream << "  " << name << std::string(width - name.size(), ' ')
           << llvm::formatv("{0,-9}", getName(pair.verdict)) << "  error "
           << formatError(pair.error) << " (within " << formatError(pair.bound)
           << "), adjoint " << formatError(pair.adjointError) << " (within "
           << formatError(pair.adjointBound) << ")";
    if (check.isInF64)
      stream << ", rounding " << formatError(pair.rounding);
    stream << (pair.isElementwise ? ", every element" : "") << "\n";
    good += pair.verdict <= Verdict::Kink;
    // The worst of those that are fine is enough.
    bool isFirst = true;
    for (const DerivativeComparison &comparison : pair.worst) {
      if (comparison.verdict == Verdict::Agrees && !isFirst)
        break;
      write(stream, pair, comparison);
      isFirst = false;
    }
    writeHints(stream, pair);
  }
  stream << good << " of " << check.pairs.size() << " agree\n";
}

//===----------------------------------------------------------------------===//
// For programs
//===----------------------------------------------------------------------===//

/// A number, or its name: JSON has no NaN and no infinities.
static llvm::json::Value toJson(double number) {
  if (std::isfinite(number))
    return number;
  return formatNumber(number);
}

static llvm::json::Value toJson(const DerivativeComparison &comparison) {
  llvm::json::Object object{
      {"verdict", getName(comparison.verdict).lower()},
      {"mode", comparison.isReverse ? "reverse" : "forward"},
      {"derivative", toJson(comparison.derivative)},
      {"difference", toJson(comparison.difference)},
      {"bound", toJson(comparison.bound)}};
  if (comparison.argumentIndex)
    object["argument_index"] = llvm::json::Array(*comparison.argumentIndex);
  if (comparison.resultIndex)
    object["result_index"] = llvm::json::Array(*comparison.resultIndex);
  if (comparison.isJump)
    object["jump"] = true;
  if (comparison.oneSided) {
    object["left"] = toJson(comparison.oneSided->first);
    object["right"] = toJson(comparison.oneSided->second);
  }
  return object;
}

static llvm::json::Value toJson(const PairCheck &pair) {
  llvm::json::Array worst;
  for (const DerivativeComparison &comparison : pair.worst)
    worst.push_back(toJson(comparison));
  return llvm::json::Object{{"argument", pair.argument},
                            {"result", pair.result},
                            {"verdict", getName(pair.verdict).lower()},
                            {"error", toJson(pair.error)},
                            {"bound", toJson(pair.bound)},
                            {"adjoint_error", toJson(pair.adjointError)},
                            {"adjoint_bound", toJson(pair.adjointBound)},
                            {"rounding", toJson(pair.rounding)},
                            {"in_own_types", pair.isInOwnTypes},
                            {"every_element", pair.isElementwise},
                            {"kinks", pair.kinks},
                            {"not_compared", pair.notCompared},
                            {"worst", std::move(worst)}};
}

void GradientCheck::write(llvm::raw_ostream &stream,
                          ReportFormat format) const {
  if (format != ReportFormat::Json)
    return writeText(stream, *this);
  llvm::json::Array list;
  for (const PairCheck &pair : pairs)
    list.push_back(toJson(pair));
  stream << llvm::json::Value(llvm::json::Object{{"function", function},
                                                 {"seed", seed},
                                                 {"directions", directions},
                                                 {"unit_roundoff", roundoff},
                                                 {"step", step},
                                                 {"in_f64", isInF64},
                                                 {"agrees", agrees()},
                                                 {"pairs", std::move(list)}})
         << "\n";
}
