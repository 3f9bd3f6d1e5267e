//===- SparseProducts.cpp - Products with a sparse matrix on a GPU --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes the operands to the library, and calls it, in the order of the
// stream, with memory of the stream.
//
// The algorithms are those whose sums are in the same order each time
// (cuSPARSE, cusparseSpMM() and cusparseSDDMM()). What the library could find
// out of a pattern beforehand (cusparseSpMM_preprocess) is not kept: nobody
// says when the memory of a pattern holds another one.
//
//===----------------------------------------------------------------------===//

#include "SparseProducts.h"
#include "CudaDevice.h"
#include "Device/Failure.h"
#include "PairProduct.h"

#include <cinttypes>
#include <new>

namespace sparse_autograd {
namespace runtime {

namespace {
/// A dense matrix as the library has it: rows without gaps, of the matrix or of
/// its transpose.
struct RowMatrix {
  void *data;
  int64_t rows, columns, leading;
  int operation;
};

/// The operands of one product, as long as it takes to call the library.
class Operands {
public:
  Operands(const cusparse::Library &library, const SparseProduct &product)
      : library(library), product(product),
        isF64(product.element == SPARSE_AUTOGRAD_TENSOR_F64),
        type(isF64 ? cusparse::typeF64 : cusparse::typeF32),
        narrow{static_cast<float>(product.alpha),
               static_cast<float>(product.beta)} {}
  ~Operands();
  Operands(const Operands &) = delete;
  Operands &operator=(const Operands &) = delete;

  /// Each returns whether it was done; if not, `code` and `function` say why.
  bool create(const RowMatrix &xRows, const RowMatrix &yRows);
  bool findWorkspace(cusparse::Handle handle, size_t &bytes);
  bool run(cusparse::Handle handle, Stream &stream, void *workspace);

  cusparse::Status code = cusparse::success;
  const char *function = "";

private:
  bool check(const char *name, cusparse::Status status) {
    function = name;
    code = status;
    return code == cusparse::success;
  }
  const void *getAlpha() const { return getScalar(product.alpha, narrow[0]); }
  const void *getBeta() const { return getScalar(product.beta, narrow[1]); }
  const void *getScalar(const double &wide, const float &single) const {
    return isF64 ? static_cast<const void *>(&wide)
                 : static_cast<const void *>(&single);
  }

