// RUN: sparse-opt %s --sparse-autograd-contraction-to-runtime=for-device --split-input-file | FileCheck %s

#device = #gpu.address_space<global>

// What fills the result with zeros belongs to the program's own product; a
// library overwrites the result. A loop is an extent and its strides in A, B, C.

// CHECK-LABEL: func.func @matmul
//  CHECK-SAME:     %[[A:[^:]+]]: memref<?x?xf32, {{.*}}>, %[[B:[^:]+]]: memref<?x?xf32, {{.*}}>
//       CHECK:   %[[LOOPS:.+]] = memref.alloca() : memref<12xi64>
//       CHECK:   %[[C:.+]] = memref.alloc
//   CHECK-NOT:   linalg
//       CHECK:   memref.extract_strided_metadata %[[A]]
//       CHECK:   memref.extract_strided_metadata %[[B]]
//       CHECK:   memref.extract_strided_metadata %[[C]]
//   CHECK-DAG:   %[[F32:.+]] = arith.constant 7 : i32
//   CHECK-DAG:   %[[THREE:.+]] = arith.constant 3 : i64
//   CHECK-DAG:   %[[ONE:.+]] = arith.constant 1.000000e+00 : f64
//   CHECK-DAG:   %[[ZERO:.+]] = arith.constant 0.000000e+00 : f64
//       CHECK:   %[[DONE:.+]] = call @sparseAutogradDeviceContract(%{{.+}}, %{{.+}}, %[[THREE]], %{{.+}}, %[[ONE]], %{{.+}}, %{{.+}}, %[[ZERO]], %{{.+}}) : (i32, i32, i64, !llvm.ptr, f64, !llvm.ptr, !llvm.ptr, f64, !llvm.ptr) -> i32
//       CHECK:   %[[LEFT:.+]] = arith.cmpi eq, %[[DONE]], %{{.+}} : i32
//       CHECK:   scf.if %[[LEFT]] {
//  CHECK-NEXT:     linalg.fill {{.*}} outs(%[[C]] :
//  CHECK-NEXT:     linalg.matmul ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]] :
//  CHECK-NEXT:   }
//  CHECK-NEXT:   return
func.func @matmul(%a: memref<?x?xf32, #device>, %b: memref<?x?xf32, #device>) -> memref<?x?xf32, #device> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x?xf32, #device>
  %n = memref.dim %b, %c1 : memref<?x?xf32, #device>
  %c = memref.alloc(%m, %n) : memref<?x?xf32, #device>
  linalg.fill ins(%zero : f32) outs(%c : memref<?x?xf32, #device>)
  linalg.matmul ins(%a, %b : memref<?x?xf32, #device>, memref<?x?xf32, #device>) outs(%c : memref<?x?xf32, #device>)
  return %c : memref<?x?xf32, #device>
}

// -----

#device = #gpu.address_space<global>
!matrix = memref<64x64xf32, #device>

// A fill stays in front if another name of the result may be read behind it: that
// of a view, of a choice, of what a loop begins with, or of the iteration before.

// CHECK-LABEL: func.func @view(
//       CHECK:   linalg.fill
//       CHECK:   call @sparseAutogradDeviceContract(
//       CHECK:   scf.if
//  CHECK-NEXT:     linalg.matmul
func.func @view(%a: !matrix, %other: !matrix) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : !matrix
  %x = memref.reinterpret_cast %c to offset: [0], sizes: [64, 64], strides: [64, 1] : !matrix to !matrix
  linalg.fill ins(%zero : f32) outs(%c : !matrix)
  memref.copy %x, %other : !matrix to !matrix
  linalg.matmul ins(%a, %a : !matrix, !matrix) outs(%c : !matrix)
  return
}

// CHECK-LABEL: func.func @choice(
//       CHECK:   linalg.fill
//       CHECK:   call @sparseAutogradDeviceContract(
//       CHECK:   scf.if
//  CHECK-NEXT:     linalg.matmul
func.func @choice(%a: !matrix, %other: !matrix, %first: i1) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : !matrix
  %x = arith.select %first, %c, %a : !matrix
  linalg.fill ins(%zero : f32) outs(%c : !matrix)
  memref.copy %x, %other : !matrix to !matrix
  linalg.matmul ins(%a, %a : !matrix, !matrix) outs(%c : !matrix)
  return
}

