//===- GradientCheck.cpp - gradients against differences ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runner/GradientCheck.h"
#include "CheckedFunction.h"
#include "GradientChecker.h"
#include "RandomNumbers.h"
#include "RoundingCheck.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace sparse_autograd;

/// A dense floating argument of static extents with normal numbers.
static std::optional<io::DenseArray> drawArgument(const ValueType &type,
                                                  RandomNumbers &random) {
  // A sparse one would need a pattern.
  if (!getSemantics(type.elementType) || type.encoding)
    return std::nullopt;
  llvm::ArrayRef<int64_t> shape;
  if (type.shape)
    shape = *type.shape;
  size_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    count *= static_cast<size_t>(extent);
  }
  Elements elements(count);
  for (double &element : elements)
    element = random.normal();
  return makeArray(type.elementType, shape, elements);
}

/// Checks a function by its f64 form.
static llvm::Error checkInF64(const CheckedFunction &own,
                              const CheckedFunction &wide, double roundoff,
                              GradientCheck &check) {
  // What matters in the own types is far more than a millionth.
  if (llvm::Error error =
          GradientChecker(wide, check, /*ignoredShare=*/1e-6).run())
    return error;
  llvm::Expected<std::vector<bool>> isRounding =
      compareWithF64(own, wide, roundoff, check);
  if (!isRounding)
    return isRounding.takeError();
  if (llvm::all_of(*isRounding, [](bool one) { return one; }))
    return llvm::Error::success();
  // The function may be another one in its own types: where it overflows, or
  // takes another branch. Its derivatives are to be those of that one.
  GradientCheck ownCheck = check;
  ownCheck.pairs.clear();
  if (llvm::Error error = GradientChecker(own, ownCheck).run())
    return error;
  for (auto [pair, ownPair, explained] :
       llvm::zip_equal(check.pairs, ownCheck.pairs, *isRounding)) {
    if (explained || pair.verdict == Verdict::Differs)
      continue;
    ownPair.rounding = pair.rounding;
    ownPair.isInOwnTypes = true;
    pair = std::move(ownPair);
  }
  return llvm::Error::success();
}

llvm::Expected<GradientCheck>
sparse_autograd::checkGradients(const RunOptions &options) {
  llvm::Expected<std::unique_ptr<Program>> program = Program::parse(options);
  if (!program)
    return program.takeError();
  llvm::Expected<std::string> name =
      (*program)->selectEntry(/*allowPrivate=*/true);
  if (!name)
    return name.takeError();
  auto entry = (*program)->getModule().lookupSymbol<mlir::func::FuncOp>(*name);
  if (!entry)
    return llvm::createStringError(
        options.file + ": '" + *name +
        "' is made by a split_vjp; check the function that it is made of");
  GradientCheck check;
  check.function = std::move(*name);
  check.seed = options.seed;
  // The arguments of one seed, as `types` has them.
  auto bind = [&](llvm::ArrayRef<ValueType> types) {
    RandomNumbers random(options.seed);
    return bindArguments(types, options.arguments, [&](size_t index) {
      return drawArgument(types[index], random);
    });
  };
  // What cannot be bound should not cost a compilation.
  llvm::Expected<std::optional<Signature>> declared =
      (*program)->describe(check.function);
  if (!declared)
    return declared.takeError();
  llvm::Expected<DerivativeEntries> entries = addDerivativeEntries(entry);
  if (!entries)
    return entries.takeError();
  if (auto bound = bind((*declared)->argumentTypes); !bound)
    return bound.takeError();
  // Of the module as it is before it is compiled.
  std::unique_ptr<ExecutionEngine> wideEngine;
  double roundoff = 0;
  if (auto compiled = (*program)->compileInF64(roundoff))
    wideEngine = std::move(*compiled);
  else
    check.whyNotInF64 = toString(compiled.takeError());
  llvm::Expected<std::unique_ptr<ExecutionEngine>> engine =
      (*program)->compile();
  if (!engine)
    return engine.takeError();

  llvm::Expected<Entry> value = Entry::find(**engine, check.function);
  if (!value)
    return value.takeError();
  llvm::Expected<std::vector<Value>> arguments = bind(value->argumentTypes);
  if (!arguments)
    return arguments.takeError();
  sparseAutogradSetThreadCount(options.threads);
  // The lines of a function that is called a hundred times help nobody.
  sparseAutogradSetLogHandler(
      [](const SparseAutogradLogRecord *, void *) -> int32_t {
        return SPARSE_AUTOGRAD_SUCCESS;
      },
      nullptr);
  llvm::Expected<CheckedFunction> function = CheckedFunction::create(
      **engine, check.function, *entries, std::move(*arguments));
  if (!function)
    return function.takeError();
  check.roundoff = function->getRoundoff();
  if (wideEngine) {
    llvm::Expected<CheckedFunction> wide = function->createInF64(*wideEngine);
    if (wide) {
      check.isInF64 = true;
      if (llvm::Error error = checkInF64(*function, *wide, roundoff, check))
        return std::move(error);
      return check;
    }
    check.whyNotInF64 = toString(wide.takeError());
  }
  if (llvm::Error error = GradientChecker(*function, check).run())
    return std::move(error);
  return check;
}
