func.func @matrix(%x: tensor<?x2xf32> {sparse_autograd.name = "x"},
                  %mask: tensor<?x2xi1> {sparse_autograd.name = "mask", sparse_autograd.mask_of = "x"})
    -> (tensor<2xf32> {sparse_autograd.name = "sums"}) {
  %sums = sparse_autograd.masked_reduce sum %x, %mask dims = [0]
      : tensor<?x2xf32>, tensor<?x2xi1> -> tensor<2xf32>
  return %sums : tensor<2xf32>
}

func.func @numbers(%a: f32, %b: i1, %c: i8, %d: tensor<f64>) -> (f32, i1, i8, tensor<f64>) {
  return %a, %b, %c, %d : f32, i1, i8, tensor<f64>
}

func.func @element(%x: tensor<?xi32>, %i: index) -> i32 {
  %element = tensor.extract %x[%i] : tensor<?xi32>
  return %element : i32
}
