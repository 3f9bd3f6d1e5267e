//===- ScalarFormula.h - formulas that become ops ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expressions over the operands and results of an op. A formula is written
// once, as C++ (`1 - y * y`), and read twice: as ops of arith and math, and as
// text.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIFFERENTIATE_SCALARFORMULA_H
#define SPARSEAUTOGRAD_DIFFERENTIATE_SCALARFORMULA_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sparse_autograd {

/// Builds one op of a formula on values of one type, with the flags where the
/// op has flags.
using BuildFormulaOp = mlir::Value (*)(mlir::OpBuilder &builder,
                                       mlir::Location loc,
                                       mlir::ValueRange arguments,
                                       mlir::arith::FastMathFlags flags);

/// How tightly the text of a formula binds, loosest first.
enum class Precedence { Or, And, Compare, Add, Multiply, Negate, Atom };

/// A node of a formula. Nodes are immutable, and shared.
struct FormulaNode {
  enum class Kind { Constant, Leaf, Negate, Divide, Select, Other };

  Kind kind = Kind::Constant;
  double constant = 0;
  /// Of a leaf: its number, the operands of the op and then its results.
  unsigned leaf = 0;
  /// The name of a function or a constant, an infix operator, or a text in
  /// which `$` stands for the first argument.
  std::string symbol;
  /// Atom for what is not infix.
  Precedence precedence = Precedence::Atom;
  std::vector<std::shared_ptr<const FormulaNode>> arguments;
  BuildFormulaOp build = nullptr;

  bool isConstant(double value) const {
    return kind == Kind::Constant && constant == value;
  }

  /// Whether a leaf below this node satisfies `predicate`.
  bool mentions(llvm::function_ref<bool(unsigned leaf)> predicate) const;

  /// The formula as text, in the notation of C; `leafName` names the leaves.
  std::string
  text(llvm::function_ref<std::string(unsigned leaf)> leafName) const;
};

namespace detail {

/// What the three kinds of formulas share.
class Formula {
public:
  const FormulaNode &node() const { return *shared; }

protected:
  explicit Formula(FormulaNode node)
      : shared(std::make_shared<const FormulaNode>(std::move(node))) {}

  static FormulaNode leafNode(unsigned leaf) {
    FormulaNode node;
    node.kind = FormulaNode::Kind::Leaf;
    node.leaf = leaf;
    return node;
  }

private:
  friend struct Call;
  std::shared_ptr<const FormulaNode> shared;
};

} // namespace detail

/// A formula whose value is a float. Numbers convert to it.
class FloatFormula : public detail::Formula {
public:
  FloatFormula(double constant) : Formula(constantNode(constant, "")) {}
  explicit FloatFormula(FormulaNode node) : Formula(std::move(node)) {}

  /// A constant that the text of the formula names.
  static FloatFormula named(llvm::StringRef name, double constant) {
    return FloatFormula(constantNode(constant, name));
  }
  static FloatFormula leaf(unsigned leaf) {
    return FloatFormula(leafNode(leaf));
  }

private:
  static FormulaNode constantNode(double constant, llvm::StringRef name) {
    FormulaNode node;
    node.constant = constant;
    node.symbol = name.str();
    return node;
  }
};

/// A formula whose value is an i1.
class BoolFormula : public detail::Formula {
public:
  explicit BoolFormula(FormulaNode node) : Formula(std::move(node)) {}
};

/// A formula whose value is a signed integer or an index.
class IntegerFormula : public detail::Formula {
public:
  explicit IntegerFormula(FormulaNode node) : Formula(std::move(node)) {}
  static IntegerFormula leaf(unsigned leaf) {
    return IntegerFormula(leafNode(leaf));
  }
};

//===----------------------------------------------------------------------===//
// Building formulas
//===----------------------------------------------------------------------===//

namespace detail {

/// Makes the nodes of calls.
struct Call {
  template <typename... Formulas>
  static FormulaNode node(FormulaNode::Kind kind, llvm::StringRef symbol,
                          Precedence precedence, BuildFormulaOp build,
                          const Formulas &...arguments) {
    FormulaNode node;
    node.kind = kind;
    node.symbol = symbol.str();
    node.precedence = precedence;
    node.arguments = {arguments.shared...};
    node.build = build;
    return node;
  }

  template <typename... Formulas>
  static FormulaNode function(llvm::StringRef symbol, BuildFormulaOp build,
                              const Formulas &...arguments) {
    return node(FormulaNode::Kind::Other, symbol, Precedence::Atom, build,
                arguments...);
  }
};

template <typename Op, std::size_t... argument>
mlir::Value buildFloatOp(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::ValueRange arguments,
                         mlir::arith::FastMathFlags flags,
                         std::index_sequence<argument...>) {
  return Op::create(builder, loc, arguments[argument]..., flags);
}

/// Builds a float op whose result has the type of its operands.
template <typename Op, unsigned arity>
mlir::Value buildFloatOp(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::ValueRange arguments,
                         mlir::arith::FastMathFlags flags) {
  return buildFloatOp<Op>(builder, loc, arguments, flags,
                          std::make_index_sequence<arity>());
}

template <mlir::arith::CmpFPredicate predicate>
mlir::Value buildComparison(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::ValueRange arguments,
                            mlir::arith::FastMathFlags flags) {
  return mlir::arith::CmpFOp::create(builder, loc, predicate, arguments.front(),
                                     arguments.back(), flags);
}

} // namespace detail

