//===- ScalarRulesTest.cpp - derivative rules against differences ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is tested is the code that a rule builds: it is evaluated with the C
// library in f64 and compared with differences of the op's own function in
// long double, at points of the record's boxes, and with what the record states
// at its kinks. No part of the differentiation engine is involved.
//
//===----------------------------------------------------------------------===//

#include "ScalarInterpreter.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Differentiate/ScalarRule.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// Records the tangents that rules set.
class RecordingLinearizer : public Linearizer {
public:
  explicit RecordingLinearizer(MLIRContext *context)
      : Linearizer(context, /*reverse=*/false) {}
  bool isActive(Value) const override { return true; }
  LogicalResult linearizeBlock(Block &) override { return failure(); }
  LogicalResult linearizeBlock(Block &, Block &) override { return failure(); }
  void noteClones(const IRMapping &) override {}
  Value originOf(Value value) const override { return value; }
};

/// Transposes the ops of one block in which the values that depend on `input`
/// are linear.
class BlockTransposer : public Transposer {
public:
  BlockTransposer(OpBuilder builder, Value input) : Transposer(builder) {
    linear.insert(input);
    for (Operation &op : *input.getParentBlock())
      if (llvm::any_of(op.getOperands(),
                       [&](Value value) { return linear.contains(value); }))
        linear.insert(op.result_begin(), op.result_end());
  }
  bool isLinear(Value value) const override { return linear.contains(value); }
  Value primal(Value value) const override { return value; }
  Value cotangent(Value value) override { return cotangents.lookup(value); }
  Support support(Value value) const override { return supports.lookup(value); }
  void accumulate(Value value, Value contribution, const Support &support,
                  bool isSelected) override {
    if (!isSelected)
      contribution =
          selectUnder(builder, value.getLoc(), contribution, support);
    Value &sum = cotangents[value];
    if (!sum)
      supports[value] = support;
    else
      supports[value] = {};
    sum =
        sum ? arith::AddFOp::create(builder, value.getLoc(), sum, contribution)
            : contribution;
  }
  // There are no loops around the op.
  void startFrom(Value, Value, const Support &) override { ADD_FAILURE(); }
  Value current(Value value) override { return cotangent(value); }
  Support currentSupport(Value value) const override { return support(value); }
  void replaceCurrent(Value value, Value cotangent,
                      const Support &support) override {
    cotangents[value] = cotangent;
    supports[value] = support;
  }
  Value shapeOf(Value value) override { return value; }
  std::unique_ptr<Transposer> createNested(OpBuilder, Block &, ValueRange,
                                           IRMapping) override {
    return nullptr;
  }
  LogicalResult run() override { return failure(); }

private:
  llvm::DenseSet<Value> linear;
  llvm::DenseMap<Value, Value> cotangents;
  llvm::DenseMap<Value, Support> supports;
};

/// One op of a record, its tangent and the transpose of the tangent, built in
/// the block of a module.
class Program {
public:
  /// Tangents for the operands that `active` lists.
  Program(MLIRContext &context, const ScalarRule &rule,
          ArrayRef<unsigned> active, Type type = {})
      : linearizer(&context) {
    OpBuilder &builder = linearizer.builder;
    Location loc = builder.getUnknownLoc();
    if (!type)
      type = builder.getF64Type();
    block = new Block;
    holder.push_back(block);
    builder.setInsertionPointToEnd(block);
    for (bool isFloat : rule.differentiable)
      operands.push_back(
          block->addArgument(isFloat ? type : Type(builder.getI32Type()), loc));
    for (unsigned number : active) {
      tangents.push_back(block->addArgument(type, loc));
      linearizer.setTangent(operands[number], tangents.back());
    }
    OperationState state(loc, rule.opName);
    state.addOperands(operands);
    state.addTypes(SmallVector<Type>(rule.numResults, type));
    op = builder.create(state);
    valid = succeeded(verify(op));
    auto model = dyn_cast<LinearizableOpInterface>(op);
    built = model && succeeded(model.linearize(linearizer));
  }
  /// The ops that the rule built.
  SmallVector<Operation *> tangentOps() const {
    SmallVector<Operation *> ops;
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
      ops.push_back(next);
    return ops;
  }

