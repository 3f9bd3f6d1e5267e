//===- OperationAttributes.cpp - attributes of the dialect on operations --===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifier of the discardable attributes that ops may carry, one record each:
// what the value is, and which ops have it. Programs state some of them, which
// nothing is believed of; the others are what one pass tells another.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/EntryAttributes.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "VerifySchedule.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// An attribute of an op.
struct OperationAttribute {
  StringLiteral name;
  /// Whether a program may have it before any pass has run.
  bool isForPrograms;
  /// What `isValid` asks for, in a sentence "must be ...".
  StringLiteral expected;
  bool (*isValid)(Operation *op, Attribute value);
};
} // namespace

/// Whether `value` is an integer of at least `least` that an int64_t holds.
static bool isAtLeast(Attribute value, int64_t least) {
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && integer.getValue().getSignificantBits() <= 64 &&
         integer.getValue().getSExtValue() >= least;
}

static const OperationAttribute attributes[] = {
    {SparseAutogradDialect::getNnzAttrName(), /*isForPrograms=*/true,
     "a number of elements",
     // What a tensor becomes, a scalar of a region or a buffer, keeps the hint.
     [](Operation *, Attribute value) { return isAtLeast(value, 0); }},
    {SparseAutogradDialect::getDerivativeOfAttrName(), true,
     "the name of a symbol, on a function",
     [](Operation *op, Attribute value) {
       return isa<FlatSymbolRefAttr>(value) && isa<FunctionOpInterface>(op);
     }},
    {SparseAutogradDialect::getMemoryBoundAttrName(), true,
     "a string, on a function",
     [](Operation *op, Attribute value) {
       return isa<StringAttr>(value) && isa<FunctionOpInterface>(op);
     }},
    // What a schedule says is verified where it stands (verifySchedule).
    {scheduleAttrName, false, "a #sparse_autograd.schedule",
     [](Operation *, Attribute value) { return isa<ScheduleAttr>(value); }},
    {SparseAutogradDialect::getCotangentAttrName(), false,
     "a unit attribute of an op with one result",
     [](Operation *op, Attribute value) {
       return isa<UnitAttr>(value) && op->getNumResults() == 1;
     }},
    {gradientsAttributeName, false,
     "pairs of the number of a result and that of an argument, on a function",
     [](Operation *op, Attribute value) {
       auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
       auto function = dyn_cast<FunctionOpInterface>(op);
       if (!numbers || !function || numbers.size() % 2 != 0)
         return false;
       for (int64_t i = 0; i < numbers.size(); ++i) {
         int64_t count =
             i % 2 ? function.getNumArguments() : function.getNumResults();
         if (numbers[i] < 0 || numbers[i] >= count)
           return false;
       }
       return true;
     }},
    {splitAttributeName, false,
     "a dictionary with the names 'primal', 'forward' and 'backward', the "
     "numbers 'wrt' and 'cotangents' and the integer 'residuals', on a "
     "function",
     [](Operation *op, Attribute value) {
       auto split = dyn_cast<DictionaryAttr>(value);
       return split && isa<FunctionOpInterface>(op) &&
              split.getAs<StringAttr>("primal") &&
              split.getAs<StringAttr>("forward") &&
              split.getAs<StringAttr>("backward") &&
              split.getAs<DenseI64ArrayAttr>("wrt") &&
              split.getAs<DenseI64ArrayAttr>("cotangents") &&
              split.getAs<IntegerAttr>("residuals") &&
              isAtLeast(split.get("residuals"), 0);
     }},
    {SparseAutogradDialect::getManifestAttrName(), false,
     "a string, on a module",
     [](Operation *op, Attribute value) {
       return isa<StringAttr>(value) && isa<ModuleOp>(op);
     }},
};

LogicalResult
SparseAutogradDialect::verifyOperationAttribute(Operation *op,
                                                NamedAttribute attribute) {
  const auto *known = llvm::find_if(attributes, [&](const auto &record) {
    return record.name == attribute.getName();
  });
  if (known != std::end(attributes)) {
    if (known->isValid(op, attribute.getValue()))
      return isa<ScheduleAttr>(attribute.getValue()) ? verifySchedule(op)
                                                     : success();
    return op->emitOpError("has an attribute '")
           << known->name << "' that must be " << known->expected;
  }
  return op->emitOpError("has an unknown attribute '")
         << attribute.getName().getValue() << "'; "
         << describeAttrsForPrograms();
}

bool SparseAutogradDialect::isForPrograms(StringRef attribute) {
  return llvm::any_of(attributes, [&](const auto &record) {
    return record.isForPrograms && record.name == attribute;
  });
}

std::string SparseAutogradDialect::describeAttrsForPrograms() {
  std::string text = "operations have ";
  llvm::raw_string_ostream stream(text);
  auto forPrograms = llvm::make_filter_range(
      attributes, [](const auto &record) { return record.isForPrograms; });
  llvm::interleaveComma(forPrograms, stream, [&](const auto &record) {
    stream << "'" << record.name << "'";
  });
  stream << ", arguments and results of functions others";
  return text;
}