// CHECK-LABEL: func.func @first_of_loop(
//       CHECK:   linalg.fill
//       CHECK:   call @sparseAutogradDeviceContract(
//       CHECK:   scf.if
//  CHECK-NEXT:     linalg.matmul
func.func @first_of_loop(%a: !matrix, %other: !matrix, %n: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = memref.alloc() : !matrix
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c) -> (!matrix) {
    linalg.fill ins(%zero : f32) outs(%c : !matrix)
    memref.copy %x, %other : !matrix to !matrix
    linalg.matmul ins(%a, %a : !matrix, !matrix) outs(%c : !matrix)
    scf.yield %a : !matrix
  }
  return
}

// CHECK-LABEL: func.func @next_of_loop(
//       CHECK:   linalg.fill
//       CHECK:   call @sparseAutogradDeviceContract(
//       CHECK:   scf.if
//  CHECK-NEXT:     linalg.matmul
func.func @next_of_loop(%a: !matrix, %other: !matrix, %n: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = memref.alloc() : !matrix
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (!matrix) {
    linalg.fill ins(%zero : f32) outs(%c : !matrix)
    memref.copy %x, %other : !matrix to !matrix
    linalg.matmul ins(%a, %a : !matrix, !matrix) outs(%c : !matrix)
    scf.yield %c : !matrix
  }
  return
}

// CHECK-LABEL: func.func @nested_use(
//       CHECK:   linalg.fill
//       CHECK:   call @sparseAutogradDeviceContract(
//       CHECK:   scf.if
//  CHECK-NEXT:     linalg.matmul
func.func @nested_use(%a: !matrix, %other: !matrix, %is_read: i1) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : !matrix
  linalg.fill ins(%zero : f32) outs(%c : !matrix)
  scf.if %is_read {
    memref.copy %c, %other : !matrix to !matrix
  }
  linalg.matmul ins(%a, %a : !matrix, !matrix) outs(%c : !matrix)
  return
}

// It does not if each iteration has a buffer of its own, or the other uses are in
// front of it.

// CHECK-LABEL: func.func @new_buffer(
//       CHECK:   call @sparseAutogradDeviceContract(
//       CHECK:   scf.if
//  CHECK-NEXT:     linalg.fill
//  CHECK-NEXT:     linalg.matmul
func.func @new_buffer(%a: !matrix, %other: !matrix, %n: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (!matrix) {
    %c = memref.alloc() : !matrix
    linalg.fill ins(%zero : f32) outs(%c : !matrix)
    memref.copy %x, %other : !matrix to !matrix
    linalg.matmul ins(%a, %a : !matrix, !matrix) outs(%c : !matrix)
    scf.yield %c : !matrix
  }
  return
}

// CHECK-LABEL: func.func @use_in_front(
//       CHECK:   call @sparseAutogradDeviceContract(
//       CHECK:   scf.if
//  CHECK-NEXT:     linalg.fill
//  CHECK-NEXT:     linalg.matmul
func.func @use_in_front(%a: !matrix, %other: !matrix, %is_read: i1) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : !matrix
  memref.copy %other, %c : !matrix to !matrix
  scf.if %is_read {
    memref.copy %c, %other : !matrix to !matrix
  }
  linalg.fill ins(%zero : f32) outs(%c : !matrix)
  linalg.matmul ins(%a, %a : !matrix, !matrix) outs(%c : !matrix)
  return
}

// -----

#device = #gpu.address_space<global>

// A scale that the host has, and a difference; the result is read.