  /// Evaluates the block; arguments first, in order. False on an unknown op.
  bool run(ArrayRef<double> arguments) {
    values.clear();
    for (auto [value, number] : llvm::zip(block->getArguments(), arguments))
      values[value] = number;
    return llvm::all_of(*block,
                        [&](Operation &op) { return evaluateOp(op, values); });
  }

  /// Transposes the tangent with respect to the first active operand: adds a
  /// seed for every result that has a tangent, and the code of `adjoint`.
  bool transpose() {
    SmallVector<Operation *> ops = tangentOps();
    BlockTransposer transposer(linearizer.builder, tangents[0]);
    for (OpResult result : op->getResults())
      if (Value tangent = linearizer.tangent(result)) {
        seeds.push_back(block->addArgument(tangent.getType(), result.getLoc()));
        transposer.accumulate(tangent, seeds.back(), {}, /*isSelected=*/false);
      }
    for (Operation *tangentOp : llvm::reverse(ops)) {
      if (!llvm::any_of(tangentOp->getResults(), [&](Value result) {
            return transposer.isLinear(result) && transposer.cotangent(result);
          }))
        continue;
      auto model = dyn_cast<LinearizableOpInterface>(tangentOp);
      if (!model || failed(model.transpose(transposer)))
        return false;
    }
    adjoint = transposer.cotangent(tangents[0]);
    return true;
  }

  /// The value of the tangent of a result, 0 where there is none.
  double tangentOf(unsigned result) const {
    Value tangent = linearizer.tangent(op->getResult(result));
    return tangent ? values.lookup(tangent) : 0;
  }

  Region holder;
  Block *block;
  RecordingLinearizer linearizer;
  SmallVector<Value> operands, tangents, seeds;
  Value adjoint;
  Operation *op;
  bool valid = false, built = false;
  llvm::DenseMap<Value, double> values;
};

class RecordTest : public testing::Test {
protected:
  RecordTest() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, math::MathDialect,
                    tensor::TensorDialect>();
    registerArithDerivativeRules(registry);
    registerMathDerivativeRules(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    llvm::append_range(rules, listArithScalarRules());
    llvm::append_range(rules, listMathScalarRules());
  }

  MLIRContext context;
  SmallVector<const ScalarRule *> rules;
};

} // namespace

static constexpr long double step = 0x1p-10L;
/// How far the points of a difference reach.
static constexpr double reach = 4 * static_cast<double>(step);

/// The derivative of result `result` by operand `operand` by the central
/// difference of order 8, in long double: its error is of the size of
/// step^8 f^(9) / 630, below 1e-14 for the functions and boxes here.
static long double difference(const ScalarRule &rule, ArrayRef<double> point,
                              unsigned result, unsigned operand) {
  static const long double weights[] = {4 / 5.L, -1 / 5.L, 4 / 105.L,
                                        -1 / 280.L};
  long double sum = 0;
  for (int distance = 1; distance <= 4; ++distance)
    for (int sign : {1, -1}) {
      SmallVector<long double> arguments(point.begin(), point.end());
      arguments[operand] += sign * distance * step;
      auto value = evaluateFunction<long double>(
          rule.opName, ArrayRef<long double>(arguments));
      sum += sign * weights[distance - 1] * (*value)[result];
    }
  return sum / step;
}

/// Points of a box, at which differences stay inside the box.
static SmallVector<SmallVector<double>> samplePoints(const ScalarRule &rule,
                                                     const Box &box) {
  SmallVector<SmallVector<double>> points = {{}};
  for (auto [number, interval] : llvm::enumerate(box)) {
    auto [low, high] = interval;
    SmallVector<double> numbers;
    if (!rule.differentiable[number]) {
      for (double integer = low; integer <= high; ++integer)
        numbers.push_back(integer);
    } else {
      for (double fraction : {0.0, 0.07, 0.21, 0.37, 0.5, 0.68, 0.83, 1.0})
        numbers.push_back(low + reach + fraction * (high - low - 2 * reach));
    }
    SmallVector<SmallVector<double>> extended;
    for (const SmallVector<double> &point : points)
      for (double number : numbers) {
        extended.push_back(point);
        extended.back().push_back(number);
      }
    points = std::move(extended);
  }
  return points;
}

