// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse=for-device=true --canonicalize --cse | FileCheck %s

// For a target with many threads: an iteration of a parallel loop is not a chunk
// of them, and dense loops that write to places of their own are outside.

#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
#DCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))}>
#vector = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>
#rows = #sparse_tensor.encoding<{map = (r, k) -> (r : compressed, k : dense)}>
#id = affine_map<(i, j) -> (i, j)>

// An element of the product is a sum in a register.

// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?xindex>
// CHECK:       scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1
// CHECK-NEXT:    scf.for %[[K:.*]] = %c0 to %c8 step %c1
// CHECK:           %[[START:.*]] = tensor.extract %{{.*}}[%[[I]], %[[K]]]
// CHECK:           scf.for {{.*}} iter_args(%{{.*}} = %[[START]]) -> (f64)
// CHECK:           } {sparse_autograd.schedule = #sparse_autograd.schedule<entries>}
// CHECK-NEXT:      tensor.insert %{{.*}}[%[[I]], %[[K]]]
// CHECK:         } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
func.func @product(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %z: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %y = linalg.matmul ins(%a, %x : tensor<?x?xf64, #CSR>, tensor<?x8xf64>) outs(%z : tensor<?x8xf64>) -> tensor<?x8xf64>
  return %y : tensor<?x8xf64>
}

// Entries in a list may be of one row: not they are apart, but the columns of
// the result.

// CHECK-LABEL: func.func @list(
// CHECK:       scf.for %[[K:.*]] = %c0 to %c8 step %c1
// CHECK:         scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK:           tensor.insert %{{.*}}[%{{.*}}, %[[K]]]
// CHECK-NOT:     schedule<parallel
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-NOT:   schedule<parallel
func.func @list(%a: tensor<?x?xf64, #COO>, %x: tensor<?x8xf64>, %z: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %y = linalg.matmul ins(%a, %x : tensor<?x?xf64, #COO>, tensor<?x8xf64>) outs(%z : tensor<?x8xf64>) -> tensor<?x8xf64>
  return %y : tensor<?x8xf64>
}

// A sum over all that is stored is one of the list of values.

// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    %{{[^:]*}}: tensor<?xindex>, %{{[^:]*}}: tensor<?xindex>, %[[VALUES:[^:]*]]: tensor<?xf64>, %{{[^:]*}}: index, %{{[^:]*}}: index, %[[Z:[^:]*]]: tensor<f64>)
// CHECK-NEXT:  linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[VALUES]] : tensor<?xf64>) outs(%[[Z]] : tensor<f64>)
func.func @sum(%a: tensor<?x?xf64, #CSR>, %z: tensor<f64>) -> tensor<f64> {
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%z : tensor<f64>) {
    ^bb0(%u: f64, %o: f64):
      %r = arith.addf %o, %u : f64
      linalg.yield %r : f64
  } -> tensor<f64>
  return %s : tensor<f64>
}

// Elements of rows that are apart are apart, too.

// CHECK-LABEL: func.func @elements(
// CHECK:       scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1
// CHECK:         scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK:           %[[J:.*]] = tensor.extract %{{.*}}[%[[P]]] : tensor<?xindex>
// CHECK:           tensor.insert %{{.*}}[%[[I]], %[[J]]]
// CHECK:         } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
func.func @elements(%a: tensor<?x?xf64, #CSR>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%z : tensor<?x?xf64>) {
    ^bb0(%u: f64, %o: f64):
      %r = arith.addf %o, %u : f64
      linalg.yield %r : f64
  } -> tensor<?x?xf64>
  return %s : tensor<?x?xf64>
}

// A stored row is the sum of the rows of the list that are it: each element by
// itself, in the order of the list, from where its entries begin. Where those of
// the last one end its last entry writes: how many rows there are is not asked for.

