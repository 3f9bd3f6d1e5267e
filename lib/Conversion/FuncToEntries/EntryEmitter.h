//===- EntryEmitter.h - the entry of a function -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code of the entry with the C ABI of one function, from the description that
// the manifest has of it. The same description makes the record by which the
// runtime finds destinations (CompilerABI.h, "Entries").
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTOENTRIES_ENTRYEMITTER_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTOENTRIES_ENTRYEMITTER_H

#include "ArgumentChecks.h"
#include "ManifestTypes.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace sparse_autograd {

/// Emits the entry of one function after the other.
class EntryEmitter {
public:
  EntryEmitter(mlir::ModuleOp module, const mlir::LLVMTypeConverter &converter)
      : module(module), converter(converter), builder(module.getContext()),
        pointer(mlir::LLVM::LLVMPointerType::get(module.getContext())) {}

  llvm::LogicalResult emit(mlir::func::FuncOp function,
                           const llvm::json::Object &entry);

private:
  // Arguments (EntryArguments.cpp).

  /// The elements of an array of pointers, each of which is to an argument, or
  /// to the place of a result, of those described; `kind` is what messages call
  /// one.
  llvm::FailureOr<llvm::SmallVector<mlir::Value>>
  loadPointers(mlir::Value array, const llvm::json::Array &descriptions,
               llvm::StringRef kind);
  /// The operands of the function of the arguments at `places`.
  llvm::LogicalResult
  loadArguments(mlir::ValueRange places, const llvm::json::Array &descriptions,
                llvm::ArrayRef<mlir::Type> types,
                llvm::SmallVectorImpl<mlir::Value> &operands);
  mlir::Value loadArgument(mlir::Value place, mlir::Type type,
                           llvm::StringRef name);
  /// A tensor, or a list of a sparse argument, of which
  /// sparseAutogradCheckArgument has checked the pointer unless
  /// `checksPointer`.
  mlir::Value loadTensor(mlir::Value place, mlir::MemRefType type,
                         llvm::StringRef name, bool checksPointer);
  /// Appends the components of the sparse tensor at `place`, argument number
  /// `argument`, which are of the first of `types`, to `operands`; what is left
  /// of `types` is the rest.
  llvm::LogicalResult loadStorage(mlir::Value place, int64_t argument,
                                  const llvm::json::Object &description,
                                  llvm::ArrayRef<mlir::Type> &types,
                                  llvm::StringRef name,
                                  llvm::SmallVectorImpl<mlir::Value> &operands);
  /// Checks the storage of a sparse argument at `place`, whose extents have
  /// been checked.
  llvm::LogicalResult checkStorage(mlir::Value place, int64_t argument,
                                   const llvm::json::Object &encoding,
                                   llvm::StringRef name);
  /// The address of a zero-terminated constant.
  mlir::Value getString(const llvm::Twine &text);

  // Results (EntryResults.cpp).

  /// A descriptor of a result, or another result, before it is stored.
  struct StagedResult {
    /// A scalar, or a pointer to a descriptor.
    mlir::Value value;
    mlir::MemRefType type; ///< of a descriptor
  };

  /// Announces the allocations that are results of `function`, if this entry
  /// alone calls it, so that destinations take their place.
  void announceAllocations(mlir::func::FuncOp function,
                           const llvm::json::Object &entry);
  /// The results of a call as `function` returns them, each in a buffer that no
  /// operand and no result before it has.
  llvm::SmallVector<mlir::Value> separate(mlir::func::FuncOp function,
                                          mlir::ValueRange results,
                                          mlir::ValueRange operands);
  /// What is stored at the place of result number `result`, in order: `values`
  /// begins with what the function returns of it, which is dropped from it.
  llvm::LogicalResult stage(int64_t result, const ResultLayout &layout,
                            llvm::ArrayRef<mlir::Value> &values,
                            mlir::ValueRange argumentPlaces);
  /// The descriptor that a list of a result shares; null if there is none.
  mlir::Value getShared(const SharedList &shared,
                        mlir::ValueRange argumentPlaces);
  void store(mlir::Value place, llvm::ArrayRef<StagedResult> staged);
  /// Makes each byte of a tensor of i1 0 or 1.
  void normalize(mlir::Value tensor);

  /// Word `index` of the words of 64 bits at `place`.
  mlir::Value getWord(mlir::Value place, int64_t index) {
    return mlir::LLVM::GEPOp::create(
        builder, loc, pointer, builder.getI64Type(), place,
        llvm::ArrayRef<mlir::LLVM::GEPArg>{static_cast<int32_t>(index)});
  }
  /// Whether an entry takes and returns values of `type`: numbers, and buffers
  /// of numbers without a layout of their own.
  bool isPassed(mlir::Type type) {
    auto memref = mlir::dyn_cast<mlir::MemRefType>(type);
    return memref ? memref.getLayout().isIdentity() &&
                        memref.getElementType().isIntOrIndexOrFloat() &&
                        converter.convertType(type)
                  : type.isIntOrIndexOrFloat();
  }
  mlir::Value cast(mlir::Value value, mlir::Type type) {
    return mlir::UnrealizedConversionCastOp::create(builder, loc, type, value)
        .getResult(0);
  }
  mlir::Value constant(int64_t value) {
    return mlir::LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                          builder.getI64IntegerAttr(value));
  }
  /// Calls a function of the runtime; the call.
  mlir::LLVM::CallOp callRuntime(llvm::StringRef name, mlir::Type result,
                                 mlir::ValueRange operands);
  ArgumentChecks getChecks() { return {builder, loc}; }

  mlir::ModuleOp module;
  const mlir::LLVMTypeConverter &converter;
  mlir::OpBuilder builder;
  int64_t stringCount = 0;
  mlir::Location loc = mlir::UnknownLoc::get(module.getContext());
  mlir::Type pointer;
  // Of the entry that is being emitted.

  /// Whether it validates the storage of sparse arguments.
  bool checksStorage = true;
  /// Blocks with dense copies of strided arguments, or null pointers.
  llvm::SmallVector<mlir::Value> packed;
  /// What is stored of each result.
  llvm::SmallVector<llvm::SmallVector<StagedResult>> staged;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTOENTRIES_ENTRYEMITTER_H
