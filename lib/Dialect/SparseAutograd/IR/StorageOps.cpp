//===- StorageOps.cpp - storage from entries ------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

using namespace mlir;
using namespace sparse_autograd;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Buffers that are inputs are read, those that are destinations written.
static void getEffectsOfBuffers(DestinationStyleOpInterface op,
                                Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

void CountBeforeOp::getEffects(Effects &effects) {
  getEffectsOfBuffers(cast<DestinationStyleOpInterface>(getOperation()),
                      effects);
}

void SortEntriesOp::getEffects(Effects &effects) {
  getEffectsOfBuffers(cast<DestinationStyleOpInterface>(getOperation()),
                      effects);
}

void CountPositionsOp::getEffects(Effects &effects) {
  getEffectsOfBuffers(cast<DestinationStyleOpInterface>(getOperation()),
                      effects);
}

void StorePositionsOp::getEffects(Effects &effects) {
  getEffectsOfBuffers(cast<DestinationStyleOpInterface>(getOperation()),
                      effects);
}
