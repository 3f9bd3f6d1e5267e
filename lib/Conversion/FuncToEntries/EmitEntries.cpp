//===- EmitEntries.cpp - functions to C entries -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"

#include "../RuntimeCalls.h"
#include "EntryEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_EMITENTRIES
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// What the functions of the program are called in the compiled code, so that
/// one named `exp` or `free` does not collide with the C library's.
static constexpr llvm::StringLiteral functionPrefix =
    "sparse_autograd.function.";

LLVM::CallOp EntryEmitter::callRuntime(StringRef name, Type result,
                                       ValueRange operands) {
  FailureOr<LLVM::LLVMFuncOp> callee = LLVM::lookupOrCreateFn(
      builder, module, name, llvm::to_vector(operands.getTypes()), result);
  assert(succeeded(callee) && "one signature for each function of the runtime");
  return LLVM::CallOp::create(builder, loc, *callee, operands);
}

/// The address of a constant with the record of an entry.
static LLVM::AddressOfOp createRecord(OpBuilder &builder, ModuleOp module,
                                      Location loc, StringRef entry,
                                      ArrayRef<int64_t> numbers) {
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())},
                                      builder.getI64Type());
    global = LLVM::GlobalOp::create(
        builder, loc,
        LLVM::LLVMArrayType::get(builder.getI64Type(), numbers.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal,
        ("sparse_autograd.record." + entry).str(),
        DenseElementsAttr::get(type, numbers));
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

LogicalResult EntryEmitter::emit(func::FuncOp function,
                                 const llvm::json::Object &entry) {
  MLIRContext *context = module.getContext();
  loc = function.getLoc();
  auto nothing = LLVM::LLVMVoidType::get(context);
  Type i32 = builder.getI32Type();
  StringRef name = *entry.getString("name");

  builder.setInsertionPointToEnd(module.getBody());
  auto body =
      func::FuncOp::create(builder, loc, ("sparse_autograd.body." + name).str(),
                           builder.getFunctionType({pointer, pointer}, {}));
  body.setPrivate();
  Block *block = body.addEntryBlock();
  builder.setInsertionPointToStart(block);
  auto refuse = [&]() {
    return function.emitError(
        "has another signature than the manifest says; record the manifest "
        "after the last pass that changes signatures on tensors");
  };
  FunctionType signature = function.getFunctionType();
  for (Type type :
       llvm::concat<const Type>(signature.getInputs(), signature.getResults()))
    if (!isPassed(type))
      return function.emitError("has an argument or a result of type ")
             << type
             << ", which no entry takes or returns; run "
                "sparse-autograd-tensor-to-buffer before "
                "sparse-autograd-emit-entries";
  const llvm::json::Array *arguments = entry.getArray("arguments");
  const llvm::json::Array *resultDescriptions = entry.getArray("results");
  std::optional<SmallVector<int64_t>> numbers = makeRecord(entry);
  if (!arguments || !resultDescriptions || !numbers)
    return refuse();
  checksStorage = !entry.getBoolean("unchecked").value_or(false);
  packed.clear();
  staged.clear();
  announceAllocations(function, entry);
  callRuntime("sparseAutogradBeginEntry", nothing,
              Value(createRecord(builder, module, loc, name, *numbers)));
  auto argumentPlaces =
      loadPointers(block->getArgument(0), *arguments, "argument");
  auto resultPlaces =
      loadPointers(block->getArgument(1), *resultDescriptions, "result");
  SmallVector<Value> operands;
  if (failed(argumentPlaces) || failed(resultPlaces) ||
      failed(loadArguments(*argumentPlaces, *arguments,
                           function.getArgumentTypes(), operands)))
    return refuse();
  callRuntime("sparseAutogradCheckDestinations", nothing, {});
  auto call = func::CallOp::create(builder, loc, function, operands);
  SmallVector<Value> results = separate(function, call.getResults(), operands);
  ArrayRef<Value> remaining = results;
  for (size_t i = 0; i < resultDescriptions->size(); ++i) {
    std::optional<ResultLayout> layout = ResultLayout::parse(entry, i);
    if (!layout || failed(stage(i, *layout, remaining, *argumentPlaces)))
      return refuse();
  }
  if (!remaining.empty())
    return refuse();
  for (Value copy : packed)
    callRuntime("sparseAutogradDeallocate", nothing, copy);
  // Nothing raises from here on.
  for (auto [place, lists] : llvm::zip_equal(*resultPlaces, staged))
    store(place, lists);
  func::ReturnOp::create(builder, loc);

  // The entry itself.
  builder.setInsertionPointToEnd(module.getBody());
  auto outer = LLVM::LLVMFuncOp::create(
      builder, loc, *entry.getString("symbol"),
      LLVM::LLVMFunctionType::get(i32, {pointer, pointer}));
  Block *outerBlock = outer.addEntryBlock(builder);
  builder.setInsertionPointToStart(outerBlock);
  Value bodyAddress =
      cast(func::ConstantOp::create(builder, loc, body.getFunctionType(),
                                    body.getName()),
           pointer);
  auto guard = module.lookupSymbol<LLVM::LLVMFuncOp>("sparseAutogradGuard");
  auto status =
      LLVM::CallOp::create(builder, loc, guard,
                           ValueRange{bodyAddress, outerBlock->getArgument(0),
                                      outerBlock->getArgument(1)});
  LLVM::ReturnOp::create(builder, loc, status.getResult());
  return success();
}

namespace {
struct EmitEntriesPass
    : sparse_autograd::impl::EmitEntriesBase<EmitEntriesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    auto text = module->getAttrOfType<StringAttr>(manifestAttributeName);
    if (!text) {
      module.emitError("has no manifest; run "
                       "sparse-autograd-record-manifest first");
      return signalPassFailure();
    }
    llvm::Expected<llvm::json::Value> manifest = llvm::json::parse(text);
    if (!manifest) {
      module.emitError("'")
          << manifestAttributeName
          << "' is not JSON: " << llvm::toString(manifest.takeError());
      return signalPassFailure();
    }
    const llvm::json::Object *object = manifest->getAsObject();
    const llvm::json::Array *entries =
        object ? object->getArray("entries") : nullptr;
    if (!entries) {
      module.emitError("'") << manifestAttributeName << "' has no entries";
      return signalPassFailure();
    }

    LowerToLLVMOptions options(context);
    LLVMTypeConverter converter(context, options);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    Type pointer = LLVM::LLVMPointerType::get(context);
    LLVM::LLVMFuncOp::create(
        builder, module.getLoc(), "sparseAutogradGuard",
        LLVM::LLVMFunctionType::get(builder.getI32Type(),
                                    {pointer, pointer, pointer}));

    EntryEmitter emitter(module, converter);
    for (const llvm::json::Value &value : *entries) {
      const llvm::json::Object *entry = value.getAsObject();
      if (!entry || !entry->getString("name") || !entry->getString("symbol")) {
        module.emitError("'") << manifestAttributeName
                              << "' has an entry without a name or a symbol";
        return signalPassFailure();
      }
      StringRef name = *entry->getString("name");
      auto function = module.lookupSymbol<func::FuncOp>(name);
      if (!function || function.isExternal()) {
        module.emitError("the manifest lists the function '")
            << name << "', which the module does not define";
        return signalPassFailure();
      }
      if (failed(emitter.emit(function, *entry)))
        return signalPassFailure();
    }

    SymbolTableCollection tables;
    SymbolUserMap users(tables, module);
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (function.isExternal() ||
          function.getName().starts_with("sparse_autograd."))
        continue;
      function.setPrivate();
      auto renamed =
          StringAttr::get(context, functionPrefix + function.getName());
      users.replaceAllUsesWith(function, renamed);
      function.setSymNameAttr(renamed);
    }

    builder.setInsertionPointToEnd(module.getBody());
    createText(builder, module.getLoc(), manifestSymbol, text,
               LLVM::Linkage::External);
    module->removeAttr(manifestAttributeName);
  }
};
} // namespace
