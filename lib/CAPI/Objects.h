//===- Objects.h - what the handles of the C interface are ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The objects behind the opaque types of SparseAutograd-c, and what all its
// functions share: diagnostics are collected, exceptions caught, modules of a
// context used one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CAPI_OBJECTS_H
#define SPARSEAUTOGRAD_LIB_CAPI_OBJECTS_H

#include "SparseAutograd-c/Executable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

struct SparseAutogradDiagnostics {
  struct Entry {
    SparseAutogradSeverity severity;
    std::string file, message;
    int64_t line = 0, column = 0;
  };
  std::vector<Entry> entries;

  /// Adds an error without a location.
  void addError(const llvm::Twine &message) {
    entries.push_back({SPARSE_AUTOGRAD_ERROR, "", message.str()});
  }
  /// The same of a warning.
  void addWarning(const llvm::Twine &message) {
    entries.push_back({SPARSE_AUTOGRAD_WARNING, "", message.str()});
  }
  /// Whether there is an error already, which says more than a summary would.
  bool hasError() const;
};

/// A context that its handle and its modules share.
///
/// Its threads do not live on in a process that is forked. There it is neither
/// used nor destroyed, which would wait for them.
class SharedContext {
public:
  SharedContext();
  ~SharedContext();
  SharedContext(const SharedContext &) = delete;
  SharedContext &operator=(const SharedContext &) = delete;

  mlir::MLIRContext &get() { return *context; }
  /// Whether this process was forked from the one that made the context.
  bool isInherited() const;

  /// Held by whoever uses a module of the context; by the thread that runs the
  /// pipeline also while a phase handler prints.
  std::recursive_mutex mutex;
  /// Passes run on one of the modules: a phase handler may print it, but start
  /// nothing else.
  bool isRunning = false;

private:
  std::unique_ptr<mlir::MLIRContext> context;
  int64_t process;
};

struct SparseAutogradContext {
  std::shared_ptr<SharedContext> shared;
};

struct SparseAutogradModule {
  std::shared_ptr<SharedContext> shared;
  /// Of a module that a phase handler is given, not owned.
  mlir::ModuleOp module;
  bool isOwned = true;

  SparseAutogradModule(std::shared_ptr<SharedContext> shared,
                       mlir::ModuleOp module)
      : shared(std::move(shared)), module(module) {}
  ~SparseAutogradModule();
  SparseAutogradModule(const SparseAutogradModule &) = delete;
  SparseAutogradModule &operator=(const SparseAutogradModule &) = delete;
};

namespace sparse_autograd::capi {

/// Runs `body`, which adds what it has to say to the list that it is given and
/// returns a status. `*diagnostics` becomes that list, if it is wanted and not
/// empty. No exception leaves it.
int32_t
guard(SparseAutogradDiagnostics **diagnostics,
      llvm::function_ref<int32_t(SparseAutogradDiagnostics &)> body) noexcept;

/// As guard, with the diagnostics of the context, which is locked meanwhile.
/// Refuses to start while passes run, which is what a phase handler would do.
int32_t guardChange(
    SharedContext &shared, SparseAutogradDiagnostics **diagnostics,
    llvm::function_ref<int32_t(SparseAutogradDiagnostics &)> body) noexcept;

/// Locks the context for `body`, which reads a module.
int32_t guardRead(SharedContext &shared,
                  llvm::function_ref<int32_t()> body) noexcept;

/// Says that the argument `name` is NULL.
int32_t refuseNull(SparseAutogradDiagnostics **diagnostics,
                   const char *name) noexcept;

/// The text as one of the caller's (sparseAutogradTextDestroy).
char *copyText(llvm::StringRef text);

} // namespace sparse_autograd::capi

#endif // SPARSEAUTOGRAD_LIB_CAPI_OBJECTS_H
