// The f64 form: types and constants wherever they are, and what keeps its type.

// RUN: sparse-opt %s --split-input-file --verify-diagnostics --sparse-autograd-floats-to-f64 | FileCheck %s

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), explicitVal = 0.1 : f32}>
#plain = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// Constants keep their numbers: 0.1 of f32 is not 0.1 of f64.

// CHECK-LABEL: func.func @constants
// CHECK-SAME:    -> (f64, tensor<2xf64>, tensor<3xf64>, vector<2xf64>, tensor<2xi32>)
// CHECK-DAG:   arith.constant 0.10000000149011612 : f64
// CHECK-DAG:   arith.constant dense<[0.10000000149011612, 0x7FF0000000000000]> : tensor<2xf64>
// CHECK-DAG:   arith.constant dense<2.500000e-01> : tensor<3xf64>
// CHECK-DAG:   arith.constant dense<{{.*}}> : vector<2xf64>
// CHECK-DAG:   arith.constant dense<[1, 2]> : tensor<2xi32>
func.func @constants() -> (f32, tensor<2xf32>, tensor<3xbf16>, vector<2xf16>, tensor<2xi32>) {
  %a = arith.constant 0.1 : f32
  %b = arith.constant dense<[0.1, 0x7F800000]> : tensor<2xf32>
  %c = arith.constant dense<0.25> : tensor<3xbf16>
  %d = arith.constant dense<[1.0, 2.0]> : vector<2xf16>
  %e = arith.constant dense<[1, 2]> : tensor<2xi32>
  return %a, %b, %c, %d, %e : f32, tensor<2xf32>, tensor<3xbf16>, vector<2xf16>, tensor<2xi32>
}

// CHECK-LABEL: func.func @resource
// CHECK:       arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>
func.func @resource() -> tensor<2xf32> {
  %a = arith.constant dense_resource<numbers> : tensor<2xf32>
  return %a : tensor<2xf32>
}

// Masks, integers and extents stay.

// CHECK-LABEL: func.func @masks
// CHECK-SAME:    %[[X:.+]]: tensor<?x4xf64>, %[[M:.+]]: tensor<?x4xi1>, %[[N:.+]]: i32
// CHECK:       masked_reduce mean %[[X]], %[[M]] dims = [1] : tensor<?x4xf64>, tensor<?x4xi1> -> tensor<?xf64>
// CHECK:       arith.sitofp %[[N]] : i32 to f64
func.func @masks(%x: tensor<?x4xf32>, %m: tensor<?x4xi1>, %n: i32) -> (tensor<?xf32>, f32) {
  %mean = sparse_autograd.masked_reduce mean %x, %m dims = [1] : tensor<?x4xf32>, tensor<?x4xi1> -> tensor<?xf32>
  %f = arith.sitofp %n : i32 to f32
  return %mean, %f : tensor<?xf32>, f32
}

// A conversion between floats is nothing any more.

// CHECK-LABEL: func.func @conversions
// CHECK-SAME:    %[[X:.+]]: tensor<4xf64>
// CHECK-NEXT:  %[[Y:.+]] = math.sin %[[X]] : tensor<4xf64>
// CHECK-NEXT:  return %[[Y]]
func.func @conversions(%x: tensor<4xf32>) -> tensor<4xf64> {
  %half = arith.truncf %x : tensor<4xf32> to tensor<4xf16>
  %y = math.sin %half : tensor<4xf16>
  %z = arith.extf %y : tensor<4xf16> to tensor<4xf64>
  return %z : tensor<4xf64>
}

// In the region of a named op, too.

