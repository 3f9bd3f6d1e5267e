// RUN: sparse-opt %s --sparse-autograd-sparse-product-to-runtime | FileCheck %s

// Offers on buffers of the device are calls of the runtime.

#device = #gpu.address_space<global>

// x -= s y: x is read. The columns of y are those of x, and it has the columns
// of the sparse matrix first.

// CHECK-LABEL: func.func @multiply
//  CHECK-SAME:     %[[POSITIONS:[^:]+]]: memref<?xi32, {{.*}}>, %[[COORDINATES:[^:]+]]: memref<?xi32, {{.*}}>, %[[VALUES:[^:]+]]: memref<?xf64, {{.*}}>, %[[Y:[^:]+]]: memref<?x?xf64, {{.*}}>, %[[X:[^:]+]]: memref<?x?xf64, {{.*}}>, %[[M:[^:]+]]: index, %[[K:[^:]+]]: index, %[[SCALE:[^:]+]]: f64
//   CHECK-DAG:   %[[F64:.+]] = arith.constant 8 : i32
//   CHECK-DAG:   %[[I32:.+]] = arith.constant 3 : i32
//   CHECK-DAG:   %[[ROWS:.+]] = arith.index_cast %[[M]] : index to i64
//   CHECK-DAG:   %[[COLUMNS:.+]] = arith.index_cast %[[K]] : index to i64
//   CHECK-DAG:   %[[STORED:.+]] = memref.dim %[[COORDINATES]], %{{.+}}
//   CHECK-DAG:   %[[WIDTH:.+]] = memref.dim %[[X]], %c1
//   CHECK-DAG:   %[[ONE:.+]] = arith.constant 1.000000e+00 : f64
//       CHECK:   %[[DONE:.+]] = call @sparseAutogradDeviceMultiplySparse(%[[F64]], %[[I32]], %[[ROWS]], %[[COLUMNS]], {{.*}}, %[[SCALE]], {{.*}}, %[[ONE]], {{.*}}) : (i32, i32, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, f64, !llvm.ptr, i64, i64, f64, !llvm.ptr, i64, i64) -> i32
//       CHECK:   %[[NONE:.+]] = arith.constant 0 : i32
//       CHECK:   %[[IS_DONE:.+]] = arith.cmpi ne, %[[DONE]], %[[NONE]] : i32
//       CHECK:   return %[[IS_DONE]]
func.func @multiply(%positions: memref<?xi32, #device>, %coordinates: memref<?xi32, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %k: index, %scale: f64) -> i1 {
  %done = sparse_autograd.offer_product %scale * %m x %k
      ins(%positions, %coordinates, %values, %y : memref<?xi32, #device>, memref<?xi32, #device>, memref<?xf64, #device>, memref<?x?xf64, #device>)
      outs(%x : memref<?x?xf64, #device>) {accumulates}
  return %done : i1
}

// Strides of a transposed matrix come in the other order, and beta is zero.

// CHECK-LABEL: func.func @sample
//  CHECK-SAME:     %{{[^:]+}}: memref<?xindex, {{.*}}>, %{{[^:]+}}: memref<?xindex, {{.*}}>, %{{[^:]+}}: memref<?xf32, {{.*}}>, %[[X:[^:]+]]: memref<8x?xf32, {{.*}}>, %[[Y:[^:]+]]: memref<?x8xf32, {{.*}}>
//       CHECK:   memref.dim %[[X]], %c0
//       CHECK:   %{{.+}}, %{{.+}}, %{{.+}}:2, %[[YS:.+]]:2 = memref.extract_strided_metadata %[[Y]]
//       CHECK:   %[[Y0:.+]] = arith.index_cast %[[YS]]#1
//       CHECK:   %[[Y1:.+]] = arith.index_cast %[[YS]]#0
//       CHECK:   %[[ZERO:.+]] = arith.constant 0.000000e+00 : f64
//       CHECK:   %{{.+}}, %{{.+}}, %{{.+}}:2, %[[XS:.+]]:2 = memref.extract_strided_metadata %[[X]]
//       CHECK:   %[[X0:.+]] = arith.index_cast %[[XS]]#1
//       CHECK:   %[[X1:.+]] = arith.index_cast %[[XS]]#0
//       CHECK:   call @sparseAutogradDeviceSampleProduct({{.*}}, %[[Y0]], %[[Y1]], %[[ZERO]], %{{[^,]+}}, %[[X0]], %[[X1]])
func.func @sample(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf32, #device>, %x: memref<8x?xf32, #device>, %y: memref<?x8xf32, #device>, %m: index, %n: index, %scale: f64) -> i1 {
  %done = sparse_autograd.offer_sampled_product %scale * %m x %n
      ins(%positions, %coordinates, %x, %y : memref<?xindex, #device>, memref<?xindex, #device>, memref<8x?xf32, #device>, memref<?x8xf32, #device>)
      outs(%values : memref<?xf32, #device>) {x_transposed, y_transposed}
  return %done : i1
}
