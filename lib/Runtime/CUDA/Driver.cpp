//===- Driver.cpp - The driver of CUDA, loaded at run time ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads the library of the driver, and knows its errors.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Device/Failure.h"
#include "Libraries.h"
#include "SparseAutograd/Runtime/Runtime.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace sparse_autograd {
namespace runtime {
namespace cuda {

/// The functions above came with 11.2, that for tensor maps with 12.0. And the
/// compiler's code for sm_90a is of PTX 8.0, which came with 12.0, and drivers
/// before that get no more repairs.
constexpr int leastVersion = 12000;

int32_t loadDriver(Driver &driver) {
  const char *path = std::getenv("SPARSE_AUTOGRAD_CUDA_DRIVER");
  if (!path || !*path)
    path = "libcuda.so.1";
  // Never unloaded: the driver does not expect that.
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "the NVIDIA driver cannot be loaded: %s: install it, or, in a "
                "container, make it visible (docker run --gpus all)",
                dlerror());
  driver = {};
  FunctionFinder finder(library);
#define SPARSE_AUTOGRAD_CUDA_FUNCTION(name, symbol, parameters)                \
  finder.find(#symbol, driver.name);
  SPARSE_AUTOGRAD_CUDA_FUNCTIONS(SPARSE_AUTOGRAD_CUDA_FUNCTION)
#undef SPARSE_AUTOGRAD_CUDA_FUNCTION
  Result code = success;
  if (driver.driverGetVersion)
    code = driver.driverGetVersion(&driver.version);
  // An old driver lacks functions; that it is old is the better message.
  if (driver.driverGetVersion && !code && driver.version < leastVersion)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "the NVIDIA driver (%s) is too old: it is of CUDA %d.%d, and "
                "%d.%d is needed: update it",
                path, driver.version / 1000, driver.version % 1000 / 10,
                leastVersion / 1000, leastVersion % 1000 / 10);
  if (const char *missing = finder.getMissing())
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "the NVIDIA driver (%s) has no function %s: is it the driver's "
                "library?",
                path, missing);
  if (!code)
    code = driver.init(0);
  if (code)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "the NVIDIA driver cannot be initialised: %s%s",
                describe(driver, code).text, getRemedy(code));
  return SPARSE_AUTOGRAD_SUCCESS;
}

ErrorText describe(const Driver &driver, Result code) {
  const char *name = nullptr;
  const char *text = nullptr;
  ErrorText result;
  if (driver.getErrorName(code, &name) != success || !name)
    std::snprintf(result.text, sizeof(result.text), "CUDA error %d", code);
  else if (driver.getErrorString(code, &text) != success || !text)
    std::snprintf(result.text, sizeof(result.text), "%s", name);
  else
    std::snprintf(result.text, sizeof(result.text), "%s (%s)", name, text);
  return result;
}

const char *getRemedy(Result code) {
  switch (code) {
  case noDevice:
    return ": no GPU is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES";
  case stubLibrary:
    return ": this library is for linking only: take the toolkit's 'stubs' "
           "out of LD_LIBRARY_PATH";
  case notInitialized:
    return ": was the process forked after CUDA was used? Start a new one "
           "instead";
  case deviceUnavailable:
    return ": another process has the GPU for itself (nvidia-smi -q -d "
           "COMPUTE)";
  case systemNotReady:
    return ": on machines with NVSwitch, is the fabric manager running?";
  case systemDriverMismatch:
  case unsupportedCompatibility:
    return ": the driver's library and its kernel module do not fit: start "
           "the machine again after an update";
  case noBinaryForGpu:
  case unsupportedPtxVersion:
    return ": update the driver, or compile the program for this GPU with an "
           "older PTX";
  case noJitCompiler:
    return ": libnvidia-ptxjitcompiler.so is missing beside the driver; code "
           "compiled for this GPU does not need it";
  case jitDisabled:
    return ": CUDA_DISABLE_PTX_JIT is set, and the program has PTX only";
  case launchOutOfResources:
    return ": a block of this many threads needs more registers than there "
           "are: compile with fewer threads in a block";
  case contextIsDestroyed:
  case invalidContext:
    return ": another library of this process has reset the device";
  default:
    return "";
  }
}

bool isFaultOfKernel(Result code) {
  switch (code) {
  case contained:
  case illegalAddress:
  case launchTimeout:
  case assertion:
  case hardwareStackError:
  case illegalInstruction:
  case misalignedAddress:
  case invalidAddressSpace:
  case invalidProgramCounter:
  case launchFailed:
  case tensorMemoryLeak:
    return true;
  default:
    return false;
  }
}

bool endsContext(Result code) {
  switch (code) {
  case deinitialized:
  case invalidContext:
  case uncorrectableMemory:
  case uncorrectableLink:
  case contextIsDestroyed:
    return true;
  default:
    return isFaultOfKernel(code);
  }
}

} // namespace cuda
} // namespace runtime
} // namespace sparse_autograd
