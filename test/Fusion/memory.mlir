// RUN: rm -rf %t && split-file %s %t
// RUN: %python -c "import numpy as np; r = np.random.default_rng(0); \
// RUN:   np.save('%t/x.npy', r.standard_normal((512, 512), dtype=np.float32)); \
// RUN:   np.save('%t/g.npy', r.standard_normal((512, 512), dtype=np.float32)); \
// RUN:   np.save('%t/m.npy', r.random((512, 512)) < 0.3)"

// Forward and backward of a masked reduction read x and the mask and write the
// gradient, 1 MiB of it: nothing else of the size of x exists, at any time, and
// the number of allocations does not depend on the number of rows. A row has a
// value (a block of them a partial sum) at most.

// RUN: sparse-runner %t/mean_dynamic.mlir --arg x=%t/x.npy --arg m=%t/m.npy --result dx=%t/dx.npy --report=json 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: sparse-runner %t/max_dynamic.mlir --arg x=%t/x.npy --arg m=%t/m.npy --result dx=%t/dx.npy --report=json 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: sparse-runner %t/logsumexp_dynamic.mlir --arg x=%t/x.npy --arg m=%t/m.npy --result dx=%t/dx.npy --report=json 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: sparse-runner %t/softmax_dynamic.mlir --arg x=%t/x.npy --arg m=%t/m.npy --arg g=%t/g.npy --result y=%t/y.npy --result dx=%t/dx.npy --report=json 2>&1 | FileCheck %s --check-prefix=SOFTMAX
// RUN: sparse-runner %t/log_softmax_dynamic.mlir --arg x=%t/x.npy --arg m=%t/m.npy --arg g=%t/g.npy --result y=%t/y.npy --result dx=%t/dx.npy --report=json 2>&1 | FileCheck %s --check-prefix=SOFTMAX
// RUN: sparse-runner %t/mean_static.mlir --arg x=%t/x.npy --arg m=%t/m.npy --result dx=%t/dx.npy --report=json 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: sparse-runner %t/max_static.mlir --arg x=%t/x.npy --arg m=%t/m.npy --result dx=%t/dx.npy --report=json 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: sparse-runner %t/logsumexp_static.mlir --arg x=%t/x.npy --arg m=%t/m.npy --result dx=%t/dx.npy --report=json 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: sparse-runner %t/softmax_static.mlir --arg x=%t/x.npy --arg m=%t/m.npy --arg g=%t/g.npy --result y=%t/y.npy --result dx=%t/dx.npy --report=json 2>&1 | FileCheck %s --check-prefix=SOFTMAX
// RUN: sparse-runner %t/log_softmax_static.mlir --arg x=%t/x.npy --arg m=%t/m.npy --arg g=%t/g.npy --result y=%t/y.npy --result dx=%t/dx.npy --report=json 2>&1 | FileCheck %s --check-prefix=SOFTMAX

// REDUCE: "allocated_bytes":10{{4[89]|5[0-2]}}{{[0-9][0-9][0-9]}},"allocations":{{[1-4]}},
// REDUCE: "peak_live_bytes":10{{4[89]|5[0-2]}}{{[0-9][0-9][0-9]}},

// A softmax has a result of that size too.
// SOFTMAX: "allocated_bytes":2097152,"allocations":2,
// SOFTMAX: "peak_live_bytes":2097152,

