//===- MatrixProducts.h - Products of matrices on a GPU ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of matrices by cuBLASLt, if it is there. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_MATRIXPRODUCTS_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_MATRIXPRODUCTS_H

#include "CuBlasLt.h"
#include "Device/DeviceInterface.h"
#include "DeviceLibrary.h"

#include <mutex>

namespace sparse_autograd {
namespace runtime {

/// The library's state for one device. What the library has found out of a
/// product is kept for the next of its kind.
class MatrixProducts final : DeviceLibrary {
public:
  explicit MatrixProducts(CudaDevice &device)
      : DeviceLibrary(device, "cuBLASLt") {}
  ~MatrixProducts();

  /// See Device::multiply.
  int32_t multiply(Stream &stream, const MatrixProduct &product, bool &done);

  /// A product as the library has it, of matrices whose columns lie without
  /// gaps. All that a plan depends on, as numbers that are compared.
  struct Form {
    int64_t factorElement, resultElement;
    int64_t rows, columns, terms;
    int64_t transposed[2];
    int64_t leading[3]; ///< from one column to the next, in elements
    int64_t batchCount;
    int64_t batchStrides[3];
    int64_t alignments[3]; ///< of all addresses, in bytes
  };

  /// How the library computes products of a form.
  struct Plan {
    Form form;
    bool isSupported;
    cublaslt::Description description;
    cublaslt::Layout layouts[3];
    cublaslt::Algorithm algorithm;
    size_t workspaceBytes;
  };

private:
  int32_t load(bool &isPresent) override;
  int createHandle() override;
  void destroyHandle() override;
  cuda::LibraryError describeCreation(int status) override;
  int32_t getPlan(const Form &form, Plan *&plan);
  int32_t createPlan(const Form &form, Plan &plan);
  void release(Plan &plan);
  int32_t run(Stream &stream, const MatrixProduct &product, bool isSwapped,
              const Plan &plan, void *workspace);

  /// Held by a product: the library takes as long to be called as the driver,
  /// which has a lock of its own.
  std::mutex lock;
  cublaslt::Library library = {};
  cublaslt::Handle handle = nullptr;
  /// By a number that follows from the form; another form takes the place of
  /// the one before.
  static constexpr size_t planCount = 256;
  std::unique_ptr<Plan> plans[planCount];
};

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_MATRIXPRODUCTS_H