// CHECK-LABEL: func.func @scaled_difference
//  CHECK-SAME:     %[[SCALE:[^:]+]]: f32
//   CHECK-DAG:   %[[WIDE:.+]] = arith.extf %[[SCALE]] : f32 to f64
//   CHECK-DAG:   %[[ALPHA:.+]] = arith.negf %[[WIDE]] : f64
//   CHECK-DAG:   %[[BETA:.+]] = arith.constant 1.000000e+00 : f64
//       CHECK:   call @sparseAutogradDeviceContract({{.*}}, %[[ALPHA]], %{{.+}}, %{{.+}}, %[[BETA]], %{{.+}})
func.func @scaled_difference(%a: memref<?x?xf32, #device>, %b: memref<?x?xf32, #device>, %c: memref<?x?xf32, #device>, %scale: f32) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf32, #device>, memref<?x?xf32, #device>) outs(%c : memref<?x?xf32, #device>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.mulf %p, %scale : f32
    %d = arith.subf %s, %q : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#device = #gpu.address_space<global>

// A scale that many ops have made, in whose graph there are many more paths.

// CHECK-LABEL: func.func @scale_of_many_ops
//       CHECK:   call @sparseAutogradDeviceContract(
func.func @scale_of_many_ops(%a: memref<?x?xf32, #device>, %b: memref<?x?xf32, #device>, %c: memref<?x?xf32, #device>, %s0: f32) {
  %s1 = math.fma %s0, %s0, %s0 : f32
  %s2 = math.fma %s1, %s1, %s1 : f32
  %s3 = math.fma %s2, %s2, %s2 : f32
  %s4 = math.fma %s3, %s3, %s3 : f32
  %s5 = math.fma %s4, %s4, %s4 : f32
  %s6 = math.fma %s5, %s5, %s5 : f32
  %s7 = math.fma %s6, %s6, %s6 : f32
  %s8 = math.fma %s7, %s7, %s7 : f32
  %s9 = math.fma %s8, %s8, %s8 : f32
  %s10 = math.fma %s9, %s9, %s9 : f32
  %s11 = math.fma %s10, %s10, %s10 : f32
  %s12 = math.fma %s11, %s11, %s11 : f32
  %s13 = math.fma %s12, %s12, %s12 : f32
  %s14 = math.fma %s13, %s13, %s13 : f32
  %s15 = math.fma %s14, %s14, %s14 : f32
  %s16 = math.fma %s15, %s15, %s15 : f32
  %s17 = math.fma %s16, %s16, %s16 : f32
  %s18 = math.fma %s17, %s17, %s17 : f32
  %s19 = math.fma %s18, %s18, %s18 : f32
  %s20 = math.fma %s19, %s19, %s19 : f32
  %s21 = math.fma %s20, %s20, %s20 : f32
  %s22 = math.fma %s21, %s21, %s21 : f32
  %s23 = math.fma %s22, %s22, %s22 : f32
  %s24 = math.fma %s23, %s23, %s23 : f32
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf32, #device>, memref<?x?xf32, #device>) outs(%c : memref<?x?xf32, #device>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.mulf %p, %s24 : f32
    %d = arith.addf %s, %q : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#device = #gpu.address_space<global>

// Extents and strides that are known: those of a loop that an operand does not
// have are 0. The heads of attention: q[b, i, h, k] with k[b, j, h, k].

// CHECK-LABEL: func.func @heads
//       CHECK:   %[[LOOPS:.+]] = memref.alloca() : memref<20xi64>
//       CHECK:   arith.constant 5 : i64
//       CHECK:   call @sparseAutogradDeviceContract(
//       CHECK:   scf.if
//  CHECK-NEXT:     linalg.generic
func.func @heads(%q: memref<2x64x4x16xf64, #device>, %k: memref<2x32x4x16xf64, #device>, %s: memref<2x4x64x32xf64, #device>) {
  linalg.generic {indexing_maps = [affine_map<(b, h, i, j, k) -> (b, i, h, k)>, affine_map<(b, h, i, j, k) -> (b, j, h, k)>, affine_map<(b, h, i, j, k) -> (b, h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : memref<2x64x4x16xf64, #device>, memref<2x32x4x16xf64, #device>) outs(%s : memref<2x4x64x32xf64, #device>) {
  ^bb0(%x: f64, %y: f64, %sum: f64):
    %p = arith.mulf %x, %y : f64
    %n = arith.addf %sum, %p : f64
    linalg.yield %n : f64
  }
  return
}

// -----

#device = #gpu.address_space<global>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// Narrow factors, whose products are computed and summed in f32; products that are
// rounded before a library does not compute.

// CHECK-LABEL: func.func @narrow
//   CHECK-NOT:   call
//       CHECK:   linalg.generic
//       CHECK:   arith.constant 9 : i32
//       CHECK:   call @sparseAutogradDeviceContract(
//       CHECK:   scf.if
//  CHECK-NEXT:     linalg.generic
//       CHECK:   arith.constant 6 : i32
//       CHECK:   call @sparseAutogradDeviceContract(
func.func @narrow(%a: memref<?x?xf16, #device>, %b: memref<?x?xf16, #device>, %d: memref<?x?xbf16, #device>, %e: memref<?x?xbf16, #device>, %c: memref<?x?xf32, #device>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf16, #device>, memref<?x?xf16, #device>) outs(%c : memref<?x?xf32, #device>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %p = arith.mulf %x, %y : f16
    %w = arith.extf %p : f16 to f32
    %n = arith.addf %s, %w : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%d, %e : memref<?x?xbf16, #device>, memref<?x?xbf16, #device>) outs(%c : memref<?x?xf32, #device>) {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %v = arith.extf %x : bf16 to f32
    %w = arith.extf %y : bf16 to f32
    %p = arith.mulf %v, %w : f32
    %n = arith.addf %s, %p : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf16, #device>, memref<?x?xf16, #device>) outs(%c : memref<?x?xf32, #device>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %v, %w : f32
    %n = arith.addf %s, %p : f32
    linalg.yield %n : f32
  }
  return
}

// -----

#device = #gpu.address_space<global>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// What is left to the program: small products, those with a vector, of memory
// of the host, of types that no library has, scaled by what the host would have
// to wait for, and in a kernel.

// CHECK-LABEL: func.func @others
//   CHECK-NOT:   sparseAutogradDeviceContract
//       CHECK:   return
func.func @others(%small: memref<8x8xf32, #device>, %a: memref<?x?xf32, #device>, %v: memref<?xf32, #device>, %w: memref<?xf32, #device>,
                  %h: memref<?x?xf32>, %n: memref<?x?xf16, #device>, %scale: memref<f32, #device>) {
  linalg.matmul ins(%small, %small : memref<8x8xf32, #device>, memref<8x8xf32, #device>) outs(%small : memref<8x8xf32, #device>)
  linalg.matvec ins(%a, %v : memref<?x?xf32, #device>, memref<?xf32, #device>) outs(%w : memref<?xf32, #device>)
  linalg.matmul ins(%h, %h : memref<?x?xf32>, memref<?x?xf32>) outs(%h : memref<?x?xf32>)
  linalg.matmul ins(%n, %n : memref<?x?xf16, #device>, memref<?x?xf16, #device>) outs(%n : memref<?x?xf16, #device>)
  linalg.matmul ins(%n, %a : memref<?x?xf16, #device>, memref<?x?xf32, #device>) outs(%a : memref<?x?xf32, #device>)
  %s = memref.load %scale[] : memref<f32, #device>
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : memref<?x?xf32, #device>, memref<?x?xf32, #device>) outs(%a : memref<?x?xf32, #device>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.mulf %p, %s : f32
    %next = arith.addf %sum, %q : f32
    linalg.yield %next : f32
  }
  // A maximum is no sum, and a map of more than dimensions no matrix.
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : memref<?x?xf32, #device>, memref<?x?xf32, #device>) outs(%a : memref<?x?xf32, #device>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %next = arith.maximumf %sum, %p : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i + k)>, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%v, %a : memref<?xf32, #device>, memref<?x?xf32, #device>) outs(%a : memref<?x?xf32, #device>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %p : f32
    linalg.yield %next : f32
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.parallel (%i) = (%c0) to (%c9) step (%c1) {
    linalg.matmul ins(%a, %a : memref<?x?xf32, #device>, memref<?x?xf32, #device>) outs(%a : memref<?x?xf32, #device>)
  }
  return
}
