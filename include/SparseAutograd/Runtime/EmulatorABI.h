//===- EmulatorABI.h - What emulated kernels call -----------------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instructions of a GPU as functions, for kernels that an emulator
// executes (Emulator.h). They are called by the threads of a launch only.
//
// A function may switch to another thread, and one that finds a fault does not
// return: the frames of the kernel are dropped, without destructors.
//
// `where` says for reports where the kernel calls it. It must live as long as
// the emulator and be unique to the place: for instructions that PTX calls
// aligned, two places are two instructions. NULL is fine, and no place.
//
// The source of what the instructions do is the PTX ISA, version 9.0.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNTIME_EMULATORABI_H
#define SPARSEAUTOGRAD_RUNTIME_EMULATORABI_H

#include "SparseAutograd/Runtime/Export.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Special registers
//===----------------------------------------------------------------------===//

enum SparseAutogradEmulatedRegister {
  SPARSE_AUTOGRAD_TID_X = 0,
  SPARSE_AUTOGRAD_TID_Y = 1,
  SPARSE_AUTOGRAD_TID_Z = 2,
  SPARSE_AUTOGRAD_NTID_X = 3,
  SPARSE_AUTOGRAD_NTID_Y = 4,
  SPARSE_AUTOGRAD_NTID_Z = 5,
  SPARSE_AUTOGRAD_CTAID_X = 6,
  SPARSE_AUTOGRAD_CTAID_Y = 7,
  SPARSE_AUTOGRAD_CTAID_Z = 8,
  SPARSE_AUTOGRAD_NCTAID_X = 9,
  SPARSE_AUTOGRAD_NCTAID_Y = 10,
  SPARSE_AUTOGRAD_NCTAID_Z = 11,
  SPARSE_AUTOGRAD_LANEID = 12,
  SPARSE_AUTOGRAD_WARPID = 13,
  SPARSE_AUTOGRAD_NWARPID = 14,
  SPARSE_AUTOGRAD_LANEMASK_EQ = 15,
  SPARSE_AUTOGRAD_LANEMASK_LT = 16,
  SPARSE_AUTOGRAD_LANEMASK_LE = 17,
  SPARSE_AUTOGRAD_LANEMASK_GT = 18,
  SPARSE_AUTOGRAD_LANEMASK_GE = 19,
  /// The steps of the block until now.
  SPARSE_AUTOGRAD_CLOCK = 20,
  SPARSE_AUTOGRAD_DYNAMIC_SMEM_SIZE = 21,
  SPARSE_AUTOGRAD_TOTAL_SMEM_SIZE = 22
};

SPARSE_AUTOGRAD_RUNTIME_EXPORT int64_t
sparseAutogradEmulateRegister(int32_t which);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The shared memory of the block, aligned to 1024 bytes: static variables,
/// then dynamic shared memory.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void *sparseAutogradEmulateSharedMemory(void);

enum SparseAutogradEmulatedAccess {
  SPARSE_AUTOGRAD_LOAD = 0,
  SPARSE_AUTOGRAD_STORE = 1,
  /// An atomic operation that reads, and may write.
  SPARSE_AUTOGRAD_ATOMIC = 2,
  /// An atomic operation that writes what it does not read.
  SPARSE_AUTOGRAD_ATOMIC_STORE = 3
};

/// Called right before the thread accesses `bytes` bytes, with an instruction
/// that needs the alignment. Other threads may run before it returns, none
/// between its return and the access. `kind` is a SparseAutogradEmulatedAccess.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateAccess(const void *address, int64_t bytes,
                            int64_t alignment, int32_t kind, const char *where);

//===----------------------------------------------------------------------===//
// Local memory
//===----------------------------------------------------------------------===//
//
// The stack of a thread. Of it, a thread may access the variables that it has
// begun.

/// A local variable of `bytes` bytes begins. It ends with the frame.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateLocal(void *variable, int64_t bytes, const char *where);

/// As sparseAutogradEmulateAccess, of this one of the thread's variables.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateLocalAccess(const void *variable, const void *address,
                                 int64_t bytes, int64_t alignment, int32_t kind,
                                 const char *where);

/// The frame of a function begins. Returns what ends it.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradEmulateBeginFrame(void);
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateEndFrame(int32_t frame);

