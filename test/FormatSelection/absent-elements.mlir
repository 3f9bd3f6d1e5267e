// RUN: sparse-opt %s --sparse-autograd-select-formats | FileCheck %s

// What is left of an op where an element is absent. A small tensor stays dense,
// and what reads it chooses between the op and what is left of it.

#vector = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>
#id = affine_map<(i) -> (i)>
!v = tensor<4xf64>
!s = tensor<4xf64, #vector>
!iv = tensor<4xi32>

// The third factor of a multiply-add is a summand, and 0 times infinity is a NaN.

// CHECK-LABEL: func.func @products
// CHECK:       ^bb0(%[[A:[^:]*]]: f64, %[[B:[^:]*]]: f64,
// CHECK:         %[[IS:.*]] = arith.cmpf une, %[[A]], %
// CHECK:         math.fma %[[A]], %[[B]], %[[OUT:[^ ]*]] :
// CHECK-NEXT:    math.fma %[[B]], %[[A]], %[[OTHER_OUT:[^ ]*]] :
// CHECK:         math.fma %[[B]], %[[B]], %[[A]]
// CHECK-NEXT:    %[[ABSENT:.*]] = arith.constant 0.0
// CHECK-NEXT:    %[[TWO:.*]] = arith.constant 2.0
// CHECK-NEXT:    %[[TWICE:.*]] = arith.mulf %[[B]], %[[TWO]]
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT:    %[[NONE:.*]] = arith.mulf %[[B]], %[[ZERO]]
// CHECK-NEXT:    %[[SQUARE:.*]] = math.fma %[[B]], %[[B]], %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %[[B]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %[[B]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[TWICE]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[NONE]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[OUT]] :
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[OTHER_OUT]] :
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[SQUARE]]
func.func @products(%x: !v, %y: !v, %z: !v) -> (!v, !v, !v, !v, !v, !v, !v, !v, !v, !v) {
  %one = arith.constant 1.0 : f64
  %two = arith.constant 2.0 : f64
  %zero = arith.constant 0.0 : f64
  %s = sparse_tensor.convert %x : !v to !s
  %r:10 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%s, %y : !s, !v) outs(%z, %z, %z, %z, %z, %z, %z, %z, %z, %z : !v, !v, !v, !v, !v, !v, !v, !v, !v, !v) {
  ^bb0(%a: f64, %b: f64, %o0: f64, %o1: f64, %o2: f64, %o3: f64, %o4: f64, %o5: f64, %o6: f64, %o7: f64, %o8: f64, %o9: f64):
    %0 = arith.mulf %a, %b : f64
    %1 = arith.mulf %b, %a : f64
    %2 = arith.mulf %one, %b : f64
    %3 = arith.mulf %b, %one : f64
    %4 = arith.mulf %b, %two : f64
    %5 = arith.mulf %b, %zero : f64
    %6 = math.fma %a, %b, %o6 : f64
    %7 = math.fma %b, %a, %o7 : f64
    %8 = arith.divf %a, %b : f64
    %9 = math.fma %b, %b, %a : f64
    linalg.yield %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : f64, f64, f64, f64, f64, f64, f64, f64, f64, f64
  } -> (!v, !v, !v, !v, !v, !v, !v, !v, !v, !v)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9 : !v, !v, !v, !v, !v, !v, !v, !v, !v, !v
}

// CHECK-LABEL: func.func @sums
// CHECK:       ^bb0(%[[A:[^:]*]]: f64, %[[B:[^:]*]]: f64,
// CHECK:         %[[IS:.*]] = arith.cmpf une, %[[A]], %
// CHECK:         arith.subf %[[A]], %[[B]]
// CHECK-NEXT:    %[[ABSENT:.*]] = arith.constant 0.0
// CHECK-NEXT:    %[[NEGATED:.*]] = arith.subf %[[ABSENT]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %[[B]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %[[B]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %[[B]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[NEGATED]]
func.func @sums(%x: !v, %y: !v, %z: !v) -> (!v, !v, !v, !v, !v, !v, !v, !v, !v) {
  %zero = arith.constant 0.0 : f64
  %s = sparse_tensor.convert %x : !v to !s
  %r:9 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%s, %y : !s, !v) outs(%z, %z, %z, %z, %z, %z, %z, %z, %z : !v, !v, !v, !v, !v, !v, !v, !v, !v) {
  ^bb0(%a: f64, %b: f64, %o0: f64, %o1: f64, %o2: f64, %o3: f64, %o4: f64, %o5: f64, %o6: f64, %o7: f64, %o8: f64):
    %0 = arith.addf %a, %b : f64
    %1 = arith.addf %b, %a : f64
    %2 = arith.addf %b, %zero : f64
    %3 = arith.addf %zero, %b : f64
    %4 = arith.subf %b, %a : f64
    %5 = arith.subf %b, %zero : f64
    %n = arith.addf %a, %a : f64
    %6 = arith.mulf %n, %b : f64
    %d = arith.subf %a, %a : f64
    %7 = arith.mulf %d, %b : f64
    %8 = arith.subf %a, %b : f64
    linalg.yield %0, %1, %2, %3, %4, %5, %6, %7, %8 : f64, f64, f64, f64, f64, f64, f64, f64, f64
  } -> (!v, !v, !v, !v, !v, !v, !v, !v, !v)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8 : !v, !v, !v, !v, !v, !v, !v, !v, !v
}

