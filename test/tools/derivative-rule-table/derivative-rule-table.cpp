//===- derivative-rule-table.cpp - print docs/derivatives.md --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Differentiate/ScalarRule.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace sparse_autograd;

static const char *preface = R"(# Derivatives of scalar ops

This page is printed by `derivative-rule-table` from the records in
`lib/Differentiate/Rules`; a test keeps the two equal.

`x` (of several operands `a`, `b`, `c`; an integer operand `n`) are the operands
of an op, `y` (of several results `y0`, `y1`) its results, `d/da` the partial
derivative by `a`. The code of a derivative carries the fast-math flags of its op
less `nnan` and `ninf`. `select(c, p, q)` is `p` where `c` holds, else `q`: what is
not selected reaches no gradient, be it a NaN. Ops marked *linear* have a
transpose: tangents are made of them.

Each formula is compared with differences of the op on the given intervals, and
takes the given values where the op is not smooth.
)";

static const char *structural = R"(
## Rules that are no formulas

| op | tangent |
| --- | --- |
| `arith.select` | selects among the tangents; *linear*, and the cotangent of a branch has the condition, or its negation, as its support |
| `arith.extf`, `arith.truncf` | converts the tangent; *linear*, the cotangent is converted back |
| `arith.constant`, `arith.sitofp`, `arith.uitofp` | zero: there is no float operand |
| `arith.cmpf`, `arith.fptosi`, `arith.fptoui`, `math.isfinite`, `math.isinf`, `math.isnan`, `math.isnormal` | none: the result is no float |
| `arith.bitcast`, `arith.scaling_extf`, `arith.scaling_truncf` | no rule: an error where a derivative is asked for |
)";

static std::string number(double value) {
  if (std::isnan(value))
    return "NaN";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

/// A cell of a table: a bar would end it.
static std::string cell(std::string text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

static void printRule(const ScalarRule &rule) {
  auto leafName = [&](unsigned leaf) { return rule.leafName(leaf); };
  llvm::SmallVector<std::string> formulas, boxes, kinks;
  for (unsigned result = 0; result < rule.numResults; ++result)
    for (unsigned operand = 0; operand < rule.numOperands; ++operand) {
      if (!rule.differentiable[operand])
        continue;
      std::string name = "d";
      if (rule.numResults > 1)
        name += leafName(rule.numOperands + result);
      formulas.push_back("`" + name + "/d" + leafName(operand) + " = " +
                         rule.partial(result, operand).node().text(leafName) +
                         "`");
    }
  for (const Box &box : rule.boxes) {
    llvm::SmallVector<std::string> intervals;
    for (auto [low, high] : box)
      intervals.push_back("[" + number(low) + ", " + number(high) + "]");
    boxes.push_back(llvm::join(intervals, " x "));
  }
  for (const Kink &kink : rule.kinks) {
    llvm::SmallVector<std::string> at, partials;
    for (double value : kink.at)
      at.push_back(number(value));
    for (auto [position, value] : llvm::enumerate(kink.partials))
      if (rule.differentiable[position % rule.numOperands])
        partials.push_back(number(value));
    kinks.push_back(kink.name + ": " + llvm::join(partials, ", ") + " at (" +
                    llvm::join(at, ", ") + ")");
  }
  llvm::outs() << "| `" << rule.opName << "`"
               << (rule.isLinear ? ", *linear*" : "") << " | "
               << cell(llvm::join(formulas, "<br>")) << " | "
               << llvm::join(boxes, "<br>") << " | "
               << llvm::join(kinks, "<br>") << " |\n";
}

static void printTable(const char *title,
                       llvm::ArrayRef<const ScalarRule *> rules) {
  llvm::outs() << "\n## " << title << "\n\n"
               << "| op | partial derivatives | checked on | where not smooth |"
                  "\n| --- | --- | --- | --- |\n";
  for (const ScalarRule *rule : rules)
    printRule(*rule);
}

int main() {
  llvm::outs() << preface;
  printTable("arith", listArithScalarRules());
  printTable("math", listMathScalarRules());
  llvm::outs() << structural;
  return 0;
}
