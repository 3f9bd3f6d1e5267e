//===- Outer.cpp - a dialect outside the tree -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outer.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseAutograd/Differentiate/ScalarRule.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "OuterDialect.cpp.inc"
#define GET_OP_CLASSES
#include "OuterOps.cpp.inc"

using namespace mlir;
using namespace sparse_autograd;

void outer::OuterDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "OuterOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// Of an elementwise op, the partial derivative is all that there is to say.
static const auto &getScalarRules() {
  static const auto rules =
      scalarRules(rule<outer::SquareOp>([](auto x, auto y) { return 2 * x; }));
  return rules;
}

namespace {

/// An op that is linear in each operand: the tangent is made of the op itself,
/// and it has a transpose.
struct ScaleModel
    : LinearizableOpInterface::ExternalModel<ScaleModel, outer::ScaleOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<outer::ScaleOp>(operation);
    OpBuilder &builder = linearizer.builder;
    Value input = op.getInput(), factor = op.getFactor(), sum;
    if (Value tangent = linearizer.tangent(input))
      sum = outer::ScaleOp::create(builder, op.getLoc(), tangent, factor);
    if (Value tangent = linearizer.tangent(factor)) {
      Value term = outer::ScaleOp::create(builder, op.getLoc(), input, tangent);
      if (sum) {
        // The tangent of the result has the result's shape; temporaries on the
        // way to it say theirs.
        linearizer.noteShape(sum, input);
        linearizer.noteShape(term, input);
        sum = arith::AddFOp::create(builder, op.getLoc(), sum, term);
      } else {
        sum = term;
      }
    }
    linearizer.setTangent(op.getResult(), sum);
    return success();
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<outer::ScaleOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    Value cotangent = transposer.cotangent(op.getResult());
    Support support = transposer.support(op.getResult());
    if (transposer.isLinear(op.getInput())) {
      Value factor = transposer.primal(op.getFactor());
      transposer.accumulate(
          op.getInput(),
          outer::ScaleOp::create(builder, loc, cotangent, factor), support);
    }
    if (transposer.isLinear(op.getFactor())) {
      // What is not selected may be a NaN in the input: 0 * NaN reaches no sum.
      Value product = arith::MulFOp::create(
          builder, loc, transposer.primal(op.getInput()), cotangent);
      Value sum = MaskedReduceOp::create(
          builder, loc, ReductionKind::Sum,
          selectUnder(builder, loc, product, support), /*mask=*/Value(),
          /*dims=*/ArrayRef<int64_t>{0});
      transposer.accumulate(op.getFactor(),
                            tensor::ExtractOp::create(builder, loc, sum));
    }
    return success();
  }
};

/// A function of two operands, y = b tanh(x / b):
///
///   dy = (1 - r^2) dx + (r - u (1 - r^2)) db,  r = y / b,  u = x / b.
struct SoftClipModel
    : LinearizableOpInterface::ExternalModel<SoftClipModel, outer::SoftClipOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<outer::SoftClipOp>(operation);
    OpBuilder &builder = linearizer.builder;
    Location loc = op.getLoc();
    Value input = op.getInput(), bound = op.getBound(), result = op.getResult();
    Value one =
        arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(1));
    Value inverse = arith::DivFOp::create(builder, loc, one, bound);
    Value ratio = outer::ScaleOp::create(builder, loc, result, inverse);
    Value square = arith::MulFOp::create(builder, loc, ratio, ratio);

    Value sum;
    if (Value tangent = linearizer.tangent(input)) {
      Value lost = arith::MulFOp::create(builder, loc, square, tangent);
      linearizer.noteShape(lost, input);
      sum = arith::SubFOp::create(builder, loc, tangent, lost);
    }
    if (Value tangent = linearizer.tangent(bound)) {
      Value unit = outer::ScaleOp::create(builder, loc, input, inverse);
      Value lost = arith::MulFOp::create(builder, loc, unit, square);
      Value kept = arith::SubFOp::create(builder, loc, unit, lost);
      Value partial = arith::SubFOp::create(builder, loc, ratio, kept);
      Value term = outer::ScaleOp::create(builder, loc, partial, tangent);
      if (sum) {
        linearizer.noteShape(sum, input);
        linearizer.noteShape(term, input);
        sum = arith::AddFOp::create(builder, loc, sum, term);
      } else {
        sum = term;
      }
    }
    linearizer.setTangent(result, sum);
    return success();
  }
};

} // namespace

void outer::registerDialect(DialectRegistry &registry) {
  registry.insert<OuterDialect>();
  registry.addExtension(+[](MLIRContext *context, OuterDialect *) {
    // The dialects that the derivatives are made of.
    context->loadDialect<SparseAutogradDialect, arith::ArithDialect,
                         linalg::LinalgDialect, tensor::TensorDialect>();
    attachScalarRules<getScalarRules>(*context);
    outer::ScaleOp::attachInterface<ScaleModel>(*context);
    outer::SoftClipOp::attachInterface<SoftClipModel>(*context);
  });
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// The element of the result, from that of the input and from the scalar.
static Value buildBody(OpBuilder &builder, Location loc, outer::SquareOp,
                       ValueRange x) {
  return arith::MulFOp::create(builder, loc, x[0], x[0]);
}

static Value buildBody(OpBuilder &builder, Location loc, outer::ScaleOp,
                       ValueRange x) {
  return arith::MulFOp::create(builder, loc, x[0], x[1]);
}

static Value buildBody(OpBuilder &builder, Location loc, outer::SoftClipOp,
                       ValueRange x) {
  Value ratio = arith::DivFOp::create(builder, loc, x[0], x[1]);
  Value tanh = math::TanhOp::create(builder, loc, ratio);
  return arith::MulFOp::create(builder, loc, x[1], tanh);
}

namespace {

/// An op of the dialect is a loop over the elements of its input. What it
/// writes to has the type of its result, which is sparse where that is.
template <typename Op>
struct ToGeneric : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value input = op.getInput();
    Value empty = createEmptyOfType(rewriter, loc, op.getType(), input);
    SmallVector<AffineMap> maps(op->getNumOperands(),
                                AffineMap::get(1, 0, rewriter.getContext()));
    maps.front() = rewriter.getMultiDimIdentityMap(1);
    maps.push_back(maps.front());
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, op.getType(), op->getOperands(), empty, maps,
        utils::IteratorType::parallel,
        [&](OpBuilder &builder, Location loc, ValueRange x) {
          linalg::YieldOp::create(builder, loc, buildBody(builder, loc, op, x));
        });
    return success();
  }
};

struct LowerToLinalg : PassWrapper<LowerToLinalg, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToLinalg)

  StringRef getArgument() const override { return "outer-to-linalg"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect,
                    math::MathDialect, tensor::TensorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ToGeneric<outer::SquareOp>, ToGeneric<outer::ScaleOp>,
                 ToGeneric<outer::SoftClipOp>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> outer::createLowerToLinalg() {
  return std::make_unique<LowerToLinalg>();
}
