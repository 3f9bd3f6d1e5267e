#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> ()>
module @jit_convolution attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x4x3xf32>, %arg1: tensor<3x2x3x2xf32>, %arg2: tensor<2xf32>) -> (tensor<2x3x4x2xf32> {jax.result_info = "result"}) {
    %0 = tensor.empty() : tensor<3x2x3x2xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<3x2x3x2xf32>) outs(%0 : tensor<3x2x3x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x2x3x2xf32>
    %2 = tensor.empty() : tensor<2x3x4x2xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<2x3x4x2xf32>) -> tensor<2x3x4x2xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %padded = tensor.pad %arg0 low[0, 1, 0, 0] high[0, 1, 1, 0] {
    ^bb0(%arg3: index, %arg4: index, %arg5: index, %arg6: index):
      tensor.yield %cst_1 : f32
    } : tensor<2x5x4x3xf32> to tensor<2x7x5x3xf32>
    %4 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%padded, %1 : tensor<2x7x5x3xf32>, tensor<3x2x3x2xf32>) outs(%3 : tensor<2x3x4x2xf32>) -> tensor<2x3x4x2xf32>
    %5 = tensor.empty() : tensor<1x1x1x2xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2xf32>) outs(%5 : tensor<1x1x1x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x1x2xf32>
    %7 = tensor.empty() : tensor<2x3x4x2xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<1x1x1x2xf32>) outs(%7 : tensor<2x3x4x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x3x4x2xf32>
    %9 = tensor.empty() : tensor<2x3x4x2xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4, %8 : tensor<2x3x4x2xf32>, tensor<2x3x4x2xf32>) outs(%9 : tensor<2x3x4x2xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %12 = arith.addf %in, %in_2 : f32
      linalg.yield %12 : f32
    } -> tensor<2x3x4x2xf32>
    %11 = call @relu(%10) : (tensor<2x3x4x2xf32>) -> tensor<2x3x4x2xf32>
    return %11 : tensor<2x3x4x2xf32>
  }
  func.func private @relu(%arg0: tensor<2x3x4x2xf32>) -> tensor<2x3x4x2xf32> {
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<2x3x4x2xf32>
    %1 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%0 : tensor<2x3x4x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x3x4x2xf32>
    %2 = tensor.empty() : tensor<2x3x4x2xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %1 : tensor<2x3x4x2xf32>, tensor<2x3x4x2xf32>) outs(%2 : tensor<2x3x4x2xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %4 = arith.maximumf %in, %in_0 : f32
      linalg.yield %4 : f32
    } -> tensor<2x3x4x2xf32>
    return %3 : tensor<2x3x4x2xf32>
  }
}
