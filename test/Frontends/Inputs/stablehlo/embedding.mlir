#map = affine_map<(d0, d1, d2) -> ()>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
module @jit_embedding attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x4xf32>, %arg1: tensor<2x3xi32>) -> (tensor<2x3x4xf32> {jax.result_info = "result"}) {
    %0 = call @_take(%arg0, %arg1) : (tensor<6x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
    %cst = arith.constant dense<5.000000e-01> : tensor<f32>
    %1 = tensor.empty() : tensor<2x3x4xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%1 : tensor<2x3x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x3x4xf32>
    %3 = tensor.empty() : tensor<2x3x4xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%0, %2 : tensor<2x3x4xf32>, tensor<2x3x4xf32>) outs(%3 : tensor<2x3x4xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %5 = arith.mulf %in, %in_0 : f32
      linalg.yield %5 : f32
    } -> tensor<2x3x4xf32>
    return %4 : tensor<2x3x4xf32>
  }
  func.func private @_take(%arg0: tensor<6x4xf32>, %arg1: tensor<2x3xi32>) -> tensor<2x3x4xf32> {
    %0 = tensor.empty() : tensor<2x3x1xi32>
    %1 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x3xi32>) outs(%0 : tensor<2x3x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<2x3x1xi32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %2 = tensor.empty() : tensor<2x3x4xf32>
    %3 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel", "parallel"]} outs(%2 : tensor<2x3x4xf32>) {
    ^bb0(%out: f32):
      %4 = linalg.index 0 : index
      %5 = linalg.index 1 : index
      %6 = linalg.index 2 : index
      %extracted = tensor.extract %1[%4, %5, %c0] : tensor<2x3x1xi32>
      %7 = arith.index_cast %extracted : i32 to index
      %c0_0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %c5 = arith.constant 5 : index
      %8 = arith.maxsi %c0, %7 : index
      %9 = arith.minsi %8, %c5 : index
      %c2_1 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %extracted_2 = tensor.extract %arg0[%9, %6] : tensor<6x4xf32>
      linalg.yield %extracted_2 : f32
    } -> tensor<2x3x4xf32>
    return %3 : tensor<2x3x4xf32>
  }
}
