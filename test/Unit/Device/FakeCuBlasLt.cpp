//===- FakeCuBlasLt.cpp - cuBLASLt without a GPU ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of cuBLASLt that the runtime calls, on the fake driver's
// memory. An algorithm is what was promised when it was asked for: the form of
// the product, the alignment of addresses, and a workspace. The declarations
// are the test's own.
//
//===----------------------------------------------------------------------===//

#include "FakeLibrary.h"

#include <utility>

using namespace fake_driver;

namespace {
struct Description {
  int computeType;
  int scaleType;
  int32_t transposed[2];
};

struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batchCount;
  int64_t batchStride;
};

struct Preference {
  uint64_t workspaceBytes;
  uint32_t reductions;
  uint32_t alignments[4];
};

struct Algorithm {
  uint64_t workspaceBytes;
  uint64_t alignments[3];
  Description *description;
  Layout *layouts[3];
};
static_assert(sizeof(Algorithm) == 64, "layout of cublasLtMatmulAlgo_t");

struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

enum Status {
  success = 0,
  invalidValue = 7,
  executionFailed = 13,
  notSupported = 15
};

} // namespace

static constexpr const char *libraryName = "cuBLASLt";
static constexpr const char *descriptionName = "description of a product";
static constexpr const char *layoutName = "layout";
static constexpr const char *preferenceName = "preference";

#define FUNCTION extern "C" FAKE_DRIVER_EXPORT int

// The names are the library's.
// NOLINTBEGIN(readability-identifier-naming)

extern "C" FAKE_DRIVER_EXPORT const char *cublasLtGetStatusName(int code) {
  return code == 1    ? "CUBLAS_STATUS_NOT_INITIALIZED"
         : code == 3  ? "CUBLAS_STATUS_ALLOC_FAILED"
         : code == 13 ? "CUBLAS_STATUS_EXECUTION_FAILED"
         : code == 15 ? "CUBLAS_STATUS_NOT_SUPPORTED"
                      : "CUBLAS_STATUS_UNKNOWN";
}

extern "C" FAKE_DRIVER_EXPORT const char *cublasLtGetStatusString(int code) {
  return code == 1 ? nullptr : "text of the library";
}

FUNCTION cublasLtCreate(void **handle) {
  LibraryCall call("cublasLtCreate", /*needsContext=*/true);
  call.endAtExit();
  if (!call.code)
    *handle = createHandle(libraryName, 1);
  return call.code;
}

FUNCTION cublasLtDestroy(void *handle) {
  LibraryCall call("cublasLtDestroy", /*needsContext=*/true);
  return call.destroy(handle, libraryName);
}

FUNCTION cublasLtMatmulDescCreate(Description **description, int computeType,
                                  int scaleType) {
  LibraryCall call("cublasLtMatmulDescCreate");
  // Of f32, sums of f32 and not of TF32; of f64, of f64.
  call.demand((computeType == 68 && scaleType == 0) ||
                  (computeType == 70 && scaleType == 1),
              "the types of a product");
  if (call.code)
    return call.code;
  *description = static_cast<Description *>(
      createHandle(descriptionName, sizeof(Description)));
  (*description)->computeType = computeType;
  (*description)->scaleType = scaleType;
  return 0;
}

FUNCTION cublasLtMatmulDescDestroy(Description *description) {
  LibraryCall call("cublasLtMatmulDescDestroy");
  return call.destroy(description, descriptionName);
}

FUNCTION cublasLtMatmulDescSetAttribute(Description *description, int attribute,
                                        const void *value, size_t bytes) {
  LibraryCall call("cublasLtMatmulDescSetAttribute");
  call.demandHandle(description, descriptionName);
  call.demand((attribute == 3 || attribute == 4) && bytes == sizeof(int32_t),
              "attribute");
  if (!call.code)
    std::memcpy(&description->transposed[attribute - 3], value, bytes);
  return call.code;
}

