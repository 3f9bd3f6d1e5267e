//===- ScalarTerms.h - what a region computes of zeros ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The region of a structured op as terms, simplified for operands that store no
// element: an absent element is a zero that annihilates a product whatever the
// other factor is, a NaN included (semantics G1, G4). Equal terms are one, so
// that it can be asked whether an absent operand changes anything.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_SCALARTERMS_H
#define SPARSEAUTOGRAD_ANALYSIS_SCALARTERMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"
#include <map>
#include <memory>

namespace sparse_autograd {

/// A scalar as a function of the arguments of a region.
struct Term {
  enum Kind {
    Absent,   ///< the zero of an element that is not stored
    Constant, ///< any other constant
    Leaf,     ///< an argument of the region, or a value from outside of it
    Apply     ///< a result of an op
  };
  Kind kind;
  mlir::Type type;
  /// Of a constant.
  mlir::TypedAttr constant;
  /// Of a leaf: the value. Of an application: the result as the region has it.
  mlir::Value value;
  /// Of an application: terms for the operands, then for what the op's regions
  /// read from outside of it.
  llvm::SmallVector<const Term *> operands;
};

/// The terms of one structured op. Terms live as long as this object.
class ScalarTerms {
public:
  explicit ScalarTerms(mlir::linalg::LinalgOp op);
  ~ScalarTerms();

  /// What the region yields, one term a result, where the operands whose
  /// numbers are set in `absent` store no element, and those that are set in
  /// `zero` are the number zero, which makes a NaN of an infinity.
  llvm::SmallVector<const Term *>
  getYields(const llvm::SmallBitVector &absent,
            const llvm::SmallBitVector &zero = llvm::SmallBitVector());

  /// What it yields where this operand alone stores no element.
  llvm::SmallVector<const Term *> getYieldsWithout(mlir::OpOperand &operand);

  /// Whether `term` is argument `number` of the region.
  bool isArgument(const Term *term, unsigned number) const;

  /// Whether `term` is a zero: that of an absent element, or another constant.
  static bool isZero(const Term *term);

  /// Whether any of `roots` reads argument `number` of the region.
  bool reads(llvm::ArrayRef<const Term *> roots, unsigned number) const;

  /// Builds `toBuild` at `builder`, with `arguments` for those of the region
  /// and `indices`, one a loop, for what `linalg.index` gives. An argument that
  /// no term reads may be null. `inspect` is told of each op of the region that
  /// is built, and of the ops in it.
  llvm::SmallVector<mlir::Value>
  build(mlir::OpBuilder &builder, llvm::ArrayRef<const Term *> toBuild,
        llvm::ArrayRef<mlir::Value> arguments,
        llvm::ArrayRef<mlir::Value> indices,
        llvm::function_ref<void(mlir::Operation *)> inspect = {}) const;

  /// Builds `toBuild`, terms for which `isElementwise` holds, of `arguments`
  /// that are vectors of `lanes` elements or scalars. What depends on a vector
  /// is one.
  llvm::SmallVector<mlir::Value>
  buildVectors(mlir::OpBuilder &builder, llvm::ArrayRef<const Term *> toBuild,
               llvm::ArrayRef<mlir::Value> arguments, int64_t lanes) const;

  /// Whether vectors compute `roots` lane by lane: every op below them is an
  /// elementwise one on numbers that stops for no operand, as a division of
  /// integers does.
  static bool isElementwise(llvm::ArrayRef<const Term *> roots);

  /// The bits of the widest number among `roots` and what they depend on.
  static unsigned getWidestBits(llvm::ArrayRef<const Term *> roots);

private:
  using Memo = llvm::DenseMap<mlir::Value, const Term *>;
  const Term *getTerm(mlir::Value value, Memo &memo);
  const Term *makeApply(mlir::OpResult result,
                        llvm::SmallVector<const Term *> operands);
  const Term *makeConstant(mlir::TypedAttr value);
  const Term *makeAbsent(mlir::Type type);
  const Term *intern(Term term);
  const Term *simplify(mlir::OpResult result,
                       llvm::ArrayRef<const Term *> operands);

  mlir::Block *body;
  mlir::Location loc;
  using Key =
      std::tuple<int, const void *, const void *, std::vector<const Term *>>;
  std::map<Key, std::unique_ptr<Term>> terms;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_SCALARTERMS_H
