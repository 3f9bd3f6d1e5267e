//===- RuntimePatterns.cpp - conversions that call the runtime --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "../RuntimeCalls.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// Upstream's patterns have 1.
static constexpr unsigned ownBenefit = 10;

static Value createInteger(OpBuilder &builder, Location loc, Type type,
                           int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, type,
                                  builder.getIntegerAttr(type, value));
}

namespace sparse_autograd {

class RuntimeSymbols {
public:
  explicit RuntimeSymbols(SymbolTableCollection &tables) : tables(tables) {}

  /// A function of the runtime; fails if the module has another of its name.
  FailureOr<LLVM::LLVMFuncOp> getFunction(OpBuilder &builder, Operation *user,
                                          StringRef name,
                                          ArrayRef<Type> parameters,
                                          Type result = {}) {
    return LLVM::lookupOrCreateFn(
        builder, user->getParentOfType<ModuleOp>(), name, parameters,
        result ? result : LLVM::LLVMVoidType::get(builder.getContext()),
        /*isVarArg=*/false, /*isReserved=*/false, &tables);
  }

  /// The address of a zero-terminated constant with the text of `text`. Equal
  /// texts share one.
  Value getString(OpBuilder &builder, Operation *user, StringRef text);

private:
  SymbolTableCollection &tables;
  llvm::StringMap<LLVM::GlobalOp> strings;
};

} // namespace sparse_autograd

Value RuntimeSymbols::getString(OpBuilder &builder, Operation *user,
                                StringRef text) {
  auto [entry, isNew] = strings.try_emplace(text);
  if (isNew) {
    auto module = user->getParentOfType<ModuleOp>();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    entry->second = createText(builder, builder.getUnknownLoc(),
                               "sparse_autograd.string", text);
    tables.getSymbolTable(module).insert(entry->second);
  }
  return LLVM::AddressOfOp::create(builder, user->getLoc(), entry->second);
}

namespace {

/// A pattern that may add symbols to the module.
template <typename OpTy>
class RuntimePattern : public ConvertOpToLLVMPattern<OpTy> {
public:
  RuntimePattern(const LLVMTypeConverter &converter,
                 std::shared_ptr<RuntimeSymbols> symbols)
      : ConvertOpToLLVMPattern<OpTy>(converter, ownBenefit),
        symbols(std::move(symbols)) {}

protected:
  std::shared_ptr<RuntimeSymbols> symbols;
};

/// memref.alloc -> sparseAutogradAllocate(bytes), or, in the memory of a
/// device, sparseAutogradDeviceAllocate(bytes). Bytes that overflow are -1,
/// which the runtime refuses.
struct AllocOpLowering : RuntimePattern<memref::AllocOp> {
  using RuntimePattern::RuntimePattern;

  LogicalResult
  matchAndRewrite(memref::AllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemRefType type = op.getType();
    if (!isConvertibleAndHasIdentityMaps(type) ||
        op.getAlignment().value_or(1) > 64)
      return rewriter.notifyMatchFailure(
          op, "needs the identity layout and an alignment of at most 64");
    Type i64 = rewriter.getI64Type();
    Type element = getTypeConverter()->convertType(type.getElementType());
    Value bytes = createInteger(
        rewriter, loc, i64,
        DataLayout::closest(op).getTypeSize(element).getFixedValue());
    Value zero = createInteger(rewriter, loc, i64, 0);
    Value overflow;
    auto note = [&](Value flag) {
      overflow =
          overflow ? LLVM::OrOp::create(rewriter, loc, overflow, flag) : flag;
    };
    // A dimension of extent 0 does not hide the overflow of others: the sizes
    // are still wrong, and such an allocation is an error too.
    ValueRange dynamicSizes = adaptor.getDynamicSizes();
    SmallVector<Value> sizes;
    for (int64_t extent : type.getShape()) {
      if (!ShapedType::isDynamic(extent)) {
        sizes.push_back(createInteger(rewriter, loc, i64, extent));
        continue;
      }
      sizes.push_back(dynamicSizes.front());
      dynamicSizes = dynamicSizes.drop_front();
      note(LLVM::ICmpOp::create(rewriter, loc, LLVM::ICmpPredicate::slt,
                                sizes.back(), zero));
    }
    SmallVector<Value> strides(sizes.size());
    Value stride = createInteger(rewriter, loc, i64, 1);
    auto pair = LLVM::LLVMStructType::getLiteral(rewriter.getContext(),
                                                 {i64, rewriter.getI1Type()});
    for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= 0; --i) {
      strides[i] = stride;
      stride = LLVM::MulOp::create(rewriter, loc, stride, sizes[i]);
      if (type.hasStaticShape()) {
        bytes = LLVM::MulOp::create(rewriter, loc, bytes, sizes[i]);
        continue;
      }
      Value product = LLVM::SMulWithOverflowOp::create(rewriter, loc, pair,
                                                       bytes, sizes[i]);
      bytes = LLVM::ExtractValueOp::create(rewriter, loc, product, 0);
      note(LLVM::ExtractValueOp::create(rewriter, loc, product, 1));
    }
    if (overflow)
      bytes =
          LLVM::SelectOp::create(rewriter, loc, overflow,
                                 createInteger(rewriter, loc, i64, -1), bytes);
    FailureOr<LLVM::LLVMFuncOp> allocate =
        symbols->getFunction(rewriter, op,
                             isOnDevice(type) ? "sparseAutogradDeviceAllocate"
                                              : "sparseAutogradAllocate",
                             {i64}, getPtrType());
    if (failed(allocate))
      return failure();
    Value block =
        LLVM::CallOp::create(rewriter, loc, *allocate, bytes).getResult();
    rewriter.replaceOp(op,
                       Value(createMemRefDescriptor(loc, type, block, block,
                                                    sizes, strides, rewriter)));
    return success();
  }
};

