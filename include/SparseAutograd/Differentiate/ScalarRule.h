//===- ScalarRule.h - derivatives of scalar ops as formulas -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scalar op is differentiated by one record that states its partial
// derivatives as formulas in its operands and results:
//
//   rule<math::TanhOp>([](auto x, auto y) { return 1 - y * y; })
//       .checkedOn({-3, 3})
//
// The tangent, the transpose of a linear op, the documentation and the numeric
// test of the rule follow from the record. A program that brings scalar ops of
// its own states them the same way and attaches them to its dialect:
//
//   static const auto &myRules() {
//     static const auto rules = scalarRules(
//         rule<my::SquareOp>([](auto x, auto y) { return 2 * x; })
//             .checkedOn({-2, 2}));
//     return rules;
//   }
//   registry.addExtension(+[](MLIRContext *context, my::MyDialect *) {
//     attachScalarRules<myRules>(*context);
//   });
//
// Ops that are elementwise on tensors need nothing more: a formula is built on
// the type of the op, a tensor of floats as well as a float.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIFFERENTIATE_SCALARRULE_H
#define SPARSEAUTOGRAD_DIFFERENTIATE_SCALARRULE_H

#include "SparseAutograd/Differentiate/ScalarFormula.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"

#include <array>
#include <tuple>

namespace sparse_autograd {

/// A point where an op is not smooth, and the partials that the rule takes
/// there; NaN among them stands for "a NaN".
struct Kink {
  /// What is chosen, for a reader: "ties share equally".
  std::string name;
  /// One value an operand.
  llvm::SmallVector<double> at;
  /// As in ScalarRule::partials.
  llvm::SmallVector<double> partials;
};

/// A closed interval for each operand, on which the op is smooth.
using Box = llvm::SmallVector<std::pair<double, double>>;

/// The derivative of one op.
struct ScalarRule {
  std::string opName;
  unsigned numOperands = 0;
  unsigned numResults = 0;
  /// The derivative of result r by operand o stands at r * numOperands + o.
  llvm::SmallVector<FloatFormula> partials;
  /// Whether each operand is a float; the others have no derivative.
  llvm::SmallVector<bool> differentiable;
  /// Whether the op is linear in the operands that its partials by those
  /// operands do not mention: tangents are made of such ops.
  bool isLinear = false;
  /// Where the numeric test compares the partials with differences.
  llvm::SmallVector<Box> boxes;
  llvm::SmallVector<Kink> kinks;

  /// The names of operands and results in the text of the formulas: x for a
  /// single operand, else a, b, c; y for a single result, else y0, y1.
  std::string leafName(unsigned leaf) const;

  const FloatFormula &partial(unsigned result, unsigned operand) const {
    return partials[result * numOperands + operand];
  }
};

/// Builds the tangents of `op` by its record. Partials of operands without
/// tangent are not built; a partial that is 0, 1, -1 or 1 / d makes no
/// multiplication.
llvm::LogicalResult linearizeByRule(const ScalarRule &rule, mlir::Operation *op,
                                    Linearizer &linearizer);

/// Adds the cotangents of the linear operands of `op` by its record. Emits a
/// diagnostic if the record does not say that the op is linear in them.
llvm::LogicalResult transposeByRule(const ScalarRule &rule, mlir::Operation *op,
                                    Transposer &transposer);

//===----------------------------------------------------------------------===//
// Writing records
//===----------------------------------------------------------------------===//

/// What an operand is in a formula. Specialise it for operands that are no
/// floats: `using type = IntegerFormula`.
template <typename Op, unsigned operand>
struct OperandFormula {
  using type = FloatFormula;
};
template <>
struct OperandFormula<mlir::math::FPowIOp, 1> {
  using type = IntegerFormula;
};

namespace detail {

template <typename Op>
constexpr unsigned countOperands() {
  if constexpr (Op::template hasTrait<mlir::OpTrait::OneOperand>())
    return 1;
  else if constexpr (Op::template hasTrait<mlir::OpTrait::NOperands<2>::Impl>())
    return 2;
  else if constexpr (Op::template hasTrait<mlir::OpTrait::NOperands<3>::Impl>())
    return 3;
  else
    return 0;
}

template <typename Op>
constexpr unsigned countResults() {
  if constexpr (Op::template hasTrait<mlir::OpTrait::OneResult>())
    return 1;
  else if constexpr (Op::template hasTrait<mlir::OpTrait::NResults<2>::Impl>())
    return 2;
  else
    return 0;
}

template <typename Op, typename Function, typename Operands, typename Results>
struct Invocation;
template <typename Op, typename Function, std::size_t... operand,
          std::size_t... result>
struct Invocation<Op, Function, std::index_sequence<operand...>,
                  std::index_sequence<result...>> {
  template <std::size_t>
  using Result = FloatFormula;

  static constexpr bool fits =
      std::is_invocable_v<Function,
                          typename OperandFormula<Op, operand>::type...,
                          Result<result>...>;

  static auto call(Function function) {
    return function(OperandFormula<Op, operand>::type::leaf(operand)...,
                    Result<result>::leaf(sizeof...(operand) + result)...);
  }

  static llvm::SmallVector<bool> differentiable() {
    return {std::is_same_v<typename OperandFormula<Op, operand>::type,
                           FloatFormula>...};
  }
};

} // namespace detail

/// The partials of an op with more than one, results first, then operands.
template <typename... Formulas>
std::array<FloatFormula, sizeof...(Formulas)> partials(Formulas... formulas) {
  return {FloatFormula(formulas)...};
}

/// A record for ops of type `Op`.
template <typename Op>
struct ScalarRuleFor : ScalarRule {
  using OpType = Op;

