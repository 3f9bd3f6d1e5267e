//===- ResidualGraph.cpp - what to keep and what to compute again ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ResidualGraph.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <boost/throw_exception.hpp>

#include <cstdlib>
#include <exception>
#include <limits>

using namespace sparse_autograd;

namespace boost {
/// The project is compiled without exceptions. The library throws where a graph
/// is malformed, which is a mistake in this file.
BOOST_NORETURN void throw_exception(const std::exception &) { std::abort(); }
BOOST_NORETURN void throw_exception(const std::exception &,
                                    const source_location &) {
  std::abort();
}
} // namespace boost

ResidualGraph::Index
ResidualGraph::addOperation(std::optional<int64_t> cost,
                            llvm::ArrayRef<Index> operands) {
  operations.push_back({cost, llvm::SmallVector<Index>(operands)});
  return operations.size() - 1;
}

ResidualGraph::Index ResidualGraph::addValue(std::optional<int64_t> size,
                                             std::optional<Index> operation) {
  values.push_back({size, operation});
  return values.size() - 1;
}

namespace {
using Traits =
    boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
struct Edge {
  int64_t capacity = 0;
  int64_t residual = 0;
  Traits::edge_descriptor reverse;
};
struct Node {
  Traits::edge_descriptor predecessor;
  boost::default_color_type color;
  int64_t distance;
};
using Network = boost::adjacency_list<boost::vecS, boost::vecS,
                                      boost::directedS, Node, Edge>;
} // namespace

/// More than any sum of finite capacities, and far from overflow.
static constexpr int64_t infinite = std::numeric_limits<int64_t>::max() / 4;

static void addEdge(Network &network, unsigned from, unsigned to,
                    int64_t capacity) {
  auto forward = boost::add_edge(from, to, network).first;
  auto backward = boost::add_edge(to, from, network).first;
  network[forward].capacity = capacity;
  network[forward].reverse = backward;
  network[backward].reverse = forward;
}

/// The nodes from which flow could still reach `sink`.
static llvm::BitVector findSinkSide(const Network &network, unsigned sink) {
  llvm::BitVector found(boost::num_vertices(network));
  llvm::SmallVector<unsigned> worklist = {sink};
  found.set(sink);
  while (!worklist.empty()) {
    auto edges = boost::out_edges(worklist.pop_back_val(), network);
    for (auto edge : llvm::make_range(edges.first, edges.second)) {
      unsigned neighbour = boost::target(edge, network);
      if (found.test(neighbour) || network[network[edge].reverse].residual == 0)
        continue;
      found.set(neighbour);
      worklist.push_back(neighbour);
    }
  }
  return found;
}

ResidualGraph::Plan ResidualGraph::findPlan(int64_t weight) const {
  unsigned numOperations = operations.size();
  unsigned source = numOperations + values.size(), sink = source + 1;
  auto nodeOf = [&](Index value) { return numOperations + value; };
  Network network(sink + 1);
  for (auto [index, operation] : llvm::enumerate(operations)) {
    addEdge(network, source, index, operation.cost.value_or(infinite));
    for (Index operand : operation.operands)
      addEdge(network, nodeOf(operand), index, infinite);
  }
  for (auto [index, value] : llvm::enumerate(values))
    addEdge(network, value.operation.value_or(source), nodeOf(index),
            value.size ? *value.size * weight : infinite);
  for (Index value : needed)
    addEdge(network, nodeOf(value), sink, infinite);

  boost::boykov_kolmogorov_max_flow(
      network, boost::get(&Edge::capacity, network),
      boost::get(&Edge::residual, network), boost::get(&Edge::reverse, network),
      boost::get(&Node::predecessor, network),
      boost::get(&Node::color, network), boost::get(&Node::distance, network),
      boost::get(boost::vertex_index, network), source, sink);

  llvm::BitVector late = findSinkSide(network, sink);
  Plan plan{llvm::BitVector(values.size()), llvm::BitVector(numOperations)};
  for (unsigned index = 0; index < numOperations; ++index)
    plan.recomputed[index] = late.test(index);
  for (auto [index, value] : llvm::enumerate(values))
    plan.kept[index] = late.test(nodeOf(index)) &&
                       !(value.operation && late.test(*value.operation));
  return plan;
}

int64_t ResidualGraph::getCost(const Plan &plan, int64_t weight) const {
  int64_t cost = getSize(plan) * weight;
  for (unsigned index : plan.recomputed.set_bits())
    cost += operations[index].cost.value_or(infinite);
  return cost;
}

int64_t ResidualGraph::getSize(const Plan &plan) const {
  int64_t size = 0;
  for (unsigned index : plan.kept.set_bits())
    size += values[index].size.value_or(infinite);
  return size;
}
