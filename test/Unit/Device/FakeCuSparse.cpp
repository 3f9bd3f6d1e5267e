//===- FakeCuSparse.cpp - cuSPARSE without a GPU ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of cuSPARSE that the runtime calls, on the fake driver's
// memory. The declarations are the test's own.
//
//===----------------------------------------------------------------------===//

#include "FakeLibrary.h"

#include <map>

using namespace fake_driver;

namespace {
/// The library, and the stream of the next call.
struct Library {
  void *stream;
};

/// A list of integers of 32 bits, CUSPARSE_INDEX_32I, or of 64.
struct Indices {
  const void *list;
  int type;

  bool isNarrow() const { return type == 2; }
  int64_t operator[](int64_t place) const {
    return isNarrow() ? static_cast<const int32_t *>(list)[place]
                      : static_cast<const int64_t *>(list)[place];
  }
  void set(int64_t place, int64_t number) const {
    if (isNarrow())
      static_cast<int32_t *>(const_cast<void *>(list))[place] =
          static_cast<int32_t>(number);
    else
      static_cast<int64_t *>(const_cast<void *>(list))[place] = number;
  }
  bool isAllocatedFor(int64_t count) const {
    return isAllocated(list, count * (isNarrow() ? 4 : 8));
  }
};

struct Sparse {
  int64_t rows, columns, stored;
  Indices positions, coordinates;
  char *values;
  int type;
};

/// What a product of two sparse matrices has come to.
struct PairProduct {
  enum Step { Created, Estimated, Computed, Copied } step;
  void *workspaces[2];
  const void *positions; ///< of the result
};

struct Dense {
  int64_t rows, columns, leading;
  char *values;
  int type;
};
} // namespace

static constexpr int statusOfMistake = 3, notSupported = 10;
static constexpr const char *libraryName = "cuSPARSE";
static constexpr const char *sparseName = "sparse matrix";
static constexpr const char *denseName = "dense matrix";
static constexpr const char *pairName = "product of sparse matrices";

#define FUNCTION extern "C" FAKE_DRIVER_EXPORT int

// The names are the library's.
// NOLINTBEGIN(readability-identifier-naming)

extern "C" FAKE_DRIVER_EXPORT const char *cusparseGetErrorName(int code) {
  return code == 1    ? "CUSPARSE_STATUS_NOT_INITIALIZED"
         : code == 2  ? "CUSPARSE_STATUS_ALLOC_FAILED"
         : code == 6  ? "CUSPARSE_STATUS_EXECUTION_FAILED"
         : code == 10 ? "CUSPARSE_STATUS_NOT_SUPPORTED"
                      : "CUSPARSE_STATUS_UNKNOWN";
}

extern "C" FAKE_DRIVER_EXPORT const char *cusparseGetErrorString(int) {
  return "text of the library";
}

FUNCTION cusparseCreate(void **handle) {
  LibraryCall call("cusparseCreate", /*needsContext=*/true);
  call.endAtExit();
  if (!call.code)
    *handle = createHandle(libraryName, sizeof(Library));
  return call.code;
}

FUNCTION cusparseDestroy(void *handle) {
  LibraryCall call("cusparseDestroy", /*needsContext=*/true);
  return call.destroy(handle, libraryName);
}

FUNCTION cusparseSetStream(Library *handle, void *stream) {
  LibraryCall call("cusparseSetStream", /*needsContext=*/true);
  call.demandHandle(handle, libraryName);
  call.demand(isStream(stream), "the stream is not alive");
  if (!call.code)
    handle->stream = stream;
  return call.code;
}