/// Called where `bytes` bytes more of the stack may be taken than the kernel
/// says: in functions that call themselves, and by variables whose size is
/// computed.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateStack(int64_t bytes, const char *where);

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

enum SparseAutogradEmulatedSpace {
  SPARSE_AUTOGRAD_SPACE_NONE = 0,
  SPARSE_AUTOGRAD_SPACE_GLOBAL = 1,
  SPARSE_AUTOGRAD_SPACE_SHARED = 2,
  SPARSE_AUTOGRAD_SPACE_CONSTANT = 3,
  SPARSE_AUTOGRAD_SPACE_LOCAL = 4
};

/// The SparseAutogradEmulatedSpace that an address lies in.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradEmulateSpace(const void *address);

/// Called in loops that call nothing else here, so that an endless one is
/// found, and for what lets time pass: fences and sleep.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateStep(const char *where);

//===----------------------------------------------------------------------===//
// Barriers of a block
//===----------------------------------------------------------------------===//

/// barrier.cta.sync: waits until `count` threads, or all of the block if it is
/// -1, have arrived at the barrier with the number `id`.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateBarrier(int32_t id, int32_t count, int32_t isAligned,
                             const char *where);

/// barrier.cta.arrive: counts as one that has arrived, but does not wait.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateBarrierArrive(int32_t id, int32_t count, int32_t isAligned,
                                   const char *where);

enum SparseAutogradEmulatedReduction {
  SPARSE_AUTOGRAD_REDUCE_ADD = 0,
  SPARSE_AUTOGRAD_REDUCE_MIN = 1,
  SPARSE_AUTOGRAD_REDUCE_MAX = 2,
  SPARSE_AUTOGRAD_REDUCE_UMIN = 3,
  SPARSE_AUTOGRAD_REDUCE_UMAX = 4,
  SPARSE_AUTOGRAD_REDUCE_AND = 5,
  SPARSE_AUTOGRAD_REDUCE_OR = 6,
  SPARSE_AUTOGRAD_REDUCE_XOR = 7
};

/// barrier.cta.red: a barrier that returns how many of its threads have a
/// predicate (REDUCE_ADD), or whether all (REDUCE_AND) or any (REDUCE_OR) have.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradEmulateBarrierReduce(
    int32_t id, int32_t count, int32_t predicate, int32_t operation,
    int32_t isAligned, const char *where);

//===----------------------------------------------------------------------===//
// Operations of a warp
//===----------------------------------------------------------------------===//
//
// Each waits until all threads of the mask that have not ended call the same
// operation with the same mask. Only sparseAutogradEmulateWarpSync orders
// accesses of memory.

/// bar.warp.sync
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateWarpSync(uint32_t mask, const char *where);

enum SparseAutogradEmulatedShuffle {
  SPARSE_AUTOGRAD_SHUFFLE_UP = 0,
  SPARSE_AUTOGRAD_SHUFFLE_DOWN = 1,
  SPARSE_AUTOGRAD_SHUFFLE_BUTTERFLY = 2,
  SPARSE_AUTOGRAD_SHUFFLE_INDEX = 3
};

/// shfl.sync, with the operands b (`lane`) and c (`clamp`) of PTX. Whether the
/// source is in range is stored to `isInRange`, if that is not NULL.
SPARSE_AUTOGRAD_RUNTIME_EXPORT uint32_t sparseAutogradEmulateShuffle(
    int32_t kind, uint32_t mask, uint32_t value, uint32_t lane, uint32_t clamp,
    int32_t *isInRange, const char *where);

enum SparseAutogradEmulatedVote {
  SPARSE_AUTOGRAD_VOTE_ALL = 0,
  SPARSE_AUTOGRAD_VOTE_ANY = 1,
  SPARSE_AUTOGRAD_VOTE_UNI = 2,
  SPARSE_AUTOGRAD_VOTE_BALLOT = 3
};

/// vote.sync: a boolean, or the mask of a ballot.
SPARSE_AUTOGRAD_RUNTIME_EXPORT uint32_t sparseAutogradEmulateVote(
    int32_t kind, uint32_t mask, int32_t predicate, const char *where);