//--- mean_dynamic.mlir
func.func private @forward(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<f32> {
  %rows = sparse_autograd.masked_reduce mean %x, %m dims = [1] : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<?xf32>
  %sum = sparse_autograd.masked_reduce sum %rows dims = [0] : tensor<?xf32> -> tensor<f32>
  return %sum : tensor<f32>
}
func.func @main(%x: tensor<?x?xf32> {sparse_autograd.name = "x"}, %m: tensor<?x?xi1> {sparse_autograd.name = "m"})
    -> (tensor<f32>, tensor<?x?xf32> {sparse_autograd.name = "dx"}) {
  %value, %dx = sparse_autograd.value_and_grad @forward(%x, %m) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> (tensor<f32>, tensor<?x?xf32>)
  return %value, %dx : tensor<f32>, tensor<?x?xf32>
}

//--- max_dynamic.mlir
func.func private @forward(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<f32> {
  %rows = sparse_autograd.masked_reduce max %x, %m dims = [1] : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<?xf32>
  %sum = sparse_autograd.masked_reduce sum %rows dims = [0] : tensor<?xf32> -> tensor<f32>
  return %sum : tensor<f32>
}
func.func @main(%x: tensor<?x?xf32> {sparse_autograd.name = "x"}, %m: tensor<?x?xi1> {sparse_autograd.name = "m"})
    -> (tensor<f32>, tensor<?x?xf32> {sparse_autograd.name = "dx"}) {
  %value, %dx = sparse_autograd.value_and_grad @forward(%x, %m) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> (tensor<f32>, tensor<?x?xf32>)
  return %value, %dx : tensor<f32>, tensor<?x?xf32>
}

//--- logsumexp_dynamic.mlir
func.func private @forward(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<f32> {
  %rows = sparse_autograd.masked_reduce logsumexp %x, %m dims = [1] : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<?xf32>
  %sum = sparse_autograd.masked_reduce sum %rows dims = [0] : tensor<?xf32> -> tensor<f32>
  return %sum : tensor<f32>
}
func.func @main(%x: tensor<?x?xf32> {sparse_autograd.name = "x"}, %m: tensor<?x?xi1> {sparse_autograd.name = "m"})
    -> (tensor<f32>, tensor<?x?xf32> {sparse_autograd.name = "dx"}) {
  %value, %dx = sparse_autograd.value_and_grad @forward(%x, %m) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> (tensor<f32>, tensor<?x?xf32>)
  return %value, %dx : tensor<f32>, tensor<?x?xf32>
}

//--- softmax_dynamic.mlir
func.func private @forward(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %y = sparse_autograd.masked_softmax %x, %m dims = [1] : tensor<?x?xf32>, tensor<?x?xi1>
  return %y : tensor<?x?xf32>
}
func.func @main(%x: tensor<?x?xf32> {sparse_autograd.name = "x"}, %m: tensor<?x?xi1> {sparse_autograd.name = "m"},
    %g: tensor<?x?xf32> {sparse_autograd.name = "g"})
    -> (tensor<?x?xf32> {sparse_autograd.name = "y"}, tensor<?x?xf32> {sparse_autograd.name = "dx"}) {
  %y, %dx = sparse_autograd.vjp @forward(%x, %m) cotangents(%g) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>), (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %y, %dx : tensor<?x?xf32>, tensor<?x?xf32>
}

//--- log_softmax_dynamic.mlir
func.func private @forward(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %y = sparse_autograd.masked_log_softmax %x, %m dims = [1] : tensor<?x?xf32>, tensor<?x?xi1>
  return %y : tensor<?x?xf32>
}
func.func @main(%x: tensor<?x?xf32> {sparse_autograd.name = "x"}, %m: tensor<?x?xi1> {sparse_autograd.name = "m"},
    %g: tensor<?x?xf32> {sparse_autograd.name = "g"})
    -> (tensor<?x?xf32> {sparse_autograd.name = "y"}, tensor<?x?xf32> {sparse_autograd.name = "dx"}) {
  %y, %dx = sparse_autograd.vjp @forward(%x, %m) cotangents(%g) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>), (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %y, %dx : tensor<?x?xf32>, tensor<?x?xf32>
}

//--- mean_static.mlir
func.func private @forward(%x: tensor<512x512xf32>, %m: tensor<512x512xi1>) -> tensor<f32> {
  %rows = sparse_autograd.masked_reduce mean %x, %m dims = [1] : tensor<512x512xf32>, tensor<512x512xi1> -> tensor<512xf32>
  %sum = sparse_autograd.masked_reduce sum %rows dims = [0] : tensor<512xf32> -> tensor<f32>
  return %sum : tensor<f32>
}
func.func @main(%x: tensor<512x512xf32> {sparse_autograd.name = "x"}, %m: tensor<512x512xi1> {sparse_autograd.name = "m"})
    -> (tensor<f32>, tensor<512x512xf32> {sparse_autograd.name = "dx"}) {
  %value, %dx = sparse_autograd.value_and_grad @forward(%x, %m) {wrt = [0]}
      : (tensor<512x512xf32>, tensor<512x512xi1>) -> (tensor<f32>, tensor<512x512xf32>)
  return %value, %dx : tensor<f32>, tensor<512x512xf32>
}

//--- max_static.mlir
func.func private @forward(%x: tensor<512x512xf32>, %m: tensor<512x512xi1>) -> tensor<f32> {
  %rows = sparse_autograd.masked_reduce max %x, %m dims = [1] : tensor<512x512xf32>, tensor<512x512xi1> -> tensor<512xf32>
  %sum = sparse_autograd.masked_reduce sum %rows dims = [0] : tensor<512xf32> -> tensor<f32>
  return %sum : tensor<f32>
}
func.func @main(%x: tensor<512x512xf32> {sparse_autograd.name = "x"}, %m: tensor<512x512xi1> {sparse_autograd.name = "m"})
    -> (tensor<f32>, tensor<512x512xf32> {sparse_autograd.name = "dx"}) {
  %value, %dx = sparse_autograd.value_and_grad @forward(%x, %m) {wrt = [0]}
      : (tensor<512x512xf32>, tensor<512x512xi1>) -> (tensor<f32>, tensor<512x512xf32>)
  return %value, %dx : tensor<f32>, tensor<512x512xf32>
}

//--- logsumexp_static.mlir
func.func private @forward(%x: tensor<512x512xf32>, %m: tensor<512x512xi1>) -> tensor<f32> {
  %rows = sparse_autograd.masked_reduce logsumexp %x, %m dims = [1] : tensor<512x512xf32>, tensor<512x512xi1> -> tensor<512xf32>
  %sum = sparse_autograd.masked_reduce sum %rows dims = [0] : tensor<512xf32> -> tensor<f32>
  return %sum : tensor<f32>
}
func.func @main(%x: tensor<512x512xf32> {sparse_autograd.name = "x"}, %m: tensor<512x512xi1> {sparse_autograd.name = "m"})
    -> (tensor<f32>, tensor<512x512xf32> {sparse_autograd.name = "dx"}) {
  %value, %dx = sparse_autograd.value_and_grad @forward(%x, %m) {wrt = [0]}
      : (tensor<512x512xf32>, tensor<512x512xi1>) -> (tensor<f32>, tensor<512x512xf32>)
  return %value, %dx : tensor<f32>, tensor<512x512xf32>
}

//--- softmax_static.mlir
func.func private @forward(%x: tensor<512x512xf32>, %m: tensor<512x512xi1>) -> tensor<512x512xf32> {
  %y = sparse_autograd.masked_softmax %x, %m dims = [1] : tensor<512x512xf32>, tensor<512x512xi1>
  return %y : tensor<512x512xf32>
}
func.func @main(%x: tensor<512x512xf32> {sparse_autograd.name = "x"}, %m: tensor<512x512xi1> {sparse_autograd.name = "m"},
    %g: tensor<512x512xf32> {sparse_autograd.name = "g"})
    -> (tensor<512x512xf32> {sparse_autograd.name = "y"}, tensor<512x512xf32> {sparse_autograd.name = "dx"}) {
  %y, %dx = sparse_autograd.vjp @forward(%x, %m) cotangents(%g) {wrt = [0]}
      : (tensor<512x512xf32>, tensor<512x512xi1>), (tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>)
  return %y, %dx : tensor<512x512xf32>, tensor<512x512xf32>
}

//--- log_softmax_static.mlir
func.func private @forward(%x: tensor<512x512xf32>, %m: tensor<512x512xi1>) -> tensor<512x512xf32> {
  %y = sparse_autograd.masked_log_softmax %x, %m dims = [1] : tensor<512x512xf32>, tensor<512x512xi1>
  return %y : tensor<512x512xf32>
}
func.func @main(%x: tensor<512x512xf32> {sparse_autograd.name = "x"}, %m: tensor<512x512xi1> {sparse_autograd.name = "m"},
    %g: tensor<512x512xf32> {sparse_autograd.name = "g"})
    -> (tensor<512x512xf32> {sparse_autograd.name = "y"}, tensor<512x512xf32> {sparse_autograd.name = "dx"}) {
  %y, %dx = sparse_autograd.vjp @forward(%x, %m) cotangents(%g) {wrt = [0]}
      : (tensor<512x512xf32>, tensor<512x512xi1>), (tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>)
  return %y, %dx : tensor<512x512xf32>, tensor<512x512xf32>
}
