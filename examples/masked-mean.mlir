// The mean of the selected elements of a matrix, and its gradient, in the ways
// that people write it. docs/masked-means.md says which one to use when.
//
//   sparse-runner examples/masked-mean.mlir --entry=reduction --arg x=x.npy --arg mask=mask.npy
//
// Each entry returns the mean and its gradient: 1 / n on each of the n selected
// elements and 0 on the others, the same bits from all of them.

#element = affine_map<(i, j) -> (i, j)>
#scalar = affine_map<(i, j) -> ()>

// The number of selected elements.
func.func private @count(%mask: tensor<?x?xi1>) -> f32 {
  %zero = arith.constant dense<0> : tensor<i64>
  %sum = linalg.generic {indexing_maps = [#element, #scalar], iterator_types = ["reduction", "reduction"]}
      ins(%mask : tensor<?x?xi1>) outs(%zero : tensor<i64>) {
    ^bb0(%m: i1, %n: i64):
      %one = arith.extui %m : i1 to i64
      %next = arith.addi %n, %one : i64
      linalg.yield %next : i64
  } -> tensor<i64>
  %count = tensor.extract %sum[] : tensor<i64>
  %float = arith.sitofp %count : i64 to f32
  return %float : f32
}

//===----------------------------------------------------------------------===//
// 1. Zero the gradient after the backward pass
//===----------------------------------------------------------------------===//

// The mask multiplies: a NaN behind it is a NaN in the mean.
func.func private @mean_of_products(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> f32 {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %total = linalg.generic {indexing_maps = [#element, #element, #scalar], iterator_types = ["reduction", "reduction"]}
      ins(%x, %mask : tensor<?x?xf32>, tensor<?x?xi1>) outs(%zero : tensor<f32>) {
    ^bb0(%xi: f32, %m: i1, %sum: f32):
      %weight = arith.uitofp %m : i1 to f32
      %product = arith.mulf %xi, %weight : f32
      %next = arith.addf %sum, %product : f32
      linalg.yield %next : f32
  } -> tensor<f32>
  %sum = tensor.extract %total[] : tensor<f32>
  %count = func.call @count(%mask) : (tensor<?x?xi1>) -> f32
  %mean = arith.divf %sum, %count : f32
  return %mean : f32
}

func.func @zeroed_gradient(
    %x: tensor<?x?xf32> {sparse_autograd.name = "x"},
    %mask: tensor<?x?xi1> {sparse_autograd.name = "mask", sparse_autograd.mask_of = "x"})
    -> (f32 {sparse_autograd.name = "mean"}, tensor<?x?xf32> {sparse_autograd.name = "gradient"}) {
  %mean, %dx = sparse_autograd.value_and_grad @mean_of_products(%x, %mask) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> (f32, tensor<?x?xf32>)
  %zero = arith.constant 0.0 : f32
  %zeroed = linalg.generic {indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%mask : tensor<?x?xi1>) outs(%dx : tensor<?x?xf32>) {
    ^bb0(%m: i1, %g: f32):
      %selected = arith.select %m, %g, %zero : f32
      linalg.yield %selected : f32
  } -> tensor<?x?xf32>
  return %mean, %zeroed : f32, tensor<?x?xf32>
}

//===----------------------------------------------------------------------===//
// 2. The masked reduction, which has the gradient as its rule
//===----------------------------------------------------------------------===//

func.func private @masked_mean(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> f32 {
  %mean = sparse_autograd.masked_reduce mean %x, %mask dims = [0, 1]
      : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<f32>
  %value = tensor.extract %mean[] : tensor<f32>
  return %value : f32
}

func.func @reduction(
    %x: tensor<?x?xf32> {sparse_autograd.name = "x"},
    %mask: tensor<?x?xi1> {sparse_autograd.name = "mask", sparse_autograd.mask_of = "x"})
    -> (f32 {sparse_autograd.name = "mean"}, tensor<?x?xf32> {sparse_autograd.name = "gradient"}) {
  %mean, %dx = sparse_autograd.value_and_grad @masked_mean(%x, %mask) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> (f32, tensor<?x?xf32>)
  return %mean, %dx : f32, tensor<?x?xf32>
}

//===----------------------------------------------------------------------===//
// 3. A gradient mask on the input of a mean written by hand
//===----------------------------------------------------------------------===//

func.func private @mean_by_hand(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %init = arith.constant dense<0.0> : tensor<f32>
  %total = linalg.generic {indexing_maps = [#element, #element, #scalar], iterator_types = ["reduction", "reduction"]}
      ins(%x, %mask : tensor<?x?xf32>, tensor<?x?xi1>) outs(%init : tensor<f32>) {
    ^bb0(%xi: f32, %m: i1, %sum: f32):
      %selected = arith.select %m, %xi, %zero : f32
      %next = arith.addf %sum, %selected : f32
      linalg.yield %next : f32
  } -> tensor<f32>
  %sum = tensor.extract %total[] : tensor<f32>
  %count = func.call @count(%mask) : (tensor<?x?xi1>) -> f32
  %mean = arith.divf %sum, %count : f32
  return %mean : f32
}

func.func private @mean_behind_gradient_mask(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> f32 {
  %hooked = sparse_autograd.grad_mask %x, %mask : tensor<?x?xf32>, tensor<?x?xi1>
  %mean = func.call @mean_by_hand(%hooked, %mask) : (tensor<?x?xf32>, tensor<?x?xi1>) -> f32
  return %mean : f32
}

func.func @gradient_mask(
    %x: tensor<?x?xf32> {sparse_autograd.name = "x"},
    %mask: tensor<?x?xi1> {sparse_autograd.name = "mask", sparse_autograd.mask_of = "x"})
    -> (f32 {sparse_autograd.name = "mean"}, tensor<?x?xf32> {sparse_autograd.name = "gradient"}) {
  %mean, %dx = sparse_autograd.value_and_grad @mean_behind_gradient_mask(%x, %mask) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> (f32, tensor<?x?xf32>)
  return %mean, %dx : f32, tensor<?x?xf32>
}

//===----------------------------------------------------------------------===//
// 4. The mean written by hand, alone
//===----------------------------------------------------------------------===//

func.func @by_hand(
    %x: tensor<?x?xf32> {sparse_autograd.name = "x"},
    %mask: tensor<?x?xi1> {sparse_autograd.name = "mask", sparse_autograd.mask_of = "x"})
    -> (f32 {sparse_autograd.name = "mean"}, tensor<?x?xf32> {sparse_autograd.name = "gradient"}) {
  %mean, %dx = sparse_autograd.value_and_grad @mean_by_hand(%x, %mask) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> (f32, tensor<?x?xf32>)
  return %mean, %dx : f32, tensor<?x?xf32>
}

//===----------------------------------------------------------------------===//
// 5. The user's own rule
//===----------------------------------------------------------------------===//

// What the backward pass needs: the mask and the number of elements.
func.func private @mean_forward(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>)
    -> (f32, tensor<?x?xi1>, f32) {
  %mean = func.call @mean_by_hand(%x, %mask) : (tensor<?x?xf32>, tensor<?x?xi1>) -> f32
  %count = func.call @count(%mask) : (tensor<?x?xi1>) -> f32
  return %mean, %mask, %count : f32, tensor<?x?xi1>, f32
}

// grad_output * valid / count, where it is valid.
func.func private @mean_backward(%mask: tensor<?x?xi1>, %count: f32, %grad_output: f32)
    -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %mask, %c0 : tensor<?x?xi1>
  %columns = tensor.dim %mask, %c1 : tensor<?x?xi1>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %each = arith.divf %grad_output, %count : f32
  %dx = linalg.generic {indexing_maps = [#element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%mask : tensor<?x?xi1>) outs(%empty : tensor<?x?xf32>) {
    ^bb0(%valid: i1, %out: f32):
      %selected = arith.select %valid, %each, %zero : f32
      linalg.yield %selected : f32
  } -> tensor<?x?xf32>
  return %dx : tensor<?x?xf32>
}

func.func private @mean_with_rule(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> f32 {
  %mean = sparse_autograd.custom_vjp @mean_by_hand(%x, %mask)
      forward(@mean_forward) backward(@mean_backward)
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> f32
  return %mean : f32
}

func.func @custom_rule(
    %x: tensor<?x?xf32> {sparse_autograd.name = "x"},
    %mask: tensor<?x?xi1> {sparse_autograd.name = "mask", sparse_autograd.mask_of = "x"})
    -> (f32 {sparse_autograd.name = "mean"}, tensor<?x?xf32> {sparse_autograd.name = "gradient"}) {
  %mean, %dx = sparse_autograd.value_and_grad @mean_with_rule(%x, %mask) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> (f32, tensor<?x?xf32>)
  return %mean, %dx : f32, tensor<?x?xf32>
}