/// redux.sync, with a SparseAutogradEmulatedReduction.
SPARSE_AUTOGRAD_RUNTIME_EXPORT uint32_t sparseAutogradEmulateReduce(
    int32_t operation, uint32_t mask, uint32_t value, const char *where);

/// match.any.sync: the threads of the mask with the same value.
SPARSE_AUTOGRAD_RUNTIME_EXPORT uint32_t
sparseAutogradEmulateMatchAny(uint32_t mask, uint64_t value, const char *where);

/// match.all.sync: the mask if all of its threads have the same value, else 0,
/// and whether they have to `areEqual`.
SPARSE_AUTOGRAD_RUNTIME_EXPORT uint32_t sparseAutogradEmulateMatchAll(
    uint32_t mask, uint64_t value, int32_t *areEqual, const char *where);

/// activemask: the threads of the warp that get to this place before they wait
/// for something else; with a seed, some of them.
SPARSE_AUTOGRAD_RUNTIME_EXPORT uint32_t
sparseAutogradEmulateActiveMask(const char *where);

/// elect.sync: whether this is the thread that was elected, and its number to
/// `leader`: the lowest one of the mask.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradEmulateElect(uint32_t mask, uint32_t *leader, const char *where);

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// cp.async: copies the first `sourceBytes` bytes, and zeros after them, to
/// `bytes` bytes of shared memory: 4, 8 or 16. The copy is done when the thread
/// waits for it, and until then nobody may touch its destination.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateCopyAsync(void *shared, const void *global, int32_t bytes,
                               int32_t sourceBytes, const char *where);

/// cp.async.commit_group
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradEmulateCommitGroup(void);

/// cp.async.wait_group: all but the last `groups` groups of this thread.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateWaitGroup(int32_t groups, const char *where);

/// cp.async.wait_all, which includes what was not committed.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateWaitAll(const char *where);

//===----------------------------------------------------------------------===//
// Barriers in shared memory
//===----------------------------------------------------------------------===//
//
// An mbarrier is an object of 8 bytes, aligned to 8, which nothing else touches
// until it is invalidated. A wait orders what came before the arrivals of the
// phase, and the copies that complete in it, before what follows.

/// mbarrier.init, for `count` arrivals.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateMbarrierInit(void *barrier, int32_t count,
                                  const char *where);

/// mbarrier.inval
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateMbarrierInvalidate(void *barrier, const char *where);

enum SparseAutogradEmulatedArrival {
  /// mbarrier.arrive_drop: later phases expect so many arrivals less.
  SPARSE_AUTOGRAD_ARRIVAL_DROPS = 1,
  /// .noComplete: the phase must not become complete.
  SPARSE_AUTOGRAD_ARRIVAL_MUST_NOT_COMPLETE = 2,
  /// .expect_tx
  SPARSE_AUTOGRAD_ARRIVAL_EXPECTS_BYTES = 4,
  /// .relaxed: nothing is ordered.
  SPARSE_AUTOGRAD_ARRIVAL_IS_RELAXED = 8
};

/// mbarrier.arrive, `count` times, after `bytes` more are expected. `flags` are
/// SparseAutogradEmulatedArrival. Returns the state before.
SPARSE_AUTOGRAD_RUNTIME_EXPORT uint64_t
sparseAutogradEmulateMbarrierArrive(void *barrier, int32_t count, int32_t bytes,
                                    int32_t flags, const char *where);

/// mbarrier.expect_tx
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateMbarrierExpect(void *barrier, int32_t bytes,
                                    const char *where);

/// mbarrier.complete_tx
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateMbarrierComplete(void *barrier, int32_t bytes,
                                      const char *where);

enum SparseAutogradEmulatedWait {
  /// .parity: `state` is the parity of a phase.
  SPARSE_AUTOGRAD_WAIT_FOR_PARITY = 1,
  /// try_wait: waits for a time.
  SPARSE_AUTOGRAD_WAIT_BLOCKS = 2,
  /// .relaxed: nothing is ordered.
  SPARSE_AUTOGRAD_WAIT_IS_RELAXED = 4
};

