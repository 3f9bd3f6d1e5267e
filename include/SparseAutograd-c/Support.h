//===- Support.h - status, diagnostics, texts ---------------------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the functions of the C interface of the compiler have in common: its
// version, the status that they return, diagnostics as data, texts. C99 and
// later, and C++; the library is libSparseAutogradC.
//
// No exception leaves a function. A pointer that may not be NULL and is gets
// SPARSE_AUTOGRAD_INVALID_ARGUMENT. After a failure, what a function returns
// through a pointer is NULL or 0.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_C_SUPPORT_H
#define SPARSEAUTOGRAD_C_SUPPORT_H

#include "SparseAutograd/Runtime/Runtime.h"

#define SPARSE_AUTOGRAD_C_EXPORT SPARSE_AUTOGRAD_RUNTIME_EXPORT

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Version
//===----------------------------------------------------------------------===//

/// The version of this interface. It changes whenever a program that was
/// compiled for one version could misbehave with another.
#define SPARSE_AUTOGRAD_C_VERSION 2u

/// The version that the loaded library implements.
///
///     if (sparseAutogradCVersion() != SPARSE_AUTOGRAD_C_VERSION)
///       return fail("another version of libSparseAutogradC");
SPARSE_AUTOGRAD_C_EXPORT uint32_t sparseAutogradCVersion(void);

/// The versions of the project and of LLVM, for people: "0.1.0, with LLVM and
/// MLIR 22.1.8". The text is a constant.
SPARSE_AUTOGRAD_C_EXPORT const char *sparseAutogradVersionText(void);

//===----------------------------------------------------------------------===//
// Status
//===----------------------------------------------------------------------===//

/// What a function returns besides those of SparseAutogradStatus (Runtime.h),
/// of which SPARSE_AUTOGRAD_SUCCESS is the only one that is no failure.
enum SparseAutogradCompilerStatus {
  /// The program, or an option of a pipeline, is not valid: the diagnostics say
  /// why, and where.
  SPARSE_AUTOGRAD_INVALID_PROGRAM = 64,
  /// There is no entry, file or library of this name.
  SPARSE_AUTOGRAD_NOT_FOUND = 65,
  /// A fault of the compiler's own.
  SPARSE_AUTOGRAD_INTERNAL_ERROR = 66
};

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// How grave a diagnostic is.
enum SparseAutogradSeverity {
  /// Adds to the last diagnostic before it that is no note.
  SPARSE_AUTOGRAD_NOTE = 0,
  SPARSE_AUTOGRAD_REMARK = 1,
  SPARSE_AUTOGRAD_WARNING = 2,
  SPARSE_AUTOGRAD_ERROR = 3
};

/// What a call had to say, in order. A function that takes a
/// `SparseAutogradDiagnostics **` sets it: to NULL if there was nothing to say,
/// else to a list that is the caller's, to be released with
/// sparseAutogradDiagnosticsDestroy. Whoever does not want it passes NULL. A
/// call that fails says why in at least one error, but where memory is out.
typedef struct SparseAutogradDiagnostics SparseAutogradDiagnostics;

/// A diagnostic. Its texts belong to the list.
typedef struct SparseAutogradDiagnostic {
  int32_t severity;    ///< enum SparseAutogradSeverity
  const char *file;    ///< the name given to the text; "" if unknown
  int64_t line;        ///< from 1; 0 if unknown
  int64_t column;      ///< from 1; 0 if unknown
  const char *message; ///< without severity and location
} SparseAutogradDiagnostic;

/// The number of diagnostics of a list; 0 of NULL.
SPARSE_AUTOGRAD_C_EXPORT int64_t
sparseAutogradDiagnosticsCount(const SparseAutogradDiagnostics *diagnostics);

/// Writes the diagnostic at `index` to `*diagnostic`. Returns
/// SPARSE_AUTOGRAD_OUT_OF_RANGE if there is none.
///
///     SparseAutogradDiagnostic d;
///     for (int64_t i = 0; i < sparseAutogradDiagnosticsCount(list); ++i)
///       if (sparseAutogradDiagnosticsGet(list, i, &d) ==
///           SPARSE_AUTOGRAD_SUCCESS)
///         printf("%s:%d:%d: %s\n", d.file, (int)d.line, (int)d.column,
///                d.message);
///     sparseAutogradDiagnosticsDestroy(list);
SPARSE_AUTOGRAD_C_EXPORT int32_t sparseAutogradDiagnosticsGet(
    const SparseAutogradDiagnostics *diagnostics, int64_t index,
    SparseAutogradDiagnostic *diagnostic);

/// Releases a list and its texts. NULL is fine.
SPARSE_AUTOGRAD_C_EXPORT void
sparseAutogradDiagnosticsDestroy(SparseAutogradDiagnostics *diagnostics);

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// Releases a text that a function has returned as the caller's. NULL is fine.
///
///     char *text;
///     if (sparseAutogradModulePrint(module, 0, &text) ==
///         SPARSE_AUTOGRAD_SUCCESS)
///       puts(text);
///     sparseAutogradTextDestroy(text);
SPARSE_AUTOGRAD_C_EXPORT void sparseAutogradTextDestroy(char *text);

#ifdef __cplusplus
}
#endif

#endif // SPARSEAUTOGRAD_C_SUPPORT_H
