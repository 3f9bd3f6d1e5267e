// RUN: sparse-opt %s --sparse-autograd-compress-masked-rows --split-input-file | FileCheck %s

// Loops that have to go through all elements of their rows, or gain nothing by
// doing less.

// CHECK-NOT: sparseAutograd

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
!row = memref<1x4096xf32, strided<[4096, 1], offset: ?>>
!selects = memref<1x4096xi1, strided<[4096, 1], offset: ?>>
!cell = memref<1xf32, strided<[1], offset: ?>>

// A product with what the mask selects is cheap.
func.func @cheap(%x: memref<64x4096xf32>, %mask: memref<64x4096xi1>, %sums: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %sum = memref.subview %sums[%i] [1] [1] : memref<64xf32> to !cell
    linalg.fill ins(%zero : f32) outs(%sum : !cell)
    linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%row, %selects : !row, !selects) outs(%sum : !cell) {
    ^bb0(%a: f32, %s: i1, %o: f32):
      %e = arith.mulf %a, %a : f32
      %p = arith.select %s, %e, %zero : f32
      %u = arith.addf %o, %p : f32
      linalg.yield %u : f32
    }
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
!row = memref<1x4096xf32, strided<[4096, 1], offset: ?>>
!selects = memref<1x4096xi1, strided<[4096, 1], offset: ?>>
!cell = memref<1xf32, strided<[1], offset: ?>>

// What is not selected adds 1.
func.func @not_neutral(%x: memref<64x4096xf32>, %mask: memref<64x4096xi1>, %sums: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %sum = memref.subview %sums[%i] [1] [1] : memref<64xf32> to !cell
    linalg.fill ins(%zero : f32) outs(%sum : !cell)
    linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%row, %selects : !row, !selects) outs(%sum : !cell) {
    ^bb0(%a: f32, %s: i1, %o: f32):
      %e = math.exp %a : f32
      %p = arith.select %s, %e, %one : f32
      %u = arith.addf %o, %p : f32
      linalg.yield %u : f32
    }
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
!row = memref<1x4096xf32, strided<[4096, 1], offset: ?>>
!selects = memref<1x4096xi1, strided<[4096, 1], offset: ?>>
!cell = memref<1xf32, strided<[1], offset: ?>>

// A sum that begins with -0.0 is 0.0 once 0.0 is added, and one that begins
// with what somebody else has stored may be -0.0.
func.func @negative_zero(%x: memref<64x4096xf32>, %mask: memref<64x4096xi1>, %sums: memref<64xf32>, %others: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %negative = arith.constant -0.0 : f32
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %sum = memref.subview %sums[%i] [1] [1] : memref<64xf32> to !cell
    linalg.fill ins(%negative : f32) outs(%sum : !cell)
    linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%row, %selects : !row, !selects) outs(%sum : !cell) {
    ^bb0(%a: f32, %s: i1, %o: f32):
      %e = math.exp %a : f32
      %p = arith.select %s, %e, %zero : f32
      %u = arith.addf %o, %p : f32
      linalg.yield %u : f32
    }
  }
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %other = memref.subview %others[%i] [1] [1] : memref<64xf32> to !cell
    linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%row, %selects : !row, !selects) outs(%other : !cell) {
    ^bb0(%a: f32, %s: i1, %o: f32):
      %e = math.exp %a : f32
      %p = arith.select %s, %e, %zero : f32
      %u = arith.addf %o, %p : f32
      linalg.yield %u : f32
    }
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
!row = memref<1x4096xf32, strided<[4096, 1], offset: ?>>
!selects = memref<1x4096xi1, strided<[4096, 1], offset: ?>>

// A result is -1 where nothing is selected, another the position.
func.func @not_zero(%x: memref<64x4096xf32>, %mask: memref<64x4096xi1>) -> (memref<64x4096xf32>, memref<64x4096xindex>) {
  %minus = arith.constant -1.0 : f32
  %c0 = arith.constant 0 : index
  %result = memref.alloc() : memref<64x4096xf32>
  %positions = memref.alloc() : memref<64x4096xindex>
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %out = memref.subview %result[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row, %selects : !row, !selects) outs(%out : !row) {
    ^bb0(%a: f32, %s: i1, %o: f32):
      %e = math.exp %a : f32
      %p = arith.select %s, %e, %minus : f32
      linalg.yield %p : f32
    }
  }
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %out = memref.subview %positions[%i, 0] [1, 4096] [1, 1] : memref<64x4096xindex> to memref<1x4096xindex, strided<[4096, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row, %selects : !row, !selects) outs(%out : memref<1x4096xindex, strided<[4096, 1], offset: ?>>) {
    ^bb0(%a: f32, %s: i1, %o: index):
      %j = linalg.index 1 : index
      %e = math.exp %a : f32
      %k = arith.fptoui %e : f32 to i32
      %l = arith.index_cast %k : i32 to index
      %m = arith.addi %j, %l : index
      %p = arith.select %s, %m, %c0 : index
      linalg.yield %p : index
    }
  }
  return %result, %positions : memref<64x4096xf32>, memref<64x4096xindex>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
!row = memref<1x4096xf32, strided<[4096, 1], offset: ?>>
!selects = memref<1x4096xi1, strided<[4096, 1], offset: ?>>

