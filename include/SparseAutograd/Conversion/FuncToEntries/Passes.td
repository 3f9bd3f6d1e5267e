//===- Passes.td - functions as their callers see them -----*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_FUNCTOENTRIES_PASSES_TD
#define SPARSEAUTOGRAD_CONVERSION_FUNCTOENTRIES_PASSES_TD

include "SparseAutograd/PipelinePass.td"

def ShareResults : PipelinePass<"sparse-autograd-share-results", "::mlir::ModuleOp"> {
  let summary = "Leave results to the entry that its caller has already";
  let needs = "the manifest, and functions on dense tensors with the lists of sparse ones";
  let leaves = "functions without results that are arguments or other results, which the manifest names";
  let description = [{
    A result of an entry that is an argument or an earlier result, and a sparse
    result whose positions, coordinates and extents are those of one, is noted in
    the manifest (`same_as`, `pattern_of`; docs/manifest.md), and what is shared
    is no longer returned by the function: a residual that is an argument is not
    copied, and a gradient is its values. The entry hands the rest over in the
    form that its caller asks for.

    Values are the same if they are one SSA value, casts aside. Of functions that
    others call nothing is changed.

    With `unchecked-storage` the manifest says of each entry that it takes the
    storage of sparse arguments for valid (`unchecked`), which is **unsafe**: wrong
    positions or coordinates are then accesses anywhere in memory.

    ```mlir
    func.func @f(%x: tensor<?xf32> {sparse_autograd.name = "x"}) -> (tensor<?xf32>, tensor<?xf32>) {
      %y = math.exp %x : tensor<?xf32>
      return %y, %x : tensor<?xf32>, tensor<?xf32>
    }
    ```

    becomes a function that returns `%y` alone; the result "result1" has
    `"same_as": {"argument": "x"}`.
  }];
  let options = [
    Option<"uncheckedStorage", "unchecked-storage", "bool", /*default=*/"false",
           "Entries do not validate the storage of sparse arguments: unsafe">];
}

#endif // SPARSEAUTOGRAD_CONVERSION_FUNCTOENTRIES_PASSES_TD
