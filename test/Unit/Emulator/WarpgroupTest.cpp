//===- WarpgroupTest.cpp - Products by four warps ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices are laid out here as the PTX ISA says in "Shared memory matrix
// layout", by another way than the emulator goes: byte by byte, and with the
// permutation of copies of tiles. The numbers are multiples of 1/4, of which
// the products are exact.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "NarrowFloats.h"

#include <random>

using namespace sparse_autograd::emulator;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

namespace {
/// A matrix in shared memory, of rows (of B: columns) and k.
struct SharedMatrix {
  uint32_t rows;
  uint32_t k;
  uint32_t elementBytes;
  uint32_t span; ///< that is swizzled; 0: none
  bool isTransposed;
  uint32_t start;

  /// The distances of the descriptor.
  uint32_t getLeading() const {
    if (!span)
      return 128;
    // Of lines of a transposed matrix, from one to the next of the same k.
    return isTransposed ? k * span : 0;
  }
  uint32_t getStride() const {
    if (span)
      return 8 * span;
    return isTransposed ? getLeading() * k / 8
                        : getLeading() * k * elementBytes / 16;
  }
  uint64_t getDescriptor(uint32_t step, uint32_t stepK) const {
    uint32_t advance = isTransposed ? (span ? stepK * span : stepK / 8 * 128)
                       : span       ? stepK * elementBytes
                                    : stepK * elementBytes / 16 * 128;
    uint64_t swizzle = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return uint64_t((start + step * advance) >> 4) |
           uint64_t(getLeading() >> 4) << 16 |
           uint64_t(getStride() >> 4) << 32 | swizzle << 62;
  }
  uint32_t getPlace(uint32_t row, uint32_t i) const {
    uint32_t byte;
    if (!span && isTransposed)
      byte = row / 8 * getStride() + i / 8 * 128 + i % 8 * 16 + row % 8 * 2;
    else if (!span)
      byte = row / 8 * getStride() + i * elementBytes / 16 * 128 +
             row % 8 * 16 + i * elementBytes % 16;
    else if (isTransposed)
      byte = row / (span / 2) * getLeading() + i * span + row % (span / 2) * 2;
    else
      byte = row * span + i * elementBytes;
    byte += start;
    if (!span)
      return byte;
    // The piece of 16 bytes of the line of 128.
    uint32_t pieces = span / 16;
    uint32_t piece = byte % span / 16;
    return byte - piece * 16 + (piece ^ (byte / 128 % pieces)) * 16;
  }
  uint32_t getBytes() const { return rows * k * elementBytes; }
};

/// What is multiplied: in `steps` steps.
struct Problem {
  int32_t type;
  uint32_t n;
  uint32_t steps;
  bool isSparse = false;
  bool hasRegisters = false;
  SharedMatrix a;
  SharedMatrix b;
  int32_t negatesA = 0;
  int32_t negatesB = 0;
  int32_t accumulatesFirst = 0;
  int32_t selector = 0;

  bool isTF32() const { return type == SPARSE_AUTOGRAD_WGMMA_TF32_F32; }
  uint32_t getElementBytes() const { return isTF32() ? 4 : 2; }
  uint32_t getStoredK() const { return 32 / getElementBytes(); }
  uint32_t getStepK() const { return getStoredK() * (isSparse ? 2 : 1); }
};
} // namespace

static void write(std::vector<char> &image, uint32_t place, int32_t type,
                  double number) {
  auto single = static_cast<float>(number);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof(bits));
  uint16_t half = type == SPARSE_AUTOGRAD_WGMMA_BF16_F32 ? uint16_t(bits >> 16)
                                                         : roundToF16(number);
  if (type == SPARSE_AUTOGRAD_WGMMA_TF32_F32)
    std::memcpy(&image[place], &bits, sizeof(bits));
  else
    std::memcpy(&image[place], &half, sizeof(half));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
