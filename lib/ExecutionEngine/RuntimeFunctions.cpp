//===- RuntimeFunctions.cpp - what compiled code may call ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeFunctions.h"

#include "SparseAutograd/Runtime/CompilerABI.h"
#include "SparseAutograd/Runtime/DeviceABI.h"
#include "SparseAutograd/Runtime/EmulatorABI.h"

using namespace sparse_autograd;

llvm::ArrayRef<RuntimeFunction> sparse_autograd::getRuntimeFunctions() {
#define SPARSE_AUTOGRAD_FUNCTION(name)                                         \
  {                                                                            \
    #name, llvm::orc::ExecutorAddr::fromPtr(&(name))                           \
  }
  static const RuntimeFunction functions[] = {
      // CompilerABI.h
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradAllocate),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradBeginEntry),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradCheckArgument),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradCheckDestinations),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradCompressRow),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradCountPositions),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeallocate),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEstimateSelected),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradExpandRow),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradExpectResult),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradGemmF32),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradGemmF64),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradGetThreadCount),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradGuard),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradHandOver),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradLog),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradMultiply24),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradPack),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradPack24),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradPackNonzeros24),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradParallelFor),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradRaise),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradRaiseWithValues),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradSortEntries),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradStorePositions),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradStream),
      // DeviceABI.h
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceAllocate),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceBeginSparseProduct),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceContract),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceCopy),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceCopyIn),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceCopyOut),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceDeallocate),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceEncodeTensorMap),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceEndSparseProduct),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceFill),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceLaunch),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceMultiplySparse),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradDeviceSampleProduct),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradUnloadImage),
      // EmulatorABI.h
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradCountBasicBlock),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateAccess),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateActiveMask),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateBarrier),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateBarrierArrive),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateBarrierReduce),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateCommitGroup),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateCopyAsync),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateParameter),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateLocal),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateLocalAccess),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateBeginFrame),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateEndFrame),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateStack),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateDivision),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateBulkLoad),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateBulkStore),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateTensorLoad),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateTensorStore),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateTensorPrefetch),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateBulkCommit),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateBulkWait),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateMbarrierInit),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateMbarrierInvalidate),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateMbarrierArrive),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateMbarrierExpect),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateMbarrierComplete),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateMbarrierWait),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateMbarrierPendingCount),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateCopyArrive),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateProxyFence),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateElect),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateExit),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateLoadMatrix),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateMatchAll),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateMatchAny),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateProduct),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateReduce),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateRegister),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateRoundedF32),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateRoundedF64),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateSharedMemory),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateShuffle),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateSpace),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateStep),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateTrap),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateVote),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateWaitAll),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateWaitGroup),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateWarpSync),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateWarpgroupProduct),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateWarpgroupFence),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateWarpgroupCommit),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateWarpgroupWait),
      SPARSE_AUTOGRAD_FUNCTION(sparseAutogradEmulateUseProduct),
  };
#undef SPARSE_AUTOGRAD_FUNCTION
  return functions;
}