FUNCTION cusparseCreateCsr(void **matrix, int64_t rows, int64_t columns,
                           int64_t stored, void *positions, void *coordinates,
                           void *values, int positionType, int coordinateType,
                           int base, int type) {
  LibraryCall call("cusparseCreateCsr");
  call.demand(positionType == coordinateType && base == 0 &&
                  (positionType == 2 || positionType == 3),
              "indices of 32 or 64 bits from 0");
  call.demand(type == 0 || type == 1, "type");
  bool isResult = stored == 0 && positions && !coordinates && !values;
  call.demand(rows > 0 && columns > 0 && (stored > 0 || isResult),
              "nothing stored");
  if (call.code)
    return call.code;
  auto *sparse =
      static_cast<Sparse *>(createHandle(sparseName, sizeof(Sparse)));
  *sparse = {rows,
             columns,
             stored,
             {positions, positionType},
             {coordinates, coordinateType},
             static_cast<char *>(values),
             type};
  *matrix = sparse;
  return 0;
}

FUNCTION cusparseDestroySpMat(void *matrix) {
  LibraryCall call("cusparseDestroySpMat");
  return call.destroy(matrix, sparseName);
}

FUNCTION cusparseCreateDnMat(void **matrix, int64_t rows, int64_t columns,
                             int64_t leading, void *values, int type,
                             int order) {
  LibraryCall call("cusparseCreateDnMat");
  call.demand(rows > 0 && columns > 0 && leading >= columns,
              "rows that overlap");
  call.demand(order == 2, "matrices by columns");
  call.demand(type == 0 || type == 1, "type");
  if (call.code)
    return call.code;
  auto *dense = static_cast<Dense *>(createHandle(denseName, sizeof(Dense)));
  *dense = {rows, columns, leading, static_cast<char *>(values), type};
  *matrix = dense;
  return 0;
}

FUNCTION cusparseDestroyDnMat(void *matrix) {
  LibraryCall call("cusparseDestroyDnMat");
  return call.destroy(matrix, denseName);
}

namespace {
/// A product of a matrix, of its transpose if `operation` is 1.
struct Operand {
  const Dense &dense;
  int operation;

  int64_t getRows() const { return operation ? dense.columns : dense.rows; }
  int64_t getColumns() const { return operation ? dense.rows : dense.columns; }
  char *at(int64_t row, int64_t column) const {
    return dense.values + (operation ? column * dense.leading + row
                                     : row * dense.leading + column) *
                              getElementBytes(dense.type);
  }
};

/// A call with the operands of a product, of which only the extents are looked
/// at before it is begun.
struct ProductCall : LibraryCall {
  const Sparse &sparse;
  Operand x, y;
  const void *alpha, *beta;

  ProductCall(const char *function, void *handle, const Sparse &sparse,
              Operand x, Operand y, const void *alpha, const void *beta,
              int type)
      : LibraryCall(function, /*needsContext=*/true), sparse(sparse), x(x),
        y(y), alpha(alpha), beta(beta) {
    demandHandle(handle, libraryName);
    demand(isHandle(const_cast<Sparse *>(&sparse), sparseName) &&
               isHandle(const_cast<Dense *>(&x.dense), denseName) &&
               isHandle(const_cast<Dense *>(&y.dense), denseName),
           "a matrix is not alive");
    demand(type == sparse.type && type == x.dense.type && type == y.dense.type,
           "types that differ");
  }

  int findWorkspace(size_t *bytes) {
    *bytes = settings().workspaceBytes;
    if (!code && !settings().hasProducts)
      return notSupported;
    return code;
  }

  /// Whether the memory is there. A library would not look.
  bool begin(const void *stream, void *workspace) {
    int64_t bytes = getElementBytes(sparse.type);
    bool isThere = sparse.positions.isAllocatedFor(sparse.rows + 1) &&
                   sparse.coordinates.isAllocatedFor(sparse.stored) &&
                   isAllocated(sparse.values, sparse.stored * bytes);
    for (const Dense *dense : {&x.dense, &y.dense})
      isThere &= isAllocated(
          dense->values,
          ((dense->rows - 1) * dense->leading + dense->columns) * bytes);
    if (settings().workspaceBytes)
      isThere &= isAllocated(workspace, settings().workspaceBytes);
    demand(isThere, "a matrix is not allocated");
    demand(isStream(const_cast<void *>(stream)), "the stream is not alive");
    if (isThere)
      demand(sparse.positions[0] == 0 &&
                 sparse.positions[sparse.rows] == sparse.stored,
             "positions");
    return isThere && !code;
  }

