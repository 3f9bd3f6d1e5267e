//===- Diagnostic.h - Located diagnostics of the readers --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_DIAGNOSTIC_H
#define SPARSEAUTOGRAD_IO_DIAGNOSTIC_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace sparse_autograd::io {

/// `FILE: what is wrong; remedy`. Control characters in any part are escaped,
/// so that a diagnostic is one line whatever a file or its name holds.
llvm::Error fileError(llvm::StringRef file, const llvm::Twine &problem,
                      const llvm::Twine &remedy);

/// `FILE:LINE: what is wrong; remedy`; lines count from 1.
llvm::Error lineError(llvm::StringRef file, int64_t line,
                      const llvm::Twine &problem, const llvm::Twine &remedy);

/// `FILE: byte OFFSET: what is wrong; remedy`; offsets count from 0, in the
/// expanded bytes when the file is compressed.
llvm::Error byteError(llvm::StringRef file, uint64_t offset,
                      const llvm::Twine &problem, const llvm::Twine &remedy);

/// `text` between quotes, shortened when long.
std::string quoted(llvm::StringRef text);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_DIAGNOSTIC_H
