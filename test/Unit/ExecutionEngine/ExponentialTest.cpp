//===- ExponentialTest.cpp - the exponential on several processors --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How exponentials of f32 are computed depends on what the processor has: the
// error does not exceed its bound without any of it, and multiplying by a power
// of two in one instruction changes no bit. test/Execution/exponential.py has
// the edges, and positions in a vector.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

using testing::HasSubstr;
using testing::Not;

static constexpr char source[] = R"mlir(
func.func @exponentials(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.exp %x : tensor<?xf32>
  return %y : tensor<?xf32>
})mlir";

/// Numbers of every magnitude and sign, the infinities and NaNs among them.
static std::vector<float> makeNumbers() {
  std::vector<float> numbers = {std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity()};
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 8191)
    numbers.push_back(llvm::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (float x = -105; x < 90; x += 0.00390625f)
    numbers.push_back(x);
  return numbers;
}

/// The error of `result` in units in the last place of exp(x); infinite if it
/// is of another kind.
static double getError(float x, float result) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double exact = std::exp(static_cast<double>(x));
  auto rounded = static_cast<float>(exact);
  if (std::isnan(x))
    return std::isnan(result) ? 0 : infinity;
  if (std::isinf(rounded))
    return result == rounded ? 0 : infinity;
  int exponent = exact == 0 ? -149 : std::max(std::ilogb(exact) - 23, -149);
  return std::abs(static_cast<double>(result) - exact) /
         std::ldexp(1.0, exponent);
}

/// The exponentials of `numbers` on this processor with `features`.
static std::vector<float> compute(const std::vector<float> &numbers,
                                  llvm::StringRef features,
                                  std::string *code = nullptr) {
  Program program(source, /*passes=*/{}, features);
  EXPECT_EQ(program.error, "");
  if (!program.engine)
    return {};
  if (code)
    *code = program.optimizedIR;
  Array<float> x({static_cast<int64_t>(numbers.size())}, numbers);
  Result<float> y(1);
  EXPECT_EQ(
      program.call("exponentials", {x.getDescriptor()}, {y.getDescriptor()}),
      0);
  return y.toVector();
}

static double getWorstError(const std::vector<float> &numbers,
                            const std::vector<float> &results) {
  double worst = 0;
  for (size_t i = 0; i < numbers.size(); ++i)
    worst = std::max(worst, getError(numbers[i], results[i]));
  return worst;
}

TEST(Exponential, IsRightOnThisProcessor) {
  std::vector<float> numbers = makeNumbers();
  std::string code;
  std::vector<float> results = compute(numbers, "", &code);
  ASSERT_EQ(results.size(), numbers.size());
  EXPECT_LE(getWorstError(numbers, results), 1.2);
  EXPECT_THAT(code, Not(HasSubstr("@llvm.exp.f32")));
}

#if defined(__x86_64__)

TEST(Exponential, IsRightWithoutMultiplyAdds) {
  std::vector<float> numbers = makeNumbers();
  std::string code;
  std::vector<float> results = compute(numbers, "-fma,-avx512f", &code);
  ASSERT_EQ(results.size(), numbers.size());
  EXPECT_LE(getWorstError(numbers, results), 1.2);
  EXPECT_THAT(code, Not(HasSubstr("@llvm.fma")));
}

TEST(Exponential, HasTheSameBitsWithoutScaling) {
  std::vector<float> numbers = makeNumbers();
  std::vector<float> scaled = compute(numbers, "");
  std::string code;
  std::vector<float> multiplied = compute(numbers, "-avx512f", &code);
  ASSERT_EQ(scaled.size(), numbers.size());
  ASSERT_EQ(multiplied.size(), numbers.size());
  EXPECT_THAT(code, Not(HasSubstr("@llvm.ldexp")));
  for (size_t i = 0; i < numbers.size(); ++i)
    if (!std::isnan(numbers[i]))
      ASSERT_EQ(llvm::bit_cast<uint32_t>(scaled[i]),
                llvm::bit_cast<uint32_t>(multiplied[i]))
          << "the exponential of " << numbers[i];
}

#endif
