// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --canonicalize --cse | FileCheck %s

// Values of one pattern share its positions and coordinates, and what is done to
// them one by one is done to the list of values.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#CSR32 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
#BSR = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)}>
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @elementwise
// CHECK-SAME:  %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %[[A:.*]]: tensor<?xf64>, %[[ROWS:.*]]: index, %[[COLUMNS:.*]]: index, %[[FACTOR:.*]]: f64)
// CHECK-NOT:   scf
// CHECK:       %[[T:.*]] = linalg.generic {{{.*}}, iterator_types = ["parallel"]} ins(%[[A]] : tensor<?xf64>)
// CHECK:         math.tanh
// CHECK:       %[[Y:.*]] = linalg.generic {{{.*}}, iterator_types = ["parallel"]} ins(%[[T]], %[[A]], %[[FACTOR]] : tensor<?xf64>, tensor<?xf64>, f64)
// CHECK-NOT:   scf
// CHECK:       return %[[POS]], %[[CRD]], %[[Y]], %[[ROWS]], %[[COLUMNS]]
func.func @elementwise(%a: tensor<?x?xf64, #CSR>, %s: f64) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %m = tensor.dim %a, %c1 : tensor<?x?xf64, #CSR>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64, #CSR>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) {
  ^bb0(%in: f64, %out: f64):
    %0 = math.tanh %in : f64
    linalg.yield %0 : f64
  } -> tensor<?x?xf64, #CSR>
  // Of the same pattern, and of a scalar.
  %y = linalg.generic {indexing_maps = [#id, #id, affine_map<(i, j) -> ()>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t, %a, %s : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>, f64) outs(%e : tensor<?x?xf64, #CSR>) {
  ^bb0(%in: f64, %in_0: f64, %in_1: f64, %out: f64):
    %0 = arith.mulf %in_0, %in_1 : f64
    %1 = arith.addf %in, %0 : f64
    linalg.yield %1 : f64
  } -> tensor<?x?xf64, #CSR>
  return %y : tensor<?x?xf64, #CSR>
}

// CHECK-LABEL: func.func @masks
// CHECK-SAME:  %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %[[A:.*]]: tensor<?xf64>, %[[ROWS:.*]]: index, %[[COLUMNS:.*]]: index)
// CHECK-DAG:   %[[TRUE:.*]] = arith.constant true
// CHECK-DAG:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:   %[[NNZ:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG:   %[[BITS:.*]] = tensor.empty(%[[NNZ]]) : tensor<?xi1>
// CHECK-DAG:   %[[MASK:.*]] = linalg.fill ins(%[[TRUE]] : i1) outs(%[[BITS]]
// CHECK-DAG:   %[[FLOATS:.*]] = tensor.empty(%[[NNZ]]) : tensor<?xf32>
// CHECK-DAG:   %[[ZEROS:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[FLOATS]]
// CHECK:       return %[[POS]], %[[CRD]], %[[MASK]], %[[ROWS]], %[[COLUMNS]], %[[POS]], %[[CRD]], %[[ZEROS]], %[[ROWS]], %[[COLUMNS]]
func.func @masks(%a: tensor<?x?xf64, #CSR>) -> (tensor<?x?xi1, #CSR>, tensor<?x?xf32, #CSR>) {
  %0 = sparse_autograd.pattern %a : tensor<?x?xf64, #CSR>
  %1 = sparse_autograd.zeros %a : tensor<?x?xf64, #CSR> -> tensor<?x?xf32, #CSR>
  return %0, %1 : tensor<?x?xi1, #CSR>, tensor<?x?xf32, #CSR>
}

// Every value is written: there is nothing to start from.

