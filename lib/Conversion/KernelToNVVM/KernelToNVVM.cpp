//===- KernelToNVVM.cpp - kernels to the NVVM dialect ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/KernelToNVVM/KernelToNVVM.h"

#include "../KernelOps.h"
#include "NamedInstructions.h"
#include "SparseAutograd/Transforms/ExpandMath.h"
#include "SparseAutograd/Transforms/NarrowFloats.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_KERNELTONVVM
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// Says which op of a kernel has no form in one, if there is one.
static LogicalResult checkOps(gpu::GPUModuleOp module, StringRef pass) {
  WalkResult checked = module.walk([&](Operation *op) -> WalkResult {
    if (auto reduction = dyn_cast<gpu::AllReduceOp>(op))
      if (!reduction.getUniform()) {
        reduction.emitOpError("must be uniform: all threads of a block take "
                              "part in a reduction over it, or none");
        return WalkResult::interrupt();
      }
    if (isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect,
                        affine::AffineDialect, arith::ArithDialect,
                        cf::ControlFlowDialect, func::FuncDialect,
                        gpu::GPUDialect, math::MathDialect,
                        memref::MemRefDialect, nvgpu::NVGPUDialect,
                        scf::SCFDialect, ub::UBDialect, vector::VectorDialect>(
            op->getDialect()))
      return WalkResult::advance();
    op->emitError("'") << op->getName()
                       << "' has no form in a kernel; lower it before " << pass;
    return WalkResult::interrupt();
  });
  return failure(checked.wasInterrupted());
}

/// Makes reductions over a block reductions over warps and an exchange through
/// shared memory, and those over a warp shuffles: the conversion to NVVM knows
/// them of integers only. A shuffle moves 32 bits; of wider values it moves
/// halves.
static LogicalResult lowerReductions(gpu::GPUModuleOp module) {
  for (unsigned bits : {32, 64}) {
    RewritePatternSet patterns(module.getContext());
    populateGpuAllReducePatterns(patterns);
    populateGpuBreakDownSubgroupReducePatterns(patterns, bits);
    populateGpuLowerSubgroupReduceToShufflePatterns(patterns, warpSize, bits);
    populateGpuLowerClusteredSubgroupReduceToShufflePatterns(patterns, warpSize,
                                                             bits);
    populateGpuShufflePatterns(patterns);
    if (failed(applyPatternsGreedily(module, std::move(patterns))))
      return failure();
  }
  return success();
}

/// The intrinsic of LLVM that is an instruction of the chips, of which the
/// conversion to NVVM would make a call of libdevice; empty for other ops.
static StringRef getInstruction(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](math::AbsFOp) { return "llvm.fabs"; })
      .Case([](math::CeilOp) { return "llvm.ceil"; })
      .Case([](math::CopySignOp) { return "llvm.copysign"; })
      .Case([](math::FloorOp) { return "llvm.floor"; })
      .Case([](math::FmaOp) { return "llvm.fma"; })
      .Case([](math::RoundEvenOp) { return "llvm.roundeven"; })
      .Case([](math::SqrtOp) { return "llvm.sqrt"; })
      .Case([](math::TruncOp) { return "llvm.trunc"; })
      .Default([](Operation *) { return ""; });
}

/// Calls these intrinsics by their names: most of their ops are illegal in the
/// conversion to NVVM. They have no form of f16 and bf16 on all chips.
static void lowerInstructions(gpu::GPUModuleOp module) {
  IRRewriter rewriter(module.getContext());
  module.walk([&](Operation *op) {
    StringRef name = getInstruction(op);
    if (name.empty() || !(op->getResult(0).getType().isF32() ||
                          op->getResult(0).getType().isF64()))
      return;
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op->getResult(0).getType(), rewriter.getStringAttr(name),
        op->getOperands());
  });
}

/// Lowers products of fragments of bf16, of which upstream does not know what
/// their registers are: two elements as an integer.
static void lowerProductsOfBF16(gpu::GPUModuleOp module) {
  IRRewriter rewriter(module.getContext());
  Type i32 = rewriter.getI32Type(), f32 = rewriter.getF32Type();
  module.walk([&](nvgpu::MmaSyncOp op) {
    Value a = op.getMatrixA(), b = op.getMatrixB(), c = op.getMatrixC();
    auto type = cast<VectorType>(c.getType());
    if (!getElementTypeOrSelf(a.getType()).isBF16() ||
        !type.getElementType().isF32())
      return;
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    auto getRegisters = [&](Value fragment) {
      SmallVector<Value> registers;
      for (int64_t i = 0;
           i < cast<VectorType>(fragment.getType()).getDimSize(0); ++i) {
        Value pair = vector::ExtractOp::create(rewriter, loc, fragment, i);
        registers.push_back(LLVM::BitcastOp::create(rewriter, loc, i32, pair));
      }
      return registers;
    };
    SmallVector<Value> sums = llvm::to_vector_of<Value>(
        vector::ToElementsOp::create(rewriter, loc, c).getResults());
    SmallVector<Type> types(sums.size(), f32);
    std::array<int64_t, 3> shape = op.getMmaShapeAsArray();
    std::array<NVVM::MMATypes, 2> factors = {NVVM::MMATypes::bf16,
                                             NVVM::MMATypes::bf16};
    std::array<NVVM::MMALayout, 2> layouts = {NVVM::MMALayout::row,
                                              NVVM::MMALayout::col};
    Value result = NVVM::MmaOp::create(
        rewriter, loc,
        LLVM::LLVMStructType::getLiteral(module.getContext(), types),
        getRegisters(a), getRegisters(b), sums, shape, /*b1Op=*/std::nullopt,
        /*intOverflow=*/std::nullopt, factors, layouts);
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = LLVM::ExtractValueOp::create(rewriter, loc, result, i);
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, sums);
  });
}

