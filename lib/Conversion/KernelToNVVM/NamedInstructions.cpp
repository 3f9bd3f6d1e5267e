//===- NamedInstructions.cpp - Instructions without inline PTX ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NamedInstructions.h"

#include "SparseAutograd/Conversion/KernelToNVVM/WarpgroupProducts.h"
#include "mlir/Dialect/LLVMIR/BasicPtxBuilderInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sparse_autograd;

/// Executes an op behind a branch, and without its predicate, which is its last
/// operand.
static void branchOnPredicate(IRRewriter &rewriter, Operation *op,
                              MutableOperandRange predicate) {
  Location loc = op->getLoc();
  Value condition = predicate[0].get();
  predicate.clear();
  Block *before = op->getBlock();
  Block *guarded = rewriter.splitBlock(before, Block::iterator(op));
  Block *after = rewriter.splitBlock(guarded, std::next(Block::iterator(op)));
  rewriter.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(rewriter, loc, condition, guarded, after);
  rewriter.setInsertionPointToEnd(guarded);
  LLVM::BrOp::create(rewriter, loc, after);
}

/// Tests a phase until it is complete.
static void expandWait(IRRewriter &rewriter, NVVM::MBarrierTryWaitParityOp op) {
  Location loc = op.getLoc();
  Block *before = op->getBlock();
  Block *loop = rewriter.splitBlock(before, Block::iterator(op));
  Block *after = rewriter.splitBlock(loop, std::next(Block::iterator(op)));
  rewriter.setInsertionPointToEnd(before);
  LLVM::BrOp::create(rewriter, loc, loop);
  rewriter.setInsertionPoint(op);
  Value address = op.getAddr();
  auto shared = LLVM::LLVMPointerType::get(
      rewriter.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  if (address.getType() != shared)
    address = LLVM::AddrSpaceCastOp::create(rewriter, loc, shared, address);
  Value isComplete =
      NVVM::MBarrierTryWaitOp::create(rewriter, loc, rewriter.getI1Type(),
                                      address, op.getPhase(), op.getTicks());
  LLVM::CondBrOp::create(rewriter, loc, isComplete, after, loop);
  rewriter.eraseOp(op);
}

/// bar.arrive by its intrinsic.
static void callArrive(IRRewriter &rewriter, NVVM::BarrierArriveOp op) {
  rewriter.setInsertionPoint(op);
  Value id = op.getBarrierId();
  if (!id)
    id = LLVM::ConstantOp::create(rewriter, op.getLoc(), rewriter.getI32Type(),
                                  0);
  LLVM::CallIntrinsicOp::create(
      rewriter, op.getLoc(),
      rewriter.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
      ValueRange{id, op.getNumberOfThreads()});
  rewriter.eraseOp(op);
}

/// A product of a warpgroup as a call.
static LogicalResult callProduct(IRRewriter &rewriter, gpu::GPUModuleOp module,
                                 NVVM::WgmmaMmaAsyncOp op) {
  WarpgroupInstruction instruction;
  instruction.n = static_cast<unsigned>(op.getShape().getN());
  instruction.sums = NVVM::stringifyWGMMATypes(op.getTypeD()).str();
  instruction.factors = NVVM::stringifyWGMMATypes(op.getTypeA()).str();
  if (op.getTypeA() != op.getTypeB() ||
      !WarpgroupInstruction::parse(instruction.getName()))
    return op.emitOpError("has types or a shape that kernels do not have; f16, "
                          "bf16 and tf32 are there, with sums of f32 or, of "
                          "f16, of f16");
  WarpgroupModes modes;
  modes.negatesA = op.getScaleA() == NVVM::WGMMAScaleIn::neg;
  modes.negatesB = op.getScaleB() == NVVM::WGMMAScaleIn::neg;
  modes.transposesA = op.getLayoutA() == NVVM::MMALayout::col;
  modes.transposesB = op.getLayoutB() == NVVM::MMALayout::row;
  rewriter.setInsertionPoint(op);
  Value accumulates = LLVM::ConstantOp::create(
      rewriter, op.getLoc(), rewriter.getI32Type(),
      op.getScaleD() == NVVM::WGMMAScaleOut::one ? 1 : 0);
  rewriter.replaceOp(
      op, createWarpgroupProduct(rewriter, op.getLoc(), module, instruction,
                                 modes, op.getInouts(), op.getDescriptorA(),
                                 op.getDescriptorB(), Value(), accumulates));
  return success();
}

LogicalResult sparse_autograd::nameInstructions(gpu::GPUModuleOp module) {
  IRRewriter rewriter(module.getContext());
  SmallVector<Operation *> ops;
  module.walk([&](NVVM::BasicPtxBuilderInterface op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto product = dyn_cast<NVVM::WgmmaMmaAsyncOp>(op)) {
      if (failed(callProduct(rewriter, module, product)))
        return failure();
      continue;
    }
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](NVVM::MBarrierTryWaitParityOp wait) {
          expandWait(rewriter, wait);
        })
        .Case(
            [&](NVVM::BarrierArriveOp arrive) { callArrive(rewriter, arrive); })
        .Case<NVVM::MBarrierInitOp, NVVM::MBarrierArriveExpectTxOp,
              NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp,
              NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp, NVVM::PrefetchOp>(
            [&](auto guarded) {
              if (guarded.getPredicate())
                branchOnPredicate(rewriter, guarded,
                                  guarded.getPredicateMutable());
            });
  }
  return success();
}