FUNCTION cublasLtMatrixLayoutCreate(Layout **layout, int type, uint64_t rows,
                                    uint64_t columns, int64_t leading) {
  LibraryCall call("cublasLtMatrixLayoutCreate");
  call.demand(type == 0 || type == 1 || type == 2 || type == 14, "type");
  call.demand(rows > 0 && columns > 0, "a matrix without elements");
  call.demand(leading >= int64_t(rows), "columns that overlap");
  if (call.code)
    return call.code;
  *layout = static_cast<Layout *>(createHandle(layoutName, sizeof(Layout)));
  **layout = {type, rows, columns, leading, 1, 0};
  return 0;
}

FUNCTION cublasLtMatrixLayoutDestroy(Layout *layout) {
  LibraryCall call("cublasLtMatrixLayoutDestroy");
  return call.destroy(layout, layoutName);
}

FUNCTION cublasLtMatrixLayoutSetAttribute(Layout *layout, int attribute,
                                          const void *value, size_t bytes) {
  LibraryCall call("cublasLtMatrixLayoutSetAttribute");
  call.demandHandle(layout, layoutName);
  if (call.code)
    return call.code;
  if (attribute == 5 && bytes == sizeof(int32_t))
    std::memcpy(&layout->batchCount, value, bytes);
  else if (attribute == 6 && bytes == sizeof(int64_t))
    std::memcpy(&layout->batchStride, value, bytes);
  else
    call.demand(false, "attribute");
  return 0;
}

FUNCTION cublasLtMatmulPreferenceCreate(Preference **preference) {
  LibraryCall call("cublasLtMatmulPreferenceCreate");
  if (!call.code)
    *preference = static_cast<Preference *>(
        createHandle(preferenceName, sizeof(Preference)));
  return call.code;
}

FUNCTION cublasLtMatmulPreferenceDestroy(Preference *preference) {
  LibraryCall call("cublasLtMatmulPreferenceDestroy");
  return call.destroy(preference, preferenceName);
}

FUNCTION cublasLtMatmulPreferenceSetAttribute(Preference *preference,
                                              int attribute, const void *value,
                                              size_t bytes) {
  LibraryCall call("cublasLtMatmulPreferenceSetAttribute");
  call.demandHandle(preference, preferenceName);
  if (call.code)
    return call.code;
  if (attribute == 1 && bytes == sizeof(uint64_t))
    std::memcpy(&preference->workspaceBytes, value, bytes);
  else if (attribute == 3 && bytes == sizeof(uint32_t))
    std::memcpy(&preference->reductions, value, bytes);
  else if (attribute >= 5 && attribute < 9 && bytes == sizeof(uint32_t))
    std::memcpy(&preference->alignments[attribute - 5], value, bytes);
  else
    call.demand(false, "attribute");
  return 0;
}

FUNCTION cublasLtMatmulAlgoGetHeuristic(void *handle, Description *description,
                                        Layout *a, Layout *b, Layout *c,
                                        Layout *d, Preference *preference,
                                        int wanted, Heuristic *results,
                                        int *found) {
  LibraryCall call("cublasLtMatmulAlgoGetHeuristic", /*needsContext=*/true);
  call.demandHandle(handle, libraryName);
  call.demand(wanted == 1, "the number of algorithms");
  call.demand(preference->reductions == 2, "sums in an order of their own");
  call.demand(preference->alignments[2] == preference->alignments[3],
              "the alignment of c, twice");
  call.demand(preference->workspaceBytes >= settings().workspaceBytes,
              "the bound of the workspace");
  const int32_t *transposed = description->transposed;
  call.demand((transposed[0] ? a->columns : a->rows) == c->rows &&
                  (transposed[1] ? b->rows : b->columns) == c->columns &&
                  (transposed[0] ? a->rows : a->columns) ==
                      (transposed[1] ? b->columns : b->rows),
              "extents that differ");
  call.demand(a->batchCount == c->batchCount && b->batchCount == c->batchCount,
              "numbers of products that differ");
  call.demand(a->type == b->type && c == d, "types that differ");
  *found = 0;
  if (call.code)
    return call.code;
  if (!settings().hasProducts)
    return notSupported;
  const uint32_t *alignments = preference->alignments;
  *found = 1;
  results->state = success;
  results->workspaceBytes = settings().workspaceBytes;
  results->algorithm = {settings().workspaceBytes,
                        {alignments[0], alignments[1], alignments[2]},
                        description,
                        {a, b, c}};
  return 0;
}

