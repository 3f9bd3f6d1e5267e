//===- MergeEqualOps.cpp - common subexpressions of deep nests ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Common subexpression elimination. MLIR's (mlir/Transforms/CSE.h) hashes an op
// without its regions and compares those as a whole, so that a nest under one
// condition would be compared with each part of every other. Here the hash of a
// branch or a loop has that of what it holds.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/MergeEqualOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopedHashTable.h"

using namespace mlir;

namespace {
/// An op, and the hash of what its regions hold if it is a branch or a loop.
struct HashedOp {
  Operation *op;
  size_t content;
};

struct HashedOpInfo {
  using Pointers = llvm::DenseMapInfo<Operation *>;
  static HashedOp getEmptyKey() { return {Pointers::getEmptyKey(), 0}; }
  static HashedOp getTombstoneKey() { return {Pointers::getTombstoneKey(), 0}; }
  static unsigned getHashValue(const HashedOp &hashed) {
    return llvm::hash_combine(
        hashed.content, OperationEquivalence::computeHash(
                            hashed.op, OperationEquivalence::directHashValue,
                            OperationEquivalence::ignoreHashValue,
                            OperationEquivalence::IgnoreLocations));
  }
  static bool isEqual(const HashedOp &one, const HashedOp &other) {
    if (one.op == other.op)
      return true;
    auto isOp = [](Operation *op) {
      return op != Pointers::getEmptyKey() && op != Pointers::getTombstoneKey();
    };
    return isOp(one.op) && isOp(other.op) && one.content == other.content &&
           OperationEquivalence::isEquivalentTo(
               one.op, other.op, OperationEquivalence::IgnoreLocations);
  }
};

/// Merges the ops of one root.
class EqualOps {
public:
  explicit EqualOps(Operation *root);

  void merge();

private:
  /// Ops whose results can be used where they are looked for.
  using Known = llvm::ScopedHashTable<HashedOp, Operation *, HashedOpInfo>;

  void visit(Region &region, Known &known);
  void visit(Block &block, Known &known);
  void visit(Operation *op, Known &known);

  Operation *root;
  /// The hash of what is in the regions of each op that has some, before
  /// anything is merged.
  llvm::DenseMap<Operation *, llvm::hash_code> contents;
  SmallVector<Operation *> dead;
};
} // namespace

EqualOps::EqualOps(Operation *root) : root(root) {
  root->walk<WalkOrder::PostOrder>([&](Operation *op) {
    llvm::hash_code hash = OperationEquivalence::computeHash(
        op, OperationEquivalence::ignoreHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
    if (op->getNumRegions() != 0) {
      hash = llvm::hash_combine(hash, contents.lookup(op));
      contents[op] = hash;
    }
    if (Operation *parent = op->getParentOp(); parent && op != root) {
      auto [it, isNew] = contents.try_emplace(parent, hash);
      if (!isNew)
        it->second = llvm::hash_combine(it->second, hash);
    }
  });
}

void EqualOps::merge() {
  Known known;
  for (Region &region : root->getRegions())
    visit(region, known);
  for (Operation *op : dead)
    op->erase();
}

/// The first block dominates the others, which are not compared with one
/// another: branches are structured ops here.
void EqualOps::visit(Region &region, Known &known) {
  if (region.empty())
    return;
  Known::ScopeTy scope(known);
  visit(region.front(), known);
  for (Block &block : llvm::drop_begin(region)) {
    Known::ScopeTy inBlock(known);
    visit(block, known);
  }
}

void EqualOps::visit(Block &block, Known &known) {
  for (Operation &op : block) {
    if (op.getNumRegions() != 0) {
      // What is outside is not used in an op that is isolated from it.
      Known own;
      bool isIsolated = op.mightHaveTrait<OpTrait::IsIsolatedFromAbove>();
      for (Region &region : op.getRegions())
        visit(region, isIsolated ? own : known);
    }
    visit(&op, known);
  }
}

void EqualOps::visit(Operation *op, Known &known) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return;
  if (isOpTriviallyDead(op)) {
    dead.push_back(op);
    return;
  }
  if (!isMemoryEffectFree(op) ||
      llvm::any_of(op->getRegions(), [](Region &region) {
        return !region.empty() && !region.hasOneBlock();
      }))
    return;
  bool isNest = op->getNumRegions() != 0 &&
                isa_and_nonnull<scf::SCFDialect>(op->getDialect());
  HashedOp hashed = {op, isNest ? size_t(contents.lookup(op)) : 0};
  Operation *existing = known.lookup(hashed);
  if (!existing) {
    known.insert(hashed, op);
    return;
  }
  op->replaceAllUsesWith(existing->getResults());
  dead.push_back(op);
  if (isa<UnknownLoc>(existing->getLoc()))
    existing->setLoc(op->getLoc());
}

void sparse_autograd::mergeEqualOps(Operation *root) { EqualOps(root).merge(); }