/// Upstream hands what a loop says of its unrolling to the branch back, but as
/// an attribute that the translation to LLVM IR does not look at.
static void keepLoopAnnotations(gpu::GPUModuleOp module) {
  constexpr StringLiteral name = "llvm.loop_annotation";
  module.walk([&](LLVM::BrOp branch) {
    if (auto annotation =
            branch->getAttrOfType<LLVM::LoopAnnotationAttr>(name)) {
      branch->removeDiscardableAttr(name);
      branch.setLoopAnnotationAttr(annotation);
    }
  });
}

/// Gives the variable that stands for dynamic shared memory the linkage of one
/// that is allocated elsewhere. As an internal one it is a variable of one byte
/// in PTX, which the static variables overlap.
static void declareDynamicSharedMemory(gpu::GPUModuleOp module) {
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    auto array = dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType());
    if (array && array.getNumElements() == 0 &&
        global.getAddrSpace() ==
            static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared))
      global.setLinkage(LLVM::Linkage::External);
  }
}

/// Has kernels take tensor maps by value, as 128 bytes that are aligned to 64.
static void takeTensorMapsByValue(gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  OpBuilder builder(context);
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type map = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  for (auto function : module.getOps<gpu::GPUFuncOp>()) {
    SmallVector<Type> types(function.getArgumentTypes());
    for (unsigned i = 0; i < types.size(); ++i) {
      if (!function.isKernel() ||
          !isa<nvgpu::TensorMapDescriptorType>(types[i]))
        continue;
      BlockArgument argument = function.getArgument(i);
      builder.setInsertionPointToStart(&function.getBody().front());
      auto cast = UnrealizedConversionCastOp::create(builder, function.getLoc(),
                                                     types[i], argument);
      argument.replaceAllUsesExcept(cast.getResult(0), cast);
      argument.setType(pointer);
      types[i] = pointer;
      function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                          TypeAttr::get(map));
      function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(64));
    }
    function.setFunctionType(FunctionType::get(
        context, types, function.getFunctionType().getResults()));
  }
}

namespace {
/// A parameter of a kernel that is passed by value.
struct ValueParameter {
  StringAttr kernel;
  unsigned index;
  Attribute type;
};
} // namespace

/// Adds a product to a sum whose order is free without rounding it first, which
/// takes one instruction instead of two. It is asked for by name: that it is
/// allowed (`contract`) LLVM would make use of here and not there, and the bits
/// of an element would depend on what is computed beside it.
static void fuseProducts(gpu::GPUModuleOp module) {
  IRRewriter rewriter(module.getContext());
  module.walk([&](arith::AddFOp sum) {
    if (!bitEnumContainsAny(sum.getFastmath(), arith::FastMathFlags::reassoc) ||
        !(sum.getType().isF32() || sum.getType().isF64()))
      return;
    for (OpOperand &term : llvm::reverse(sum->getOpOperands())) {
      auto product = term.get().getDefiningOp<arith::MulFOp>();
      if (!product || !product->hasOneUse())
        continue;
      Value other = sum->getOperand(1 - term.getOperandNumber());
      rewriter.setInsertionPoint(sum);
      rewriter.replaceOpWithNewOp<math::FmaOp>(sum, product.getLhs(),
                                               product.getRhs(), other);
      rewriter.eraseOp(product);
      return;
    }
  });
}

/// How many parameters of a function of LLVM a parameter becomes.
static unsigned getParameterCount(Type type) {
  // Two pointers, an offset, sizes and strides.
  if (auto memref = dyn_cast<MemRefType>(type))
    return 3 + 2 * memref.getRank();
  return isa<UnrankedMemRefType>(type) ? 2 : 1;
}

/// Finds those, with the places that they have in functions of LLVM: the
/// conversion to NVVM drops the attribute.
static SmallVector<ValueParameter>
findValueParameters(gpu::GPUModuleOp module) {
  SmallVector<ValueParameter> found;
  for (auto function : module.getOps<gpu::GPUFuncOp>()) {
    unsigned index = 0;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (Attribute type =
              function.getArgAttr(i, LLVM::LLVMDialect::getByValAttrName()))
        found.push_back({function.getNameAttr(), index, type});
      index += getParameterCount(function.getArgument(i).getType());
    }
  }
  return found;
}