  void update(char *place, double sum) {
    double result = loadElement(alpha, sparse.type) * sum;
    double factor = loadElement(beta, sparse.type);
    if (factor != 0)
      result += factor * loadElement(place, sparse.type);
    storeElement(place, sparse.type, result);
  }
  double load(const char *place) { return loadElement(place, sparse.type); }
};
} // namespace

static ProductCall beginMultiply(const char *function, void *handle,
                                 int aOperation, int bOperation,
                                 const void *alpha, const Sparse *a,
                                 const Dense *b, const void *beta,
                                 const Dense *c, int type, int algorithm) {
  ProductCall call(function, handle, *a, {*c, 0}, {*b, bOperation}, alpha, beta,
                   type);
  call.demand(aOperation == 0 && algorithm == 12,
              "sums in an order of their own");
  call.demand(a->rows == c->rows && a->columns == call.y.getRows() &&
                  call.y.getColumns() == c->columns,
              "extents that differ");
  return call;
}

FUNCTION cusparseSpMM_bufferSize(void *handle, int aOperation, int bOperation,
                                 const void *alpha, const Sparse *a,
                                 const Dense *b, const void *beta,
                                 const Dense *c, int type, int algorithm,
                                 size_t *bytes) {
  return beginMultiply("cusparseSpMM_bufferSize", handle, aOperation,
                       bOperation, alpha, a, b, beta, c, type, algorithm)
      .findWorkspace(bytes);
}

FUNCTION cusparseSpMM(Library *handle, int aOperation, int bOperation,
                      const void *alpha, const Sparse *a, const Dense *b,
                      const void *beta, const Dense *c, int type, int algorithm,
                      void *workspace) {
  ProductCall call =
      beginMultiply("cusparseSpMM", handle, aOperation, bOperation, alpha, a, b,
                    beta, c, type, algorithm);
  if (!call.begin(handle->stream, workspace))
    return call.code ? call.code : statusOfMistake;
  for (int64_t i = 0; i < a->rows; ++i)
    for (int64_t j = 0; j < c->columns; ++j) {
      double sum = 0;
      for (int64_t p = a->positions[i]; p < a->positions[i + 1]; ++p)
        sum += call.load(a->values + p * getElementBytes(type)) *
               call.load(call.y.at(a->coordinates[p], j));
      call.update(call.x.at(i, j), sum);
    }
  return 0;
}

static ProductCall beginSample(const char *function, void *handle,
                               int aOperation, int bOperation,
                               const void *alpha, const Dense *a,
                               const Dense *b, const void *beta,
                               const Sparse *c, int type, int algorithm) {
  ProductCall call(function, handle, *c, {*a, aOperation}, {*b, bOperation},
                   alpha, beta, type);
  call.demand(algorithm == 0, "algorithm");
  call.demand(call.x.getRows() == c->rows &&
                  call.y.getColumns() == c->columns &&
                  call.x.getColumns() == call.y.getRows(),
              "extents that differ");
  return call;
}

FUNCTION cusparseSDDMM_bufferSize(void *handle, int aOperation, int bOperation,
                                  const void *alpha, const Dense *a,
                                  const Dense *b, const void *beta,
                                  const Sparse *c, int type, int algorithm,
                                  size_t *bytes) {
  return beginSample("cusparseSDDMM_bufferSize", handle, aOperation, bOperation,
                     alpha, a, b, beta, c, type, algorithm)
      .findWorkspace(bytes);
}

