// RUN: sparse-opt %s --convert-elementwise-to-linalg --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --canonicalize --cse | FileCheck %s

// Ops that move elements: reshapes, slices, concatenations.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#DCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>
#Vector = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>

// Values of one pattern that move in the same way have one pattern after it: its
// rows are counted once, and what is done to them is done to the list of values.

// CHECK-LABEL: func.func @moved_alike
// CHECK-NOT:   sparse_autograd.sort_entries
// CHECK:       linalg.fill
// CHECK:       %[[PLACES:.*]]:2 = scf.for {{.*}} -> (tensor<?xindex>, index)
// CHECK-NOT:   linalg.fill
// CHECK:       %[[LISTS:.*]]:3 = scf.for {{.*}} = %[[PLACES]]#0) -> (tensor<?xf64>, tensor<?xindex>, tensor<?xindex>)
// CHECK:       scf.for {{.*}} = %[[PLACES]]#0) -> (tensor<?xf64>, tensor<?xindex>, tensor<?xindex>)
// CHECK-NOT:   scf.while
// CHECK:       %[[Y:.*]] = linalg.generic {{{.*}}, iterator_types = ["parallel"]}
// CHECK:         arith.mulf
// CHECK:       return %{{.*}}, %[[LISTS]]#1, %[[Y]]
func.func @moved_alike(%a: tensor<3x4xf64, #CSR>) -> tensor<12xf64, #Vector> {
  %t = math.tanh %a : tensor<3x4xf64, #CSR>
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<3x4xf64, #CSR> into tensor<12xf64, #Vector>
  %1 = tensor.collapse_shape %t [[0, 1]] : tensor<3x4xf64, #CSR> into tensor<12xf64, #Vector>
  %y = arith.mulf %0, %1 : tensor<12xf64, #Vector>
  return %y : tensor<12xf64, #Vector>
}

// So have slices of a pattern and of its values.

// CHECK-LABEL: func.func @selected_alike
// CHECK-COUNT-1: sparse_autograd.sort_entries
// CHECK-NOT:   sparse_autograd.sort_entries
// CHECK-NOT:   scf.while
// CHECK:       return
func.func @selected_alike(%a: tensor<?x?xf64, #CSR>, %piece: tensor<2x3xf64, #CSR>, %n: index, %m: index)
    -> tensor<?x?xf64, #CSR> {
  %e = tensor.empty(%n, %m) : tensor<?x?xf64, #CSR>
  %0 = tensor.insert_slice %piece into %e[1, 0] [2, 3] [1, 1] : tensor<2x3xf64, #CSR> into tensor<?x?xf64, #CSR>
  %p = sparse_autograd.pattern %piece : tensor<2x3xf64, #CSR>
  %f = tensor.empty(%n, %m) : tensor<?x?xi1, #CSR>
  %1 = tensor.insert_slice %p into %f[1, 0] [2, 3] [1, 1] : tensor<2x3xi1, #CSR> into tensor<?x?xi1, #CSR>
  %y = arith.select %1, %0, %0 : tensor<?x?xi1, #CSR>, tensor<?x?xf64, #CSR>
  return %y : tensor<?x?xf64, #CSR>
}

// Slices of other extents do not.

// CHECK-LABEL: func.func @moved_otherwise
// CHECK-COUNT-2: -> (tensor<?xindex>, index)
// CHECK-NOT:   -> (tensor<?xindex>, index)
// CHECK:       return
func.func @moved_otherwise(%a: tensor<4x4xf64, #CSR>, %i: index, %j: index) -> (tensor<2x4xf64, #CSR>, tensor<2x4xf64, #CSR>) {
  %0 = tensor.extract_slice %a[%i, 0] [2, 4] [1, 1] : tensor<4x4xf64, #CSR> to tensor<2x4xf64, #CSR>
  %1 = tensor.extract_slice %a[%j, 0] [2, 4] [1, 1] : tensor<4x4xf64, #CSR> to tensor<2x4xf64, #CSR>
  return %0, %1 : tensor<2x4xf64, #CSR>, tensor<2x4xf64, #CSR>
}

// Nor do slices of one another, though they look the same.

// CHECK-LABEL: func.func @moved_twice
// CHECK-COUNT-3: -> (tensor<?xindex>, index)
// CHECK-NOT:   -> (tensor<?xindex>, index)
// CHECK:       return
func.func @moved_twice(%a: tensor<?x?xf64, #CSR>, %i: index, %n: index) -> tensor<?x?xf64, #CSR> {
  %0 = tensor.extract_slice %a[%i, 0] [%n, %n] [1, 1] : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #CSR>
  %1 = tensor.extract_slice %0[%i, 0] [%n, %n] [1, 1] : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #CSR>
  %y = arith.addf %1, %0 : tensor<?x?xf64, #CSR>
  return %y : tensor<?x?xf64, #CSR>
}

// Rows that are not in the slice are not visited; of those that are, every
// column is compared.

