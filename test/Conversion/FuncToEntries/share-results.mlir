// RUN: sparse-opt %s --split-input-file --sparse-autograd-record-manifest --convert-elementwise-to-linalg --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --canonicalize --cse --sparse-autograd-share-results | FileCheck %s
// RUN: sparse-opt %s --split-input-file --sparse-autograd-record-manifest --sparse-autograd-share-results=unchecked-storage | FileCheck %s --check-prefix=UNCHECKED

// An argument, and a result that is returned twice; casts do not matter.

// CHECK: \22name\22:\22same\22,\22results\22:[{\22element_type\22:\22f32\22,\22name\22:\22result0\22,\22same_as\22:{\22argument\22:\22x\22},\22shape\22:[null]},{\22element_type\22:\22f32\22,\22name\22:\22result1\22,\22shape\22:[4]},{\22element_type\22:\22f32\22,\22name\22:\22result2\22,\22same_as\22:{\22result\22:\22result1\22},\22shape\22:[4]},{\22element_type\22:\22f32\22,\22name\22:\22result3\22}]
// CHECK-LABEL: func.func @same(
// CHECK-SAME:    %{{.*}}: tensor<4xf32>{{.*}}, %[[N:.*]]: f32) -> (tensor<4xf32>, f32)
// CHECK:         %[[Y:.*]] = linalg.generic
// CHECK:         return %[[Y]], %[[N]] : tensor<4xf32>, f32
// UNCHECKED: \22name\22:\22same\22,{{.*}}\22unchecked\22:true
func.func @same(%x: tensor<4xf32> {sparse_autograd.name = "x"}, %n: f32)
    -> (tensor<?xf32>, tensor<4xf32>, tensor<4xf32>, f32) {
  %y = math.exp %x : tensor<4xf32>
  %z = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  return %z, %y, %y, %n : tensor<?xf32>, tensor<4xf32>, tensor<4xf32>, f32
}

// -----

// The whole of a sparse argument, and its pattern with other values.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>

// CHECK: \22name\22:\22sparse\22
// CHECK-SAME: \22name\22:\22result0\22,\22same_as\22:{\22argument\22:\22a\22}
// CHECK-SAME: \22name\22:\22result1\22,\22pattern_of\22:{\22argument\22:\22a\22}
// CHECK-LABEL: func.func @sparse(
// CHECK-SAME:    -> (index, index, tensor<?xf64>, index, index)
func.func @sparse(%a: tensor<?x?xf64, #CSR> {sparse_autograd.name = "a"})
    -> (tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) {
  %b = math.absf %a : tensor<?x?xf64, #CSR>
  return %a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>
}

// -----

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>

// Another format has a pattern of its own.

// CHECK-NOT: pattern_of
// CHECK-LABEL: func.func @converted(
// CHECK-SAME:    -> (tensor<?xindex>, tensor<?xindex>, tensor<?xf64>, index, index)
func.func @converted(%a: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSC> {
  %b = sparse_tensor.convert %a : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #CSC>
  return %b : tensor<?x?xf64, #CSC>
}

// -----

// A function that another one calls keeps its results.

// CHECK-NOT: same_as
// CHECK-LABEL: func.func @called(
// CHECK-SAME:    -> tensor<4xf32>
func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