enum Mistake {
  NoMistake,
  NoProxyFence,
  NoFence,
  NoWait,
  NoWaitAtAll,
  WritesWhileItReads,
  WarpIsMissing,
  OneDescriptorDiffers,
  DescriptorOfWarpDiffers,
  PlaceDiffers,
  NegativeWait,
};

/// What the kernel takes, by a pointer.
struct Arguments {
  const uint32_t *image;
  int32_t words;
  int32_t steps;
  int32_t sumBytes; ///< of the sums of a thread
  int32_t mistake;
  const char *sumsBefore;
  char *sums;
  const uint32_t *registers;   ///< 4 for each step of each thread
  const uint32_t *metadata;    ///< for each step of each thread
  const uint64_t *descriptors; ///< of A and B for each step
  SparseAutogradEmulatedWarpgroupProduct product;
};
} // namespace

static void multiply(void **parameters) {
  const Arguments &arguments = **static_cast<Arguments **>(parameters[0]);
  auto *words = shared<uint32_t>();
  int32_t t = threadId();
  for (int32_t i = t; i < arguments.words; i += 128)
    store(&words[i], load(&arguments.image[i]));
  if (arguments.mistake != NoProxyFence)
    sparseAutogradEmulateProxyFence(0, HERE);
  barrier(HERE);
  alignas(16) char sums[512];
  for (int32_t i = 0; i < arguments.sumBytes; i += 4) {
    uint32_t word = load(reinterpret_cast<const uint32_t *>(
        arguments.sumsBefore + t * arguments.sumBytes + i));
    std::memcpy(sums + i, &word, sizeof(word));
  }
  if (arguments.mistake == WarpIsMissing && t >= 96)
    return;
  if (arguments.mistake != NoFence)
    sparseAutogradEmulateWarpgroupFence(HERE);
  uint32_t previous = 0;
  for (int32_t step = 0; step < arguments.steps; ++step) {
    SparseAutogradEmulatedWarpgroupProduct product = arguments.product;
    product.descriptorA = load(&arguments.descriptors[2 * step]);
    product.descriptorB = load(&arguments.descriptors[2 * step + 1]);
    if ((arguments.mistake == OneDescriptorDiffers && t == 77) ||
        (arguments.mistake == DescriptorOfWarpDiffers && t / 32 == 2))
      product.descriptorB -= 32;
    uint32_t registers[4];
    for (int32_t i = 0; i < 4; ++i)
      registers[i] =
          load(&arguments.registers[(t * arguments.steps + step) * 4 + i]);
    if (product.registersA)
      product.registersA = registers;
    product.metadata = load(&arguments.metadata[t * arguments.steps + step]);
    product.accumulates |= step > 0;
    product.previous = previous;
    bool isElsewhere = arguments.mistake == PlaceDiffers && t / 32 == 1;
    previous = sparseAutogradEmulateWarpgroupProduct(
        &product, sums, isElsewhere ? "another product" : "the product");
  }
  sparseAutogradEmulateWarpgroupCommit(HERE);
  if (arguments.mistake == WritesWhileItReads && t == 0)
    store(&words[4], 0u, "the write");
  if (arguments.mistake == NoWaitAtAll)
    return;
  if (arguments.mistake != NoWait)
    sparseAutogradEmulateWarpgroupWait(
        arguments.mistake == NegativeWait ? -1 : 0, HERE);
  sparseAutogradEmulateUseProduct(previous, "the use");
  for (int32_t i = 0; i < arguments.sumBytes; i += 4) {
    uint32_t word;
    std::memcpy(&word, sums + i, sizeof(word));
    store(reinterpret_cast<uint32_t *>(arguments.sums + t * arguments.sumBytes +
                                       i),
          word);
  }
  // Nobody reads any more what the next round would write.
  if (arguments.mistake == NoMistake) {
    barrier(HERE);
    store(&words[t], 0u);
  }
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

namespace {
/// Draws the matrices of a problem, runs it, and compares.
class Runner {
public:
  Runner(const Problem &problem, uint64_t seed, unsigned draw = 1);
  int32_t run(int32_t mistake = NoMistake);
  void compare();

  Device device;

private:
  double draw() { return (int(random() % 17) - 8) / 4.; }

  Problem problem;
  std::mt19937 random;
  std::vector<double> a, b, c;
  std::vector<char> image;
  std::vector<char> sums;
  std::vector<uint32_t> registers, metadata;
  char *out = nullptr;
};
} // namespace

Runner::Runner(const Problem &problem, uint64_t seed, unsigned drawn)
    : device(seed), problem(problem), random(drawn) {
  const Problem &p = problem;
  uint32_t k = p.getStepK() * p.steps;
  uint32_t storedK = p.getStoredK() * p.steps;
  a.assign(64 * k, 0);
  b.resize(p.n * k);
  c.resize(64 * p.n);
  image.resize(
      (std::max(p.a.start + p.a.getBytes(), p.b.start + p.b.getBytes()) + 15) /
      16 * 16);
  registers.resize(128 * p.steps * 4);
  metadata.resize(128 * p.steps);
  uint32_t perRegister = p.isTF32() ? 4 : 8;
  for (uint32_t row = 0; row < 64; ++row)
    for (uint32_t stored = 0; stored < storedK; ++stored) {
      double number = draw();
      uint32_t column = stored;
      uint32_t step = stored / p.getStoredK();
      uint32_t inStep = stored % p.getStoredK();
      if (p.isSparse) {
        // Groups of four columns with two stored ones; of tf32 of two with one.
        uint32_t bits;
        if (p.isTF32()) {
          uint32_t high = random() % 2;
          column = stored * 2 + high;
          bits = (high ? 0xE : 0x4) << inStep % perRegister * 4;
        } else if (stored % 2 == 0) {
          uint32_t first = random() % 3;
          column = stored / 2 * 4 + first;
          bits = first << inStep % perRegister / 2 * 4;
        } else {
          uint32_t first = 0;
          while (a[row * k + stored / 2 * 4 + first] == 0)
            ++first;
          uint32_t second = first + 1 + random() % (3 - first);
          column = stored / 2 * 4 + second;
          bits = second << (inStep % perRegister / 2 * 4 + 2);
        }
        uint32_t thread = row / 16 * 32 + row % 8 * 4 +
                          2 * static_cast<uint32_t>(p.selector) +
                          inStep / perRegister;
        metadata[thread * p.steps + step] |= bits << row % 16 / 8 * 16;
        if (number == 0)
          number = 1;
      }
      a[row * k + column] = number;
      if (!p.hasRegisters) {
        write(image, p.a.getPlace(row, stored), p.type, number);
        continue;
      }
      // As mma.m16n8k16 and mma.m16n8k8 of tf32 have A.
      uint32_t perPair = p.isTF32() ? 1 : 2;
      uint32_t lane = row % 8 * 4 + inStep / perPair % 4;
      uint32_t thread = row / 16 * 32 + lane;
      uint32_t index = row % 16 / 8 + inStep / perPair / 4 * 2;
      std::vector<char> word(4);
      std::memcpy(word.data(),
                  &registers[(thread * p.steps + step) * 4 + index], 4);
      write(word, inStep % perPair * 2, p.type, number);
      std::memcpy(&registers[(thread * p.steps + step) * 4 + index],
                  word.data(), 4);
    }
  for (uint32_t column = 0; column < p.n; ++column)
    for (uint32_t i = 0; i < k; ++i) {
      b[column * k + i] = draw();
      write(image, p.b.getPlace(column, i), p.type, b[column * k + i]);
    }
  uint32_t sumBytes = p.type == SPARSE_AUTOGRAD_WGMMA_F16_F16 ? 2 : 4;
  sums.resize(64 * p.n * sumBytes);
  for (uint32_t thread = 0; thread < 128; ++thread)
    for (uint32_t i = 0; i < p.n / 2; ++i) {
      // Two neighbours of a row, the same 8 rows below, 8 columns further on.
      uint32_t row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
      uint32_t column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      double number = draw();
      c[row * p.n + column] = number;
      write(sums, (thread * (p.n / 2) + i) * sumBytes,
            sumBytes == 2 ? int32_t(SPARSE_AUTOGRAD_WGMMA_F16_F16)
                          : int32_t(SPARSE_AUTOGRAD_WGMMA_TF32_F32),
            number);
    }
}

int32_t Runner::run(int32_t mistake) {
  Arguments arguments = {};
  std::vector<uint32_t> words(image.size() / 4);
  std::memcpy(words.data(), image.data(), image.size());
  arguments.image = device.allocate(words);
  arguments.words = static_cast<int32_t>(words.size());
  arguments.steps = static_cast<int32_t>(problem.steps);
  arguments.sumBytes = static_cast<int32_t>(sums.size() / 128);
  arguments.mistake = mistake;
  arguments.sumsBefore = device.allocate(sums);
  out = device.allocate(std::vector<char>(sums.size()));
  arguments.sums = out;
  arguments.registers = device.allocate(registers);
  arguments.metadata = device.allocate(metadata);
  std::vector<uint64_t> descriptors;
  for (uint32_t step = 0; step < problem.steps; ++step) {
    descriptors.push_back(
        problem.hasRegisters
            ? 0
            : problem.a.getDescriptor(step, problem.getStoredK()));
    descriptors.push_back(problem.b.getDescriptor(step, problem.getStepK()));
  }
  arguments.descriptors = device.allocate(descriptors);
  SparseAutogradEmulatedWarpgroupProduct &product = arguments.product;
  product.type = problem.type;
  product.n = static_cast<int32_t>(problem.n);
  product.isSparse = problem.isSparse;
  product.accumulates = problem.accumulatesFirst;
  product.negatesA = problem.negatesA;
  product.negatesB = problem.negatesB;
  product.transposesA = problem.a.isTransposed;
  product.transposesB = problem.b.isTransposed;
  product.registersA = problem.hasRegisters ? &arguments : nullptr;
  product.selector = problem.selector;
  return device.launch(multiply, 1, 128, static_cast<int64_t>(image.size()),
                       &arguments);
}

void Runner::compare() {
  uint32_t k = problem.getStepK() * problem.steps;
  double sign = problem.negatesA != problem.negatesB ? -1 : 1;
  uint32_t n = problem.n;
  bool isHalf = problem.type == SPARSE_AUTOGRAD_WGMMA_F16_F16;
  for (uint32_t thread = 0; thread < 128; ++thread)
    for (uint32_t i = 0; i < n / 2; ++i) {
      uint32_t row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
      uint32_t column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      double expected = problem.accumulatesFirst ? c[row * n + column] : 0;
      for (uint32_t j = 0; j < k; ++j)
        expected += sign * a[row * k + j] * b[column * k + j];
      double actual;
      if (isHalf) {
        uint16_t bits;
        std::memcpy(&bits, out + (thread * (n / 2) + i) * 2, 2);
        actual = convertF16(bits);
      } else {
        float single;
        std::memcpy(&single, out + (thread * (n / 2) + i) * 4, 4);
        actual = single;
      }
      ASSERT_EQ(actual, expected) << row << ", " << column;
    }
}

static Problem makeProblem(int32_t type, uint32_t n, uint32_t span,
                           bool transposesA = false, bool transposesB = false,
                           bool isSparse = false) {
  Problem problem;
  problem.type = type;
  problem.n = n;
  problem.isSparse = isSparse;
  // As many as are in a line; without one, two.
  uint32_t stepBytes = isSparse ? 64 : 32;
  problem.steps = span ? std::max(span / stepBytes, 1u) : 2;
  // Of a sparse A half of a line is used.
  uint32_t storedK = problem.getStoredK() * problem.steps;
  uint32_t elementBytes = problem.getElementBytes();
  uint32_t spanA = isSparse && span ? span / 2 : span;
  problem.a = {64, storedK, elementBytes, spanA, transposesA, 0};
  problem.b = {n,
               problem.getStepK() * problem.steps,
               elementBytes,
               span,
               transposesB,
               (problem.a.getBytes() + 1023) / 1024 * 1024};
  return problem;
}

static void expectRight(const Problem &problem, uint64_t seed = 0) {
  Runner runner(problem, seed);
  ASSERT_EQ(runner.run(), SPARSE_AUTOGRAD_SUCCESS) << runner.device.message();
  runner.compare();
}

static constexpr int32_t allTypes[] = {
    SPARSE_AUTOGRAD_WGMMA_F16_F16, SPARSE_AUTOGRAD_WGMMA_F16_F32,
    SPARSE_AUTOGRAD_WGMMA_BF16_F32, SPARSE_AUTOGRAD_WGMMA_TF32_F32};

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

TEST(Warpgroup, EveryTypeAndSwizzle) {
  for (int32_t type : allTypes)
    for (uint32_t span : {0, 32, 64, 128})
      for (uint32_t n : {8, 64, 88}) {
        SCOPED_TRACE(testing::Message()
                     << "type " << type << ", span " << span << ", n " << n);
        expectRight(makeProblem(type, n, span));
      }
}

TEST(Warpgroup, WideOnes) {
  for (uint64_t seed : {0, 1})
    expectRight(makeProblem(SPARSE_AUTOGRAD_WGMMA_F16_F32, 256, 128), seed);
}

TEST(Warpgroup, Transposed) {
  for (uint32_t span : {0, 32, 64, 128})
    for (bool transposesA : {false, true})
      for (bool transposesB : {false, true})
        for (uint32_t n : {64, 128}) {
          SCOPED_TRACE(testing::Message()
                       << "span " << span << ", A " << transposesA << ", B "
                       << transposesB << ", n " << n);
          expectRight(makeProblem(SPARSE_AUTOGRAD_WGMMA_F16_F32, n, span,
                                  transposesA, transposesB));
        }
}

TEST(Warpgroup, AInRegisters) {
  for (int32_t type : allTypes) {
    SCOPED_TRACE(type);
    Problem problem = makeProblem(type, 24, 64);
    problem.hasRegisters = true;
    expectRight(problem);
  }
}

TEST(Warpgroup, SignsAndSums) {
  for (int32_t type : allTypes)
    for (int32_t i = 0; i < 8; ++i) {
      Problem problem = makeProblem(type, 16, 32);
      problem.negatesA = i & 1;
      problem.negatesB = i >> 1 & 1;
      problem.accumulatesFirst = i >> 2 & 1;
      expectRight(problem);
    }
}

TEST(Warpgroup, SparseOnes) {
  for (int32_t type : allTypes)
    for (uint32_t span : {0, 64, 128})
      for (int32_t selector : {0, 1})
        for (bool hasRegisters : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << "type " << type << ", span " << span << ", selector "
                       << selector << ", registers " << hasRegisters);
          Problem problem =
              makeProblem(type, 40, span, false, false, /*isSparse=*/true);
          problem.selector = selector;
          problem.hasRegisters = hasRegisters;
          problem.accumulatesFirst = selector;
          expectRight(problem);
        }
  // B transposed.
  for (uint32_t span : {0, 32, 64, 128})
    expectRight(makeProblem(SPARSE_AUTOGRAD_WGMMA_BF16_F32, 64,
                            span ? std::max(span, 64u) : 0, false, true,
                            /*isSparse=*/true));
}

