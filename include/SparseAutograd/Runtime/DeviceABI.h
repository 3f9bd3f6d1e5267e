//===- DeviceABI.h - What compiled host code of GPU programs calls *- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that the compiler emits calls to where a program runs on a
// device: memory, copies, launches. Programs that call compiled code need
// Runtime.h, and Device.h to choose the device.
//
// All but sparseAutogradUnloadImage are called between a guard and its return
// (CompilerABI.h), on the guard's thread; not in a body of
// sparseAutogradParallelFor, where they raise SPARSE_AUTOGRAD_RUNTIME_ERROR.
// Guards in different threads run concurrently.
//
// The device. With its first call here an entry takes the device that its
// thread has chosen (Device.h). An entry that is called by user code that an
// entry calls takes that of the outer one.
//
// Order. Everything that an entry does on the device is done in the order of
// the calls, in one stream. No call waits for the device, except
// sparseAutogradDeviceCopyOut, sparseAutogradDeviceBeginSparseProduct, and
// sparseAutogradDeviceAllocate when memory is short. Of what is done in two
// entries that run in different threads, neither waits for the other.
//
// Errors are raised with the name of the kernel or what else was done, what the
// driver says, and a remedy where there is one. The status is
// SPARSE_AUTOGRAD_OUT_OF_MEMORY if memory is missing, on the device or on the
// host; SPARSE_AUTOGRAD_INVALID_ARGUMENT for a negative number of bytes, or
// what is released and is not alive; SPARSE_AUTOGRAD_RUNTIME_ERROR otherwise.
// What a kernel does wrong is found out by a later call, which names the last
// kernel that was launched before; then the device cannot be used any more by
// this process, and every later call says so.
//
// The end of an entry. What an entry allocated on the device and did not
// release is released when it ends, by an error or not. Device memory never
// leaves an entry: what is alive at a successful end is a mistake of the
// compiler, which a counter of Device.h shows.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNTIME_DEVICEABI_H
#define SPARSEAUTOGRAD_RUNTIME_DEVICEABI_H

#include "SparseAutograd/Runtime/CompilerABI.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// The version of SparseAutogradImage and of the functions below.
#define SPARSE_AUTOGRAD_DEVICE_ABI_VERSION 1u

/// The forms in which a program holds the code of its kernels.
enum SparseAutogradCodeKind {
  /// Code of several architectures, of which the driver takes one.
  SPARSE_AUTOGRAD_CODE_FATBIN = 1,
  /// Machine code of one architecture.
  SPARSE_AUTOGRAD_CODE_CUBIN = 2,
  /// Text that the driver compiles, with a zero at its end.
  SPARSE_AUTOGRAD_CODE_PTX = 3,
  /// Functions of the host, for the emulator: `data` is its description of a
  /// module, and `bytes` the size of that.
  SPARSE_AUTOGRAD_CODE_HOST = 4
};

/// Where code runs, beside its own architecture.
enum SparseAutogradCodePortability {
  /// A cubin: on later minor versions; PTX: on all later versions.
  SPARSE_AUTOGRAD_CODE_PORTABLE = 0,
  /// On its own architecture only: sm_90a.
  SPARSE_AUTOGRAD_CODE_ARCHITECTURE_SPECIFIC = 1,
  /// On later minor versions only, PTX too: sm_100f.
  SPARSE_AUTOGRAD_CODE_FAMILY_SPECIFIC = 2
};

/// One form of the code of an image.
typedef struct SparseAutogradCode {
  int32_t kind; ///< a SparseAutogradCodeKind
  /// Of a cubin or PTX, ten times the major version and the minor one: 90.
  int32_t architecture;
  int32_t portability; ///< a SparseAutogradCodePortability, of a cubin or PTX
  int32_t reserved;    ///< 0
  const void *data;
  int64_t bytes; ///< of the data; of PTX, the zero included
  /// Of a fatbin, what is in it, for messages: "sm_80, sm_90a, compute_90".
  const char *contents;
} SparseAutogradCode;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradCode) == 40,
                              "layout of a form of code");

/// The kernels of one module of a program: a constant of the compiled code. It
/// is loaded by the first launch from it, once for each device.
typedef struct SparseAutogradImage {
  uint32_t version; ///< SPARSE_AUTOGRAD_DEVICE_ABI_VERSION
  int32_t codeCount;
  /// The same code in all forms, in any order. The runtime takes the form that
  /// fits the device best: a cubin, the latest that the device can run; then a
  /// fatbin; then PTX. A form that the driver refuses is passed over.
  const SparseAutogradCode *codes;
  /// A variable that is NULL when the program is loaded. The runtime keeps
  /// there what it has loaded.
  void **slot;
} SparseAutogradImage;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradImage) == 24,
                              "layout of an image");

/// Releases what was loaded of an image, on all devices. A shared object calls
/// it for each of its images when it is unloaded. No entry that launches from
/// the image may be running. May be called at any time otherwise, and again;
/// also while the process ends.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradUnloadImage(const SparseAutogradImage *image);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// `bytes` bytes of the device's memory, aligned to 256, not initialised, owned
/// by the innermost frame. 0 is fine: the address is one of its own. Never
/// NULL. Where there is no memory, the stream is waited for, unused memory is
/// given back, and it is tried once more.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void *
sparseAutogradDeviceAllocate(int64_t bytes);