// CHECK-LABEL: func.func @rows(
// CHECK:       %[[ORDER:.*]] = sparse_autograd.sort_entries
// CHECK:       %[[STORED:.*]]:3 = sparse_autograd.store_positions
// CHECK:       %[[EMPTY:.*]] = tensor.empty({{.*}} : tensor<?xindex>
// CHECK:       %[[LAST:.*]] = arith.subi %[[COUNT:.*]], %c1
// CHECK:       %[[STARTS:.*]] = scf.for %[[N:.*]] = %c0 to %[[COUNT]] {{.*}} iter_args(%{{.*}} = %[[EMPTY]])
// CHECK:         %[[ENTRY:.*]] = tensor.extract %[[ORDER]][%[[N]]]
// CHECK:         %[[ROW:.*]] = tensor.extract %[[STORED]]#2[%[[ENTRY]]]
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[N]], %c0
// CHECK:         %[[LESS:.*]] = arith.subi %[[N]], %c1
// CHECK:         %[[BEFORE:.*]] = arith.maxsi %[[LESS]], %c0
// CHECK:         %[[ENTRY_BEFORE:.*]] = tensor.extract %[[ORDER]][%[[BEFORE]]]
// CHECK:         %[[ROW_BEFORE:.*]] = tensor.extract %[[STORED]]#2[%[[ENTRY_BEFORE]]]
// CHECK:         %[[OTHER:.*]] = arith.cmpi ne, %[[ROW]], %[[ROW_BEFORE]]
// CHECK:         %[[BEGINS:.*]] = arith.ori %[[FIRST]], %[[OTHER]]
// CHECK:         %[[BEGUN:.*]] = scf.if %[[BEGINS]]
// CHECK:           tensor.insert %[[N]] into %{{.*}}[%[[ROW]]]
// CHECK:         %[[ENDS:.*]] = arith.cmpi eq, %[[N]], %[[LAST]]
// CHECK:         %[[BEHIND:.*]] = arith.addi %[[ROW]], %c1
// CHECK:         scf.if %[[ENDS]]
// CHECK:           tensor.insert %[[COUNT]] into %[[BEGUN]][%[[BEHIND]]]
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       scf.for %[[R:.*]] = %c0 to
// CHECK:         scf.for %[[K:.*]] = %c0 to %c8
// CHECK:           %[[BEHIND:.*]] = arith.addi %[[R]], %c1
// CHECK:           %[[BEGIN:.*]] = tensor.extract %[[STARTS]][%[[R]]]
// CHECK:           %[[END:.*]] = tensor.extract %[[STARTS]][%[[BEHIND]]]
// CHECK:           scf.for %[[Q:.*]] = %[[BEGIN]] to %[[END]]
// CHECK:             %[[E:.*]] = tensor.extract %[[ORDER]][%[[Q]]]
// CHECK:             tensor.extract %{{.*}}[%[[E]], %[[K]]]
// CHECK:             arith.addf
// CHECK:         } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
func.func @rows(%g: tensor<?x8xf64>, %i: tensor<?xi32>, %n: index) -> tensor<?x8xf64, #rows> {
  %r = sparse_autograd.scatter_rows %g, %i, %n : tensor<?x8xf64>, tensor<?xi32> -> tensor<?x8xf64, #rows>
  return %r : tensor<?x8xf64, #rows>
}

// Entries of a new pattern: each row counts its own, in a list of the rows of both
// parts, and begins to list them, and to compute their values, behind those of the
// rows before it.

