//===- ParallelCallsToRuntime.cpp - run outlined bodies ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/ParallelToRuntime/ParallelToRuntime.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_PARALLELCALLSTORUNTIME
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// How many chunks a long loop has: enough for any number of threads to end at
/// about the same time, few enough that a chunk has what it begins with for
/// many iterations. It is the same for any number of threads.
static constexpr int64_t wantedChunks = 256;

/// The function `void(environment, begin, end)` that the runtime calls for a
/// chunk: calls `body` with the operands that the environment holds.
static LLVM::LLVMFuncOp createChunkFunction(LLVM::LLVMFuncOp body,
                                            StringRef name, Type environment,
                                            unsigned operands) {
  Location loc = body.getLoc();
  OpBuilder builder(body);
  Type i64 = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto function = LLVM::LLVMFuncOp::create(
      builder, loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  {pointer, i64, i64}),
      LLVM::Linkage::Internal);
  Block *block = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> arguments = {block->getArgument(1), block->getArgument(2)};
  if (operands > 0) {
    Value packed =
        LLVM::LoadOp::create(builder, loc, environment, block->getArgument(0));
    for (unsigned i = 0; i < operands; ++i)
      arguments.push_back(
          LLVM::ExtractValueOp::create(builder, loc, packed, i));
  }
  LLVM::CallOp::create(builder, loc, body, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return function;
}

namespace {
struct ParallelCallsToRuntimePass
    : sparse_autograd::impl::ParallelCallsToRuntimeBase<
          ParallelCallsToRuntimePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<LLVM::CallOp> calls;
    module.walk([&](LLVM::CallOp call) {
      if (getSchedule(call).isParallel)
        calls.push_back(call);
    });
    if (calls.empty())
      return;
    OpBuilder builder(module.getContext());
    Type i64 = builder.getI64Type();
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    FailureOr<LLVM::LLVMFuncOp> parallelFor = LLVM::lookupOrCreateFn(
        builder, module, "sparseAutogradParallelFor",
        {i64, i64, pointer, pointer}, LLVM::LLVMVoidType::get(&getContext()));
    if (failed(parallelFor))
      return signalPassFailure();
    SymbolTable symbols(module);
    for (LLVM::CallOp call : calls) {
      auto body = symbols.lookup<LLVM::LLVMFuncOp>(
          call.getCallee().value_or(StringRef()));
      if (!body || call.getNumOperands() < 2 ||
          !matchPattern(call.getOperand(0), m_Zero())) {
        call.emitError("has a schedule that says 'parallel', but does not call "
                       "a function of a range from 0 in this module");
        return signalPassFailure();
      }
      Location loc = call.getLoc();
      ValueRange captures = call.getOperands().drop_front(2);
      auto environment = LLVM::LLVMStructType::getLiteral(
          &getContext(), llvm::to_vector(captures.getTypes()));
      std::string name = (body.getName() + ".chunk").str();
      auto chunk = symbols.lookup<LLVM::LLVMFuncOp>(name);
      if (!chunk) {
        chunk = createChunkFunction(body, name, environment, captures.size());
        symbols.insert(chunk);
      }

      // In the entry block: a slot inside a loop would grow the stack.
      auto function = call->getParentOfType<LLVM::LLVMFuncOp>();
      builder.setInsertionPointToStart(&function.getBody().front());
      Value one = LLVM::ConstantOp::create(builder, loc, i64,
                                           builder.getI64IntegerAttr(1));
      Value slot =
          LLVM::AllocaOp::create(builder, loc, pointer, environment, one);
      builder.setInsertionPoint(call);
      Value packed = LLVM::PoisonOp::create(builder, loc, environment);
      for (auto [i, capture] : llvm::enumerate(captures))
        packed = LLVM::InsertValueOp::create(builder, loc, packed, capture, i);
      LLVM::StoreOp::create(builder, loc, packed, slot);
      Value count = call.getOperand(1);
      Value address =
          LLVM::AddressOfOp::create(builder, loc, pointer, chunk.getName());
      auto constant = [&](int64_t value) {
        return LLVM::ConstantOp::create(builder, loc, i64,
                                        builder.getI64IntegerAttr(value));
      };
      Value grain =
          LLVM::UDivOp::create(builder, loc, count, constant(wantedChunks));
      grain = LLVM::UMaxOp::create(builder, loc, grain, constant(1));
      LLVM::CallOp::create(builder, loc, *parallelFor,
                           ValueRange{count, grain, address, slot});
      call.erase();
    }
  }
};
} // namespace