static void expectMistake(const Problem &problem, int32_t mistake,
                          int32_t fault, const char *text) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    Runner runner(problem, seed);
    EXPECT_FAULT(runner.device, runner.run(mistake), fault, text);
  }
}

TEST(Warpgroup, MistakesAreFound) {
  Problem problem = makeProblem(SPARSE_AUTOGRAD_WGMMA_F16_F32, 16, 64);
  expectMistake(problem, NoProxyFence, SPARSE_AUTOGRAD_EMULATOR_MISSING_FENCE,
                "has wgmma.mma_async read 16 bytes at offset ");
  expectMistake(problem, NoFence, SPARSE_AUTOGRAD_EMULATOR_MISSING_FENCE,
                "executes wgmma.mma_async on registers, without a wgmma.fence "
                "after what wrote them, at [the product]");
  expectMistake(problem, NoWait, SPARSE_AUTOGRAD_EMULATOR_PENDING_PRODUCT,
                "uses a result of wgmma.mma_async [the product], which has not "
                "been waited for, at [the use]");
  expectMistake(problem, NoWaitAtAll, SPARSE_AUTOGRAD_EMULATOR_PENDING_PRODUCT,
                "ends, but has not waited for its last wgmma.mma_async");
  expectMistake(
      problem, WarpIsMissing, SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP,
      "waits in wgmma.wait_group for 2 products, of which warp 3 of "
      "its warpgroup has executed 0, but thread (96, 0, 0) has ended");
  expectMistake(problem, OneDescriptorDiffers,
                SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP,
                "executes wgmma.mma_async with descriptors that differ from "
                "those of its warp");
  expectMistake(problem, DescriptorOfWarpDiffers,
                SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP,
                "executes wgmma.mma_async with descriptors that differ from "
                "those of another warp of the warpgroup");
  expectMistake(problem, PlaceDiffers, SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP,
                "executes wgmma.mma_async, which all warps of a warpgroup must "
                "do at the same place, but another one has [");
  expectMistake(problem, NegativeWait, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
                "waits for all but -1 groups of wgmma.mma_async");
}

