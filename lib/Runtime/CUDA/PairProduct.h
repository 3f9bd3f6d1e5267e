//===- PairProduct.h - A product of two sparse matrices on a GPU *- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_PAIRPRODUCT_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_PAIRPRODUCT_H

#include "SparseProducts.h"

namespace sparse_autograd {
namespace runtime {

/// A product of two sparse matrices by cuSPARSE, which is there.
class PairProduct final : public BegunProduct {
public:
  PairProduct(SparseProducts &library, Stream &stream,
              const SparsePairProduct &product);
  ~PairProduct() override;
  PairProduct(const PairProduct &) = delete;
  PairProduct &operator=(const PairProduct &) = delete;

  /// Computes it, and sets `stored` and `done`, which was false; leaves it if
  /// the library has no such product. The lock of the library is held.
  int32_t begin(bool &done);
  int32_t end(void *positions, void *coordinates, void *values) override;

private:
  /// One of the two steps of the library that take memory.
  using Step = decltype(cusparse::Library::computePairProduct);

  /// Calls the library in the context of the device; `call` returns whether all
  /// is well, as check() does. That the library has no such product is no
  /// failure if it `canBeLeft`.
  template <typename Call>
  int32_t run(bool canBeLeft, Call call);
  bool check(const char *name, cusparse::Status status) {
    function = name;
    code = status;
    return code == cusparse::success;
  }
  bool createMatrix(cusparse::SparseMatrix &matrix, const CsrMatrix &from);
  bool create();
  bool setStream();
  /// Asks `step` what it takes, allocates that, and has it done, unless the
  /// product is left.
  int32_t runStep(const char *name, Step step, void *&workspace);
  int32_t allocate(size_t bytes, void *&address);
  int64_t getPositionBytes() const;

  SparseProducts &library;
  const cusparse::Library &functions;
  Stream &stream;
  const SparsePairProduct product;
  const int type;
  cusparse::Status code = cusparse::success;
  const char *function = "";
  cusparse::SparseMatrix a = nullptr, b = nullptr, c = nullptr;
  cusparse::PairProduct state = nullptr;
  /// The positions of the product, which the library may write before the
  /// program has allocated them, and the memory of the steps.
  void *positions = nullptr, *workspaces[2] = {};
};

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_PAIRPRODUCT_H