FUNCTION cublasLtMatmul(void *handle, Description *description,
                        const void *alpha, const void *a, Layout *aLayout,
                        const void *b, Layout *bLayout, const void *beta,
                        const void *c, Layout *cLayout, void *d,
                        Layout *dLayout, const Algorithm *algorithm,
                        void *workspace, size_t workspaceBytes, void *stream) {
  LibraryCall call("cublasLtMatmul", /*needsContext=*/true);
  call.demandHandle(handle, libraryName);
  call.demand(isStream(stream), "the stream is not alive");
  call.demand(c == d && cLayout == dLayout, "c is not where it is written");
  Layout *layouts[] = {aLayout, bLayout, cLayout};
  const void *addresses[] = {a, b, c};
  call.demand(description == algorithm->description,
              "the algorithm of another product");
  for (int i = 0; i < 3; ++i) {
    const Layout &layout = *layouts[i];
    call.demand(isHandle(layouts[i], layoutName), "a layout is not alive");
    call.demand(layouts[i] == algorithm->layouts[i],
                "the algorithm of another layout");
    int64_t bytes = getElementBytes(layout.type);
    int64_t last = (layout.batchCount - 1) * layout.batchStride +
                   int64_t(layout.columns - 1) * layout.leading +
                   int64_t(layout.rows - 1);
    if (!isAllocated(addresses[i], (last + 1) * bytes)) {
      call.demand(false, "a matrix is not allocated");
      return invalidValue;
    }
    uint64_t alignment = algorithm->alignments[i];
    call.demand(reinterpret_cast<uintptr_t>(addresses[i]) % alignment == 0 &&
                    (layout.batchCount == 1 ||
                     layout.batchStride * bytes % alignment == 0),
                "a matrix is not aligned");
  }
  call.demand(workspaceBytes >= algorithm->workspaceBytes &&
                  (!workspaceBytes || isAllocated(workspace, workspaceBytes)),
              "the workspace");
  if (call.code)
    return call.code;
  if (workspaceBytes)
    std::memset(workspace, 0xFF, workspaceBytes);

  auto element = [&](int operand, int64_t batch, int64_t row, int64_t column) {
    const Layout &layout = *layouts[operand];
    if (operand < 2 && description->transposed[operand])
      std::swap(row, column);
    return static_cast<const char *>(addresses[operand]) +
           (batch * layout.batchStride + column * layout.leading + row) *
               getElementBytes(layout.type);
  };
  double scale = loadElement(alpha, description->scaleType);
  double factor = loadElement(beta, description->scaleType);
  auto terms =
      int64_t(description->transposed[0] ? aLayout->rows : aLayout->columns);
  for (int64_t batch = 0; batch < cLayout->batchCount; ++batch)
    for (int64_t i = 0; i < int64_t(cLayout->rows); ++i)
      for (int64_t j = 0; j < int64_t(cLayout->columns); ++j) {
        double sum = 0;
        for (int64_t k = 0; k < terms; ++k)
          sum += loadElement(element(0, batch, i, k), aLayout->type) *
                 loadElement(element(1, batch, k, j), bLayout->type);
        const char *place = element(2, batch, i, j);
        double result = scale * sum;
        if (factor != 0)
          result += factor * loadElement(place, cLayout->type);
        storeElement(static_cast<char *>(d) +
                         (place - static_cast<const char *>(c)),
                     cLayout->type, result);
      }
  return 0;
}

// NOLINTEND(readability-identifier-naming)
