//===- Images.cpp - code of kernels as constants --------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Images.h"

#include "SparseAutograd/Conversion/LaunchToRuntime/LaunchToRuntime.h"
#include "SparseAutograd/Runtime/DeviceABI.h"
#include "SparseAutograd/Runtime/Emulator.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace sparse_autograd;

/// What fat binaries and cubins are aligned to, as the driver wants them.
static constexpr uint64_t codeAlignment = 16;

static LLVM::GlobalOp createBytes(SymbolTable &symbols, Location loc,
                                  const Twine &name, StringRef bytes) {
  Operation *module = symbols.getOp();
  OpBuilder builder = OpBuilder::atBlockEnd(&module->getRegion(0).front());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  auto global = LLVM::GlobalOp::create(
      builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
      name.str(), builder.getStringAttr(bytes), codeAlignment);
  symbols.insert(global);
  return global;
}

namespace {
/// A constant structure, built from its fields.
class StructBuilder {
public:
  StructBuilder(SymbolTable &symbols, Location loc)
      : symbols(symbols), loc(loc), builder(loc.getContext()),
        pointer(LLVM::LLVMPointerType::get(loc.getContext())) {}

  /// A constant (or variable) `name` whose value `fill` makes.
  LLVM::GlobalOp create(const Twine &name, Type type, bool isConstant,
                        function_ref<Value(OpBuilder &)> fill) {
    Operation *module = symbols.getOp();
    builder.setInsertionPointToEnd(&module->getRegion(0).front());
    auto global = LLVM::GlobalOp::create(builder, loc, type, isConstant,
                                         LLVM::Linkage::Internal, name.str(),
                                         Attribute());
    symbols.insert(global);
    builder.createBlock(&global.getInitializerRegion());
    LLVM::ReturnOp::create(builder, loc, fill(builder));
    return global;
  }
  Value number(unsigned bits, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getIntegerType(bits),
                                    value);
  }
  Value null() { return LLVM::ZeroOp::create(builder, loc, pointer); }
  Value addressOf(LLVM::GlobalOp global) {
    return LLVM::AddressOfOp::create(builder, loc, global);
  }
  Value pack(Type type, ArrayRef<Value> fields) {
    Value packed = LLVM::UndefOp::create(builder, loc, type);
    for (auto [index, field] : llvm::enumerate(fields))
      packed = LLVM::InsertValueOp::create(builder, loc, packed, field,
                                           static_cast<int64_t>(index));
    return packed;
  }
  Type getStruct(ArrayRef<Type> fields) {
    return LLVM::LLVMStructType::getLiteral(loc.getContext(), fields);
  }
  Type integer(unsigned bits) { return builder.getIntegerType(bits); }

  SymbolTable &symbols;
  Location loc;
  OpBuilder builder;
  Type pointer;
};

/// What a chip's name says of where its code runs.
struct Chip {
  int32_t architecture = 0;
  int32_t portability = SPARSE_AUTOGRAD_CODE_PORTABLE;
};
} // namespace

/// Reads such names as sm_80, sm_90a and sm_100f.
static std::optional<Chip> parseChip(StringRef name) {
  Chip chip;
  if (!name.consume_front("sm_"))
    return std::nullopt;
  if (name.consume_back("a"))
    chip.portability = SPARSE_AUTOGRAD_CODE_ARCHITECTURE_SPECIFIC;
  else if (name.consume_back("f"))
    chip.portability = SPARSE_AUTOGRAD_CODE_FAMILY_SPECIFIC;
  if (name.getAsInteger(10, chip.architecture))
    return std::nullopt;
  return chip;
}

/// Declares what is made of `bitcode` for the emulator, and keeps the bitcode.
static LLVM::GlobalOp declareEmulated(SymbolTable &symbols, Location loc,
                                      const Twine &name, StringRef bitcode) {
  OpBuilder builder =
      OpBuilder::atBlockEnd(&symbols.getOp()->getRegion(0).front());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(),
                                       sizeof(SparseAutogradEmulatorModule));
  auto declared = LLVM::GlobalOp::create(
      builder, loc, type, /*isConstant=*/true, LLVM::Linkage::External,
      (name + ".emulated").str(), Attribute());
  symbols.insert(declared);
  createBytes(symbols, loc, name + ".bitcode", bitcode)
      .setSection((emulatedCodeSection + declared.getSymName()).str());
  return declared;
}

