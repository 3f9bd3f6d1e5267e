//===- EmitEntries.cpp - functions to C entries -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"

#include "../RuntimeCalls.h"
#include "ArgumentChecks.h"
#include "ManifestTypes.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/JSON.h"

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

namespace {

/// Emits the entry of one function.
class EntryEmitter {
public:
  EntryEmitter(ModuleOp module, const LLVMTypeConverter &converter)
      : module(module), converter(converter), builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  LogicalResult emit(func::FuncOp function, const llvm::json::Object &entry);

private:
  /// The elements of an array of pointers, each of which is to an argument, or
  /// to the place of a result, of those described; `kind` is what messages call
  /// one.
  FailureOr<SmallVector<Value>>
  loadPointers(Value array, const llvm::json::Array &descriptions,
               StringRef kind);
  Value loadArgument(Value place, Type type, StringRef name);
  /// A list of a sparse argument, of which sparseAutogradCheckArgument checks
  /// the pointer, unless it is that of the values.
  Value loadTensor(Value place, MemRefType type, StringRef name,
                   bool checksPointer);
  /// Appends the components of the sparse tensor at `place`, which are of the
  /// first of `types`, to `operands`; what is left of `types` is the rest.
  LogicalResult loadStorage(Value place, const llvm::json::Object &description,
                            ArrayRef<Type> &types, StringRef name,
                            SmallVectorImpl<Value> &operands);
  /// Checks the storage of a sparse argument at `place`, whose descriptors and
  /// extents have been checked.
  LogicalResult checkStorage(Value place, const llvm::json::Object &encoding,
                             StringRef name);
  /// The address of a zero-terminated constant.
  Value getString(const Twine &text);
  /// Stores the components that `values` begins with at `place`, and drops
  /// them from it.
  LogicalResult storeStorage(Value place, const llvm::json::Object &description,
                             ArrayRef<Value> &values);
  /// Word `index` of the words of 64 bits at `place`.
  Value getWord(Value place, int64_t index) {
    return LLVM::GEPOp::create(
        builder, loc, pointer, builder.getI64Type(), place,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  }
  void storeResult(Value value, Value place);
  /// Makes each byte of a tensor of i1 0 or 1.
  void normalize(Value tensor);
  /// Whether an entry takes and returns values of `type`: numbers, and buffers
  /// of numbers without a layout of their own.
  bool isPassed(Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return memref ? memref.getLayout().isIdentity() &&
                        memref.getElementType().isIntOrIndexOrFloat() &&
                        converter.convertType(type)
                  : type.isIntOrIndexOrFloat();
  }
  Value cast(Value value, Type type) {
    return UnrealizedConversionCastOp::create(builder, loc, type, value)
        .getResult(0);
  }
  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                    builder.getI64IntegerAttr(value));
  }
  ArgumentChecks getChecks() { return {builder, loc}; }

  ModuleOp module;
  const LLVMTypeConverter &converter;
  OpBuilder builder;
  int64_t stringCount = 0;
  Location loc = UnknownLoc::get(module.getContext());
  Type pointer;
};

} // namespace

FailureOr<SmallVector<Value>>
EntryEmitter::loadPointers(Value array, const llvm::json::Array &descriptions,
                           StringRef kind) {
  ArgumentChecks checks = getChecks();
  SmallVector<Value> pointers;
  if (!descriptions.empty())
    checks.requirePointer(array, /*alignment=*/8,
                          "the array of pointers to " + kind + "s");
  for (auto [index, value] : llvm::enumerate(descriptions)) {
    const llvm::json::Object *description = value.getAsObject();
    if (!description)
      return failure();
    pointers.push_back(
        LLVM::LoadOp::create(builder, loc, pointer, getWord(array, index)));
    // Descriptors are made of words.
    checks.requirePointer(
        pointers.back(),
        description->getArray("shape")
            ? 8
            : getBytes(description->getString("element_type").value_or("")),
        kind + " '" + description->getString("name").value_or("") +
            "': the pointer to it");
  }
  return pointers;
}