TEST_F(RecordTest, PartialsEqualDifferences) {
  for (const ScalarRule *rule : rules) {
    SCOPED_TRACE(rule->opName);
    ASSERT_FALSE(rule->boxes.empty()) << "the record states no samples";
    for (unsigned operand = 0; operand < rule->numOperands; ++operand) {
      if (!rule->differentiable[operand])
        continue;
      Program program(context, *rule, operand);
      ASSERT_TRUE(program.valid && program.built);
      for (const Box &box : rule->boxes)
        for (SmallVector<double> point : samplePoints(*rule, box)) {
          ASSERT_TRUE(
              evaluateFunction<double>(rule->opName, ArrayRef<double>(point)))
              << "no function to compare with";
          SmallVector<double> arguments = point;
          arguments.push_back(1);
          ASSERT_TRUE(program.run(arguments));
          for (unsigned result = 0; result < rule->numResults; ++result) {
            long double expected = difference(*rule, point, result, operand);
            EXPECT_NEAR(program.tangentOf(result), expected,
                        1e-12L * std::fmax(1.L, std::fabs(expected)))
                << "result " << result << ", operand " << operand << " at "
                << testing::PrintToString(
                       std::vector<double>(point.begin(), point.end()));
          }
        }
    }
  }
}

static void expectSame(double actual, double expected) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(actual)) << actual;
  else
    EXPECT_EQ(actual, expected);
}

TEST_F(RecordTest, KinksAreAsStated) {
  unsigned numKinks = 0;
  for (const ScalarRule *rule : rules)
    for (const Kink &kink : rule->kinks) {
      ++numKinks;
      SCOPED_TRACE(rule->opName + ": " + kink.name);
      for (unsigned operand = 0; operand < rule->numOperands; ++operand) {
        if (!rule->differentiable[operand])
          continue;
        Program program(context, *rule, operand);
        ASSERT_TRUE(program.transpose());
        SmallVector<double> arguments = kink.at;
        arguments.append(1 + program.seeds.size(), 1);
        ASSERT_TRUE(program.run(arguments));
        double sum = 0;
        for (unsigned result = 0; result < rule->numResults; ++result) {
          double expected = kink.partials[result * rule->numOperands + operand];
          sum += expected;
          expectSame(program.tangentOf(result), expected);
        }
        // In reverse too a coefficient that is no number is selected away.
        expectSame(program.adjoint ? program.values.lookup(program.adjoint) : 0,
                   sum);
      }
    }
  EXPECT_GT(numKinks, 20u);
}

// The adjoint identity <J u, v> = <u, J^T v>, which holds in f64 up to the
// rounding of a handful of products.
TEST_F(RecordTest, TransposesAreAdjoint) {
  for (const ScalarRule *rule : rules) {
    SCOPED_TRACE(rule->opName);
    for (unsigned operand = 0; operand < rule->numOperands; ++operand) {
      if (!rule->differentiable[operand])
        continue;
      Program program(context, *rule, operand);
      ASSERT_TRUE(program.transpose());
      if (program.seeds.empty()) {
        EXPECT_FALSE(program.adjoint);
        continue;
      }
      ASSERT_TRUE(program.adjoint);
      for (const Box &box : rule->boxes)
        for (SmallVector<double> arguments : samplePoints(*rule, box)) {
          double u = 0.75;
          arguments.push_back(u);
          const double v[] = {-1.25, 0.5};
          arguments.append(v, v + program.seeds.size());
          ASSERT_TRUE(program.run(arguments));
          double forward = 0, magnitude = 0;
          for (unsigned result = 0; result < rule->numResults; ++result) {
            double term = program.tangentOf(result) * v[result];
            forward += term;
            magnitude += std::fabs(term);
          }
          EXPECT_NEAR(forward, u * program.values.lookup(program.adjoint),
                      64 * 0x1p-53 * magnitude);
        }
    }
  }
}