  const cusparse::Library &library;
  const SparseProduct &product;
  const bool isF64;
  const int type;
  const float narrow[2];
  int xOperation = cusparse::operationNone;
  int yOperation = cusparse::operationNone;
  cusparse::SparseMatrix sparse = nullptr;
  cusparse::DenseMatrix x = nullptr, y = nullptr;
};
} // namespace

/// Whether `matrix` or its transpose has rows without gaps.
static bool findRows(const StridedMatrix &matrix, RowMatrix &rows) {
  auto isRowMajor = [&](int64_t outer, int64_t inner, int64_t outerStride,
                        int64_t innerStride, int operation) {
    if (inner != 1 && innerStride != 1)
      return false;
    rows = {matrix.data, outer, inner, outer == 1 ? inner : outerStride,
            operation};
    return rows.leading >= inner;
  };
  return isRowMajor(matrix.rows, matrix.columns, matrix.rowStride,
                    matrix.columnStride, cusparse::operationNone) ||
         isRowMajor(matrix.columns, matrix.rows, matrix.columnStride,
                    matrix.rowStride, cusparse::operationTranspose);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Operands::~Operands() {
  if (sparse)
    (void)library.destroySparse(sparse);
  if (x)
    (void)library.destroyDense(x);
  if (y)
    (void)library.destroyDense(y);
}

bool Operands::create(const RowMatrix &xRows, const RowMatrix &yRows) {
  xOperation = xRows.operation;
  yOperation = yRows.operation;
  auto createDense = [&](cusparse::DenseMatrix &matrix, const RowMatrix &from) {
    return check("cusparseCreateDnMat",
                 library.createDense(&matrix, from.rows, from.columns,
                                     from.leading, from.data, type,
                                     cusparse::orderOfRows));
  };
  int indexType = cusparse::getIndexType(product.index);
  // The library writes neither positions nor coordinates.
  return check("cusparseCreateCsr",
               library.createCsr(
                   &sparse, product.rows, product.columns, product.stored,
                   const_cast<void *>(product.positions),
                   const_cast<void *>(product.coordinates), product.values,
                   indexType, indexType, cusparse::indicesFromZero, type)) &&
         createDense(x, xRows) && createDense(y, yRows);
}

bool Operands::findWorkspace(cusparse::Handle handle, size_t &bytes) {
  if (product.isSampled)
    return check("cusparseSDDMM_bufferSize",
                 library.sampleBytes(handle, xOperation, yOperation, getAlpha(),
                                     x, y, getBeta(), sparse, type,
                                     cusparse::sampleDefault, &bytes));
  return check("cusparseSpMM_bufferSize",
               library.multiplyBytes(handle, cusparse::operationNone,
                                     yOperation, getAlpha(), sparse, y,
                                     getBeta(), x, type,
                                     cusparse::multiplyInOrder, &bytes));
}

bool Operands::run(cusparse::Handle handle, Stream &stream, void *workspace) {
  if (!check("cusparseSetStream",
             library.setStream(handle,
                               static_cast<cuda::StreamHandle>(stream.handle))))
    return false;
  if (product.isSampled)
    return check("cusparseSDDMM",
                 library.sample(handle, xOperation, yOperation, getAlpha(), x,
                                y, getBeta(), sparse, type,
                                cusparse::sampleDefault, workspace));
  return check("cusparseSpMM",
               library.multiply(handle, cusparse::operationNone, yOperation,
                                getAlpha(), sparse, y, getBeta(), x, type,
                                cusparse::multiplyInOrder, workspace));
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

SparseProducts::~SparseProducts() { close(); }

int32_t SparseProducts::load(bool &isPresent) {
  return cusparse::loadLibrary(library, isPresent);
}

int SparseProducts::createHandle() { return library.create(&handle); }

void SparseProducts::destroyHandle() { (void)library.destroy(handle); }

cuda::LibraryError SparseProducts::describeCreation(int status) {
  return cusparse::describe(library, status, "cusparseCreate");
}

/// Whether the library has elements of that kind, and indices of that kind for
/// a matrix.
static bool isKnown(int32_t element, int32_t index, int64_t rows,
                    int64_t columns, int64_t stored) {
  bool isKnown = element == SPARSE_AUTOGRAD_TENSOR_F32 ||
                 element == SPARSE_AUTOGRAD_TENSOR_F64;
  for (int64_t number : {rows, columns, stored})
    isKnown &= cusparse::fitsIndex(index, number);
  return isKnown;
}

int32_t SparseProducts::multiply(Stream &stream, const SparseProduct &product,
                                 bool &done) {
  std::lock_guard<std::mutex> guard(lock);
  if (int32_t status = open())
    return status;
  RowMatrix x, y;
  if (!isOpen() ||
      !isKnown(product.element, product.index, product.rows, product.columns,
               product.stored) ||
      !findRows(product.x, x) || !findRows(product.y, y))
    return SPARSE_AUTOGRAD_SUCCESS;
  // What is written cannot be transposed.
  if (!product.isSampled && x.operation != cusparse::operationNone)
    return SPARSE_AUTOGRAD_SUCCESS;

  Operands operands(library, product);
  auto failProduct = [&](cuda::Result result) {
    if (result)
      return device.failCall(result, stream.lastKernel,
                             "a product by cuSPARSE");
    return cuda::failLibraryCall(
        cusparse::describe(library, operands.code, operands.function),
        "%s of %" PRId64 " x %" PRId64 " and %" PRId64 " x %" PRId64
        " with %" PRId64 " stored (%s)",
        product.isSampled ? "a sampled product" : "a product", product.rows,
        product.isSampled ? product.x.columns : product.columns, product.y.rows,
        product.y.columns, product.stored,
        product.element == SPARSE_AUTOGRAD_TENSOR_F64 ? "f64" : "f32");
  };
  size_t bytes = 0;
  bool isDescribed = operands.create(x, y);
  cuda::Result result = cuda::success;
  if (isDescribed)
    result = device.inContext([&] {
      (void)operands.findWorkspace(handle, bytes);
      return cuda::success;
    });
  if (!result && isDescribed && operands.code == cusparse::notSupported)
    return SPARSE_AUTOGRAD_SUCCESS;
  if (result || operands.code)
    return failProduct(result);
  int32_t status = withWorkspace(stream, bytes, [&](void *workspace) {
    result = device.inContext([&] {
      (void)operands.run(handle, stream, workspace);
      return cuda::success;
    });
    return result || operands.code ? failProduct(result)
                                   : int32_t(SPARSE_AUTOGRAD_SUCCESS);
  });
  done = status == SPARSE_AUTOGRAD_SUCCESS;
  return status;
}

int32_t SparseProducts::begin(Stream &stream, const SparsePairProduct &product,
                              std::unique_ptr<BegunProduct> &begun) {
  std::lock_guard<std::mutex> guard(lock);
  if (int32_t status = open())
    return status;
  for (const CsrMatrix &matrix : {product.a, product.b})
    if (!isOpen() || !isKnown(product.element, product.index, matrix.rows,
                              matrix.columns, matrix.stored))
      return SPARSE_AUTOGRAD_SUCCESS;
  std::unique_ptr<PairProduct> pair(new (std::nothrow)
                                        PairProduct(*this, stream, product));
  if (!pair)
    return failHostMemory();
  bool done = false;
  if (int32_t status = pair->begin(done))
    return status;
  if (done)
    begun = std::move(pair);
  return SPARSE_AUTOGRAD_SUCCESS;
}

} // namespace runtime
} // namespace sparse_autograd
