// RUN: sparse-opt %s --sparse-autograd-fuse --split-input-file | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-fuse --split-input-file | FileCheck %s --check-prefix=SIZE

// What the decomposition and differentiation of masked operations leave, by
// hand. Nothing of the size of %x exists but the gradient.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>

// The gradient of a masked mean of rows: sums and counts, then the gradient,
// in one loop over rows.
// CHECK-LABEL: func.func @mean
// CHECK-SAME: %[[X:.*]]: tensor<512x4096xf32>, %[[M:.*]]: tensor<512x4096xi1>
// CHECK: scf.forall (%[[I:.*]]) in (512)
// CHECK: tensor.extract_slice %[[X]]
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel"]
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: arith.select
// CHECK: scf.forall.in_parallel
// CHECK-NOT: linalg.generic
// CHECK-NOT: scf.forall
// SIZE-LABEL: func.func @mean
// SIZE-COUNT-1: tensor.empty() : tensor<512x4096xf32>
// SIZE-NOT: tensor.empty() : tensor<512x4096xf32>
// SIZE: return
func.func @mean(%x: tensor<512x4096xf32>, %m: tensor<512x4096xi1>, %g: tensor<512xf32>)
    -> (tensor<512xf32>, tensor<512x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %izero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<512x4096xf32>
  %er = tensor.empty() : tensor<512xf32>
  %ei = tensor.empty() : tensor<512xi64>
  %init = linalg.fill ins(%zero : f32) outs(%er : tensor<512xf32>) -> tensor<512xf32>
  %iinit = linalg.fill ins(%izero : i64) outs(%ei : tensor<512xi64>) -> tensor<512xi64>
  %sum:2 = linalg.generic {indexing_maps = [#id, #id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : tensor<512x4096xf32>, tensor<512x4096xi1>) outs(%init, %iinit : tensor<512xf32>, tensor<512xi64>) {
  ^bb0(%v: f32, %c: i1, %s: f32, %n: i64):
    %0 = arith.select %c, %v, %zero : f32
    %1 = arith.addf %s, %0 : f32
    %2 = arith.extui %c : i1 to i64
    %3 = arith.addi %n, %2 : i64
    linalg.yield %1, %3 : f32, i64
  } -> (tensor<512xf32>, tensor<512xi64>)
  %mean = linalg.generic {indexing_maps = [#vec, #vec, #vec], iterator_types = ["parallel"]}
      ins(%sum#0, %sum#1 : tensor<512xf32>, tensor<512xi64>) outs(%er : tensor<512xf32>) {
  ^bb0(%s: f32, %n: i64, %o: f32):
    %f = arith.uitofp %n : i64 to f32
    %q = arith.divf %s, %f : f32
    %empty = arith.cmpi eq, %n, %izero : i64
    %r = arith.select %empty, %zero, %q : f32
    linalg.yield %r : f32
  } -> tensor<512xf32>
  %scale = linalg.generic {indexing_maps = [#vec, #vec, #vec], iterator_types = ["parallel"]}
      ins(%g, %sum#1 : tensor<512xf32>, tensor<512xi64>) outs(%er : tensor<512xf32>) {
  ^bb0(%s: f32, %n: i64, %o: f32):
    %f = arith.uitofp %n : i64 to f32
    %q = arith.divf %s, %f : f32
    linalg.yield %q : f32
  } -> tensor<512xf32>
  %b = linalg.broadcast ins(%scale : tensor<512xf32>) outs(%e : tensor<512x4096xf32>) dimensions = [1]
  %dx = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b, %m : tensor<512x4096xf32>, tensor<512x4096xi1>) outs(%e : tensor<512x4096xf32>) {
  ^bb0(%v: f32, %c: i1, %o: f32):
    %0 = arith.select %c, %v, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<512x4096xf32>
  return %mean, %dx : tensor<512xf32>, tensor<512x4096xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>

// logsumexp with any number of rows of any length: maximum, sum and gradient
// of each row in one loop.
// CHECK-LABEL: func.func @logsumexp
// CHECK: scf.forall
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: math.log
// CHECK: math.exp
// CHECK: arith.select
// CHECK: scf.forall.in_parallel
// CHECK-NOT: linalg.generic
// CHECK-NOT: scf.forall
// SIZE-LABEL: func.func @logsumexp
// SIZE-COUNT-1: tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?xf32>
// SIZE-NOT: tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?xf32>
// SIZE: return
func.func @logsumexp(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>, %g: tensor<?xf32>)
    -> (tensor<?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %highest = arith.constant 0x7F800000 : f32
  %d0 = tensor.dim %x, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%d0, %d1) : tensor<?x?xf32>
  %er = tensor.empty(%d0) : tensor<?xf32>
  %minit = linalg.fill ins(%lowest : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : tensor<?x?xf32>, tensor<?x?xi1>) outs(%minit : tensor<?xf32>) {
  ^bb0(%v: f32, %c: i1, %acc: f32):
    %0 = arith.select %c, %v, %lowest : f32
    %1 = arith.maximumf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %sinit = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m, %max : tensor<?x?xf32>, tensor<?x?xi1>, tensor<?xf32>) outs(%sinit : tensor<?xf32>) {
  ^bb0(%v: f32, %c: i1, %p: f32, %acc: f32):
    %a = math.absf %p : f32
    %inf = arith.cmpf oeq, %a, %highest : f32
    %shift = arith.select %inf, %zero, %p : f32
    %0 = arith.subf %v, %shift : f32
    %1 = math.exp %0 : f32
    %2 = arith.select %c, %1, %zero : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?xf32>
  %lse = linalg.generic {indexing_maps = [#vec, #vec, #vec], iterator_types = ["parallel"]}
      ins(%max, %sum : tensor<?xf32>, tensor<?xf32>) outs(%er : tensor<?xf32>) {
  ^bb0(%p: f32, %s: f32, %o: f32):
    %a = math.absf %p : f32
    %inf = arith.cmpf oeq, %a, %highest : f32
    %shift = arith.select %inf, %zero, %p : f32
    %0 = math.log %s : f32
    %1 = arith.addf %shift, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m, %lse, %g : tensor<?x?xf32>, tensor<?x?xi1>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%v: f32, %c: i1, %y: f32, %gr: f32, %o: f32):
    %0 = arith.subf %v, %y : f32
    %1 = math.exp %0 : f32
    %2 = arith.mulf %gr, %1 : f32
    %3 = arith.select %c, %2, %zero : f32
    linalg.yield %3 : f32
  } -> tensor<?x?xf32>
  return %lse, %dx : tensor<?xf32>, tensor<?x?xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>

// Two reductions of everything that read the same elements are one pass; the
// elementwise result that both need shrinks to a block, and each block has one
// partial result, whatever the number of threads.
// CHECK-LABEL: func.func @full
// CHECK: %[[P:.*]]:2 = scf.forall (%[[B:.*]]) in (64)
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction", "reduction"]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[B]]] [1] [1] : tensor<f32> into tensor<64xf32>
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]
// CHECK-SAME: ins(%[[P]]#{{[01]}} : tensor<64xf32>)
func.func @full(%x: tensor<64x4096xf32>, %m: tensor<64x4096xi1>) -> (tensor<f32>, tensor<64x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x4096xf32>
  %es = tensor.empty() : tensor<f32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x4096xf32>, tensor<64x4096xi1>) outs(%e : tensor<64x4096xf32>) {
  ^bb0(%v: f32, %c: i1, %o: f32):
    %l = math.log %v : f32
    %s = arith.select %c, %l, %zero : f32
    linalg.yield %s : f32
  } -> tensor<64x4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%r : tensor<64x4096xf32>) outs(%init : tensor<f32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.addf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %s, %r : tensor<f32>, tensor<64x4096xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// Over columns a block is a few vectors wide.
// CHECK-LABEL: func.func @columns
// CHECK: scf.forall (%{{.*}}) in (64)
// CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}] [4096, 64] [1, 1]
// CHECK-NOT: tensor.empty() : tensor<4096x64xf32>
// CHECK: return
func.func @columns(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %er = tensor.empty() : tensor<4096xf32>
  %init = linalg.fill ins(%lowest : f32) outs(%er : tensor<4096xf32>) -> tensor<4096xf32>
  %max = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4096x4096xf32>) outs(%init : tensor<4096xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.maximumf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<4096x4096xf32>, tensor<4096xf32>) outs(%e : tensor<4096x4096xf32>) {
  ^bb0(%v: f32, %p: f32, %o: f32):
    %s = arith.subf %v, %p : f32
    linalg.yield %s : f32
  } -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A gradient that depends on a reduction over all rows waits for it.
// CHECK-LABEL: func.func @waits
// CHECK: scf.forall
// CHECK-COUNT-2: linalg.generic
// CHECK: scf.forall.in_parallel
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK-NOT: scf.forall
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: return
func.func @waits(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %er = tensor.empty() : tensor<512xf32>
  %es = tensor.empty() : tensor<f32>
  %rinit = linalg.fill ins(%zero : f32) outs(%er : tensor<512xf32>) -> tensor<512xf32>
  %init = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %rows = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x512xf32>) outs(%rinit : tensor<512xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.maximumf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<512xf32>
  %total = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%rows : tensor<512xf32>) outs(%init : tensor<f32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.addf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> ()>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %total : tensor<512x512xf32>, tensor<f32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%v: f32, %p: f32, %o: f32):
    %s = arith.mulf %v, %p : f32
    linalg.yield %s : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The exponentials of a row are computed once, on the way of their sum, and are
// where the quotients will be: the only tensor of the size of %x.
// CHECK-LABEL: func.func @held
// CHECK: scf.forall (%[[I:.*]]) in (512) shared_outs(%[[OUT:.*]] = %{{.*}})
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[OUT]][%[[I]], 0]
// CHECK: %[[E:.*]]:2 = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-SAME: outs(%[[PLACE]], %{{.*}} : tensor<1x4096xf32>, tensor<1xf32>)
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK-SAME: ins(%[[E]]#0, %[[E]]#1 :
// CHECK-SAME: outs(%[[E]]#0 : tensor<1x4096xf32>)
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[SUM:.*]]: f32, %[[VALUE:.*]]: f32):
// CHECK-NEXT: arith.divf %[[VALUE]], %[[SUM]]
// CHECK-NOT: math.exp
// CHECK: tensor.parallel_insert_slice %[[Y]] into %[[OUT]][%[[I]], 0]
// SIZE-LABEL: func.func @held
// SIZE-COUNT-1: tensor.empty() : tensor<512x4096xf32>
// SIZE-NOT: tensor.empty() : tensor<{{.*}}4096xf32>
// SIZE: return
func.func @held(%x: tensor<512x4096xf32>) -> tensor<512x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x4096xf32>
  %er = tensor.empty() : tensor<512xf32>
  %init = linalg.fill ins(%zero : f32) outs(%er : tensor<512xf32>) -> tensor<512xf32>
  %exp = linalg.exp ins(%x : tensor<512x4096xf32>) outs(%e : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<512x4096xf32>) outs(%init : tensor<512xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.addf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<512xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<512x4096xf32>, tensor<512xf32>) outs(%e : tensor<512x4096xf32>) {
  ^bb0(%v: f32, %s: f32, %o: f32):
    %0 = arith.divf %v, %s : f32
    linalg.yield %0 : f32
  } -> tensor<512x4096xf32>
  return %y : tensor<512x4096xf32>
}

// -----

#element = affine_map<(u, i, k) -> (u, i)>
#factor = affine_map<(u, i, k) -> (u, k)>
#product = affine_map<(u, i, k) -> (i, k)>
#pair = affine_map<(u, i) -> (u, i)>
#column = affine_map<(u, i) -> (i)>

// The rows of the loop are the columns of %g: a block has whole cache lines of
// them, however many multiplications a column takes.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<600x9600xf64>
// CHECK: scf.forall (%{{.*}}) in (150)
// CHECK: tensor.extract_slice %[[G]][0, %{{.*}}] [600, 64] [1, 1]
// SIZE-LABEL: func.func @columns
func.func @columns(%g: tensor<600x9600xf64>, %m: tensor<600x9600xi1>, %p: tensor<600x8xf64>)
    -> (tensor<9600xf64>, tensor<9600x8xf64>) {
  %zero = arith.constant 0.0 : f64
  %e1 = tensor.empty() : tensor<9600xf64>
  %z1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<9600xf64>) -> tensor<9600xf64>
  %sum = linalg.generic {indexing_maps = [#pair, #pair, #column], iterator_types = ["reduction", "parallel"]}
      ins(%g, %m : tensor<600x9600xf64>, tensor<600x9600xi1>) outs(%z1 : tensor<9600xf64>) {
  ^bb0(%v: f64, %s: i1, %acc: f64):
    %0 = arith.select %s, %v, %zero : f64
    %1 = arith.addf %acc, %0 : f64
    linalg.yield %1 : f64
  } -> tensor<9600xf64>
  %e2 = tensor.empty() : tensor<9600x8xf64>
  %z2 = linalg.fill ins(%zero : f64) outs(%e2 : tensor<9600x8xf64>) -> tensor<9600x8xf64>
  %q = linalg.generic {indexing_maps = [#element, #element, #factor, #product],
                       iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%g, %m, %p : tensor<600x9600xf64>, tensor<600x9600xi1>, tensor<600x8xf64>)
      outs(%z2 : tensor<9600x8xf64>) {
  ^bb0(%v: f64, %s: i1, %f: f64, %acc: f64):
    %0 = arith.mulf %v, %f : f64
    %1 = arith.select %s, %0, %zero : f64
    %2 = arith.addf %acc, %1 : f64
    linalg.yield %2 : f64
  } -> tensor<9600x8xf64>
  return %sum, %q : tensor<9600xf64>, tensor<9600x8xf64>
}