/// Releases what sparseAutogradDeviceAllocate returned, after all that was done
/// before in the order of the stream; NULL is fine.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradDeviceDeallocate(void *address);

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//
//
// Addresses may lie inside of what was allocated. 0 bytes are no call of the
// device: addresses are not looked at.

/// Copies from the host to the device. The source must stay as it is until the
/// next sparseAutogradDeviceCopyOut of a byte or more, or the end of the entry,
/// which waits if it has to.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradDeviceCopyIn(void *destination, const void *source,
                           int64_t bytes);

/// Copies from the device to the host, and waits until it is done, and all
/// before it.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradDeviceCopyOut(void *destination, const void *source,
                            int64_t bytes);

/// Copies on the device, between places that do not overlap.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradDeviceCopy(void *destination, const void *source, int64_t bytes);

/// Fills `count` elements of 1, 2, 4 or 8 bytes with the low bytes of
/// `pattern`. The destination is aligned to an element. Elements of 8 bytes
/// whose halves differ take long: a kernel is better for many of them.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradDeviceFill(void *destination, int64_t count, int64_t elementBytes,
                         uint64_t pattern);

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//
//
// What the copies of tiles between a tensor and shared memory take (TMA, from
// sm_90 on). A map is a value of 128 bytes, aligned to 64, that kernels take as
// a parameter by value. What is in it is the device's business.

/// The types of elements, with CUDA's numbers. Floats are told from integers
/// for what lies outside of the tensor, which is always zero here; tf32 has the
/// bits of f32, which GPUs round when they copy them, and the emulator does
/// not.
enum SparseAutogradTensorElement {
  SPARSE_AUTOGRAD_TENSOR_U8 = 0,
  SPARSE_AUTOGRAD_TENSOR_U16 = 1,
  SPARSE_AUTOGRAD_TENSOR_U32 = 2,
  SPARSE_AUTOGRAD_TENSOR_I32 = 3,
  SPARSE_AUTOGRAD_TENSOR_U64 = 4,
  SPARSE_AUTOGRAD_TENSOR_I64 = 5,
  SPARSE_AUTOGRAD_TENSOR_F16 = 6,
  SPARSE_AUTOGRAD_TENSOR_F32 = 7,
  SPARSE_AUTOGRAD_TENSOR_F64 = 8,
  SPARSE_AUTOGRAD_TENSOR_BF16 = 9,
  SPARSE_AUTOGRAD_TENSOR_TF32 = 11
};

/// How tiles lie in shared memory, with CUDA's numbers: the 16-byte pieces of
/// so many bytes are permuted, by the address.
enum SparseAutogradTensorSwizzle {
  SPARSE_AUTOGRAD_TENSOR_SWIZZLE_NONE = 0,
  SPARSE_AUTOGRAD_TENSOR_SWIZZLE_32B = 1,
  SPARSE_AUTOGRAD_TENSOR_SWIZZLE_64B = 2,
  SPARSE_AUTOGRAD_TENSOR_SWIZZLE_128B = 3
};

/// A tensor and its tiles. Dimension 0 is the innermost one, whose elements lie
/// next to each other.
typedef struct SparseAutogradTensorTiles {
  int32_t element;  ///< a SparseAutogradTensorElement
  int32_t rank;     ///< 1 to 5
  int32_t swizzle;  ///< a SparseAutogradTensorSwizzle
  int32_t reserved; ///< 0
  void *address;    ///< of the device, aligned to 16 bytes
  int64_t extents[5];
  /// strides[i]: the bytes from an element to the next one in dimension i + 1;
  /// multiples of 16.
  int64_t strides[4];
  /// The extents of a tile, up to 256. Its rows have a multiple of 16 bytes,
  /// and with a swizzle no more than that permutes.
  int32_t box[5];
  /// Of how many elements of the box one is copied, up to 8; 1 in dimension 0.
  int32_t steps[5];
} SparseAutogradTensorTiles;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradTensorTiles) == 136,
                              "layout of a tensor and its tiles");

/// Writes a map of 128 bytes to `map`, which is memory of the host. Raises
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT for tiles that no device has, and
/// SPARSE_AUTOGRAD_RUNTIME_ERROR on devices before sm_90.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradDeviceEncodeTensorMap(void *map,
                                    const SparseAutogradTensorTiles *tiles);

//===----------------------------------------------------------------------===//
// Products by a library
//===----------------------------------------------------------------------===//

/// A loop of a contraction: how often it runs, and what lies between the
/// elements of two iterations, counted in elements; 0 where the loop does not
/// index the operand.
typedef struct SparseAutogradContractionLoop {
  int64_t extent;
  int64_t aStride;
  int64_t bStride;
  int64_t cStride;
} SparseAutogradContractionLoop;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradContractionLoop) == 32,
                              "layout of a loop of a contraction");

