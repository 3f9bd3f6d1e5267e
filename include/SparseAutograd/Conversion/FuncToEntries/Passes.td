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

def BoundMemory : PipelinePass<"sparse-autograd-bound-memory", "::mlir::ModuleOp"> {
  let summary = "State what calls of entries with sparse arguments allocate at most";
  let needs = "the manifest, functions on buffers that are allocated and released where they will be, storage ops";
  let leaves = "a bound of the bytes that each such function has allocated, as a string";
  let description = [{
    Each function of the manifest with a sparse argument gets the attribute
    `sparse_autograd.memory_bound`, a string: the bytes that a call of it that
    succeeds has allocated at any time, at most, results among them. It is a sum
    of products of numbers, of `nnz(k)`, the elements that the sparse argument k
    stores, `pattern(k)`, the bytes of its positions and coordinates, and
    `dim(k, d)`, extents of argument k; or the maximum of such sums, one of each
    place where the most may be in use.

    ```mlir
    func.func @gradient(%positions: memref<?xindex>, %coordinates: memref<?xindex>, ...)
        attributes {sparse_autograd.memory_bound = "4 * nnz(0) + pattern(0)"}
    ```

    It follows the function from its first op to its last: buffers count from
    where they are allocated to where they are released, and with the storage ops
    what the runtime needs for them; at the end come copies of what results have
    in common with arguments and with each other, as in calls that give each
    result memory of its own. The entries of a new pattern are bounded by the loops
    that list or count them: by the lengths of the lists that these loops are
    over. On top come the blocks of a constant number of elements that each
    thread has for rows that fusion computes together, and what a product of
    dense matrices packs. A function has no such attribute if an extent comes
    from nowhere, such as from a number that it is given, if a loop keeps what it
    allocates or makes a size grow from one iteration to the next, if rows are
    merged or added up to a new pattern, if it multiplies a 2:4 matrix, and if it
    calls another function of the program. The phase `target` of the pipeline runs
    it for the CPU, where the loops are those that will run:
    `--mlir-print-ir-after=sparse-autograd-bound-memory` prints it.
  }];
}

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
