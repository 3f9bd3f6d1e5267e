//===- ScalarFormula.cpp - formulas that become ops -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Differentiate/ScalarFormula.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace sparse_autograd;
using sparse_autograd::detail::buildComparison;
using sparse_autograd::detail::buildFloatOp;
using sparse_autograd::detail::Call;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

bool FormulaNode::mentions(llvm::function_ref<bool(unsigned)> predicate) const {
  if (kind == Kind::Leaf)
    return predicate(leaf);
  return llvm::any_of(arguments, [&](const auto &argument) {
    return argument->mentions(predicate);
  });
}

std::string
FormulaNode::text(llvm::function_ref<std::string(unsigned)> leafName) const {
  std::string result;
  llvm::raw_string_ostream stream(result);
  // In parentheses where an argument binds more loosely than its place asks.
  auto print = [&](const FormulaNode &argument, bool parenthesize) {
    stream << (parenthesize ? "(" : "") << argument.text(leafName)
           << (parenthesize ? ")" : "");
  };
  if (kind == Kind::Leaf) {
    stream << leafName(leaf);
  } else if (kind == Kind::Constant) {
    if (symbol.empty())
      stream << llvm::format("%g", constant);
    else
      stream << symbol;
  } else if (kind == Kind::Negate) {
    stream << "-";
    print(*arguments[0], arguments[0]->precedence < Precedence::Negate);
  } else if (size_t place = symbol.find('$'); place != std::string::npos) {
    stream << StringRef(symbol).take_front(place);
    print(*arguments[0], arguments[0]->precedence < precedence);
    stream << StringRef(symbol).drop_front(place + 1);
  } else if (precedence == Precedence::Atom) {
    stream << symbol << "(";
    llvm::interleaveComma(arguments, stream, [&](const auto &argument) {
      print(*argument, false);
    });
    stream << ")";
  } else {
    print(*arguments[0], arguments[0]->precedence < precedence);
    stream << " " << symbol << " ";
    print(*arguments[1], arguments[1]->precedence <= precedence);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Arithmetic and functions
//===----------------------------------------------------------------------===//

FloatFormula sparse_autograd::operator-(const FloatFormula &a) {
  return FloatFormula(Call::node(FormulaNode::Kind::Negate, "-",
                                 Precedence::Negate,
                                 buildFloatOp<arith::NegFOp, 1>, a));
}

template <typename Op>
static FloatFormula infix(StringRef symbol, Precedence precedence,
                          const FloatFormula &a, const FloatFormula &b,
                          FormulaNode::Kind kind = FormulaNode::Kind::Other) {
  return FloatFormula(
      Call::node(kind, symbol, precedence, buildFloatOp<Op, 2>, a, b));
}

FloatFormula sparse_autograd::operator+(const FloatFormula &a,
                                        const FloatFormula &b) {
  return infix<arith::AddFOp>("+", Precedence::Add, a, b);
}

FloatFormula sparse_autograd::operator-(const FloatFormula &a,
                                        const FloatFormula &b) {
  return infix<arith::SubFOp>("-", Precedence::Add, a, b);
}

FloatFormula sparse_autograd::operator*(const FloatFormula &a,
                                        const FloatFormula &b) {
  return infix<arith::MulFOp>("*", Precedence::Multiply, a, b);
}

FloatFormula sparse_autograd::operator/(const FloatFormula &a,
                                        const FloatFormula &b) {
  return infix<arith::DivFOp>("/", Precedence::Multiply, a, b,
                              FormulaNode::Kind::Divide);
}

FloatFormula sparse_autograd::abs(const FloatFormula &x) {
  return callFloatOp<math::AbsFOp>("abs", x);
}
FloatFormula sparse_autograd::copysign(const FloatFormula &magnitude,
                                       const FloatFormula &sign) {
  return callFloatOp<math::CopySignOp>("copysign", magnitude, sign);
}
FloatFormula sparse_autograd::cos(const FloatFormula &x) {
  return callFloatOp<math::CosOp>("cos", x);
}
FloatFormula sparse_autograd::cosh(const FloatFormula &x) {
  return callFloatOp<math::CoshOp>("cosh", x);
}
FloatFormula sparse_autograd::exp(const FloatFormula &x) {
  return callFloatOp<math::ExpOp>("exp", x);
}
FloatFormula sparse_autograd::log(const FloatFormula &x) {
  return callFloatOp<math::LogOp>("log", x);
}
FloatFormula sparse_autograd::maximum(const FloatFormula &a,
                                      const FloatFormula &b) {
  return callFloatOp<arith::MaximumFOp>("max", a, b);
}
FloatFormula sparse_autograd::minimum(const FloatFormula &a,
                                      const FloatFormula &b) {
  return callFloatOp<arith::MinimumFOp>("min", a, b);
}
FloatFormula sparse_autograd::pow(const FloatFormula &base,
                                  const FloatFormula &exponent) {
  return callFloatOp<math::PowFOp>("pow", base, exponent);
}
FloatFormula sparse_autograd::round(const FloatFormula &x) {
  return callFloatOp<math::RoundOp>("round", x);
}
FloatFormula sparse_autograd::sin(const FloatFormula &x) {
  return callFloatOp<math::SinOp>("sin", x);
}
FloatFormula sparse_autograd::sinh(const FloatFormula &x) {
  return callFloatOp<math::SinhOp>("sinh", x);
}
FloatFormula sparse_autograd::sqrt(const FloatFormula &x) {
  return callFloatOp<math::SqrtOp>("sqrt", x);
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

template <arith::CmpFPredicate predicate>
static BoolFormula compare(StringRef symbol, const FloatFormula &a,
                           const FloatFormula &b) {
  return BoolFormula(Call::node(FormulaNode::Kind::Other, symbol,
                                Precedence::Compare, buildComparison<predicate>,
                                a, b));
}

BoolFormula sparse_autograd::operator==(const FloatFormula &a,
                                        const FloatFormula &b) {
  return compare<arith::CmpFPredicate::OEQ>("==", a, b);
}
BoolFormula sparse_autograd::operator<(const FloatFormula &a,
                                       const FloatFormula &b) {
  return compare<arith::CmpFPredicate::OLT>("<", a, b);
}
BoolFormula sparse_autograd::operator>(const FloatFormula &a,
                                       const FloatFormula &b) {
  return compare<arith::CmpFPredicate::OGT>(">", a, b);
}
BoolFormula sparse_autograd::operator>=(const FloatFormula &a,
                                        const FloatFormula &b) {
  return compare<arith::CmpFPredicate::OGE>(">=", a, b);
}
BoolFormula sparse_autograd::isNaN(const FloatFormula &x) {
  return BoolFormula(
      Call::function("isnan", buildComparison<arith::CmpFPredicate::UNO>, x));
}

BoolFormula sparse_autograd::operator&&(const BoolFormula &a,
                                        const BoolFormula &b) {
  auto build = [](OpBuilder &builder, Location loc, ValueRange arguments,
                  arith::FastMathFlags) -> Value {
    return arith::AndIOp::create(builder, loc, arguments[0], arguments[1]);
  };
  return BoolFormula(
      Call::node(FormulaNode::Kind::Other, "&&", Precedence::And, build, a, b));
}
BoolFormula sparse_autograd::operator||(const BoolFormula &a,
                                        const BoolFormula &b) {
  auto build = [](OpBuilder &builder, Location loc, ValueRange arguments,
                  arith::FastMathFlags) -> Value {
    return arith::OrIOp::create(builder, loc, arguments[0], arguments[1]);
  };
  return BoolFormula(
      Call::node(FormulaNode::Kind::Other, "||", Precedence::Or, build, a, b));
}

static Value buildSelect(OpBuilder &builder, Location loc, ValueRange arguments,
                         arith::FastMathFlags) {
  return arith::SelectOp::create(builder, loc, arguments[0], arguments[1],
                                 arguments[2]);
}

FloatFormula sparse_autograd::select(const BoolFormula &condition,
                                     const FloatFormula &whenTrue,
                                     const FloatFormula &whenFalse) {
  return FloatFormula(Call::node(FormulaNode::Kind::Select, "select",
                                 Precedence::Atom, buildSelect, condition,
                                 whenTrue, whenFalse));
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// `type` with its element type replaced.
static Type withElementType(Type type, Type elementType) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(elementType);
  return elementType;
}

BoolFormula sparse_autograd::isZero(const IntegerFormula &n) {
  auto build = [](OpBuilder &builder, Location loc, ValueRange arguments,
                  arith::FastMathFlags) -> Value {
    Value zero = createIntegerLike(builder, loc, 0, arguments[0]);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                 arguments[0], zero);
  };
  return BoolFormula(Call::node(FormulaNode::Kind::Other, "$ == 0",
                                Precedence::Compare, build, n));
}

IntegerFormula sparse_autograd::predecessor(const IntegerFormula &n) {
  auto build = [](OpBuilder &builder, Location loc, ValueRange arguments,
                  arith::FastMathFlags) -> Value {
    Value n = arguments[0];
    Type element = getElementTypeOrSelf(n.getType());
    unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    if (width < 32) {
      n = arith::ExtSIOp::create(
          builder, loc, withElementType(n.getType(), builder.getI32Type()), n);
      width = 32;
    }
    if (width >= 64 || element.isInteger(32)) {
      // One above the least integer: its predecessor exists.
      int64_t floor = width == 32 ? int64_t(INT32_MIN) + 1 : INT64_MIN + 1;
      n = arith::MaxSIOp::create(builder, loc, n,
                                 createIntegerLike(builder, loc, floor, n));
    }
    return arith::SubIOp::create(builder, loc, n,
                                 createIntegerLike(builder, loc, 1, n));
  };
  return IntegerFormula(
      Call::node(FormulaNode::Kind::Other, "$ - 1", Precedence::Add, build, n));
}

FloatFormula sparse_autograd::toFloat(const IntegerFormula &n,
                                      const FloatFormula &like) {
  auto build = [](OpBuilder &builder, Location loc, ValueRange arguments,
                  arith::FastMathFlags) -> Value {
    Value n = arguments[0];
    if (getElementTypeOrSelf(n.getType()).isIndex())
      n = arith::IndexCastOp::create(
          builder, loc, withElementType(n.getType(), builder.getI64Type()), n);
    return arith::SIToFPOp::create(builder, loc, arguments[1].getType(), n);
  };
  return FloatFormula(Call::function("$", build, n, like));
}

FloatFormula sparse_autograd::pow(const FloatFormula &base,
                                  const IntegerFormula &exponent) {
  auto build = [](OpBuilder &builder, Location loc, ValueRange arguments,
                  arith::FastMathFlags flags) -> Value {
    return math::FPowIOp::create(builder, loc, arguments[0], arguments[1],
                                 flags);
  };
  return FloatFormula(Call::function("pow", build, base, exponent));
}

//===----------------------------------------------------------------------===//
// Building ops
//===----------------------------------------------------------------------===//

static Value createConstantLike(OpBuilder &builder, Location loc,
                                TypedAttr constant, Value like) {
  auto type = dyn_cast<ShapedType>(like.getType());
  if (!type)
    return arith::ConstantOp::create(builder, loc, constant);
  if (type.hasStaticShape())
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, Attribute(constant)));
  Value scalar = arith::ConstantOp::create(builder, loc, constant);
  SmallVector<Value> extents;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(extent))
      extents.push_back(tensor::DimOp::create(builder, loc, like, dim));
  return tensor::SplatOp::create(builder, loc, scalar,
                                 cast<RankedTensorType>(type), extents);
}

