//===- ScalarTerms.cpp - what a region computes of zeros ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ScalarTerms.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

ScalarTerms::ScalarTerms(linalg::LinalgOp op)
    : body(op.getBlock()), loc(op.getLoc()) {}
ScalarTerms::~ScalarTerms() = default;

//===----------------------------------------------------------------------===//
// Making terms
//===----------------------------------------------------------------------===//

const Term *ScalarTerms::intern(Term term) {
  Key key{
      term.kind,
      term.kind == Term::Constant ? term.constant.getAsOpaquePointer()
                                  : term.value.getAsOpaquePointer(),
      term.type.getAsOpaquePointer(),
      std::vector<const Term *>(term.operands.begin(), term.operands.end())};
  std::unique_ptr<Term> &place = terms[key];
  if (!place)
    place = std::make_unique<Term>(std::move(term));
  return place.get();
}

const Term *ScalarTerms::makeAbsent(Type type) {
  return intern({Term::Absent, type, {}, {}, {}});
}

const Term *ScalarTerms::makeConstant(TypedAttr value) {
  return intern({Term::Constant, value.getType(), value, {}, {}});
}

static bool isZeroConstant(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValue().isZero();
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getValue().isZero();
  return false;
}

/// Whether `term` is a constant that is `number`, of a float.
static bool isFloat(const Term *term, double number) {
  auto value = dyn_cast_or_null<FloatAttr>(term->constant);
  return term->kind == Term::Constant && value &&
         value.getValue().isExactlyValue(number);
}

static bool isInfinity(const Term *term, bool isNegative) {
  auto value = dyn_cast_or_null<FloatAttr>(term->constant);
  return term->kind == Term::Constant && value &&
         value.getValue().isInfinity() &&
         value.getValue().isNegative() == isNegative;
}

bool ScalarTerms::isZero(const Term *term) {
  return term->kind == Term::Absent ||
         (term->kind == Term::Constant && isZeroConstant(term->constant));
}

/// Functions of one number with f(0) = 0 that MLIR does not fold.
static bool keepsZero(Operation *op) {
  return isa<math::SinOp, math::TanOp, math::SinhOp, math::TanhOp, math::AsinOp,
             math::AsinhOp, math::AtanOp, math::AtanhOp, math::ErfOp,
             math::ExpM1Op, math::Log1pOp, math::SqrtOp, math::CbrtOp,
             math::AbsFOp, math::FloorOp, math::CeilOp, math::RoundOp,
             math::RoundEvenOp, math::TruncOp, arith::NegFOp, arith::ExtFOp,
             arith::TruncFOp>(op);
}

/// The term that the application is, if an absent element or a neutral one
/// makes it another; null if it stays.
const Term *ScalarTerms::simplify(OpResult result,
                                  ArrayRef<const Term *> operands) {
  Operation *op = result.getOwner();
  auto isAbsent = [&](unsigned index) {
    return operands[index]->kind == Term::Absent;
  };
  if (isa<arith::MulFOp, arith::MulIOp, arith::AndIOp>(op)) {
    if (isAbsent(0) || isAbsent(1))
      return makeAbsent(result.getType());
    if (isa<arith::MulFOp>(op))
      for (unsigned side : {0, 1})
        if (isFloat(operands[side], 1.0))
          return operands[1 - side];
    return nullptr;
  }
  if (isa<math::FmaOp>(op))
    return isAbsent(0) || isAbsent(1) ? operands[2] : nullptr;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(op))
    return isAbsent(0) ? makeAbsent(result.getType()) : nullptr;
  if (isa<arith::AddFOp, arith::AddIOp, arith::OrIOp, arith::XOrIOp>(op)) {
    if (isAbsent(0) && isAbsent(1))
      return makeAbsent(result.getType());
    // The zero of a constant may turn -0 into +0, which compare equal.
    for (unsigned side : {0, 1})
      if (isZero(operands[side]))
        return operands[1 - side];
    return nullptr;
  }
  if (isa<arith::SubFOp, arith::SubIOp>(op)) {
    if (isAbsent(0) && isAbsent(1))
      return makeAbsent(result.getType());
    return isZero(operands[1]) ? operands[0] : nullptr;
  }
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp,
          arith::MinNumFOp>(op)) {
    bool isMaximum = isa<arith::MaximumFOp, arith::MaxNumFOp>(op);
    if (operands[0] == operands[1])
      return operands[0];
    for (unsigned side : {0, 1})
      if (isInfinity(operands[side], isMaximum))
        return operands[1 - side];
    return nullptr;
  }
  if (isa<arith::SelectOp>(op)) {
    if (operands[1] == operands[2])
      return operands[2];
    // Zeros of which one is absent, or that an absent condition chooses, are
    // absent, however a canonicalization has turned the select: what is
    // multiplied by them is not computed.
    if (isZero(operands[2]) && (isAbsent(0) || isZero(operands[1])))
      return isAbsent(0) || isAbsent(1) ? makeAbsent(result.getType())
                                        : operands[2];
    return isAbsent(0) ? operands[2] : nullptr;
  }
  if (keepsZero(op) && isAbsent(0))
    return makeAbsent(result.getType());
  return nullptr;
}