// A weight of each column would have to be compressed as well; an argument may
// be what the caller has elsewhere; and what is there before is read.
func.func @other_memory(%x: memref<64x4096xf32>, %mask: memref<64x4096xi1>, %weights: memref<4096xf32>, %argument: memref<64x4096xf32>) -> (memref<64x4096xf32>, memref<64x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %result = memref.alloc() : memref<64x4096xf32>
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %out = memref.subview %result[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    linalg.generic {indexing_maps = [#id, #id, #column, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row, %selects, %weights : !row, !selects, memref<4096xf32>) outs(%out : !row) {
    ^bb0(%a: f32, %s: i1, %w: f32, %o: f32):
      %e = math.exp %a : f32
      %q = arith.mulf %e, %w : f32
      %p = arith.select %s, %q, %zero : f32
      linalg.yield %p : f32
    }
  }
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %out = memref.subview %argument[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row, %selects : !row, !selects) outs(%out : !row) {
    ^bb0(%a: f32, %s: i1, %o: f32):
      %e = math.exp %a : f32
      %p = arith.select %s, %e, %zero : f32
      linalg.yield %p : f32
    }
  }
  %changed = memref.alloc() : memref<64x4096xf32>
  linalg.fill ins(%zero : f32) outs(%changed : memref<64x4096xf32>)
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %out = memref.subview %changed[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row, %selects : !row, !selects) outs(%out : !row) {
    ^bb0(%a: f32, %s: i1, %o: f32):
      %e = math.exp %a : f32
      %q = arith.addf %e, %o : f32
      %p = arith.select %s, %q, %zero : f32
      linalg.yield %p : f32
    }
  }
  return %result, %changed : memref<64x4096xf32>, memref<64x4096xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
!row = memref<1x4096xf32, strided<[4096, 1], offset: ?>>
!selects = memref<1x4096xi1, strided<[4096, 1], offset: ?>>

// A sum of all elements of the same row, and a block of two rows.
func.func @whole_rows(%x: memref<64x4096xf32>, %mask: memref<64x4096xi1>, %sums: memref<64xf32>) -> memref<64x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %result = memref.alloc() : memref<64x4096xf32>
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %sum = memref.subview %sums[%i] [1] [1] : memref<64xf32> to memref<1xf32, strided<[1], offset: ?>>
    %out = memref.subview %result[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row, %selects : !row, !selects) outs(%out : !row) {
    ^bb0(%a: f32, %s: i1, %o: f32):
      %e = math.exp %a : f32
      %p = arith.select %s, %e, %zero : f32
      linalg.yield %p : f32
    }
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%row : !row) outs(%sum : memref<1xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %u = arith.addf %o, %a : f32
      linalg.yield %u : f32
    }
  }
  return %result : memref<64x4096xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

func.func @two_rows(%x: memref<64x4096xf32>, %mask: memref<64x4096xi1>) -> memref<64x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : index
  %result = memref.alloc() : memref<64x4096xf32>
  scf.forall (%i) in (32) {
    %first = arith.muli %i, %two : index
    %row = memref.subview %x[%first, 0] [2, 4096] [1, 1] : memref<64x4096xf32> to memref<2x4096xf32, strided<[4096, 1], offset: ?>>
    %selects = memref.subview %mask[%first, 0] [2, 4096] [1, 1] : memref<64x4096xi1> to memref<2x4096xi1, strided<[4096, 1], offset: ?>>
    %out = memref.subview %result[%first, 0] [2, 4096] [1, 1] : memref<64x4096xf32> to memref<2x4096xf32, strided<[4096, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row, %selects : memref<2x4096xf32, strided<[4096, 1], offset: ?>>, memref<2x4096xi1, strided<[4096, 1], offset: ?>>)
        outs(%out : memref<2x4096xf32, strided<[4096, 1], offset: ?>>) {
    ^bb0(%a: f32, %s: i1, %o: f32):
      %e = math.exp %a : f32
      %p = arith.select %s, %e, %zero : f32
      linalg.yield %p : f32
    }
  }
  return %result : memref<64x4096xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
!row = memref<1x4096xf32, strided<[4096, 1], offset: ?>>
!selects = memref<1x4096xi1, strided<[4096, 1], offset: ?>>

// An assertion is about all elements.
func.func @asserted(%x: memref<64x4096xf32>, %mask: memref<64x4096xi1>) -> memref<64x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %result = memref.alloc() : memref<64x4096xf32>
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %out = memref.subview %result[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf32> to !row
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row, %selects : !row, !selects) outs(%out : !row) {
    ^bb0(%a: f32, %s: i1, %o: f32):
      %is_positive = arith.cmpf ogt, %a, %zero : f32
      cf.assert %is_positive, "an element is not positive"
      %e = math.log %a : f32
      %p = arith.select %s, %e, %zero : f32
      linalg.yield %p : f32
    }
  }
  return %result : memref<64x4096xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
!row = memref<1x4096xf16, strided<[4096, 1], offset: ?>>
!selects = memref<1x4096xi1, strided<[4096, 1], offset: ?>>

// Of narrow elements more are computed at a time than are found.
func.func @narrow(%x: memref<64x4096xf16>, %mask: memref<64x4096xi1>) -> memref<64x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %result = memref.alloc() : memref<64x4096xf16>
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf16> to !row
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to !selects
    %out = memref.subview %result[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf16> to !row
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row, %selects : !row, !selects) outs(%out : !row) {
    ^bb0(%a: f16, %s: i1, %o: f16):
      %e = math.exp %a : f16
      %p = arith.select %s, %e, %zero : f16
      linalg.yield %p : f16
    }
  }
  return %result : memref<64x4096xf16>
}