// CHECK-LABEL: func.func @mixed
// CHECK:       linalg.matmul ins(%{{.+}}, %{{.+}} : tensor<2x3xf64>, tensor<3x2xf64>) outs(%{{.+}} : tensor<2x2xf64>)
func.func @mixed(%a: tensor<2x3xbf16>, %b: tensor<3x2xbf16>, %c: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2x3xbf16>, tensor<3x2xbf16>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// The type of a sparse tensor, its encoding, and the functions of derivatives.

// CHECK-LABEL: func.func private @loss
// CHECK-SAME:    tensor<8x8xf64, #{{.+}}>
func.func private @loss(%a: tensor<8x8xf32, #plain>) -> f32 {
  %s = sparse_autograd.masked_reduce sum %a dims = [0, 1] : tensor<8x8xf32, #plain> -> tensor<f32>
  %r = tensor.extract %s[] : tensor<f32>
  return %r : f32
}
// CHECK-LABEL: func.func @gradient
// CHECK:       value_and_grad @loss({{.*}}) {wrt = [0]} : (tensor<8x8xf64, #[[E:.+]]>) -> (f64, tensor<8x8xf64, #[[E]]>)
func.func @gradient(%a: tensor<8x8xf32, #plain>) -> (f32, tensor<8x8xf32, #plain>) {
  %l, %g = sparse_autograd.value_and_grad @loss(%a) {wrt = [0]} : (tensor<8x8xf32, #plain>) -> (f32, tensor<8x8xf32, #plain>)
  return %l, %g : f32, tensor<8x8xf32, #plain>
}
// CHECK-LABEL: func.func @explicit_value
// CHECK-SAME:    -> tensor<8x8xf64, #[[X:.+]]>
func.func @explicit_value(%a: tensor<8x8xf32, #csr>) -> tensor<8x8xf32, #csr> {
  return %a : tensor<8x8xf32, #csr>
}

// Random numbers and bits are those of the types that the program has.

// CHECK-LABEL: func.func @bits
// CHECK-SAME:    %{{.+}}: i64, %[[X:.+]]: f64
// CHECK:       %[[R:.+]] = sparse_autograd.random uniform {{.*}} : tensor<4xf32>
// CHECK:       %[[WIDE:.+]] = arith.extf %[[R]] : tensor<4xf32> to tensor<4xf64>
// CHECK:       %[[NARROW:.+]] = arith.truncf %[[X]] : f64 to f32
// CHECK:       %[[BITS:.+]] = arith.bitcast %[[NARROW]] : f32 to i32
// CHECK:       %[[BACK:.+]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK:       %[[Y:.+]] = arith.extf %[[BACK]] : f32 to f64
// CHECK:       return %[[WIDE]], %[[Y]] : tensor<4xf64>, f64
func.func @bits(%seed: i64, %x: f32) -> (tensor<4xf32>, f32) {
  %r = sparse_autograd.random uniform %seed, %seed : tensor<4xf32>
  %i = arith.bitcast %x : f32 to i32
  %y = arith.bitcast %i : i32 to f32
  return %r, %y : tensor<4xf32>, f32
}

// A module without narrow floats is left alone.
// CHECK-LABEL: func.func @wide
// CHECK-NEXT:  math.exp %{{.+}} : f64
func.func @wide(%x: f64) -> f64 {
  %y = math.exp %x : f64
  return %y : f64
}

{-#
  dialect_resources: {
    builtin: {
      numbers: "0x040000000000803F00000040"
    }
  }
#-}

// -----

// expected-error @+1 {{'func.func' op has no f64 form: it is defined elsewhere}}
func.func private @elsewhere(f32) -> f32
func.func @f(%x: f32) -> f32 {
  %y = func.call @elsewhere(%x) : (f32) -> f32
  return %y : f32
}

// -----

func.func @f(%x: f32) -> i32 {
  // expected-error @+1 {{'llvm.bitcast' op has no f64 form: what it makes of a float is not known}}
  %y = llvm.bitcast %x : f32 to i32
  return %y : i32
}

// -----

// What an op wants f32 for, f64 cannot be.

func.func @dot(%a: vector<8xf32>) -> vector<8xf32> {
  // expected-error @+1 {{op operand #0 must be vector of 32-bit float values of length 8}}
  %d = x86vector.avx.intr.dot %a, %a : vector<8xf32>
  return %d : vector<8xf32>
}