/// An argument from its place, checked against the type.
Value EntryEmitter::loadArgument(Value place, Type type, StringRef name) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return loadTensor(place, memref, name, /*checksPointer=*/true);
  if (type.isInteger(1)) {
    Value byte = LLVM::LoadOp::create(builder, loc, builder.getI8Type(), place);
    Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI8Type(),
                                          builder.getI8IntegerAttr(0));
    return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, byte,
                                zero);
  }
  Value scalar =
      LLVM::LoadOp::create(builder, loc, converter.convertType(type), place);
  return type.isIndex() ? cast(scalar, type) : scalar;
}

/// The layout inside the program is the identity, so a tensor must be dense;
/// its offset moves to the pointer.
Value EntryEmitter::loadTensor(Value place, MemRefType type, StringRef name,
                               bool checksPointer) {
  Type structure = converter.convertType(type);
  MemRefDescriptor given(LLVM::LoadOp::create(builder, loc, structure, place));
  ArgumentChecks checks = getChecks();
  Value isEmpty;
  SmallVector<Value> extents =
      checks.requireExtents(given, type, name, isEmpty);
  SmallVector<Value> strides =
      checks.requireDenseStrides(given, extents, name, isEmpty);
  Value base = given.alignedPtr(builder, loc);
  if (checksPointer)
    checks.requirePointer(
        base, getElementBytes(type.getElementType()),
        "argument '" + name + "': the pointer to its elements", isEmpty);
  Value aligned = LLVM::GEPOp::create(
      builder, loc, pointer, converter.convertType(type.getElementType()), base,
      ArrayRef<LLVM::GEPArg>{given.offset(builder, loc)});
  MemRefDescriptor checked = MemRefDescriptor::poison(builder, loc, structure);
  checked.setAllocatedPtr(builder, loc, aligned);
  checked.setAlignedPtr(builder, loc, aligned);
  checked.setConstantOffset(builder, loc, 0);
  for (int64_t i = 0; i < type.getRank(); ++i) {
    checked.setSize(builder, loc, i, extents[i]);
    checked.setStride(builder, loc, i, strides[i]);
  }
  return cast(checked, type);
}

void EntryEmitter::storeResult(Value value, Value place) {
  Type type = value.getType();
  if (type.isInteger(1))
    value = LLVM::ZExtOp::create(builder, loc, builder.getI8Type(), value);
  else if (isa<MemRefType>(type) || type.isIndex())
    value = cast(value, converter.convertType(type));
  LLVM::StoreOp::create(builder, loc, value, place);
}

void EntryEmitter::normalize(Value tensor) {
  int64_t rank = ::cast<MemRefType>(tensor.getType()).getRank();
  if (rank > 1)
    tensor = memref::CollapseShapeOp::create(
        builder, loc, tensor,
        ArrayRef<ReassociationIndices>{
            llvm::to_vector(llvm::seq<int64_t>(0, rank))});
  // A truth value is read from any byte, and stored as 0 or 1.
  auto rewrite = [&](OpBuilder &builder, Location loc, ValueRange indices) {
    Value element = memref::LoadOp::create(builder, loc, tensor, indices);
    memref::StoreOp::create(builder, loc, element, tensor, indices);
  };
  if (rank == 0)
    return rewrite(builder, loc, {});
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = memref::DimOp::create(builder, loc, tensor, zero);
  scf::ForOp::create(
      builder, loc, zero, count, one, {},
      [&](OpBuilder &builder, Location loc, Value index, ValueRange) {
        rewrite(builder, loc, index);
        scf::YieldOp::create(builder, loc);
      });
}

