//===- TestPass.cpp - passes for tests alone ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPass.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace sparse_autograd::test;

namespace {
/// Runs the function of a record.
class RecordedPass : public OperationPass<ModuleOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RecordedPass)

  explicit RecordedPass(const TestPass &record)
      : OperationPass(TypeID::get<RecordedPass>()),
        argument(("test-sparse-autograd-" + record.name).str()),
        record(record) {}

  StringRef getName() const override { return record.name; }
  StringRef getArgument() const override { return argument; }
  StringRef getDescription() const override { return record.description; }
  std::unique_ptr<Pass> clonePass() const override {
    return std::make_unique<RecordedPass>(record);
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<affine::AffineDialect, arith::ArithDialect, func::FuncDialect,
                linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                sparse_tensor::SparseTensorDialect, tensor::TensorDialect,
                sparse_autograd::SparseAutogradDialect>();
  }
  void runOnOperation() override {
    if (failed(record.run(getOperation())))
      signalPassFailure();
  }

private:
  std::string argument;
  const TestPass &record;
};
} // namespace

void sparse_autograd::test::registerTestPass(const TestPass &pass) {
  mlir::registerPass([&] { return std::make_unique<RecordedPass>(pass); });
}

static StringRef getTag(Operation *op) {
  auto tag = op->getAttrOfType<StringAttr>("tag");
  return tag ? tag.getValue() : "?";
}

std::string sparse_autograd::test::getName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    std::string number = "arg" + std::to_string(argument.getArgNumber());
    return isa<func::FuncOp>(parent) ? number
                                     : getTag(parent).str() + "." + number;
  }
  auto result = cast<OpResult>(value);
  std::string name = getTag(result.getOwner()).str();
  if (result.getOwner()->getNumResults() > 1)
    name += "#" + std::to_string(result.getResultNumber());
  return name;
}

void sparse_autograd::test::forEachTagged(
    Operation *root, function_ref<void(Operation *, StringRef)> callback) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasAttr("tag"))
      callback(op, getTag(op));
  });
}
