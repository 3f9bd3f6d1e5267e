//===- TestSparse.cpp - print what is known of sparse values -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Analyses of patterns, supports and what is visited. Tests tag the ops that a
// line is about.
//
//===----------------------------------------------------------------------===//

#include "TestAnalyses.h"

#include "SparseAutograd/Analysis/SparseIteration.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Analysis/SupportAnalysis.h"

using namespace mlir;
using namespace sparse_autograd;
using namespace sparse_autograd::test;

/// A term as an expression of the arguments of the region, #0 and so on.
static void print(const Term *term, Block *body) {
  switch (term->kind) {
  case Term::Absent:
    llvm::outs() << "absent";
    return;
  case Term::Constant:
    term->constant.print(llvm::outs(), /*elideType=*/true);
    return;
  case Term::Leaf:
    if (auto argument = dyn_cast<BlockArgument>(term->value);
        argument && argument.getOwner() == body)
      llvm::outs() << "#" << argument.getArgNumber();
    else
      llvm::outs() << getName(term->value);
    return;
  case Term::Apply:
    llvm::outs() << term->value.getDefiningOp()->getName() << "(";
    llvm::interleaveComma(term->operands, llvm::outs(),
                          [&](const Term *operand) { print(operand, body); });
    llvm::outs() << ")";
    return;
  }
}

static void print(ArrayRef<const Term *> terms, Block *body) {
  llvm::interleaveComma(terms, llvm::outs(),
                        [&](const Term *term) { print(term, body); });
}

LogicalResult sparse_autograd::test::printScalarTerms(ModuleOp module) {
  forEachTagged(module, [](Operation *op, StringRef tag) {
    auto structured = cast<linalg::LinalgOp>(op);
    Block *body = structured.getBlock();
    ScalarTerms terms(structured);
    llvm::outs() << tag << ": ";
    print(terms.getYields(llvm::SmallBitVector(body->getNumArguments())), body);
    llvm::outs() << "\n";
    for (OpOperand &operand : op->getOpOperands()) {
      llvm::outs() << "  without #" << operand.getOperandNumber() << ": ";
      print(terms.getYieldsWithout(operand), body);
      llvm::outs() << "\n";
    }
  });
  return success();
}

LogicalResult sparse_autograd::test::printSparseIteration(ModuleOp module) {
  forEachTagged(module, [](Operation *op, StringRef tag) {
    auto structured = cast<linalg::LinalgOp>(op);
    ScalarTerms terms(structured);
    SparseIteration iteration = SparseIteration::of(structured, terms);
    llvm::outs() << tag << ":" << (iteration.visitsAll ? " all" : "");
    for (const StoredPart &part : iteration.parts) {
      llvm::outs() << " [stored";
      for (unsigned number : part.stored)
        llvm::outs() << " #" << number;
      if (!part.missing.empty())
        llvm::outs() << ", missing";
      for (unsigned number : part.missing)
        llvm::outs() << " #" << number;
      llvm::outs() << "]";
    }
    llvm::outs() << ", base ";
    print(iteration.base, structured.getBlock());
    llvm::outs() << "\n";
  });
  return success();
}

LogicalResult sparse_autograd::test::printSparsePatterns(ModuleOp module) {
  SparsePatterns patterns;
  forEachTagged(module, [&](Operation *op, StringRef tag) {
    for (Value result : op->getResults())
      if (isSparse(result.getType()))
        llvm::outs() << getName(result) << ": pattern of "
                     << getName(patterns.originOf(result)) << "\n";
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      if (OpOperand *source = patterns.getPatternSource(structured))
        llvm::outs() << tag << ": visits #" << source->getOperandNumber()
                     << "\n";
    if (auto masked = dyn_cast<MaskOpInterface>(op))
      llvm::outs() << tag << ": selects "
                   << (patterns.selectsStored(masked) ? "what is stored"
                                                      : "more")
                   << "\n";
    if (movesElements(op))
      llvm::outs() << tag << ": moves elements\n";
  });
  return success();
}

LogicalResult sparse_autograd::test::printSupports(ModuleOp module) {
  SupportAnalysis supports;
  forEachTagged(module, [&](Operation *op, StringRef) {
    for (Value result : op->getResults()) {
      if (!isa<TensorType>(result.getType()))
        continue;
      ValueSupport support = supports.of(result);
      llvm::outs() << getName(result) << ":"
                   << (support.isEverywhere  ? " everywhere"
                       : support.isNowhere() ? " nowhere"
                                             : "");
      for (const ElementSet &set : support.sets)
        llvm::outs() << " " << getName(set.source) << " by " << set.map;
      llvm::outs() << "\n";
    }
  });
  return success();
}
