//===- LoopRemarks.cpp - remarks about loop nests -------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace sparse_autograd;

bool sparse_autograd::hasRemarks(MLIRContext *context) {
  return context->getRemarkEngine();
}

static remark::RemarkOpts getOptions(Operation *inside, StringRef kind) {
  auto function = dyn_cast<func::FuncOp>(inside);
  if (!function)
    function = inside->getParentOfType<func::FuncOp>();
  return remark::RemarkOpts::name(kind)
      .category(loopRemarkCategory)
      .function(function ? function.getSymName() : StringRef());
}

void sparse_autograd::remarkChosen(Location loc, Operation *inside,
                                   StringRef kind, const Twine &text) {
  remark::passed(loc, getOptions(inside, kind)) << text.str();
}

void sparse_autograd::remarkDeclined(Location loc, Operation *inside,
                                     StringRef kind, const Twine &text) {
  remark::missed(loc, getOptions(inside, kind)) << text.str();
}

std::string sparse_autograd::describeExtents(ArrayRef<int64_t> extents) {
  if (extents.empty())
    return "no loops";
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      extents, stream,
      [&](int64_t extent) {
        if (ShapedType::isDynamic(extent))
          stream << "?";
        else
          stream << extent;
      },
      " x ");
  return text;
}
