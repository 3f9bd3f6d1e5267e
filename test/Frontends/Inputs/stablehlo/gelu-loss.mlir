#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> ()>
#map4 = affine_map<() -> ()>
module @jit_gelu_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>, %arg1: tensor<6x3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<4x3xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = tensor.empty() : tensor<4x3xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<4x3xf32>) -> tensor<4x3xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<4x6xf32>, tensor<6x3xf32>) outs(%1 : tensor<4x3xf32>) -> tensor<4x3xf32>
    %3 = tensor.empty() : tensor<1x3xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<3xf32>) outs(%3 : tensor<1x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x3xf32>
    %5 = tensor.empty() : tensor<4x3xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<1x3xf32>) outs(%5 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x3xf32>
    %7 = tensor.empty() : tensor<4x3xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %6 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%7 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %44 = arith.addf %in, %in_8 : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %9 = tensor.empty() : tensor<4x3xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8, %8 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%9 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %44 = arith.mulf %in, %in_8 : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %11 = tensor.empty() : tensor<4x3xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10, %8 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%11 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %44 = arith.mulf %in, %in_8 : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %cst_0 = arith.constant dense<4.471500e-02> : tensor<f32>
    %13 = tensor.empty() : tensor<4x3xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%13 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x3xf32>
    %15 = tensor.empty() : tensor<4x3xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%14, %12 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%15 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %44 = arith.mulf %in, %in_8 : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %17 = tensor.empty() : tensor<4x3xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8, %16 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%17 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %44 = arith.addf %in, %in_8 : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %cst_1 = arith.constant dense<0.797884583> : tensor<f32>
    %19 = tensor.empty() : tensor<4x3xf32>
    %20 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%19 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x3xf32>
    %21 = tensor.empty() : tensor<4x3xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%20, %18 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%21 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %44 = arith.mulf %in, %in_8 : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %23 = tensor.empty() : tensor<4x3xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<4x3xf32>) outs(%23 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = math.tanh %in : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %cst_2 = arith.constant dense<1.000000e+00> : tensor<f32>
    %25 = tensor.empty() : tensor<4x3xf32>
    %26 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%25 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x3xf32>
    %27 = tensor.empty() : tensor<4x3xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%26, %24 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%27 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %44 = arith.addf %in, %in_8 : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %cst_3 = arith.constant dense<5.000000e-01> : tensor<f32>
    %29 = tensor.empty() : tensor<4x3xf32>
    %30 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%29 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x3xf32>
    %31 = tensor.empty() : tensor<4x3xf32>
    %32 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%30, %28 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%31 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %44 = arith.mulf %in, %in_8 : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %33 = tensor.empty() : tensor<4x3xf32>
    %34 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8, %32 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%33 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %44 = arith.mulf %in, %in_8 : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %35 = tensor.empty() : tensor<4x3xf32>
    %36 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%34, %arg3 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%35 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %44 = arith.subf %in, %in_8 : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %37 = tensor.empty() : tensor<4x3xf32>
    %38 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%36, %36 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%37 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %44 = arith.mulf %in, %in_8 : f32
      linalg.yield %44 : f32
    } -> tensor<4x3xf32>
    %cst_4 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_5 = arith.constant 0.000000e+00 : f32
    %39 = tensor.empty() : tensor<f32>
    %40 = linalg.fill ins(%cst_5 : f32) outs(%39 : tensor<f32>) -> tensor<f32>
    %41 = linalg.generic {indexing_maps = [#map1, #map3], iterator_types = ["reduction", "reduction"]} ins(%38 : tensor<4x3xf32>) outs(%40 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %from_elements = tensor.from_elements %in : tensor<f32>
      %from_elements_8 = tensor.from_elements %out : tensor<f32>
      %extracted = tensor.extract %from_elements_8[] : tensor<f32>
      %extracted_9 = tensor.extract %from_elements[] : tensor<f32>
      %44 = arith.addf %extracted, %extracted_9 : f32
      %from_elements_10 = tensor.from_elements %44 : tensor<f32>
      %extracted_11 = tensor.extract %from_elements_10[] : tensor<f32>
      linalg.yield %extracted_11 : f32
    } -> tensor<f32>
    %cst_6 = arith.constant dense<1.200000e+01> : tensor<f32>
    %42 = tensor.empty() : tensor<f32>
    %cst_7 = arith.constant 1.200000e+01 : f32
    %43 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%41 : tensor<f32>) outs(%42 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %44 = arith.divf %in, %cst_7 : f32
      linalg.yield %44 : f32
    } -> tensor<f32>
    return %43 : tensor<f32>
  }
}
