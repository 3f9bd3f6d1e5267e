//===- Attributes.cpp - random attributes of the dialect ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attributes.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;
using namespace sparse_autograd::fuzz;

using Names = SparseAutogradDialect;

static const StringRef ofOps[] = {
    Names::getNnzAttrName(),         Names::getDerivativeOfAttrName(),
    Names::getMemoryBoundAttrName(), scheduleAttrName,
    Names::getCotangentAttrName(),   Names::getManifestAttrName()};
static const StringRef ofArguments[] = {
    Names::getNameAttrName(), Names::getMaskOfAttrName(),
    Names::getDefaultAttrName(), Names::getNnzAttrName(),
    Names::getAnyFormatAttrName()};
static const StringRef ofResults[] = {
    Names::getNameAttrName(), Names::getGradientOfAttrName(),
    Names::getBoundAttrName(), Names::getAnyFormatAttrName()};

static ArrayRef<StringRef> getNames(GivenAttribute::Place place) {
  switch (place) {
  case GivenAttribute::Op:
    return ofOps;
  case GivenAttribute::Argument:
    return ofArguments;
  case GivenAttribute::Result:
    return ofResults;
  }
}

/// `name` with a letter changed, gone or one more.
static std::string misspell(StringRef name, Random &random) {
  std::string text = name.str();
  size_t begin = text.find('.') + 1;
  size_t at = begin + random.below(text.size() - begin);
  switch (random.below(3)) {
  case 0:
    text[at] = static_cast<char>('a' + random.below(26));
    break;
  case 1:
    text.erase(at, 1);
    break;
  default:
    text.insert(at, 1, static_cast<char>('a' + random.below(26)));
    break;
  }
  return text;
}

static Attribute getValue(Builder &builder, Random &random) {
  int64_t numbers[] = {-1, 0, 1, 2, 7, 1 << 20, INT64_MAX, INT64_MIN};
  int64_t number = random.pick(numbers);
  switch (random.below(10)) {
  case 0:
    return builder.getIndexAttr(number);
  case 1:
    return builder.getI64IntegerAttr(number);
  case 2:
    return builder.getI32IntegerAttr(static_cast<int32_t>(number));
  case 3:
    return builder.getF64FloatAttr(static_cast<double>(number));
  case 4:
    return builder.getStringAttr(random.oneIn(2) ? "x" : "");
  case 5:
    return FlatSymbolRefAttr::get(builder.getContext(), "f");
  case 6:
    return builder.getDenseI32ArrayAttr({0, 1});
  case 7:
    return builder.getArrayAttr({DistinctAttr::create(builder.getUnitAttr()),
                                 builder.getIndexAttr(number)});
  default:
    return builder.getUnitAttr();
  }
}

/// A value of the kind that the attribute `name` has, mostly; for others a
/// unit, as most have.
static Attribute getLikelyValue(StringRef name, Builder &builder,
                                Random &random) {
  if (random.oneIn(3))
    return getValue(builder, random);
  int64_t number = static_cast<int64_t>(random.below(8));
  if (name == Names::getNnzAttrName() || name == Names::getGradientOfAttrName())
    return builder.getI64IntegerAttr(number);
  if (name == scheduleAttrName)
    // Something of it, at least.
    return ScheduleAttr::get(builder.getContext(), number % 2 == 0,
                             number / 2 % 2 == 0,
                             number / 4 == 0 ? 0 : ScheduleAttr::asLong,
                             random.oneIn(4) || number == 3 ? 4 : 1);
  if (name == Names::getNameAttrName() ||
      name == Names::getMemoryBoundAttrName() ||
      name == Names::getManifestAttrName())
    return builder.getStringAttr("x");
  if (name == Names::getDerivativeOfAttrName())
    return FlatSymbolRefAttr::get(builder.getContext(), "f");
  if (name == Names::getBoundAttrName())
    return builder.getDictionaryAttr({});
  return builder.getUnitAttr();
}

GivenAttribute sparse_autograd::fuzz::addAttribute(ModuleOp module,
                                                   Random &random) {
  std::vector<Operation *> ops;
  std::vector<FunctionOpInterface> functions;
  module.walk([&](Operation *op) {
    ops.push_back(op);
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      if (function.getNumArguments() + function.getNumResults() != 0)
        functions.push_back(function);
  });
  Builder builder(module.getContext());
  GivenAttribute given;
  given.place = functions.empty() ? GivenAttribute::Op
                                  : GivenAttribute::Place(random.below(3));
  // Now and then one of another place.
  auto from =
      random.oneIn(8) ? GivenAttribute::Place(random.below(3)) : given.place;
  given.name = random.pick(getNames(from)).str();
  if (random.oneIn(3))
    given.name = misspell(given.name, random);
  FunctionOpInterface function;
  size_t count = 0, number = 0;
  if (given.place != GivenAttribute::Op) {
    function = random.pick(functions);
    count = given.place == GivenAttribute::Argument ? function.getNumArguments()
                                                    : function.getNumResults();
    if (count == 0)
      given.place = GivenAttribute::Op;
    else
      number = random.below(count);
  }
  Attribute value = getLikelyValue(given.name, builder, random);
  given.isUnknown = !llvm::is_contained(getNames(given.place), given.name);
  if (given.place == GivenAttribute::Op) {
    Operation *op = random.pick(ops);
    // Mostly one that may have it.
    ScopedDiagnosticHandler quiet(module.getContext(),
                                  [](Diagnostic &) { return success(); });
    auto *dialect = module.getContext()->getLoadedDialect<Names>();
    NamedAttribute attribute = builder.getNamedAttr(given.name, value);
    for (unsigned attempt = random.oneIn(4) ? 64 : 0;
         attempt < 64 &&
         failed(dialect->verifyOperationAttribute(op, attribute));
         ++attempt)
      op = random.pick(ops);
    op->setDiscardableAttr(given.name, value);
  } else if (given.place == GivenAttribute::Argument)
    function.setArgAttr(number, given.name, value);
  else
    function.setResultAttr(number, given.name, value);
  return given;
}

std::string sparse_autograd::fuzz::checkErrors(const GivenAttribute &attribute,
                                               StringRef errors) {
  if (!attribute.isUnknown)
    return errors.empty() ? "none" : "";
  if (!errors.contains("unknown attribute '" + attribute.name + "'"))
    return "does not say that '" + attribute.name +
           "' is unknown: " + errors.str();
  // Of those of ops, the compiler's own are none that a program may give.
  for (StringRef known : getNames(attribute.place)) {
    bool mayBeGiven = attribute.place != GivenAttribute::Op ||
                      SparseAutogradDialect::isForPrograms(known);
    if (errors.contains(("'" + known + "'").str()) != mayBeGiven)
      return (mayBeGiven ? "does not list '" : "lists '") + known.str() +
             "': " + errors.str();
  }
  return {};
}
