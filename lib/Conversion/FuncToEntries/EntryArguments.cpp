//===- EntryArguments.cpp - arguments of an entry, checked ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the body of an entry does with its arguments: pointers, extents and
// storage are checked, and strided tensors copied to dense memory.
//
//===----------------------------------------------------------------------===//

#include "../RuntimeCalls.h"
#include "ArgumentChecks.h"
#include "EntryEmitter.h"
#include "ManifestTypes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace sparse_autograd;

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

/// The layout inside the program is the identity: a strided tensor is copied,
/// and the offset of any other moves to the pointer.
Value EntryEmitter::loadTensor(Value place, MemRefType type, StringRef name,
                               bool checksPointer) {
  Type structure = converter.convertType(type);
  MemRefDescriptor given(LLVM::LoadOp::create(builder, loc, structure, place));
  ArgumentChecks checks = getChecks();
  Value isEmpty;
  SmallVector<Value> extents =
      checks.requireExtents(given, type, name, isEmpty);
  Value base = given.alignedPtr(builder, loc);
  int64_t bytes = getElementBytes(type.getElementType());
  if (checksPointer)
    checks.requirePointer(
        base, bytes, "argument '" + name + "': the pointer to its elements",
        isEmpty);
  SmallVector<Value> strides;
  Value isDense = checks.haveDenseStrides(given, extents, isEmpty, strides);
  Value aligned = LLVM::GEPOp::create(
      builder, loc, pointer, converter.convertType(type.getElementType()), base,
      ArrayRef<LLVM::GEPArg>{given.offset(builder, loc)});
  if (isDense) {
    auto choice = scf::IfOp::create(builder, loc, pointer, isDense,
                                    /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(choice.thenBlock());
      Value none = LLVM::ZeroOp::create(builder, loc, pointer);
      scf::YieldOp::create(builder, loc, none);
      builder.setInsertionPointToStart(choice.elseBlock());
      Value copy =
          callRuntime("sparseAutogradPack", pointer,
                      {constant(type.getRank()), constant(bytes), place})
              .getResult();
      scf::YieldOp::create(builder, loc, copy);
    }
    packed.push_back(choice.getResult(0));
    aligned =
        LLVM::SelectOp::create(builder, loc, isDense, aligned, packed.back());
  }
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

LogicalResult EntryEmitter::loadStorage(Value place, int64_t argument,
                                        const llvm::json::Object &description,
                                        ArrayRef<Type> &types, StringRef name,
                                        SmallVectorImpl<Value> &operands) {
  const llvm::json::Object &encoding = *description.getObject("encoding");
  int64_t lists = countLists(encoding);
  const llvm::json::Array *shape = description.getArray("shape");
  if (!shape || static_cast<int64_t>(types.size()) < lists)
    return failure();
  ArrayRef<Type> listTypes = types.take_front(lists);
  types = types.drop_front(lists);
  ArgumentChecks checks = getChecks();
  SmallVector<Value> extents;
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
    if (types.empty() || !types.front().isIndex())
      return failure();
    extents.push_back(cast(given, types.front()));
    types = types.drop_front();
  }
  // Before lists are read: those with a stride are copied.
  if (checksStorage && failed(checkStorage(place, argument, encoding, name)))
    return failure();
  for (auto [list, listType] : llvm::enumerate(listTypes)) {
    auto type = dyn_cast<MemRefType>(listType);
    if (!type || type.getRank() != 1)
      return failure();
    bool isValues = static_cast<int64_t>(list) + 1 == lists;
    operands.push_back(loadTensor(getWord(place, list * wordsOfList), type,
                                  name, isValues || !checksStorage));
  }
  llvm::append_range(operands, extents);
  return success();
}

LogicalResult EntryEmitter::loadArguments(ValueRange places,
                                          const llvm::json::Array &descriptions,
                                          ArrayRef<Type> types,
                                          SmallVectorImpl<Value> &operands) {
  for (auto [i, argument] : llvm::enumerate(descriptions)) {
    const llvm::json::Object *description = argument.getAsObject();
    if (!description || types.empty())
      return failure();
    StringRef name = description->getString("name").value_or("");
    if (description->getObject("encoding")) {
      if (failed(
              loadStorage(places[i], i, *description, types, name, operands)))
        return failure();
      continue;
    }
    operands.push_back(loadArgument(places[i], types.front(), name));
    types = types.drop_front();
  }
  return success(types.empty());
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

LogicalResult EntryEmitter::checkStorage(Value place, int64_t argument,
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
  callRuntime("sparseAutogradCheckArgument",
              LLVM::LLVMVoidType::get(builder.getContext()),
              {getString("argument '" + name + "'"), constant(argument),
               constant(levels->size()), table,
               constant(getBytes(*encoding.getString("position_type"))),
               constant(getBytes(*encoding.getString("coordinate_type"))),
               place});
  return success();
}
