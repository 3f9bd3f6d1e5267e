// RUN: sparse-opt %s --sparse-autograd-compress-masked-rows --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Where the mask selects few elements, and blocks are rows, the exponentials of
// these alone are computed. The sum begins with 0.0, and the result is 0.0
// behind the mask.

// CHECK-LABEL: func.func @exponentials
//  CHECK-SAME:     %[[X:[^:]+]]: memref<?x?xf32>, %[[MASK:[^:]+]]: memref<?x?xi1>, %[[N:[^:]+]]: index, %[[M:[^:]+]]: index, %[[ROWS:[^:]+]]: index
//   CHECK-DAG:   %[[ZERO:.+]] = arith.constant 0.0
//       CHECK:   %[[RESULT:.+]] = memref.alloc(%[[N]], %[[M]])
//       CHECK:   %[[IS_ROW:.+]] = arith.cmpi eq, %[[ROWS]], %{{.+}} : index
//       CHECK:   %[[PAYS:.+]] = scf.if %[[IS_ROW]] -> (i1) {
//       CHECK:     %[[ELEMENTS:.+]] = arith.index_cast %{{.+}} : index to i64
//       CHECK:     %[[SELECTED:.+]] = func.call @sparseAutogradEstimateSelected(%{{.+}}, %[[ELEMENTS]])
//       CHECK:     %[[THIRD:.+]] = arith.divui %[[ELEMENTS]], %c3
//       CHECK:     %[[IS_SPARSE:.+]] = arith.cmpi ule, %[[SELECTED]], %[[THIRD]] : i64
//       CHECK:     scf.yield %[[IS_SPARSE]]
//       CHECK:   } else {
//       CHECK:     scf.yield %false
//       CHECK:   scf.if %[[PAYS]] {
//       CHECK:     scf.forall
//       CHECK:       %[[SIZE:.+]] = arith.minui
//       CHECK:       %[[ROW:.+]] = memref.subview %[[X]][
//       CHECK:       %[[SELECTS:.+]] = memref.subview %[[MASK]][
//       CHECK:       %[[OUT:.+]] = memref.subview %[[RESULT]][
//       CHECK:       %[[BUFFER:.+]] = memref.alloc(%[[M]]) {alignment = 64 : i64} : memref<1x?xf32>
//       CHECK:       %[[BYTES:.+]] = arith.constant 4 : i64
//       CHECK:       %[[COUNT:.+]] = func.call @sparseAutogradCompressRow(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[BYTES]])
//       CHECK:       %[[FEW:.+]] = arith.index_cast %[[COUNT]] : i64 to index
//       CHECK:       %[[OUT_BUFFER:.+]] = memref.alloc(%[[M]]) {alignment = 64 : i64} : memref<1x?xf32>
//       CHECK:       %[[PART:.+]] = memref.subview %[[BUFFER]][0, 0] [%[[SIZE]], %[[FEW]]] [1, 1]
//       CHECK:       %[[OUT_PART:.+]] = memref.subview %[[OUT_BUFFER]][0, 0] [%[[SIZE]], %[[FEW]]] [1, 1]
//       CHECK:       %[[MASK_PART:.+]] = memref.subview %[[SELECTS]][0, 0] [%[[SIZE]], %[[FEW]]] [1, 1]
//       CHECK:       linalg.fill ins(%[[ZERO]]
//       CHECK:       linalg.generic {{.*}} ins(%[[PART]], %[[MASK_PART]] : {{.*}}) outs(%[[OUT_PART]], %{{.+}} : {{.*}}) {
//       CHECK:         %[[TRUE:.+]] = arith.constant true
//       CHECK:         arith.select %[[TRUE]]
//       CHECK:       linalg.generic {{.*}} ins(%[[OUT_PART]]
//       CHECK:       memref.extract_strided_metadata %[[OUT]]
//       CHECK:       memref.extract_strided_metadata %[[OUT_BUFFER]]
//       CHECK:       func.call @sparseAutogradExpandRow(
//       CHECK:   } else {
//       CHECK:     scf.forall
//   CHECK-NOT:       sparseAutograd
//       CHECK:       linalg.generic
//       CHECK:       linalg.generic
//   CHECK-NOT:   sparseAutograd
//       CHECK:   return %[[RESULT]]
func.func @exponentials(%x: memref<?x?xf32>, %mask: memref<?x?xi1>, %n: index, %m: index, %rows: index) -> memref<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %result = memref.alloc(%n, %m) : memref<?x?xf32>
  scf.forall (%i) in (%n) {
    %offset = arith.muli %i, %rows : index
    %rest = arith.subi %n, %offset : index
    %size = arith.minui %rows, %rest : index
    %row = memref.subview %x[%offset, 0] [%size, %m] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %selects = memref.subview %mask[%offset, 0] [%size, %m] [1, 1] : memref<?x?xi1> to memref<?x?xi1, strided<[?, 1], offset: ?>>
    %sum = memref.alloc(%size) : memref<?xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<?xf32>)
    %out = memref.subview %result[%offset, 0] [%size, %m] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id, #id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%row, %selects : memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?x?xi1, strided<[?, 1], offset: ?>>)
        outs(%out, %sum : memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?xf32>) {
    ^bb0(%a: f32, %s: i1, %o: f32, %t: f32):
      %e = math.exp %a : f32
      %p = arith.select %s, %e, %zero : f32
      %u = arith.addf %t, %p : f32
      linalg.yield %e, %u : f32, f32
    }
    linalg.generic {indexing_maps = [#id, #id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%out, %selects, %sum : memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?x?xi1, strided<[?, 1], offset: ?>>, memref<?xf32>)
        outs(%out : memref<?x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %s: i1, %t: f32, %o: f32):
      %q = arith.divf %a, %t : f32
      %p = arith.select %s, %q, %zero : f32
      linalg.yield %p : f32
    }
  }
  return %result : memref<?x?xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What is between two operations is compressed where it is; what has to do with
