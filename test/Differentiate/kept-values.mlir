// RUN: sparse-opt %s --split-input-file --sparse-autograd-differentiate | FileCheck %s
// RUN: sparse-opt %s --split-input-file --sparse-autograd-differentiate \
// RUN:   --remarks-filter=sparse-autograd-residuals --remark-policy=all 2>&1 | FileCheck %s --check-prefix=REMARK

// A recurrence needs what it starts an iteration from and what it computes in
// it. One tape has both: what an iteration yields is what the next one starts
// from. Nothing is computed again.

// CHECK-LABEL: func.func private @recurrence__vjp_0_1(
//       CHECK:   %[[EMPTY:.+]] = tensor.empty() : tensor<6x4xf64>
//       CHECK:   %[[LOOP:.+]]:2 = scf.for %[[I:.+]] = %{{.+}} iter_args(%[[H:.+]] = %{{.+}}, %[[TAPE:.+]] = %[[EMPTY]])
//       CHECK:     tensor.insert_slice %[[H]] into %[[TAPE]][%[[I]], 0] [1, 4] [1, 1]
//       CHECK:     math.tanh
//       CHECK:   %[[KEPT:.+]] = tensor.insert_slice %[[LOOP]]#0 into %[[LOOP]]#1[5, 0] [1, 4] [1, 1]
//       CHECK:   scf.for
//   CHECK-NOT:     math.tanh
//   CHECK-DAG:     tensor.extract_slice %[[KEPT]][%[[THIS:.+]], 0] [1, 4] [1, 1]
//   CHECK-DAG:     tensor.extract_slice %[[KEPT]][%[[NEXT:.+]], 0] [1, 4] [1, 1]
//   CHECK-NOT:     math.tanh
//       CHECK:   return

// REMARK-DAG: [Passed] kept | Category:sparse-autograd-residuals | Function=recurrence__vjp_0_1 | {{.*}}Bytes=32, Remark="an argument is kept: nothing computes it"
func.func private @recurrence(%w: tensor<4x4xf64>, %x: tensor<4xf64>) -> tensor<4xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : tensor<4xf64>
  %h = scf.for %t = %c0 to %c5 step %c1 iter_args(%before = %x) -> (tensor<4xf64>) {
    %p = linalg.matvec ins(%w, %before : tensor<4x4xf64>, tensor<4xf64>) outs(%zero : tensor<4xf64>) -> tensor<4xf64>
    %after = math.tanh %p : tensor<4xf64>
    scf.yield %after : tensor<4xf64>
  }
  return %h : tensor<4xf64>
}
func.func @recurrence_vjp(%w: tensor<4x4xf64>, %x: tensor<4xf64>, %ct: tensor<4xf64>) -> (tensor<4x4xf64>, tensor<4xf64>) {
  %r:3 = sparse_autograd.vjp @recurrence(%w, %x) cotangents(%ct) {wrt = [0, 1]}
      : (tensor<4x4xf64>, tensor<4xf64>), (tensor<4xf64>) -> (tensor<4xf64>, tensor<4x4xf64>, tensor<4xf64>)
  return %r#1, %r#2 : tensor<4x4xf64>, tensor<4xf64>
}

// -----

// What is carried on is not needed, what is computed from it is cheap to keep:
// eight bytes instead of a product of matrices. The extents of the loop are
// known when it runs.

// CHECK-LABEL: func.func private @energy__value_and_grad_1(
//       CHECK:   %[[TAPE:.+]] = tensor.empty(%{{.+}}) : tensor<?xf64>
//       CHECK:   scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %[[KEPT:.+]] = %[[TAPE]])
//       CHECK:     linalg.generic
//       CHECK:     %[[E:.+]] = tensor.extract
//       CHECK:     tensor.insert %[[E]] into %[[KEPT]]
//       CHECK:   scf.for
//   CHECK-NOT:     linalg.generic
//       CHECK:   return
// REMARK-DAG: Function=energy__value_and_grad_1 | {{.*}}Bytes=8, Remark="the result of 'tensor.extract' is kept: computing it again, and what that needs, costs more"
func.func private @energy(%x: tensor<64x64xf64>, %s: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf64>
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%y = %x, %total = %zero) -> (tensor<64x64xf64>, f64) {
    %z = linalg.matmul ins(%y, %x : tensor<64x64xf64>, tensor<64x64xf64>) outs(%zeros : tensor<64x64xf64>) -> tensor<64x64xf64>
    %e = tensor.extract %z[%c0, %c0] : tensor<64x64xf64>
    %p = arith.mulf %e, %s : f64
    %next = arith.addf %total, %p : f64
    scf.yield %z, %next : tensor<64x64xf64>, f64
  }
  return %r#1 : f64
}
func.func @energy_gradient(%x: tensor<64x64xf64>, %s: f64, %n: index) -> f64 {
  %v, %ds = sparse_autograd.value_and_grad @energy(%x, %s, %n) {wrt = [1]} : (tensor<64x64xf64>, f64, index) -> (f64, f64)
  return %ds : f64
}

// -----

// What is cheaper to compute than to keep is computed again.

