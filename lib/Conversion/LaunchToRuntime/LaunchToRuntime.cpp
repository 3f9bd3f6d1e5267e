//===- LaunchToRuntime.cpp - a device, by calls of the runtime ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/LaunchToRuntime/LaunchToRuntime.h"

#include "../RuntimeCalls.h"
#include "Images.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_LAUNCHTORUNTIME
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// Code of kernels, and their names, as constants of the module.
struct KernelConstants {
  llvm::StringMap<LLVM::GlobalOp> images, names;
};

/// Replaces one op by calls.
class CallBuilder : public RuntimeCallBuilder {
public:
  CallBuilder(Operation *op, SymbolTable &symbols, KernelConstants &constants)
      : RuntimeCallBuilder(op, symbols), constants(constants) {}

  LogicalResult lower(gpu::LaunchFuncOp launch);
  LogicalResult lower(memref::CopyOp copy);

private:
  Value countBytes(Value memref);
  void addParameters(Value operand, SmallVectorImpl<Value> &words);
  Value nameOf(gpu::LaunchFuncOp launch);

  KernelConstants &constants;
};

} // namespace

/// The bytes of the elements of `memref`, which lie without gaps.
Value CallBuilder::countBytes(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  unsigned bits =
      type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  Value bytes =
      arith::ConstantIndexOp::create(builder, loc, llvm::divideCeil(bits, 8));
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    bytes = arith::MulIOp::create(
        builder, loc, bytes, memref::DimOp::create(builder, loc, memref, dim));
  return toI64(builder, loc, bytes);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Adds what a kernel takes for `operand`: of a memref the fields of its
/// descriptor (see sparse-autograd-kernel-to-nvvm).
void CallBuilder::addParameters(Value operand, SmallVectorImpl<Value> &words) {
  if (!isa<MemRefType>(operand.getType())) {
    words.push_back(word(operand));
    return;
  }
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, operand);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value base = getElementPointer(builder, loc, operand, zero);
  words.append({word(base), word(base), word(metadata.getOffset())});
  for (ValueRange fields : {metadata.getSizes(), metadata.getStrides()})
    for (Value field : fields)
      words.push_back(word(field));
}

/// The address of the name of the kernel.
Value CallBuilder::nameOf(gpu::LaunchFuncOp launch) {
  StringRef kernel = launch.getKernelName().getValue();
  std::string name =
      (launch.getKernelModuleName().getValue() + "." + kernel + ".name").str();
  LLVM::GlobalOp &text = constants.names[name];
  if (!text) {
    OpBuilder atEnd =
        OpBuilder::atBlockEnd(&symbols.getOp()->getRegion(0).front());
    text = createText(atEnd, loc, name, kernel);
    symbols.insert(text);
  }
  return LLVM::AddressOfOp::create(builder, loc, text);
}

LogicalResult CallBuilder::lower(gpu::LaunchFuncOp launch) {
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty() ||
      launch.getAsyncObject() || launch.hasClusterSize())
    return launch.emitOpError(
        "cannot be a call of the runtime: launches are in "
        "the order of the program, without tokens, streams "
        "and clusters of their own");
  auto image = constants.images.find(launch.getKernelModuleName().getValue());
  if (image == constants.images.end())
    return launch.emitOpError("launches a kernel of '")
           << launch.getKernelModuleName().getValue()
           << "', of which there is no code; compile it with "
              "sparse-autograd-kernel-to-object";
  SmallVector<Value> words;
  for (Value operand : launch.getKernelOperands())
    addParameters(operand, words);
  Value values = list(words);
  SmallVector<Value> places;
  for (size_t index = 0; index < words.size(); ++index)
    places.push_back(LLVM::GEPOp::create(
        builder, loc, values.getType(), builder.getI64Type(), values,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)}));
  SmallVector<Value> arguments = {
      LLVM::AddressOfOp::create(builder, loc, image->second), nameOf(launch)};
  for (gpu::KernelDim3 extents :
       {launch.getGridSizeOperandValues(), launch.getBlockSizeOperandValues()})
    for (Value extent : {extents.x, extents.y, extents.z})
      arguments.push_back(word(extent));
  Value shared = launch.getDynamicSharedMemorySize();
  arguments.push_back(shared ? word(shared) : constant(0));
  arguments.push_back(constant(static_cast<int64_t>(words.size())));
  arguments.push_back(list(places));
  call("sparseAutogradDeviceLaunch", arguments);
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Whether the elements of `type` lie without gaps, in order.
static bool isContiguous(MemRefType type) {
  return type.areTrailingDimsContiguous(type.getRank());
}

LogicalResult CallBuilder::lower(memref::CopyOp copy) {
  Value source = copy.getSource(), target = copy.getTarget();
  auto sourceType = dyn_cast<MemRefType>(source.getType());
  auto targetType = dyn_cast<MemRefType>(target.getType());
  if (!sourceType || !targetType || !isContiguous(sourceType) ||
      !isContiguous(targetType))
    return copy.emitOpError(
        "between the host and the device, or on the device, "
        "is of memrefs whose elements lie without gaps; copy "
        "parts of a tensor in a kernel");
  StringRef name = !isOnDevice(sourceType)   ? "sparseAutogradDeviceCopyIn"
                   : !isOnDevice(targetType) ? "sparseAutogradDeviceCopyOut"
                                             : "sparseAutogradDeviceCopy";
  call(name, {pointer(target), pointer(source), countBytes(source)});
  return success();
}

namespace {
struct LaunchToRuntimePass
    : sparse_autograd::impl::LaunchToRuntimeBase<LaunchToRuntimePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    KernelConstants constants;
    SmallVector<LLVM::GlobalOp> images;
    for (auto binary : llvm::to_vector(module.getOps<gpu::BinaryOp>())) {
      std::string name = binary.getName().str();
      FailureOr<LLVM::GlobalOp> image = createImage(binary, symbols);
      if (failed(image))
        return signalPassFailure();
      constants.images[name] = *image;
      images.push_back(*image);
    }
    if (!images.empty())
      createImageList(images, symbols);
    WalkResult lowered = module.walk([&](Operation *op) -> WalkResult {
      CallBuilder calls(op, symbols, constants);
      LogicalResult done = failure();
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
        done = calls.lower(launch);
      else if (auto copy = dyn_cast<memref::CopyOp>(op);
               copy && llvm::any_of(op->getOperandTypes(), isOnDevice))
        done = calls.lower(copy);
      else
        return WalkResult::advance();
      if (succeeded(done))
        op->erase();
      return done;
    });
    if (lowered.wasInterrupted())
      return signalPassFailure();
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }
};
} // namespace
