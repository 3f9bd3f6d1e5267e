//===- ArithRules.cpp - derivative rules of arith -------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of arith on floats. What arith.bitcast does to the bits of a float
// has no derivative; the scaling casts are extf and truncf with a product.
//
//===----------------------------------------------------------------------===//

#include "ExtremumFormulas.h"
#include "Refused.h"
#include "RuleFlags.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Differentiate/ScalarRule.h"
#include "WithoutTangent.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace sparse_autograd;

static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

static const auto &arithRules() {
  static const auto rules = scalarRules(
      rule<arith::AddFOp>([](auto, auto, auto) { return partials(1, 1); })
          .linear()
          .checkedOn({-2, 2}, {-2, 2}),
      rule<arith::SubFOp>([](auto, auto, auto) { return partials(1, -1); })
          .linear()
          .checkedOn({-2, 2}, {-2, 2}),
      rule<arith::MulFOp>([](auto a, auto b, auto) { return partials(b, a); })
          .linear()
          .checkedOn({-2, 2}, {-2, 2}),
      rule<arith::DivFOp>(
          [](auto, auto b, auto y) { return partials(1 / b, -(y / b)); })
          .linear()
          .checkedOn({-2, 2}, {0.5, 2})
          .checkedOn({-2, 2}, {-2, -0.5}),
      rule<arith::NegFOp>([](auto, auto) { return -1; })
          .linear()
          .checkedOn({-2, 2}),
      // a - y is the multiple of b that was taken away.
      rule<arith::RemFOp>([](auto a, auto b, auto y) {
        return partials(1, -round((a - y) / b));
      })
          .checkedOn({4.2, 4.8}, {1.9, 2.05})
          .checkedOn({-4.8, -4.2}, {1.9, 2.05})
          .kink("at a multiple of b: as beyond it", {4, 2}, {1, -2}),
      rule<arith::MaximumFOp>([](auto a, auto b, auto y) {
        return partials(shareOfExtremum(a, b, y, 1),
                        shareOfExtremum(b, a, y, 1));
      })
          .checkedOn({-2, 0}, {0.1, 2})
          .checkedOn({0.1, 2}, {-2, 0})
          .kink("ties share equally", {1.5, 1.5}, {0.5, 0.5})
          .kink("a NaN is the maximum", {notANumber, 1}, {1, 0}),
      rule<arith::MinimumFOp>([](auto a, auto b, auto y) {
        return partials(shareOfExtremum(a, b, y, 1),
                        shareOfExtremum(b, a, y, 1));
      })
          .checkedOn({-2, 0}, {0.1, 2})
          .checkedOn({0.1, 2}, {-2, 0})
          .kink("ties share equally", {1.5, 1.5}, {0.5, 0.5})
          .kink("a NaN is the minimum", {1, notANumber}, {0, 1}),
      rule<arith::MaxNumFOp>([](auto a, auto b, auto y) {
        return partials(shareOfNumber(a, b, y), shareOfNumber(b, a, y));
      })
          .checkedOn({-2, 0}, {0.1, 2})
          .checkedOn({0.1, 2}, {-2, 0})
          .kink("ties share equally", {1.5, 1.5}, {0.5, 0.5})
          .kink("a number is preferred to a NaN", {notANumber, 1}, {0, 1})
          .kink("two NaNs share equally", {notANumber, notANumber}, {0.5, 0.5}),
      rule<arith::MinNumFOp>([](auto a, auto b, auto y) {
        return partials(shareOfNumber(a, b, y), shareOfNumber(b, a, y));
      })
          .checkedOn({-2, 0}, {0.1, 2})
          .checkedOn({0.1, 2}, {-2, 0})
          .kink("ties share equally", {1.5, 1.5}, {0.5, 0.5})
          .kink("a number is preferred to a NaN", {1, notANumber}, {1, 0})
          .kink("two NaNs share equally", {notANumber, notANumber},
                {0.5, 0.5}));
  return rules;
}

