//===- PlaceBuffers.cpp - which buffers are on the device -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memrefs that may be the same buffer are a class (Steensgaard: Points-to
// analysis in almost linear time, POPL 1996): views of one, and what loops,
// branches and calls hand on. A class is on the device if a kernel accesses it,
// or a library of the device.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/PlaceBuffers/PlaceBuffers.h"

#include "../KernelOps.h"
#include "../RuntimeCalls.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/LibraryOps.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_PLACEBUFFERS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// The classes of memrefs of a module, and which of them are on the device.
class Placement {
public:
  explicit Placement(ModuleOp module);

  bool isOnDevice(Value memref) const {
    return onDevice.contains(getClass(memref));
  }

private:
  const void *getClass(Value memref) const {
    return classes.getOrInsertLeaderValue(memref.getAsOpaquePointer());
  }
  /// Returns whether it was not there before.
  bool place(Value memref) { return onDevice.insert(getClass(memref)).second; }
  void joinCalls(ModuleOp module);
  void placeAccessedByKernels(ModuleOp module);
  bool placeAccessedWith(Operation *op);

  mutable llvm::EquivalenceClasses<const void *> classes;
  llvm::DenseSet<const void *> onDevice;
};

} // namespace

Placement::Placement(ModuleOp module) {
  BufferViewFlowAnalysis flow(module);
  for (const auto &[value, views] : flow)
    for (Value view : views)
      classes.unionSets(value.getAsOpaquePointer(), view.getAsOpaquePointer());
  module.walk([&](arith::SelectOp op) {
    for (Value operand : {op.getTrueValue(), op.getFalseValue()})
      classes.unionSets(op.getResult().getAsOpaquePointer(),
                        operand.getAsOpaquePointer());
  });
  joinCalls(module);
  placeAccessedByKernels(module);
  // What one thread does for the host, because it accesses the device, it does
  // with all that it accesses.
  bool changed = true;
  while (changed) {
    changed = false;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumRegions() == 0 || isa<ModuleOp, func::FuncOp>(op) ||
          isHostControlFlow(op))
        return WalkResult::advance();
      changed |= placeAccessedWith(op);
      return WalkResult::skip();
    });
  }
}

void Placement::joinCalls(ModuleOp module) {
  SymbolTable symbols(module);
  auto join = [&](ValueRange a, ValueRange b) {
    for (auto [one, other] : llvm::zip_equal(a, b))
      classes.unionSets(one.getAsOpaquePointer(), other.getAsOpaquePointer());
  };
  module.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return;
    join(call.getOperands(), callee.getArguments());
    callee.walk(
        [&](func::ReturnOp op) { join(call.getResults(), op.getOperands()); });
  });
}

/// Whether `op` is done by a library of the device.
static bool isProductOnDevice(Operation *op) {
  return isa<BeginSparseProductOp, EndSparseProductOp, OfferProductOp,
             OfferSampledProductOp>(op);
}

void Placement::placeAccessedByKernels(ModuleOp module) {
  auto placeAll = [&](ValueRange values) {
    for (Value value : values)
      if (isa<MemRefType>(value.getType()))
        place(value);
  };
  module.walk([&](Operation *op) {
    if (isa<linalg::LinalgOp>(op) || isProductOnDevice(op))
      placeAll(op->getOperands());
    if (isa<linalg::LinalgOp>(op) || isParallelLoop(op))
      for (const Access &access : getAccesses(op))
        place(access.memref);
    // A copy between layouts is a loop.
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      if (llvm::any_of(copy->getOperandTypes(), [](Type type) {
            auto memref = dyn_cast<MemRefType>(type);
            return memref && !memref.getLayout().isIdentity();
          }))
        placeAll(op->getOperands());
  });
}

/// Places what `op` accesses if some of it is on the device. Returns whether
/// that is new.
bool Placement::placeAccessedWith(Operation *op) {
  Accesses accesses = getAccesses(op);
  bool isNew = false;
  if (llvm::any_of(accesses, [&](const Access &access) {
        return isOnDevice(access.memref);
      }))
    for (const Access &access : accesses)
      isNew |= place(access.memref);
  return isNew;
}

//===----------------------------------------------------------------------===//
// What crosses between the host and the device
//===----------------------------------------------------------------------===//

static MemRefType withSpace(MemRefType type, Attribute space) {
  return MemRefType::get(type.getShape(), type.getElementType(),
                         type.getLayout(), space);
}