const Term *ScalarTerms::makeApply(OpResult result,
                                   SmallVector<const Term *> operands) {
  if (const Term *simple = simplify(result, operands))
    return simple;
  Operation *op = result.getOwner();
  auto isAbsent = [](const Term *term) { return term->kind == Term::Absent; };
  auto isConstant = [&](const Term *term) {
    return isAbsent(term) || term->kind == Term::Constant;
  };
  if (op->getNumRegions() == 0 && op->getNumOperands() != 0 &&
      llvm::all_of(operands, isConstant)) {
    // MLIR folds constants; fold may update an op in place, which is not ours
    // to change, so it is asked of attributes alone.
    SmallVector<Attribute> values;
    Builder builder(op->getContext());
    for (const Term *operand : operands)
      values.push_back(operand->kind == Term::Constant
                           ? Attribute(operand->constant)
                           : Attribute(builder.getZeroAttr(operand->type)));
    Operation *copy = op->clone();
    SmallVector<OpFoldResult> folded;
    const Term *term = nullptr;
    if (succeeded(copy->fold(values, folded)) && !folded.empty())
      if (auto value = dyn_cast_or_null<TypedAttr>(
              dyn_cast<Attribute>(folded[result.getResultNumber()])))
        term = isZeroConstant(value) && llvm::any_of(operands, isAbsent)
                   ? makeAbsent(value.getType())
                   : makeConstant(value);
    copy->destroy();
    if (term)
      return term;
  }
  return intern(
      {Term::Apply, result.getType(), {}, result, std::move(operands)});
}

/// What an application depends on: operands, and values from outside that the
/// op's regions read.
static SmallVector<Value> getInputs(Operation *op) {
  SmallVector<Value> inputs(op->getOperands());
  llvm::append_range(inputs, getCapturedValues(op->getRegions()));
  return inputs;
}

const Term *ScalarTerms::getTerm(Value value, Memo &memo) {
  if (const Term *known = memo.lookup(value))
    return known;
  const Term *term;
  TypedAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    term = makeConstant(constant);
  } else if (value.getParentBlock() != body) {
    term = intern({Term::Leaf, value.getType(), {}, value, {}});
  } else {
    auto result = cast<OpResult>(value);
    SmallVector<const Term *> operands;
    for (Value input : getInputs(result.getOwner()))
      operands.push_back(getTerm(input, memo));
    term = makeApply(result, std::move(operands));
  }
  memo[value] = term;
  return term;
}

SmallVector<const Term *>
ScalarTerms::getYields(const llvm::SmallBitVector &absent,
                       const llvm::SmallBitVector &zero) {
  Memo memo;
  Builder builder(loc.getContext());
  for (BlockArgument argument : body->getArguments()) {
    unsigned number = argument.getArgNumber();
    Type type = argument.getType();
    memo[argument] = absent.test(number) ? makeAbsent(type)
                     : !zero.empty() && zero.test(number)
                         ? makeConstant(builder.getZeroAttr(type))
                         : intern({Term::Leaf, type, {}, argument, {}});
  }
  SmallVector<const Term *> yields;
  for (Value value : body->getTerminator()->getOperands())
    yields.push_back(getTerm(value, memo));
  return yields;
}

SmallVector<const Term *> ScalarTerms::getYieldsWithout(OpOperand &operand) {
  llvm::SmallBitVector absent(body->getNumArguments());
  absent.set(operand.getOperandNumber());
  return getYields(absent);
}

//===----------------------------------------------------------------------===//
// Asking terms
//===----------------------------------------------------------------------===//

bool ScalarTerms::isArgument(const Term *term, unsigned number) const {
  return term->kind == Term::Leaf && term->value == body->getArgument(number);
}

