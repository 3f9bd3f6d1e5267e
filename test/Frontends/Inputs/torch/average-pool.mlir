#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<?x3x6x5xf32>) -> tensor<?x3x3x4xf32> {
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 4.000000e+00 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x3x6x5xf32>
    %0 = tensor.empty(%dim) : tensor<?x3x3x4xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<?x3x3x4xf32>) -> tensor<?x3x3x4xf32>
    %2 = tensor.empty() : tensor<2x2xf32>
    %3 = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>} ins(%arg0, %2 : tensor<?x3x6x5xf32>, tensor<2x2xf32>) outs(%1 : tensor<?x3x3x4xf32>) -> tensor<?x3x3x4xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<?x3x3x4xf32>) outs(%0 : tensor<?x3x3x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %5 = arith.divf %in, %cst_0 : f32
      linalg.yield %5 : f32
    } -> tensor<?x3x3x4xf32>
    return %4 : tensor<?x3x3x4xf32>
  }
}