/// Has kernels read parameters that are passed by value where the launch puts
/// them. A copy in the memory of a thread is no place for a tensor map.
static void keepInPlace(gpu::GPUModuleOp module,
                        ArrayRef<ValueParameter> parameters) {
  for (const ValueParameter &parameter : parameters) {
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(parameter.kernel);
    function.setArgAttr(parameter.index, LLVM::LLVMDialect::getByValAttrName(),
                        parameter.type);
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      function.setArgAttr(parameter.index,
                          NVVM::NVVMDialect::getGridConstantAttrName(),
                          UnitAttr::get(module.getContext()));
  }
}

/// Loads and stores truth values as the bytes that they are in memory, 0 if
/// false: of bits LLVM does not access several by one instruction.
static void accessBytes(gpu::GPUModuleOp module) {
  IRRewriter rewriter(module.getContext());
  Type i8 = rewriter.getI8Type();
  module.walk([&](Operation *op) {
    rewriter.setInsertionPoint(op);
    if (auto load = dyn_cast<LLVM::LoadOp>(op);
        load && load.getType().isInteger(1)) {
      Operation *byte =
          mlir::clone(rewriter, load, TypeRange(i8), load->getOperands());
      Value zero = LLVM::ConstantOp::create(rewriter, load.getLoc(), i8,
                                            rewriter.getI8IntegerAttr(0));
      rewriter.replaceOpWithNewOp<LLVM::ICmpOp>(load, LLVM::ICmpPredicate::ne,
                                                byte->getResult(0), zero);
    } else if (auto store = dyn_cast<LLVM::StoreOp>(op);
               store && store.getValue().getType().isInteger(1)) {
      Value byte =
          LLVM::ZExtOp::create(rewriter, store.getLoc(), i8, store.getValue());
      rewriter.modifyOpInPlace(store,
                               [&] { store.getValueMutable().assign(byte); });
    }
  });
}

/// Has static shared variables begin where the widest instructions can access
/// them.
static void alignSharedMemory(gpu::GPUModuleOp module) {
  constexpr uint64_t alignment = 16;
  for (auto variable : module.getOps<LLVM::GlobalOp>())
    if (variable.getAddrSpace() ==
            static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared) &&
        variable.getAlignment().value_or(1) < alignment)
      variable.setAlignment(alignment);
}

namespace {
struct KernelToNVVMPass
    : sparse_autograd::impl::KernelToNVVMBase<KernelToNVVMPass> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    RewritePatternSet patterns(&getContext());
    populateExpandMathPatterns(patterns);
    if (failed(checkOps(module, getArgument())) ||
        failed(applyPatternsGreedily(module, std::move(patterns))) ||
        failed(emulateNarrowFloats(module)) || failed(lowerReductions(module)))
      return signalPassFailure();
    fuseProducts(module);
    lowerInstructions(module);
    lowerProductsOfBF16(module);
    takeTensorMapsByValue(module);
    SmallVector<ValueParameter> valueParameters = findValueParameters(module);
    OpPassManager toNVVM(gpu::GPUModuleOp::getOperationName());
    toNVVM.addPass(createConvertVectorToSCFPass());
    toNVVM.addPass(createSCFToControlFlowPass());
    toNVVM.addPass(createConvertNVGPUToNVVMPass());
    if (failed(runPipeline(toNVVM, module)) || failed(nameInstructions(module)))
      return signalPassFailure();
    OpPassManager passes(gpu::GPUModuleOp::getOperationName());
    passes.addPass(memref::createExpandStridedMetadataPass());
    passes.addPass(createLowerAffinePass());
    passes.addPass(createConvertVectorToLLVMPass());
    passes.addPass(createConvertNVVMToLLVMPass());
    passes.addPass(createConvertGpuOpsToNVVMOps());
    // What it has no function of libdevice for: those of integers.
    passes.addPass(createConvertMathToLLVMPass());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    passes.addPass(createReconcileUnrealizedCastsPass());
    if (failed(runPipeline(passes, module)))
      return signalPassFailure();
    // What upstream leaves alone, it leaves without a word.
    WalkResult left = module.walk([&](Operation *op) -> WalkResult {
      if (isa<gpu::GPUModuleOp>(op) ||
          isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(
              op->getDialect()))
        return WalkResult::advance();
      return op->emitError("'")
             << op->getName() << "' has no form in a kernel on these types";
    });
    if (left.wasInterrupted())
      return signalPassFailure();
    accessBytes(module);
    alignSharedMemory(module);
    keepLoopAnnotations(module);
    declareDynamicSharedMemory(module);
    keepInPlace(module, valueParameters);
  }
};
} // namespace
