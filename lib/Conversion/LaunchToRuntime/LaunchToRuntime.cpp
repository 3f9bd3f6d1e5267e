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
#include "llvm/ADT/TypeSwitch.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_LAUNCHTORUNTIME
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// Replaces ops of one module by calls.
class CallBuilder {
public:
  explicit CallBuilder(ModuleOp module)
      : symbols(module), builder(module.getContext()) {}

  LogicalResult createImages(ModuleOp module);
  LogicalResult lower(Operation *op);

private:
  LogicalResult lowerLaunch(gpu::LaunchFuncOp op);
  LogicalResult lowerCopy(memref::CopyOp op);

  void call(StringRef name, ArrayRef<Value> arguments) {
    auto function =
        declareRuntimeFunction(symbols, name, TypeRange(ValueRange(arguments)));
    func::CallOp::create(builder, loc, function, arguments);
  }
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  }
  /// The address of the first element of `memref`.
  Value pointer(Value memref) {
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, memref);
    return getElementPointer(builder, loc, memref, metadata.getOffset());
  }
  Value countBytes(Value memref);
  void addParameters(Value operand, SmallVectorImpl<Value> &words);
  Value toWord(Value value);
  Value createWords(func::FuncOp function, ArrayRef<Value> words);
  Value nameOf(gpu::LaunchFuncOp op);

  SymbolTable symbols;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
  llvm::StringMap<LLVM::GlobalOp> images, names;
};

} // namespace

LogicalResult CallBuilder::createImages(ModuleOp module) {
  for (auto binary : llvm::to_vector(module.getOps<gpu::BinaryOp>())) {
    std::string name = binary.getName().str();
    FailureOr<LLVM::GlobalOp> image = createImage(binary, symbols);
    if (failed(image))
      return failure();
    images[name] = *image;
  }
  return success();
}

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

/// `value` in the low bytes of a word, where a parameter of its type is read.
Value CallBuilder::toWord(Value value) {
  Type type = value.getType(), word = builder.getI64Type();
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::PtrToIntOp::create(builder, loc, word, value);
  if (type.isIndex())
    return toI64(builder, loc, value);
  if (isa<FloatType>(type)) {
    type = builder.getIntegerType(type.getIntOrFloatBitWidth());
    value = arith::BitcastOp::create(builder, loc, type, value);
  }
  return type == word
             ? value
             : arith::ExtUIOp::create(builder, loc, word, value).getResult();
}

/// Adds what a kernel takes for `operand`: of a memref the fields of its
/// descriptor (see sparse-autograd-kernel-to-nvvm).
void CallBuilder::addParameters(Value operand, SmallVectorImpl<Value> &words) {
  if (!isa<MemRefType>(operand.getType())) {
    words.push_back(toWord(operand));
    return;
  }
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, operand);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value base = getElementPointer(builder, loc, operand, zero);
  words.append({toWord(base), toWord(base), toWord(metadata.getOffset())});
  for (ValueRange fields : {metadata.getSizes(), metadata.getStrides()})
    for (Value field : fields)
      words.push_back(toWord(field));
}

/// The address of a list of `words` on the stack of `function`.
Value CallBuilder::createWords(func::FuncOp function, ArrayRef<Value> words) {
  auto type =
      MemRefType::get(static_cast<int64_t>(words.size()), builder.getI64Type());
  Value list;
  {
    // In the entry block, so that a loop does not take more each time.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    list = memref::AllocaOp::create(builder, loc, type);
  }
  for (auto [index, word] : llvm::enumerate(words)) {
    Value place = arith::ConstantIndexOp::create(builder, loc, index);
    memref::StoreOp::create(builder, loc, word, list, place);
  }
  return pointer(list);
}

/// The address of the name of the kernel.
Value CallBuilder::nameOf(gpu::LaunchFuncOp op) {
  std::string name = (op.getKernelModuleName().getValue() + "." +
                      op.getKernelName().getValue() + ".name")
                         .str();
  LLVM::GlobalOp &text = names[name];
  if (!text)
    text = createText(symbols, loc, name, op.getKernelName().getValue());
  return LLVM::AddressOfOp::create(builder, loc, text);
}

LogicalResult CallBuilder::lowerLaunch(gpu::LaunchFuncOp op) {
  if (op.getAsyncToken() || !op.getAsyncDependencies().empty() ||
      op.getAsyncObject() || op.hasClusterSize())
    return op.emitOpError("cannot be a call of the runtime: launches are in "
                          "the order of the program, without tokens, streams "
                          "and clusters of their own");
  auto image = images.find(op.getKernelModuleName().getValue());
  if (image == images.end())
    return op.emitOpError("launches a kernel of '")
           << op.getKernelModuleName().getValue()
           << "', of which there is no code; compile it with "
              "sparse-autograd-kernel-to-object";
  SmallVector<Value> words;
  for (Value operand : op.getKernelOperands())
    addParameters(operand, words);
  auto function = op->getParentOfType<func::FuncOp>();
  Value list = createWords(function, words);
  SmallVector<Value> places;
  for (size_t index = 0; index < words.size(); ++index)
    places.push_back(toWord(LLVM::GEPOp::create(
        builder, loc, list.getType(), builder.getI64Type(), list,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)})));
  SmallVector<Value> arguments = {
      LLVM::AddressOfOp::create(builder, loc, image->second), nameOf(op)};
  for (gpu::KernelDim3 extents :
       {op.getGridSizeOperandValues(), op.getBlockSizeOperandValues()})
    for (Value extent : {extents.x, extents.y, extents.z})
      arguments.push_back(toWord(extent));
  Value shared = op.getDynamicSharedMemorySize();
  arguments.push_back(shared ? toWord(shared) : constant(0));
  arguments.push_back(constant(static_cast<int64_t>(words.size())));
  arguments.push_back(createWords(function, places));
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

LogicalResult CallBuilder::lowerCopy(memref::CopyOp op) {
  Value source = op.getSource(), target = op.getTarget();
  auto sourceType = dyn_cast<MemRefType>(source.getType());
  auto targetType = dyn_cast<MemRefType>(target.getType());
  if (!sourceType || !targetType || !isContiguous(sourceType) ||
      !isContiguous(targetType))
    return op.emitOpError("between the host and the device, or on the device, "
                          "is of memrefs whose elements lie without gaps; copy "
                          "parts of a tensor in a kernel");
  StringRef name = !isOnDevice(sourceType)   ? "sparseAutogradDeviceCopyIn"
                   : !isOnDevice(targetType) ? "sparseAutogradDeviceCopyOut"
                                             : "sparseAutogradDeviceCopy";
  call(name, {pointer(target), pointer(source), countBytes(source)});
  return success();
}

LogicalResult CallBuilder::lower(Operation *op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](gpu::LaunchFuncOp launch) { return lowerLaunch(launch); })
      .Case([&](memref::CopyOp copy) { return lowerCopy(copy); });
}

namespace {
struct LaunchToRuntimePass
    : sparse_autograd::impl::LaunchToRuntimeBase<LaunchToRuntimePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    CallBuilder calls(module);
    if (failed(calls.createImages(module)))
      return signalPassFailure();
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isa<gpu::LaunchFuncOp>(op) ||
          (isa<memref::CopyOp>(op) &&
           llvm::any_of(op->getOperandTypes(), isOnDevice)))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (failed(calls.lower(op)))
        return signalPassFailure();
      op->erase();
    }
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }
};
} // namespace
