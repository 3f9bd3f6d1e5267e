// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --canonicalize --cse | FileCheck %s

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))}>
#id = affine_map<(i, j) -> (i, j)>

// Where the first stores an element, with what the other has there, if
// anything; then where only the other does.

// CHECK-LABEL: func.func @add
// CHECK-SAME:  %[[POS:[a-z0-9]*]]: tensor<?xindex>, %[[CRD:[a-z0-9]*]]: tensor<?xindex>, %[[A:[a-z0-9]*]]: tensor<?xf64>, %[[ROWS:[a-z0-9]*]]: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: tensor<?xindex>, %[[I:[a-z0-9]*]]: tensor<?xindex>, %[[J:[a-z0-9]*]]: tensor<?xindex>, %[[B:[a-z0-9]*]]: tensor<?xf64>
// CHECK:       %[[ZEROS:.*]] = linalg.generic {{.*}} outs(
// CHECK:         linalg.yield %cst
// CHECK:       %[[FIRST:.*]] = scf.for %{{.*}} = %c0 to %[[ROWS]] step %c1 iter_args(%{{.*}} = %[[ZEROS]])
// CHECK:         scf.for %[[Q:.*]] = %{{.*}} to
// CHECK:           %[[AQ:.*]] = tensor.extract %[[A]][%[[Q]]]
// CHECK:           scf.while
// CHECK:           %[[FOUND:.*]] = scf.if {{.*}} -> (i1)
// CHECK:           scf.if %[[FOUND]]
// CHECK-NEXT:        %[[BQ:.*]] = tensor.extract %[[B]]
// CHECK-NEXT:        %[[SUM:.*]] = arith.addf %[[AQ]], %[[BQ]]
// CHECK-NEXT:        tensor.insert %[[SUM]]
// CHECK:           else
// CHECK-NEXT:        tensor.insert %[[AQ]]
// CHECK:       scf.for %[[Q:.*]] = %{{.*}} to %{{.*}} step %c1 iter_args(%[[OUT:.*]] = %[[FIRST]])
// CHECK-NEXT:    %[[ROW:.*]] = tensor.extract %[[I]][%[[Q]]]
// CHECK-NEXT:    %[[COLUMN:.*]] = tensor.extract %[[J]][%[[Q]]]
// CHECK:         scf.while
// CHECK:         %[[FOUND:.*]] = scf.if {{.*}} -> (i1)
// CHECK:         scf.if %[[FOUND]]
// CHECK-NEXT:      scf.yield %[[OUT]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[BQ:.*]] = tensor.extract %[[B]][%[[Q]]]
// CHECK-NEXT:      tensor.insert %[[BQ]] into %[[OUT]][%[[ROW]], %[[COLUMN]]]
func.func @add(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #COO>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #COO>) outs(%z : tensor<?x?xf64>) {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %s = arith.addf %in, %in_0 : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// The pattern of a product is new: if it does not consist of rows, its entries are
// counted, listed, sorted and stored, and their values computed. The list of coordinates, which is not
// searched, is what loops run over.

// CHECK-LABEL: func.func @multiply
// CHECK-SAME:  %{{[a-z0-9]*}}: tensor<?xindex>, %{{[a-z0-9]*}}: tensor<?xindex>, %[[A:[a-z0-9]*]]: tensor<?xf64>, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: tensor<?xindex>, %[[I:[a-z0-9]*]]: tensor<?xindex>, %[[J:[a-z0-9]*]]: tensor<?xindex>, %[[B:[a-z0-9]*]]: tensor<?xf64>, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: tensor<?xindex>, %{{[a-z0-9]*}}: tensor<?xindex>, %{{[a-z0-9]*}}: tensor<?xindex>, %{{[a-z0-9]*}}: tensor<?xf64>, %[[ROWS:[a-z0-9]*]]: index, %[[COLUMNS:[a-z0-9]*]]: index)
// CHECK:       %[[COUNT:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %c0) -> (index)
// CHECK:       %[[EMPTY:.*]] = tensor.empty(%[[COUNT]]) : tensor<?x2xindex>
// CHECK:       %[[LIST:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[EMPTY]], %{{.*}} = %c0)
// CHECK:       %[[ORDER:.*]] = sparse_autograd.sort_entries ins(%[[LIST]]#0
// CHECK:       %[[COUNTS:.*]] = sparse_autograd.count_positions #{{.*}} ins(%[[LIST]]#0, %[[ORDER]], %[[ROWS]], %[[COLUMNS]]
// CHECK:       %[[NNZ:.*]] = tensor.extract %[[COUNTS]][%c1]
// CHECK:       %[[STORED:.*]]:4 = sparse_autograd.store_positions #{{.*}} ins(%[[LIST]]#0, %[[ORDER]], %[[ROWS]], %[[COLUMNS]]
// CHECK:       %[[NEW:.*]] = tensor.empty(%[[NNZ]]) : tensor<?xf64>
// CHECK:       %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[NEW]]
// CHECK:       %[[VALUES:.*]]:2 = scf.for %[[Q:.*]] = {{.*}} iter_args(%{{.*}} = %[[ZEROS]], %[[ENTRY:.*]] = %c0)
// CHECK:         %[[SLOT:.*]] = tensor.extract %[[STORED]]#3[%[[ENTRY]]]
// CHECK-NEXT:    %[[LEFT:.*]] = tensor.extract %[[A]]
// CHECK-NEXT:    %[[RIGHT:.*]] = tensor.extract %[[B]][%[[Q]]]
// CHECK-NEXT:    %[[PRODUCT:.*]] = arith.mulf %[[LEFT]], %[[RIGHT]]
// CHECK-NEXT:    tensor.insert %[[PRODUCT]] into %{{.*}}[%[[SLOT]]]
// CHECK:       return %{{.*}}, %[[STORED]]#1, %[[STORED]]#2, %[[VALUES]]#0, %[[ROWS]], %[[COLUMNS]]
func.func @multiply(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #COO>, %e: tensor<?x?xf64, #COO>) -> tensor<?x?xf64, #COO> {
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #COO>) outs(%e : tensor<?x?xf64, #COO>) {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %s = arith.mulf %in, %in_0 : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #COO>
  return %y : tensor<?x?xf64, #COO>
}