/// memref.dealloc -> sparseAutogradDeallocate, or that of the device.
struct DeallocOpLowering : RuntimePattern<memref::DeallocOp> {
  using RuntimePattern::RuntimePattern;

  LogicalResult
  matchAndRewrite(memref::DeallocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<LLVM::LLVMFuncOp> deallocate = symbols->getFunction(
        rewriter, op,
        isOnDevice(op.getMemref().getType()) ? "sparseAutogradDeviceDeallocate"
                                             : "sparseAutogradDeallocate",
        {getPtrType()});
    if (failed(deallocate))
      return failure();
    Value block = MemRefDescriptor(adaptor.getMemref())
                      .allocatedPtr(rewriter, op.getLoc());
    rewriter.replaceOpWithNewOp<LLVM::CallOp>(op, *deallocate, block);
    return success();
  }
};

/// An i1 in memory is a byte: stored as 0 or 1, and read as true unless it is
/// 0, since callers may have others. LLVM's loop vectorizer refuses loads of
/// types whose size in memory is not their own.
template <typename OpTy>
struct BoolPattern : ConvertOpToLLVMPattern<OpTy> {
  using ConvertOpToLLVMPattern<OpTy>::ConvertOpToLLVMPattern;
  using OpAdaptor = typename OpTy::Adaptor;

  LogicalResult
  matchAndRewrite(OpTy op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MemRefType type = op.getMemRefType();
    if (!type.getElementType().isInteger(1))
      return failure();
    Value place = this->getStridedElementPtr(
        rewriter, op.getLoc(), type, adaptor.getMemref(), adaptor.getIndices(),
        LLVM::GEPNoWrapFlags::inbounds | LLVM::GEPNoWrapFlags::nuw);
    replace(op, adaptor, place, rewriter);
    return success();
  }

  /// `place` is where the byte is.
  virtual void replace(OpTy op, OpAdaptor adaptor, Value place,
                       ConversionPatternRewriter &rewriter) const = 0;
};

struct BoolLoadOpLowering : BoolPattern<memref::LoadOp> {
  using BoolPattern::BoolPattern;

  void replace(memref::LoadOp op, OpAdaptor, Value place,
               ConversionPatternRewriter &rewriter) const override {
    Type i8 = rewriter.getI8Type();
    Value byte = LLVM::LoadOp::create(rewriter, op.getLoc(), i8, place);
    rewriter.replaceOpWithNewOp<LLVM::ICmpOp>(
        op, LLVM::ICmpPredicate::ne, byte,
        createInteger(rewriter, op.getLoc(), i8, 0));
  }
};

struct BoolStoreOpLowering : BoolPattern<memref::StoreOp> {
  using BoolPattern::BoolPattern;

  void replace(memref::StoreOp op, OpAdaptor adaptor, Value place,
               ConversionPatternRewriter &rewriter) const override {
    Value byte = LLVM::ZExtOp::create(rewriter, op.getLoc(),
                                      rewriter.getI8Type(), adaptor.getValue());
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, byte, place);
  }
};

/// sparse_autograd.log -> sparseAutogradLog(count, names, kinds, values).
struct LogOpLowering : RuntimePattern<LogOp> {
  using RuntimePattern::RuntimePattern;

