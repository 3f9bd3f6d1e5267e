//===- Schedule.h - schedules of loops --------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Access to the attribute `sparse_autograd.schedule` of loops, which has no
// other readers and writers. Passes of lower-sparse and of the targets use it.
// They change one part of a schedule and keep the others:
//
//   Schedule schedule = getSchedule(loop);
//   schedule.isParallel = true;
//   setSchedule(loop, schedule);
//
// A loop that is built in the place of another one takes its schedule over
// (`takeAttributes`): without it the new loop would run on one thread.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SCHEDULE_H
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SCHEDULE_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

#define GET_ATTRDEF_CLASSES
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradSchedule.h.inc"

namespace sparse_autograd {

/// The attribute of a loop, or of a call that runs a range of one, that says
/// how its iterations are run: a ScheduleAttr.
inline constexpr llvm::StringLiteral scheduleAttrName =
    "sparse_autograd.schedule";

/// How the iterations of a loop are run; see ScheduleAttr for what each part
/// means. A loop without the attribute has the default.
struct Schedule {
  bool isParallel = false;
  bool isOverEntries = false;
  /// The lanes that share the loop: 0 if none do, ScheduleAttr::asLong if as
  /// many as it is long.
  int64_t lanes = 0;
  /// The iterations that a thread does at once.
  int64_t vector = 1;

  bool operator==(const Schedule &other) const {
    return isParallel == other.isParallel &&
           isOverEntries == other.isOverEntries && lanes == other.lanes &&
           vector == other.vector;
  }
  bool operator!=(const Schedule &other) const { return !(*this == other); }
};

/// The schedule of `op`: the default one if it has no attribute, as any op that
/// is no loop.
Schedule getSchedule(mlir::Operation *op);

/// Gives the loop or the call `op` a schedule, in the place of the one that it
/// has; the default one is no attribute.
void setSchedule(mlir::Operation *op, const Schedule &schedule);

/// Says that the iterations of `op` write to different places.
void setParallel(mlir::Operation *op);

/// Says that `op` is over entries that a sparse tensor stores.
void setOverEntries(mlir::Operation *op);

/// Takes the schedules of `root` and of the ops in it away.
void dropSchedules(mlir::Operation *root);

/// Gives `op`, which was built in the place of `replaced`, its discardable
/// attributes: its schedule, hints of the program and what other dialects say.
void takeAttributes(mlir::Operation *op, mlir::Operation *replaced);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SCHEDULE_H