// CHECK-LABEL: func.func private @cheap_total__value_and_grad_0(
//       CHECK:   scf.for
//       CHECK:     arith.addf
//       CHECK:   scf.for
//       CHECK:     tensor.extract_slice
//       CHECK:     arith.addf
// REMARK-DAG: [Passed] recomputed | Category:sparse-autograd-residuals | Function=cheap_total__value_and_grad_0
func.func private @cheap(%x: tensor<64xf64>) -> tensor<64xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant dense<1.0> : tensor<64xf64>
  %h = scf.for %t = %c0 to %c5 step %c1 iter_args(%before = %x) -> (tensor<64xf64>) {
    %a = arith.addf %before, %one : tensor<64xf64>
    %after = arith.mulf %before, %a : tensor<64xf64>
    scf.yield %after : tensor<64xf64>
  }
  return %h : tensor<64xf64>
}
func.func private @cheap_total(%x: tensor<64xf64>) -> f64 {
  %h = func.call @cheap(%x) : (tensor<64xf64>) -> tensor<64xf64>
  %s = sparse_autograd.masked_reduce sum %h dims = [0] : tensor<64xf64> -> tensor<f64>
  %e = tensor.extract %s[] : tensor<f64>
  return %e : f64
}
func.func @cheap_gradient(%x: tensor<64xf64>) -> tensor<64xf64> {
  %v, %dx = sparse_autograd.value_and_grad @cheap_total(%x) {wrt = [0]} : (tensor<64xf64>) -> (f64, tensor<64xf64>)
  return %dx : tensor<64xf64>
}

// -----

// A branch returns what its transpose reads; the other one anything.

// CHECK-LABEL: func.func private @branch__vjp_0(
//       CHECK:   %[[IF:.+]]:2 = scf.if %{{.+}} -> (tensor<64x64xf64>, tensor<64x64xf64>) {
//       CHECK:     %[[P:.+]] = linalg.generic
//       CHECK:     %[[S:.+]] = linalg.generic {{.*}} ins(%[[P]]
//       CHECK:       math.sin
//       CHECK:     scf.yield %[[S]], %[[P]]
//       CHECK:   } else {
//       CHECK:     %[[ANY:.+]] = tensor.empty()
//       CHECK:     scf.yield %{{.+}}, %[[ANY]]
//       CHECK:   scf.if
//       CHECK:     linalg.generic {{.*}} ins(%[[IF]]#1
//       CHECK:       math.cos
// REMARK-DAG: Function=branch__vjp_0 | {{.*}}Bytes=32768, Remark="the result of 'linalg.generic' is kept: computing it again, and what that needs, costs more"
func.func private @branch(%x: tensor<64x64xf64>, %w: tensor<64x64xf64>, %c: i1) -> tensor<64x64xf64> {
  %zeros = arith.constant dense<0.0> : tensor<64x64xf64>
  %r = scf.if %c -> (tensor<64x64xf64>) {
    %p = linalg.matmul ins(%x, %w : tensor<64x64xf64>, tensor<64x64xf64>) outs(%zeros : tensor<64x64xf64>) -> tensor<64x64xf64>
    %s = math.sin %p : tensor<64x64xf64>
    scf.yield %s : tensor<64x64xf64>
  } else {
    scf.yield %x : tensor<64x64xf64>
  }
  return %r : tensor<64x64xf64>
}
func.func @branch_vjp(%x: tensor<64x64xf64>, %w: tensor<64x64xf64>, %c: i1, %ct: tensor<64x64xf64>) -> tensor<64x64xf64> {
  %r:2 = sparse_autograd.vjp @branch(%x, %w, %c) cotangents(%ct) {wrt = [0]}
      : (tensor<64x64xf64>, tensor<64x64xf64>, i1), (tensor<64x64xf64>) -> (tensor<64x64xf64>, tensor<64x64xf64>)
  return %r#1 : tensor<64x64xf64>
}

// Of a sparse value that a branch keeps its values are kept: the pattern is that
// of an argument. The other branch returns a list of the same length.

// CHECK-LABEL: func.func private @sampled__vjp_1
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<?x?xf64, #sparse>
// CHECK: %[[R:.*]]:2 = scf.if %{{.*}} -> (tensor<?x?xf64, #sparse>, tensor<?xf64>)
// CHECK: %[[V:.*]] = sparse_autograd.stored_values %{{.*}} : tensor<?x?xf64, #sparse> -> tensor<?xf64>
// CHECK: scf.yield %{{.*}}, %[[V]] : tensor<?x?xf64, #sparse>, tensor<?xf64>
// CHECK: } else {
// CHECK: scf.yield %[[A]], %{{.*}} : tensor<?x?xf64, #sparse>, tensor<?xf64>
// CHECK: sparse_autograd.with_values %[[R]]#1, %[[A]]
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func private @sampled(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x?xf64>, %c: i1) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf64>
  %e = tensor.empty(%n, %n) : tensor<?x?xf64>
  %zero = arith.constant 0.0 : f64
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = scf.if %c -> (tensor<?x?xf64, #CSR>) {
    %p = linalg.matmul ins(%x, %x : tensor<?x?xf64>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
    %s = sparse_autograd.sample %p, %a : tensor<?x?xf64>, tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
    %t = math.tanh %s : tensor<?x?xf64, #CSR>
    scf.yield %t : tensor<?x?xf64, #CSR>
  } else {
    scf.yield %a : tensor<?x?xf64, #CSR>
  }
  return %r : tensor<?x?xf64, #CSR>
}
func.func @gradient_of_sampled(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x?xf64>, %c: i1) -> tensor<?x?xf64> {
  %r:2 = sparse_autograd.vjp @sampled(%a, %x, %c) cotangents(%a) {wrt = [1]} : (tensor<?x?xf64, #CSR>, tensor<?x?xf64>, i1), (tensor<?x?xf64, #CSR>) -> (tensor<?x?xf64, #CSR>, tensor<?x?xf64>)
  return %r#1 : tensor<?x?xf64>
}