// CHECK-LABEL: func.func @union(
// CHECK-SAME:    tensor<?xindex>, %{{.*}}: tensor<?xindex>, %{{.*}}: tensor<?xf64>, %[[M:[^:]*]]: index, %{{.*}}: index, %{{.*}}: tensor<?xindex>, %{{.*}}: tensor<?xindex>, %{{.*}}: tensor<?xf64>, %[[N:[^:]*]]: index
// CHECK:       %[[BEHIND_A:.*]] = arith.maxsi %[[M]], %c0
// CHECK:       %[[BEHIND_B:.*]] = arith.addi %[[BEHIND_A]], %{{.*}}
// CHECK:       %[[EMPTY:.*]] = tensor.empty(%[[BEHIND_B]])
// CHECK:       %[[OF_A:.*]] = scf.for %[[I:[^ ]*]] = %c0 to %[[M]] {{.*}} iter_args(%[[LIST:.*]] = %[[EMPTY]])
// CHECK:         %[[COUNT:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %c0) -> (index)
// CHECK:         tensor.insert %[[COUNT]] into %[[LIST]][%[[I]]]
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       %[[COUNTS:.*]] = scf.for %[[I:[^ ]*]] = %c0 to %[[N]] {{.*}} iter_args(%[[LIST:.*]] = %[[OF_A]])
// CHECK:         %[[COUNT:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %c0) -> (index)
// CHECK:         %[[PLACE:.*]] = arith.addi %[[BEHIND_A]], %[[I]]
// CHECK:         tensor.insert %[[COUNT]] into %[[LIST]][%[[PLACE]]]
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       %[[LENGTH:.*]] = arith.addi %[[BEHIND_B]], %c1
// CHECK:       %[[SUMS:.*]] = tensor.empty(%[[LENGTH]])
// CHECK:       %[[BEFORE:.*]] = sparse_autograd.count_before ins(%[[COUNTS]] : {{.*}}) outs(%[[SUMS]]
// CHECK:       %[[TOTAL:.*]] = tensor.extract %[[BEFORE]][%[[BEHIND_B]]]
// CHECK:       tensor.empty(%[[TOTAL]]) : tensor<?x2xindex>
// CHECK:       scf.for %[[I:[^ ]*]] = %c0 to %[[M]]
// CHECK:         %[[FIRST:.*]] = tensor.extract %[[BEFORE]][%[[I]]]
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[NUMBER:[^ ]*]] = %[[FIRST]])
// CHECK:           tensor.insert %[[I]] into %{{.*}}[%[[NUMBER]], %c0]
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       scf.for %[[I:[^ ]*]] = %c0 to %[[N]]
// CHECK:         %[[PLACE:.*]] = arith.addi %[[BEHIND_A]], %[[I]]
// CHECK:         %[[FIRST:.*]] = tensor.extract %[[BEFORE]][%[[PLACE]]]
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[FIRST]])
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       sparse_autograd.store_positions
// CHECK:       scf.for %[[I:[^ ]*]] = %c0 to %[[M]]
// CHECK:         tensor.extract %[[BEFORE]][%[[I]]]
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       scf.for %[[I:[^ ]*]] = %c0 to %[[N]]
// CHECK:         tensor.extract %[[BEFORE]]
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
func.func @union(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64, #CSR>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) {
    ^bb0(%u: f64, %v: f64, %o: f64):
      %s = arith.addf %u, %v : f64
      linalg.yield %s : f64
  } -> tensor<?x?xf64, #CSR>
  return %y : tensor<?x?xf64, #CSR>
}

// Every second row: the iterations do not count one by one, and one thread numbers
// the entries.

// CHECK-LABEL: func.func @every_second(
// CHECK-NOT:   sparse_autograd.count_before
// CHECK-NOT:   schedule<parallel
// CHECK:       return
func.func @every_second(%a: tensor<8x?xf64, #CSR>, %n: index) -> tensor<4x?xf64, #CSR> {
  %y = tensor.extract_slice %a[1, 0] [4, %n] [2, 1] : tensor<8x?xf64, #CSR> to tensor<4x?xf64, #CSR>
  return %y : tensor<4x?xf64, #CSR>
}

// Of a list of coordinates two entries may be of one row, and add to the same
// element of a product: entries are listed in parallel, the values computed by
// one thread.

