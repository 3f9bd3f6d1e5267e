#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<?x6xf32>, %arg1: tensor<8x6xf32>, %arg2: tensor<8xf32>, %arg3: tensor<3x8xf32>, %arg4: tensor<3xf32>) -> tensor<?x3xf32> {
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<6x8xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<8x6xf32>) outs(%0 : tensor<6x8xf32>) permutation = [1, 0]
    %dim = tensor.dim %arg0, %c0 : tensor<?x6xf32>
    %1 = tensor.empty(%dim) : tensor<?x8xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<?x6xf32>, tensor<6x8xf32>) outs(%2 : tensor<?x8xf32>) -> tensor<?x8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg2 : tensor<?x8xf32>, tensor<8xf32>) outs(%1 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %11 = arith.addf %in, %in_2 : f32
      linalg.yield %11 : f32
    } -> tensor<?x8xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<?x8xf32>) outs(%1 : tensor<?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %11 = arith.cmpf ugt, %in, %cst : f32
      %12 = arith.select %11, %in, %cst : f32
      linalg.yield %12 : f32
    } -> tensor<?x8xf32>
    %6 = tensor.empty() : tensor<8x3xf32>
    %transposed_0 = linalg.transpose ins(%arg3 : tensor<3x8xf32>) outs(%6 : tensor<8x3xf32>) permutation = [1, 0]
    %dim_1 = tensor.dim %5, %c0 : tensor<?x8xf32>
    %7 = tensor.empty(%dim_1) : tensor<?x3xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<?x3xf32>) -> tensor<?x3xf32>
    %9 = linalg.matmul ins(%5, %transposed_0 : tensor<?x8xf32>, tensor<8x3xf32>) outs(%8 : tensor<?x3xf32>) -> tensor<?x3xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%9, %arg4 : tensor<?x3xf32>, tensor<3xf32>) outs(%7 : tensor<?x3xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %11 = arith.addf %in, %in_2 : f32
      linalg.yield %11 : f32
    } -> tensor<?x3xf32>
    return %10 : tensor<?x3xf32>
  }
}