FUNCTION cusparseSDDMM(Library *handle, int aOperation, int bOperation,
                       const void *alpha, const Dense *a, const Dense *b,
                       const void *beta, const Sparse *c, int type,
                       int algorithm, void *workspace) {
  ProductCall call =
      beginSample("cusparseSDDMM", handle, aOperation, bOperation, alpha, a, b,
                  beta, c, type, algorithm);
  if (!call.begin(handle->stream, workspace))
    return call.code ? call.code : statusOfMistake;
  for (int64_t i = 0; i < c->rows; ++i)
    for (int64_t p = c->positions[i]; p < c->positions[i + 1]; ++p) {
      double sum = 0;
      for (int64_t k = 0; k < call.x.getColumns(); ++k)
        sum += call.load(call.x.at(i, k)) *
               call.load(call.y.at(k, c->coordinates[p]));
      call.update(c->values + p * getElementBytes(type), sum);
    }
  return 0;
}

namespace {
/// A call with the operands of a product of two sparse matrices.
struct PairCall : LibraryCall {
  const Sparse &a, &b;
  Sparse &c;
  PairProduct &product;

  PairCall(const char *function, const Library *handle, int aOperation,
           int bOperation, const void *alpha, const Sparse *a, const Sparse *b,
           const void *beta, Sparse *c, int type, int algorithm,
           PairProduct *product)
      : LibraryCall(function, /*needsContext=*/true), a(*a), b(*b), c(*c),
        product(*product) {
    demandHandle(const_cast<Library *>(handle), libraryName);
    demand(isStream(handle->stream), "the stream is not alive");
    demand(isHandle(product, pairName), "the product is not alive");
    for (const Sparse *matrix : {a, b, static_cast<const Sparse *>(c)}) {
      demand(isHandle(const_cast<Sparse *>(matrix), sparseName),
             "a matrix is not alive");
      demand(matrix->type == type &&
                 matrix->positions.type == a->positions.type,
             "types that differ");
    }
    demand(aOperation == 0 && bOperation == 0 && algorithm == 3,
           "operations or algorithm");
    demand(loadElement(alpha, type) == 1 && loadElement(beta, type) == 0,
           "factors");
    demand(a->rows == c->rows && a->columns == b->rows &&
               b->columns == c->columns,
           "extents that differ");
  }

  /// Whether the memory is there. A library would not look.
  bool isAllocatedFor(const Sparse &matrix) const {
    return matrix.positions.isAllocatedFor(matrix.rows + 1) &&
           matrix.coordinates.isAllocatedFor(matrix.stored) &&
           isAllocated(matrix.values,
                       matrix.stored * getElementBytes(matrix.type));
  }
  bool begin(PairProduct::Step last) const {
    bool isThere = isAllocatedFor(a) && isAllocatedFor(b) &&
                   c.positions.isAllocatedFor(c.rows + 1);
    for (int i = 0; i < last; ++i)
      isThere &= isAllocated(product.workspaces[i], settings().workspaceBytes);
    demand(isThere, "a matrix or a workspace is not allocated");
    demand(product.step == last, "steps out of order");
    return isThere && !code;
  }

  /// One of the two steps that are asked first what they take.
  int runStep(PairProduct::Step last, size_t *bytes, void *workspace) const {
    if (!workspace)
      *bytes = settings().workspaceBytes;
    else
      demand(isAllocated(workspace, *bytes), "the workspace is not allocated");
    if (!code && !settings().hasProducts)
      return notSupported;
    if (!begin(last) || !workspace)
      return code;
    product.workspaces[last] = workspace;
    product.step = static_cast<PairProduct::Step>(last + 1);
    return code;
  }

  /// The elements of a row, by their columns.
  std::map<int64_t, double> computeRow(int64_t i) const {
    std::map<int64_t, double> row;
    int64_t bytes = getElementBytes(a.type);
    for (int64_t p = a.positions[i]; p < a.positions[i + 1]; ++p)
      for (int64_t k = a.coordinates[p], q = b.positions[k];
           q < b.positions[k + 1]; ++q)
        row[b.coordinates[q]] += loadElement(a.values + p * bytes, a.type) *
                                 loadElement(b.values + q * bytes, a.type);
    return row;
  }
};
} // namespace