// CHECK-LABEL: func.func @rows_apart(
// CHECK:       sparse_autograd.count_before
// CHECK:       scf.for
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       sparse_autograd.store_positions
// CHECK-NOT:   schedule<parallel
// CHECK:       return
func.func @rows_apart(%a: tensor<?x?xf64, #COO>, %b: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #COO>
  %n = tensor.dim %b, %c1 : tensor<?x?xf64, #CSR>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64, #CSR>
  %y = linalg.matmul ins(%a, %b : tensor<?x?xf64, #COO>, tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR>
  return %y : tensor<?x?xf64, #CSR>
}

// Of rows, each adds to elements of its own, in order.

// CHECK-LABEL: func.func @rows_of_product(
// CHECK:       sparse_autograd.store_positions
// CHECK:       scf.for
// CHECK:         tensor.extract
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             arith.addf
// CHECK:             scf.yield {{.*}} : tensor<?xf64>, index
// CHECK:           scf.yield {{.*}} : tensor<?xf64>, index
// CHECK:         scf.yield {{.*}} : tensor<?xf64>{{$}}
// CHECK-NEXT:  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
func.func @rows_of_product(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %b, %c1 : tensor<?x?xf64, #CSR>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64, #CSR>
  %y = linalg.matmul ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR>
  return %y : tensor<?x?xf64, #CSR>
}

// What an op moves goes to places of its own.

// CHECK-LABEL: func.func @moved(
// CHECK:       scf.for {{.*}} -> (tensor<?xindex>)
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       sparse_autograd.count_before
// CHECK:       scf.for {{.*}} -> (tensor<?x1xindex>)
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       sparse_autograd.store_positions
// CHECK:       scf.for
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
func.func @moved(%a: tensor<?x?xf64, #CSR>, %n: index) -> tensor<?xf64, #vector> {
  %y = tensor.collapse_shape %a [[0, 1]] : tensor<?x?xf64, #CSR> into tensor<?xf64, #vector>
  return %y : tensor<?xf64, #vector>
}

// Loops over all entries of all rows say so: not those over entries of rows that
// another tensor names, nor of a row of which one element is taken.

// CHECK-LABEL: func.func @some(
// CHECK:       schedule<{{[^>]*}}entries
// CHECK-NOT:   schedule<{{[^>]*}}entries
// CHECK-LABEL: func.func @diagonal(
// CHECK-NOT:   schedule<{{[^>]*}}entries
// CHECK-LABEL: func.func @stored_rows(
// CHECK:       schedule<{{[^>]*}}entries
func.func @some(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) {
    ^bb0(%u: f64, %v: f64, %o: f64):
      %p = arith.mulf %u, %v : f64
      %r = arith.addf %o, %p : f64
      linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}
func.func @diagonal(%a: tensor<?x?xf64, #CSR>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) {
    ^bb0(%u: f64, %o: f64):
      %r = arith.addf %o, %u : f64
      linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}
func.func @stored_rows(%a: tensor<?x?xf64, #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x?xf64, #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>>) outs(%z : tensor<?xf64>) {
    ^bb0(%u: f64, %o: f64):
      %r = arith.addf %o, %u : f64
      linalg.yield %r : f64
  } -> tensor<?xf64>
  return %s : tensor<?xf64>
}

// A dense loop that is summed over stays inside.

// CHECK-LABEL: func.func @row_sums(
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:           scf.for %{{.*}} = %c0 to %c8
// CHECK:             scf.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    } {sparse_autograd.schedule = #sparse_autograd.schedule<entries>}
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
func.func @row_sums(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, r) -> (i, j)>, affine_map<(i, j, r) -> (j, r)>, affine_map<(i, j, r) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%a, %x : tensor<?x?xf64, #CSR>, tensor<?x8xf64>) outs(%z : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %p = arith.mulf %u, %v : f64
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// A loop within that over the entries of another operand is not over all of its
// own.