static Attribute getDeviceSpace(MLIRContext *context) {
  return gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Global);
}

/// A buffer of `type` with the extents of `like`.
static Value createBuffer(OpBuilder &builder, Location loc, MemRefType type,
                          Value like) {
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      extents.push_back(memref::DimOp::create(builder, loc, like, dim));
  return memref::AllocOp::create(builder, loc, type, extents);
}

static MemRefType getHostType(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// A copy on the device of `source`, a buffer of the host, in place of it; it
/// is released at the end of `block`.
static void moveToDevice(OpBuilder &builder, Value source, Block *block) {
  Location loc = source.getLoc();
  builder.setInsertionPointAfterValue(source);
  auto type =
      withSpace(getHostType(source), getDeviceSpace(builder.getContext()));
  Value copy = createBuffer(builder, loc, type, source);
  Operation *copied = memref::CopyOp::create(builder, loc, source, copy);
  source.replaceUsesWithIf(copy, [&](OpOperand &use) {
    return use.getOwner() != copied && !isa<memref::DimOp>(use.getOwner());
  });
  builder.setInsertionPoint(block->getTerminator());
  memref::DeallocOp::create(builder, loc, copy);
}

/// Releases `buffers`, of which several may be the same one, once each.
static void release(OpBuilder &builder, Location loc, ArrayRef<Value> buffers) {
  SmallVector<Value> addresses;
  for (Value buffer : buffers) {
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
    Value isFirst;
    for (Value earlier : addresses) {
      Value differs = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ne, address, earlier);
      isFirst = isFirst ? arith::AndIOp::create(builder, loc, isFirst, differs)
                        : differs;
    }
    addresses.push_back(address);
    OpBuilder::InsertionGuard guard(builder);
    if (isFirst) {
      auto branch = scf::IfOp::create(builder, loc, isFirst);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    memref::DeallocOp::create(builder, loc, buffer);
  }
}

/// Copies what a public function returns to the host, where its caller owns it.
static void returnFromDevice(func::ReturnOp op) {
  OpBuilder builder(op);
  llvm::SmallMapVector<Value, Value, 4> copied;
  for (OpOperand &operand : op->getOpOperands()) {
    Value result = operand.get();
    if (!isOnDevice(result.getType()))
      continue;
    Value &copy = copied[result];
    if (!copy) {
      copy = createBuffer(builder, op.getLoc(), getHostType(result), result);
      memref::CopyOp::create(builder, op.getLoc(), result, copy);
    }
    operand.set(copy);
  }
  release(builder, op.getLoc(),
          llvm::to_vector(llvm::make_first_range(copied)));
}

/// Gives an op of the host copies of the operands that are on the device, and
/// copies back what it writes.
static LogicalResult stage(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return op->emitOpError("accesses the memory of the device, which the host "
                           "cannot do");
  OpBuilder builder(op->getContext());
  Location loc = op->getLoc();
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isOnDevice(value.getType()))
      continue;
    SmallVector<MemoryEffects::EffectInstance> found;
    effects.getEffectsOnValue(value, found);
    bool isWritten =
        llvm::any_of(found, [](const MemoryEffects::EffectInstance &effect) {
          return isa<MemoryEffects::Write>(effect.getEffect());
        });
    builder.setInsertionPoint(op);
    Value copy = createBuffer(builder, loc, getHostType(value), value);
    // What is written may be written in part.
    memref::CopyOp::create(builder, loc, value, copy);
    builder.setInsertionPointAfter(op);
    if (isWritten)
      memref::CopyOp::create(builder, loc, copy, value);
    memref::DeallocOp::create(builder, loc, copy);
    operand.set(copy);
  }
  return success();
}

/// Whether memrefs of the device may be operands of `op`.
static bool takesDevice(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, func::FuncDialect,
                         gpu::GPUDialect, memref::MemRefDialect,
                         scf::SCFDialect>(op->getDialect()) ||
         isa<linalg::LinalgOp, InnerProductOp>(op) || isProductOnDevice(op);
}

namespace {
struct PlaceBuffersPass
    : sparse_autograd::impl::PlaceBuffersBase<PlaceBuffersPass> {
  void runOnOperation() override;

private:
  void setSpaces(const Placement &placement);
};
} // namespace

