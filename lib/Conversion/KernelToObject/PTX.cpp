//===- PTX.cpp - kernels to PTX and bitcode -------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTX.h"
#include "NamedInstructions.h"
#include "SparseAutograd/Target/NamedInstructions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVM/ModuleToObject.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// MLIR's own serialization looks for toolkits in the environment and on PATH,
/// and leaves what nobody defines to fail where the program runs.
class PTXCompiler : public LLVM::ModuleToObject {
public:
  PTXCompiler(gpu::GPUModuleOp module, StringRef chip, StringRef features,
              StringRef libdevice)
      : ModuleToObject(*module, gpuTriple, chip, features,
                       gpuOptimizationLevel),
        libdevice(libdevice) {}

protected:
  std::optional<SmallVector<std::unique_ptr<llvm::Module>>>
  loadBitcodeFiles(llvm::Module &code) override {
    SmallVector<std::unique_ptr<llvm::Module>> files;
    bool isNeeded = llvm::any_of(code, [](llvm::Function &function) {
      return function.isDeclaration() &&
             function.getName().starts_with("__nv_");
    });
    if (!isNeeded || !llvm::sys::fs::exists(libdevice))
      return files;
    files.push_back(loadBitcodeFile(code.getContext(), libdevice));
    if (!files.back())
      return std::nullopt;
    return files;
  }

  FailureOr<SmallVector<char, 0>> moduleToObject(llvm::Module &code) override {
    // Not before: LLVM knows as much of calls as it must.
    if (llvm::Error error = writeNamedInstructions(code)) {
      getOperation().emitOpError() << llvm::toString(std::move(error));
      return failure();
    }
    if (failed(checkDefined(code)))
      return failure();
    FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
    if (failed(machine))
      return failure();
    FailureOr<SmallString<0>> ptx = translateModuleToISA(
        code, **machine, [&]() { return getOperation().emitError(); });
    if (failed(ptx))
      return failure();
    return SmallVector<char, 0>(ptx->begin(), ptx->end());
  }

private:
  LogicalResult checkDefined(llvm::Module &code) {
    // These are the driver's.
    static const llvm::StringSet<> known = {"vprintf", "malloc", "free",
                                            "__assertfail"};
    for (llvm::Function &function : code) {
      StringRef name = function.getName();
      if (!function.isDeclaration() || function.isIntrinsic() ||
          function.use_empty() || known.contains(name))
        continue;
      InFlightDiagnostic diagnostic = getOperation().emitOpError("calls '")
                                      << name << "', which nothing defines";
      if (name.starts_with("__nv_") && !llvm::sys::fs::exists(libdevice))
        diagnostic << "; libdevice would, but there is none at '" << libdevice
                   << "': name the folder of a CUDA toolkit with 'toolkit'";
      return diagnostic;
    }
    return success();
  }

  StringRef libdevice;
};

} // namespace

static bool isChip(StringRef chip) {
  llvm::Triple triple(gpuTriple);
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return false;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, /*CPU=*/"", /*Features=*/""));
  return info->isCPUStringValid(chip);
}

/// The version of PTX that `module` needs, as LLVM's feature has it; 0 if every
/// chip's own will do. Sparse products came with chips, or later than these:
/// those of a warpgroup in 8.2, and those of a warp, with metadata that is fast
/// on all chips, in 8.5.
static unsigned getNeededVersion(gpu::GPUModuleOp module) {
  unsigned version = 0;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto instruction = WarpgroupInstruction::parse(function.getName());
    if (instruction && instruction->isSparse)
      version = 82;
  }
  module.walk([&](NVVM::MmaSpOp product) {
    if (product.getOrderedMetadata())
      version = 85;
  });
  return version;
}

/// Whether `chip` came after PTX 8.5: no code for it is of an earlier version.
static bool isLateChip(StringRef chip) {
  unsigned number = 0;
  constexpr unsigned blackwell = 100;
  return chip.consume_front("sm_") && !chip.consumeInteger(10, number) &&
         number >= blackwell;
}

/// The features for LLVM: those given, with the PTX version that the kernels of
/// `module` need unless one is given. A given version that lacks an instruction
/// is an error here; LLVM would abort.
static FailureOr<std::string> getFeatures(gpu::GPUModuleOp module,
                                          StringRef chip, StringRef features) {
  constexpr StringLiteral feature = "+ptx";
  unsigned needed = getNeededVersion(module), asked = 0;
  if (features.empty())
    return needed && !isLateChip(chip) ? (feature + Twine(needed)).str()
                                       : std::string();
  StringRef version = features.substr(features.find(feature));
  if (version.consume_front(feature) && !version.consumeInteger(10, asked) &&
      asked < needed)
    return module.emitOpError("needs version ")
           << needed / 10 << "." << needed % 10
           << " of PTX for its sparse products, of which 'features' asks for "
           << asked / 10 << "." << asked % 10;
  return features.str();
}

/// What `compile` makes of `module`, if `chip` is one that LLVM has code for.
static FailureOr<std::string>
run(gpu::GPUModuleOp module, StringRef chip,
    function_ref<std::optional<SmallVector<char, 0>>()> compile) {
  NVVM::SerializeGPUModuleBase::init();
  if (!isChip(chip))
    return module.emitOpError("cannot be compiled: '")
           << chip
           << "' is no chip of NVIDIA's that LLVM knows; they have names such "
              "as sm_80 and sm_90a";
  // Where loads and stores say nothing else, their alignment is decided when
  // they are translated: that of i64 were 4 bytes, without the layout.
  StringAttr layout = StringAttr::get(
      module.getContext(), llvm::Triple(gpuTriple).computeDataLayout());
  module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(), layout);
  std::optional<SmallVector<char, 0>> code = compile();
  module->removeAttr(LLVM::LLVMDialect::getDataLayoutAttrName());
  if (!code)
    return failure();
  return std::string(code->begin(), code->end());
}

FailureOr<std::string> sparse_autograd::compileToPTX(gpu::GPUModuleOp module,
                                                     StringRef chip,
                                                     StringRef features,
                                                     StringRef libdevice) {
  FailureOr<std::string> withVersion = getFeatures(module, chip, features);
  if (failed(withVersion))
    return failure();
  return run(module, chip, [&]() {
    return PTXCompiler(module, chip, *withVersion, libdevice).run();
  });
}

FailureOr<std::string>
sparse_autograd::compileToBitcode(gpu::GPUModuleOp module, StringRef chip,
                                  StringRef features) {
  return run(module, chip, [&]() {
    return LLVM::ModuleToObject(*module, gpuTriple, chip, features,
                                gpuOptimizationLevel)
        .run();
  });
}