  LogicalResult
  matchAndRewrite(LogOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // Before anything is made: what a pattern makes before it fails is undone,
    // which the symbols do not notice.
    for (Type type : op.getValues().getTypes())
      if (!type.isIndex() && type.getIntOrFloatBitWidth() > 64)
        return rewriter.notifyMatchFailure(op, "an integer wider than 64 bits");
    Location loc = op.getLoc();
    Type i64 = rewriter.getI64Type(), i8 = rewriter.getI8Type();
    Type f64 = rewriter.getF64Type();
    Type pointer = getPtrType();
    int32_t count = op.getNames().size();
    FailureOr<LLVM::LLVMFuncOp> log = symbols->getFunction(
        rewriter, op, "sparseAutogradLog", {i64, pointer, pointer, pointer});
    if (failed(log))
      return failure();
    Value number = createInteger(rewriter, loc, i64, count);
    Value names =
        LLVM::AllocaOp::create(rewriter, loc, pointer, pointer, number);
    Value kinds = LLVM::AllocaOp::create(rewriter, loc, pointer, i8, number);
    Value values = LLVM::AllocaOp::create(rewriter, loc, pointer, i64, number);
    auto place = [&](Value array, Type type, int32_t i) -> Value {
      return LLVM::GEPOp::create(rewriter, loc, pointer, type, array,
                                 ArrayRef<LLVM::GEPArg>{i});
    };
    for (int32_t i = 0; i < count; ++i) {
      StringRef name = cast<StringAttr>(op.getNames()[i]).getValue();
      LLVM::StoreOp::create(rewriter, loc,
                            symbols->getString(rewriter, op, name),
                            place(names, pointer, i));
      Type type = op.getValues()[i].getType();
      Value value = adaptor.getValues()[i];
      bool isFloat = isa<FloatType>(type);
      LLVM::StoreOp::create(rewriter, loc,
                            createInteger(rewriter, loc, i8,
                                          isFloat
                                              ? SPARSE_AUTOGRAD_LOG_FLOAT
                                              : SPARSE_AUTOGRAD_LOG_INTEGER),
                            place(kinds, i8, i));
      if (isFloat) {
        if (type.getIntOrFloatBitWidth() < 64)
          value = LLVM::FPExtOp::create(rewriter, loc, f64, value);
      } else if (type.isInteger(1)) {
        value = LLVM::ZExtOp::create(rewriter, loc, i64, value);
      } else if (!type.isIndex() && type.getIntOrFloatBitWidth() < 64) {
        value = LLVM::SExtOp::create(rewriter, loc, i64, value);
      }
      LLVM::StoreOp::create(rewriter, loc, value, place(values, i64, i));
    }
    rewriter.replaceOpWithNewOp<LLVM::CallOp>(
        op, *log, ValueRange{number, names, kinds, values});
    return success();
  }
};

} // namespace

void sparse_autograd::populateRuntimePatterns(
    const LLVMTypeConverter &converter, std::shared_ptr<RuntimeSymbols> symbols,
    RewritePatternSet &patterns) {
  patterns.add<BoolLoadOpLowering, BoolStoreOpLowering>(converter, ownBenefit);
  patterns.add<AllocOpLowering, DeallocOpLowering, LogOpLowering>(converter,
                                                                  symbols);
}

/// cf.assert -> a branch to sparseAutogradRaise, which does not return.
static LogicalResult lowerAssertion(cf::AssertOp op, RewriterBase &rewriter,
                                    RuntimeSymbols &symbols) {
  Location loc = op.getLoc();
  Type i32 = rewriter.getI32Type();
  FailureOr<LLVM::LLVMFuncOp> raise = symbols.getFunction(
      rewriter, op, "sparseAutogradRaise",
      {i32, LLVM::LLVMPointerType::get(rewriter.getContext())});
  if (failed(raise))
    return failure();
  Block *before = op->getBlock();
  Block *after = rewriter.splitBlock(before, std::next(Block::iterator(op)));
  Block *failed = rewriter.createBlock(before->getParent());
  // The calls of the runtime that raise are all there is that never returns:
  // what they are about is the arguments.
  Value message = symbols.getString(rewriter, op, op.getMsg());
  LLVM::CallOp::create(
      rewriter, loc, *raise,
      ValueRange{
          createInteger(rewriter, loc, i32, SPARSE_AUTOGRAD_INVALID_ARGUMENT),
          message});
  LLVM::UnreachableOp::create(rewriter, loc);
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<LLVM::CondBrOp>(
      op, op.getArg(), after, ValueRange(), failed, ValueRange(),
      std::pair<uint32_t, uint32_t>(1000000, 1));
  return success();
}

std::shared_ptr<RuntimeSymbols>
sparse_autograd::createRuntimeSymbols(SymbolTableCollection &tables) {
  return std::make_shared<RuntimeSymbols>(tables);
}

LogicalResult sparse_autograd::lowerAssertions(ModuleOp module,
                                               RuntimeSymbols &symbols) {
  IRRewriter rewriter(module.getContext());
  SmallVector<SmallVector<cf::AssertOp>> blocks;
  module.walk([&](Block *block) {
    if (isa<func::FuncOp>(block->getParentOp()))
      blocks.push_back(llvm::to_vector(block->getOps<cf::AssertOp>()));
  });
  // From the end of a block: what is behind an assertion moves to a block of
  // its own, once.
  for (ArrayRef<cf::AssertOp> assertions : blocks)
    for (cf::AssertOp assertion : llvm::reverse(assertions))
      if (failed(lowerAssertion(assertion, rewriter, symbols)))
        return failure();
  return success();
}
