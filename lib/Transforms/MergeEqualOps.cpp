//===- MergeEqualOps.cpp - common subexpressions of deep nests ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/MergeEqualOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

/// Holds the hash of what is in the regions of an op, while ops are compared.
static constexpr llvm::StringLiteral contentAttribute =
    "sparse_autograd.content";

/// Marks branches and loops in `root` with a hash of what they hold. MLIR
/// hashes an op without its regions and compares those as a whole, so that a
/// nest under one condition would be compared with each part of every other.
static void markContents(Operation *root) {
  llvm::DenseMap<Operation *, llvm::hash_code> contents;
  SmallVector<Operation *> marked;
  root->walk<WalkOrder::PostOrder>([&](Operation *op) {
    llvm::hash_code hash = OperationEquivalence::computeHash(
        op, OperationEquivalence::ignoreHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
    if (op->getNumRegions() != 0) {
      hash = llvm::hash_combine(hash, contents.lookup(op));
      contents[op] = hash;
      if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()))
        marked.push_back(op);
    }
    if (Operation *parent = op->getParentOp(); parent && op != root) {
      auto [it, isNew] = contents.try_emplace(parent, hash);
      if (!isNew)
        it->second = llvm::hash_combine(it->second, hash);
    }
  });
  Builder builder(root->getContext());
  for (Operation *op : marked)
    op->setAttr(contentAttribute,
                builder.getI64IntegerAttr(size_t(contents.lookup(op))));
}

void sparse_autograd::mergeEqualOps(Operation *root) {
  markContents(root);
  IRRewriter rewriter(root->getContext());
  DominanceInfo dominance(root);
  eliminateCommonSubExpressions(rewriter, dominance, root);
  root->walk([](Operation *op) { op->removeAttr(contentAttribute); });
}
