// RUN: sparse-opt %s --sparse-autograd-differentiate --split-input-file --verify-diagnostics | FileCheck %s

// A derivative is not lost in the bits of a float: integers have none, so what
// makes a float of bits that depend on an input is refused.

func.func @next(%x: f64) -> f64 { // expected-note {{which depends on this argument}}
  %one = arith.constant 1 : i64
  // expected-note @+2 {{of the bits of this float}}
  // expected-note @+1 {{it depends on this 'arith.mulf'}}
  %y = arith.mulf %x, %x : f64
  %bits = arith.bitcast %y : f64 to i64
  %next = arith.addi %bits, %one : i64
  // expected-error @+1 {{'arith.bitcast' op makes a float of the bits of one that is being differentiated, which have no derivative; convert values with extf, truncf or sitofp, or read the bits of a sparse_autograd.stop_gradient of it}}
  %z = arith.bitcast %next : i64 to f64
  return %z : f64
}
func.func @gradient(%x: f64, %ct: f64) -> f64 {
  // expected-error @+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @next(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// -----

// Bits in a tensor.
// expected-note @+2 {{of the bits of this float}}
// expected-note @+1 {{which depends on this argument}}
func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  %bits = tensor.bitcast %x : tensor<4xf32> to tensor<4xi32>
  // expected-error @+1 {{'tensor.bitcast' op makes a float of the bits of one}}
  %y = tensor.bitcast %bits : tensor<4xi32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @tangent(%x: tensor<4xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.jvp @tensors(%x) tangents(%t) {wrt = [0]} : (tensor<4xf32>), (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}

// -----

// Bits that a loop carries to its next iteration.
func.func @carried(%x: f64, %n: index) -> f64 { // expected-note {{which depends on this argument}}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  // expected-note @+1 {{which depends on this argument}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%bits = %zero, %y = %x) -> (i64, f64) {
    // expected-error @+1 {{'arith.bitcast' op makes a float of the bits of one}}
    %w = arith.bitcast %bits : i64 to f64
    // expected-note @+2 {{of the bits of this float}}
    // expected-note @+1 {{it depends on this 'math.exp'}}
    %v = math.exp %y : f64
    %new = arith.bitcast %v : f64 to i64
    scf.yield %new, %w : i64, f64
  }
  return %r#1 : f64
}
func.func @gradient(%x: f64, %n: index, %ct: f64) -> f64 {
  // expected-error @+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @carried(%x, %n) cotangents(%ct) {wrt = [0]} : (f64, index), (f64) -> (f64, f64)
  return %r#1 : f64
}

// -----

// Bits of one structured op, a float of another.
#id = affine_map<(i) -> (i)>
func.func @structured(%x: tensor<?xf32>, %bits: tensor<?xi32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%bits : tensor<?xi32>) {
  ^bb0(%u: f32, %o: i32):
    %v = arith.mulf %u, %u : f32 // expected-note {{of the bits of this float}}
    %w = arith.bitcast %v : f32 to i32
    linalg.yield %w : i32
  } -> tensor<?xi32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%b, %x : tensor<?xi32>, tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%u: i32, %v: f32, %o: f32):
    // expected-error @+1 {{'arith.bitcast' op makes a float of the bits of one}}
    %w = arith.bitcast %u : i32 to f32
    %s = arith.addf %w, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @gradient(%x: tensor<?xf32>, %bits: tensor<?xi32>, %y: tensor<?xf32>, %ct: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @structured(%x, %bits, %y) cotangents(%ct) {wrt = [0]} : (tensor<?xf32>, tensor<?xi32>, tensor<?xf32>), (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %r#1 : tensor<?xf32>
}

// -----

// Bits that other functions read and make a float of.
func.func private @read(%x: f64) -> i64 {
  %bits = arith.bitcast %x : f64 to i64
  return %bits : i64
}
func.func private @make(%bits: i64) -> f64 {
  %x = arith.bitcast %bits : i64 to f64
  return %x : f64
}
// expected-note @+2 {{of the bits of this float}}
// expected-note @+1 {{which depends on this argument}}
func.func @called(%x: f64) -> f64 {
  %bits = call @read(%x) : (f64) -> i64
  // expected-error @+1 {{'func.call' op makes a float of the bits of one}}
  %y = call @make(%bits) : (i64) -> f64
  return %y : f64
}
func.func @gradient(%x: f64, %ct: f64) -> f64 {
  // expected-error @+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @called(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// -----

// What is no derivative's business: the bits of a constant, of a number that
// has been rounded, of what is kept from derivatives, and bits that only
// choose.

// CHECK-LABEL: func.func private @allowed__vjp
//       CHECK:   return
func.func @allowed(%x: f64, %seed: i64) -> f64 {
  %mantissa = arith.constant 4607182418800017408 : i64
  %one = arith.constant 1.0 : f64
  %zero = arith.constant 0 : i64
  %shift = arith.constant 52 : i64
  // A random number.
  %random = arith.ori %seed, %mantissa : i64
  %noise = arith.bitcast %random : i64 to f64
  // A power of two.
  %rounded = arith.fptosi %x : f64 to i64
  %exponent = arith.shli %rounded, %shift : i64
  %scaled = arith.addi %exponent, %mantissa : i64
  %power = arith.bitcast %scaled : i64 to f64
  // A constant of the derivative.
  %kept = sparse_autograd.stop_gradient %x : f64
  %double = arith.addf %kept, %kept : f64
  %bits = arith.bitcast %double : f64 to i64
  %next = arith.addi %bits, %mantissa : i64
  %held = arith.bitcast %next : i64 to f64
  // The sign.
  %raw = arith.bitcast %x : f64 to i64
  %negative = arith.cmpi slt, %raw, %zero : i64
  %chosen = arith.select %negative, %noise, %x : f64
  %a = arith.mulf %power, %held : f64
  %b = arith.mulf %a, %chosen : f64
  return %b : f64
}
func.func @gradient(%x: f64, %seed: i64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @allowed(%x, %seed) cotangents(%ct) {wrt = [0]} : (f64, i64), (f64) -> (f64, f64)
  return %r#1 : f64
}
