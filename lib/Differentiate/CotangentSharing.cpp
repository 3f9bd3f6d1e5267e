//===- CotangentSharing.cpp - products that several bodies need -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CotangentSharing.h"
#include "CotangentMarks.h"
#include "CotangentTerms.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// A product, in the body of an op, of each element of one tensor with an
/// element of another one, which several of the first may meet.
struct ElementProduct {
  linalg::GenericOp op;
  arith::MulFOp multiplication;
  /// Which operand is the element of the first.
  unsigned operand;
  Value tensor, other;
  /// The place in `tensor`, in the loops of the op.
  AffineMap map;
  /// The place in `other`, in the dimensions of `tensor`.
  AffineMap otherPlace;
  /// The products as a tensor, if there is one.
  Value computed;

  /// What products that are the same have in common.
  auto getKey() const {
    arith::MulFOp product = multiplication;
    return std::make_tuple(op->getBlock(), tensor, other, otherPlace,
                           static_cast<uint32_t>(product.getFastmath()));
  }
};

} // namespace

/// The place that `map` gives, in what `from` gives, both of the same loops;
/// null if that does not say it.
static AffineMap getPlace(AffineMap map, AffineMap from) {
  if (!map || !from || !map.isProjectedPermutation() ||
      !from.isProjectedPermutation())
    return {};
  SmallVector<AffineExpr> results;
  for (AffineExpr loop : map.getResults()) {
    std::optional<unsigned> position = from.getResultPosition(loop);
    if (!position)
      return {};
    results.push_back(getAffineDimExpr(*position, map.getContext()));
  }
  return AffineMap::get(from.getNumResults(), 0, results, map.getContext());
}

/// The tensor of what `op` multiplies, if it does nothing else.
static Value getComputed(linalg::GenericOp op, arith::MulFOp multiplication,
                         AffineMap map) {
  return op->getNumResults() == 1 && map.isIdentity() &&
                 getElementwise(op.getResult(0)) &&
                 getYielded(op) == multiplication
             ? op.getResult(0)
             : Value();
}

/// What `multiplication` is a product of: of either with the other, if both
/// tensors are read in the same loops.
static SmallVector<ElementProduct, 2> match(linalg::GenericOp op,
                                            arith::MulFOp multiplication) {
  SmallVector<ElementProduct, 2> products;
  Type type = multiplication.getType();
  if ((!type.isF32() && !type.isF64()) ||
      llvm::any_of(multiplication->getUsers(),
                   llvm::IsaPred<arith::AddFOp, arith::SubFOp>))
    return products;
  for (unsigned operand : {0, 1}) {
    auto [tensor, map] = getSource(multiplication->getOperand(operand));
    auto [other, otherMap] = getSource(multiplication->getOperand(1 - operand));
    if (AffineMap place = getPlace(otherMap, map))
      products.push_back({op, multiplication, operand, tensor, other, map,
                          place, getComputed(op, multiplication, map)});
  }
  return products;
}

/// Computes `product` as a tensor, before its op.
static Value createTensor(const ElementProduct &product) {
  arith::MulFOp multiplication = product.multiplication;
  OpBuilder builder(product.op);
  Location loc = multiplication.getLoc();
  Value init =
      createEmptyLike(builder, loc, product.tensor, multiplication.getType());
  auto type = cast<RankedTensorType>(init.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineMap> maps{identity, product.otherPlace, identity};
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      builder, loc, type, ValueRange{product.tensor, product.other}, init, maps,
      iterators, [&](OpBuilder &nested, Location loc, ValueRange elements) {
        IRMapping mapping;
        unsigned operand = product.operand;
        mapping.map(multiplication->getOperand(operand), elements[0]);
        mapping.map(multiplication->getOperand(1 - operand), elements[1]);
        Operation *clone = nested.clone(*multiplication, mapping);
        linalg::YieldOp::create(nested, loc, clone->getResults());
      });
  return op.getResult(0);
}

/// Makes the op of `product` read it from `computed`.
static void readProduct(const ElementProduct &product, Value computed) {
  linalg::GenericOp op = product.op;
  arith::MulFOp multiplication = product.multiplication;
  unsigned number = op.getNumDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + number, product.map);
  op.getInputsMutable().append(computed);
  op.setIndexingMapsAttr(Builder(op).getAffineMapArrayAttr(maps));
  BlockArgument element = op.getBody()->insertArgument(
      number, multiplication.getType(), multiplication.getLoc());
  multiplication.getResult().replaceAllUsesWith(element);
  multiplication.erase();
}

static void share(ElementProduct &first, const ElementProduct &second) {
  if (!first.computed) {
    first.computed = createTensor(first);
    readProduct(first, first.computed);
  }
  readProduct(second, first.computed);
}

void sparse_autograd::shareCotangentProducts(func::FuncOp derivative) {
  SmallVector<linalg::GenericOp> ops;
  derivative.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() &&
        llvm::none_of(op->getOperandTypes(), isSparse))
      ops.push_back(op);
  });
  llvm::DenseMap<decltype(ElementProduct().getKey()), ElementProduct> known;
  for (linalg::GenericOp op : ops) {
    SmallVector<arith::MulFOp> multiplications(
        op.getBody()->getOps<arith::MulFOp>());
    for (arith::MulFOp multiplication : multiplications) {
      SmallVector<ElementProduct, 2> products = match(op, multiplication);
      auto *same = llvm::find_if(products, [&](const ElementProduct &product) {
        return known.contains(product.getKey());
      });
      if (same == products.end()) {
        if (!products.empty())
          known[products.front().getKey()] = products.front();
        continue;
      }
      ElementProduct &first = known[same->getKey()];
      if (first.op != op &&
          (isMarkedCotangent(first.op) || isMarkedCotangent(op)))
        share(first, *same);
    }
  }
}