// none of the rows stays as it is. Counts and maxima of what is not selected
// are neutral, whichever side the mask is on.

// CHECK-LABEL: func.func @intermediate
//       CHECK:   func.call @sparseAutogradEstimateSelected
//       CHECK:   %[[ALONG:.+]] = memref.alloc() : memref<1x4096xf64>
//       CHECK:   %[[COUNT:.+]] = func.call @sparseAutogradCompressRow
//       CHECK:   memref.subview %[[ALONG]][0, 0] [1, %{{.+}}] [1, 1] : memref<1x4096xf64> to memref<1x?xf64, strided<[4096, 1]>>
//       CHECK:   linalg.generic
//       CHECK:   linalg.generic
//   CHECK-NOT:   sparseAutogradExpandRow
//       CHECK:   linalg.generic {{.*}} outs(%{{.+}} : memref<1x8xf64>)
//       CHECK:   } else {
func.func @intermediate(%x: memref<64x4096xf64>, %mask: memref<64x4096xi1>, %counts: memref<64xi64>, %maxima: memref<64xf64>, %other: memref<1x8xf64>) {
  %least = arith.constant 0xFFF0000000000000 : f64
  scf.forall (%i) in (64) {
    %row = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<64x4096xf64> to memref<1x4096xf64, strided<[4096, 1], offset: ?>>
    %selects = memref.subview %mask[%i, 0] [1, 4096] [1, 1] : memref<64x4096xi1> to memref<1x4096xi1, strided<[4096, 1], offset: ?>>
    %count = memref.subview %counts[%i] [1] [1] : memref<64xi64> to memref<1xi64, strided<[1], offset: ?>>
    %maximum = memref.subview %maxima[%i] [1] [1] : memref<64xf64> to memref<1xf64, strided<[1], offset: ?>>
    %along = memref.alloc() : memref<1x4096xf64>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%row : memref<1x4096xf64, strided<[4096, 1], offset: ?>>) outs(%along : memref<1x4096xf64>) {
    ^bb0(%a: f64, %o: f64):
      %e = math.log %a : f64
      linalg.yield %e : f64
    }
    linalg.generic {indexing_maps = [#id, #id, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%along, %selects : memref<1x4096xf64>, memref<1x4096xi1, strided<[4096, 1], offset: ?>>)
        outs(%count, %maximum : memref<1xi64, strided<[1], offset: ?>>, memref<1xf64, strided<[1], offset: ?>>) {
    ^bb0(%a: f64, %s: i1, %o: i64, %p: f64):
      %one = arith.extui %s : i1 to i64
      %sum = arith.addi %one, %o : i64
      %is = arith.cmpf ogt, %a, %least : f64
      %both = arith.andi %s, %is : i1
      %e = math.exp %a : f64
      %b = arith.select %both, %e, %least : f64
      %m = arith.maximumf %p, %b : f64
      linalg.yield %sum, %m : i64, f64
    }
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%other : memref<1x8xf64>) {
    ^bb0(%o: f64):
      linalg.yield %o : f64
    }
  }
  return
}
