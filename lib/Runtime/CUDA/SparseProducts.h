//===- SparseProducts.h - Products with a sparse matrix on a GPU *- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products by cuSPARSE, if it is there. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_SPARSEPRODUCTS_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_SPARSEPRODUCTS_H

#include "CuSparse.h"
#include "Device/DeviceInterface.h"
#include "DeviceLibrary.h"

#include <mutex>

namespace sparse_autograd {
namespace runtime {

/// The library's state for one device.
class SparseProducts final : DeviceLibrary {
public:
  explicit SparseProducts(CudaDevice &device)
      : DeviceLibrary(device, "cuSPARSE") {}
  ~SparseProducts();

  /// See Device::multiplySparse.
  int32_t multiply(Stream &stream, const SparseProduct &product, bool &done);

  /// See Device::beginSparseProduct.
  int32_t begin(Stream &stream, const SparsePairProduct &product,
                std::unique_ptr<BegunProduct> &begun);

private:
  int32_t load(bool &isPresent) override;
  int createHandle() override;
  void destroyHandle() override;
  cuda::LibraryError describeCreation(int status) override;

  friend class PairProduct;

  /// Held by a product: the library keeps the stream of the next call.
  std::mutex lock;
  cusparse::Library library = {};
  cusparse::Handle handle = nullptr;
};

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_SPARSEPRODUCTS_H
