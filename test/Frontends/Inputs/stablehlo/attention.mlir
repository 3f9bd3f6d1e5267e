#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> ()>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1) -> (d0, d1)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2) -> ()>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d1, d2)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
#map13 = affine_map<() -> ()>
#map14 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
module @jit_attention attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x2x4xf32>, %arg1: tensor<2x5x2x4xf32>, %arg2: tensor<2x5x2x4xf32>) -> (tensor<2x5x2x4xf32> {jax.result_info = "result"}) {
    %0 = tensor.empty() : tensor<2x2x5x5xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2x2x5x5xf32>) -> tensor<2x2x5x5xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>) outs(%1 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %43 = arith.mulf %in, %in_8 : f32
      %44 = arith.addf %out, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<2x2x5x5xf32>
    %cst_0 = arith.constant dense<5.000000e-01> : tensor<f32>
    %3 = tensor.empty() : tensor<2x2x5x5xf32>
    %4 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%3 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x5x5xf32>
    %5 = tensor.empty() : tensor<2x2x5x5xf32>
    %6 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %4 : tensor<2x2x5x5xf32>, tensor<2x2x5x5xf32>) outs(%5 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %43 = arith.mulf %in, %in_8 : f32
      linalg.yield %43 : f32
    } -> tensor<2x2x5x5xf32>
    %7 = tensor.empty() : tensor<5x5xi32>
    %8 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel"]} outs(%7 : tensor<5x5xi32>) {
    ^bb0(%out: i32):
      %43 = linalg.index 0 : index
      %44 = arith.index_cast %43 : index to i32
      linalg.yield %44 : i32
    } -> tensor<5x5xi32>
    %9 = tensor.empty() : tensor<5x5xi32>
    %10 = linalg.generic {indexing_maps = [#map5], iterator_types = ["parallel", "parallel"]} outs(%9 : tensor<5x5xi32>) {
    ^bb0(%out: i32):
      %43 = linalg.index 1 : index
      %44 = arith.index_cast %43 : index to i32
      linalg.yield %44 : i32
    } -> tensor<5x5xi32>
    %11 = tensor.empty() : tensor<5x5xi1>
    %12 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%8, %10 : tensor<5x5xi32>, tensor<5x5xi32>) outs(%11 : tensor<5x5xi1>) {
    ^bb0(%in: i32, %in_8: i32, %out: i1):
      %43 = arith.cmpi sge, %in, %in_8 : i32
      linalg.yield %43 : i1
    } -> tensor<5x5xi1>
    %cst_1 = arith.constant dense<0xFF800000> : tensor<f32>
    %13 = call @_where(%12, %6, %cst_1) : (tensor<5x5xi1>, tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5x5xf32>
    %cst_2 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = arith.constant 0xFF800000 : f32
    %14 = tensor.empty() : tensor<2x2x5xf32>
    %15 = linalg.fill ins(%cst_3 : f32) outs(%14 : tensor<2x2x5xf32>) -> tensor<2x2x5xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%13 : tensor<2x2x5x5xf32>) outs(%15 : tensor<2x2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %from_elements = tensor.from_elements %in : tensor<f32>
      %from_elements_8 = tensor.from_elements %out : tensor<f32>
      %extracted = tensor.extract %from_elements_8[] : tensor<f32>
      %extracted_9 = tensor.extract %from_elements[] : tensor<f32>
      %43 = arith.maximumf %extracted, %extracted_9 : f32
      %from_elements_10 = tensor.from_elements %43 : tensor<f32>
      %extracted_11 = tensor.extract %from_elements_10[] : tensor<f32>
      linalg.yield %extracted_11 : f32
    } -> tensor<2x2x5xf32>
    %cst_4 = arith.constant dense<0xFF800000> : tensor<f32>
    %17 = tensor.empty() : tensor<2x2x5xf32>
    %18 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%17 : tensor<2x2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x5xf32>
    %19 = tensor.empty() : tensor<2x2x5xf32>
    %20 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %16 : tensor<2x2x5xf32>, tensor<2x2x5xf32>) outs(%19 : tensor<2x2x5xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %43 = arith.maximumf %in, %in_8 : f32
      linalg.yield %43 : f32
    } -> tensor<2x2x5xf32>
    %21 = tensor.empty() : tensor<2x2x5x1xf32>
    %22 = linalg.generic {indexing_maps = [#map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<2x2x5xf32>) outs(%21 : tensor<2x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x5x1xf32>
    %23 = tensor.empty() : tensor<2x2x5x5xf32>
    %24 = linalg.generic {indexing_maps = [#map9, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22 : tensor<2x2x5x1xf32>) outs(%23 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x5x5xf32>
    %25 = tensor.empty() : tensor<2x2x5x5xf32>
    %26 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13, %24 : tensor<2x2x5x5xf32>, tensor<2x2x5x5xf32>) outs(%25 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %43 = arith.subf %in, %in_8 : f32
      linalg.yield %43 : f32
    } -> tensor<2x2x5x5xf32>
    %27 = tensor.empty() : tensor<2x2x5x5xf32>
    %28 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26 : tensor<2x2x5x5xf32>) outs(%27 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %43 = math.exp %in : f32
      linalg.yield %43 : f32
    } -> tensor<2x2x5x5xf32>
    %cst_5 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_6 = arith.constant 0.000000e+00 : f32
    %29 = tensor.empty() : tensor<2x2x5xf32>
    %30 = linalg.fill ins(%cst_6 : f32) outs(%29 : tensor<2x2x5xf32>) -> tensor<2x2x5xf32>
    %31 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<2x2x5x5xf32>) outs(%30 : tensor<2x2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %from_elements = tensor.from_elements %in : tensor<f32>
      %from_elements_8 = tensor.from_elements %out : tensor<f32>
      %extracted = tensor.extract %from_elements_8[] : tensor<f32>
      %extracted_9 = tensor.extract %from_elements[] : tensor<f32>
      %43 = arith.addf %extracted, %extracted_9 : f32
      %from_elements_10 = tensor.from_elements %43 : tensor<f32>
      %extracted_11 = tensor.extract %from_elements_10[] : tensor<f32>
      linalg.yield %extracted_11 : f32
    } -> tensor<2x2x5xf32>
    %32 = tensor.empty() : tensor<2x2x5x1xf32>
    %33 = linalg.generic {indexing_maps = [#map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<2x2x5xf32>) outs(%32 : tensor<2x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x5x1xf32>
    %34 = tensor.empty() : tensor<2x2x5x5xf32>
    %35 = linalg.generic {indexing_maps = [#map9, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33 : tensor<2x2x5x1xf32>) outs(%34 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x5x5xf32>
    %36 = tensor.empty() : tensor<2x2x5x5xf32>
    %37 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28, %35 : tensor<2x2x5x5xf32>, tensor<2x2x5x5xf32>) outs(%36 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %43 = arith.divf %in, %in_8 : f32
      linalg.yield %43 : f32
    } -> tensor<2x2x5x5xf32>
    %38 = tensor.empty() : tensor<2x2x4x5xf32>
    %cst_7 = arith.constant 0.000000e+00 : f32
    %39 = linalg.fill ins(%cst_7 : f32) outs(%38 : tensor<2x2x4x5xf32>) -> tensor<2x2x4x5xf32>
    %40 = linalg.generic {indexing_maps = [#map10, #map11, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg2, %37 : tensor<2x5x2x4xf32>, tensor<2x2x5x5xf32>) outs(%39 : tensor<2x2x4x5xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %43 = arith.mulf %in, %in_8 : f32
      %44 = arith.addf %out, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<2x2x4x5xf32>
    %41 = tensor.empty() : tensor<2x5x2x4xf32>
    %42 = linalg.generic {indexing_maps = [#map12, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%40 : tensor<2x2x4x5xf32>) outs(%41 : tensor<2x5x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5x2x4xf32>
    return %42 : tensor<2x5x2x4xf32>
  }
  func.func private @_where(%arg0: tensor<5x5xi1>, %arg1: tensor<2x2x5x5xf32>, %arg2: tensor<f32>) -> tensor<2x2x5x5xf32> {
    %0 = tensor.empty() : tensor<f32>
    %1 = linalg.generic {indexing_maps = [#map13, #map13], iterator_types = []} ins(%arg2 : tensor<f32>) outs(%0 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<f32>
    %2 = tensor.empty() : tensor<2x2x5x5xi1>
    %3 = linalg.generic {indexing_maps = [#map14, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<5x5xi1>) outs(%2 : tensor<2x2x5x5xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x5x5xi1>
    %4 = tensor.empty() : tensor<2x2x5x5xf32>
    %5 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<f32>) outs(%4 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x5x5xf32>
    %6 = tensor.empty() : tensor<2x2x5x5xf32>
    %7 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3, %arg1, %5 : tensor<2x2x5x5xi1>, tensor<2x2x5x5xf32>, tensor<2x2x5x5xf32>) outs(%6 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %8 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %8 : f32
    } -> tensor<2x2x5x5xf32>
    return %7 : tensor<2x2x5x5xf32>
  }
}
