//===- SparseGradientTest.cpp - gradients on a pattern --------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ExecutionEngine/Program.h"
#include "../IO/TemporaryFolder.h"
#include "GradientChecker.h"
#include "SparseAutograd/Runner/GradientCheck.h"

#include "gtest/gtest.h"

using namespace sparse_autograd;
using sparse_autograd::io::getMessage;
using sparse_autograd::io::TemporaryFolder;

namespace {

/// The product of A, another tensor of its pattern, and a factor.
std::string makeProduct(const std::string &name, const std::string &parameters,
                        const std::string &other, const std::string &factor) {
  return "func.func @" + name + "(" + parameters + R"() -> !A {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %factor = arith.constant )" +
         factor + R"( : f64
  %m = tensor.dim %A, %c0 : !A
  %n = tensor.dim %A, %c1 : !A
  %empty = tensor.empty(%m, %n) : !A
  %product = linalg.generic {indexing_maps = [#map, #map, #map],
                             iterator_types = ["parallel", "parallel"]}
      ins(%A, %)" +
         other + R"( : !A, !A) outs(%empty : !A) {
  ^bb0(%x: f64, %y: f64, %out: f64):
    %xy = arith.mulf %x, %y : f64
    %scaled = arith.mulf %xy, %factor : f64
    linalg.yield %scaled : f64
  } -> !A
  return %product : !A
}
)";
}

/// A^2, elementwise, of an argument A, and derivatives of it written by hand.
std::string makeProgram(const std::string &encoding) {
  const std::string two = "%A: !A, %B: !A", three = two + ", %T: !A";
  return "#map = affine_map<(i, j) -> (i, j)>\n"
         "!A = tensor<?x?xf64, #sparse_tensor.encoding<{ map = " +
         encoding + " }>>\n" + makeProduct("f", two, "A", "1.0") +
         makeProduct("f_jvp", three, "T", "2.0") +
         makeProduct("f_vjp", three, "T", "2.0") +
         makeProduct("wrong", three, "T", "3.0") + "func.func @other_pattern(" +
         three + ") -> !A {\n  return %B : !A\n}\n";
}

/// What a check of the derivatives of `f` by A finds.
llvm::Expected<GradientCheck> check(const ::Program &program,
                                    const std::string &jvp,
                                    const std::string &vjp) {
  TemporaryFolder folder;
  auto entry = Entry::find(*program.engine, "f");
  if (!entry)
    return entry.takeError();
  llvm::StringMap<std::string> given;
  // An explicit zero among them.
  given["arg0"] = folder.write("a.tns", "1 2 1.5\n2 1 -2\n3 3 0\n3 1 0.25\n");
  given["arg1"] = folder.write("b.tns", "1 1 1\n3 3 1\n");
  auto arguments = bindArguments(entry->argumentTypes, given);
  if (!arguments)
    return arguments.takeError();
  DerivativeEntries entries;
  entries.arguments = entries.results = {0};
  entries.jvp = jvp;
  entries.vjp = vjp;
  auto function = CheckedFunction::create(*program.engine, "f", entries,
                                          std::move(*arguments));
  if (!function)
    return function.takeError();
  GradientCheck check;
  check.function = "f";
  if (llvm::Error error = GradientChecker(*function, check).run())
    return std::move(error);
  return check;
}

TEST(SparseGradient, ChecksTheStoredValues) {
  for (const char *encoding :
       {"(i, j) -> (i : dense, j : compressed)",
        "(i, j) -> (j : dense, i : compressed)",
        "(i, j) -> (i : compressed(nonunique), j : singleton(soa))"}) {
    ::Program program(makeProgram(encoding));
    ASSERT_EQ(program.error, "") << encoding;

    auto good = check(program, "f_jvp", "f_vjp");
    ASSERT_TRUE(bool(good)) << toString(good.takeError());
    EXPECT_TRUE(good->agrees()) << encoding;
    ASSERT_EQ(good->pairs.size(), 1u);
    EXPECT_TRUE(good->pairs[0].isElementwise);
    EXPECT_LT(good->pairs[0].error, 1e-9);

    // Named by the coordinates of a stored element.
    for (auto [jvp, vjp] : {std::pair("wrong", "f_vjp"), {"f_jvp", "wrong"}}) {
      auto bad = check(program, jvp, vjp);
      ASSERT_TRUE(bool(bad)) << toString(bad.takeError());
      EXPECT_FALSE(bad->agrees()) << encoding;
      const DerivativeComparison &worst = bad->pairs[0].worst.front();
      EXPECT_EQ(worst.verdict, Verdict::Differs);
      ASSERT_TRUE(worst.argumentIndex);
      EXPECT_EQ(*worst.argumentIndex, (llvm::SmallVector<int64_t>{1, 0}))
          << "where the derivative is the largest";
    }

    const char *problem = "has another pattern than";
    for (auto [jvp, vjp] :
         {std::pair("other_pattern", "f_vjp"), {"f_jvp", "other_pattern"}}) {
      std::string message = getMessage(check(program, jvp, vjp));
      EXPECT_TRUE(llvm::StringRef(message).contains(problem)) << message;
    }
  }
}

} // namespace
