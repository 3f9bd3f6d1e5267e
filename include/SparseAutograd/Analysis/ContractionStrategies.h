//===- ContractionStrategies.h - who computes a contraction -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ways of a target to compute a contraction as a whole: libraries and
// tiles. What none of them takes becomes loops. Fusion asks before it touches
// one, the conversions ask before they build one, and remarks give the answers.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_CONTRACTIONSTRATEGIES_H
#define SPARSEAUTOGRAD_ANALYSIS_CONTRACTIONSTRATEGIES_H

#include "SparseAutograd/Analysis/Contraction.h"

namespace sparse_autograd {

/// The extents that a tile is worth it for: below most of it would be outside
/// of the matrix.
inline constexpr int64_t leastTileExtent = 32;

/// A way to compute contractions as a whole.
struct ContractionStrategy {
  llvm::StringLiteral name;
  /// Why the strategy does not take a contraction with what is known at compile
  /// time; empty if it does. Extents that are not known may be any.
  std::string (*decline)(const Contraction &contraction);
};

/// A BLAS of the host: f32 and f64, as `sparseAutogradGemm*` has them.
extern const ContractionStrategy blasStrategy;
/// A library of the device: also f16 and bf16 with a result of f32.
extern const ContractionStrategy deviceLibraryStrategy;
/// Tiles of a device that tensor cores multiply: f16 and bf16, added in f32.
extern const ContractionStrategy tensorCoreStrategy;
/// Tiles of a device that sparse tensor cores multiply: f16 and bf16, added in
/// f32, where one factor stores two of each four terms. Before the expansion of
/// sparse tensors, which has no other tiles.
extern const ContractionStrategy structuredTensorCoreStrategy;
/// Tiles of a device whose terms are added one by one: f32 and f64.
extern const ContractionStrategy fmaStrategy;

/// The factor that stores two of each four elements along its last dimension,
/// if one does and the other operands are dense; else null.
mlir::OpOperand *getStructuredFactor(const Contraction &contraction);

/// The strategies of a target, the preferred one first.
llvm::ArrayRef<const ContractionStrategy *>
getContractionStrategies(bool forDevice);

/// The strategy that computes a contraction in tiles of a device; null if none
/// does. Why others do not is added to `declined`.
const ContractionStrategy *getTileStrategy(const Contraction &contraction,
                                           std::string &declined);

/// The category of remarks on contractions.
inline constexpr llvm::StringLiteral contractionRemarkCategory =
    "sparse-autograd-contractions";

/// What a contraction costs at least, whatever computes it: multiply-adds count
/// twice, and each operand is read or written once, a result both.
struct ContractionCost {
  double flops = 0, bytes = 0;
  /// Whether an extent is not known, and guessed (Estimates.h).
  bool isGuess = false;
};
ContractionCost estimateCost(const Contraction &contraction);

/// Says in a remark that a contraction is computed by `strategy`, or by loops
/// if that is null, with its extents, its cost and why others are not taken.
void remarkContraction(const Contraction &contraction,
                       const ContractionStrategy *strategy,
                       const llvm::Twine &declined);

/// The loop of the largest extent among those of one kind; extents that are not
/// known are large, and the last of equal ones is taken.
unsigned getLargestLoop(llvm::ArrayRef<unsigned> loops,
                        llvm::ArrayRef<int64_t> extents);

/// Whether `op` is a product with rows of its own on both sides (and not a dot
/// product or a matrix times a vector), that a library or tiles compute better
/// than loops: fusion leaves it whole.
bool isMatrixProduct(mlir::linalg::LinalgOp op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_CONTRACTIONSTRATEGIES_H