/// Puts the memory space into the types of what is on the device. Public
/// functions take and return buffers of the host.
void PlaceBuffersPass::setSpaces(const Placement &placement) {
  ModuleOp module = getOperation();
  Attribute space = getDeviceSpace(&getContext());
  auto set = [&](Value value) {
    if (auto type = dyn_cast<MemRefType>(value.getType()))
      if (placement.isOnDevice(value))
        value.setType(withSpace(type, space));
  };
  module.walk([&](Operation *op) {
    if (!isa<memref::GetGlobalOp>(op))
      llvm::for_each(op->getResults(), set);
    auto function = dyn_cast<func::FuncOp>(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!function || !function.isPublic() || !block.isEntryBlock())
          llvm::for_each(block.getArguments(), set);
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || function.isPublic())
      continue;
    SmallVector<Type> results(function.getResultTypes());
    function.walk([&](func::ReturnOp op) {
      results.assign(op->operand_type_begin(), op->operand_type_end());
    });
    function.setType(FunctionType::get(
        &getContext(), function.front().getArgumentTypes(), results));
  }
}

void PlaceBuffersPass::runOnOperation() {
  ModuleOp module = getOperation();
  // What does not depend on anything is there once.
  module.walk([](memref::GetGlobalOp op) {
    auto function = op->getParentOfType<func::FuncOp>();
    if (function)
      op->moveBefore(&function.front(), function.front().begin());
  });
  Placement placement(module);
  SmallVector<Value> copiedIn;
  SmallVector<memref::AllocaOp> slots;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (function.isPublic()) {
      if (!function.getBody().hasOneBlock() ||
          !SymbolTable::symbolKnownUseEmpty(function, module)) {
        function.emitError("is a public function that the program itself "
                           "calls, which the GPU target has no code for; call "
                           "a private one in both places");
        return signalPassFailure();
      }
      FunctionType signature = function.getFunctionType();
      for (Type type : llvm::concat<const Type>(signature.getInputs(),
                                                signature.getResults()))
        if (auto buffer = dyn_cast<BaseMemRefType>(type);
            buffer && buffer.getMemorySpace()) {
          function.emitError("is a public function with a buffer in a memory "
                             "space: what it takes and returns is on the host "
                             "until this pass has placed it");
          return signalPassFailure();
        }
      for (BlockArgument argument : function.getArguments())
        if (isa<MemRefType>(argument.getType()) &&
            placement.isOnDevice(argument))
          copiedIn.push_back(argument);
    }
    function.walk([&](memref::GetGlobalOp op) {
      if (placement.isOnDevice(op.getResult()))
        copiedIn.push_back(op.getResult());
    });
    function.walk([&](memref::AllocaOp op) {
      if (placement.isOnDevice(op.getResult()))
        slots.push_back(op);
    });
  }
  // There is no stack on the device that kernels share.
  for (memref::AllocaOp slot : slots) {
    OpBuilder builder(slot);
    auto buffer = memref::AllocOp::create(
        builder, slot.getLoc(),
        withSpace(slot.getType(), getDeviceSpace(&getContext())),
        slot.getDynamicSizes());
    builder.setInsertionPoint(slot->getBlock()->getTerminator());
    memref::DeallocOp::create(builder, slot.getLoc(), buffer);
    // The class of the slot is asked for by what is left of it.
    slot.getResult().replaceAllUsesWith(buffer.getResult());
    slot.erase();
  }
  setSpaces(placement);
  OpBuilder builder(&getContext());
  for (Value value : copiedIn)
    moveToDevice(builder, value, value.getParentBlock());
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      function.walk([](func::ReturnOp op) { returnFromDevice(op); });
  // A function without a body has the types that it is declared with.
  SymbolTableCollection tables;
  WalkResult called = module.walk([&](func::CallOp call) {
    auto callee = tables.lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!callee || !callee.isExternal() ||
        call.getCalleeType() == callee.getFunctionType())
      return WalkResult::advance();
    call.emitOpError("passes a buffer of the device to '")
        << call.getCallee()
        << "', which the module does not define; define it, or call it with a "
           "buffer that no kernel accesses";
    return WalkResult::interrupt();
  });
  if (called.wasInterrupted())
    return signalPassFailure();
  WalkResult staged = module.walk([&](Operation *op) -> WalkResult {
    if (takesDevice(op) || llvm::none_of(op->getOperandTypes(), [](Type type) {
          return isOnDevice(type);
        }))
      return WalkResult::advance();
    return stage(op);
  });
  if (staged.wasInterrupted())
    signalPassFailure();
}
