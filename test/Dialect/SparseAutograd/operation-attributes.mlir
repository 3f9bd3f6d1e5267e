// RUN: sparse-opt %s --split-input-file --verify-diagnostics

func.func @misspelt(%n: index, %c: index) {
  // expected-error @+1 {{'scf.for' op has an unknown attribute 'sparse_autograd.paralel'; operations have 'sparse_autograd.nnz', 'sparse_autograd.derivative_of', 'sparse_autograd.memory_bound', arguments and results of functions others}}
  scf.for %i = %c to %n step %c {
  } {sparse_autograd.paralel}
  return
}

// -----

func.func @name_of_op(%x: f64) -> f64 {
  // expected-error @+1 {{has an unknown attribute 'sparse_autograd.name'; }}
  %y = arith.negf %x {sparse_autograd.name = "x"} : f64
  return %y : f64
}

// -----

// A name that schedules had before there was one attribute for them.
func.func @earlier(%n: index, %c: index) {
  // expected-error @+1 {{'scf.for' op has an unknown attribute 'sparse_autograd.parallel'; }}
  scf.for %i = %c to %n step %c {
  } {sparse_autograd.parallel}
  return
}

// -----

func.func @schedule_value(%n: index, %c: index) {
  // expected-error @+1 {{has an attribute 'sparse_autograd.schedule' that must be a #sparse_autograd.schedule}}
  scf.for %i = %c to %n step %c {
  } {sparse_autograd.schedule = "banana"}
  return
}

// -----

func.func @cotangent(%n: index, %c: index) {
  // expected-error @+1 {{'sparse_autograd.cotangent' that must be a unit attribute of an op with one result}}
  scf.for %i = %c to %n step %c {
  } {sparse_autograd.cotangent}
  return
}

// -----

func.func @nnz_negative() -> tensor<2xf64> {
  // expected-error @+1 {{'sparse_autograd.nnz' that must be a number of elements}}
  %y = tensor.empty() {sparse_autograd.nnz = -3 : i64} : tensor<2xf64>
  return %y : tensor<2xf64>
}

// -----

// expected-error @+1 {{'sparse_autograd.manifest' that must be a string, on a module}}
func.func private @manifest() attributes {sparse_autograd.manifest = "{}"}

// -----

// expected-error @+1 {{'sparse_autograd.split' that must be a dictionary with the names 'primal', 'forward' and 'backward', the numbers 'wrt' and 'cotangents' and the integer 'residuals', on a function}}
func.func @split() attributes {sparse_autograd.split = {primal = "f"}} {
  return
}

// -----

// expected-error @+1 {{'sparse_autograd.gradients' that must be pairs of the number of a result and that of an argument, on a function}}
func.func @gradients(%x: f64) -> f64 attributes {sparse_autograd.gradients = array<i64: 0, 1>} {
  return %x : f64
}
