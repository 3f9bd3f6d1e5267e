//===- Export.h - Linkage of the runtime's functions --------------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime's headers and those of the compiler (SparseAutograd-c) need
// to be read by C99 and later and by C++.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNTIME_EXPORT_H
#define SPARSEAUTOGRAD_RUNTIME_EXPORT_H

#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define SPARSE_AUTOGRAD_RUNTIME_EXPORT __attribute__((visibility("default")))
#else
#define SPARSE_AUTOGRAD_RUNTIME_EXPORT
#endif

#ifdef __cplusplus
#define SPARSE_AUTOGRAD_STATIC_ASSERT(condition, message)                      \
  static_assert(condition, message)
#define SPARSE_AUTOGRAD_NORETURN [[noreturn]]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SPARSE_AUTOGRAD_STATIC_ASSERT(condition, message)                      \
  _Static_assert(condition, message)
#define SPARSE_AUTOGRAD_NORETURN _Noreturn
#else
/* C99: the declaration of an array that has a negative length otherwise. */
#define SPARSE_AUTOGRAD_STATIC_ASSERT(condition, message)                      \
  extern char sparseAutogradStaticAssertion[(condition) ? 1 : -1]
#define SPARSE_AUTOGRAD_NORETURN __attribute__((noreturn))
#endif

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(void *) == 8,
                              "the runtime is for 64-bit targets");

#endif // SPARSEAUTOGRAD_RUNTIME_EXPORT_H
