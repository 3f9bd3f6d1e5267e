//===- RuntimeFunctions.h - what compiled code may call ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_EXECUTIONENGINE_RUNTIMEFUNCTIONS_H
#define SPARSEAUTOGRAD_LIB_EXECUTIONENGINE_RUNTIMEFUNCTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ExecutionEngine/Orc/Shared/ExecutorAddress.h"

namespace sparse_autograd {

/// A function of the runtime.
struct RuntimeFunction {
  llvm::StringRef name;
  llvm::orc::ExecutorAddr address;
};

/// All that CompilerABI.h, DeviceABI.h and EmulatorABI.h declare, by address:
/// they are linked to this library, so there is no doubt which ones are meant.
llvm::ArrayRef<RuntimeFunction> getRuntimeFunctions();

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_EXECUTIONENGINE_RUNTIMEFUNCTIONS_H