/// mbarrier.test_wait and mbarrier.try_wait: whether a phase is complete.
/// `flags` are SparseAutogradEmulatedWait. With a seed, try_wait may give up at
/// any time.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradEmulateMbarrierWait(
    void *barrier, uint64_t state, int32_t flags, const char *where);

/// mbarrier.pending_count of a state.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradEmulateMbarrierPendingCount(uint64_t state);

/// cp.async.mbarrier.arrive: arrives when all copies with cp.async of this
/// thread until now are done. Unless `isCounted` (.noinc), the phase expects
/// one arrival more.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateCopyArrive(void *barrier, int32_t isCounted,
                                const char *where);

/// fence.proxy.async: what is ordered before it, the asynchronous proxy sees;
/// `isForMbarriers`: fence.mbarrier_init, for what was initialised only.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateProxyFence(int32_t isForMbarriers, const char *where);

//===----------------------------------------------------------------------===//
// Bulk copies
//===----------------------------------------------------------------------===//
//
// One thread asks for them, and they are done at some later time. Those to
// shared memory complete bytes of an mbarrier. Nobody may touch what they write
// until its phase has been waited for, nor write what they read until the group
// has been waited for. What threads wrote to shared memory must be fenced
// (sparseAutogradEmulateProxyFence).

/// Called by a kernel for each parameter that is passed by value: returns a
/// copy of it, aligned to 64 bytes and the same for all threads, that may be
/// read.
SPARSE_AUTOGRAD_RUNTIME_EXPORT const void *
sparseAutogradEmulateParameter(const void *parameter, int64_t bytes);

/// cp.async.bulk.shared.global: a multiple of 16 bytes, aligned to 16.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateBulkLoad(void *shared, const void *global, int32_t bytes,
                              void *barrier, const char *where);

/// cp.async.bulk.global.shared
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateBulkStore(void *global, const void *shared, int32_t bytes,
                               const char *where);

/// cp.async.bulk.tensor.shared.global.tile, of a tile at `rank` coordinates,
/// dimension 0 first, to a place that is aligned to 128 bytes. What lies
/// outside of the tensor is zero.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateTensorLoad(void *shared, const void *map, int32_t rank,
                                const int32_t *coordinates, void *barrier,
                                const char *where);

/// cp.async.bulk.tensor.global.shared.tile. What lies outside of the tensor is
/// not written.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateTensorStore(const void *map, int32_t rank,
                                 const int32_t *coordinates, const void *shared,
                                 const char *where);

/// cp.async.bulk.prefetch.tensor
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateTensorPrefetch(const void *map, int32_t rank,
                                    const char *where);

/// cp.async.bulk.commit_group
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradEmulateBulkCommit(void);

/// cp.async.bulk.wait_group: all but the last `groups` groups of this thread
/// have read shared memory and, unless `isRead` (.read), are written.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateBulkWait(int32_t groups, int32_t isRead,
                              const char *where);

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// ldmatrix.sync.aligned.m8n8.x<count>.b16: `result` gets `count` registers,
/// which is 1, 2 or 4. The rows of matrix i are given by the threads 8 i to
/// 8 i + 7.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateLoadMatrix(const void *row, int32_t count,
                                int32_t isTransposed, uint32_t *result,
                                const char *where);

/// The kinds of products of matrices, A row by row and B column by column.
enum SparseAutogradEmulatedProduct {
  SPARSE_AUTOGRAD_MMA_M16N8K8_F16_F16 = 0,
  SPARSE_AUTOGRAD_MMA_M16N8K8_F16_F32 = 1,
  SPARSE_AUTOGRAD_MMA_M16N8K16_F16_F16 = 2,
  SPARSE_AUTOGRAD_MMA_M16N8K16_F16_F32 = 3,
  SPARSE_AUTOGRAD_MMA_M16N8K8_BF16_F32 = 4,
  SPARSE_AUTOGRAD_MMA_M16N8K16_BF16_F32 = 5,
  SPARSE_AUTOGRAD_MMA_M16N8K4_TF32_F32 = 6,
  SPARSE_AUTOGRAD_MMA_M16N8K8_TF32_F32 = 7,
  SPARSE_AUTOGRAD_MMA_M8N8K4_F64_F64 = 8,
  SPARSE_AUTOGRAD_MMA_SP_M16N8K16_F16_F16 = 9,
  SPARSE_AUTOGRAD_MMA_SP_M16N8K16_F16_F32 = 10,
  SPARSE_AUTOGRAD_MMA_SP_M16N8K32_F16_F16 = 11,
  SPARSE_AUTOGRAD_MMA_SP_M16N8K32_F16_F32 = 12,
  SPARSE_AUTOGRAD_MMA_SP_M16N8K16_BF16_F32 = 13,
  SPARSE_AUTOGRAD_MMA_SP_M16N8K32_BF16_F32 = 14,
  SPARSE_AUTOGRAD_MMA_SP_M16N8K8_TF32_F32 = 15,
  SPARSE_AUTOGRAD_MMA_SP_M16N8K16_TF32_F32 = 16
};

