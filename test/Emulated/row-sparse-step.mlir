// Steps on the rows that a gradient stores: they are sorted and stored where they
// are, and the host waits for nothing in between, however many steps there are. What
// leaves the device does so at the end: the table, 512 bytes, and whether an index
// was out of range, 4.

// RUN: sparse-runner %s --entry=train --arg steps=1 --target=gpu --device=emulated:9 --report=json 2>&1 | FileCheck %s
// RUN: sparse-runner %s --entry=train --arg steps=4 --target=gpu --device=emulated:9 --report=json > %t.device 2> %t.report
// RUN: sparse-runner %s --entry=train --arg steps=4 > %t.host
// RUN: diff %t.host %t.device
// RUN: FileCheck %s --input-file=%t.report

// CHECK: "bytes_copied_out":516,
// CHECK-SAME: "waits":2}

// Of a gradient that leaves, the host reads how many rows there are, then 12 of them:
// 8 bytes, two positions, 12 coordinates and 48 values.

// RUN: sparse-runner %s --entry=gradient --target=gpu --device=emulated:9 --report=json > %t.device 2> %t.report
// RUN: sparse-runner %s --entry=gradient > %t.host
// RUN: diff %t.host %t.device
// RUN: FileCheck %s --check-prefix=GRADIENT --input-file=%t.report

// GRADIENT: "bytes_copied_out":508,
// GRADIENT-SAME: "waits":5}

#rows = #sparse_tensor.encoding<{map = (r, k) -> (r : compressed, k : dense)}>
#element = affine_map<(r, k) -> (r, k)>
#vector = affine_map<(i) -> (i)>

func.func private @loss(%table: tensor<16x4xf64>, %ids: tensor<1000xindex>) -> f64 {
  %rows = sparse_autograd.gather %table, %ids : tensor<16x4xf64>, tensor<1000xindex> -> tensor<1000x4xf64>
  %squares = arith.mulf %rows, %rows : tensor<1000x4xf64>
  %sum = sparse_autograd.masked_reduce sum %squares dims = [0, 1] : tensor<1000x4xf64> -> tensor<f64>
  %value = tensor.extract %sum[] : tensor<f64>
  return %value : f64
}

func.func private @draw(%counter: i64) -> tensor<1000xindex> {
  %seed = arith.constant 5 : i64
  %draws = sparse_autograd.random uniform %seed, %counter : tensor<1000xf64>
  %empty = tensor.empty() : tensor<1000xindex>
  %ids = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%draws : tensor<1000xf64>) outs(%empty : tensor<1000xindex>) {
    ^bb0(%u: f64, %out: index):
      // The last four rows are not read.
      %c12 = arith.constant 12.0 : f64
      %scaled = arith.mulf %u, %c12 : f64
      %number = arith.fptosi %scaled : f64 to i64
      %id = arith.index_cast %number : i64 to index
      linalg.yield %id : index
  } -> tensor<1000xindex>
  return %ids : tensor<1000xindex>
}

func.func @gradient() -> tensor<16x4xf64, #rows> {
  %seed = arith.constant 5 : i64
  %table = sparse_autograd.random normal %seed, %seed : tensor<16x4xf64>
  %ids = call @draw(%seed) : (i64) -> tensor<1000xindex>
  %loss, %g = sparse_autograd.value_and_grad @loss(%table, %ids) {wrt = [0]}
      : (tensor<16x4xf64>, tensor<1000xindex>) -> (f64, tensor<16x4xf64, #rows>)
  return %g : tensor<16x4xf64, #rows>
}

func.func @train(%steps: index {sparse_autograd.name = "steps"}) -> tensor<16x4xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seed = arith.constant 5 : i64
  %rate = arith.constant -1.0e-3 : f64
  %start = sparse_autograd.random normal %seed, %seed : tensor<16x4xf64>
  %end = scf.for %step = %c0 to %steps step %c1 iter_args(%table = %start) -> tensor<16x4xf64> {
    %counter = arith.index_cast %step : index to i64
    %ids = func.call @draw(%counter) : (i64) -> tensor<1000xindex>
    %loss, %g = sparse_autograd.value_and_grad @loss(%table, %ids) {wrt = [0]}
        : (tensor<16x4xf64>, tensor<1000xindex>) -> (f64, tensor<16x4xf64, #rows>)
    %pattern = sparse_autograd.zeros %g : tensor<16x4xf64, #rows> -> tensor<16x4xf64, #rows>
    %change = linalg.generic {indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
        ins(%g : tensor<16x4xf64, #rows>) outs(%pattern : tensor<16x4xf64, #rows>) {
      ^bb0(%gi: f64, %out: f64):
        %p = arith.mulf %rate, %gi : f64
        linalg.yield %p : f64
    } -> tensor<16x4xf64, #rows>
    %next = sparse_autograd.accumulate %table, %change : tensor<16x4xf64>, tensor<16x4xf64, #rows> -> tensor<16x4xf64>
    scf.yield %next : tensor<16x4xf64>
  }
  return %end : tensor<16x4xf64>
}