// CHECK-LABEL: func.func @sampled
// CHECK-SAME:  %[[D:.*]]: tensor<?x?xf64>, %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %[[P:.*]]: tensor<?xi1>, %[[ROWS:.*]]: index, %[[COLUMNS:.*]]: index)
// CHECK-NOT:   linalg.fill
// CHECK:       %[[NNZ:.*]] = tensor.dim %[[P]], %c0
// CHECK-NEXT:  %[[LIST:.*]] = tensor.empty(%[[NNZ]]) : tensor<?xf64>
// CHECK-NEXT:  %[[VALUES:.*]] = scf.for %[[I:.*]] = %c0 to %[[ROWS]] step %c1 iter_args(%{{.*}} = %[[LIST]])
// CHECK:         scf.for %[[Q:.*]] = %{{.*}} to
// CHECK-NEXT:      %[[J:.*]] = tensor.extract %[[CRD]][%[[Q]]]
// CHECK-NEXT:      %[[VALUE:.*]] = tensor.extract %[[D]][%[[I]], %[[J]]]
// CHECK-NEXT:      tensor.insert %[[VALUE]] into %{{.*}}[%[[Q]]]
// CHECK:       return %[[POS]], %[[CRD]], %[[VALUES]], %[[ROWS]], %[[COLUMNS]]
func.func @sampled(%d: tensor<?x?xf64>, %p: tensor<?x?xi1, #CSR>) -> tensor<?x?xf64, #CSR> {
  %0 = sparse_autograd.sample %d, %p : tensor<?x?xf64>, tensor<?x?xi1, #CSR> -> tensor<?x?xf64, #CSR>
  return %0 : tensor<?x?xf64, #CSR>
}

// Extents that the pattern leaves open do not go on with the lists.

// CHECK-LABEL: func.func @sampled_of_known_extents
// CHECK-SAME:  %{{.*}}: tensor<3x4xf64>, %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %{{.*}}: tensor<?xi1>, %{{.*}}: index, %{{.*}}: index) -> (tensor<?xindex>, tensor<?xindex>, tensor<?xf64>)
// CHECK:       return %[[POS]], %[[CRD]], %{{[^,]*}} : tensor
func.func @sampled_of_known_extents(%d: tensor<3x4xf64>, %p: tensor<?x?xi1, #CSR>) -> tensor<3x4xf64, #CSR> {
  %0 = sparse_autograd.sample %d, %p : tensor<3x4xf64>, tensor<?x?xi1, #CSR> -> tensor<3x4xf64, #CSR>
  return %0 : tensor<3x4xf64, #CSR>
}

// What pads blocks stays zero: no list of values, and a list of zeros to start from.

// CHECK-LABEL: func.func @blocks
// CHECK-SAME:  %{{.*}}: tensor<?xindex>, %{{.*}}: tensor<?xindex>, %[[A:.*]]: tensor<?xf64>, %[[ROWS:.*]]: index, %[[COLUMNS:.*]]: index)
// CHECK-NOT:   linalg.generic
// CHECK:       %[[ZEROS:.*]] = linalg.fill
// CHECK-NOT:   linalg.generic
// CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[ZEROS]])
// CHECK:         arith.cmpi ult, %{{.*}}, %[[ROWS]]
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[COLUMNS]]
// CHECK-NEXT:    scf.if %[[INSIDE]]
// CHECK-NEXT:      tensor.extract %[[A]]
// CHECK-NEXT:      math.exp
func.func @blocks(%a: tensor<?x?xf64, #BSR>) -> tensor<?x?xf64, #BSR> {
  %e = sparse_autograd.zeros %a : tensor<?x?xf64, #BSR> -> tensor<?x?xf64, #BSR>
  %y = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf64, #BSR>) outs(%e : tensor<?x?xf64, #BSR>) {
  ^bb0(%in: f64, %out: f64):
    %0 = math.exp %in : f64
    linalg.yield %0 : f64
  } -> tensor<?x?xf64, #BSR>
  return %y : tensor<?x?xf64, #BSR>
}

// A loop carries values alone to where the pattern is that of what it starts
// from.

