// RUN: sparse-opt %s --sparse-autograd-select-formats | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-select-formats="parallel=false" | FileCheck %s --check-prefix=ONE
// RUN: sparse-opt %s --sparse-autograd-select-formats="for-device=true" | FileCheck %s --check-prefix=DEVICE

// A product with the transpose is read by columns where that pays.

// ONE-NOT: sparse_tensor.convert

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
#DCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>
#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))}>
#BSR = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)}>
#Narrow = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 8}>

// CHECK-DAG: #[[CSC:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed), posWidth = 32, crdWidth = 32 }>
// CHECK-DAG: #[[DCSC:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : compressed, d0 : compressed) }>
// CHECK-DAG: #[[WIDER:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed), posWidth = 32, crdWidth = 16 }>
// CHECK-DAG: #[[WIDEST:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed), posWidth = 32 }>

// The copy is made once, before the loop.

// CHECK-LABEL: func.func @hoisted
// CHECK-SAME:  %[[A:.*]]: tensor<?x?xf32, #{{.*}}>, %{{.*}}: tensor<?x64xf32>, %{{.*}}: tensor<?x64xf32>)
// CHECK-NEXT:  %[[T:.*]] = sparse_tensor.convert %[[A]] : {{.*}} to tensor<?x?xf32, #[[CSC]]>
// CHECK:       scf.for
// CHECK:         linalg.generic {{.*}} ins(%[[T]], %{{.*}} : tensor<?x?xf32, #[[CSC]]>, tensor<?x64xf32>)
func.func @hoisted(%a: tensor<?x?xf32, #CSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %x : tensor<?x?xf32, #CSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.yield %p : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// It is made behind the tensor.

// CHECK-LABEL: func.func @computed
// CHECK:       %[[Y:.*]] = linalg.generic
// CHECK:         math.tanh
// CHECK:       } -> tensor<?x?xf32, #{{.*}}>
// CHECK-NEXT:  %[[T:.*]] = sparse_tensor.convert %[[Y]] : {{.*}} to tensor<?x?xf32, #[[CSC]]>
// CHECK:       scf.for
// CHECK:         linalg.vecmat ins(%{{.*}}, %[[T]] : tensor<?xf32>, tensor<?x?xf32, #[[CSC]]>)
func.func @computed(%a: tensor<?x?xf32, #CSR>, %e: tensor<?x?xf32, #CSR>, %x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %b = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf32, #CSR>) outs(%e : tensor<?x?xf32, #CSR>) {
  ^bb0(%v: f32, %w: f32):
    %t = math.tanh %v : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32, #CSR>
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?xf32> {
    %p = linalg.vecmat ins(%x, %b : tensor<?xf32>, tensor<?x?xf32, #CSR>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %p : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// For a loop in a branch it is made in the branch.

// CHECK-LABEL: func.func @loop_in_branch
// CHECK-SAME:  %[[A:.*]]: tensor<?x?xf32, #{{.*}}>, %{{.*}}: tensor<?xf32>, %{{.*}}: tensor<?xf32>, %{{.*}}: i1)
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       scf.if
// CHECK-NEXT:    %[[T:.*]] = sparse_tensor.convert %[[A]]
// CHECK:         scf.for
// CHECK:           linalg.vecmat ins(%{{.*}}, %[[T]] : tensor<?xf32>, tensor<?x?xf32, #[[CSC]]>)
func.func @loop_in_branch(%a: tensor<?x?xf32, #CSR>, %x: tensor<?xf32>, %z: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %b = scf.if %c -> tensor<?xf32> {
    %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?xf32> {
      %p = linalg.vecmat ins(%x, %a : tensor<?xf32>, tensor<?x?xf32, #CSR>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %p : tensor<?xf32>
    }
    scf.yield %r : tensor<?xf32>
  } else {
    scf.yield %z : tensor<?xf32>
  }
  return %b : tensor<?xf32>
}

// Two products share it.

// CHECK-LABEL: func.func @shared
// CHECK-SAME:  %[[A:.*]]: tensor<?x?xf32, #{{.*}}>, %{{.*}}: tensor<?x64xf32>, %{{.*}}: tensor<?x64xf32>)
// CHECK-NEXT:  %[[T:.*]] = sparse_tensor.convert %[[A]]
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       scf.for
// CHECK:         linalg.generic {{.*}} ins(%[[T]], %{{.*}}
// CHECK:         linalg.generic {{.*}} ins(%[[T]], %{{.*}}
// CHECK:       return
func.func @shared(%a: tensor<?x?xf32, #CSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %o = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %x : tensor<?x?xf32, #CSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %x : tensor<?x?xf32, #CSR>, tensor<?x64xf32>) outs(%o : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.yield %p : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// Once it would not pay.

// On a device it is made all the same: the rows of the result would wait for
// each other.

// DEVICE-LABEL: func.func @once
// DEVICE:       sparse_tensor.convert
// DEVICE:       linalg.generic
// CHECK-LABEL: func.func @once
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       return
func.func @once(%a: tensor<?x?xf32, #CSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %x : tensor<?x?xf32, #CSR>, tensor<?x64xf32>) outs(%z : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}

// A branch may not be taken: nothing is done before the loop for it.

// CHECK-LABEL: func.func @branch
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       return
func.func @branch(%a: tensor<?x?xf32, #CSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>, %c: i1) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %b = scf.if %c -> tensor<?x64xf32> {
      %p = linalg.generic {
            indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
            iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %x : tensor<?x?xf32, #CSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %q = arith.mulf %in, %in_0 : f32
        %s = arith.addf %out, %q : f32
        linalg.yield %s : f32
      } -> tensor<?x64xf32>
      scf.yield %p : tensor<?x64xf32>
    } else {
      scf.yield %y : tensor<?x64xf32>
    }
    scf.yield %b : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// Where the values change the pattern is copied, with where each value goes.

// CHECK-LABEL: func.func @pattern
// CHECK-SAME:  %[[A:.*]]: tensor<?x?xf32, #{{.*}}>, %{{.*}}: tensor<?x64xf32>, %{{.*}}: tensor<?x64xf32>)
// CHECK-NEXT:  %[[OLD:.*]] = sparse_autograd.stored_values %[[A]]
// CHECK:       %[[NUMBERS:.*]] = linalg.generic
// CHECK:         linalg.index 0
// CHECK:       %[[NUMBERED:.*]] = sparse_autograd.with_values %[[NUMBERS]], %[[A]] : tensor<?xindex>
// CHECK-NEXT:  %[[T:.*]] = sparse_tensor.convert %[[NUMBERED]] : tensor<?x?xindex, #{{.*}}> to tensor<?x?xindex, #[[CSC]]>
// CHECK-NEXT:  %[[PLACES:.*]] = sparse_autograd.stored_values %[[T]]
// CHECK:       scf.for
// CHECK:         %[[SCALED:.*]] = linalg.generic
// CHECK:         } -> tensor<?x?xf32, #{{.*}}>
// CHECK-NEXT:    %[[VALUES:.*]] = sparse_autograd.stored_values %[[SCALED]]
// CHECK:         %[[MOVED:.*]] = linalg.generic {{.*}} ins(%[[PLACES]] : tensor<?xindex>)
// CHECK-NEXT:    ^bb0(%[[PLACE:.*]]: index, %{{.*}}: f32)
// CHECK-NEXT:      tensor.extract %[[VALUES]][%[[PLACE]]]
// CHECK:         %[[READ:.*]] = sparse_autograd.with_values %[[MOVED]], %[[T]]
// CHECK:         linalg.generic {{.*}} ins(%[[READ]], %{{.*}} : tensor<?x?xf32, #[[CSC]]>, tensor<?x64xf32>)
func.func @pattern(%a: tensor<?x?xf32, #CSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %d0 = tensor.dim %a, %c0 : tensor<?x?xf32, #CSR>
    %d1 = tensor.dim %a, %c1 : tensor<?x?xf32, #CSR>
    %e = tensor.empty(%d0, %d1) : tensor<?x?xf32, #CSR>
    %scaled = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<?x?xf32, #CSR>) outs(%e : tensor<?x?xf32, #CSR>) {
    ^bb0(%v: f32, %w: f32):
      %n = arith.index_cast %i : index to i32
      %f = arith.sitofp %n : i32 to f32
      %t = arith.mulf %v, %f : f32
      linalg.yield %t : f32
    } -> tensor<?x?xf32, #CSR>
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%scaled, %x : tensor<?x?xf32, #CSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.yield %p : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// Lists of coordinates and stored rows become stored columns.

// CHECK-LABEL: func.func @stored_rows
// CHECK:       sparse_tensor.convert %{{.*}} to tensor<?x?xf32, #[[DCSC]]>
func.func @stored_rows(%a: tensor<?x?xf32, #DCSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %x : tensor<?x?xf32, #DCSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.yield %p : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @entries
// CHECK:       sparse_tensor.convert %{{.*}} to tensor<?x?xf32, #[[DCSC]]>
func.func @entries(%a: tensor<?x?xf32, #COO>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %x : tensor<?x?xf32, #COO>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.yield %p : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// Row numbers may be larger than column numbers.

// CHECK-LABEL: func.func @wider
// CHECK:       sparse_tensor.convert %{{.*}} to tensor<300x200xf32, #[[WIDER]]>
func.func @wider(%a: tensor<300x200xf32, #Narrow>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %x : tensor<300x200xf32, #Narrow>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.yield %p : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// Numbers below an extent that is not known are taken to have 32 bits.

// CHECK-LABEL: func.func @unknown_wider
// CHECK:       sparse_tensor.convert %{{.*}} to tensor<?x?xf32, #[[CSC]]>
func.func @unknown_wider(%a: tensor<?x?xf32, #Narrow>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %x : tensor<?x?xf32, #Narrow>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.yield %p : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// Blocks stay what they are.

// CHECK-LABEL: func.func @blocks
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       return
func.func @blocks(%a: tensor<?x?xf32, #BSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %x : tensor<?x?xf32, #BSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.yield %p : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// A product by rows runs in parallel as it is.

// DEVICE-LABEL: func.func @rows
// DEVICE-NOT:   sparse_tensor.convert
// DEVICE:       return
// CHECK-LABEL: func.func @rows
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       return
func.func @rows(%a: tensor<?x?xf32, #CSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %x : tensor<?x?xf32, #CSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.yield %p : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// The softmax of what a pattern stores has that pattern: the pattern is copied
// before the loop, if it is the mask's as well. With another mask it has one of its
// own in each iteration, of which a copy would not pay.

// CHECK-LABEL: func.func @softmax
// CHECK-SAME:  %[[A:[^:]*]]: tensor<?x?xf32
// CHECK:       sparse_tensor.convert %{{.*}} : tensor<?x?xindex
// CHECK:       scf.for
// CHECK-NOT:     sparse_tensor.convert
// CHECK:         sparse_autograd.masked_softmax
// CHECK-NOT:     sparse_tensor.convert
// CHECK:       }
// CHECK-LABEL: func.func @other_mask
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       sparse_autograd.masked_softmax
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       return
func.func @softmax(%a: tensor<?x?xf32, #CSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %m = sparse_autograd.pattern %a : tensor<?x?xf32, #CSR>
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %s = sparse_autograd.masked_softmax %a, %m dims = [1] : tensor<?x?xf32, #CSR>, tensor<?x?xi1, #CSR>
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%s, %x : tensor<?x?xf32, #CSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %t = arith.addf %out, %q : f32
      linalg.yield %t : f32
    } -> tensor<?x64xf32>
    scf.yield %p : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}
func.func @other_mask(%a: tensor<?x?xf32, #CSR>, %m: tensor<?x?xi1, #CSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r:2 = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z, %b = %a) -> (tensor<?x64xf32>, tensor<?x?xf32, #CSR>) {
    %s = sparse_autograd.masked_softmax %b, %m dims = [1] : tensor<?x?xf32, #CSR>, tensor<?x?xi1, #CSR>
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%s, %x : tensor<?x?xf32, #CSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %t = arith.addf %out, %q : f32
      linalg.yield %t : f32
    } -> tensor<?x64xf32>
    scf.yield %p, %s : tensor<?x64xf32>, tensor<?x?xf32, #CSR>
  }
  return %r#0 : tensor<?x64xf32>
}

// Several tensors of one pattern share a copy of it, the values of each follow:
// those that the loop does not change before it. Tensors that are read at other
// places, or have other patterns, are read as they are. One that an op reads
// twice is copied as any other.

// CHECK-LABEL: func.func @several
// CHECK-SAME:  %[[A:[^:]*]]: tensor<?x?xf32, #{{[a-zA-Z0-9]*}}>,
// CHECK:       %[[T:.*]] = sparse_tensor.convert %{{.*}} : tensor<?x?xindex, #{{.*}}> to tensor<?x?xindex, #[[CSC]]>
// CHECK:       %[[PLACES:.*]] = sparse_autograd.stored_values %[[T]]
// CHECK:       %[[M:.*]] = sparse_autograd.pattern %[[A]]
// CHECK-NEXT:  sparse_autograd.stored_values %[[M]]
// CHECK:       %[[MASKS:.*]] = linalg.generic {{.*}} ins(%[[PLACES]] :
// CHECK:       %[[MT:.*]] = sparse_autograd.with_values %[[MASKS]], %[[T]]
// CHECK:       scf.for
// CHECK:         %[[B:.*]] = linalg.generic
// CHECK:           math.tanh
// CHECK:         %[[VALUES:.*]] = linalg.generic {{.*}} ins(%[[PLACES]] :
// CHECK:         %[[BT:.*]] = sparse_autograd.with_values %[[VALUES]], %[[T]]
// CHECK:         linalg.generic {{.*}} ins(%[[BT]], %[[MT]], %{{.*}} : tensor<?x?xf32, #[[CSC]]>, tensor<?x?xi1, #[[CSC]]>,
// CHECK-LABEL: func.func @squares
// CHECK-SAME:  %[[A:[^:]*]]: tensor<?x?xf32, #{{[a-zA-Z0-9]*}}>,
// CHECK-NEXT:  %[[T:.*]] = sparse_tensor.convert %[[A]] : {{.*}} to tensor<?x?xf32, #[[CSC]]>
// CHECK-NOT:   sparse_autograd
// CHECK:         linalg.generic {{.*}} ins(%[[T]], %[[T]], %{{.*}} : tensor<?x?xf32, #[[CSC]]>, tensor<?x?xf32, #[[CSC]]>,
// CHECK-LABEL: func.func @two_places
// CHECK-NOT:   sparse_tensor.convert
// CHECK-LABEL: func.func @two_patterns
// CHECK-NOT:   sparse_tensor.convert
func.func @several(%a: tensor<?x?xf32, #CSR>, %e: tensor<?x?xf32, #CSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %zero = arith.constant 0.0 : f32
  %m = sparse_autograd.pattern %a : tensor<?x?xf32, #CSR>
  %r:2 = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z, %c = %a) -> (tensor<?x64xf32>, tensor<?x?xf32, #CSR>) {
    %b = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
        ins(%c : tensor<?x?xf32, #CSR>) outs(%e : tensor<?x?xf32, #CSR>) {
    ^bb0(%in: f32, %out: f32):
      %t = math.tanh %in : f32
      linalg.yield %t : f32
    } -> tensor<?x?xf32, #CSR>
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%b, %m, %x : tensor<?x?xf32, #CSR>, tensor<?x?xi1, #CSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %is: i1, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %t = arith.select %is, %q, %zero : f32
      %s = arith.addf %out, %t : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.yield %p, %b : tensor<?x64xf32>, tensor<?x?xf32, #CSR>
  }
  return %r#0 : tensor<?x64xf32>
}
func.func @squares(%a: tensor<?x?xf32, #CSR>, %x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?xf32> {
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
          iterator_types = ["parallel", "reduction"]}
        ins(%a, %a, %x : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>, tensor<?xf32>) outs(%y : tensor<?xf32>) {
    ^bb0(%in: f32, %other: f32, %in_0: f32, %out: f32):
      %d = arith.mulf %in, %other : f32
      %q = arith.mulf %d, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    scf.yield %p : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
func.func @two_places(%a: tensor<?x?xf32, #CSR>, %x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?xf32> {
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
          iterator_types = ["parallel", "reduction"]}
        ins(%a, %a, %x : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>, tensor<?xf32>) outs(%y : tensor<?xf32>) {
    ^bb0(%in: f32, %other: f32, %in_0: f32, %out: f32):
      %d = arith.mulf %in, %other : f32
      %q = arith.mulf %d, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    scf.yield %p : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
func.func @two_patterns(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32, #CSR>, %x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?xf32> {
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
          iterator_types = ["parallel", "reduction"]}
        ins(%a, %b, %x : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>, tensor<?xf32>) outs(%y : tensor<?xf32>) {
    ^bb0(%in: f32, %other: f32, %in_0: f32, %out: f32):
      %d = arith.mulf %in, %other : f32
      %q = arith.mulf %d, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    scf.yield %p : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// Numbers of five billion rows are those of the machine.

// CHECK-LABEL: func.func @widest
// CHECK:       sparse_tensor.convert %{{.*}} to tensor<5000000000x200xf32, #[[WIDEST]]>
func.func @widest(%a: tensor<5000000000x200xf32, #CSR>, %x: tensor<5000000000xf32>, %z: tensor<200xf32>) -> tensor<200xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<200xf32> {
    %p = linalg.vecmat ins(%x, %a : tensor<5000000000xf32>, tensor<5000000000x200xf32, #CSR>) outs(%y : tensor<200xf32>) -> tensor<200xf32>
    scf.yield %p : tensor<200xf32>
  }
  return %r : tensor<200xf32>
}

// One of two branches does not see what the other one copies.

// CHECK-LABEL: func.func @branches
// CHECK-SAME:  %[[A:[^:]*]]: tensor<?x?xf32, #{{[a-zA-Z0-9]*}}>,
// CHECK:       scf.if
// CHECK-NEXT:    %[[T:.*]] = sparse_tensor.convert %[[A]]
// CHECK:         linalg.vecmat ins(%{{.*}}, %[[T]] :
// CHECK:       } else {
// CHECK-NEXT:    %[[OTHER:.*]] = sparse_tensor.convert %[[A]]
// CHECK:         linalg.vecmat ins(%{{.*}}, %[[OTHER]] :
func.func @branches(%a: tensor<?x?xf32, #CSR>, %x: tensor<?xf32>, %z: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %b = scf.if %c -> tensor<?xf32> {
    %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?xf32> {
      %p = linalg.vecmat ins(%x, %a : tensor<?xf32>, tensor<?x?xf32, #CSR>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %p : tensor<?xf32>
    }
    scf.yield %r : tensor<?xf32>
  } else {
    %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %x) -> tensor<?xf32> {
      %p = linalg.vecmat ins(%y, %a : tensor<?xf32>, tensor<?x?xf32, #CSR>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %p : tensor<?xf32>
    }
    scf.yield %r : tensor<?xf32>
  }
  return %b : tensor<?xf32>
}

// Values that two ops read are brought into the other order once, those of the
// tensor whose pattern is copied before the loop.

// CHECK-LABEL: func.func @read_by_two
// CHECK-SAME:  %[[A:[^:]*]]: tensor<?x?xf32, #{{[a-zA-Z0-9]*}}>,
// CHECK:       %[[T:.*]] = sparse_tensor.convert %{{.*}} : tensor<?x?xindex
// CHECK:       sparse_autograd.stored_values %[[A]]
// CHECK:       %[[AT:.*]] = sparse_autograd.with_values %{{.*}}, %[[T]]
// CHECK:       scf.for
// CHECK:         %[[B:.*]] = linalg.generic
// CHECK:         sparse_autograd.stored_values %[[B]]
// CHECK:         %[[BT:.*]] = sparse_autograd.with_values %{{.*}}, %[[T]]
// CHECK-NOT:     sparse_autograd.with_values
// CHECK:         linalg.generic {{.*}} ins(%[[AT]], %[[BT]],
// CHECK-NOT:     sparse_autograd.with_values
// CHECK:         linalg.generic {{.*}} ins(%[[AT]], %[[BT]],
// CHECK:       return
func.func @read_by_two(%a: tensor<?x?xf32, #CSR>, %x: tensor<?x64xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %e = sparse_autograd.zeros %a : tensor<?x?xf32, #CSR> -> tensor<?x?xf32, #CSR>
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<?x64xf32> {
    %b = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<?x?xf32, #CSR>) outs(%e : tensor<?x?xf32, #CSR>) {
    ^bb0(%v: f32, %w: f32):
      %t = math.tanh %v : f32
      linalg.yield %t : f32
    } -> tensor<?x?xf32, #CSR>
    %o = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b, %x : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %other: f32, %in_0: f32, %out: f32):
      %d = arith.mulf %in, %other : f32
      %q = arith.mulf %d, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b, %o : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>, tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) {
    ^bb0(%in: f32, %other: f32, %in_0: f32, %out: f32):
      %d = arith.subf %in, %other : f32
      %q = arith.mulf %d, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.yield %p : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

// The pattern is not that of a tensor whose type says more of the extents.

// CHECK-LABEL: func.func @cast
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       return
func.func @cast(%a: tensor<?x?xf32, #CSR>, %x: tensor<30x64xf32>, %z: tensor<40x64xf32>) -> tensor<40x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %z) -> tensor<40x64xf32> {
    %c = tensor.cast %a : tensor<?x?xf32, #CSR> to tensor<30x40xf32, #CSR>
    %p = linalg.generic {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%c, %x : tensor<30x40xf32, #CSR>, tensor<30x64xf32>) outs(%y : tensor<40x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %q = arith.mulf %in, %in_0 : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<40x64xf32>
    scf.yield %p : tensor<40x64xf32>
  }
  return %r : tensor<40x64xf32>
}

// What does not pay says nothing of the next one.

// CHECK-LABEL: func.func @second_pays
// CHECK-SAME:  %{{[^:]*}}: tensor<?x?xf32, #{{[a-zA-Z0-9]*}}>, %[[B:[^:]*]]: tensor<?x?xf32,
// CHECK-NEXT:  %[[T:.*]] = sparse_tensor.convert %[[B]]
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       linalg.vecmat
// CHECK:         linalg.vecmat ins(%{{.*}}, %[[T]] :
// CHECK:       return
func.func @second_pays(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32, #CSR>, %x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %o = linalg.vecmat ins(%x, %a : tensor<?xf32>, tensor<?x?xf32, #CSR>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.for %i = %c0 to %c200 step %c1 iter_args(%y = %o) -> tensor<?xf32> {
    %p = linalg.vecmat ins(%y, %b : tensor<?xf32>, tensor<?x?xf32, #CSR>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %p : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