LogicalResult EntryEmitter::loadStorage(Value place,
                                        const llvm::json::Object &description,
                                        ArrayRef<Type> &types, StringRef name,
                                        SmallVectorImpl<Value> &operands) {
  int64_t lists = countLists(*description.getObject("encoding"));
  const llvm::json::Array *shape = description.getArray("shape");
  if (!shape)
    return failure();
  auto take = [&]() -> Type {
    if (types.empty())
      return {};
    Type type = types.front();
    types = types.drop_front();
    return type;
  };
  for (int64_t list = 0; list < lists; ++list) {
    auto type = dyn_cast_or_null<MemRefType>(take());
    if (!type || type.getRank() != 1)
      return failure();
    operands.push_back(loadTensor(getWord(place, list * wordsOfList), type,
                                  name, /*checksPointer=*/list + 1 == lists));
  }
  ArgumentChecks checks = getChecks();
  for (auto [dim, extent] : llvm::enumerate(*shape)) {
    Value given =
        LLVM::LoadOp::create(builder, loc, builder.getI64Type(),
                             getWord(place, lists * wordsOfList + dim));
    if (std::optional<int64_t> known = extent.getAsInteger()) {
      checks.require(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                          given, constant(*known)),
                     "argument '" + name + "': extent " + Twine(dim) +
                         " must be " + Twine(*known));
      continue;
    }
    checks.require(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sge,
                                        given, constant(0)),
                   "argument '" + name + "': extent " + Twine(dim) +
                       " is negative");
    Type type = take();
    if (!type || !type.isIndex())
      return failure();
    operands.push_back(cast(given, type));
  }
  return checkStorage(place, *description.getObject("encoding"), name);
}