/// Whether `holds` of a term that `roots` consist of.
static bool anyTerm(ArrayRef<const Term *> roots,
                    llvm::function_ref<bool(const Term *)> holds) {
  llvm::SmallPtrSet<const Term *, 16> seen;
  SmallVector<const Term *> pending(roots);
  while (!pending.empty()) {
    const Term *term = pending.pop_back_val();
    if (!seen.insert(term).second)
      continue;
    if (holds(term))
      return true;
    llvm::append_range(pending, term->operands);
  }
  return false;
}

bool ScalarTerms::reads(ArrayRef<const Term *> roots, unsigned number) const {
  return anyTerm(roots,
                 [&](const Term *term) { return isArgument(term, number); });
}

bool ScalarTerms::isElementwise(ArrayRef<const Term *> roots) {
  return !anyTerm(roots, [](const Term *term) {
    if (!isa<IntegerType, FloatType>(term->type))
      return true;
    if (term->kind != Term::Apply)
      return false;
    Operation *op = cast<OpResult>(term->value).getOwner();
    return op->getNumRegions() != 0 || !isPure(op) ||
           !isa<arith::ArithDialect>(op->getDialect()) ||
           !OpTrait::hasElementwiseMappableTraits(op);
  });
}

unsigned ScalarTerms::getWidestBits(ArrayRef<const Term *> roots) {
  unsigned widest = 0;
  anyTerm(roots, [&](const Term *term) {
    widest = std::max(widest, term->type.getIntOrFloatBitWidth());
    return false;
  });
  return widest;
}

namespace {
/// Builds terms at one place.
struct TermBuilder {
  OpBuilder &builder;
  Block *body;
  ArrayRef<Value> arguments;
  ArrayRef<Value> indices;
  Location loc;
  /// Of the vectors among the arguments.
  int64_t lanes = 0;
  function_ref<void(Operation *)> inspect = {};
  llvm::DenseMap<const Term *, Value> built{};

  Value build(const Term *term) {
    if (Value known = built.lookup(term))
      return known;
    Value value = make(term);
    built[term] = value;
    return value;
  }

  Value make(const Term *term) {
    switch (term->kind) {
    case Term::Absent:
      return arith::ConstantOp::create(builder, loc,
                                       builder.getZeroAttr(term->type));
    case Term::Constant:
      return arith::ConstantOp::create(builder, loc, term->constant);
    case Term::Leaf:
      if (auto argument = dyn_cast<BlockArgument>(term->value);
          argument && argument.getOwner() == body)
        return arguments[argument.getArgNumber()];
      return term->value;
    case Term::Apply:
      break;
    }
    auto result = cast<OpResult>(term->value);
    Operation *op = result.getOwner();
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      return indices[index.getDim()];
    SmallVector<Value> operands;
    for (const Term *operand : term->operands)
      operands.push_back(build(operand));
    if (llvm::any_of(operands, isVector))
      return makeVector(op, operands);
    IRMapping mapping;
    for (auto [input, operand] : llvm::zip_equal(getInputs(op), operands))
      mapping.map(input, operand);
    Operation *clone = builder.clone(*op, mapping);
    if (inspect)
      clone->walk(inspect);
    return clone->getResult(result.getResultNumber());
  }

  static bool isVector(Value value) { return isa<VectorType>(value.getType()); }

  /// The elementwise op `op`, which has one result, on vectors.
  Value makeVector(Operation *op, MutableArrayRef<Value> operands) {
    for (Value &operand : operands)
      if (!isVector(operand))
        operand = vector::BroadcastOp::create(
            builder, loc, VectorType::get(lanes, operand.getType()), operand);
    return builder
        .create(op->getLoc(), op->getName().getIdentifier(), operands,
                VectorType::get(lanes, op->getResult(0).getType()),
                op->getAttrs())
        ->getResult(0);
  }
};
} // namespace

SmallVector<Value>
ScalarTerms::build(OpBuilder &builder, ArrayRef<const Term *> toBuild,
                   ArrayRef<Value> arguments, ArrayRef<Value> indices,
                   function_ref<void(Operation *)> inspect) const {
  TermBuilder termBuilder{builder, body, arguments, indices, loc, 0, inspect};
  return llvm::map_to_vector(
      toBuild, [&](const Term *term) { return termBuilder.build(term); });
}

SmallVector<Value> ScalarTerms::buildVectors(OpBuilder &builder,
                                             ArrayRef<const Term *> toBuild,
                                             ArrayRef<Value> arguments,
                                             int64_t lanes) const {
  TermBuilder termBuilder{builder, body, arguments, {}, loc, lanes};
  return llvm::map_to_vector(
      toBuild, [&](const Term *term) { return termBuilder.build(term); });
}
