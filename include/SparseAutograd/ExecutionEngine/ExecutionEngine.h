//===- ExecutionEngine.h - compile and run in this process ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a module of the LLVM dialect, as the pipeline `--sparse-autograd` makes
// it, to machine code in memory.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_EXECUTIONENGINE_EXECUTIONENGINE_H
#define SPARSEAUTOGRAD_EXECUTIONENGINE_EXECUTIONENGINE_H

#include "SparseAutograd/Runtime/Runtime.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <string>

struct SparseAutogradImage;

namespace llvm {
class MemoryBuffer;
namespace orc {
class LLJIT;
} // namespace orc
} // namespace llvm

namespace sparse_autograd {

/// Whose vector forms of elementary functions loops may call.
enum class VectorLibrary {
  None,   ///< none: they call libm for each element
  Libmvec ///< those of glibc 2.35 and later
};

/// How machine code is made.
struct CompileOptions {
  /// 0 to 3, as clang's -O.
  unsigned optimizationLevel = 3;
  /// The processor to compile for; empty: the one that this process runs on.
  std::string cpu;
  /// Features besides the processor's own, as in "+avx512f,-fma".
  std::string features;
  VectorLibrary vectorLibrary = VectorLibrary::Libmvec;
  /// Whether kernels for the emulator count their instructions
  /// (translateToEmulator).
  bool countsKernels = false;
  /// Receives the LLVM IR as optimized, if not null.
  std::string *optimizedIR = nullptr;
};

/// Compiles `module`, which is in the LLVM dialect, to an object file.
///
/// Loops are vectorized, with those elementary functions of glibc's libmvec
/// that the processor compiled for can run, if this machine has the library
/// (glibc 2.35 or later). Exponentials of f32 are computed in place, within 1.2
/// units in the last place, to the same bits in a vector and out of one; they
/// depend on whether the processor has fused multiply-adds. The object refers
/// to the runtime (CompilerABI.h, DeviceABI.h, EmulatorABI.h), libm, libmvec
/// and the C library's memory functions only.
///
/// Bitcode of kernels (emulatedCodeSection) becomes code for the
/// emulator, in the same object.
///
/// Fails if a processor or a feature is unknown to LLVM, if the module is not
/// in the LLVM dialect, or if the emulator has not what a kernel uses, with the
/// kernel's name. `module` is not changed.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileToObject(mlir::ModuleOp module, const CompileOptions &options = {});

/// Code loaded into this process. It stays callable while the engine lives;
/// then its kernels are unloaded from all devices. Lookups and calls may come
/// from several threads.
class ExecutionEngine {
public:
  /// Compiles `module` and loads it. Fails as compileToObject does, and if the
  /// code refers to a symbol that is not on the list of those that compiled
  /// code may use: a program cannot reach other functions of the process.
  static llvm::Expected<std::unique_ptr<ExecutionEngine>>
  create(mlir::ModuleOp module, const CompileOptions &options = {});

  /// Loads an object file that compileToObject made for this processor.
  static llvm::Expected<std::unique_ptr<ExecutionEngine>>
  load(std::unique_ptr<llvm::MemoryBuffer> object);

  ~ExecutionEngine();
  ExecutionEngine(const ExecutionEngine &) = delete;
  ExecutionEngine &operator=(const ExecutionEngine &) = delete;

  /// The entry of the public function `name`; how to call it is in Runtime.h.
  /// Fails if the manifest does not list the name.
  llvm::Expected<SparseAutogradEntry> lookup(llvm::StringRef name) const;

  /// The manifest (docs/manifest.md).
  const llvm::json::Object &getManifest() const { return manifest; }

  /// How many modules this process has compiled.
  static uint64_t getCompilationCount();

private:
  ExecutionEngine();

  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::json::Object manifest;
  /// The images of the code, then a null pointer; null if there are none.
  const SparseAutogradImage *const *images = nullptr;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_EXECUTIONENGINE_EXECUTIONENGINE_H