// CHECK-LABEL: func.func @carried
// CHECK-SAME:  %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %[[A:.*]]: tensor<?xf64>, %[[ROWS:.*]]: index, %[[COLUMNS:.*]]: index, %[[N:.*]]: index)
// CHECK:       %[[R:.*]] = scf.for %{{.*}} = %c0 to %[[N]] step %c1 iter_args(%[[X:.*]] = %[[A]]) -> (tensor<?xf64>)
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[A]] : tensor<?xf64>, tensor<?xf64>)
// CHECK:         scf.yield %[[Y]]
// CHECK:       return %[[POS]], %[[CRD]], %[[R]], %[[ROWS]], %[[COLUMNS]]
func.func @carried(%a: tensor<?x?xf64, #CSR>, %n: index) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = sparse_autograd.zeros %a : tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<?x?xf64, #CSR>) {
    %y = sparse_autograd.sampled_generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %a : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?x?xf64, #CSR>) {
    ^bb0(%in: f64, %in_0: f64, %out: f64):
      %0 = arith.mulf %in, %in_0 : f64
      linalg.yield %0 : f64
    } -> tensor<?x?xf64, #CSR>
    scf.yield %y : tensor<?x?xf64, #CSR>
  }
  return %r : tensor<?x?xf64, #CSR>
}

// Of another pattern in each iteration, neither what it carries nor what is computed
// of it has that of what it starts from.

// CHECK-LABEL: func.func @changed
// CHECK:       scf.for
// CHECK:         linalg.generic
// CHECK:           arith.negf
// CHECK:         scf.while
// CHECK:         arith.mulf
// CHECK:         scf.while
// CHECK:         arith.addf
// CHECK:       return
func.func @changed(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>, %e: tensor<?x?xf64, #CSR>, %n: index) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<?x?xf64, #CSR>) {
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) {
    ^bb0(%u: f64, %out: f64):
      %0 = arith.negf %u : f64
      linalg.yield %0 : f64
    } -> tensor<?x?xf64, #CSR>
    %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%s, %a : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) {
    ^bb0(%u: f64, %v: f64, %out: f64):
      %0 = arith.mulf %u, %v : f64
      linalg.yield %0 : f64
    } -> tensor<?x?xf64, #CSR>
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%p, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) {
    ^bb0(%u: f64, %v: f64, %out: f64):
      %0 = arith.addf %u, %v : f64
      linalg.yield %0 : f64
    } -> tensor<?x?xf64, #CSR>
    scf.yield %y : tensor<?x?xf64, #CSR>
  }
  return %r : tensor<?x?xf64, #CSR>
}

// What is computed again is kept apart component by component.

// CHECK-LABEL: func.func @barrier
// CHECK-SAME:  %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %[[A:.*]]: tensor<?xf64>, %[[ROWS:.*]]: index, %[[COLUMNS:.*]]: index, %[[X:.*]]: tensor<?xf64>)
// CHECK-NEXT:  %[[Y:.*]]:6 = sparse_autograd.barrier %[[POS]], %[[CRD]], %[[A]], %[[ROWS]], %[[COLUMNS]], %[[X]]
// CHECK-NEXT:  return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2, %[[Y]]#3, %[[Y]]#4, %[[Y]]#5
func.func @barrier(%a: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>) -> (tensor<?x?xf64, #CSR>, tensor<?xf64>) {
  %y, %z = sparse_autograd.barrier %a, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>
  return %y, %z : tensor<?x?xf64, #CSR>, tensor<?xf64>
}

// It has the pattern of what it was computed of.

