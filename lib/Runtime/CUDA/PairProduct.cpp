//===- PairProduct.cpp - A product of two sparse matrices on a GPU --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of cusparseSpGEMM(): the first two find out how many entries the
// product has, and wait for the stream; the last one stores them, those of a
// row sorted.
//
//===----------------------------------------------------------------------===//

#include "PairProduct.h"
#include "CudaDevice.h"
#include "Device/Failure.h"

#include <algorithm>
#include <cinttypes>

namespace sparse_autograd {
namespace runtime {

/// One and zero in the type of the elements.
static const void *getScalar(int type, int number) {
  static constexpr double wide[] = {0, 1};
  static constexpr float single[] = {0, 1};
  return type == cusparse::typeF64 ? static_cast<const void *>(&wide[number])
                                   : static_cast<const void *>(&single[number]);
}

PairProduct::PairProduct(SparseProducts &library, Stream &stream,
                         const SparsePairProduct &product)
    : library(library), functions(library.library), stream(stream),
      product(product),
      type(product.element == SPARSE_AUTOGRAD_TENSOR_F64 ? cusparse::typeF64
                                                         : cusparse::typeF32) {}

PairProduct::~PairProduct() {
  KeptError kept;
  (void)library.device.inContext([&] {
    if (state)
      (void)functions.destroyPairProduct(state);
    for (cusparse::SparseMatrix matrix : {a, b, c})
      if (matrix)
        (void)functions.destroySparse(matrix);
    return cuda::success;
  });
  for (void *address : {positions, workspaces[0], workspaces[1]})
    if (address)
      (void)library.device.deallocate(stream, address);
}

template <typename Call>
int32_t PairProduct::run(bool canBeLeft, Call call) {
  cuda::Result result = library.device.inContext([&] {
    (void)call();
    return cuda::success;
  });
  if (result)
    return library.device.failCall(result, stream.lastKernel,
                                   "a product by cuSPARSE");
  bool isLeft = canBeLeft && (code == cusparse::notSupported ||
                              code == cusparse::insufficientResources);
  if (!code || isLeft)
    return SPARSE_AUTOGRAD_SUCCESS;
  return cuda::failLibraryCall(
      cusparse::describe(functions, code, function),
      "a product of %" PRId64 " x %" PRId64 " with %" PRId64
      " stored and %" PRId64 " x %" PRId64 " with %" PRId64 " stored (%s)",
      product.a.rows, product.a.columns, product.a.stored, product.b.rows,
      product.b.columns, product.b.stored,
      type == cusparse::typeF64 ? "f64" : "f32");
}

bool PairProduct::createMatrix(cusparse::SparseMatrix &matrix,
                               const CsrMatrix &from) {
  int index = cusparse::getIndexType(product.index);
  // The library writes only to lists that have no constants.
  return check("cusparseCreateCsr",
               functions.createCsr(&matrix, from.rows, from.columns,
                                   from.stored,
                                   const_cast<void *>(from.positions),
                                   const_cast<void *>(from.coordinates),
                                   const_cast<void *>(from.values), index,
                                   index, cusparse::indicesFromZero, type));
}

bool PairProduct::create() {
  return createMatrix(a, product.a) && createMatrix(b, product.b) &&
         createMatrix(c, {product.a.rows, product.b.columns, 0, positions,
                          nullptr, nullptr}) &&
         check("cusparseSpGEMM_createDescr",
               functions.createPairProduct(&state));
}

bool PairProduct::setStream() {
  return check(
      "cusparseSetStream",
      functions.setStream(library.handle,
                          static_cast<cuda::StreamHandle>(stream.handle)));
}

int32_t PairProduct::allocate(size_t bytes, void *&address) {
  // Of no memory the library would be asked again what it takes.
  void *allocated = nullptr;
  int32_t status = library.device.allocate(
      stream, std::max<int64_t>(1, static_cast<int64_t>(bytes)), allocated);
  if (!status)
    address = allocated;
  return status;
}

int64_t PairProduct::getPositionBytes() const {
  return (product.a.rows + 1) *
         (product.index == SPARSE_AUTOGRAD_TENSOR_I32 ? 4 : 8);
}

int32_t PairProduct::runStep(const char *name, Step step, void *&workspace) {
  size_t bytes = 0;
  auto call = [&] {
    return check(name, step(library.handle, cusparse::operationNone,
                            cusparse::operationNone, getScalar(type, 1), a, b,
                            getScalar(type, 0), c, type, cusparse::multiplyPair,
                            state, &bytes, workspace));
  };
  int32_t status = run(/*canBeLeft=*/true, call);
  if (!status && !code)
    status = allocate(bytes, workspace);
  if (!status && !code)
    status = run(/*canBeLeft=*/true, call);
  return status;
}

int32_t PairProduct::begin(bool &done) {
  int32_t status = allocate(getPositionBytes(), positions);
  if (!status)
    status = run(/*canBeLeft=*/true, [&] { return create() && setStream(); });
  if (!status && !code)
    status = runStep("cusparseSpGEMM_workEstimation",
                     functions.estimatePairProduct, workspaces[0]);
  if (!status && !code)
    status = runStep("cusparseSpGEMM_compute", functions.computePairProduct,
                     workspaces[1]);
  if (!status && !code)
    status = run(/*canBeLeft=*/true, [&] {
      int64_t rows = 0, columns = 0;
      return check("cusparseSpMatGetSize",
                   functions.getSize(c, &rows, &columns, &stored));
    });
  done = !status && !code && stored > 0 &&
         cusparse::fitsIndex(product.index, stored);
  return status;
}

int32_t PairProduct::end(void *toPositions, void *coordinates, void *values) {
  {
    std::lock_guard<std::mutex> guard(library.lock);
    if (int32_t status = run(/*canBeLeft=*/false, [&] {
          return setStream() &&
                 check("cusparseCsrSetPointers",
                       functions.setLists(c, positions, coordinates, values)) &&
                 check("cusparseSpGEMM_copy",
                       functions.copyPairProduct(
                           library.handle, cusparse::operationNone,
                           cusparse::operationNone, getScalar(type, 1), a, b,
                           getScalar(type, 0), c, type, cusparse::multiplyPair,
                           state));
        }))
      return status;
  }
  return library.device.copy(stream, toPositions, positions,
                             getPositionBytes());
}

} // namespace runtime
} // namespace sparse_autograd