SmallVector<const ScalarRule *> sparse_autograd::listArithScalarRules() {
  return arithRules().list();
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

namespace {
/// Selects among the tangents; the cotangent of a branch has the support of
/// what the branch is selected for, so that the adjoint of the other branch
/// never reaches a gradient (semantics G2).
struct SelectModel
    : LinearizableOpInterface::ExternalModel<SelectModel, arith::SelectOp> {
  LogicalResult linearize(Operation *op, Linearizer &linearizer) const {
    auto select = cast<arith::SelectOp>(op);
    Value whenTrue = select.getTrueValue(), whenFalse = select.getFalseValue();
    if (!linearizer.tangent(whenTrue) && !linearizer.tangent(whenFalse))
      return success();
    Location loc = op->getLoc();
    Value trueTangent = tangentOrZero(linearizer, whenTrue, loc);
    Value falseTangent = tangentOrZero(linearizer, whenFalse, loc);
    linearizer.setTangent(select.getResult(),
                          arith::SelectOp::create(linearizer.builder, loc,
                                                  select.getCondition(),
                                                  trueTangent, falseTangent));
    return success();
  }

  LogicalResult transpose(Operation *op, Transposer &transposer) const {
    auto select = cast<arith::SelectOp>(op);
    Value cotangent = transposer.unroundedCotangent(select.getResult());
    if (!cotangent)
      return success();
    OpBuilder &builder = transposer.builder;
    Location loc = op->getLoc();
    Support incoming = transposer.support(select.getResult());
    Value condition = transposer.primal(select.getCondition());
    auto accumulate = [&](Value branch, Value selects) {
      transposer.accumulate(branch, cotangent,
                            intersectSupports(builder, loc, cotangent, incoming,
                                              Support::of(selects, cotangent)));
    };
    if (transposer.isLinear(select.getTrueValue()))
      accumulate(select.getTrueValue(), condition);
    if (transposer.isLinear(select.getFalseValue())) {
      Value all = createIntegerLike(builder, loc, 1, condition);
      accumulate(select.getFalseValue(),
                 arith::XOrIOp::create(builder, loc, condition, all));
    }
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Conversion between float types
//===----------------------------------------------------------------------===//

/// Converts `value` by `Op` to `type`, with the flags of the derivative of
/// `op`.
template <typename Op>
static Value convertFloat(OpBuilder &builder, Operation *op, Value value,
                          Type type) {
  arith::FastMathFlags flags = getDerivativeFlags(op);
  auto result = Op::create(builder, op->getLoc(), type, value);
  if (flags != arith::FastMathFlags::none)
    result.setFastmathAttr(
        arith::FastMathFlagsAttr::get(builder.getContext(), flags));
  return result;
}

namespace {
/// Converts the tangent like the value, and the cotangent back.
template <typename Op, typename OppositeOp>
struct FloatConversionModel : LinearizableOpInterface::ExternalModel<
                                  FloatConversionModel<Op, OppositeOp>, Op> {
  LogicalResult linearize(Operation *op, Linearizer &linearizer) const {
    auto conversion = cast<Op>(op);
    if (Value tangent = linearizer.tangent(conversion.getIn()))
      linearizer.setTangent(conversion.getOut(),
                            convertFloat<Op>(linearizer.builder, op, tangent,
                                             conversion.getOut().getType()));
    return success();
  }

  /// The cotangent of what is extended is rounded once all terms of it are
  /// added, not here (semantics G11). That of a tensor that is rounded is one
  /// of the narrow type, as tensors in memory are.
  LogicalResult transpose(Operation *op, Transposer &transposer) const {
    auto conversion = cast<Op>(op);
    Value in = conversion.getIn(), out = conversion.getOut();
    Value cotangent = isa<RankedTensorType>(out.getType())
                          ? transposer.cotangent(out)
                          : transposer.unroundedCotangent(out);
    if (!cotangent)
      return success();
    Type elementType = getAccumulationType(getElementTypeOrSelf(in.getType()));
    if (getElementTypeOrSelf(cotangent.getType()) != elementType) {
      Type type = elementType;
      if (auto tensor = dyn_cast<RankedTensorType>(in.getType()))
        type = tensor.clone(elementType);
      cotangent =
          convertFloat<OppositeOp>(transposer.builder, op, cotangent, type);
    }
    transposer.accumulate(in, cotangent, transposer.support(out));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void sparse_autograd::registerArithDerivativeRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachScalarRules<arithRules>(*context);
    arith::SelectOp::attachInterface<SelectModel>(*context);
    arith::ExtFOp::attachInterface<
        FloatConversionModel<arith::ExtFOp, arith::TruncFOp>>(*context);
    arith::TruncFOp::attachInterface<
        FloatConversionModel<arith::TruncFOp, arith::ExtFOp>>(*context);
    attachRefused<arith::BitcastOp, arith::ScalingExtFOp,
                  arith::ScalingTruncFOp>(*context);
    attachWithoutTangent<arith::ConstantOp, arith::SIToFPOp, arith::UIToFPOp,
                         arith::FPToSIOp, arith::FPToUIOp, arith::CmpFOp>(
        *context);
  });
}
