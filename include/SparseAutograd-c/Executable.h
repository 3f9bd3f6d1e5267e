//===- Executable.h - compiled code and its entries ---------------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code in this process: compiled from a module, or a shared object that was
// compiled ahead of time. How its entries are called, and who owns which
// buffer, is in Runtime.h, and in Call.h for results that share memory or are
// written to the caller's; docs/manifest.md says what the manifest holds. C99
// and later, and C++.
//
// An executable does not change: any number of threads may look up and call its
// entries at once.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_C_EXECUTABLE_H
#define SPARSEAUTOGRAD_C_EXECUTABLE_H

#include "SparseAutograd-c/Module.h"
#include "SparseAutograd/Runtime/Call.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Code that can be called.
typedef struct SparseAutogradExecutable SparseAutogradExecutable;

/// How a module is compiled. SPARSE_AUTOGRAD_COMPILE_OPTIONS_INIT is the
/// default.
typedef struct SparseAutogradCompileOptions {
  /// Options of the pipeline as text, as in "target=gpu threads=1"; NULL is
  /// none. The code is for this machine's processor unless `cpu` is among them.
  const char *pipeline;
  /// The device that code for a GPU runs on (sparseAutogradSetDevice); NULL:
  /// the choice of the process stays.
  const char *device;
  /// 0 to 3, as clang's -O.
  int32_t optimizationLevel;
  /// Called after each phase; may be NULL.
  SparseAutogradPhaseHandler handler;
  /// What the handler is called with.
  void *userData;
  /// Where code is looked up, and kept for other processes: a folder, or
  /// "default", which is SPARSE_AUTOGRAD_CACHE in the environment ("off" or a
  /// folder), else sparse-autograd in the user's folder for caches
  /// (XDG_CACHE_HOME, else ~/.cache). NULL and "off" are none. The code of an
  /// entry is run, with all rights of this process.
  ///
  /// What is found is not compiled: the handler is not called. Entries that
  /// cannot be used are warnings among the diagnostics. All entries together
  /// have SPARSE_AUTOGRAD_CACHE_BYTES bytes at most, 1 GiB by default.
  const char *cache;
} SparseAutogradCompileOptions;

#define SPARSE_AUTOGRAD_COMPILE_OPTIONS_INIT {NULL, NULL, 3, NULL, NULL, NULL}

/// Compiles a copy of a module, the whole pipeline or, if it is in the form
/// that the phase `target` gives, what follows it, and loads the code.
/// `options` may be NULL, the default. The executable is the caller's, to be
/// released with sparseAutogradExecutableDestroy; neither module nor context
/// need outlive it.
///
///     SparseAutogradExecutable *executable;
///     status = sparseAutogradModuleCompile(module, NULL, &executable,
///                                          &diagnostics);
SPARSE_AUTOGRAD_C_EXPORT int32_t
sparseAutogradModuleCompile(const SparseAutogradModule *module,
                            const SparseAutogradCompileOptions *options,
                            SparseAutogradExecutable **executable,
                            SparseAutogradDiagnostics **diagnostics);

/// Loads a shared object that sparse-compile made. A path without a slash is
/// below the current folder. Its code runs, with all rights of this process:
/// load only what you trust. The executable is the caller's.
///
///     status = sparseAutogradExecutableLoad("model.so", &executable,
///                                           &diagnostics);
SPARSE_AUTOGRAD_C_EXPORT int32_t sparseAutogradExecutableLoad(
    const char *path, SparseAutogradExecutable **executable,
    SparseAutogradDiagnostics **diagnostics);

/// Releases an executable, no entry of which may run. Results of its entries
/// stay. NULL is fine.
SPARSE_AUTOGRAD_C_EXPORT void
sparseAutogradExecutableDestroy(SparseAutogradExecutable *executable);