/// mma.sync.aligned and, with metadata and selector, mma.sp. `operands` are the
/// registers of A, B and C, one after the other and each in 4 bytes (f64: 8):
/// f32 as such, two f16 or bf16 in one, tf32 as the bits of an f32, of which
/// the last 13 are ignored. `result` gets the registers of D.
///
/// The sums are computed in f64 and rounded once, which no GPU does better.
///
/// With `isOrdered` (mma.sp::ordered_metadata), the indices of a group must
/// increase.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradEmulateProduct(
    int32_t kind, const void *operands, uint32_t metadata, int32_t selector,
    int32_t isOrdered, void *result, const char *where);

//===----------------------------------------------------------------------===//
// Products of a warpgroup
//===----------------------------------------------------------------------===//
//
// Four warps multiply a matrix of 64 rows, in registers or in shared memory,
// and one in shared memory. Every thread of them calls each of these functions.

/// The types of the factors and of the sums.
enum SparseAutogradEmulatedWarpgroupType {
  SPARSE_AUTOGRAD_WGMMA_F16_F16 = 0,
  SPARSE_AUTOGRAD_WGMMA_F16_F32 = 1,
  SPARSE_AUTOGRAD_WGMMA_BF16_F32 = 2,
  SPARSE_AUTOGRAD_WGMMA_TF32_F32 = 3
};

/// wgmma.mma_async.m64n<n>k16, of tf32 k8; sparse ones have twice that k.
typedef struct SparseAutogradEmulatedWarpgroupProduct {
  int32_t type; ///< a SparseAutogradEmulatedWarpgroupType
  int32_t n;    ///< a multiple of 8, up to 256
  int32_t isSparse;
  int32_t accumulates; ///< scale-d
  int32_t negatesA;    ///< imm-scale-a is -1
  int32_t negatesB;
  int32_t transposesA; ///< imm-trans-a: the rows of A lie next to each other
  int32_t transposesB;
  /// Four registers of this thread, or NULL: then A is in shared memory.
  const void *registersA;
  uint64_t descriptorA;
  uint64_t descriptorB;
  uint32_t metadata; ///< of a sparse A
  int32_t selector;
  /// What sparseAutogradEmulateWarpgroupProduct returned for the product whose
  /// result the sums are, untouched; else 0.
  uint32_t previous;
  uint32_t reserved; ///< 0
} SparseAutogradEmulatedWarpgroupProduct;

/// Reads and writes the sums: n / 2 registers with f32, or n / 4 with two f16
/// each. Returns a number for the product, which is not 0. The sums are
/// computed in f64 and rounded once. The indices of a group must increase.
SPARSE_AUTOGRAD_RUNTIME_EXPORT uint32_t sparseAutogradEmulateWarpgroupProduct(
    const SparseAutogradEmulatedWarpgroupProduct *product, void *sums,
    const char *where);

/// wgmma.fence
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateWarpgroupFence(const char *where);

/// wgmma.commit_group
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateWarpgroupCommit(const char *where);

/// wgmma.wait_group
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateWarpgroupWait(int32_t groups, const char *where);

/// Called before a result of the product with this number is used; 0 is none.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateUseProduct(uint32_t product, const char *where);

//===----------------------------------------------------------------------===//
// Counted code
//===----------------------------------------------------------------------===//

