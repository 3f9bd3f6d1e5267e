// Functions of every kind of argument, for calls that are wrong: element types,
// ranks, static and dynamic extents, masks, and formats of sparse tensors. Each
// succeeds where all dynamic extents are the same number.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#NarrowCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 8}>
#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)), posWidth = 16, crdWidth = 32}>
#DCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>
#Loose = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : loose_compressed)}>
#BSR = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)}>
#CSF = #sparse_tensor.encoding<{map = (i, j, k) -> (i : compressed, j : compressed, k : compressed)}>

func.func @add(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %z = arith.addf %x, %y : tensor<?x?xf64>
  return %z : tensor<?x?xf64>
}

func.func @scale(%x: tensor<3x4xf32>, %s: f32) -> tensor<3x4xf32> {
  %t = tensor.splat %s : tensor<3x4xf32>
  %y = arith.mulf %x, %t : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

func.func @number(%x: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %y = arith.addf %x, %x : tensor<f64>
  return %x, %y : tensor<f64>, tensor<f64>
}

func.func @bytes(%x: tensor<?x2x?xi8>, %y: tensor<?x2x?xi8>) -> tensor<?x2x?xi8> {
  %z = arith.muli %x, %y : tensor<?x2x?xi8>
  return %z : tensor<?x2x?xi8>
}

func.func @narrow(%x: tensor<?xf16>, %y: tensor<?xbf16>) -> (tensor<?xbf16>, tensor<?xf16>) {
  return %y, %x : tensor<?xbf16>, tensor<?xf16>
}

func.func @scalars(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: index, %g: f16, %h: bf16,
                   %i: f32, %j: f64)
    -> (i1, i8, i16, i32, i64, index, f16, bf16, f32, f64) {
  %k = arith.select %a, %i, %i : f32
  return %a, %b, %c, %d, %e, %f, %g, %h, %k, %j
      : i1, i8, i16, i32, i64, index, f16, bf16, f32, f64
}

func.func @make(%n: index) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %y = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @gather(%table: tensor<?xf32>, %at: tensor<?xindex>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %at, %c0 : tensor<?xindex>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%at : tensor<?xindex>) outs(%e : tensor<?xf32>) {
  ^bb0(%i: index, %o: f32):
    %v = tensor.extract %table[%i] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func private @softmax(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %y = sparse_autograd.masked_softmax %x, %m dims = [1] : tensor<?x?xf32>, tensor<?x?xi1>
  return %y : tensor<?x?xf32>
}

func.func @masked(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>, %g: tensor<?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi1>) {
  %y, %dx = sparse_autograd.vjp @softmax(%x, %m) cotangents(%g) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>), (tensor<?x?xf32>)
     -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %y, %dx, %m : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi1>
}

func.func private @product(%a: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %a, %c0 : tensor<?x?xf64, #CSR>
  %e = tensor.empty(%n) : tensor<?xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %y = linalg.matvec ins(%a, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>)
                     outs(%f : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

func.func @product_and_gradients(%a: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %g: tensor<?xf64>)
    -> (tensor<?xf64>, tensor<?x?xf64, #CSR>, tensor<?xf64>) {
  %y, %da, %dx = sparse_autograd.vjp @product(%a, %x) cotangents(%g) {wrt = [0, 1]}
      : (tensor<?x?xf64, #CSR>, tensor<?xf64>), (tensor<?xf64>)
     -> (tensor<?xf64>, tensor<?x?xf64, #CSR>, tensor<?xf64>)
  return %y, %da, %dx : tensor<?xf64>, tensor<?x?xf64, #CSR>, tensor<?xf64>
}

func.func @narrow_lists(%a: tensor<5x?xf32, #NarrowCSR>, %x: tensor<?xf32>) -> tensor<5xf32> {
  %zero = arith.constant dense<0.0> : tensor<5xf32>
  %y = linalg.matvec ins(%a, %x : tensor<5x?xf32, #NarrowCSR>, tensor<?xf32>)
                     outs(%zero : tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

func.func @entries(%a: tensor<?x?xf64, #COO>) -> (tensor<?x?xf64, #CSR>, tensor<?x?xf64>) {
  %b = sparse_tensor.convert %a : tensor<?x?xf64, #COO> to tensor<?x?xf64, #CSR>
  %c = sparse_tensor.convert %a : tensor<?x?xf64, #COO> to tensor<?x?xf64>
  return %b, %c : tensor<?x?xf64, #CSR>, tensor<?x?xf64>
}

func.func @rows(%a: tensor<?x?xf32, #DCSR>) -> tensor<?x?xf32, #DCSR> {
  return %a : tensor<?x?xf32, #DCSR>
}

func.func @truths(%a: tensor<?x?xi1, #CSR>) -> tensor<?x?xi1, #CSR> {
  return %a : tensor<?x?xi1, #CSR>
}

func.func @loose(%a: tensor<?x?xf64, #Loose>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %z = linalg.matvec ins(%a, %x : tensor<?x?xf64, #Loose>, tensor<?xf64>)
                     outs(%y : tensor<?xf64>) -> tensor<?xf64>
  return %z : tensor<?xf64>
}

func.func @blocks(%a: tensor<?x?xf64, #BSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %z = linalg.matvec ins(%a, %x : tensor<?x?xf64, #BSR>, tensor<?xf64>)
                     outs(%y : tensor<?xf64>) -> tensor<?xf64>
  return %z : tensor<?xf64>
}

func.func @fibers(%a: tensor<?x?x?xf64, #CSF>) -> tensor<?x?x?xf64> {
  %b = sparse_tensor.convert %a : tensor<?x?x?xf64, #CSF> to tensor<?x?x?xf64>
  return %b : tensor<?x?x?xf64>
}
