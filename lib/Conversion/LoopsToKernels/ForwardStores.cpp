//===- ForwardStores.cpp - elements that stay in registers ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardStores.h"

#include "../Accesses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// An element whose value is known.
struct KnownElement {
  Value memref;
  ValueRange indices;
  Value value;
  /// The store that wrote it in this block, until something may have read it.
  Operation *store;
};

class Forwarder {
public:
  Forwarder(RewriterBase &rewriter, Operation *scope)
      : rewriter(rewriter), aliases(scope) {}

  void visit(Block &block, SmallVector<KnownElement> known);

private:
  bool mayOverlap(const KnownElement &element, Value memref) {
    return sparse_autograd::mayOverlap(aliases, element.memref, memref);
  }
  void forget(SmallVectorImpl<KnownElement> &known, Value memref) {
    llvm::erase_if(known, [&](const KnownElement &element) {
      return mayOverlap(element, memref);
    });
  }
  void load(memref::LoadOp op, SmallVectorImpl<KnownElement> &known);
  void store(memref::StoreOp op, SmallVectorImpl<KnownElement> &known);

  RewriterBase &rewriter;
  AliasAnalysis aliases;
};
} // namespace

static bool isElement(const KnownElement &element, Value memref,
                      ValueRange indices) {
  return element.memref == memref && llvm::equal(element.indices, indices);
}

void Forwarder::load(memref::LoadOp op, SmallVectorImpl<KnownElement> &known) {
  for (const KnownElement &element : known)
    if (isElement(element, op.getMemref(), op.getIndices())) {
      rewriter.replaceOp(op, element.value);
      return;
    }
  for (KnownElement &element : known)
    if (mayOverlap(element, op.getMemref()))
      element.store = nullptr;
  known.push_back({op.getMemref(), op.getIndices(), op, nullptr});
}

void Forwarder::store(memref::StoreOp op,
                      SmallVectorImpl<KnownElement> &known) {
  for (const KnownElement &element : known)
    if (element.store && isElement(element, op.getMemref(), op.getIndices()))
      rewriter.eraseOp(element.store);
  forget(known, op.getMemref());
  known.push_back({op.getMemref(), op.getIndices(), op.getValue(), op});
}

void Forwarder::visit(Block &block, SmallVector<KnownElement> known) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto loadOp = dyn_cast<memref::LoadOp>(op)) {
      load(loadOp, known);
      continue;
    }
    if (auto storeOp = dyn_cast<memref::StoreOp>(op)) {
      store(storeOp, known);
      continue;
    }
    Accesses accesses = getAccesses(&op);
    for (const Access &access : accesses)
      if (access.isWrite)
        forget(known, access.memref);
    // What is overwritten behind the op may be read in it.
    for (KnownElement &element : known)
      for (const Access &access : accesses)
        if (element.store && mayOverlap(element, access.memref) &&
            !(isa<memref::LoadOp>(access.op) &&
              isElement(element, access.memref, access.indices)))
          element.store = nullptr;
    if (op.getNumRegions() == 0)
      continue;
    SmallVector<KnownElement> inside = known;
    for (KnownElement &element : inside)
      element.store = nullptr;
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        visit(nested, inside);
  }
}

void sparse_autograd::forwardStores(RewriterBase &rewriter, Block &block) {
  Forwarder(rewriter, block.getParentOp()).visit(block, {});
}

void sparse_autograd::eraseUnreadBuffers(RewriterBase &rewriter,
                                         func::FuncOp function) {
  SmallVector<memref::AllocOp> buffers;
  function.walk([&](memref::AllocOp buffer) { buffers.push_back(buffer); });
  for (memref::AllocOp buffer : buffers) {
    bool isUnread = llvm::all_of(buffer->getUses(), [](OpOperand &use) {
      auto store = dyn_cast<memref::StoreOp>(use.getOwner());
      return isa<memref::DeallocOp, vector::TransferWriteOp>(use.getOwner()) ||
             (store && store.getValue() != use.get());
    });
    if (!isUnread)
      continue;
    for (Operation *user : llvm::make_early_inc_range(buffer->getUsers()))
      rewriter.eraseOp(user);
    rewriter.eraseOp(buffer);
  }
}
