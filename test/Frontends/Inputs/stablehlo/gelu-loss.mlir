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
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.addf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_0 = arith.constant dense<5.000000e-01> : tensor<f32>
    %9 = tensor.empty() : tensor<4x3xf32>
    %10 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%9 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x3xf32>
    %11 = tensor.empty() : tensor<4x3xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10, %8 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%11 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %13 = tensor.empty() : tensor<4x3xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<4x3xf32>) outs(%13 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.negf %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_1 = arith.constant dense<0.707106769> : tensor<f32>
    %15 = tensor.empty() : tensor<4x3xf32>
    %16 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%15 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x3xf32>
    %17 = tensor.empty() : tensor<4x3xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%14, %16 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%17 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %19 = tensor.empty() : tensor<4x3xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%18, %18 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%19 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %21 = tensor.empty() : tensor<4x3xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<4x3xf32>) outs(%21 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.negf %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %23 = tensor.empty() : tensor<4x3xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<4x3xf32>) outs(%23 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = math.absf %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_2 = arith.constant dense<1.000000e+00> : tensor<4x3xf32>
    %25 = tensor.empty() : tensor<4x3xf32>
    %cst_3 = arith.constant 1.000000e+00 : f32
    %26 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<4x3xf32>) outs(%25 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst_3, %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %27 = tensor.empty() : tensor<4x3xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<4x3xf32>) outs(%27 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = math.exp %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %29 = tensor.empty() : tensor<4x3xf32>
    %cst_4 = arith.constant 1.000000e+00 : f32
    %30 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%24 : tensor<4x3xf32>) outs(%29 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %cst_4, %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %31 = tensor.empty() : tensor<4x3xf32>
    %32 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%28, %30 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%31 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_5 = arith.constant dense<2.000000e+00> : tensor<4x3xf32>
    %33 = tensor.empty() : tensor<4x3xi1>
    %cst_6 = arith.constant 2.000000e+00 : f32
    %34 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%24 : tensor<4x3xf32>) outs(%33 : tensor<4x3xi1>) {
    ^bb0(%in: f32, %out: i1):
      %156 = arith.cmpf olt, %in, %cst_6 : f32
      linalg.yield %156 : i1
    } -> tensor<4x3xi1>
    %cst_7 = arith.constant dense<2.326820e-02> : tensor<4x3xf32>
    %35 = tensor.empty() : tensor<4x3xf32>
    %cst_8 = arith.constant 2.326820e-02 : f32
    %36 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%26 : tensor<4x3xf32>) outs(%35 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.mulf %cst_8, %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_9 = arith.constant dense<-0.138703942> : tensor<4x3xf32>
    %37 = tensor.empty() : tensor<4x3xf32>
    %cst_10 = arith.constant -0.138703942 : f32
    %38 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%36 : tensor<4x3xf32>) outs(%37 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_10 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %39 = tensor.empty() : tensor<4x3xf32>
    %40 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%38, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%39 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_11 = arith.constant dense<0.368742466> : tensor<4x3xf32>
    %41 = tensor.empty() : tensor<4x3xf32>
    %cst_12 = arith.constant 0.368742466 : f32
    %42 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%40 : tensor<4x3xf32>) outs(%41 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_12 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %43 = tensor.empty() : tensor<4x3xf32>
    %44 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%42, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%43 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_13 = arith.constant dense<-0.582473278> : tensor<4x3xf32>
    %45 = tensor.empty() : tensor<4x3xf32>
    %cst_14 = arith.constant -0.582473278 : f32
    %46 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%44 : tensor<4x3xf32>) outs(%45 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_14 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %47 = tensor.empty() : tensor<4x3xf32>
    %48 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%46, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%47 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_15 = arith.constant dense<0.621000468> : tensor<4x3xf32>
    %49 = tensor.empty() : tensor<4x3xf32>
    %cst_16 = arith.constant 0.621000468 : f32
    %50 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%48 : tensor<4x3xf32>) outs(%49 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_16 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %51 = tensor.empty() : tensor<4x3xf32>
    %52 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%50, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%51 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_17 = arith.constant dense<-0.494451523> : tensor<4x3xf32>
    %53 = tensor.empty() : tensor<4x3xf32>
    %cst_18 = arith.constant -0.494451523 : f32
    %54 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%52 : tensor<4x3xf32>) outs(%53 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_18 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %55 = tensor.empty() : tensor<4x3xf32>
    %56 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%54, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%55 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_19 = arith.constant dense<3.404880e-01> : tensor<4x3xf32>
    %57 = tensor.empty() : tensor<4x3xf32>
    %cst_20 = arith.constant 3.404880e-01 : f32
    %58 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%56 : tensor<4x3xf32>) outs(%57 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_20 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %59 = tensor.empty() : tensor<4x3xf32>
    %60 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%58, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%59 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_21 = arith.constant dense<-0.274112701> : tensor<4x3xf32>
    %61 = tensor.empty() : tensor<4x3xf32>
    %cst_22 = arith.constant -0.274112701 : f32
    %62 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%60 : tensor<4x3xf32>) outs(%61 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_22 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %63 = tensor.empty() : tensor<4x3xf32>
    %64 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%62, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%63 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_23 = arith.constant dense<0.563825965> : tensor<4x3xf32>
    %65 = tensor.empty() : tensor<4x3xf32>
    %cst_24 = arith.constant 0.563825965 : f32
    %66 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%64 : tensor<4x3xf32>) outs(%65 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_24 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_25 = arith.constant dense<-10.477664> : tensor<4x3xf32>
    %67 = tensor.empty() : tensor<4x3xf32>
    %cst_26 = arith.constant -10.477664 : f32
    %68 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%26 : tensor<4x3xf32>) outs(%67 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.mulf %cst_26, %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_27 = arith.constant dense<1.297720e+01> : tensor<4x3xf32>
    %69 = tensor.empty() : tensor<4x3xf32>
    %cst_28 = arith.constant 1.297720e+01 : f32
    %70 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%68 : tensor<4x3xf32>) outs(%69 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_28 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %71 = tensor.empty() : tensor<4x3xf32>
    %72 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%70, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%71 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_29 = arith.constant dense<-7.49551868> : tensor<4x3xf32>
    %73 = tensor.empty() : tensor<4x3xf32>
    %cst_30 = arith.constant -7.49551868 : f32
    %74 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%72 : tensor<4x3xf32>) outs(%73 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_30 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %75 = tensor.empty() : tensor<4x3xf32>
    %76 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%74, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%75 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_31 = arith.constant dense<2.92101908> : tensor<4x3xf32>
    %77 = tensor.empty() : tensor<4x3xf32>
    %cst_32 = arith.constant 2.92101908 : f32
    %78 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%76 : tensor<4x3xf32>) outs(%77 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_32 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %79 = tensor.empty() : tensor<4x3xf32>
    %80 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%78, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%79 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_33 = arith.constant dense<-1.01526523> : tensor<4x3xf32>
    %81 = tensor.empty() : tensor<4x3xf32>
    %cst_34 = arith.constant -1.01526523 : f32
    %82 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%80 : tensor<4x3xf32>) outs(%81 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_34 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %83 = tensor.empty() : tensor<4x3xf32>
    %84 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%82, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%83 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_35 = arith.constant dense<0.42184633> : tensor<4x3xf32>
    %85 = tensor.empty() : tensor<4x3xf32>
    %cst_36 = arith.constant 0.42184633 : f32
    %86 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%84 : tensor<4x3xf32>) outs(%85 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_36 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %87 = tensor.empty() : tensor<4x3xf32>
    %88 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%86, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%87 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_37 = arith.constant dense<-0.282076746> : tensor<4x3xf32>
    %89 = tensor.empty() : tensor<4x3xf32>
    %cst_38 = arith.constant -0.282076746 : f32
    %90 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%88 : tensor<4x3xf32>) outs(%89 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_38 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %91 = tensor.empty() : tensor<4x3xf32>
    %92 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%90, %26 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%91 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_39 = arith.constant dense<0.564189494> : tensor<4x3xf32>
    %93 = tensor.empty() : tensor<4x3xf32>
    %cst_40 = arith.constant 0.564189494 : f32
    %94 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%92 : tensor<4x3xf32>) outs(%93 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_40 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %95 = tensor.empty() : tensor<4x3xf32>
    %96 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%34, %66, %94 : tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>) outs(%95 : tensor<4x3xf32>) {
    ^bb0(%in: i1, %in_68: f32, %in_69: f32, %out: f32):
      %156 = arith.select %in, %in_68, %in_69 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %97 = tensor.empty() : tensor<4x3xf32>
    %98 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%32, %96 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%97 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_41 = arith.constant dense<-88.7228394> : tensor<4x3xf32>
    %99 = tensor.empty() : tensor<4x3xi1>
    %cst_42 = arith.constant -88.7228394 : f32
    %100 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%22 : tensor<4x3xf32>) outs(%99 : tensor<4x3xi1>) {
    ^bb0(%in: f32, %out: i1):
      %156 = arith.cmpf olt, %in, %cst_42 : f32
      linalg.yield %156 : i1
    } -> tensor<4x3xi1>
    %cst_43 = arith.constant dense<0.000000e+00> : tensor<4x3xf32>
    %101 = tensor.empty() : tensor<4x3xf32>
    %cst_44 = arith.constant 0.000000e+00 : f32
    %102 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%100, %98 : tensor<4x3xi1>, tensor<4x3xf32>) outs(%101 : tensor<4x3xf32>) {
    ^bb0(%in: i1, %in_68: f32, %out: f32):
      %156 = arith.select %in, %cst_44, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %103 = tensor.empty() : tensor<4x3xi1>
    %cst_45 = arith.constant 0.000000e+00 : f32
    %104 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<4x3xf32>) outs(%103 : tensor<4x3xi1>) {
    ^bb0(%in: f32, %out: i1):
      %156 = arith.cmpf olt, %in, %cst_45 : f32
      linalg.yield %156 : i1
    } -> tensor<4x3xi1>
    %105 = tensor.empty() : tensor<4x3xf32>
    %cst_46 = arith.constant 2.000000e+00 : f32
    %106 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%102 : tensor<4x3xf32>) outs(%105 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.subf %cst_46, %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %107 = tensor.empty() : tensor<4x3xf32>
    %108 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%104, %106, %102 : tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>) outs(%107 : tensor<4x3xf32>) {
    ^bb0(%in: i1, %in_68: f32, %in_69: f32, %out: f32):
      %156 = arith.select %in, %in_68, %in_69 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_47 = arith.constant dense<1.000000e+00> : tensor<4x3xf32>
    %109 = tensor.empty() : tensor<4x3xf32>
    %110 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%18, %18 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%109 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_48 = arith.constant dense<7.85386146E-5> : tensor<4x3xf32>
    %111 = tensor.empty() : tensor<4x3xf32>
    %cst_49 = arith.constant 7.85386146E-5 : f32
    %112 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%110 : tensor<4x3xf32>) outs(%111 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.mulf %cst_49, %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_50 = arith.constant dense<-8.0101937E-4> : tensor<4x3xf32>
    %113 = tensor.empty() : tensor<4x3xf32>
    %cst_51 = arith.constant -8.0101937E-4 : f32
    %114 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%112 : tensor<4x3xf32>) outs(%113 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_51 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %115 = tensor.empty() : tensor<4x3xf32>
    %116 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%114, %110 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%115 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_52 = arith.constant dense<0.00518832775> : tensor<4x3xf32>
    %117 = tensor.empty() : tensor<4x3xf32>
    %cst_53 = arith.constant 0.00518832775 : f32
    %118 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%116 : tensor<4x3xf32>) outs(%117 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_53 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %119 = tensor.empty() : tensor<4x3xf32>
    %120 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%118, %110 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%119 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_54 = arith.constant dense<-0.0268538129> : tensor<4x3xf32>
    %121 = tensor.empty() : tensor<4x3xf32>
    %cst_55 = arith.constant -0.0268538129 : f32
    %122 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%120 : tensor<4x3xf32>) outs(%121 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_55 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %123 = tensor.empty() : tensor<4x3xf32>
    %124 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%122, %110 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%123 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_56 = arith.constant dense<0.112835854> : tensor<4x3xf32>
    %125 = tensor.empty() : tensor<4x3xf32>
    %cst_57 = arith.constant 0.112835854 : f32
    %126 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%124 : tensor<4x3xf32>) outs(%125 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_57 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %127 = tensor.empty() : tensor<4x3xf32>
    %128 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%126, %110 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%127 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_58 = arith.constant dense<-0.37612626> : tensor<4x3xf32>
    %129 = tensor.empty() : tensor<4x3xf32>
    %cst_59 = arith.constant -0.37612626 : f32
    %130 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%128 : tensor<4x3xf32>) outs(%129 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_59 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %131 = tensor.empty() : tensor<4x3xf32>
    %132 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%130, %110 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%131 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_60 = arith.constant dense<1.12837911> : tensor<4x3xf32>
    %133 = tensor.empty() : tensor<4x3xf32>
    %cst_61 = arith.constant 1.12837911 : f32
    %134 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%132 : tensor<4x3xf32>) outs(%133 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.addf %in, %cst_61 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %135 = tensor.empty() : tensor<4x3xf32>
    %136 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%18, %134 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%135 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %137 = tensor.empty() : tensor<4x3xf32>
    %cst_62 = arith.constant 1.000000e+00 : f32
    %138 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%136 : tensor<4x3xf32>) outs(%137 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.subf %cst_62, %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %139 = tensor.empty() : tensor<4x3xf32>
    %140 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<4x3xf32>) outs(%139 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = math.absf %in : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %141 = tensor.empty() : tensor<4x3xi1>
    %cst_63 = arith.constant 1.000000e+00 : f32
    %142 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%140 : tensor<4x3xf32>) outs(%141 : tensor<4x3xi1>) {
    ^bb0(%in: f32, %out: i1):
      %156 = arith.cmpf olt, %in, %cst_63 : f32
      linalg.yield %156 : i1
    } -> tensor<4x3xi1>
    %143 = tensor.empty() : tensor<4x3xf32>
    %144 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%142, %138, %108 : tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>) outs(%143 : tensor<4x3xf32>) {
    ^bb0(%in: i1, %in_68: f32, %in_69: f32, %out: f32):
      %156 = arith.select %in, %in_68, %in_69 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %145 = tensor.empty() : tensor<4x3xf32>
    %146 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%12, %144 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%145 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %147 = tensor.empty() : tensor<4x3xf32>
    %148 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%146, %arg3 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%147 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.subf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %149 = tensor.empty() : tensor<4x3xf32>
    %150 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%148, %148 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%149 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %in_68: f32, %out: f32):
      %156 = arith.mulf %in, %in_68 : f32
      linalg.yield %156 : f32
    } -> tensor<4x3xf32>
    %cst_64 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_65 = arith.constant 0.000000e+00 : f32
    %151 = tensor.empty() : tensor<f32>
    %152 = linalg.fill ins(%cst_65 : f32) outs(%151 : tensor<f32>) -> tensor<f32>
    %153 = linalg.generic {indexing_maps = [#map1, #map3], iterator_types = ["reduction", "reduction"]} ins(%150 : tensor<4x3xf32>) outs(%152 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %from_elements = tensor.from_elements %in : tensor<f32>
      %from_elements_68 = tensor.from_elements %out : tensor<f32>
      %extracted = tensor.extract %from_elements_68[] : tensor<f32>
      %extracted_69 = tensor.extract %from_elements[] : tensor<f32>
      %156 = arith.addf %extracted, %extracted_69 : f32
      %from_elements_70 = tensor.from_elements %156 : tensor<f32>
      %extracted_71 = tensor.extract %from_elements_70[] : tensor<f32>
      linalg.yield %extracted_71 : f32
    } -> tensor<f32>
    %cst_66 = arith.constant dense<1.200000e+01> : tensor<f32>
    %154 = tensor.empty() : tensor<f32>
    %cst_67 = arith.constant 1.200000e+01 : f32
    %155 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%153 : tensor<f32>) outs(%154 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %156 = arith.divf %in, %cst_67 : f32
      linalg.yield %156 : f32
    } -> tensor<f32>
    return %155 : tensor<f32>
  }
}