TEST(Warpgroup, WhatItReadsMustStay) {
  // Thread 0 writes before it waits; others may have waited by then.
  Problem problem = makeProblem(SPARSE_AUTOGRAD_WGMMA_F16_F32, 16, 64);
  for (uint64_t seed : {0, 1, 2, 3}) {
    Runner runner(problem, seed);
    EXPECT_NE(runner.run(WritesWhileItReads), SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_THAT(runner.device.message(),
                testing::AllOf(
                    testing::HasSubstr("thread (0, 0, 0) writes 4 bytes at "
                                       "offset 16 of shared memory, which a"),
                    testing::HasSubstr("waited for"),
                    testing::HasSubstr("[the product]"),
                    testing::HasSubstr("at [the write]")));
    EXPECT_THAT(runner.device.report().fault,
                testing::AnyOf(int32_t(SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY),
                               int32_t(SPARSE_AUTOGRAD_EMULATOR_DATA_RACE)));
  }
}

/// One thread of a warpgroup says to another warp that a buffer is free, or
/// says so too early.
static void handOver(void **parameters) {
  bool isEarly = parameter<int32_t>(parameters, 0) != 0;
  auto *words = shared<uint32_t>();
  void *object = words + 256;
  int32_t t = threadId();
  if (t < 128)
    store(&words[t], 0u);
  if (t == 0)
    sparseAutogradEmulateMbarrierInit(object, 1, HERE);
  sparseAutogradEmulateProxyFence(0, HERE);
  barrier(HERE);
  if (t >= 128) {
    while (!sparseAutogradEmulateMbarrierWait(
        object, 0, SPARSE_AUTOGRAD_WAIT_FOR_PARITY, HERE))
      ;
    store(&words[t - 128], 1u, "the write");
    return;
  }
  SparseAutogradEmulatedWarpgroupProduct product = {};
  product.type = SPARSE_AUTOGRAD_WGMMA_F16_F32;
  product.n = 8;
  float sums[4];
  sparseAutogradEmulateWarpgroupFence(HERE);
  sparseAutogradEmulateWarpgroupProduct(&product, sums, "the product");
  sparseAutogradEmulateWarpgroupCommit(HERE);
  if (isEarly && t == 0)
    sparseAutogradEmulateMbarrierArrive(object, 1, 0, 0, HERE);
  sparseAutogradEmulateWarpgroupWait(0, HERE);
  if (!isEarly && t == 0)
    sparseAutogradEmulateMbarrierArrive(object, 1, 0, 0, HERE);
}

TEST(Warpgroup, OneThreadSaysThatABufferIsFree) {
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    EXPECT_EQ(device.launch(handOver, 1, 160, 2048, 0), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    EXPECT_NE(device.launch(handOver, 1, 160, 2048, 1),
              SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_THAT(device.message(), testing::HasSubstr("at [the write]"));
  }
}

TEST(Warpgroup, DescriptorsAreChecked) {
  Problem good = makeProblem(SPARSE_AUTOGRAD_WGMMA_F16_F32, 16, 128);
  Problem problem = good;
  problem.b.start += 128;
  expectMistake(problem, NoMistake, SPARSE_AUTOGRAD_EMULATOR_MISALIGNED,
                "with B at offset 8320 of shared memory, whose swizzle of 128 "
                "bytes begins at multiples of 1024");
  // A line of 32 bytes is too short for a sparse product.
  problem = makeProblem(SPARSE_AUTOGRAD_WGMMA_F16_F32, 16, 64, false, false,
                        /*isSparse=*/true);
  problem.b.span = 32;
  expectMistake(problem, NoMistake, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
                "with 64 bytes of each row of B from byte 0 of a swizzled line "
                "of 32");
  problem = makeProblem(SPARSE_AUTOGRAD_WGMMA_F16_F32, 16, 64, true, false,
                        /*isSparse=*/true);
  expectMistake(problem, NoMistake, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
                "of a transposed sparse matrix, which is not emulated");
}

TEST(Warpgroup, OperandsAreChecked) {
  auto kernel = [](void **parameters) {
    auto product =
        parameter<SparseAutogradEmulatedWarpgroupProduct>(parameters, 0);
    float sums[128];
    sparseAutogradEmulateWarpgroupFence(HERE);
    sparseAutogradEmulateWarpgroupProduct(&product, sums, "the product");
  };
  SparseAutogradEmulatedWarpgroupProduct good = {};
  good.type = SPARSE_AUTOGRAD_WGMMA_F16_F32;
  good.n = 8;
  auto expect = [&](const SparseAutogradEmulatedWarpgroupProduct &product,
                    int64_t threads, int64_t bytes, int32_t fault,
                    const char *text) {
    Device device;
    EXPECT_FAULT(device, device.launch(kernel, 1, threads, bytes, product),
                 fault, text);
  };
  auto product = good;
  product.descriptorA = product.descriptorB = 4096 >> 4;
  expect(product, 128, 4096, SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS,
         "reads 16 bytes at offset 4096 of shared memory, of which the block "
         "has 4096 bytes, at [the product]");
  expect(product, 128, 8192, SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED,
         "at [the product]");
  expect(product, 96, 8192, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
         "in a warpgroup of which the block has not all 128 threads");
  product = good;
  product.descriptorA = uint64_t(1) << 62 | 112 >> 4;
  expect(product, 128, 8192, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
         "with 32 bytes of each row of A from byte 112 of a swizzled line of "
         "128");
  product.transposesA = 1;
  expect(product, 128, 8192, SPARSE_AUTOGRAD_EMULATOR_MISALIGNED,
         "with the transposed A from byte 112 of a swizzled line of 128");
  product = good;
  product.descriptorA = uint64_t(3) << 49;
  expect(product, 128, 8192, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
         "a base offset of 3 in the descriptor of A, which is not emulated");
  product = good;
  product.n = 12;
  expect(product, 128, 8192, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
         "of a type or a shape that does not exist");
  product = good;
  product.type = SPARSE_AUTOGRAD_WGMMA_TF32_F32;
  product.transposesB = 1;
  expect(product, 128, 8192, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
         "of transposed matrices of tf32");
  product = good;
  product.transposesA = 1;
  product.registersA = &product;
  expect(product, 128, 8192, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
         "of a transposed matrix in registers");
  product = good;
  product.isSparse = 1;
  product.selector = 2;
  expect(product, 128, 8192, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
         "with a selector that is not 0 or 1");
}

TEST(Warpgroup, MetadataMustBeOrdered) {
  auto kernel = [](void **parameters) {
    SparseAutogradEmulatedWarpgroupProduct product = {};
    product.type = parameter<int32_t>(parameters, 0);
    product.n = 8;
    product.isSparse = 1;
    product.descriptorA = product.descriptorB = 0;
    product.metadata = parameter<uint32_t>(parameters, 1);
    for (int32_t i = threadId(); i < 1024; i += 128)
      store(&shared<uint32_t>()[i], 0u);
    sparseAutogradEmulateProxyFence(0, HERE);
    barrier(HERE);
    float sums[4];
    sparseAutogradEmulateWarpgroupFence(HERE);
    sparseAutogradEmulateWarpgroupProduct(&product, sums, "the product");
    sparseAutogradEmulateWarpgroupCommit(HERE);
    sparseAutogradEmulateWarpgroupWait(0, HERE);
  };
  Device device;
  auto launch = [&](int32_t type, uint32_t metadata) {
    return device.launch(kernel, 1, 128, 4096, type, metadata);
  };
  EXPECT_EQ(launch(SPARSE_AUTOGRAD_WGMMA_F16_F32, 0xEEEE4444),
            SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  EXPECT_FAULT(
      device, launch(SPARSE_AUTOGRAD_WGMMA_F16_F32, 0xEE1E4444),
      SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
      "gives wgmma.mma_async.sp the indices 1 and 0 for the group 1 of "
      "row 8 of its warp, which must increase");
  EXPECT_EQ(launch(SPARSE_AUTOGRAD_WGMMA_TF32_F32, 0x4E4EE4E4),
            SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  EXPECT_FAULT(device, launch(SPARSE_AUTOGRAD_WGMMA_TF32_F32, 0x4E4E94E4),
               SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
               "the metadata 0x9 for the stored element 3 of row 0");
}

TEST(Warpgroup, GroupsInOrder) {
  // Of two products on their way the first one is waited for.
  auto kernel = [](void **parameters) {
    int32_t mistake = parameter<int32_t>(parameters, 0);
    SparseAutogradEmulatedWarpgroupProduct product = {};
    product.type = SPARSE_AUTOGRAD_WGMMA_F16_F32;
    product.n = 8;
    for (int32_t i = threadId(); i < 1024; i += 128)
      store(&shared<uint32_t>()[i], 0u);
    sparseAutogradEmulateProxyFence(0, HERE);
    barrier(HERE);
    float first[4], second[4];
    sparseAutogradEmulateWarpgroupFence(HERE);
    uint32_t one =
        sparseAutogradEmulateWarpgroupProduct(&product, first, "the first");
    sparseAutogradEmulateWarpgroupCommit(HERE);
    uint32_t two =
        sparseAutogradEmulateWarpgroupProduct(&product, second, "the second");
    sparseAutogradEmulateWarpgroupCommit(HERE);
    sparseAutogradEmulateWarpgroupWait(1, HERE);
    sparseAutogradEmulateUseProduct(mistake == 1 ? two : one, "the use");
    if (mistake != 2) {
      sparseAutogradEmulateWarpgroupWait(0, HERE);
      sparseAutogradEmulateUseProduct(two, "the use");
    }
    // Another shape on the same registers: they must be waited for, and a fence
    // must come first.
    product.previous = two;
    product.n = 16;
    float wide[8];
    sparseAutogradEmulateWarpgroupProduct(&product, wide, "the third");
  };
  Device device;
  EXPECT_FAULT(device, device.launch(kernel, 1, 128, 4096, 1),
               SPARSE_AUTOGRAD_EMULATOR_PENDING_PRODUCT,
               "uses a result of wgmma.mma_async [the second]");
  EXPECT_FAULT(device, device.launch(kernel, 1, 128, 4096, 2),
               SPARSE_AUTOGRAD_EMULATOR_PENDING_PRODUCT,
               "executes wgmma.mma_async on the result of one of another shape "
               "or type [the second], which has not been waited for, at [the "
               "third]");
  EXPECT_FAULT(device, device.launch(kernel, 1, 128, 4096, 0),
               SPARSE_AUTOGRAD_EMULATOR_MISSING_FENCE, "at [the third]");
}
