//===- Linker.h - object files to shared objects ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_AHEADOFTIME_LINKER_H
#define SPARSEAUTOGRAD_LIB_AHEADOFTIME_LINKER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace sparse_autograd {

/// The path of the linker that `name` names, as LibraryOptions has it.
llvm::Expected<std::string> findLinker(llvm::StringRef name);

/// The shared object that `linker` makes of the contents of an object file and
/// of the runtime library. `soname` is what programs that are linked with it
/// look for. Fails for a symbol that neither of these libraries, nor the C
/// library or libm, defines.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
linkSharedObject(llvm::StringRef linker, llvm::StringRef object,
                 llvm::StringRef soname);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_AHEADOFTIME_LINKER_H