// CHECK-LABEL: func.func @two_sparse(
// CHECK-COUNT-3: scf.for
// CHECK:         } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-NEXT:    scf.yield
// CHECK-NEXT:  } {sparse_autograd.schedule = #sparse_autograd.schedule<entries>}
// CHECK-NEXT:  scf.yield
// CHECK-NEXT:  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
func.func @two_sparse(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = linalg.matmul ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// Nor is one over a dense level.

// CHECK-LABEL: func.func @dense_level(
// CHECK:       scf.for
// CHECK:         scf.for %{{.*}} = %c0 to %c8
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    tensor.insert
// CHECK-NEXT:    scf.yield
// CHECK-NEXT:  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-NOT:   schedule<{{[^>]*}}entries
// CHECK:       return
func.func @dense_level(%a: tensor<?x8xf64, #rows>, %x: tensor<8xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.matvec ins(%a, %x : tensor<?x8xf64, #rows>, tensor<8xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// Of two operands of one pattern the second stores nothing alone: the loops of the
// first are all, and run in parallel.

// CHECK-LABEL: func.func @of_one_pattern(
// CHECK:       %[[COUNTS:.*]] = scf.for
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       sparse_autograd.count_before ins(%[[COUNTS]]
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       %[[VALUES:.*]] = scf.for {{.*}} -> (tensor<?xf64>) {
// CHECK:         scf.for
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-NEXT:  return %{{[^,]*}}, %{{[^,]*}}, %[[VALUES]]
func.func @of_one_pattern(%a: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSC> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %m = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64, #CSC>
  %z = sparse_autograd.zeros %a : tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %z : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSC>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %s = arith.subf %u, %v : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #CSC>
  return %y : tensor<?x?xf64, #CSC>
}

// A row that is looked for may not be there: what is under a condition is not
// numbered by a list.

// CHECK-LABEL: func.func @one_row(
// CHECK-NOT:   schedule<parallel
// CHECK-NOT:   sparse_autograd.count_before
// CHECK:       return
func.func @one_row(%a: tensor<4x?xf64, #DCSR>, %e: tensor<?xf64, #vector>) -> tensor<?xf64, #vector> {
  %y = linalg.generic {indexing_maps = [affine_map<(j) -> (2, j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4x?xf64, #DCSR>) outs(%e : tensor<?xf64, #vector>) {
  ^bb0(%u: f64, %o: f64):
    %s = arith.negf %u : f64
    linalg.yield %s : f64
  } -> tensor<?xf64, #vector>
  return %y : tensor<?xf64, #vector>
}

// Sums of f16 are rounded once.

// CHECK-LABEL: func.func @narrow_rows(
// CHECK:       %[[SUM:.*]] = scf.for {{.*}} -> (f32) {
// CHECK:         %[[X:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK:         arith.addf %{{.*}}, %[[X]] : f32
// CHECK:       %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK:       tensor.insert %[[ROUNDED]]
// CHECK-NOT:   linalg.generic
// CHECK:       return
func.func @narrow_rows(%i: tensor<?xindex>, %r: tensor<?x8xf16>, %n: index) -> tensor<?x8xf16, #rows> {
  %0 = sparse_autograd.scatter_rows %r, %i, %n : tensor<?x8xf16>, tensor<?xindex> -> tensor<?x8xf16, #rows>
  return %0 : tensor<?x8xf16, #rows>
}

// Rows that are added to columns are not apart: the loop over dense columns is
// around them, and in it the entries of one row are.

// CHECK-LABEL: func.func @columns(
// CHECK:       scf.for %{{.*}} = %c0 to %c8
// CHECK-NEXT:    scf.for
// CHECK:           scf.for
// CHECK:           } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.yield
// CHECK-NEXT:  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
func.func @columns(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %z: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%a, %x : tensor<?x?xf64, #CSR>, tensor<?x8xf64>) outs(%z : tensor<?x8xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %p = arith.mulf %u, %v : f64
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  } -> tensor<?x8xf64>
  return %y : tensor<?x8xf64>
}