FailureOr<LLVM::GlobalOp> sparse_autograd::createImage(gpu::BinaryOp binary,
                                                       SymbolTable &symbols) {
  Location loc = binary.getLoc();
  std::string name = binary.getName().str();
  struct Code {
    int32_t kind;
    Chip chip;
    StringRef bytes;
  };
  SmallVector<Code> codes;
  for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>()) {
    auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
    std::optional<Chip> chip =
        target ? parseChip(target.getChip()) : std::nullopt;
    if (!chip)
      return binary.emitOpError("has code for no chip of NVIDIA's: ")
             << object.getTarget();
    switch (object.getFormat()) {
    case gpu::CompilationTarget::Binary:
      codes.push_back(
          {SPARSE_AUTOGRAD_CODE_CUBIN, *chip, object.getObject().getValue()});
      break;
    case gpu::CompilationTarget::Assembly:
      codes.push_back(
          {SPARSE_AUTOGRAD_CODE_PTX, *chip, object.getObject().getValue()});
      break;
    case gpu::CompilationTarget::Offload:
      if (llvm::any_of(codes, [](const Code &code) {
            return code.kind == SPARSE_AUTOGRAD_CODE_HOST;
          }))
        return binary.emitOpError("has bitcode twice; the emulator needs that "
                                  "of one chip");
      codes.push_back(
          {SPARSE_AUTOGRAD_CODE_HOST, Chip(), object.getObject().getValue()});
      break;
    default:
      return binary.emitOpError(
          "has an object that no device takes; ask for 'chips', 'ptx' or "
          "'bitcode' of sparse-autograd-kernel-to-object");
    }
  }
  symbols.erase(binary);

  StructBuilder builder(symbols, loc);
  Type i32 = builder.integer(32), i64 = builder.integer(64);
  // SparseAutogradCode.
  Type codeType = builder.getStruct(
      {i32, i32, i32, i32, builder.pointer, i64, builder.pointer});
  Type codesType = LLVM::LLVMArrayType::get(codeType, codes.size());
  SmallVector<LLVM::GlobalOp> data;
  for (auto [index, code] : llvm::enumerate(codes)) {
    if (code.kind == SPARSE_AUTOGRAD_CODE_HOST) {
      data.push_back(declareEmulated(symbols, loc, name, code.bytes));
      continue;
    }
    std::string part = (name + ".code" + Twine(index)).str();
    // PTX is text, with a zero at its end.
    std::string bytes = code.bytes.str();
    if (code.kind == SPARSE_AUTOGRAD_CODE_PTX)
      bytes.push_back('\0');
    data.push_back(createBytes(symbols, loc, part, bytes));
  }
  LLVM::GlobalOp list = builder.create(
      name + ".codes", codesType, /*isConstant=*/true, [&](OpBuilder &) {
        SmallVector<Value> fields;
        for (auto [code, bytes] : llvm::zip_equal(codes, data)) {
          int64_t size =
              cast<LLVM::LLVMArrayType>(bytes.getGlobalType()).getNumElements();
          fields.push_back(builder.pack(
              codeType, {builder.number(32, code.kind),
                         builder.number(32, code.chip.architecture),
                         builder.number(32, code.chip.portability),
                         builder.number(32, 0), builder.addressOf(bytes),
                         builder.number(64, size), builder.null()}));
        }
        return builder.pack(codesType, fields);
      });
  LLVM::GlobalOp slot =
      builder.create(name + ".slot", builder.pointer, /*isConstant=*/false,
                     [&](OpBuilder &) { return builder.null(); });
  // SparseAutogradImage.
  Type imageType =
      builder.getStruct({i32, i32, builder.pointer, builder.pointer});
  return builder.create(name, imageType, /*isConstant=*/true, [&](OpBuilder &) {
    return builder.pack(imageType,
                        {builder.number(32, SPARSE_AUTOGRAD_DEVICE_ABI_VERSION),
                         builder.number(32, static_cast<int64_t>(codes.size())),
                         builder.addressOf(list), builder.addressOf(slot)});
  });
}

void sparse_autograd::createImageList(ArrayRef<LLVM::GlobalOp> images,
                                      SymbolTable &symbols) {
  StructBuilder builder(symbols, symbols.getOp()->getLoc());
  Type type = LLVM::LLVMArrayType::get(builder.pointer, images.size() + 1);
  auto list =
      builder.create(imagesSymbol, type, /*isConstant=*/true, [&](OpBuilder &) {
        SmallVector<Value> addresses;
        for (LLVM::GlobalOp image : images)
          addresses.push_back(builder.addressOf(image));
        addresses.push_back(builder.null());
        return builder.pack(type, addresses);
      });
  list.setLinkage(LLVM::Linkage::External);
}
