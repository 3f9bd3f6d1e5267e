//===- derivative-rule-table.cpp - print docs/derivatives.md --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/RuleTable.h"
#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Differentiate/ScalarRule.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace sparse_autograd;

/// The dialects whose every op is in a list.
static constexpr llvm::StringLiteral dialects[] = {"arith", "func", "linalg",
                                                   "math",  "scf",  "tensor"};

static const char *preface = R"(# Derivatives of ops

This page is printed by `derivative-rule-table` from the records in
`lib/Differentiate/Rules`; a test keeps the two equal.

`x` (of several operands `a`, `b`, `c`; an integer operand `n`) are the operands
of an op, `y` (of several results `y0`, `y1`) its results, `d/da` the partial
derivative by `a`. The code of a derivative carries the fast-math flags of its op
less `nnan` and `ninf`. `select(c, p, q)` is `p` where `c` holds, else `q`: what is
not selected reaches no gradient, be it a NaN. Ops marked *linear* have a
transpose: tangents are made of them.

Ops on vectors, complex numbers and memrefs have no derivatives; on tensors the
scalar ops are elementwise.

Each formula is compared with differences of the op on the given intervals, and
takes the given values where the op is not smooth.
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

/// The ops of `treatment`, those with the same text in one row.
static void printRecords(const char *title, const char *header,
                         Treatment treatment) {
  llvm::outs() << "\n## " << title << "\n\n| op | " << header
               << " |\n| --- | --- |\n";
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<std::string>> rows;
  for (const OpRecord &record : listOpRecords())
    if (record.treatment == treatment)
      rows[record.text].push_back("`" + record.op.str() + "`");
  for (auto &[text, ops] : rows)
    llvm::outs() << "| " << llvm::join(ops, ", ") << " | " << text << " |\n";
}

static bool isNamedStructuredOp(mlir::RegisteredOperationName name) {
  return name.getDialectNamespace() == "linalg" &&
         name.hasInterface<mlir::linalg::LinalgOp>() &&
         name.getStringRef() != "linalg.generic";
}

static void printNamedOps(mlir::MLIRContext &context) {
  llvm::SmallVector<std::string> names;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (isNamedStructuredOp(name))
      names.push_back("`" + name.getStringRef().str() + "`");
  llvm::sort(names);
  llvm::outs() << "| " << llvm::join(names, ", ") << " | linalg.generic |\n";
}

static void printForms() {
  llvm::outs() << "\n## Refused forms\n\nThe diagnostic contains:\n\n"
                  "| form | diagnostic |\n| --- | --- |\n";
  for (const RefusedForm &form : listRefusedForms())
    llvm::outs() << "| " << form.form << " | " << form.diagnostic << " |\n";
}

/// Whether each op that the dialects register is in one list, and has the rule
/// that the list says; complains of every one that has not.
static bool checkComplete(mlir::MLIRContext &context) {
  bool isComplete = true;
  auto complain = [&](llvm::StringRef op, llvm::StringRef what) {
    llvm::errs() << op << ": " << what << "\n";
    isComplete = false;
  };
  llvm::StringSet<> scalar;
  for (auto rules : {listArithScalarRules(), listMathScalarRules()})
    for (const ScalarRule *rule : rules)
      scalar.insert(rule->opName);
  llvm::StringMap<Treatment> records;
  for (const OpRecord &record : listOpRecords())
    if (!records.try_emplace(record.op, record.treatment).second)
      complain(record.op, "has two records");
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations()) {
    llvm::StringRef op = name.getStringRef();
    if (!llvm::is_contained(dialects, name.getDialectNamespace()))
      continue;
    auto record = records.find(op);
    int lists = scalar.contains(op) + (record != records.end()) +
                (record == records.end() && isNamedStructuredOp(name));
    if (lists != 1)
      complain(op, lists == 0 ? "is in no list" : "is in two lists");
    bool hasRule = name.hasInterface<LinearizableOpInterface>();
    bool needsRule = scalar.contains(op) || (record != records.end() &&
                                             record->second == Treatment::Rule);
    if (needsRule && !hasRule)
      complain(op, "has no rule");
    records.erase(op);
  }
  for (const auto &record : records)
    complain(record.getKey(), "is no op");
  return isComplete;
}

/// Prints the ops that a derivative may go into: those that hold a region or
/// name a function, and are differentiated by a rule, rewritten for it, or
/// derivatives themselves. Named structured ops count as linalg.generic.
static void printNestingOps(mlir::MLIRContext &context) {
  llvm::StringMap<Treatment> records;
  for (const OpRecord &record : listOpRecords())
    records[record.op] = record.treatment;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations()) {
    bool namesSymbol = name.hasInterface<mlir::SymbolUserOpInterface>();
    if ((name.hasTrait<mlir::OpTrait::ZeroRegions>() && !namesSymbol) ||
        isNamedStructuredOp(name))
      continue;
    auto record = records.find(name.getStringRef());
    bool isRewritten =
        record != records.end() && record->second == Treatment::Rewritten;
    bool isDerivative =
        namesSymbol && name.getDialectNamespace() ==
                           SparseAutogradDialect::getDialectNamespace();
    if (name.hasInterface<LinearizableOpInterface>() || isRewritten ||
        isDerivative)
      llvm::outs() << name << "\n";
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && llvm::StringRef(argv[1]) == "--diagnostics") {
    for (const OpRecord &record : listOpRecords())
      if (record.treatment == Treatment::Refused)
        llvm::outs() << record.op << "\t" << record.text << "\n";
    for (const RefusedForm &form : listRefusedForms())
      llvm::outs() << form.form << "\t" << form.diagnostic << "\n";
    return 0;
  }
  mlir::DialectRegistry registry;
  registry
      .insert<SparseAutogradDialect, mlir::sparse_tensor::SparseTensorDialect,
              mlir::arith::ArithDialect, mlir::func::FuncDialect,
              mlir::linalg::LinalgDialect, mlir::math::MathDialect,
              mlir::scf::SCFDialect, mlir::tensor::TensorDialect>();
  registerDerivativeRules(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  if (argc == 2 && llvm::StringRef(argv[1]) == "--nesting") {
    printNestingOps(context);
    return 0;
  }
  llvm::outs() << preface;
  printTable("arith", listArithScalarRules());
  printTable("math", listMathScalarRules());
  printRecords("Other ops", "tangent and transpose", Treatment::Rule);
  printRecords("Rewritten before", "into", Treatment::Rewritten);
  printNamedOps(context);
  printRecords("Without a tangent", "because", Treatment::WithoutTangent);
  printRecords("Refused", "diagnostic, where a derivative is asked for",
               Treatment::Refused);
  printForms();
  return checkComplete(context) ? 0 : 1;
}
