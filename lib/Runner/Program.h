//===- Program.h - a file and the code made of it ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNNER_PROGRAM_H
#define SPARSEAUTOGRAD_LIB_RUNNER_PROGRAM_H

#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "SparseAutograd/Runner/Runner.h"
#include "SparseAutograd/Runner/Values.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace sparse_autograd {

/// The types of an entry's arguments and results.
struct Signature {
  std::vector<ValueType> argumentTypes, resultTypes;

  /// Reads the description of `entry` in a manifest.
  static llvm::Expected<Signature> find(const llvm::json::Object &manifest,
                                        llvm::StringRef entry);
};

/// The module of a file, in a context of its own. Diagnostics go to the
/// standard error stream.
class Program {
public:
  /// Parses and verifies the file.
  static llvm::Expected<std::unique_ptr<Program>>
  parse(const RunOptions &options);

  mlir::ModuleOp getModule() { return *module; }

  /// The name of the function to call, which a split_vjp may still have to
  /// define. Every other one becomes private: nothing else need be compiled. A
  /// private one is found if that is allowed, and becomes public.
  llvm::Expected<std::string> selectEntry(bool allowPrivate = false);

  /// The signature of `entry` as its function declares it, before it is
  /// compiled; nothing if a split_vjp still has to define the function. Formats
  /// that the program leaves open are not chosen yet.
  llvm::Expected<std::optional<Signature>> describe(llvm::StringRef entry);

  /// Chooses the device, lowers the module and loads its code.
  llvm::Expected<std::unique_ptr<ExecutionEngine>> compile();
  /// As compile, of the f64 form of the module (FloatsToF64.h), which itself
  /// stays as it is. Call it before. Null if nothing that is reached has floats
  /// narrower than f64; `roundoff` is that of the narrowest. The error says why
  /// there is no such form: nothing goes to the standard error stream.
  llvm::Expected<std::unique_ptr<ExecutionEngine>>
  compileInF64(double &roundoff);

private:
  explicit Program(const RunOptions &options);
  /// What has not been said by a diagnostic yet.
  llvm::Error makeError(const llvm::Twine &message);
  /// Chooses the device, and the options of the pipeline.
  llvm::Error selectTarget(PipelineOptions &pipelineOptions);

  const RunOptions &options;
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler printer;
  bool isDiagnosed = false;
  mlir::ScopedDiagnosticHandler observer;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// A function of the code and the types that the manifest gives it.
struct Entry : Signature {
  SparseAutogradEntry function;
  std::string name;

  static llvm::Expected<Entry> find(const ExecutionEngine &engine,
                                    llvm::StringRef name);

  /// Calls the entry with pointers to its arguments; fails with the runtime's
  /// message.
  llvm::Expected<std::vector<Value>>
  call(llvm::ArrayRef<void *> arguments) const;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNNER_PROGRAM_H
