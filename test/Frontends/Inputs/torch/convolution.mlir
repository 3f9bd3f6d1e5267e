#map = affine_map<(d0, d1, d2, d3) -> (d1)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<2x2x6x5xf32>, %arg1: tensor<3x2x3x3xf32>, %arg2: tensor<3xf32>) -> tensor<2x3x3x2xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %padded = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg3: index, %arg4: index, %arg5: index, %arg6: index):
      tensor.yield %cst : f32
    } : tensor<2x2x6x5xf32> to tensor<2x2x8x7xf32>
    %0 = tensor.empty() : tensor<2x3x6x5xf32>
    %broadcasted = linalg.broadcast ins(%arg2 : tensor<3xf32>) outs(%0 : tensor<2x3x6x5xf32>) dimensions = [0, 2, 3]
    %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %arg1 : tensor<2x2x8x7xf32>, tensor<3x2x3x3xf32>) outs(%broadcasted : tensor<2x3x6x5xf32>) -> tensor<2x3x6x5xf32>
    %2 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<2x3x6x5xf32>) outs(%0 : tensor<2x3x6x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %7 = arith.cmpf ugt, %in, %cst : f32
      %8 = arith.select %7, %in, %cst : f32
      linalg.yield %8 : f32
    } -> tensor<2x3x6x5xf32>
    %3 = tensor.empty() : tensor<2x3x3x2xf32>
    %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<2x3x3x2xf32>) -> tensor<2x3x3x2xf32>
    %5 = tensor.empty() : tensor<2x2xf32>
    %6 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%2, %5 : tensor<2x3x6x5xf32>, tensor<2x2xf32>) outs(%4 : tensor<2x3x3x2xf32>) -> tensor<2x3x3x2xf32>
    return %6 : tensor<2x3x3x2xf32>
  }
}