// The neutral infinity of one is the other's strongest.

// CHECK-LABEL: func.func @extremes
// CHECK:       ^bb0(%[[A:[^:]*]]: f64, %[[B:[^:]*]]: f64,
// CHECK:         %[[IS:.*]] = arith.cmpf une, %[[A]], %
// CHECK:         arith.maximumf %[[A]], %[[B]]
// CHECK:         %[[INFINITY:.*]] = arith.constant 0x7FF0000000000000
// CHECK-NEXT:    %[[MOST:.*]] = arith.maximumf %[[B]], %[[INFINITY]]
// CHECK-NEXT:    %[[MINUS:.*]] = arith.constant 0xFFF0000000000000
// CHECK-NEXT:    %[[LEAST:.*]] = arith.minimumf %[[MINUS]], %[[B]]
// CHECK-NEXT:    %[[TWO:.*]] = arith.constant 2.0
// CHECK-NEXT:    %[[AT_MOST:.*]] = arith.minnumf %[[TWO]], %[[B]]
// CHECK-NEXT:    %[[ABSENT:.*]] = arith.constant 0.0
// CHECK-NEXT:    %[[POSITIVE:.*]] = arith.maximumf %[[ABSENT]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %[[B]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %[[B]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %[[B]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %[[B]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %[[B]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[MOST]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[LEAST]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[AT_MOST]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[POSITIVE]]
func.func @extremes(%x: !v, %y: !v, %z: !v) -> (!v, !v, !v, !v, !v, !v, !v, !v, !v) {
  %inf = arith.constant 0x7FF0000000000000 : f64
  %minus_inf = arith.constant 0xFFF0000000000000 : f64
  %two = arith.constant 2.0 : f64
  %s = sparse_tensor.convert %x : !v to !s
  %r:9 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%s, %y : !s, !v) outs(%z, %z, %z, %z, %z, %z, %z, %z, %z : !v, !v, !v, !v, !v, !v, !v, !v, !v) {
  ^bb0(%a: f64, %b: f64, %o0: f64, %o1: f64, %o2: f64, %o3: f64, %o4: f64, %o5: f64, %o6: f64, %o7: f64, %o8: f64):
    %0 = arith.maximumf %b, %minus_inf : f64
    %1 = arith.maxnumf %minus_inf, %b : f64
    %2 = arith.minimumf %b, %inf : f64
    %3 = arith.minnumf %inf, %b : f64
    %4 = arith.maximumf %b, %b : f64
    %5 = arith.maximumf %b, %inf : f64
    %6 = arith.minimumf %minus_inf, %b : f64
    %7 = arith.minnumf %two, %b : f64
    %8 = arith.maximumf %a, %b : f64
    linalg.yield %0, %1, %2, %3, %4, %5, %6, %7, %8 : f64, f64, f64, f64, f64, f64, f64, f64, f64
  } -> (!v, !v, !v, !v, !v, !v, !v, !v, !v)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8 : !v, !v, !v, !v, !v, !v, !v, !v, !v
}

// An absent condition holds for no element; of two zeros no condition chooses.

// CHECK-LABEL: func.func @selections
// CHECK:       ^bb0(%[[A:[^:]*]]: i1, %[[B:[^:]*]]: f64, %[[P:[^:]*]]: i1,
// CHECK:         %[[IS:.*]] = arith.cmpi ne, %[[A]], %
// CHECK:         arith.select %[[A]], %{{.*}}, %[[B]]
// CHECK:         arith.select %[[P]], %{{.*}}, %{{.*}}
// CHECK-NEXT:    arith.select %[[P]], %{{.*}}, %{{.*}}
// CHECK-NEXT:    %[[ABSENT:.*]] = arith.constant 0.0
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1.0
// CHECK-NEXT:    %[[CHOSEN:.*]] = arith.select %[[P]], %[[ABSENT]], %[[ONE]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %[[B]], %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[CHOSEN]]
func.func @selections(%x: tensor<4xi1>, %y: !v, %c: tensor<4xi1>, %z: !v) -> (!v, !v, !v, !v) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %s = sparse_tensor.convert %x : tensor<4xi1> to tensor<4xi1, #vector>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%s, %y, %c : tensor<4xi1, #vector>, !v, tensor<4xi1>) outs(%z, %z, %z, %z : !v, !v, !v, !v) {
  ^bb0(%a: i1, %b: f64, %p: i1, %o0: f64, %o1: f64, %o2: f64, %o3: f64):
    %0 = arith.select %a, %one, %b : f64
    %1 = arith.select %p, %b, %b : f64
    %q = arith.uitofp %a : i1 to f64
    %2 = arith.select %p, %zero, %q : f64
    %3 = arith.select %p, %q, %one : f64
    linalg.yield %0, %1, %2, %3 : f64, f64, f64, f64
  } -> (!v, !v, !v, !v)
  return %r#0, %r#1, %r#2, %r#3 : !v, !v, !v, !v
}