// CHECK-LABEL: func.func @pattern_of_barrier
// CHECK-SAME:  %{{.*}}: tensor<?xindex>, %{{.*}}: tensor<?xindex>, %[[A:.*]]: tensor<?xf64>, %{{.*}}: index, %{{.*}}: index)
// CHECK:       %[[B:.*]]:5 = sparse_autograd.barrier
// CHECK-NOT:   scf
// CHECK:       linalg.generic {{{.*}}, iterator_types = ["parallel"]} ins(%[[B]]#2, %[[A]] : tensor<?xf64>, tensor<?xf64>)
// CHECK-NOT:   scf
// CHECK:       return
func.func @pattern_of_barrier(%a: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %b = sparse_autograd.barrier %a : tensor<?x?xf64, #CSR>
  %z = sparse_autograd.zeros %a : tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
  %y = sparse_autograd.sampled_generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b, %a : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?x?xf64, #CSR>) {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %0 = arith.mulf %in, %in_0 : f64
    linalg.yield %0 : f64
  } -> tensor<?x?xf64, #CSR>
  return %y : tensor<?x?xf64, #CSR>
}

// One of two tensors is chosen list by list.

// CHECK-LABEL: func.func @chosen
// CHECK-SAME:  %[[C:[a-z0-9]*]]: i1, %[[POS:[a-z0-9]*]]: tensor<?xindex>, %[[CRD:[a-z0-9]*]]: tensor<?xindex>, %[[A:[a-z0-9]*]]: tensor<?xf64>, %[[ROWS:[a-z0-9]*]]: index, %[[POS_B:[a-z0-9]*]]: tensor<?xindex>, %[[CRD_B:[a-z0-9]*]]: tensor<?xindex>, %[[B:[a-z0-9]*]]: tensor<?xf64>, %[[ROWS_B:[a-z0-9]*]]: index)
// CHECK-DAG:   %[[POS_Y:.*]] = arith.select %[[C]], %[[POS]], %[[POS_B]]
// CHECK-DAG:   %[[CRD_Y:.*]] = arith.select %[[C]], %[[CRD]], %[[CRD_B]]
// CHECK-DAG:   %[[Y:.*]] = arith.select %[[C]], %[[A]], %[[B]]
// CHECK-DAG:   %[[ROWS_Y:.*]] = arith.select %[[C]], %[[ROWS]], %[[ROWS_B]]
// CHECK:       return %[[POS_Y]], %[[CRD_Y]], %[[Y]], %[[ROWS_Y]]
func.func @chosen(%c: i1, %a: tensor<?x4xf64, #CSR>, %b: tensor<?x4xf64, #CSR>) -> tensor<?x4xf64, #CSR> {
  %y = arith.select %c, %a, %b : tensor<?x4xf64, #CSR>
  return %y : tensor<?x4xf64, #CSR>
}

// Names are those of tensors, of which there are several lists.