/// Classes of the instructions of a warp.
enum SparseAutogradEmulatedClass {
  SPARSE_AUTOGRAD_CLASS_INTEGER = 0,
  SPARSE_AUTOGRAD_CLASS_F32 = 1, ///< and those of narrower floats
  SPARSE_AUTOGRAD_CLASS_F64 = 2,
  SPARSE_AUTOGRAD_CLASS_CONVERSION = 3,
  /// Reciprocals, roots, exponentials and the like.
  SPARSE_AUTOGRAD_CLASS_SPECIAL = 4,
  /// Accesses of any memory, and what waits for asynchronous ones.
  SPARSE_AUTOGRAD_CLASS_MEMORY = 5,
  /// Between the lanes of a warp.
  SPARSE_AUTOGRAD_CLASS_EXCHANGE = 6,
  SPARSE_AUTOGRAD_CLASS_BARRIER = 7,
  SPARSE_AUTOGRAD_CLASS_TENSOR = 8,
  SPARSE_AUTOGRAD_CLASS_CONTROL = 9,
  SPARSE_AUTOGRAD_CLASS_COUNT = 10
};

/// Cycles of an access by which the longest chain of a basic block is chosen.
#define SPARSE_AUTOGRAD_NOMINAL_GLOBAL_LATENCY 300u
#define SPARSE_AUTOGRAD_NOMINAL_SHARED_LATENCY 29u

/// What a basic block of device code has.
typedef struct SparseAutogradEmulatedBasicBlock {
  /// Instructions of a warp, by class.
  uint16_t instructions[SPARSE_AUTOGRAD_CLASS_COUNT];
  /// Accesses of global and of shared memory on its longest chain of
  /// instructions that need each other, and the cycles of the others there.
  uint16_t chainGlobal, chainShared;
  uint32_t chainCycles;
  /// The innermost loop that it is in, of its module and from 1 on, and the
  /// next one around that; 0: none.
  uint32_t loop, loopAround;
  uint32_t isHeader; ///< of the innermost loop
  /// Multiplications with an addition on tensor cores, by a warp.
  uint32_t tensorMacs;
} SparseAutogradEmulatedBasicBlock;

/// A thread comes to a basic block. Only code that counts its instructions
/// calls this (translateToEmulator).
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradCountBasicBlock(const SparseAutogradEmulatedBasicBlock *block);

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

enum SparseAutogradEmulatedOperation {
  SPARSE_AUTOGRAD_ADD = 0,
  SPARSE_AUTOGRAD_MULTIPLY = 1,
  SPARSE_AUTOGRAD_DIVIDE = 2,
  SPARSE_AUTOGRAD_FMA = 3,        ///< a b + c
  SPARSE_AUTOGRAD_SQUARE_ROOT = 4 ///< of a
};

enum SparseAutogradEmulatedRounding {
  SPARSE_AUTOGRAD_ROUND_DOWN = 0,   ///< .rm
  SPARSE_AUTOGRAD_ROUND_UP = 1,     ///< .rp
  SPARSE_AUTOGRAD_ROUND_TO_ZERO = 2 ///< .rz
};

/// add.rm.f32 and the like, which libdevice is full of: arithmetic that rounds
/// in a direction. Operands that the operation does not have are not read.
SPARSE_AUTOGRAD_RUNTIME_EXPORT float
sparseAutogradEmulateRoundedF32(int32_t operation, int32_t rounding, float a,
                                float b, float c);
SPARSE_AUTOGRAD_RUNTIME_EXPORT double
sparseAutogradEmulateRoundedF64(int32_t operation, int32_t rounding, double a,
                                double b, double c);

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

/// exit: ends the thread.
SPARSE_AUTOGRAD_RUNTIME_EXPORT SPARSE_AUTOGRAD_NORETURN void
sparseAutogradEmulateExit(void);

/// trap, and an assertion that failed: `message` says which.
SPARSE_AUTOGRAD_RUNTIME_EXPORT SPARSE_AUTOGRAD_NORETURN void
sparseAutogradEmulateTrap(const char *message, const char *where);

/// Called for an integer division that has no result: by zero, or, if
/// `isOverflow`, of the least integer by -1.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulateDivision(int32_t isOverflow, const char *where);

#ifdef __cplusplus
}
#endif

#endif // SPARSEAUTOGRAD_RUNTIME_EMULATORABI_H
