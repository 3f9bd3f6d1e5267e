#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d1)>
module {
  func.func @main(%arg0: tensor<2x3x4x2xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> tensor<2x3x4x2xf32> {
    %cst = arith.constant 1.000000e-05 : f64
    %cst_0 = arith.constant dense<[0.375, -0.25, 0.125]> : tensor<3xf32>
    %cst_1 = arith.constant dense<[1.5, 0.75, 2.25]> : tensor<3xf32>
    %0 = linalg.generic {indexing_maps = [#map, #map1, #map1, #map1, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1, %arg2, %cst_0, %cst_1 : tensor<2x3x4x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%arg0 : tensor<2x3x4x2xf32>) {
    ^bb0(%in: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32):
      %1 = arith.truncf %cst : f64 to f32
      %2 = arith.addf %in_5, %1 : f32
      %3 = math.rsqrt %2 : f32
      %4 = arith.subf %in, %in_4 : f32
      %5 = arith.mulf %4, %3 : f32
      %6 = arith.mulf %5, %in_2 : f32
      %7 = arith.addf %6, %in_3 : f32
      linalg.yield %7 : f32
    } -> tensor<2x3x4x2xf32>
    return %0 : tensor<2x3x4x2xf32>
  }
}
