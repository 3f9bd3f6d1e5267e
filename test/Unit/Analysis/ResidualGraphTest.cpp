//===- ResidualGraphTest.cpp - what to keep and what to compute again -----===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ResidualGraph.h"
#include "gtest/gtest.h"

#include <random>

using namespace sparse_autograd;

namespace {

/// A graph, and what a search through all plans needs to know of it.
struct Case {
  ResidualGraph graph;
  llvm::SmallVector<std::optional<int64_t>> costs;
  llvm::SmallVector<llvm::SmallVector<unsigned>> operands;
  llvm::SmallVector<int64_t> sizes;
  /// The operation that makes a value; -1 for an input.
  llvm::SmallVector<int> makers;
  llvm::SmallVector<unsigned> needed;

  unsigned addInput(int64_t size) {
    sizes.push_back(size);
    makers.push_back(-1);
    return graph.addInput(size);
  }
  unsigned addOperation(std::optional<int64_t> cost,
                        llvm::ArrayRef<unsigned> inputs) {
    costs.push_back(cost);
    operands.emplace_back(inputs);
    return graph.addOperation(cost, inputs);
  }
  unsigned addResult(unsigned operation, int64_t size) {
    sizes.push_back(size);
    makers.push_back(operation);
    return graph.addResult(operation, size);
  }
  void need(unsigned value) {
    needed.push_back(value);
    graph.need(value);
  }

  /// Whether the late part finds everything it reads.
  bool isComplete(const llvm::BitVector &kept,
                  const llvm::BitVector &recomputed) const {
    auto isThere = [&](unsigned value) {
      return kept.test(value) ||
             (makers[value] >= 0 && recomputed.test(makers[value]));
    };
    for (unsigned operation : recomputed.set_bits()) {
      if (!costs[operation])
        return false;
      if (!llvm::all_of(operands[operation], isThere))
        return false;
    }
    return llvm::all_of(needed, isThere);
  }

  /// The cost of the cheapest complete plan, among all there are.
  int64_t searchCheapest(int64_t weight) const {
    int64_t best = std::numeric_limits<int64_t>::max();
    for (unsigned keptBits = 0; keptBits < 1u << sizes.size(); ++keptBits) {
      llvm::BitVector kept(sizes.size());
      int64_t keptCost = 0;
      for (unsigned value = 0; value < sizes.size(); ++value)
        if (keptBits >> value & 1) {
          kept.set(value);
          keptCost += sizes[value] * weight;
        }
      for (unsigned bits = 0; bits < 1u << costs.size(); ++bits) {
        llvm::BitVector recomputed(costs.size());
        int64_t cost = keptCost;
        for (unsigned operation = 0; operation < costs.size(); ++operation)
          if (bits >> operation & 1) {
            recomputed.set(operation);
            cost += costs[operation].value_or(0);
          }
        if (cost < best && isComplete(kept, recomputed))
          best = cost;
      }
    }
    return best;
  }
};

/// A random graph with `numValues` values.
Case makeCase(std::mt19937 &random, unsigned numValues) {
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  Case result;
  unsigned numInputs = draw(1, 1 + numValues / 3);
  for (unsigned value = 0; value < numInputs; ++value)
    result.addInput(draw(0, 12));
  while (result.sizes.size() < numValues) {
    llvm::SmallVector<unsigned> operands;
    for (int64_t count = draw(0, 3); count > 0; --count)
      operands.push_back(draw(0, result.sizes.size() - 1));
    std::optional<int64_t> cost;
    if (draw(0, 9) != 0)
      cost = draw(0, 12);
    unsigned operation = result.addOperation(cost, operands);
    for (int64_t count = draw(1, 2);
         count > 0 && result.sizes.size() < numValues; --count)
      result.addResult(operation, draw(0, 12));
  }
  for (unsigned value = 0; value < numValues; ++value)
    if (draw(0, 2) == 0)
      result.need(value);
  return result;
}

TEST(ResidualGraphTest, isAsCheapAsASearchThroughAllPlans) {
  std::mt19937 random(7);
  for (unsigned numValues = 1; numValues <= 8; ++numValues) {
    for (int repetition = 0; repetition < 60; ++repetition) {
      Case problem = makeCase(random, numValues);
      for (int64_t weight : {1, 3}) {
        ResidualGraph::Plan plan = problem.graph.findPlan(weight);
        EXPECT_TRUE(problem.isComplete(plan.kept, plan.recomputed));
        EXPECT_EQ(problem.graph.getCost(plan, weight),
                  problem.searchCheapest(weight));
      }
    }
  }
}

// The largest graphs that a search through all plans gets through in seconds.
TEST(ResidualGraphTest, isAsCheapAsASearchOnTwelveValues) {
  std::mt19937 random(11);
  for (int repetition = 0; repetition < 6; ++repetition) {
    Case problem = makeCase(random, 12);
    ResidualGraph::Plan plan = problem.graph.findPlan(1);
    EXPECT_TRUE(problem.isComplete(plan.kept, plan.recomputed));
    EXPECT_EQ(problem.graph.getCost(plan, 1), problem.searchCheapest(1));
  }
}

TEST(ResidualGraphTest, keepsNothingThatIsNotNeeded) {
  ResidualGraph graph;
  unsigned x = graph.addInput(8);
  graph.addResult(graph.addOperation(1, {x}), 8);
  ResidualGraph::Plan plan = graph.findPlan(1);
  EXPECT_TRUE(plan.kept.none());
  EXPECT_TRUE(plan.recomputed.none());
}

TEST(ResidualGraphTest, prefersKeepingToComputingAgainAtEqualCost) {
  ResidualGraph graph;
  unsigned x = graph.addInput(4);
  unsigned y = graph.addResult(graph.addOperation(4, {x}), 8);
  graph.need(y);
  ResidualGraph::Plan plan = graph.findPlan(1);
  EXPECT_TRUE(plan.kept.test(y));
  EXPECT_TRUE(plan.recomputed.none());
}

// The more a byte costs, the fewer are kept.
TEST(ResidualGraphTest, keepsLessTheMoreAByteCosts) {
  std::mt19937 random(13);
  for (int repetition = 0; repetition < 50; ++repetition) {
    Case problem = makeCase(random, 40);
    int64_t last = std::numeric_limits<int64_t>::max();
    for (int64_t weight = 1; weight <= 1024; weight *= 4) {
      ResidualGraph::Plan plan = problem.graph.findPlan(weight);
      EXPECT_TRUE(problem.isComplete(plan.kept, plan.recomputed));
      EXPECT_LE(problem.graph.getSize(plan), last);
      last = problem.graph.getSize(plan);
    }
  }
}

} // namespace
