//===- SparseAutogradSchedule.td - schedules of loops ------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSCHEDULE_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSCHEDULE_TD

include "mlir/IR/AttrTypeBase.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradDialect.td"

def SparseAutograd_ScheduleAttr : AttrDef<SparseAutogradDialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How the iterations of a loop are run";
  let description = [{
    The schedule of a loop, under the name `sparse_autograd.schedule`. It has one
    or more of these parts:

    * `parallel`: the iterations write to different places, and may run in any
      order; at once if they carry nothing once tensors are buffers. On an
      `scf.for`, which carries the tensors that it writes to, or what it adds up,
      or on a call of an outlined body, whose first operands are 0 and the number
      of iterations.
    * `entries`: the loop, an `scf.for`, is over entries that a sparse tensor
      stores. With the loops around it, it visits each element of the lists that
      it accesses at its variable once.
    * `lanes`, or `lanes = N`: an `scf.for` that the lanes of a group share, as
      many as the loop is long, or N. What it carries are scalars, which are
      combined. No such loop is in another one.
    * `vector = N`: a thread does N iterations, next to one another, at once, and
      accesses their elements together. On an `scf.for` that lanes share or that
      is parallel, or on the last loop of an `scf.parallel`. The step is 1, and N
      divides the bounds.

    ```mlir
    scf.for %row = %c0 to %n step %c1 {
      scf.for %column = %c0 to %c64 step %c1 {
        ...
      } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, lanes, vector = 4>}
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
    ```
  }];
  let parameters = (ins
    "bool":$parallel,
    "bool":$entries,
    // 0 if lanes share nothing, ScheduleAttr::asLong if as many as the loop is
    // long.
    "int64_t":$lanes,
    // 1 if a thread does one iteration after the other.
    "int64_t":$vector);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t asLong = -1;
  }];
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSCHEDULE_TD