/// c = beta c + alpha a b: products of elements, in any number of loops, summed
/// over those that do not index c. beta = 0 means that c is not read.
///
/// Returns 1 if a library of the device does it, after all that was done before
/// in the order of the stream. Returns 0 and does nothing if there is none, or
/// it has no such products: the program has a kernel of its own then.
///
/// Elements of a and b are f16, bf16, f32 or f64, those of c f32, or f64 for
/// f64 (SparseAutogradTensorElement). Sums are of the type of c, and factors
/// are not rounded. The error of an element is that of a sum in any order. The
/// bits depend on the extents, strides and alignment, the device and the
/// version of the library alone.
///
/// The library of a GPU is cuBLASLt, of CUDA 12 or 13: libcublasLt.so.13 or
/// .12, or what SPARSE_AUTOGRAD_CUBLASLT names; `none` goes without. It is
/// loaded with the first product. The emulated device has none.
///
/// Raises SPARSE_AUTOGRAD_INVALID_ARGUMENT for a negative extent; what the
/// library says about a product that it has begun; that the library cannot be
/// loaded only if it is there.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradDeviceContract(
    int32_t factorElement, int32_t resultElement, int64_t loopCount,
    const SparseAutogradContractionLoop *loops, double alpha, const void *a,
    const void *b, double beta, void *c);

/// x = beta x + alpha s y for a sparse matrix s of `rows` x `columns`, stored
/// by rows (CSR), and dense matrices of `extent` columns: SpMM. s stores
/// `stored` values; positions[0] is 0, positions[rows] is `stored`. Elements
/// are of f32 or f64, and positions and coordinates, the `index`, of i32 or i64
/// (SparseAutogradTensorElement); strides are counted in elements. beta = 0
/// means that x is not read.
///
/// Returns as sparseAutogradDeviceContract. The bits depend on the operands,
/// the device and the version of the library alone. The library of a GPU is
/// cuSPARSE: libcusparse.so.12, or what SPARSE_AUTOGRAD_CUSPARSE names; `none`
/// goes without.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradDeviceMultiplySparse(
    int32_t element, int32_t index, int64_t rows, int64_t columns,
    int64_t stored, const void *positions, const void *coordinates,
    const void *values, int64_t extent, double alpha, const void *y,
    int64_t yRowStride, int64_t yColumnStride, double beta, void *x,
    int64_t xRowStride, int64_t xColumnStride);

/// s = beta s + alpha (x y), where s stores something, for x of `extent`
/// columns and y of as many rows: SDDMM. The rest is as in
/// sparseAutogradDeviceMultiplySparse.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradDeviceSampleProduct(
    int32_t element, int32_t index, int64_t rows, int64_t columns,
    int64_t stored, const void *positions, const void *coordinates,
    void *values, int64_t extent, double alpha, const void *y,
    int64_t yRowStride, int64_t yColumnStride, double beta, const void *x,
    int64_t xRowStride, int64_t xColumnStride);

/// Begins a product a b of two sparse matrices, `rows` x `inner` and `inner` x
/// `columns`, stored by rows (CSR): SpGEMM. The rest of what describes them is
/// as in sparseAutogradDeviceMultiplySparse.
///
/// Returns how many entries the product has, at least 1, for which it waits:
/// one wherever a row of a stores an element in whose row b stores one, be they
/// zeros. Returns -1, and nothing is begun, if no library of the device has the
/// product, or it has no entries: the program computes it then.
///
/// What is begun is ended by sparseAutogradDeviceEndSparseProduct; until
/// then the operands stay as they are, and the library keeps memory of the
/// device. The end of the entry releases that, too.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int64_t sparseAutogradDeviceBeginSparseProduct(
    int32_t element, int32_t index, int64_t rows, int64_t inner,
    int64_t columns, int64_t aStored, const void *aPositions,
    const void *aCoordinates, const void *aValues, int64_t bStored,
    const void *bPositions, const void *bCoordinates, const void *bValues);

/// Stores the product that was begun by rows (CSR): `rows` + 1 positions, and
/// as many coordinates and values as it has entries, those of a row sorted. The
/// bits are the library's, and so is whether they are the same in each run.
///
/// Both raise SPARSE_AUTOGRAD_INVALID_ARGUMENT out of this order.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradDeviceEndSparseProduct(void *positions, void *coordinates,
                                     void *values);

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Launches the kernel of that name. parameters[i] points to the value of the
/// i-th parameter, which is copied. A grid without blocks launches nothing;
/// more blocks or threads than the device takes are an error. `kernel` is a
/// constant that lives as long as the image.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradDeviceLaunch(const SparseAutogradImage *image, const char *kernel,
                           int64_t gridX, int64_t gridY, int64_t gridZ,
                           int64_t blockX, int64_t blockY, int64_t blockZ,
                           int64_t dynamicSharedBytes, int64_t parameterCount,
                           void **parameters);

#ifdef __cplusplus
}
#endif

#endif // SPARSEAUTOGRAD_RUNTIME_DEVICEABI_H
