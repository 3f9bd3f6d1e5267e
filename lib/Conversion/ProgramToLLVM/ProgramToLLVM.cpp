//===- ProgramToLLVM.cpp - loops, buffers and scalars to LLVM ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/ProgramToLLVM/ProgramToLLVM.h"
#include "SparseAutograd/Transforms/ExpandMath.h"
#include "SparseAutograd/Transforms/NarrowFloats.h"

#include "../RuntimeCalls.h"
#include "Patterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_PROGRAMTOLLVM
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// Rewrites that stay above LLVM: views become arithmetic on their strides,
/// and ops that LLVM has no counterpart of become others.
static LogicalResult prepare(ModuleOp module) {
  // First: upstream asks a view that splits dimensions for the strides of views
  // of it, too.
  RewritePatternSet expandShapePatterns(module.getContext());
  populateExpandShapePatterns(expandShapePatterns);
  walkAndApplyPatterns(module, std::move(expandShapePatterns));

  RewritePatternSet patterns(module.getContext());
  memref::populateExpandStridedMetadataPatterns(patterns);
  memref::populateResolveExtractStridedMetadataPatterns(patterns);
  // Not those of maxima and minima, which LLVM knows.
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

/// Transfers of vectors to loads and stores of them, or of their elements where
/// these are not consecutive in memory, and masks to comparisons.
static LogicalResult lowerTransfers(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateVectorToSCFConversionPatterns(patterns);
  vector::populateVectorTransferLoweringPatterns(patterns,
                                                 /*maxTransferRank=*/1);
  vector::populateVectorMaskOpLoweringPatterns(patterns);
  vector::populateVectorMaskMaterializationPatterns(
      patterns, /*force32BitVectorIndices=*/false);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

/// Loops and affine maps to branches and arithmetic.
static LogicalResult lowerControlFlow(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  populateAffineToStdConversionPatterns(patterns);
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.addIllegalDialect<scf::SCFDialect, affine::AffineDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}

static LogicalResult lowerToLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  LLVMTypeConverter converter(context, options);
  // To the host an address on the device is a number.
  converter.addTypeAttributeConversion(
      [](BaseMemRefType type, gpu::AddressSpaceAttr space) {
        return isOnDevice(type)
                   ? TypeConverter::AttributeConversionResult(IntegerAttr::get(
                         IntegerType::get(type.getContext(), 64), 0))
                   : TypeConverter::AttributeConversionResult::abort();
      });
  SymbolTableCollection tables;
  std::shared_ptr<RuntimeSymbols> symbols = createRuntimeSymbols(tables);
  if (failed(lowerAssertions(module, *symbols)))
    return failure();
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns, &tables);
  populateFuncToLLVMConversionPatterns(converter, patterns, &tables);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  // An exact log1p is a call of libm.
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/false,
                                       /*benefit=*/2);
  populateMathToLibmConversionPatterns(patterns, /*benefit=*/1);
  populateRuntimePatterns(converter, symbols, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

/// Slots of a size known statically live in the entry block of their function,
/// one for all iterations of the loop that they are in.
static void hoistSlots(ModuleOp module) {
  module.walk([](LLVM::LLVMFuncOp function) {
    if (function.isExternal())
      return;
    Block &entry = function.getBody().front();
    SmallVector<LLVM::AllocaOp> slots;
    function.walk([&](LLVM::AllocaOp slot) {
      if (slot.getArraySize().getDefiningOp<LLVM::ConstantOp>())
        slots.push_back(slot);
    });
    for (LLVM::AllocaOp slot : llvm::reverse(slots)) {
      Operation *size = slot.getArraySize().getDefiningOp();
      slot->moveBefore(&entry, entry.begin());
      OpBuilder builder(slot);
      slot.getArraySizeMutable().assign(builder.clone(*size)->getResult(0));
    }
  });
}

namespace {
struct ProgramToLLVMPass
    : sparse_autograd::impl::ProgramToLLVMBase<ProgramToLLVMPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ProgramToLLVMBase::getDependentDialects(registry);
    registry.insert<scf::SCFDialect, ub::UBDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // First: in a wider type other numbers are normal.
    RewritePatternSet patterns(&getContext());
    populateExpandMathPatterns(patterns);
    if (failed(applyPatternsGreedily(module, std::move(patterns))) ||
        failed(emulateNarrowFloats(module)) ||
        failed(expandElementaryFunctions(module)) || failed(prepare(module)) ||
        failed(lowerTransfers(module)) || failed(lowerControlFlow(module)) ||
        failed(lowerToLLVM(module)))
      return signalPassFailure();
    hoistSlots(module);
  }
};
} // namespace
