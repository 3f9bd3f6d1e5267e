//===- Support.cpp - versions, diagnostics and texts ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd-c/Support.h"
#include "Objects.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Config/llvm-config.h"
#include <cstdlib>
#include <cstring>

using namespace sparse_autograd::capi;

uint32_t sparseAutogradCVersion() { return SPARSE_AUTOGRAD_C_VERSION; }

const char *sparseAutogradVersionText() {
  return SPARSE_AUTOGRAD_VERSION ", with LLVM and MLIR " LLVM_VERSION_STRING;
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

bool SparseAutogradDiagnostics::hasError() const {
  return llvm::any_of(entries, [](const Entry &entry) {
    return entry.severity == SPARSE_AUTOGRAD_ERROR;
  });
}

static SparseAutogradSeverity getSeverity(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Note:
    return SPARSE_AUTOGRAD_NOTE;
  case mlir::DiagnosticSeverity::Remark:
    return SPARSE_AUTOGRAD_REMARK;
  case mlir::DiagnosticSeverity::Warning:
    return SPARSE_AUTOGRAD_WARNING;
  case mlir::DiagnosticSeverity::Error:
    return SPARSE_AUTOGRAD_ERROR;
  }
  llvm_unreachable("unknown severity");
}

static void add(SparseAutogradDiagnostics &list,
                const mlir::Diagnostic &diagnostic) {
  SparseAutogradDiagnostics::Entry entry;
  entry.severity = getSeverity(diagnostic.getSeverity());
  entry.message = diagnostic.str();
  // Of several places, as those of fused ops, the first.
  diagnostic.getLocation()->walk([&](mlir::Location loc) {
    auto place = llvm::dyn_cast<mlir::FileLineColLoc>(loc);
    if (!place)
      return mlir::WalkResult::advance();
    entry.file = place.getFilename().str();
    entry.line = place.getLine();
    entry.column = place.getColumn();
    return mlir::WalkResult::interrupt();
  });
  list.entries.push_back(std::move(entry));
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    add(list, note);
}

int64_t
sparseAutogradDiagnosticsCount(const SparseAutogradDiagnostics *diagnostics) {
  return diagnostics ? int64_t(diagnostics->entries.size()) : 0;
}

int32_t
sparseAutogradDiagnosticsGet(const SparseAutogradDiagnostics *diagnostics,
                             int64_t index,
                             SparseAutogradDiagnostic *diagnostic) {
  if (!diagnostics || !diagnostic)
    return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
  if (index < 0 || index >= sparseAutogradDiagnosticsCount(diagnostics))
    return SPARSE_AUTOGRAD_OUT_OF_RANGE;
  const auto &entry = diagnostics->entries[index];
  *diagnostic = {entry.severity, entry.file.c_str(), entry.line, entry.column,
                 entry.message.c_str()};
  return SPARSE_AUTOGRAD_SUCCESS;
}

void sparseAutogradDiagnosticsDestroy(SparseAutogradDiagnostics *diagnostics) {
  delete diagnostics;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

char *sparse_autograd::capi::copyText(llvm::StringRef text) {
  auto *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (!copy)
    throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  return copy;
}

void sparseAutogradTextDestroy(char *text) { std::free(text); }

//===----------------------------------------------------------------------===//
// The frame of a function
//===----------------------------------------------------------------------===//

int32_t sparse_autograd::capi::guard(
    SparseAutogradDiagnostics **diagnostics,
    llvm::function_ref<int32_t(SparseAutogradDiagnostics &)> body) noexcept {
  if (diagnostics)
    *diagnostics = nullptr;
  try {
    auto list = std::make_unique<SparseAutogradDiagnostics>();
    int32_t status = SPARSE_AUTOGRAD_INTERNAL_ERROR;
    try {
      status = body(*list);
    } catch (const std::bad_alloc &) {
      throw;
    } catch (const std::exception &error) {
      list->addError(llvm::Twine("internal error: ") + error.what());
    }
    if (diagnostics && !list->entries.empty())
      *diagnostics = list.release();
    return status;
  } catch (const std::bad_alloc &) {
    return SPARSE_AUTOGRAD_OUT_OF_MEMORY;
  } catch (...) {
    return SPARSE_AUTOGRAD_INTERNAL_ERROR;
  }
}

int32_t sparse_autograd::capi::guardChange(
    SharedContext &shared, SparseAutogradDiagnostics **diagnostics,
    llvm::function_ref<int32_t(SparseAutogradDiagnostics &)> body) noexcept {
  return guard(diagnostics, [&](SparseAutogradDiagnostics &list) -> int32_t {
    if (shared.isInherited()) {
      list.addError("the context was made before this process was forked: make "
                    "another one, and parse the program in it");
      return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
    }
    std::lock_guard<std::recursive_mutex> lock(shared.mutex);
    if (shared.isRunning) {
      list.addError("a phase handler may print or clone its module; whatever "
                    "else it is for begins when the pipeline has ended");
      return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
    }
    mlir::ScopedDiagnosticHandler handler(&shared.get(),
                                          [&](mlir::Diagnostic &diagnostic) {
                                            add(list, diagnostic);
                                            return mlir::success();
                                          });
    return body(list);
  });
}

int32_t
sparse_autograd::capi::guardRead(SharedContext &shared,
                                 llvm::function_ref<int32_t()> body) noexcept {
  return guard(nullptr, [&](SparseAutogradDiagnostics &) {
    std::lock_guard<std::recursive_mutex> lock(shared.mutex);
    return body();
  });
}

int32_t
sparse_autograd::capi::refuseNull(SparseAutogradDiagnostics **diagnostics,
                                  const char *name) noexcept {
  return guard(diagnostics, [&](SparseAutogradDiagnostics &list) -> int32_t {
    list.addError(llvm::Twine("the argument '") + name + "' is NULL");
    return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
  });
}
