//===- XlaAbi.h - the binary interface of XLA's foreign functions
//----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the C interface of XLA's foreign functions, major version 0, that
// a handler needs: xla/ffi/api/c_api.h of openxla/xla, which says what fields
// mean. Stated here so that the package is built without jaxlib, and works with
// any that has this version; later ones add fields at the end.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_PYTHON_XLAABI_H
#define SPARSEAUTOGRAD_PYTHON_XLAABI_H

#include <cstddef>
#include <cstdint>

namespace xla_abi {

constexpr int majorVersion = 0;

struct Extension {
  size_t structSize;
  int type; ///< metadataExtension
  Extension *next;
};
constexpr int metadataExtension = 1;

struct Version {
  size_t structSize;
  Extension *extensions;
  int major, minor;
};

struct Metadata {
  size_t structSize;
  Version version;
  uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

struct Error;

enum class ErrorCode : int {
  Cancelled = 1,
  InvalidArgument = 3,
  NotFound = 5,
  ResourceExhausted = 8,
  OutOfRange = 11,
  Internal = 13
};

struct ErrorArguments {
  size_t structSize;
  Extension *extensions;
  const char *message;
  ErrorCode code;
};

struct Api {
  size_t structSize;
  Extension *extensions;
  Version version;
  const void *internal;
  Error *(*createError)(ErrorArguments *arguments);
};

struct Buffer {
  size_t structSize;
  Extension *extensions;
  int type;
  void *data;
  int64_t rank;
  int64_t *dims;
};

struct Span {
  const char *data;
  size_t length;
};

/// A number among the attributes.
struct Scalar {
  int type;
  void *value;
};

/// A list of numbers among the attributes.
struct Array {
  int type;
  size_t size;
  void *data;
};

/// Types of elements.
enum ElementType : int { S32 = 4, S64 = 5, U32 = 8, U64 = 9 };

struct Values {
  size_t structSize;
  Extension *extensions;
  int64_t size;
  int *types; ///< bufferValue
  void **values;
};
constexpr int bufferValue = 1;

struct Attributes {
  size_t structSize;
  Extension *extensions;
  int64_t size;
  int *types; ///< arrayAttribute or scalarAttribute
  Span **names;
  void **values;
};
constexpr int arrayAttribute = 1, scalarAttribute = 3;

struct CallFrame {
  size_t structSize;
  Extension *extensions;
  const Api *api;
  void *context;
  int stage; ///< executeStage
  Values arguments, results;
  Attributes attributes;
};
constexpr int executeStage = 3;

} // namespace xla_abi

#endif // SPARSEAUTOGRAD_PYTHON_XLAABI_H