FUNCTION cusparseSpGEMM_createDescr(void **product) {
  LibraryCall call("cusparseSpGEMM_createDescr");
  if (!call.code)
    *product = createHandle(pairName, sizeof(PairProduct));
  return call.code;
}

FUNCTION cusparseSpGEMM_destroyDescr(void *product) {
  LibraryCall call("cusparseSpGEMM_destroyDescr", /*needsContext=*/true);
  return call.destroy(product, pairName);
}

FUNCTION cusparseSpGEMM_workEstimation(const Library *handle, int aOperation,
                                       int bOperation, const void *alpha,
                                       const Sparse *a, const Sparse *b,
                                       const void *beta, Sparse *c, int type,
                                       int algorithm, PairProduct *product,
                                       size_t *bytes, void *workspace) {
  return PairCall("cusparseSpGEMM_workEstimation", handle, aOperation,
                  bOperation, alpha, a, b, beta, c, type, algorithm, product)
      .runStep(PairProduct::Created, bytes, workspace);
}

FUNCTION cusparseSpGEMM_compute(const Library *handle, int aOperation,
                                int bOperation, const void *alpha,
                                const Sparse *a, const Sparse *b,
                                const void *beta, Sparse *c, int type,
                                int algorithm, PairProduct *product,
                                size_t *bytes, void *workspace) {
  PairCall call("cusparseSpGEMM_compute", handle, aOperation, bOperation, alpha,
                a, b, beta, c, type, algorithm, product);
  int code = call.runStep(PairProduct::Estimated, bytes, workspace);
  if (code || !workspace)
    return code;
  c->positions.set(0, 0);
  for (int64_t i = 0; i < c->rows; ++i) {
    c->stored += static_cast<int64_t>(call.computeRow(i).size());
    c->positions.set(i + 1, c->stored);
  }
  product->positions = c->positions.list;
  return 0;
}

FUNCTION cusparseSpMatGetSize(const Sparse *matrix, int64_t *rows,
                              int64_t *columns, int64_t *stored) {
  LibraryCall call("cusparseSpMatGetSize");
  *rows = matrix->rows;
  *columns = matrix->columns;
  *stored = matrix->stored;
  return call.code;
}

FUNCTION cusparseCsrSetPointers(Sparse *matrix, void *positions,
                                void *coordinates, void *values) {
  LibraryCall call("cusparseCsrSetPointers");
  if (call.code)
    return call.code;
  matrix->positions.list = positions;
  matrix->coordinates.list = coordinates;
  matrix->values = static_cast<char *>(values);
  return 0;
}

FUNCTION cusparseSpGEMM_copy(const Library *handle, int aOperation,
                             int bOperation, const void *alpha, const Sparse *a,
                             const Sparse *b, const void *beta, Sparse *c,
                             int type, int algorithm, PairProduct *product) {
  PairCall call("cusparseSpGEMM_copy", handle, aOperation, bOperation, alpha, a,
                b, beta, c, type, algorithm, product);
  if (!call.begin(PairProduct::Computed))
    return call.code ? call.code : statusOfMistake;
  call.demand(call.isAllocatedFor(*c), "the result is not allocated");
  // Whether a library writes them in this step is not known.
  call.demand(c->positions.list == product->positions, "other positions");
  for (int64_t i = 0; i < c->rows; ++i) {
    int64_t place = c->positions[i];
    for (auto [column, number] : call.computeRow(i)) {
      c->coordinates.set(place, column);
      storeElement(c->values + place * getElementBytes(type), type, number);
      ++place;
    }
  }
  product->step = PairProduct::Copied;
  return 0;
}

// NOLINTEND(readability-identifier-naming)