  /// Compares the partials with differences on a box; repeatable.
  ScalarRuleFor &&checkedOn(std::pair<double, double> x) && {
    static_assert(detail::countOperands<Op>() == 1, "one interval an operand");
    boxes.push_back({x});
    return std::move(*this);
  }
  ScalarRuleFor &&checkedOn(std::pair<double, double> a,
                            std::pair<double, double> b) && {
    static_assert(detail::countOperands<Op>() == 2, "one interval an operand");
    boxes.push_back({a, b});
    return std::move(*this);
  }
  ScalarRuleFor &&checkedOn(std::pair<double, double> a,
                            std::pair<double, double> b,
                            std::pair<double, double> c) && {
    static_assert(detail::countOperands<Op>() == 3, "one interval an operand");
    boxes.push_back({a, b, c});
    return std::move(*this);
  }

  /// States the partials at a point where the op is not smooth; repeatable.
  ScalarRuleFor &&
  kink(llvm::StringRef name, const double (&at)[detail::countOperands<Op>()],
       const double (&expected)[detail::countOperands<Op>() *
                                detail::countResults<Op>()]) && {
    kinks.push_back({name.str(),
                     {std::begin(at), std::end(at)},
                     {std::begin(expected), std::end(expected)}});
    return std::move(*this);
  }

  /// Says that the op is linear in each set of operands that the partials by
  /// these operands do not mention, so that its transpose follows.
  ScalarRuleFor &&linear() && {
    isLinear = true;
    return std::move(*this);
  }
};

/// The record of `Op`: `function` takes the operands and then the results, and
/// returns the partial of a unary op, or `partials(...)`.
template <typename Op, typename Function>
ScalarRuleFor<Op> rule(Function function) {
  constexpr unsigned numOperands = detail::countOperands<Op>();
  constexpr unsigned numResults = detail::countResults<Op>();
  static_assert(numOperands != 0 && numResults != 0,
                "a rule is for ops of one to three operands and one or two "
                "results");
  using Invocation =
      detail::Invocation<Op, Function, std::make_index_sequence<numOperands>,
                         std::make_index_sequence<numResults>>;
  static_assert(Invocation::fits,
                "the formula of a rule takes the operands of the op and then "
                "its results");
  auto result = Invocation::call(function);
  using Result = decltype(result);
  ScalarRuleFor<Op> record;
  record.opName = Op::getOperationName().str();
  record.numOperands = numOperands;
  record.numResults = numResults;
  record.differentiable = Invocation::differentiable();
  if constexpr (std::is_convertible_v<Result, FloatFormula>) {
    static_assert(numOperands * numResults == 1,
                  "a rule states a partial of each result by each operand");
    record.partials.push_back(FloatFormula(result));
  } else {
    static_assert(std::tuple_size_v<Result> == numOperands * numResults,
                  "a rule states a partial of each result by each operand");
    record.partials.append(result.begin(), result.end());
  }
  return record;
}

/// A set of records, one an op.
template <typename... Ops>
struct ScalarRules {
  std::tuple<ScalarRuleFor<Ops>...> rules;

  llvm::SmallVector<const ScalarRule *> list() const {
    return std::apply(
        [](const auto &...rule) {
          return llvm::SmallVector<const ScalarRule *>{&rule...};
        },
        rules);
  }
};

template <typename... Ops>
ScalarRules<Ops...> scalarRules(ScalarRuleFor<Ops>... rules) {
  return {{std::move(rules)...}};
}

//===----------------------------------------------------------------------===//
// Attaching records
//===----------------------------------------------------------------------===//

/// Implements LinearizableOpInterface for `Op` by its record in the set that
/// `getRules()` refers to.
template <typename Op, auto getRules>
struct ScalarRuleModel
    : LinearizableOpInterface::ExternalModel<ScalarRuleModel<Op, getRules>,
                                             Op> {
  static const ScalarRule &rule() {
    return std::get<ScalarRuleFor<Op>>(getRules().rules);
  }
  llvm::LogicalResult linearize(mlir::Operation *op,
                                Linearizer &linearizer) const {
    return linearizeByRule(rule(), op, linearizer);
  }
  llvm::LogicalResult transpose(mlir::Operation *op,
                                Transposer &transposer) const {
    return transposeByRule(rule(), op, transposer);
  }
  bool isElementwise(mlir::Operation *) const { return true; }
};

namespace detail {
template <auto getRules, typename... Ops>
void attachScalarRules(mlir::MLIRContext &context,
                       const ScalarRules<Ops...> &) {
  (Ops::template attachInterface<ScalarRuleModel<Ops, getRules>>(context), ...);
}
} // namespace detail

/// Attaches the records of the set that the function `getRules` returns to
/// their ops, whose dialects are loaded.
template <auto getRules>
void attachScalarRules(mlir::MLIRContext &context) {
  detail::attachScalarRules<getRules>(context, getRules());
}

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIFFERENTIATE_SCALARRULE_H