Value EntryEmitter::getString(const Twine &text) {
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    global = createText(
        builder, loc,
        ("sparse_autograd.argument." + Twine(stringCount++)).str(), text.str());
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

LogicalResult EntryEmitter::checkStorage(Value place,
                                         const llvm::json::Object &encoding,
                                         StringRef name) {
  const llvm::json::Array *levels = encoding.getArray("levels");
  if (!levels || !encoding.getString("position_type") ||
      !encoding.getString("coordinate_type"))
    return failure();
  SmallVector<int64_t> numbers;
  for (const llvm::json::Value &value : *levels) {
    std::optional<std::array<int64_t, 4>> level = describeLevel(value);
    if (!level)
      return failure();
    llvm::append_range(numbers, *level);
  }
  Value table = LLVM::AllocaOp::create(
      builder, loc, pointer, builder.getI64Type(), constant(numbers.size()));
  for (auto [index, number] : llvm::enumerate(numbers))
    LLVM::StoreOp::create(builder, loc, constant(number),
                          getWord(table, index));
  Type i64 = builder.getI64Type();
  FailureOr<LLVM::LLVMFuncOp> check =
      LLVM::lookupOrCreateFn(builder, module, "sparseAutogradCheckArgument",
                             {pointer, i64, pointer, i64, i64, pointer},
                             LLVM::LLVMVoidType::get(builder.getContext()));
  if (failed(check))
    return failure();
  LLVM::CallOp::create(
      builder, loc, *check,
      ValueRange{
          getString("argument '" + name + "'"), constant(levels->size()), table,
          constant(getBytes(*encoding.getString("position_type"))),
          constant(getBytes(*encoding.getString("coordinate_type"))), place});
  return success();
}

LogicalResult EntryEmitter::storeStorage(Value place,
                                         const llvm::json::Object &description,
                                         ArrayRef<Value> &values) {
  const llvm::json::Array *shape = description.getArray("shape");
  if (!shape)
    return failure();
  int64_t word = 0;
  auto take = [&]() -> Value {
    if (values.empty())
      return {};
    Value value = values.front();
    values = values.drop_front();
    return value;
  };
  for (int64_t list = 0, lists = countLists(*description.getObject("encoding"));
       list < lists; ++list, word += wordsOfList) {
    Value value = take();
    if (!value || !isa<MemRefType>(value.getType()))
      return failure();
    storeResult(value, getWord(place, word));
  }
  for (const llvm::json::Value &extent : *shape) {
    if (std::optional<int64_t> known = extent.getAsInteger()) {
      LLVM::StoreOp::create(builder, loc, constant(*known),
                            getWord(place, word++));
      continue;
    }
    Value value = take();
    if (!value || !value.getType().isIndex())
      return failure();
    storeResult(value, getWord(place, word++));
  }
  return success();
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
  if (!arguments || !resultDescriptions)
    return refuse();
  auto argumentPlaces =
      loadPointers(block->getArgument(0), *arguments, "argument");
  auto resultPlaces =
      loadPointers(block->getArgument(1), *resultDescriptions, "result");
  if (failed(argumentPlaces) || failed(resultPlaces))
    return refuse();
  SmallVector<Value> operands;
  ArrayRef<Type> types = function.getArgumentTypes();
  for (auto [i, argument] : llvm::enumerate(*arguments)) {
    const llvm::json::Object *description = argument.getAsObject();
    if (!description || types.empty())
      return refuse();
    StringRef argumentName = description->getString("name").value_or("");
    Value place = (*argumentPlaces)[i];
    if (description->getObject("encoding")) {
      if (failed(
              loadStorage(place, *description, types, argumentName, operands)))
        return refuse();
      continue;
    }
    operands.push_back(loadArgument(place, types.front(), argumentName));
    types = types.drop_front();
  }
  if (!types.empty())
    return refuse();
  auto call = func::CallOp::create(builder, loc, function, operands);

  // A buffer that an argument or an earlier result has already.
  auto address = [&](Value buffer) -> Value {
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  };
  SmallVector<Value> results;
  for (Value result : call.getResults()) {
    auto type = dyn_cast<MemRefType>(result.getType());
    if (type) {
      Value shared;
      SmallVector<Value> others;
      llvm::append_range(others, operands);
      llvm::append_range(others, results);
      for (Value other : others) {
        if (!isa<MemRefType>(other.getType()))
          continue;
        Value same =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                  address(result), address(other));
        shared =
            shared ? arith::OrIOp::create(builder, loc, shared, same) : same;
      }
      if (shared) {
        auto choice = scf::IfOp::create(builder, loc, type, shared,
                                        /*withElseRegion=*/true);
        builder.setInsertionPointToStart(choice.thenBlock());
        SmallVector<Value> sizes;
        for (int64_t i = 0; i < type.getRank(); ++i)
          if (type.isDynamicDim(i))
            sizes.push_back(memref::DimOp::create(builder, loc, result, i));
        Value copy = memref::AllocOp::create(builder, loc, type, sizes);
        memref::CopyOp::create(builder, loc, result, copy);
        scf::YieldOp::create(builder, loc, copy);
        builder.setInsertionPointToStart(choice.elseBlock());
        scf::YieldOp::create(builder, loc, result);
        builder.setInsertionPointAfter(choice);
        result = choice.getResult(0);
      }
    }
    // What the program copies as it is may have other bytes than 0 and 1.
    if (type && type.getElementType().isInteger(1) &&
        llvm::any_of(operands, [](Value operand) {
          auto given = dyn_cast<MemRefType>(operand.getType());
          return given && given.getElementType().isInteger(1);
        }))
      normalize(result);
    results.push_back(result);
  }
  // Nothing raises from here on.
  ArrayRef<Value> remaining = results;
  for (auto [i, value] : llvm::enumerate(*resultDescriptions)) {
    const llvm::json::Object *description = value.getAsObject();
    if (!description || remaining.empty())
      return refuse();
    Value place = (*resultPlaces)[i];
    if (description->getObject("encoding")) {
      if (failed(storeStorage(place, *description, remaining)))
        return refuse();
      continue;
    }
    storeResult(remaining.front(), place);
    remaining = remaining.drop_front();
  }
  if (!remaining.empty())
    return refuse();
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
  (void)nothing;
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
