// RUN: sparse-opt %s --split-input-file --verify-diagnostics --sparse-autograd
// RUN: sparse-opt %s --split-input-file --verify-diagnostics --sparse-autograd-check-input

// What passes tell one another is not believed of a program: a sum whose
// iterations would run at once is another number each time.

func.func @parallel(%x: tensor<?xf64>) -> tensor<1xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<1xf64>
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  // expected-error @+1 {{'scf.for' op has the attribute 'sparse_autograd.schedule', which the compiler states of what it has proved itself; remove it, and write independent iterations as an op that has them, such as 'linalg.generic' or 'scf.forall'}}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (tensor<1xf64>) {
    %e = tensor.extract %x[%i] : tensor<?xf64>
    %o = tensor.extract %a[%c0] : tensor<1xf64>
    %b = arith.addf %o, %e : f64
    %r = tensor.insert %b into %a[%c0] : tensor<1xf64>
    scf.yield %r : tensor<1xf64>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return %s : tensor<1xf64>
}

// -----

func.func @lanes(%n: index, %c: index) {
  // expected-error @+1 {{has the attribute 'sparse_autograd.schedule', which the compiler states}}
  scf.for %i = %c to %n step %c {
  } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes>}
  return
}

// -----

func.func @cotangent(%x: f64) -> f64 {
  // expected-error @+1 {{has the attribute 'sparse_autograd.cotangent', with which passes of the compiler mark ops; remove it: the compiler marks what it has proved itself, and operations have 'sparse_autograd.nnz', 'sparse_autograd.derivative_of', 'sparse_autograd.memory_bound', arguments and results of functions others}}
  %e = arith.mulf %x, %x {sparse_autograd.cotangent} : f64
  return %e : f64
}

// -----

// expected-error @+1 {{has the attribute 'sparse_autograd.manifest'}}
module attributes {sparse_autograd.manifest = "{}"} {
}

// -----

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @mixed(%x: tensor<4x8xf64>, %y: tensor<4x8xf64, #CSR>) -> tensor<8x8xf64, #CSR> {
  // expected-error @+1 {{'tensor.concat' op joins sparse and dense tensors; convert its operands to the format of its result with sparse_tensor.convert}}
  %0 = tensor.concat dim(0) %x, %y : (tensor<4x8xf64>, tensor<4x8xf64, #CSR>) -> tensor<8x8xf64, #CSR>
  return %0 : tensor<8x8xf64, #CSR>
}

// -----

func.func @nnz() -> f64 {
  // expected-error @+1 {{'arith.constant' op has the attribute 'sparse_autograd.nnz', a hint on an op that makes a tensor; remove it, or give it to such an op}}
  %y = arith.constant {sparse_autograd.nnz = 3 : i64} 0.0 : f64
  return %y : f64
}

// -----

// A name that no pass has any more, in an op that is nested in another one.

func.func @nested(%n: index, %c: index) {
  scf.for %i = %c to %n step %c {
    // expected-error @+1 {{'arith.addi' op has an unknown attribute 'sparse_autograd.numbered'; operations have 'sparse_autograd.nnz', 'sparse_autograd.derivative_of', 'sparse_autograd.memory_bound', arguments and results of functions others}}
    %k = arith.addi %i, %c {sparse_autograd.numbered = [0]} : index
  }
  return
}
