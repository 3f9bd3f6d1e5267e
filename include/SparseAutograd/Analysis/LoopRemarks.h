//===- LoopRemarks.h - remarks about loop nests -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What passes that make loops say of each nest: the schedule that they chose,
// and why not another one. Contractions have remarks of their own
// (ContractionStrategies.h).
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_LOOPREMARKS_H
#define SPARSEAUTOGRAD_ANALYSIS_LOOPREMARKS_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// The category of these remarks.
inline constexpr llvm::StringLiteral loopRemarkCategory =
    "sparse-autograd-loops";

/// Whether remarks are asked for. Their texts need not be made otherwise.
bool hasRemarks(mlir::MLIRContext *context);

/// Says at `loc`, in the function that `inside` is in or is, what was chosen
/// for a nest. `kind` is the name of the remark.
void remarkChosen(mlir::Location loc, mlir::Operation *inside,
                  llvm::StringRef kind, const llvm::Twine &text);
/// The same of what was declined, and why.
void remarkDeclined(mlir::Location loc, mlir::Operation *inside,
                    llvm::StringRef kind, const llvm::Twine &text);

/// "512 x ? x 3", "no loops" of none.
std::string describeExtents(llvm::ArrayRef<int64_t> extents);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_LOOPREMARKS_H