// CHECK-LABEL: func.func @named
// CHECK-SAME:  (%{{[a-z0-9]*}}: tensor<?xindex>, %{{[a-z0-9]*}}: tensor<?xindex>, %{{[a-z0-9]*}}: tensor<?xf64>, %{{[a-z0-9]*}}: f64)
// CHECK-SAME:  -> (tensor<?xindex>, tensor<?xindex>, tensor<?xf64>, f64) {
func.func @named(%a: tensor<3x4xf64, #CSR> {sparse_autograd.name = "a"}, %x: f64 {sparse_autograd.name = "x"})
    -> (tensor<3x4xf64, #CSR> {sparse_autograd.name = "b"}, f64 {sparse_autograd.name = "y"}) {
  return %a, %x : tensor<3x4xf64, #CSR>, f64
}

// The types of lists say as much as those of the ops.

// CHECK-LABEL: func.func @seven_values
// CHECK-SAME:  %{{.*}}: tensor<?xindex>, %{{.*}}: tensor<?xindex>, %[[A:.*]]: tensor<?xf64>,
// CHECK:       %[[LIST:.*]] = tensor.cast %[[A]] : tensor<?xf64> to tensor<7xf64>
// CHECK:       return %[[LIST]]
func.func @seven_values(%a: tensor<?x?xf64, #CSR>) -> tensor<7xf64> {
  %0 = sparse_autograd.stored_values %a : tensor<?x?xf64, #CSR> -> tensor<7xf64>
  return %0 : tensor<7xf64>
}

// A cast that stands for an op of somebody else gets the tensor from its parts.

// CHECK-LABEL: func.func @cast
// CHECK-SAME:  %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %{{.*}}: tensor<?xf64>, %[[ROWS:.*]]: index, %[[COLUMNS:.*]]: index)
// CHECK:       %[[ZEROS:.*]] = linalg.fill
// CHECK:       %[[X:.*]] = builtin.unrealized_conversion_cast %[[POS]], %[[CRD]], %[[ZEROS]], %[[ROWS]], %[[COLUMNS]] : {{.*}} to tensor<?x?xf32, #{{.*}}>
// CHECK:       builtin.unrealized_conversion_cast %[[X]]
func.func @cast(%a: tensor<?x?xf64, #CSR>) -> i64 {
  %0 = sparse_autograd.zeros %a : tensor<?x?xf64, #CSR> -> tensor<?x?xf32, #CSR>
  %1 = builtin.unrealized_conversion_cast %0 : tensor<?x?xf32, #CSR> to i64
  return %1 : i64
}

// What was there before is an operand like the others, if it has the pattern.

// CHECK-LABEL: func.func @from_what_was_there
// CHECK-SAME:  %{{[a-z0-9]*}}: tensor<?xindex>, %{{[a-z0-9]*}}: tensor<?xindex>, %[[A:[a-z0-9]*]]: tensor<?xf64>,
// CHECK-NOT:   scf
// CHECK:       %[[S:.*]] = linalg.generic {{.*}} ins(%[[A]], %{{[a-z0-9]*}}, %[[A]] : tensor<?xf64>, f64, tensor<?xf64>)
// CHECK-NEXT:  ^bb0(%[[U:.*]]: f64, %{{.*}}: f64, %[[O:.*]]: f64, %{{.*}}: f64):
// CHECK:         arith.subf %{{.*}}, %[[O]]
// CHECK:       %[[P:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[S]] : tensor<?xf64>, tensor<?xf64>)
// CHECK-NEXT:  ^bb0(%[[V:.*]]: f64, %[[R:.*]]: f64, %{{.*}}: f64):
// CHECK-NEXT:    arith.divf %[[V]], %[[R]]
// CHECK-NOT:   scf
// CHECK:       return
func.func @from_what_was_there(%a: tensor<?x?xf64, #CSR>, %f: f64) -> tensor<?x?xf64, #CSR> {
  %s = sparse_autograd.sampled_generic {indexing_maps = [#id, affine_map<(i, j) -> ()>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %f : tensor<?x?xf64, #CSR>, f64) outs(%a : tensor<?x?xf64, #CSR>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %p = arith.mulf %u, %v : f64
    %d = arith.subf %p, %o : f64
    linalg.yield %d : f64
  } -> tensor<?x?xf64, #CSR>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%s : tensor<?x?xf64, #CSR>) {
  ^bb0(%u: f64, %o: f64):
    %q = arith.divf %u, %o : f64
    linalg.yield %q : f64
  } -> tensor<?x?xf64, #CSR>
  return %y : tensor<?x?xf64, #CSR>
}

// A type that says more of the extents has the same pattern.

// CHECK-LABEL: func.func @cast_alike
// CHECK-SAME:  %{{[a-z0-9]*}}: tensor<?xindex>, %{{[a-z0-9]*}}: tensor<?xindex>, %[[A:[a-z0-9]*]]: tensor<?xf64>,
// CHECK-NOT:   scf
// CHECK:       linalg.generic {{.*}} ins(%[[A]], %[[A]] : tensor<?xf64>, tensor<?xf64>)
// CHECK-NOT:   scf
// CHECK:       return
func.func @cast_alike(%a: tensor<?x?xf64, #CSR>) -> tensor<3x4xf64, #CSR> {
  %c = tensor.cast %a : tensor<?x?xf64, #CSR> to tensor<3x4xf64, #CSR>
  %m = sparse_autograd.zeros %c : tensor<3x4xf64, #CSR> -> tensor<3x4xf64, #CSR>
  %y = sparse_autograd.sampled_generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %a : tensor<3x4xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%m : tensor<3x4xf64, #CSR>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %s = arith.mulf %u, %v : f64
    linalg.yield %s : f64
  } -> tensor<3x4xf64, #CSR>
  return %y : tensor<3x4xf64, #CSR>
}