// CHECK-LABEL: func.func @window
// CHECK-SAME:  %[[FIRST:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index)
// CHECK:       %[[LAST:.*]] = arith.addi %[[FIRST]], %[[COUNT]]
// CHECK-NEXT:  scf.for %[[ROW:.*]] = %[[FIRST]] to %[[LAST]] step
// CHECK:         scf.for
// CHECK:           arith.cmpi ult
// CHECK-NEXT:      scf.if
// CHECK-NOT:         arith.cmpi
// CHECK:           scf.yield
func.func @window(%a: tensor<?x7xf64, #CSR>, %first: index, %count: index) -> tensor<?x3xf64, #CSR> {
  %0 = tensor.extract_slice %a[%first, 2] [%count, 3] [1, 1] : tensor<?x7xf64, #CSR> to tensor<?x3xf64, #CSR>
  return %0 : tensor<?x3xf64, #CSR>
}

// CHECK-LABEL: func.func @every_third_row
// CHECK:       %[[THREE:.*]] = arith.constant 3
// CHECK:       scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[THREE]]
// CHECK-NEXT:    arith.addi
// CHECK-NOT:     arith.remui
// CHECK:         scf.for
func.func @every_third_row(%a: tensor<9x7xf64, #CSR>) -> tensor<3x7xf64, #CSR> {
  %0 = tensor.extract_slice %a[1, 0] [3, 7] [3, 1] : tensor<9x7xf64, #CSR> to tensor<3x7xf64, #CSR>
  return %0 : tensor<3x7xf64, #CSR>
}

// The first level is searched for them.

// CHECK-LABEL: func.func @rows
// CHECK-SAME:  %[[FIRST:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index)
// CHECK:       %[[BEGIN:.*]]:2 = scf.while
// CHECK:         arith.cmpi ult, %{{.*}}, %[[FIRST]]
// CHECK:       %[[END:.*]]:2 = scf.while (%{{.*}} = %[[BEGIN]]#0
// CHECK:       scf.for %[[ROW:.*]] = %[[BEGIN]]#0 to %[[END]]#0
// CHECK-NOT:     arith.cmpi
// CHECK:         scf.for
// CHECK-NOT:       arith.cmpi
// CHECK:           scf.yield
func.func @rows(%a: tensor<?x7xf64, #DCSR>, %first: index, %count: index) -> tensor<?x7xf64, #CSR> {
  %0 = tensor.extract_slice %a[%first, 0] [%count, 7] [1, 1] : tensor<?x7xf64, #DCSR> to tensor<?x7xf64, #CSR>
  return %0 : tensor<?x7xf64, #CSR>
}

// What a loop moves in each iteration is not what it starts from: asked twice, an
// op has one pattern.

// CHECK-LABEL: func.func @moved_in_loop
// CHECK:       scf.for {{.*}} -> (tensor<?xindex>, tensor<?xindex>, tensor<?xf64>
// CHECK:         sparse_autograd.store_positions
// CHECK-NOT:     sparse_autograd.store_positions
// CHECK:         linalg.generic
// CHECK:           math.sin
// CHECK:         scf.yield
// CHECK:       return
func.func @moved_in_loop(%a: tensor<8x4xf64, #CSR>, %b: tensor<2x4xf64, #CSR>, %n: index) -> tensor<8x4xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<8x4xf64, #CSR> {
    %y = tensor.insert_slice %b into %x[%i, 0] [2, 4] [1, 1] : tensor<2x4xf64, #CSR> into tensor<8x4xf64, #CSR>
    %s = math.sin %y : tensor<8x4xf64, #CSR>
    scf.yield %s : tensor<8x4xf64, #CSR>
  }
  return %r : tensor<8x4xf64, #CSR>
}

// Integers are padded with a zero of theirs.

// CHECK-LABEL: func.func @padded_integers
// CHECK-NOT:   sparse_autograd.store_positions
// CHECK:       linalg.fill
// CHECK:       -> (tensor<?xi32>, tensor<?xindex>, tensor<?xindex>)
// CHECK:       return
func.func @padded_integers(%a: tensor<4x4xi32, #CSR>) -> tensor<6x4xi32, #CSR> {
  %zero = arith.constant 0 : i32
  %p = tensor.pad %a low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : i32
  } : tensor<4x4xi32, #CSR> to tensor<6x4xi32, #CSR>
  return %p : tensor<6x4xi32, #CSR>
}

// Of dimensions that become one, the first is to be stored first: entries of a
// row would not be in order. They are listed and sorted.

// CHECK-LABEL: func.func @collapsed_columns
// CHECK:       sparse_autograd.sort_entries
// CHECK:       return
#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
func.func @collapsed_columns(%a: tensor<3x4xf64, #CSC>) -> tensor<12xf64, #Vector> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<3x4xf64, #CSC> into tensor<12xf64, #Vector>
  return %0 : tensor<12xf64, #Vector>
}
