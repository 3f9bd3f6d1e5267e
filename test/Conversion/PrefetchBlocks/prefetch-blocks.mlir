// RUN: sparse-opt %s --pass-pipeline="builtin.module(func.func(sparse-autograd-prefetch-blocks))" | FileCheck %s
// RUN: sparse-opt %s --pass-pipeline="builtin.module(func.func(sparse-autograd-prefetch-blocks{minimal-bytes=512}))" | FileCheck %s --check-prefix=BYTES

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A part of the mask is read, too. The exponentials are computed 256 at a time, and each time the lines of the
// next iteration's rows are asked for that lie where these do: of f32 16
// elements a line, of i1 64.

// CHECK-LABEL: func.func @exponentials
//  CHECK-SAME:     %[[X:[^:]+]]: memref<?x?xf32>, %[[MASK:[^:]+]]: memref<?x?xi1>, %{{[^:]+}}: memref<?xf32>, %{{[^:]+}}: memref<?x?xf32>, %[[N:[^:]+]]: index, %[[M:[^:]+]]: index
//       CHECK:   %[[LARGE:.+]] = arith.cmpi uge, %{{.+}}, %c4194304
//       CHECK:   scf.forall (%[[I:.+]]) in (%[[N]])
//       CHECK:     linalg.generic
//   CHECK-NOT:     memref.prefetch
//       CHECK:     %[[LAST:.+]] = arith.subi %[[N]], %{{.+}}
//       CHECK:     %[[LATER:.+]] = arith.addi %[[I]], %{{.+}}
//       CHECK:     %[[NEXT:.+]] = arith.minui %[[LATER]], %[[LAST]]
//       CHECK:     %[[NEXT_X:.+]] = memref.subview %[[X]][%[[NEXT]], 0] [1, %[[M]]]
//       CHECK:     %[[NEXT_MASK:.+]] = memref.subview %[[MASK]][%[[NEXT]], 0] [1, %[[M]]]
//       CHECK:     %[[FITS:.+]] = arith.cmpi ule, %{{.+}}, %c262144
//       CHECK:     %[[BOTH:.+]] = arith.andi %[[LARGE]], %[[FITS]]
//       CHECK:     scf.for %[[ROW:.+]] = %c0
//       CHECK:       scf.for %[[COLUMN:.+]] = %c0{{.*}} to %{{.+}} step %c256
//       CHECK:         scf.if %[[BOTH]] {
//       CHECK:           %[[END:.+]] = arith.addi %[[COLUMN]], %c256
//       CHECK:           %[[EXTENT:.+]] = memref.dim %[[NEXT_X]]
//       CHECK:           %[[WHOLE:.+]] = arith.cmpi ule, %[[END]], %[[EXTENT]]
//       CHECK:           scf.if %[[WHOLE]] {
//       CHECK:             scf.for %[[LINE:.+]] = %[[COLUMN]] to %[[END]] step %c16
//  CHECK-NEXT:               memref.prefetch %[[NEXT_X]][%[[ROW]], %[[LINE]]], read, locality<2>, data
//       CHECK:           } else {
//       CHECK:             scf.for %[[LINE:.+]] = %[[COLUMN]] to %[[EXTENT]] step %c16
//  CHECK-NEXT:               memref.prefetch %[[NEXT_X]][%[[ROW]], %[[LINE]]], read, locality<2>, data
//       CHECK:           scf.for %[[LINE:.+]] = %[[COLUMN]] to %{{.+}} step %c64
//  CHECK-NEXT:             memref.prefetch %[[NEXT_MASK]][%[[ROW]], %[[LINE]]], read, locality<2>, data
//       CHECK:         }
//       CHECK:         linalg.generic
//       CHECK:           math.exp

// BYTES-LABEL: func.func @exponentials
//       BYTES:   arith.cmpi uge, %{{.+}}, %c512
func.func @exponentials(%x: memref<?x?xf32>, %mask: memref<?x?xi1>, %largest: memref<?xf32>, %y: memref<?x?xf32>, %n: index, %m: index) {
  scf.forall (%i) in (%n) {
    %any = memref.alloca() : memref<1xi1>
    %in = memref.subview %x[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    %selected = memref.subview %mask[%i, 0] [1, %m] [1, 1] : memref<?x?xi1> to memref<1x?xi1, strided<[?, 1], offset: ?>>
    %top = memref.subview %largest[%i] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1], offset: ?>>
    %out = memref.subview %y[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%in, %selected : memref<1x?xf32, strided<[?, 1], offset: ?>>, memref<1x?xi1, strided<[?, 1], offset: ?>>)
        outs(%top : memref<1xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %s: i1, %o: f32):
      %b = arith.select %s, %a, %o : f32
      %c = arith.maximumf %o, %b : f32
      linalg.yield %c : f32
    }
    %part = memref.subview %selected[0, 0] [1, 8] [1, 1] : memref<1x?xi1, strided<[?, 1], offset: ?>> to memref<1x8xi1, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%part : memref<1x8xi1, strided<[?, 1], offset: ?>>) outs(%any : memref<1xi1>) {
    ^bb0(%s: i1, %o: i1):
      %b = arith.ori %s, %o : i1
      linalg.yield %b : i1
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in, %top : memref<1x?xf32, strided<[?, 1], offset: ?>>, memref<1xf32, strided<[1], offset: ?>>)
        outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %t: f32, %o: f32):
      %d = arith.subf %a, %t : f32
      %e = math.exp %d : f32
      linalg.yield %e : f32
    }
  }
  return
}

// What the loop writes it has no need to ask for.

// CHECK-LABEL: func.func @in_place
//  CHECK-SAME:     %[[X:[^:]+]]: memref<?x?xf32>, %[[Y:[^:]+]]: memref<?x?xf32>
//       CHECK:   %[[NEXT:.+]] = arith.minui
//       CHECK:   memref.subview %[[X]][%[[NEXT]], 0]
//   CHECK-NOT:   memref.subview %[[Y]][%[[NEXT]], 0]
//       CHECK:   memref.prefetch
//       CHECK:   return
func.func @in_place(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index, %m: index) {
  scf.forall (%i) in (%n) {
    %in = memref.subview %x[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    %out = memref.subview %y[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in : memref<1x?xf32, strided<[?, 1], offset: ?>>) outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %e = math.exp %a : f32
      linalg.yield %e : f32
    }
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %p = arith.mulf %a, %a : f32
      linalg.yield %p : f32
    }
  }
  return
}

// What computes little leaves memory no time.

// CHECK-LABEL: func.func @cheap
//   CHECK-NOT:   scf.if
//       CHECK:   return
func.func @cheap(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index, %m: index) {
  scf.forall (%i) in (%n) {
    %in = memref.subview %x[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    %out = memref.subview %y[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in : memref<1x?xf32, strided<[?, 1], offset: ?>>) outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %p = arith.mulf %a, %a : f32
      linalg.yield %p : f32
    }
  }
  return
}

// Where the next rows are is not known if a list says it.

// CHECK-LABEL: func.func @listed
//   CHECK-NOT:   scf.if
//       CHECK:   return
func.func @listed(%x: memref<?x?xf32>, %rows: memref<?xindex>, %y: memref<?x?xf32>, %n: index, %m: index) {
  scf.forall (%i) in (%n) {
    %r = memref.load %rows[%i] : memref<?xindex>
    %in = memref.subview %x[%r, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    %out = memref.subview %y[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in : memref<1x?xf32, strided<[?, 1], offset: ?>>) outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %e = math.exp %a : f32
      linalg.yield %e : f32
    }
  }
  return
}