/// The manifest, a text of JSON that belongs to the executable; NULL of NULL.
///
///     puts(sparseAutogradExecutableManifest(executable));
SPARSE_AUTOGRAD_C_EXPORT const char *
sparseAutogradExecutableManifest(const SparseAutogradExecutable *executable);

/// The number of entries; 0 of NULL.
SPARSE_AUTOGRAD_C_EXPORT int64_t
sparseAutogradExecutableEntryCount(const SparseAutogradExecutable *executable);

/// The name of the entry at `index`, in the order of the manifest, a text that
/// belongs to the executable; NULL if there is none.
///
///     for (int64_t i = 0; i < sparseAutogradExecutableEntryCount(e); ++i)
///       puts(sparseAutogradExecutableEntryName(e, i));
SPARSE_AUTOGRAD_C_EXPORT const char *
sparseAutogradExecutableEntryName(const SparseAutogradExecutable *executable,
                                  int64_t index);

/// Writes the entry of the public function `name` to `*entry`; it may be called
/// as long as the executable lives. Returns SPARSE_AUTOGRAD_NOT_FOUND if there
/// is none of this name; the diagnostics list those that there are.
///
///     SparseAutogradEntry gradient;
///     status = sparseAutogradExecutableLookup(executable, "gradient",
///                                             &gradient, NULL);
SPARSE_AUTOGRAD_C_EXPORT int32_t sparseAutogradExecutableLookup(
    const SparseAutogradExecutable *executable, const char *name,
    SparseAutogradEntry *entry, SparseAutogradDiagnostics **diagnostics);

/// Calls the entry `name` with pointers to its arguments and to places for its
/// results (SparseAutogradEntry in Runtime.h: arguments are borrowed, buffers
/// of results are the caller's). Their numbers are compared with the manifest.
/// Returns what the entry returns; the reason of a failure is in the
/// diagnostics, and in sparseAutogradLastError() if the entry has failed.
///
///     double x[] = {1, 2, 3};
///     SparseAutogradMemRef1 argument = {NULL, x, 0, {3}, {1}}, result;
///     void *arguments[] = {&argument}, *results[] = {&result};
///     if (sparseAutogradExecutableCall(executable, "gradient", arguments, 1,
///                                      results, 1, &diagnostics) ==
///         SPARSE_AUTOGRAD_SUCCESS)
///       sparseAutogradFree(result.allocated);
SPARSE_AUTOGRAD_C_EXPORT int32_t sparseAutogradExecutableCall(
    const SparseAutogradExecutable *executable, const char *name,
    void *const *arguments, int64_t argumentCount, void *const *results,
    int64_t resultCount, SparseAutogradDiagnostics **diagnostics);

/// The same for a call that says more (sparseAutogradCall in Call.h): validated
/// patterns, and results that are shared with arguments or written to
/// destinations.
///
///     const int32_t forms[] = {SPARSE_AUTOGRAD_RESULT_DESTINATION};
///     SparseAutogradCall call = {1, 1, arguments, results, NULL, forms};
///     status = sparseAutogradExecutableCallAs(executable, "gradient", &call,
///                                             &diagnostics);
SPARSE_AUTOGRAD_C_EXPORT int32_t sparseAutogradExecutableCallAs(
    const SparseAutogradExecutable *executable, const char *name,
    const SparseAutogradCall *call, SparseAutogradDiagnostics **diagnostics);

/// The number of modules that this process has compiled to machine code.
SPARSE_AUTOGRAD_C_EXPORT uint64_t sparseAutogradCompilationCount(void);

/// The number of modules whose code this process has found in a cache.
SPARSE_AUTOGRAD_C_EXPORT uint64_t sparseAutogradCacheHitCount(void);

/// Whether the code was found in a cache; 0 of NULL.
SPARSE_AUTOGRAD_C_EXPORT int32_t
sparseAutogradExecutableIsCached(const SparseAutogradExecutable *executable);

#ifdef __cplusplus
}
#endif

#endif // SPARSEAUTOGRAD_C_EXECUTABLE_H
