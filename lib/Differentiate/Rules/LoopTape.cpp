//===- LoopTape.cpp - what a loop keeps for its transpose -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopTape.h"
#include "ControlFlowRules.h"
#include "Slices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

Value sparse_autograd::createTripCount(OpBuilder &builder, scf::ForOp loop,
                                       Value lower, Value upper, Value step) {
  Location loc = loop.getLoc();
  Value distance = arith::SubIOp::create(builder, loc, upper, lower);
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(distance.getType(), 0));
  distance = arith::MaxSIOp::create(builder, loc, distance, zero);
  Value count = arith::CeilDivSIOp::create(builder, loc, distance, step);
  return getValueOrCreateCastToIndexLike(builder, loc, builder.getIndexType(),
                                         count);
}

Value sparse_autograd::createPosition(OpBuilder &builder, scf::ForOp loop,
                                      Value iv) {
  Location loc = loop.getLoc();
  Value distance =
      arith::SubIOp::create(builder, loc, iv, loop.getLowerBound());
  Value position =
      arith::DivSIOp::create(builder, loc, distance, loop.getStep());
  return getValueOrCreateCastToIndexLike(builder, loc, builder.getIndexType(),
                                         position);
}

/// Offsets, sizes and strides of the entry `position` of `tape`.
static void getEntry(OpBuilder &builder, Location loc, Value tape,
                     Value position, SmallVectorImpl<OpFoldResult> &offsets,
                     SmallVectorImpl<OpFoldResult> &sizes,
                     SmallVectorImpl<OpFoldResult> &strides) {
  sizes = tensor::getMixedSizes(builder, loc, tape);
  offsets.assign(sizes.size(), builder.getIndexAttr(0));
  strides.assign(sizes.size(), builder.getIndexAttr(1));
  offsets[0] = position;
  sizes[0] = builder.getIndexAttr(1);
}

FailureOr<LoopTape> LoopTape::record(scf::ForOp loop, Linearizer &linearizer) {
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  Value count = createTripCount(builder, loop, loop.getLowerBound(),
                                loop.getUpperBound(), loop.getStep());
  SmallVector<Value> inits(loop.getInitArgs());
  SmallVector<unsigned> keptArguments;
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (argument.use_empty())
      continue;
    Type type = argument.getType();
    if (!isa<RankedTensorType>(type) && !type.isIntOrIndexOrFloat())
      return loop.emitOpError("carries ")
             << type
             << ", which cannot be kept for the backward pass; carry tensors "
                "and numbers";
    SmallVector<OpFoldResult> shape = {count};
    if (isa<RankedTensorType>(type))
      llvm::append_range(shape, tensor::getMixedSizes(
                                    builder, loc, loop.getInitArgs()[index]));
    keptArguments.push_back(index);
    inits.push_back(tensor::EmptyOp::create(builder, loc, shape,
                                            getElementTypeOrSelf(type)));
  }

  auto taped = scf::ForOp::create(builder, loc, loop.getLowerBound(),
                                  loop.getUpperBound(), loop.getStep(), inits);
  taped->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = taped.getBody();
  unsigned numCarried = loop.getNumRegionIterArgs();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  for (auto [old, replacement] :
       llvm::zip(loop.getBody()->getArguments(), body->getArguments()))
    old.replaceAllUsesWith(replacement);
  IRMapping clones;
  clones.map(loop.getBody()->getArguments(),
             body->getArguments().take_front(1 + numCarried));
  for (auto [old, replacement] :
       llvm::zip(loop.getResults(), taped.getResults())) {
    clones.map(old, replacement);
    old.replaceAllUsesWith(replacement);
  }
  linearizer.noteClones(clones);

  LoopTape result;
  result.primalOps = sparse_autograd::getPrimalOps(*body);
  builder.setInsertionPointToStart(body);
  Value position = createPosition(builder, taped, taped.getInductionVar());
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  for (auto [tapeIndex, index] : llvm::enumerate(keptArguments)) {
    Value tape = taped.getRegionIterArg(numCarried + tapeIndex);
    Value value = taped.getRegionIterArg(index);
    Value extended;
    if (isa<RankedTensorType>(value.getType())) {
      SmallVector<OpFoldResult> offsets, sizes, strides;
      getEntry(builder, loc, tape, position, offsets, sizes, strides);
      extended =
          replaceSlice(builder, loc, value, tape, offsets, sizes, strides);
    } else {
      extended = tensor::InsertOp::create(builder, loc, value, tape, position);
    }
    yield.getResultsMutable().append(extended);
  }

  result.loop = taped;
  result.kept.resize(numCarried);
  for (auto [tapeIndex, index] : llvm::enumerate(keptArguments))
    result.kept[index] = taped.getResult(numCarried + tapeIndex);
  linearizer.retire(loop);
  return result;
}

void LoopTape::read(OpBuilder &builder, Value position,
                    IRMapping &mapping) const {
  Location loc = loop->getLoc();
  for (auto [index, tape] : llvm::enumerate(kept)) {
    if (!tape)
      continue;
    scf::ForOp source = loop;
    Value argument = source.getRegionIterArg(index);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) {
      mapping.map(argument,
                  tensor::ExtractOp::create(builder, loc, tape, position));
      continue;
    }
    SmallVector<OpFoldResult> offsets, sizes, strides;
    getEntry(builder, loc, tape, position, offsets, sizes, strides);
    mapping.map(argument,
                createSlice(builder, loc, type, tape, offsets, sizes, strides));
  }
}
