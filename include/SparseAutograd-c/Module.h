//===- Module.h - programs and the passes on them -----------------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contexts, and modules of MLIR in them: parsing, phases of the pipeline,
// passes by name, printing. C99 and later, and C++.
//
// Functions may be called from any thread; those on modules of one context wait
// for each other. Whoever compiles in several threads at once has a context for
// each. A process that is forked may call entries and
// release what it has inherited; to compile, it makes a context of its own.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_C_MODULE_H
#define SPARSEAUTOGRAD_C_MODULE_H

#include "SparseAutograd-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

/// Dialects, passes and what modules share.
typedef struct SparseAutogradContext SparseAutogradContext;

/// Makes a context with all dialects and passes of the project and of MLIR. It
/// is the caller's, to be released with sparseAutogradContextDestroy.
///
///     SparseAutogradContext *context;
///     if (sparseAutogradContextCreate(&context) != SPARSE_AUTOGRAD_SUCCESS)
///       return 1;
SPARSE_AUTOGRAD_C_EXPORT int32_t
sparseAutogradContextCreate(SparseAutogradContext **context);

/// Releases a context. Its modules keep what they need of it, so that the order
/// does not matter. NULL is fine.
SPARSE_AUTOGRAD_C_EXPORT void
sparseAutogradContextDestroy(SparseAutogradContext *context);

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// A module of MLIR.
typedef struct SparseAutogradModule SparseAutogradModule;

/// Parses and verifies `length` bytes of MLIR, text or bytecode, which are
/// copied. `name` is what diagnostics call the text; NULL is "<text>". The
/// module is the caller's, to be released with sparseAutogradModuleDestroy.
///
///     SparseAutogradModule *module;
///     SparseAutogradDiagnostics *diagnostics;
///     int32_t status = sparseAutogradModuleParse(
///         context, text, strlen(text), "loss.mlir", &module, &diagnostics);
SPARSE_AUTOGRAD_C_EXPORT int32_t sparseAutogradModuleParse(
    SparseAutogradContext *context, const char *text, size_t length,
    const char *name, SparseAutogradModule **module,
    SparseAutogradDiagnostics **diagnostics);

/// Copies a module. The copy is the caller's.
///
///     sparseAutogradModuleClone(module, &copy); // to run other passes on
SPARSE_AUTOGRAD_C_EXPORT int32_t sparseAutogradModuleClone(
    const SparseAutogradModule *module, SparseAutogradModule **copy);

/// Releases a module. NULL is fine, and so is one that a phase handler is
/// given, which stays.
SPARSE_AUTOGRAD_C_EXPORT void
sparseAutogradModuleDestroy(SparseAutogradModule *module);

/// How a module is printed; numbers to be added up.
enum SparseAutogradPrintFlags {
  /// With the location of each op.
  SPARSE_AUTOGRAD_PRINT_LOCATIONS = 1,
  /// Every op in the general form, which any MLIR parses.
  SPARSE_AUTOGRAD_PRINT_GENERIC = 2
};

/// Prints a module, which a phase handler may do as well. The text is zero-
/// terminated and the caller's, to be released with sparseAutogradTextDestroy,
/// which has an example.
SPARSE_AUTOGRAD_C_EXPORT int32_t sparseAutogradModulePrint(
    const SparseAutogradModule *module, uint32_t flags, char **text);

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// Called after each phase of the pipeline, on the thread that runs it, with
/// the phase's name: "differentiate", "select-formats", "lower-sparse",
/// "target". `module` is borrowed for the time of the call. The handler may
/// print or clone it; a function that would change it returns
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT. It returns SPARSE_AUTOGRAD_SUCCESS, or a
/// status with which the function that runs the pipeline then stops
/// (SPARSE_AUTOGRAD_CANCELLED is meant for that). It must not leave by an
/// exception or by longjmp.
typedef int32_t (*SparseAutogradPhaseHandler)(const char *phase,
                                              SparseAutogradModule *module,
                                              void *userData);

/// Runs the pipeline `--sparse-autograd` on a module, in place. `options` are
/// those of the pipeline as text, as in "compile-to=lower-sparse threads=1";
/// NULL is none. After a failure the module is whatever the pass that failed
/// left, and of use for printing only. A module whose formats are chosen, since
/// it was in the pipeline before, is SPARSE_AUTOGRAD_INVALID_PROGRAM.
///
///     static int32_t show(const char *phase, SparseAutogradModule *module,
///                         void *userData) {
///       char *text;
///       int32_t status = sparseAutogradModulePrint(module, 0, &text);
///       if (status == SPARSE_AUTOGRAD_SUCCESS)
///         printf("// after %s\n%s", phase, text);
///       sparseAutogradTextDestroy(text);
///       return status;
///     }
///
///     status = sparseAutogradModuleRun(module, "compile-to=lower-sparse",
///     show,
///                                      NULL, &diagnostics);
SPARSE_AUTOGRAD_C_EXPORT int32_t
sparseAutogradModuleRun(SparseAutogradModule *module, const char *options,
                        SparseAutogradPhaseHandler handler, void *userData,
                        SparseAutogradDiagnostics **diagnostics);

/// Runs passes by their names, with or without the op that they are on, on a
/// module, in place; after a failure as above.
///
///     status = sparseAutogradModuleRunPasses(
///         module, "sparse-autograd-differentiate,func.func(canonicalize)",
///         &diagnostics);
SPARSE_AUTOGRAD_C_EXPORT int32_t
sparseAutogradModuleRunPasses(SparseAutogradModule *module, const char *passes,
                              SparseAutogradDiagnostics **diagnostics);

#ifdef __cplusplus
}
#endif

#endif // SPARSEAUTOGRAD_C_MODULE_H