// The output of a rule can be differentiated again.
TEST_F(RecordTest, RulesAreClosed) {
  for (const ScalarRule *rule : rules) {
    SmallVector<unsigned> active;
    for (auto [number, isFloat] : llvm::enumerate(rule->differentiable))
      if (isFloat)
        active.push_back(number);
    Program program(context, *rule, active);
    for (Operation *op : program.tangentOps()) {
      bool isFloat = llvm::any_of(
          op->getResultTypes(), [](Type type) { return isa<FloatType>(type); });
      EXPECT_TRUE(!isFloat || isa<LinearizableOpInterface>(op))
          << rule->opName << " builds " << op->getName().getStringRef().str();
      EXPECT_TRUE(succeeded(verify(op)));
    }
  }
}

// Constants become splats, of dynamic shapes too.
TEST_F(RecordTest, TensorsAndNarrowTypes) {
  Builder builder(&context);
  int64_t dynamic = ShapedType::kDynamic;
  for (Type type :
       {Type(builder.getF16Type()), Type(builder.getBF16Type()),
        Type(builder.getF32Type()),
        Type(RankedTensorType::get({2, 3}, builder.getF32Type())),
        Type(RankedTensorType::get({dynamic, 3}, builder.getF64Type()))})
    for (const ScalarRule *rule : rules) {
      if (llvm::is_contained(rule->differentiable, false))
        continue; // Its integer operand stays a scalar here.
      SmallVector<unsigned> active(
          llvm::to_vector(llvm::seq(rule->numOperands)));
      Program program(context, *rule, active, type);
      EXPECT_TRUE(program.valid && program.built) << rule->opName;
      for (Operation *op : program.tangentOps())
        EXPECT_TRUE(succeeded(verify(op))) << rule->opName;
    }
}

TEST_F(RecordTest, TrivialPartialsMultiplyNothing) {
  for (const ScalarRule *rule : rules) {
    if (rule->opName != "arith.addf" && rule->opName != "arith.subf" &&
        rule->opName != "arith.negf")
      continue;
    SmallVector<unsigned> active(llvm::to_vector(llvm::seq(rule->numOperands)));
    Program program(context, *rule, active);
    ASSERT_EQ(program.tangentOps().size(), 1u);
    EXPECT_EQ(program.tangentOps()[0]->getName().getStringRef(), rule->opName);
  }
}

// Semantics G3.
TEST_F(RecordTest, FlagsAreInheritedLessNanAndInf) {
  for (const ScalarRule *rule : rules) {
    if (rule->opName != "math.tanh")
      continue;
    Program program(context, *rule, {0});
    program.op->setAttr("fastmath", arith::FastMathFlagsAttr::get(
                                        &context, arith::FastMathFlags::fast));
    auto model = cast<LinearizableOpInterface>(program.op);
    ASSERT_TRUE(succeeded(model.linearize(program.linearizer)));
    Operation *product =
        program.linearizer.tangent(program.op->getResult(0)).getDefiningOp();
    auto flags = cast<arith::ArithFastMathInterface>(product)
                     .getFastMathFlagsAttr()
                     .getValue();
    EXPECT_EQ(flags, arith::FastMathFlags::reassoc | arith::FastMathFlags::nsz |
                         arith::FastMathFlags::arcp |
                         arith::FastMathFlags::contract |
                         arith::FastMathFlags::afn);
  }
}

/// Every op of arith and math with a float result has a rule, or is known to
/// have none.
TEST_F(RecordTest, EveryFloatOpHasARule) {
  const StringRef without[] = {
      // No derivative.
      "arith.bitcast",
      // Refused: the scales of narrow types are no part of the contract.
      "arith.scaling_extf", "arith.scaling_truncf"};
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    StringRef dialect = name.getDialectNamespace();
    if (dialect != "arith" && dialect != "math")
      continue;
    bool expected = name.hasInterface<arith::ArithFastMathInterface>() &&
                    !llvm::is_contained(without, name.getStringRef());
    EXPECT_TRUE(!expected || name.hasInterface<LinearizableOpInterface>())
        << name.getStringRef().str();
  }
}