// Coordinates are indices, whatever width they are stored with.

// CHECK-LABEL: func.func @coordinates
// CHECK-SAME:  %{{[a-z0-9]*}}: tensor<?xi32>, %[[NARROW:[a-z0-9]*]]: tensor<?xi32>,
// CHECK-SAME:  %{{[a-z0-9]*}}: tensor<?xindex>, %[[CRD:[a-z0-9]*]]: tensor<?xindex>,
// CHECK:       %[[SEVEN:.*]] = tensor.cast %[[NARROW]] : tensor<?xi32> to tensor<7xi32>
// CHECK:       %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[SEVEN]]
// CHECK:         arith.index_castui
// CHECK-NOT:   linalg.generic
// CHECK:       return %[[WIDE]], %[[CRD]]
func.func @coordinates(%a: tensor<?x?xf64, #CSR32>, %b: tensor<?x?xf64, #CSR>) -> (tensor<7xindex>, tensor<?xindex>) {
  %0 = sparse_autograd.stored_coordinates %a {level = 1 : index} : tensor<?x?xf64, #CSR32> -> tensor<7xindex>
  %1 = sparse_autograd.stored_coordinates %b {level = 1 : index} : tensor<?x?xf64, #CSR> -> tensor<?xindex>
  return %0, %1 : tensor<7xindex>, tensor<?xindex>
}

// CHECK-LABEL: func.func @with_seven
// CHECK-SAME:  %[[POS:[a-z0-9]*]]: tensor<?xindex>, %[[CRD:[a-z0-9]*]]: tensor<?xindex>, %[[A:[a-z0-9]*]]: tensor<?xf64>,
// CHECK-SAME:  %[[V:[a-z0-9]*]]: tensor<7xf64>)
// CHECK-DAG:   %[[N:.*]] = tensor.dim %[[A]], %c0
// CHECK:       %[[SAME:.*]] = arith.cmpi eq, %[[N]], %c7
// CHECK-NEXT:  cf.assert %[[SAME]], "{{.*}}patterns.mlir:{{[0-9]+}}:{{[0-9]+}}: sparse_autograd.with_values: there must be as many values as the pattern stores"
// CHECK-NEXT:  %[[LIST:.*]] = tensor.cast %[[V]] : tensor<7xf64> to tensor<?xf64>
// CHECK-NEXT:  return %[[POS]], %[[CRD]], %[[LIST]]
func.func @with_seven(%a: tensor<?x?xf64, #CSR>, %v: tensor<7xf64>) -> tensor<?x?xf64, #CSR> {
  %0 = sparse_autograd.with_values %v, %a : tensor<7xf64>, tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
  return %0 : tensor<?x?xf64, #CSR>
}

// CHECK-LABEL: func.func @named_argument
// CHECK-NOT:   sparse_autograd.name
// CHECK-LABEL: func.func @named_result
// CHECK-NOT:   sparse_autograd.name
func.func @named_argument(%a: tensor<3x4xf64, #CSR> {sparse_autograd.name = "a"}, %x: f64 {sparse_autograd.name = "x"})
    -> (f64 {sparse_autograd.name = "y"}) {
  return %x : f64
}
func.func @named_result(%x: tensor<3x4xf64> {sparse_autograd.name = "x"})
    -> (tensor<3x4xf64, #CSR> {sparse_autograd.name = "b"}, tensor<3x4xf64> {sparse_autograd.name = "y"}) {
  %a = sparse_tensor.convert %x : tensor<3x4xf64> to tensor<3x4xf64, #CSR>
  return %a, %x : tensor<3x4xf64, #CSR>, tensor<3x4xf64>
}
