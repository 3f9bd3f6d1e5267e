// RUN: sparse-opt %s --sparse-autograd-linalg-to-loops="for-device=true chunk-work=64 maximal-partials=2048" --canonicalize | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#scalar = affine_map<(i, j) -> ()>

// Each element is an iteration, neighbours in memory one after the other.

// CHECK-LABEL: func.func @transpose(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x?xf32>, %[[Y:[^:]*]]: memref<?x?xf32>
// CHECK:       scf.parallel (%[[I:.*]], %[[J:.*]]) = (%c0, %c0) to (%{{.*}}, %{{.*}}) step (%c1, %c1) {
// CHECK-NOT:     scf.for
// CHECK:         %[[V:.*]] = memref.load %[[X]][%[[J]], %[[I]]]
// CHECK:         memref.store %[[V]], %[[Y]][%[[I]], %[[J]]]
// CHECK:         scf.reduce
func.func @transpose(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
  }
  return
}

// A sum of each row is a loop of an iteration.

// CHECK-LABEL: func.func @rows(
// CHECK:       scf.parallel (%[[I:.*]]) =
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} -> (f32)
// CHECK:         memref.store %[[SUM]], %{{.*}}[%[[I]]]
// CHECK:         scf.reduce
// CHECK-NOT:   scf.parallel
// CHECK:       return
func.func @rows(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
  }
  return
}

// Few sums of many elements have partial sums, in the memory space of the
// result, which are added in order.

// CHECK-LABEL: func.func @columns(
// CHECK:       %[[PARTIALS:.*]] = memref.alloc(%[[COUNT:.*]]) : memref<?x16xf32, 1>
// CHECK:       scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%[[COUNT]], %c16)
// CHECK:         memref.store %{{.*}}, %[[PARTIALS]]
// CHECK:       scf.parallel (%[[CHUNK:.*]], %[[J:.*]]) = (%c0, %c0) to (%[[COUNT]], %c16)
// CHECK:         scf.for
// CHECK:       scf.parallel (%[[K:.*]]) = (%c0) to (%c16)
// CHECK:         scf.for %[[P:.*]] = %c0 to %[[COUNT]]
// CHECK:           memref.load %[[PARTIALS]][%[[P]], %[[K]]]
// CHECK:       memref.dealloc %[[PARTIALS]]
func.func @columns(%x: memref<?x16xf32, 1>, %y: memref<16xf32, 1>) {
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<?x16xf32, 1>) outs(%y : memref<16xf32, 1>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
  }
  return
}

// Of a short sum to one element there is nothing to cut.

// CHECK-LABEL: func.func @short(
// CHECK-NOT:   scf.parallel
// CHECK:       return
func.func @short(%x: memref<4x8xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [#id, #scalar], iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<4x8xf32>) outs(%y : memref<f32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %b, %a : f32
      linalg.yield %s : f32
  }
  return
}
