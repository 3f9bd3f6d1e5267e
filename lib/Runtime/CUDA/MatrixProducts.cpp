//===- MatrixProducts.cpp - Products of matrices on a GPU -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Brings a product into the library's form, asks it once for each form how to
// compute that, and calls it, in the order of the stream, with memory of the
// stream.
//
// The bits of a result depend on the form, the GPU and the version of the
// library, and on nothing else: it is asked for sums whose pieces are added in
// one order, and has its memory from us, so that what other streams do does not
// count (cuBLAS Library, Results reproducibility).
//
//===----------------------------------------------------------------------===//

#include "MatrixProducts.h"
#include "CudaDevice.h"
#include "Device/Failure.h"
#include "Device/TensorTiles.h"

#include <cinttypes>
#include <climits>
#include <functional>
#include <new>
#include <string_view>
#include <type_traits>

namespace sparse_autograd {
namespace runtime {

/// What NVIDIA recommends for the GPUs that use the most.
static constexpr uint64_t maximalWorkspaceBytes = uint64_t(32) << 20;
/// More alignment than that changes nothing.
static constexpr uint64_t maximalAlignment = 256;

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static int getType(int64_t element) {
  switch (element) {
  case SPARSE_AUTOGRAD_TENSOR_F16:
    return cublaslt::typeF16;
  case SPARSE_AUTOGRAD_TENSOR_BF16:
    return cublaslt::typeBF16;
  case SPARSE_AUTOGRAD_TENSOR_F32:
    return cublaslt::typeF32;
  case SPARSE_AUTOGRAD_TENSOR_F64:
    return cublaslt::typeF64;
  default:
    return -1;
  }
}

/// The name of a type, as MLIR has it.
static const char *getName(int64_t element) {
  switch (element) {
  case SPARSE_AUTOGRAD_TENSOR_F16:
    return "f16";
  case SPARSE_AUTOGRAD_TENSOR_BF16:
    return "bf16";
  case SPARSE_AUTOGRAD_TENSOR_F32:
    return "f32";
  default:
    return "f64";
  }
}

/// Whether the factors are summed in the type of the result: f64 for f64, else
/// f32.
static bool hasElements(const MatrixProduct &product) {
  int factor = getType(product.factorElement);
  return factor >= 0 &&
         getType(product.resultElement) ==
             (factor == cublaslt::typeF64 ? factor : cublaslt::typeF32);
}

/// Whether operand `operand` is a matrix of columns without gaps, or of rows:
/// then the library transposes it.
static bool findLeading(const ProductLoop &rows, const ProductLoop &columns,
                        int operand, int64_t &transposed, int64_t &leading) {
  auto isLeading = [&](const ProductLoop &inner, const ProductLoop &outer) {
    if (inner.extent != 1 && inner.strides[operand] != 1)
      return false;
    leading = outer.extent == 1 ? inner.extent : outer.strides[operand];
    return leading >= inner.extent;
  };
  transposed = 0;
  if (isLeading(rows, columns))
    return true;
  transposed = 1;
  return isLeading(columns, rows);
}

/// The largest power of two, up to a limit, that divides all addresses of an
/// operand.
static int64_t getAlignment(const MatrixProduct &product, const void *address,
                            int operand, int64_t element) {
  uint64_t bytes = getElementBytes(static_cast<int32_t>(element));
  uint64_t all = reinterpret_cast<uintptr_t>(address) | maximalAlignment;
  auto add = [&](const ProductLoop &loop) {
    if (loop.extent != 1)
      all |= static_cast<uint64_t>(loop.strides[operand]) * bytes;
  };
  add(product.batch);
  for (int i = 0; i < product.outerCount; ++i)
    add(product.outer[i]);
  return static_cast<int64_t>(all & -all);
}

/// The product in the library's form: itself or, since rows of the result lie
/// without gaps, c^T = b^T a^T. Returns whether there is one.
static bool findForm(const MatrixProduct &product, bool &isSwapped,
                     MatrixProducts::Form &form) {
  if (!hasElements(product) || product.batch.extent > INT_MAX)
    return false;
  form = {};
  int64_t transposed = 0;
  if (!findLeading(product.m, product.n, 2, transposed, form.leading[2]))
    return false;
  isSwapped = transposed != 0;
  const ProductLoop &rows = isSwapped ? product.n : product.m;
  const ProductLoop &columns = isSwapped ? product.m : product.n;
  int first = isSwapped ? 1 : 0, second = 1 - first;
  if (!findLeading(rows, product.k, first, form.transposed[0],
                   form.leading[0]) ||
      !findLeading(product.k, columns, second, form.transposed[1],
                   form.leading[1]))
    return false;
  form.factorElement = product.factorElement;
  form.resultElement = product.resultElement;
  form.rows = rows.extent;
  form.columns = columns.extent;
  form.terms = product.k.extent;
  form.batchCount = product.batch.extent;
  const void *addresses[] = {product.a, product.b, product.c};
  int operands[] = {first, second, 2};
  for (int i = 0; i < 3; ++i) {
    form.batchStrides[i] = product.batch.strides[operands[i]];
    form.alignments[i] =
        getAlignment(product, addresses[operands[i]], operands[i],
                     i == 2 ? form.resultElement : form.factorElement);
  }
  return true;
}

/// The bytes of a form, which are equal if the forms are.
static std::string_view getBytes(const MatrixProducts::Form &form) {
  static_assert(std::has_unique_object_representations_v<MatrixProducts::Form>);
  return {reinterpret_cast<const char *>(&form), sizeof(form)};
}

/// Fails because of a call for a form.
static int32_t failProduct(const cublaslt::Library &library,
                           cublaslt::Status code, const char *function,
                           const MatrixProducts::Form &form) {
  return cuda::failLibraryCall(
      cublaslt::describe(library, code, function),
      "%" PRId64 " product%s of matrices of %" PRId64 " x %" PRId64
      " and %" PRId64 " x %" PRId64 " (%s)",
      form.batchCount, form.batchCount == 1 ? "" : "s", form.rows, form.terms,
      form.terms, form.columns, getName(form.factorElement));
}

//===----------------------------------------------------------------------===//
// The library and its plans
//===----------------------------------------------------------------------===//

MatrixProducts::~MatrixProducts() {
  for (std::unique_ptr<Plan> &plan : plans)
    if (plan)
      release(*plan);
  close();
}

int32_t MatrixProducts::load(bool &isPresent) {
  return cublaslt::loadLibrary(device.driver.version, library, isPresent);
}

int MatrixProducts::createHandle() { return library.create(&handle); }

void MatrixProducts::destroyHandle() { (void)library.destroy(handle); }

cuda::LibraryError MatrixProducts::describeCreation(int status) {
  return cublaslt::describe(library, status, "cublasLtCreate");
}

/// Neither a device nor its context is needed for that.
void MatrixProducts::release(Plan &plan) {
  for (cublaslt::Layout layout : plan.layouts)
    if (layout)
      (void)library.layoutDestroy(layout);
  if (plan.description)
    (void)library.descriptionDestroy(plan.description);
}

int32_t MatrixProducts::getPlan(const Form &form, Plan *&plan) {
  std::string_view bytes = getBytes(form);
  std::unique_ptr<Plan> &place =
      plans[std::hash<std::string_view>()(bytes) % planCount];
  if (!place || getBytes(place->form) != bytes) {
    if (place)
      release(*place);
    place.reset(new (std::nothrow) Plan());
    if (!place)
      return failHostMemory();
    if (int32_t status = createPlan(form, *place)) {
      release(*place);
      place.reset();
      return status;
    }
  }
  plan = place.get();
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t MatrixProducts::createPlan(const Form &form, Plan &plan) {
  plan.form = form;
  cublaslt::Preference preference = nullptr;
  cublaslt::Heuristic found = {};
  int count = 0;
  cublaslt::Status code = cublaslt::success;
  const char *function = "";
  auto fails = [&](const char *name, cublaslt::Status status) {
    function = name;
    code = status;
    return code != cublaslt::success;
  };
  auto setDescription = [&](int attribute, int64_t transposed) {
    int32_t operation =
        transposed ? cublaslt::operationTranspose : cublaslt::operationNone;
    return !fails("cublasLtMatmulDescSetAttribute",
                  library.descriptionSet(plan.description, attribute,
                                         &operation, sizeof(operation)));
  };
  auto createLayout = [&](int operand, int64_t rows, int64_t columns) {
    cublaslt::Layout &layout = plan.layouts[operand];
    int type = getType(operand == 2 ? form.resultElement : form.factorElement);
    if (fails("cublasLtMatrixLayoutCreate",
              library.layoutCreate(&layout, type, rows, columns,
                                   form.leading[operand])))
      return false;
    if (form.batchCount == 1)
      return true;
    auto batchCount = static_cast<int32_t>(form.batchCount);
    const int64_t &stride = form.batchStrides[operand];
    constexpr const char *name = "cublasLtMatrixLayoutSetAttribute";
    return !fails(name, library.layoutSet(layout, cublaslt::layoutBatchCount,
                                          &batchCount, sizeof(batchCount))) &&
           !fails(name, library.layoutSet(layout, cublaslt::layoutBatchStride,
                                          &stride, sizeof(stride)));
  };
  auto setPreference = [&](int attribute, auto value) {
    return !fails(
        "cublasLtMatmulPreferenceSetAttribute",
        library.preferenceSet(preference, attribute, &value, sizeof(value)));
  };
  auto setPreferences = [&] {
    if (!setPreference(cublaslt::preferenceWorkspaceBytes,
                       maximalWorkspaceBytes) ||
        !setPreference(cublaslt::preferenceReductions,
                       uint32_t(cublaslt::reductionInComputeType)))
      return false;
    // c is also where the library writes.
    for (int i = 0; i < 4; ++i)
      if (!setPreference(cublaslt::preferenceAlignmentA + i,
                         uint32_t(form.alignments[i < 3 ? i : 2])))
        return false;
    return true;
  };
  auto describe = [&] {
    bool isF64 = form.factorElement == SPARSE_AUTOGRAD_TENSOR_F64;
    const int64_t (&transposed)[2] = form.transposed;
    return !fails("cublasLtMatmulDescCreate",
                  library.descriptionCreate(
                      &plan.description,
                      isF64 ? cublaslt::computeF64 : cublaslt::computeF32,
                      isF64 ? cublaslt::typeF64 : cublaslt::typeF32)) &&
           setDescription(cublaslt::descriptionTransposeA, transposed[0]) &&
           setDescription(cublaslt::descriptionTransposeB, transposed[1]) &&
           createLayout(0, transposed[0] ? form.terms : form.rows,
                        transposed[0] ? form.rows : form.terms) &&
           createLayout(1, transposed[1] ? form.columns : form.terms,
                        transposed[1] ? form.terms : form.columns) &&
           createLayout(2, form.rows, form.columns) &&
           !fails("cublasLtMatmulPreferenceCreate",
                  library.preferenceCreate(&preference)) &&
           setPreferences();
  };
  bool isDescribed = describe();
  cuda::Result result = cuda::success;
  if (isDescribed)
    result = device.inContext([&] {
      const cublaslt::Layout &c = plan.layouts[2];
      (void)fails("cublasLtMatmulAlgoGetHeuristic",
                  library.getHeuristic(handle, plan.description,
                                       plan.layouts[0], plan.layouts[1], c, c,
                                       preference, 1, &found, &count));
      return cuda::success;
    });
  if (preference)
    (void)library.preferenceDestroy(preference);
  if (result)
    return device.failCall(result, "", "asking cuBLASLt for a product");
  if (code && !(isDescribed && code == cublaslt::notSupported))
    return failProduct(library, code, function, form);
  plan.isSupported = !code && count > 0 && found.state == cublaslt::success;
  plan.algorithm = found.algorithm;
  plan.workspaceBytes = found.workspaceBytes;
  return SPARSE_AUTOGRAD_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

int32_t MatrixProducts::multiply(Stream &stream, const MatrixProduct &product,
                                 bool &done) {
  std::lock_guard<std::mutex> guard(lock);
  if (int32_t status = open())
    return status;
  Form form;
  bool isSwapped = false;
  if (!isOpen() || !findForm(product, isSwapped, form))
    return SPARSE_AUTOGRAD_SUCCESS;
  Plan *plan = nullptr;
  if (int32_t status = getPlan(form, plan))
    return status;
  if (!plan->isSupported)
    return SPARSE_AUTOGRAD_SUCCESS;
  int32_t status =
      withWorkspace(stream, plan->workspaceBytes, [&](void *workspace) {
        return run(stream, product, isSwapped, *plan, workspace);
      });
  done = status == SPARSE_AUTOGRAD_SUCCESS;
  return status;
}

int32_t MatrixProducts::run(Stream &stream, const MatrixProduct &product,
                            bool isSwapped, const Plan &plan, void *workspace) {
  const bool isF64 = plan.form.factorElement == SPARSE_AUTOGRAD_TENSOR_F64;
  const float narrow[] = {static_cast<float>(product.alpha),
                          static_cast<float>(product.beta)};
  const void *alpha = isF64 ? static_cast<const void *>(&product.alpha)
                            : static_cast<const void *>(&narrow[0]);
  const void *beta = isF64 ? static_cast<const void *>(&product.beta)
                           : static_cast<const void *>(&narrow[1]);
  const int64_t factorBytes = getElementBytes(product.factorElement);
  const int64_t resultBytes = getElementBytes(product.resultElement);
  const int first = isSwapped ? 1 : 0;
  cublaslt::Status code = cublaslt::success;
  int64_t indices[maximalOuterLoops] = {};
  auto multiplyOne = [&] {
    int64_t offsets[3] = {};
    for (int i = 0; i < product.outerCount; ++i)
      for (int operand = 0; operand < 3; ++operand)
        offsets[operand] += indices[i] * product.outer[i].strides[operand];
    const void *factors[] = {
        static_cast<const char *>(product.a) + offsets[0] * factorBytes,
        static_cast<const char *>(product.b) + offsets[1] * factorBytes};
    void *c = static_cast<char *>(product.c) + offsets[2] * resultBytes;
    code = library.matmul(handle, plan.description, alpha, factors[first],
                          plan.layouts[0], factors[1 - first], plan.layouts[1],
                          beta, c, plan.layouts[2], c, plan.layouts[2],
                          &plan.algorithm, workspace, plan.workspaceBytes,
                          static_cast<cuda::StreamHandle>(stream.handle));
  };
  /// Goes on to the next iteration of the outer loops, the first one fastest.
  auto goOn = [&] {
    for (int i = 0; i < product.outerCount; ++i) {
      if (++indices[i] < product.outer[i].extent)
        return true;
      indices[i] = 0;
    }
    return false;
  };
  cuda::Result result = device.inContext([&] {
    do
      multiplyOne();
    while (!code && goOn());
    return cuda::success;
  });
  if (result)
    return device.failCall(result, stream.lastKernel, "a product by cuBLASLt");
  if (code)
    return failProduct(library, code, "cublasLtMatmul", plan.form);
  return SPARSE_AUTOGRAD_SUCCESS;
}

} // namespace runtime
} // namespace sparse_autograd
