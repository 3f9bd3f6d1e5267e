module @jit_depthwise attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x6x3xf32>, %arg1: tensor<2x2x1x3xf32>) -> (tensor<2x4x4x3xf32> {jax.result_info = "result"}) {
    %0 = tensor.empty() : tensor<2x4x4x3xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
    %collapsed = tensor.collapse_shape %arg1 [[0], [1], [2, 3]] : tensor<2x2x1x3xf32> into tensor<2x2x3xf32>
    %2 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %collapsed : tensor<2x5x6x3xf32>, tensor<2x2x3xf32>) outs(%1 : tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
    return %2 : tensor<2x4x4x3xf32>
  }
}
