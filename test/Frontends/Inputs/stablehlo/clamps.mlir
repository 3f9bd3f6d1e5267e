#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> ()>
#map2 = affine_map<() -> ()>
module @jit_clamps attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x7xf32>, %arg1: tensor<3x7xf32>) -> (tensor<3x7xf32> {jax.result_info = "result"}) {
    %cst = arith.constant dense<-5.000000e-01> : tensor<f32>
    %cst_0 = arith.constant dense<7.500000e-01> : tensor<f32>
    %0 = call @clip(%arg0, %cst, %cst_0) : (tensor<3x7xf32>, tensor<f32>, tensor<f32>) -> tensor<3x7xf32>
    %1 = tensor.empty() : tensor<3x7xi1>
    %2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<3x7xf32>, tensor<3x7xf32>) outs(%1 : tensor<3x7xi1>) {
    ^bb0(%in: f32, %in_4: f32, %out: i1):
      %32 = arith.cmpf ogt, %in, %in_4 : f32
      linalg.yield %32 : i1
    } -> tensor<3x7xi1>
    %3 = tensor.empty() : tensor<3x7xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1 : tensor<3x7xf32>, tensor<3x7xf32>) outs(%3 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %32 = arith.mulf %in, %in_4 : f32
      linalg.yield %32 : f32
    } -> tensor<3x7xf32>
    %cst_1 = arith.constant dense<2.500000e-01> : tensor<f32>
    %5 = tensor.empty() : tensor<3x7xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%5 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x7xf32>
    %7 = tensor.empty() : tensor<3x7xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1, %6 : tensor<3x7xf32>, tensor<3x7xf32>) outs(%7 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %32 = arith.maximumf %in, %in_4 : f32
      linalg.yield %32 : f32
    } -> tensor<3x7xf32>
    %9 = tensor.empty() : tensor<3x7xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %arg0 : tensor<3x7xf32>, tensor<3x7xf32>) outs(%9 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %32 = arith.subf %in, %in_4 : f32
      linalg.yield %32 : f32
    } -> tensor<3x7xf32>
    %11 = call @_where(%2, %4, %10) : (tensor<3x7xi1>, tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
    %12 = tensor.empty() : tensor<3x7xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%0, %11 : tensor<3x7xf32>, tensor<3x7xf32>) outs(%12 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %32 = arith.mulf %in, %in_4 : f32
      linalg.yield %32 : f32
    } -> tensor<3x7xf32>
    %14 = tensor.empty() : tensor<3x7xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<3x7xf32>) outs(%14 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = math.absf %in : f32
      linalg.yield %32 : f32
    } -> tensor<3x7xf32>
    %16 = tensor.empty() : tensor<3x7xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<3x7xf32>) outs(%16 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = arith.negf %in : f32
      linalg.yield %32 : f32
    } -> tensor<3x7xf32>
    %18 = tensor.empty() : tensor<3x7xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<3x7xf32>) outs(%18 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %32 = math.exp %in : f32
      linalg.yield %32 : f32
    } -> tensor<3x7xf32>
    %cst_2 = arith.constant dense<1.000000e+00> : tensor<f32>
    %20 = tensor.empty() : tensor<3x7xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%20 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x7xf32>
    %22 = tensor.empty() : tensor<3x7xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%21, %19 : tensor<3x7xf32>, tensor<3x7xf32>) outs(%22 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %32 = arith.addf %in, %in_4 : f32
      linalg.yield %32 : f32
    } -> tensor<3x7xf32>
    %cst_3 = arith.constant dense<1.000000e+00> : tensor<f32>
    %24 = tensor.empty() : tensor<3x7xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%24 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x7xf32>
    %26 = tensor.empty() : tensor<3x7xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%25, %23 : tensor<3x7xf32>, tensor<3x7xf32>) outs(%26 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %32 = arith.divf %in, %in_4 : f32
      linalg.yield %32 : f32
    } -> tensor<3x7xf32>
    %28 = tensor.empty() : tensor<3x7xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%15, %27 : tensor<3x7xf32>, tensor<3x7xf32>) outs(%28 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %32 = arith.mulf %in, %in_4 : f32
      linalg.yield %32 : f32
    } -> tensor<3x7xf32>
    %30 = tensor.empty() : tensor<3x7xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%13, %29 : tensor<3x7xf32>, tensor<3x7xf32>) outs(%30 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %32 = arith.addf %in, %in_4 : f32
      linalg.yield %32 : f32
    } -> tensor<3x7xf32>
    return %31 : tensor<3x7xf32>
  }
  func.func private @clip(%arg0: tensor<3x7xf32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<3x7xf32> {
    %0 = tensor.empty() : tensor<f32>
    %1 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg1 : tensor<f32>) outs(%0 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<f32>
    %2 = tensor.empty() : tensor<3x7xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<f32>) outs(%2 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x7xf32>
    %4 = tensor.empty() : tensor<3x7xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg0 : tensor<3x7xf32>, tensor<3x7xf32>) outs(%4 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %12 = arith.maximumf %in, %in_0 : f32
      linalg.yield %12 : f32
    } -> tensor<3x7xf32>
    %6 = tensor.empty() : tensor<f32>
    %7 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%arg2 : tensor<f32>) outs(%6 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<f32>
    %8 = tensor.empty() : tensor<3x7xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<f32>) outs(%8 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3x7xf32>
    %10 = tensor.empty() : tensor<3x7xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%9, %5 : tensor<3x7xf32>, tensor<3x7xf32>) outs(%10 : tensor<3x7xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %12 = arith.minimumf %in, %in_0 : f32
      linalg.yield %12 : f32
    } -> tensor<3x7xf32>
    return %11 : tensor<3x7xf32>
  }
  func.func private @_where(%arg0: tensor<3x7xi1>, %arg1: tensor<3x7xf32>, %arg2: tensor<3x7xf32>) -> tensor<3x7xf32> {
    %0 = tensor.empty() : tensor<3x7xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1, %arg2 : tensor<3x7xi1>, tensor<3x7xf32>, tensor<3x7xf32>) outs(%0 : tensor<3x7xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %2 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %2 : f32
    } -> tensor<3x7xf32>
    return %1 : tensor<3x7xf32>
  }
}