Value sparse_autograd::createConstantLike(OpBuilder &builder, Location loc,
                                          double constant, Value like) {
  auto element = cast<FloatType>(getElementTypeOrSelf(like.getType()));
  return ::createConstantLike(builder, loc,
                              builder.getFloatAttr(element, constant), like);
}

Value sparse_autograd::createIntegerLike(OpBuilder &builder, Location loc,
                                         int64_t constant, Value like) {
  Type element = getElementTypeOrSelf(like.getType());
  return ::createConstantLike(builder, loc,
                              builder.getIntegerAttr(element, constant), like);
}

Value FormulaBuilder::build(const FormulaNode &node) {
  if (Value known = built.lookup(&node))
    return known;
  Value value;
  if (node.kind == FormulaNode::Kind::Constant) {
    value = createConstantLike(builder, loc, node.constant, like);
  } else if (node.kind == FormulaNode::Kind::Leaf) {
    value = leaf(node.leaf);
  } else {
    SmallVector<Value> arguments;
    for (const auto &argument : node.arguments)
      arguments.push_back(build(*argument));
    value = node.build(builder, loc, arguments, flags);
  }
  built[&node] = value;
  return value;
}

FormulaBuilder::Term FormulaBuilder::multiply(const FormulaNode &node,
                                              Value factor) {
  if (node.isConstant(0))
    return {};
  if (node.isConstant(1))
    return {factor};
  if (node.isConstant(-1))
    return {factor, true};
  if (node.kind == FormulaNode::Kind::Negate) {
    Term term = multiply(*node.arguments[0], factor);
    return {term.value, !term.negated};
  }
  if (node.kind == FormulaNode::Kind::Divide &&
      (node.arguments[0]->isConstant(1) || node.arguments[0]->isConstant(-1))) {
    Value quotient = arith::DivFOp::create(builder, loc, factor,
                                           build(*node.arguments[1]), flags);
    return {quotient, node.arguments[0]->isConstant(-1)};
  }
  if (node.kind == FormulaNode::Kind::Select &&
      (node.arguments[1]->isConstant(0) || node.arguments[2]->isConstant(0))) {
    Value condition = build(*node.arguments[0]);
    Value whenTrue = materialize(multiply(*node.arguments[1], factor));
    Value whenFalse = materialize(multiply(*node.arguments[2], factor));
    if (!whenTrue && !whenFalse)
      return {};
    Value zero =
        build(*node.arguments[node.arguments[1]->isConstant(0) ? 1 : 2]);
    return {arith::SelectOp::create(builder, loc, condition,
                                    whenTrue ? whenTrue : zero,
                                    whenFalse ? whenFalse : zero)};
  }
  return {arith::MulFOp::create(builder, loc, factor, build(node), flags)};
}

/// Whether `a` and `b` are the same product, built twice.
static bool areEqualProducts(Value a, Value b) {
  auto first = a.getDefiningOp<arith::MulFOp>();
  auto second = b.getDefiningOp<arith::MulFOp>();
  return first && second && first != second &&
         first->getOperands() == second->getOperands();
}

FormulaBuilder::Term FormulaBuilder::add(Term a, Term b) {
  if (!a.value)
    return b;
  if (!b.value)
    return a;
  // Of x * x: the adjoint of p + p doubles the cotangent, often that of a
  // whole sum, before it is multiplied by each of many x.
  if (areEqualProducts(a.value, b.value)) {
    b.value.getDefiningOp()->erase();
    b.value = a.value;
  }
  if (a.negated == b.negated)
    return {arith::AddFOp::create(builder, loc, a.value, b.value, flags),
            a.negated};
  if (a.negated)
    std::swap(a, b);
  return {arith::SubFOp::create(builder, loc, a.value, b.value, flags)};
}

Value FormulaBuilder::materialize(Term term) {
  if (!term.value || !term.negated)
    return term.value;
  return arith::NegFOp::create(builder, loc, term.value, flags);
}
