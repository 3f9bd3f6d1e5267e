// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --canonicalize --cse | FileCheck %s

// The loops visit what is stored, and sums stay in registers where they can; such
// a sum may be added up in another order.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)), posWidth = 32, crdWidth = 16}>
#DCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>
#rows = #sparse_tensor.encoding<{map = (r, k) -> (r : compressed, k : dense)}>
#Vector = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>
#BSR = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)}>

// CHECK-LABEL: func.func @spmv
// CHECK-SAME:  %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %[[VALUES:.*]]: tensor<?xf64>, %[[ROWS:.*]]: index, %{{.*}}: index, %[[X:.*]]: tensor<?xf64>, %[[Z:.*]]: tensor<?xf64>) -> tensor<?xf64>
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
// CHECK:       %[[Y:.*]] = scf.for %[[I:.*]] = %[[C0]] to %[[ROWS]] step %[[C1]] iter_args(%[[SUMS:.*]] = %[[Z]])
// CHECK-NEXT:    %[[NEXT_ROW:.*]] = arith.addi %[[I]], %[[C1]]
// CHECK-NEXT:    %[[BEGIN:.*]] = tensor.extract %[[POS]][%[[I]]]
// CHECK-NEXT:    %[[END:.*]] = tensor.extract %[[POS]][%[[NEXT_ROW]]]
// CHECK-NEXT:    %[[START:.*]] = tensor.extract %[[SUMS]][%[[I]]]
// CHECK-NEXT:    %[[ROW:.*]] = scf.for %[[Q:.*]] = %[[BEGIN]] to %[[END]] step %[[C1]] iter_args(%[[SUM:.*]] = %[[START]]) -> (f64) {
// CHECK-NEXT:      %[[J:.*]] = tensor.extract %[[CRD]][%[[Q]]]
// CHECK-NEXT:      %[[XJ:.*]] = tensor.extract %[[X]][%[[J]]]
// CHECK-NEXT:      %[[A:.*]] = tensor.extract %[[VALUES]][%[[Q]]]
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[A]], %[[XJ]]
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[SUM]], %[[P]] fastmath<reassoc,contract> : f64
// CHECK-NEXT:      scf.yield %[[S]]
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[DONE:.*]] = tensor.insert %[[ROW]] into %[[SUMS]][%[[I]]]
// CHECK-NEXT:    scf.yield %[[DONE]]
// CHECK:       return %[[Y]]
func.func @spmv(%a: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.matvec ins(%a, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// The dense dimension is innermost in a product of matrices, and a product with
// the transpose scatters to rows.

// CHECK-LABEL: func.func @transposed
// CHECK-SAME:  %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %[[VALUES:.*]]: tensor<?xf64>, %[[ROWS:.*]]: index, %{{.*}}: index, %[[B:.*]]: tensor<?x?xf64>, %[[Z:.*]]: tensor<?x?xf64>) -> tensor<?x?xf64>
// CHECK:       %[[COLUMNS:.*]] = tensor.dim %[[B]], %{{.*}}
// CHECK:       scf.for %[[K:.*]] = %{{.*}} to %[[ROWS]]
// CHECK:         scf.for %[[Q:.*]] = %{{.*}} to
// CHECK-NEXT:      %[[I:.*]] = tensor.extract %[[CRD]][%[[Q]]]
// CHECK-NEXT:      scf.for %[[J:.*]] = %{{.*}} to %[[COLUMNS]] {{.*}} iter_args(%[[OUT:.*]] = %{{.*}})
// CHECK-NEXT:        %[[BKJ:.*]] = tensor.extract %[[B]][%[[K]], %[[J]]]
// CHECK-NEXT:        %[[A:.*]] = tensor.extract %[[VALUES]][%[[Q]]]
// CHECK-NEXT:        %[[OLD:.*]] = tensor.extract %[[OUT]][%[[I]], %[[J]]]
// CHECK-NEXT:        %[[P:.*]] = arith.mulf %[[A]], %[[BKJ]]
// CHECK-NEXT:        %[[S:.*]] = arith.addf %[[OLD]], %[[P]] fastmath<reassoc,contract> : f64
// CHECK-NEXT:        tensor.insert %[[S]] into %[[OUT]][%[[I]], %[[J]]]
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @transposed(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = linalg.generic {
        indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %p = arith.mulf %in, %in_0 : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// One loop over a list of coordinates, which is as long as the last position says;
// narrow numbers have no sign.

// CHECK-LABEL: func.func @coordinates
// CHECK-SAME:  %{{.*}}: tensor<?xi32>, %[[ROWS:[a-z0-9]*]]: tensor<?xi16>, %[[COLUMNS:.*]]: tensor<?xi16>, %[[VALUES:.*]]: tensor<?xf64>, %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: tensor<?xf64>, %[[Z:.*]]: tensor<?xf64>)
// CHECK:       %[[END:.*]] = tensor.dim %[[ROWS]], %c0
// CHECK-NOT:   tensor.extract
// CHECK:       scf.for %[[Q:.*]] = %c0 to %[[END]]
// CHECK-NEXT:    %[[ROW:.*]] = tensor.extract %[[ROWS]][%[[Q]]]
// CHECK-NEXT:    %[[I:.*]] = arith.index_castui %[[ROW]] : i16 to index
// CHECK-NEXT:    %[[COLUMN:.*]] = tensor.extract %[[COLUMNS]][%[[Q]]]
// CHECK-NEXT:    %[[J:.*]] = arith.index_castui %[[COLUMN]] : i16 to index
// CHECK-NEXT:    tensor.extract %[[X]][%[[J]]]
// CHECK-NEXT:    tensor.extract %[[VALUES]][%[[Q]]]
// CHECK-NOT:   scf.for
// CHECK:         tensor.insert %{{.*}} into %{{.*}}[%[[I]]]
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @coordinates(%a: tensor<?x?xf64, #COO>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.matvec ins(%a, %x : tensor<?x?xf64, #COO>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// What pads a block is no element: neither read nor written for.

// CHECK-LABEL: func.func @blocks
// CHECK-SAME:  %{{.*}}: tensor<?xindex>, %{{.*}}: tensor<?xindex>, %[[VALUES:.*]]: tensor<?xf64>, %[[ROWS:.*]]: index, %[[COLUMNS:.*]]: index, %[[X:.*]]: tensor<?xf64>, %{{.*}}: tensor<?xf64>)
// CHECK:       %[[BLOCK_ROWS:.*]] = arith.ceildivui %[[ROWS]], %c2
// CHECK:       scf.for %{{.*}} = %c0 to %[[BLOCK_ROWS]]
// CHECK:         scf.for
// CHECK:           scf.for %{{.*}} = %c0 to %c2
// CHECK:             %[[IN_ROWS:.*]] = arith.cmpi ult, %{{.*}}, %[[ROWS]]
// CHECK-NEXT:        scf.if %[[IN_ROWS]]
// CHECK:               scf.for %{{.*}} = %c0 to %c3
// CHECK:                 %[[IN_COLUMNS:.*]] = arith.cmpi ult, %{{.*}}, %[[COLUMNS]]
// CHECK-NEXT:            scf.if %[[IN_COLUMNS]]
// CHECK-NEXT:              tensor.extract %[[X]]
// CHECK-NEXT:              tensor.extract %[[VALUES]]
func.func @blocks(%a: tensor<?x?xf64, #BSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.matvec ins(%a, %x : tensor<?x?xf64, #BSR>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// Of a sum of two loops one follows from the other and what is stored.

// CHECK-LABEL: func.func @window
// CHECK-SAME:  %{{.*}}: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %[[VALUES:.*]]: tensor<?xf64>, %[[X:.*]]: tensor<3xf64>, %{{.*}}: tensor<5xf64>)
// CHECK:       scf.for %[[I:.*]] = %c0 to %c5
// CHECK:         %[[END:.*]] = tensor.dim %[[CRD]], %c0
// CHECK:         scf.for %[[Q:.*]] = %c0 to %[[END]]
// CHECK-NEXT:      %[[SUM:.*]] = tensor.extract %[[CRD]][%[[Q]]]
// CHECK-NEXT:      %[[J:.*]] = arith.subi %[[SUM]], %[[I]]
// CHECK-NEXT:      %[[IN_WINDOW:.*]] = arith.cmpi ult, %[[J]], %c3
// CHECK-NEXT:      scf.if %[[IN_WINDOW]]
// CHECK-NEXT:        tensor.extract %[[X]][%[[J]]]
// CHECK-NEXT:        tensor.extract %[[VALUES]][%[[Q]]]
func.func @window(%a: tensor<7xf64, #Vector>, %x: tensor<3xf64>, %z: tensor<5xf64>) -> tensor<5xf64> {
  %y = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (j + i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<7xf64, #Vector>, tensor<3xf64>) outs(%z : tensor<5xf64>) {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %p = arith.mulf %in, %in_0 : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<5xf64>
  return %y : tensor<5xf64>
}

// Which of two operands is searched for what the other stores does not depend on
// the order in which the region reads them.

// CHECK-LABEL: func.func @searched
// CHECK-SAME:  %[[POS:[a-z0-9]+]]: tensor<?xindex>, %[[CRD:[a-z0-9]+]]: tensor<?xindex>, %{{[a-z0-9]+}}: tensor<?xf64>, %[[ROWS:[a-z0-9]+]]: index,
// CHECK:       scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK:         %[[BEGIN:.*]] = tensor.extract %[[POS]]
// CHECK:         %[[END:.*]] = tensor.extract %[[POS]]
// CHECK:         scf.for %[[Q:.*]] = %[[BEGIN]] to %[[END]]
// CHECK-NEXT:      tensor.extract %[[CRD]][%[[Q]]]
// CHECK:           scf.while
func.func @searched(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #DCSR>, %z: tensor<f64>) -> tensor<f64> {
  %y = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
        iterator_types = ["reduction", "reduction"]}
      ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #DCSR>) outs(%z : tensor<f64>) {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %p = arith.mulf %in_0, %in : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %y : tensor<f64>
}

// Of two that are as good the first is traversed.

// CHECK-LABEL: func.func @as_good
// CHECK-SAME:  %[[POS:[a-z0-9]+]]: tensor<?xindex>, %[[CRD:[a-z0-9]+]]: tensor<?xindex>, %{{[a-z0-9]+}}: tensor<?xf64>, %[[ROWS:[a-z0-9]+]]: index,
// CHECK:       scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK:         %[[BEGIN:.*]] = tensor.extract %[[POS]]
// CHECK:         %[[END:.*]] = tensor.extract %[[POS]]
// CHECK:         scf.for %[[Q:.*]] = %[[BEGIN]] to %[[END]]
// CHECK-NEXT:      tensor.extract %[[CRD]][%[[Q]]]
func.func @as_good(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>, %z: tensor<f64>) -> tensor<f64> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%z : tensor<f64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %m = arith.mulf %p, %q : f64
    %s = arith.addf %o, %m : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %y : tensor<f64>
}

// Of three, the one is traversed of which the two others are found with the
// least searches: neither the first of them nor the last.

// CHECK-LABEL: func.func @searched_twice
// CHECK-SAME:  %{{[a-z0-9]+}}: tensor<?xi32>, %[[ROWS:[a-z0-9]+]]: tensor<?xi16>, %[[COLUMNS:[a-z0-9]+]]: tensor<?xi16>
// CHECK:       %[[END:.*]] = tensor.dim %[[ROWS]], %c0
// CHECK:       scf.for %[[Q:.*]] = %c0 to %[[END]]
// CHECK-NEXT:    tensor.extract %[[ROWS]][%[[Q]]]
// CHECK:         tensor.extract %[[COLUMNS]][%[[Q]]]
// CHECK-COUNT-3: scf.while
// CHECK-NOT:     scf.while
// CHECK:       return
func.func @searched_twice(%a: tensor<?x?xf64, #DCSR>, %b: tensor<?x?xf64, #COO>, %c: tensor<?x?xf64, #CSR>, %z: tensor<f64>) -> tensor<f64> {
  %y = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
        iterator_types = ["reduction", "reduction"]}
      ins(%a, %b, %c : tensor<?x?xf64, #DCSR>, tensor<?x?xf64, #COO>, tensor<?x?xf64, #CSR>) outs(%z : tensor<f64>) {
  ^bb0(%in: f64, %in_0: f64, %in_1: f64, %out: f64):
    %p = arith.mulf %in_1, %in_0 : f64
    %q = arith.mulf %p, %in : f64
    %s = arith.addf %out, %q : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %y : tensor<f64>
}

// What is found in a block is where it was looked for.

// CHECK-LABEL: func.func @found_in_a_block
// CHECK-COUNT-1: arith.cmpi eq
// CHECK-NOT:     arith.cmpi eq
// CHECK:       return
func.func @found_in_a_block(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #BSR>, %z: tensor<f64>) -> tensor<f64> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #BSR>) outs(%z : tensor<f64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %m = arith.mulf %p, %q : f64
    %s = arith.addf %o, %m : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %y : tensor<f64>
}

// A sample is taken at the pattern of its destination, whatever it is of.

// CHECK-LABEL: func.func @sample_of_another
// CHECK-SAME:  %{{[a-z0-9]+}}: tensor<?xindex>, %{{[a-z0-9]+}}: tensor<?xindex>, %{{[a-z0-9]+}}: tensor<?xf64>, %{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index, %[[POS:[a-z0-9]+]]: tensor<?xindex>, %[[CRD:[a-z0-9]+]]: tensor<?xindex>,
// CHECK:       scf.for
// CHECK:         %[[BEGIN:.*]] = tensor.extract %[[POS]]
// CHECK:         %[[END:.*]] = tensor.extract %[[POS]]
// CHECK:         scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK:       return %[[POS]], %[[CRD]]
func.func @sample_of_another(%a: tensor<?x?xf64, #CSR>, %p: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %r = sparse_autograd.sampled_generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x?xf64, #CSR>) outs(%p : tensor<?x?xf64, #CSR>) {
  ^bb0(%q: f64, %o: f64):
    %m = arith.mulf %q, %q : f64
    linalg.yield %m : f64
  } -> tensor<?x?xf64, #CSR>
  return %r : tensor<?x?xf64, #CSR>
}

// What a dense operand is computed of is read where something is stored, and
// computed there.

// CHECK-LABEL: func.func @producer
// CHECK-NOT:   linalg.generic
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:           math.tanh
// CHECK:       return
func.func @producer(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64>, %e: tensor<?x?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%in: f64, %out: f64):
    %0 = math.tanh %in : f64
    linalg.yield %0 : f64
  } -> tensor<?x?xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %t : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%z : tensor<?xf64>) {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %p = arith.mulf %in, %in_0 : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// Where nothing is stored the factor is the exponential of zero: these need no
// visit.

// CHECK-LABEL: func.func @product_of_exponentials
// CHECK-SAME:  %{{.*}}: tensor<?xindex>, %{{.*}}: tensor<?xindex>, %[[VALUES:.*]]: tensor<?xf64>, %[[ROWS:.*]]: index, %{{.*}}: index, %{{.*}}: tensor<?xf64>)
// CHECK:       scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK:         scf.for %[[Q:.*]] = %{{.*}} to %{{.*}} step %c1 iter_args(%[[PRODUCT:.*]] = %{{.*}}) -> (f64) {
// CHECK-NEXT:      %[[A:.*]] = tensor.extract %[[VALUES]][%[[Q]]]
// CHECK-NEXT:      %[[FACTOR:.*]] = math.exp %[[A]]
// CHECK-NEXT:      %[[NEXT:.*]] = arith.mulf %[[PRODUCT]], %[[FACTOR]]
// CHECK-NEXT:      scf.yield %[[NEXT]]
func.func @product_of_exponentials(%a: tensor<?x?xf64, #CSR>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) {
  ^bb0(%in: f64, %out: f64):
    %e = math.exp %in : f64
    %p = arith.mulf %out, %e : f64
    linalg.yield %p : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// What is selected of is visited alone where the rest cannot be the maximum.

// CHECK-LABEL: func.func @masked_maximum
// CHECK-SAME:  %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %{{.*}}: tensor<?xi1>, %[[ROWS:.*]]: index, %{{.*}}: index, %[[X:.*]]: tensor<?x?xf64>, %{{.*}}: tensor<?xf64>)
// CHECK:       scf.for %[[I:.*]] = %c0 to %[[ROWS]]
// CHECK:         %[[BEGIN:.*]] = tensor.extract %[[POS]]
// CHECK:         %[[END:.*]] = tensor.extract %[[POS]]
// CHECK:         scf.for %[[Q:.*]] = %[[BEGIN]] to %[[END]]
// CHECK-NEXT:      %[[J:.*]] = tensor.extract %[[CRD]][%[[Q]]]
// CHECK-NEXT:      tensor.extract %[[X]][%[[I]], %[[J]]]
// CHECK-NOT:     scf.for
// CHECK:       return
func.func @masked_maximum(%m: tensor<?x?xi1, #CSR>, %x: tensor<?x?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %nothing = arith.constant 0xFFF0000000000000 : f64
  %y = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
      ins(%m, %x : tensor<?x?xi1, #CSR>, tensor<?x?xf64>) outs(%z : tensor<?xf64>) {
  ^bb0(%selects: i1, %in: f64, %out: f64):
    %t = arith.select %selects, %in, %nothing : f64
    %s = arith.maximumf %out, %t : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// A zero changes no parity.

// CHECK-LABEL: func.func @parity
// CHECK-SAME:  %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %[[VALUES:.*]]: tensor<?xi32>, %[[ROWS:.*]]: index, %{{.*}}: index, %{{.*}}: tensor<?xi32>)
// CHECK:       scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK:         scf.for %[[Q:.*]] = %{{.*}} to %{{.*}} step %c1 iter_args(%[[BITS:.*]] = %{{.*}}) -> (i32) {
// CHECK-NEXT:      %[[A:.*]] = tensor.extract %[[VALUES]][%[[Q]]]
// CHECK-NEXT:      %[[NEXT:.*]] = arith.xori %[[BITS]], %[[A]]
// CHECK-NEXT:      scf.yield %[[NEXT]]
// CHECK-NOT:   arith.xori
// CHECK:       return
func.func @parity(%a: tensor<?x?xi32, #CSR>, %z: tensor<?xi32>) -> tensor<?xi32> {
  %y = linalg.reduce { arith.xori } ins(%a : tensor<?x?xi32, #CSR>) outs(%z : tensor<?xi32>) dimensions = [1]
  return %y : tensor<?xi32>
}

// The product of dense matrices at a pattern: an inner product for each stored
// element, on the positions and coordinates of the pattern.

// CHECK-LABEL: func.func @sddmm
// CHECK-SAME:  %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %[[P:.*]]: tensor<?xf64>, %[[ROWS:.*]]: index, %[[N:.*]]: index, %[[X:.*]]: tensor<?x?xf64>, %[[Y:.*]]: tensor<?x?xf64>)
// CHECK-DAG:   %[[NNZ:.*]] = tensor.dim %[[P]], %c0
// CHECK-DAG:   %[[EMPTY:.*]] = tensor.empty(%[[NNZ]]) : tensor<?xf64>
// CHECK-DAG:   %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[EMPTY]]
// CHECK:       %[[VALUES:.*]] = scf.for %[[I:.*]] = %c0 to %[[ROWS]] step %c1 iter_args(%{{.*}} = %[[ZEROS]]) -> (tensor<?xf64>) {
// CHECK:         scf.for %[[Q:.*]] = %{{.*}} to %{{.*}} step %c1 iter_args(%[[LIST:.*]] = %{{.*}}) -> (tensor<?xf64>) {
// CHECK-NEXT:      %[[J:.*]] = tensor.extract %[[CRD]][%[[Q]]]
// CHECK-NEXT:      %[[START:.*]] = tensor.extract %[[LIST]][%[[Q]]]
// CHECK-NEXT:      %[[SUM:.*]] = scf.for %[[K:.*]] = %c0 to %{{.*}} step %c1 iter_args(%{{.*}} = %[[START]]) -> (f64) {
// CHECK-NEXT:        tensor.extract %[[X]][%[[I]], %[[K]]]
// CHECK-NEXT:        tensor.extract %[[Y]][%[[J]], %[[K]]]
// CHECK:           tensor.insert %[[SUM]] into %[[LIST]][%[[Q]]]
// CHECK:       return %[[POS]], %[[CRD]], %[[VALUES]], %[[ROWS]], %[[N]]
func.func @sddmm(%p: tensor<?x?xf64, #CSR>, %x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64, #CSR> {
  %z = sparse_autograd.zeros %p : tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
  %r = sparse_autograd.sampled_generic {
        indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x?xf64>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64, #CSR>) {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %t = arith.mulf %in, %in_0 : f64
    %s = arith.addf %out, %t : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #CSR>
  return %r : tensor<?x?xf64, #CSR>
}

// Sums of few rows at a pattern: of the rows, each looked up in the pattern, which is
// the later operand.

// CHECK-LABEL: func.func @few_rows
// CHECK-SAME:  %[[POS:[^:]*]]: tensor<?xindex>, %{{.*}}: tensor<?xindex>, %{{.*}}: tensor<?xf64>, %{{.*}}: index,
// CHECK:       scf.for %[[I:.*]] = %c0 to %c4
// CHECK:         %[[BEGIN:.*]] = tensor.extract %[[POS]][%[[I]]]
// CHECK:         scf.for %{{.*}} = %[[BEGIN]] to
// CHECK:           scf.while
// CHECK:       return
func.func @few_rows(%a: tensor<4x?xf64, #CSR>, %s: tensor<4xf64, #Vector>) -> tensor<4xf64, #Vector> {
  %r = sparse_autograd.sampled_generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x?xf64, #CSR>) outs(%s : tensor<4xf64, #Vector>) {
  ^bb0(%in: f64, %out: f64):
    %t = arith.addf %out, %in : f64
    linalg.yield %t : f64
  } -> tensor<4xf64, #Vector>
  return %r : tensor<4xf64, #Vector>
}

// The last loop of a sum is solved for on either side of it.

// CHECK-LABEL: func.func @window_from_left
// CHECK-SAME:  %{{.*}}: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>,
// CHECK:       scf.for %[[I:.*]] = %c0 to
// CHECK:         scf.for %[[P:.*]] = %c0 to
// CHECK:           %[[PLACE:.*]] = tensor.extract %[[CRD]][%[[P]]]
// CHECK-NEXT:      %[[K:.*]] = arith.subi %[[PLACE]], %[[I]]
// CHECK-NEXT:      arith.cmpi ult, %[[K]], %c3
// CHECK-NOT:       scf.for
// CHECK:       return
func.func @window_from_left(%a: tensor<?xf64, #Vector>, %w: tensor<3xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k + i)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : tensor<?xf64, #Vector>, tensor<3xf64>) outs(%z : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %p = arith.mulf %u, %v : f64
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// What is multiplied before it is added to is no sum in any order.

// CHECK-LABEL: func.func @horner
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:           %[[P:.*]] = arith.mulf
// CHECK-NEXT:      arith.addf %[[P]], %{{[^ ]*}} : f64
func.func @horner(%a: tensor<?x?xf64, #CSR>, %x: f64, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<?x?xf64, #CSR>, f64) outs(%z : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %zero = arith.constant 0.0 : f64
    %n = arith.cmpf une, %u, %zero : f64
    %p = arith.mulf %o, %v : f64
    %s = arith.addf %p, %u : f64
    %t = arith.select %n, %s, %o : f64
    linalg.yield %t : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// An op of two results is computed once, even if one of them is not read.

// CHECK-LABEL: func.func @two_results
// CHECK:       %[[E:.*]]:2 = linalg.generic
// CHECK:       scf.for
// CHECK:         tensor.extract %[[E]]#1
// CHECK-NOT:     math.
// CHECK:       return
func.func @two_results(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %e:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf64>) outs(%x, %x : tensor<?x?xf64>, tensor<?x?xf64>) {
  ^bb0(%u: f64, %o: f64, %r: f64):
    %v = math.sin %u : f64
    %w = math.cos %u : f64
    linalg.yield %v, %w : f64, f64
  } -> (tensor<?x?xf64>, tensor<?x?xf64>)
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %e#1 : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%z : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %p = arith.mulf %u, %v : f64
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// A sparse operand that the region does not read leaves a dense op, in the place
// of what it starts from.

// CHECK-LABEL: func.func @unread
// CHECK-SAME:  %[[Z:[a-z0-9]*]]: tensor<?x?xf64>)
// CHECK:       scf.for {{.*}} iter_args(%[[ROW:.*]] = %[[Z]])
// CHECK-NEXT:    scf.for {{.*}} iter_args(%[[NOW:.*]] = %[[ROW]])
// CHECK-NEXT:      %[[OLD:.*]] = tensor.extract %[[NOW]]
// CHECK-NEXT:      math.exp %[[OLD]]
// CHECK-NEXT:      tensor.insert %{{.*}} into %[[NOW]]
func.func @unread(%a: tensor<?x?xf64, #CSR>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%z : tensor<?x?xf64>) {
  ^bb0(%u: f64, %o: f64):
    %s = math.exp %o : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// Twice a loop is not solved for: the coordinate is looked for.

// CHECK-LABEL: func.func @dilated
// CHECK-SAME:  %{{.*}}: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>,
// CHECK:       scf.for %[[I:.*]] = %c0 to
// CHECK:         scf.for %[[K:.*]] = %c0 to %c3
// CHECK:           scf.while
// CHECK:           scf.if
// CHECK:       return
func.func @dilated(%a: tensor<?xf64, #Vector>, %w: tensor<3xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k * 2)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : tensor<?xf64, #Vector>, tensor<3xf64>) outs(%z : tensor<?xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %p = arith.mulf %u, %v : f64
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// Rows that are read may have extents that the table leaves open.

// CHECK-LABEL: func.func @rows_of_known_length
// CHECK:       %[[E:.*]] = tensor.empty() : tensor<3x8xf64>
// CHECK:       linalg.fill ins(%{{.*}} : f64) outs(%[[E]] : tensor<3x8xf64>)
// CHECK:       scf.for {{.*}} -> (tensor<3x8xf64>)
func.func @rows_of_known_length(%t: tensor<?x?xf64, #rows>, %i: tensor<3xindex>) -> tensor<3x8xf64> {
  %r = sparse_autograd.gather %t, %i : tensor<?x?xf64, #rows>, tensor<3xindex> -> tensor<3x8xf64>
  return %r : tensor<3x8xf64>
}

// Each of several sums is carried as a number from where its place is known.

// CHECK-LABEL: func.func @three_sums
// CHECK:       scf.for {{.*}} -> (tensor<?xf64>, f64, tensor<?xf64>)
// CHECK:         scf.for {{.*}} -> (tensor<?xf64>, f64, f64)
// CHECK:           tensor.insert
// CHECK-NOT:       tensor.insert
// CHECK:           scf.yield
func.func @three_sums(%a: tensor<?x?xf64, #CSR>, %c: tensor<?xf64>, %t: tensor<f64>, %r: tensor<?xf64>) -> (tensor<?xf64>, tensor<f64>, tensor<?xf64>) {
  %y:3 = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i)>],
        iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%c, %t, %r : tensor<?xf64>, tensor<f64>, tensor<?xf64>) {
  ^bb0(%u: f64, %column: f64, %all: f64, %row: f64):
    %0 = arith.addf %column, %u : f64
    %1 = arith.addf %all, %u : f64
    %2 = arith.addf %row, %u : f64
    linalg.yield %0, %1, %2 : f64, f64, f64
  } -> (tensor<?xf64>, tensor<f64>, tensor<?xf64>)
  return %y#0, %y#1, %y#2 : tensor<?xf64>, tensor<f64>, tensor<?xf64>
}

// What the region reads at an index is checked where the loop executes it: for
// the elements that are stored, and for no other.

// CHECK-LABEL: func.func @extract_in_region(
//  CHECK-SAME:   %[[X:[^:]+]]: tensor<?xf64>,
//   CHECK-NOT:   cf.assert
//       CHECK:   scf.for
//       CHECK:     %[[AT:.+]] = tensor.extract %{{.+}}[%{{.+}}] : tensor<4xindex>
//       CHECK:     cf.assert %{{.+}}, "{{.*}} tensor.extract: out-of-bounds access"
//       CHECK:     tensor.extract %[[X]][%[[AT]]] : tensor<?xf64>
//   CHECK-NOT:   cf.assert
//       CHECK:   return
func.func @extract_in_region(%x: tensor<?xf64>, %at: tensor<4xindex>,
    %a: tensor<4xf64, #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>>) -> tensor<f64> {
  %zero = arith.constant dense<0.0> : tensor<f64>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%a, %at : tensor<4xf64, #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>>, tensor<4xindex>)
      outs(%zero : tensor<f64>) {
  ^bb0(%e: f64, %i: index, %sum: f64):
    %v = tensor.extract %x[%i] : tensor<?xf64>
    %p = arith.mulf %e, %v : f64
    %s = arith.addf %sum, %p : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}