/// The call of an op on floats that returns a float of their type, shown as
/// `name(arguments)`: how further functions are added to the language.
template <typename Op, typename... Formulas>
FloatFormula callFloatOp(llvm::StringRef name, const Formulas &...arguments) {
  return FloatFormula(detail::Call::function(
      name, detail::buildFloatOp<Op, sizeof...(Formulas)>, arguments...));
}

FloatFormula operator-(const FloatFormula &a);
FloatFormula operator+(const FloatFormula &a, const FloatFormula &b);
FloatFormula operator-(const FloatFormula &a, const FloatFormula &b);
FloatFormula operator*(const FloatFormula &a, const FloatFormula &b);
FloatFormula operator/(const FloatFormula &a, const FloatFormula &b);

FloatFormula abs(const FloatFormula &x);
FloatFormula copysign(const FloatFormula &magnitude, const FloatFormula &sign);
FloatFormula cos(const FloatFormula &x);
FloatFormula cosh(const FloatFormula &x);
FloatFormula exp(const FloatFormula &x);
FloatFormula log(const FloatFormula &x);
FloatFormula maximum(const FloatFormula &a, const FloatFormula &b);
FloatFormula minimum(const FloatFormula &a, const FloatFormula &b);
FloatFormula pow(const FloatFormula &base, const FloatFormula &exponent);
/// To the nearest integer, halfway cases away from zero.
FloatFormula round(const FloatFormula &x);
FloatFormula sin(const FloatFormula &x);
FloatFormula sinh(const FloatFormula &x);
FloatFormula sqrt(const FloatFormula &x);

/// Comparisons are false on NaN.
BoolFormula operator==(const FloatFormula &a, const FloatFormula &b);
BoolFormula operator<(const FloatFormula &a, const FloatFormula &b);
BoolFormula operator>(const FloatFormula &a, const FloatFormula &b);
BoolFormula operator>=(const FloatFormula &a, const FloatFormula &b);
BoolFormula isNaN(const FloatFormula &x);
BoolFormula operator&&(const BoolFormula &a, const BoolFormula &b);
BoolFormula operator||(const BoolFormula &a, const BoolFormula &b);

/// What is not selected reaches nothing: a partial that is a selection becomes
/// a selection of tangents, and a zero branch multiplies nothing.
FloatFormula select(const BoolFormula &condition, const FloatFormula &whenTrue,
                    const FloatFormula &whenFalse);

BoolFormula isZero(const IntegerFormula &n);
/// n - 1, of at least 32 bits so that narrow integers do not wrap; the least
/// integer of a wider type stays what it is.
IntegerFormula predecessor(const IntegerFormula &n);
/// `n` as a float of the type of `like`.
FloatFormula toFloat(const IntegerFormula &n, const FloatFormula &like);
FloatFormula pow(const FloatFormula &base, const IntegerFormula &exponent);

//===----------------------------------------------------------------------===//
// Building ops
//===----------------------------------------------------------------------===//

/// A constant of the type of `like`: a float, or a vector or ranked tensor of
/// floats, whose dynamic extents are read from `like`.
mlir::Value createConstantLike(mlir::OpBuilder &builder, mlir::Location loc,
                               double constant, mlir::Value like);
/// The same for integers.
mlir::Value createIntegerLike(mlir::OpBuilder &builder, mlir::Location loc,
                              int64_t constant, mlir::Value like);

/// Builds the ops of formulas over the operands and results of one op. What
/// two formulas share is built once.
class FormulaBuilder {
public:
  /// `leaf` gives the value of a leaf where it is first read. Float constants
  /// are of the type of `like`.
  FormulaBuilder(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::arith::FastMathFlags flags,
                 std::function<mlir::Value(unsigned)> leaf, mlir::Value like)
      : builder(builder), loc(loc), flags(flags), leaf(std::move(leaf)),
        like(like) {}

  mlir::Value build(const FormulaNode &node);

  /// A value times `negated ? -1 : 1`. Null stands for zero.
  struct Term {
    mlir::Value value;
    bool negated = false;
  };

  /// `factor` times the formula: without a multiplication where the formula is
  /// 0, 1, -1 or 1 / d, and selected where it is a selection from zero.
  Term multiply(const FormulaNode &node, mlir::Value factor);

  /// The sum of two terms.
  Term add(Term a, Term b);

  /// The value of a term; null for zero.
  mlir::Value materialize(Term term);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::arith::FastMathFlags flags;
  std::function<mlir::Value(unsigned)> leaf;
  mlir::Value like;
  llvm::DenseMap<const FormulaNode *, mlir::Value> built;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIFFERENTIATE_SCALARFORMULA_H