// A number that is made of an absent element and is zero is absent as well, one
// that is made of constants is a number; what is not zero at zero is computed.

// CHECK-LABEL: func.func @folded
// CHECK:       ^bb0(%[[A:[^:]*]]: f64, %[[B:[^:]*]]: f64,
// CHECK:         %[[IS:.*]] = arith.cmpf une, %[[A]], %
// CHECK:         math.tanh
// CHECK:         math.tanh
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1.0
// CHECK-NEXT:    %[[ABSENT:.*]] = arith.constant 0.0
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT:    %[[NONE:.*]] = arith.mulf %[[ZERO]], %[[B]]
// CHECK-NEXT:    %[[QUOTIENT:.*]] = arith.divf %[[B]], %[[ABSENT]]
// CHECK-NEXT:    %[[SIGN:.*]] = math.tanh %[[QUOTIENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ONE]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[NONE]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[SIGN]]
func.func @folded(%x: !v, %y: !v, %z: !v) -> (!v, !v, !v, !v, !v) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %s = sparse_tensor.convert %x : !v to !s
  %r:5 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%s, %y : !s, !v) outs(%z, %z, %z, %z, %z : !v, !v, !v, !v, !v) {
  ^bb0(%a: f64, %b: f64, %o0: f64, %o1: f64, %o2: f64, %o3: f64, %o4: f64):
    %0 = math.cos %a : f64
    %e = arith.maximumf %a, %zero : f64
    %1 = arith.mulf %e, %b : f64
    %d = arith.subf %one, %one : f64
    %2 = arith.mulf %d, %b : f64
    %t = math.tanh %a : f64
    %3 = arith.mulf %b, %t : f64
    %f = arith.divf %b, %a : f64
    %4 = math.tanh %f : f64
    linalg.yield %0, %1, %2, %3, %4 : f64, f64, f64, f64, f64
  } -> (!v, !v, !v, !v, !v)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !v, !v, !v, !v, !v
}


// CHECK-LABEL: func.func @integers
// CHECK:       ^bb0(%[[A:[^:]*]]: i32, %[[B:[^:]*]]: i32,
// CHECK:         %[[IS:.*]] = arith.cmpi ne, %[[A]], %
// CHECK:         arith.maxsi %[[B]], %[[A]]
// CHECK-NEXT:    %[[ABSENT:.*]] = arith.constant 0
// CHECK-NEXT:    %[[POSITIVE:.*]] = arith.maxsi %[[B]], %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[ABSENT]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[B]]
// CHECK-NEXT:    arith.select %[[IS]], %{{.*}}, %[[POSITIVE]]
func.func @integers(%x: !iv, %y: !iv, %z: !iv) -> (!iv, !iv, !iv, !iv, !iv, !iv, !iv, !iv, !iv) {
  %one = arith.constant 1 : i32
  %s = sparse_tensor.convert %x : !iv to tensor<4xi32, #vector>
  %r:9 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%s, %y : tensor<4xi32, #vector>, !iv) outs(%z, %z, %z, %z, %z, %z, %z, %z, %z : !iv, !iv, !iv, !iv, !iv, !iv, !iv, !iv, !iv) {
  ^bb0(%a: i32, %b: i32, %o0: i32, %o1: i32, %o2: i32, %o3: i32, %o4: i32, %o5: i32, %o6: i32, %o7: i32, %o8: i32):
    %0 = arith.muli %b, %a : i32
    %1 = arith.andi %a, %b : i32
    %2 = arith.divsi %a, %b : i32
    %3 = arith.divui %a, %b : i32
    %4 = arith.addi %a, %b : i32
    %5 = arith.ori %b, %a : i32
    %6 = arith.xori %b, %a : i32
    %7 = arith.subi %b, %a : i32
    %8 = arith.maxsi %b, %a : i32
    linalg.yield %0, %1, %2, %3, %4, %5, %6, %7, %8 : i32, i32, i32, i32, i32, i32, i32, i32, i32
  } -> (!iv, !iv, !iv, !iv, !iv, !iv, !iv, !iv, !iv)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8 : !iv, !iv, !iv, !iv, !iv, !iv, !iv, !iv, !iv
}
