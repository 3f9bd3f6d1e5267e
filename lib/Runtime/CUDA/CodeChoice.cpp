//===- CodeChoice.cpp - Which code of an image a GPU runs -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules are those of the CUDA C++ Programming Guide, "Compute capability":
// machine code runs on its major version from its minor version on; PTX on all
// later versions; architecture-specific code (sm_90a) on its own version only,
// and family-specific code (sm_100f) on its major version, PTX too.
//
//===----------------------------------------------------------------------===//

#include "CodeChoice.h"

#include <cstdio>
#include <cstring>

namespace sparse_autograd {
namespace runtime {
namespace cuda {

static bool canRun(const SparseAutogradCode &code, int32_t capability) {
  if (code.kind == SPARSE_AUTOGRAD_CODE_FATBIN)
    return true;
  if (code.kind != SPARSE_AUTOGRAD_CODE_CUBIN &&
      code.kind != SPARSE_AUTOGRAD_CODE_PTX)
    return false;
  if (code.portability == SPARSE_AUTOGRAD_CODE_ARCHITECTURE_SPECIFIC)
    return code.architecture == capability;
  if (code.architecture > capability)
    return false;
  return code.architecture / 10 == capability / 10 ||
         (code.kind == SPARSE_AUTOGRAD_CODE_PTX &&
          code.portability == SPARSE_AUTOGRAD_CODE_PORTABLE);
}

/// How good code is: no two of an image are equally good.
static int64_t getRank(const SparseAutogradImage &image,
                       const SparseAutogradCode &code) {
  int64_t rank = 0;
  if (code.kind == SPARSE_AUTOGRAD_CODE_FATBIN)
    rank = 1 << 20;
  if (code.kind == SPARSE_AUTOGRAD_CODE_CUBIN)
    rank = 2 << 20;
  if (code.kind != SPARSE_AUTOGRAD_CODE_FATBIN)
    // For the same architecture, what may use all of it is better.
    rank += 2 * code.architecture +
            (code.portability != SPARSE_AUTOGRAD_CODE_PORTABLE);
  // The first of those that are the same.
  return rank * image.codeCount - (&code - image.codes);
}

const SparseAutogradCode *getNextCode(const SparseAutogradImage &image,
                                      int32_t capability,
                                      const SparseAutogradCode *previous) {
  const SparseAutogradCode *best = nullptr;
  for (int32_t i = 0; i < image.codeCount; ++i) {
    const SparseAutogradCode &code = image.codes[i];
    if (!canRun(code, capability))
      continue;
    if (previous && getRank(image, code) >= getRank(image, *previous))
      continue;
    if (!best || getRank(image, code) > getRank(image, *best))
      best = &code;
  }
  return best;
}

CodeName getName(const SparseAutogradCode &code) {
  constexpr const char *suffixes[] = {"", "a", "f"};
  const char *suffix = code.portability >= 0 && code.portability < 3
                           ? suffixes[code.portability]
                           : "?";
  CodeName name;
  size_t capacity = sizeof(name.text);
  switch (code.kind) {
  case SPARSE_AUTOGRAD_CODE_FATBIN:
    std::snprintf(name.text, capacity, "%s",
                  code.contents && *code.contents ? code.contents : "a fatbin");
    break;
  case SPARSE_AUTOGRAD_CODE_CUBIN:
    std::snprintf(name.text, capacity, "sm_%d%s", code.architecture, suffix);
    break;
  case SPARSE_AUTOGRAD_CODE_PTX:
    std::snprintf(name.text, capacity, "compute_%d%s", code.architecture,
                  suffix);
    break;
  case SPARSE_AUTOGRAD_CODE_HOST:
    std::snprintf(name.text, capacity, "the emulator");
    break;
  default:
    std::snprintf(name.text, capacity, "an unknown kind (%d)", code.kind);
    break;
  }
  return name;
}

CodeNames getNames(const SparseAutogradImage &image) {
  CodeNames names;
  std::snprintf(names.text, sizeof(names.text), "nothing");
  size_t length = 0;
  for (int32_t i = 0; i < image.codeCount && length < sizeof(names.text); ++i)
    length +=
        std::snprintf(names.text + length, sizeof(names.text) - length, "%s%s",
                      i ? ", " : "", getName(image.codes[i]).text);
  return names;
}

} // namespace cuda
} // namespace runtime
} // namespace sparse_autograd
