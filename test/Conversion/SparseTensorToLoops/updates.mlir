// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --canonicalize --cse | FileCheck %s

// Updates of dense tables where row-sparse tensors of one pattern store rows are
// one loop, with what computes them.

#rows = #sparse_tensor.encoding<{map = (r, k) -> (r : compressed, k : dense)}>
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>

!table = tensor<?x8xf64>
!gradient = tensor<?x8xf64, #rows>

// Momentum: what is sampled of a table is what the loop carries.

// CHECK-LABEL: func.func @momentum
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xf64>, %[[M:[^:]*]]: tensor<?x8xf64>
// CHECK-NOT:   linalg.
// CHECK:       scf.for {{.*}} iter_args(%[[XR:.*]] = %[[X]], %[[MR:.*]] = %[[M]])
// CHECK:         scf.for {{.*}} iter_args(%[[XK:.*]] = %[[XR]], %[[MK:.*]] = %[[MR]])
// CHECK:           %[[OLD_X:.*]] = tensor.extract %[[XK]][
// CHECK:           %[[OLD_M:.*]] = tensor.extract %[[MK]][
// CHECK:           arith.subf %{{.*}}, %[[OLD_M]]
// CHECK:           tensor.insert {{.*}} into %[[XK]]
// CHECK:           tensor.insert {{.*}} into %[[MK]]
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @momentum(%x: !table, %m: !table, %g: !gradient) -> (!table, !table) {
  %rate = arith.constant -0.5 : f64
  %c0 = arith.constant 0 : index
  %old = sparse_autograd.sample %m, %g : !table, !gradient -> !gradient
  // An extent is not an element.
  %extent = tensor.dim %old, %c0 : !gradient
  %some = arith.cmpi sgt, %extent, %c0 : index
  cf.assert %some, "no rows"
  %pattern = sparse_autograd.zeros %g : !gradient -> !gradient
  %dm = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %old : !gradient, !gradient) outs(%pattern : !gradient) {
    ^bb0(%a: f64, %b: f64, %o: f64):
      %d = arith.subf %a, %b : f64
      linalg.yield %d : f64
  } -> !gradient
  %dx = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%old, %dm : !gradient, !gradient) outs(%pattern : !gradient) {
    ^bb0(%a: f64, %b: f64, %o: f64):
      %s = arith.addf %a, %b : f64
      %d = arith.mulf %rate, %s : f64
      linalg.yield %d : f64
  } -> !gradient
  %x1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%dx : !gradient) outs(%x : !table) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.addf %o, %a : f64
      linalg.yield %s : f64
  } -> !table
  %m1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%dm : !gradient) outs(%m : !table) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.addf %o, %a : f64
      linalg.yield %s : f64
  } -> !table
  return %x1, %m1 : !table, !table
}

// A change that something else reads is computed for itself; so is what it is
// computed of.

// CHECK-LABEL: func.func @read_elsewhere
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xf64>,
// CHECK:       %[[CHANGE:.*]] = linalg.generic
// CHECK:         arith.negf
// CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[X]])
// CHECK:         tensor.extract %[[CHANGE]]
// CHECK:       return {{.*}}%[[CHANGE]]
func.func @read_elsewhere(%x: !table, %g: !gradient) -> (!table, !gradient) {
  %pattern = sparse_autograd.zeros %g : !gradient -> !gradient
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : !gradient) outs(%pattern : !gradient) {
    ^bb0(%a: f64, %o: f64):
      %n = arith.negf %a : f64
      linalg.yield %n : f64
  } -> !gradient
  %x1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d : !gradient) outs(%x : !table) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.addf %o, %a : f64
      linalg.yield %s : f64
  } -> !table
  return %x1, %d : !table, !gradient
}

// A change that is computed before a loop stays there.

// CHECK-LABEL: func.func @before_a_loop
// CHECK:       %[[CHANGE:.*]] = linalg.generic
// CHECK:         arith.negf
// CHECK:       scf.for
// CHECK:         tensor.extract %[[CHANGE]]
// CHECK:       return
func.func @before_a_loop(%x: !table, %g: !gradient, %n: index) -> !table {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pattern = sparse_autograd.zeros %g : !gradient -> !gradient
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : !gradient) outs(%pattern : !gradient) {
    ^bb0(%a: f64, %o: f64):
      %m = arith.negf %a : f64
      linalg.yield %m : f64
  } -> !gradient
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> !table {
    %t1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%d : !gradient) outs(%t : !table) {
      ^bb0(%a: f64, %o: f64):
        %s = arith.addf %o, %a : f64
        linalg.yield %s : f64
    } -> !table
    scf.yield %t1 : !table
  }
  return %r : !table
}

// The update of an updated table comes after it, and so does what reads one.

// CHECK-LABEL: func.func @one_after_the_other
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xf64>,
// CHECK:       %[[FIRST:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[X]])
// CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK:       return
func.func @one_after_the_other(%x: !table, %g: !gradient) -> !table {
  %x1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : !gradient) outs(%x : !table) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.addf %o, %a : f64
      linalg.yield %s : f64
  } -> !table
  %x2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : !gradient) outs(%x1 : !table) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.subf %o, %a : f64
      linalg.yield %s : f64
  } -> !table
  return %x2 : !table
}

// What is zero where nothing is stored is no update of that alone.

// CHECK-LABEL: func.func @scaled
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xf64>, %[[Y:[^:]*]]: tensor<?x8xf64>
// CHECK:       %[[X0:.*]] = linalg.generic {{.*}} outs(%[[X]]
// CHECK:       scf.for {{.*}} iter_args(%{{[^,]*}} = %[[X0]]) -> (tensor<?x8xf64>) {
// CHECK:       %[[Y0:.*]] = linalg.generic {{.*}} outs(%[[Y]]
// CHECK:       scf.for {{.*}} iter_args(%{{[^,]*}} = %[[Y0]]) -> (tensor<?x8xf64>) {
// CHECK:       return
func.func @scaled(%x: !table, %y: !table, %g: !gradient) -> (!table, !table) {
  %x1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : !gradient) outs(%x : !table) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.mulf %o, %a : f64
      linalg.yield %s : f64
  } -> !table
  %y1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : !gradient) outs(%y : !table) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.mulf %o, %a : f64
      linalg.yield %s : f64
  } -> !table
  return %x1, %y1 : !table, !table
}

// Two new values of one table are two tables.

// CHECK-LABEL: func.func @one_table_twice
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xf64>,
// CHECK:       scf.for {{.*}} iter_args(%{{[^,]*}} = %[[X]]) -> (tensor<?x8xf64>) {
// CHECK:       scf.for {{.*}} iter_args(%{{[^,]*}} = %[[X]]) -> (tensor<?x8xf64>) {
// CHECK:       return
func.func @one_table_twice(%x: !table, %g: !gradient) -> (!table, !table) {
  %x1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : !gradient) outs(%x : !table) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.addf %o, %a : f64
      linalg.yield %s : f64
  } -> !table
  %x2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : !gradient) outs(%x : !table) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.subf %o, %a : f64
      linalg.yield %s : f64
  } -> !table
  return %x1, %x2 : !table, !table
}

// A table that is read elsewhere than at the visited element is not changed
// under its reader.

// CHECK-LABEL: func.func @transposed
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x8xf64>, %[[M:[^:]*]]: tensor<8x8xf64>
// CHECK:       scf.for {{.*}} iter_args(%{{[^,]*}} = %[[M]]) -> (tensor<8x8xf64>) {
// CHECK:       scf.for {{.*}} iter_args(%{{[^,]*}} = %[[X]]) -> (tensor<8x8xf64>) {
// CHECK:       return
func.func @transposed(%x: tensor<8x8xf64>, %m: tensor<8x8xf64>, %g: tensor<8x8xf64, #rows>) -> (tensor<8x8xf64>, tensor<8x8xf64>) {
  %m1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<8x8xf64, #rows>) outs(%m : tensor<8x8xf64>) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.addf %o, %a : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64>
  %x1 = linalg.generic {indexing_maps = [#id, #transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %m : tensor<8x8xf64, #rows>, tensor<8x8xf64>) outs(%x : tensor<8x8xf64>) {
    ^bb0(%a: f64, %b: f64, %o: f64):
      %p = arith.mulf %a, %b : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64>
  return %m1, %x1 : tensor<8x8xf64>, tensor<8x8xf64>
}

// Such a reader may be updated with others behind it.

// CHECK-LABEL: func.func @behind_transposed
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x8xf64>, %[[M:[^:]*]]: tensor<8x8xf64>, %[[N:[^:]*]]: tensor<8x8xf64>
// CHECK:       scf.for {{.*}} iter_args(%{{[^,]*}} = %[[M]]) -> (tensor<8x8xf64>) {
// CHECK:       scf.for {{.*}} iter_args(%{{[^,]*}} = %[[X]], %{{[^,]*}} = %[[N]]) -> (tensor<8x8xf64>, tensor<8x8xf64>) {
// CHECK:       return
func.func @behind_transposed(%x: tensor<8x8xf64>, %m: tensor<8x8xf64>, %n: tensor<8x8xf64>, %g: tensor<8x8xf64, #rows>) -> (tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf64>) {
  %m1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<8x8xf64, #rows>) outs(%m : tensor<8x8xf64>) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.addf %o, %a : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64>
  %x1 = linalg.generic {indexing_maps = [#id, #transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %m : tensor<8x8xf64, #rows>, tensor<8x8xf64>) outs(%x : tensor<8x8xf64>) {
    ^bb0(%a: f64, %b: f64, %o: f64):
      %p = arith.mulf %a, %b : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64>
  %n1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<8x8xf64, #rows>) outs(%n : tensor<8x8xf64>) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.subf %o, %a : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64>
  return %m1, %x1, %n1 : tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf64>
}

// Lists of columns are no rows: their values are computed as a list.

// CHECK-LABEL: func.func @no_rows
// CHECK:       linalg.generic
// CHECK:         math.exp
// CHECK:       scf.for
func.func @no_rows(%x: tensor<?x?xf64>, %g: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64> {
  %pattern = sparse_autograd.zeros %g : tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
  %d = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<?x?xf64, #CSR>) outs(%pattern : tensor<?x?xf64, #CSR>) {
    ^bb0(%a: f64, %o: f64):
      %e = math.exp %a : f64
      linalg.yield %e : f64
  } -> tensor<?x?xf64, #CSR>
  %x1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<?x?xf64, #CSR>) outs(%x : tensor<?x?xf64>) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.addf %o, %a : f64
      linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %x1 : tensor<?x?xf64>
}

// Two operands of one pattern are of the loop of one of them; an op that updates
// nothing may come before, and a third update after them.

// CHECK-LABEL: func.func @two_operands
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xf64>, %[[M:[^:]*]]: tensor<?x8xf64>, %[[T:[^:]*]]: tensor<?x8xf64>,
// CHECK:         math.exp
// CHECK:       %[[CHANGE:.*]] = linalg.generic
// CHECK:         arith.negf
// CHECK:       scf.for {{.*}} iter_args(%[[XR:.*]] = %[[X]], %[[MR:.*]] = %[[M]], %[[TR:.*]] = %[[T]])
// CHECK:         scf.for {{.*}} iter_args(%[[XK:.*]] = %[[XR]], %[[MK:.*]] = %[[MR]], %[[TK:.*]] = %[[TR]])
// CHECK:           tensor.extract %[[CHANGE]]
// CHECK:           tensor.insert {{.*}} into %[[XK]]
// CHECK:           tensor.insert {{.*}} into %[[MK]]
// CHECK:           tensor.insert {{.*}} into %[[TK]]
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @two_operands(%x: !table, %m: !table, %t: !table, %g: !gradient) -> (!table, !table, !table, !table, !gradient) {
  %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : !table) outs(%t : !table) {
    ^bb0(%a: f64, %o: f64):
      %e = math.exp %a : f64
      linalg.yield %e : f64
  } -> !table
  %pattern = sparse_autograd.zeros %g : !gradient -> !gradient
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : !gradient) outs(%pattern : !gradient) {
    ^bb0(%a: f64, %o: f64):
      %n = arith.negf %a : f64
      linalg.yield %n : f64
  } -> !gradient
  %x1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %d : !gradient, !gradient) outs(%x : !table) {
    ^bb0(%a: f64, %b: f64, %o: f64):
      %p = arith.mulf %a, %b : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  } -> !table
  %m1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : !gradient) outs(%m : !table) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.addf %o, %a : f64
      linalg.yield %s : f64
  } -> !table
  %t1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : !gradient) outs(%t : !table) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.subf %o, %a : f64
      linalg.yield %s : f64
  } -> !table
  return %x1, %m1, %t1, %u, %d : !table, !table, !table, !table, !gradient
}

// Sums over the elements of rows are two loops.

// CHECK-LABEL: func.func @sums
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xf64>, %[[Y:[^:]*]]: tensor<?xf64>,
// CHECK:       %[[XS:.*]] = scf.for {{.*}} iter_args(%{{[^,]*}} = %[[X]]) -> (tensor<?xf64>) {
// CHECK:       %[[YS:.*]] = scf.for {{.*}} iter_args(%{{[^,]*}} = %[[Y]]) -> (tensor<?xf64>) {
// CHECK:       return %[[XS]], %[[YS]]
func.func @sums(%x: tensor<?xf64>, %y: tensor<?xf64>, %g: !gradient) -> (tensor<?xf64>, tensor<?xf64>) {
  %x1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%g : !gradient) outs(%x : tensor<?xf64>) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.addf %o, %a : f64
      linalg.yield %s : f64
  } -> tensor<?xf64>
  %y1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%g : !gradient) outs(%y : tensor<?xf64>) {
    ^bb0(%a: f64, %o: f64):
      %s = arith.subf %o, %a : f64
      linalg.yield %s : f64
  } -> tensor<?xf64>
  return %x1, %y1 : tensor<?xf64>, tensor<?xf64>
}

// Changes that are computed for themselves: of a sum, of an op that reads what was
// there, of one at the places of another pattern, and of one that reads a table at
// other places than it is updated at.

// CHECK-LABEL: func.func @changes_apart
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x8xf64>, %[[M:[^:]*]]: tensor<8x8xf64>
// CHECK:       %[[SUM:.*]] = scf.for
// CHECK:       %[[OLD:.*]] = linalg.generic
// CHECK:         arith.divf
// CHECK:       %[[MOVED:.*]] = scf.for
// CHECK:         math.exp
// CHECK:       scf.for {{.*}} iter_args(%[[XR:.*]] = %[[X]], %[[MR:.*]] = %[[M]])
// CHECK-DAG:       tensor.extract %[[SUM]]
// CHECK-DAG:       tensor.extract %[[OLD]]
// CHECK-DAG:       tensor.extract %[[MOVED]]
// CHECK:       return
func.func @changes_apart(%x: tensor<8x8xf64>, %m: tensor<8x8xf64>, %g: tensor<8x8xf64, #rows>, %p: tensor<8x3xf64>, %q: tensor<3x8xf64>)
    -> (tensor<8x8xf64>, tensor<8x8xf64>) {
  %zeros = sparse_autograd.zeros %g : tensor<8x8xf64, #rows> -> tensor<8x8xf64, #rows>
  %a = sparse_autograd.sampled_generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %q : tensor<8x3xf64>, tensor<3x8xf64>) outs(%zeros : tensor<8x8xf64, #rows>) {
    ^bb0(%u: f64, %v: f64, %o: f64):
      %d = arith.mulf %u, %v : f64
      %s = arith.addf %o, %d : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64, #rows>
  %b = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<8x8xf64, #rows>) outs(%g : tensor<8x8xf64, #rows>) {
    ^bb0(%u: f64, %o: f64):
      %d = arith.divf %u, %o : f64
      linalg.yield %d : f64
  } -> tensor<8x8xf64, #rows>
  %c = sparse_autograd.sampled_generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<8x8xf64>) outs(%zeros : tensor<8x8xf64, #rows>) {
    ^bb0(%u: f64, %o: f64):
      %d = math.exp %u : f64
      linalg.yield %d : f64
  } -> tensor<8x8xf64, #rows>
  %x1 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %a, %b, %c : tensor<8x8xf64, #rows>, tensor<8x8xf64, #rows>, tensor<8x8xf64, #rows>, tensor<8x8xf64, #rows>) outs(%x : tensor<8x8xf64>) {
    ^bb0(%u: f64, %v: f64, %w: f64, %y: f64, %o: f64):
      %0 = arith.mulf %u, %v : f64
      %1 = arith.mulf %0, %w : f64
      %2 = arith.mulf %1, %y : f64
      %s = arith.addf %o, %2 : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64>
  %m1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<8x8xf64, #rows>) outs(%m : tensor<8x8xf64>) {
    ^bb0(%a1: f64, %o: f64):
      %s = arith.addf %o, %a1 : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64>
  return %x1, %m1 : tensor<8x8xf64>, tensor<8x8xf64>
}

// A change that is read at other places too, or that another op writes over, is
// there as a whole.

// CHECK-LABEL: func.func @changes_read
// CHECK:       %[[D:.*]] = linalg.generic
// CHECK:         math.sin
// CHECK:       %[[E:.*]] = linalg.generic
// CHECK:         math.cos
// CHECK:       scf.for
// CHECK-NOT:   math.sin
// CHECK-NOT:   math.cos
// CHECK:       return
func.func @changes_read(%x: tensor<8x8xf64>, %g: tensor<8x8xf64, #rows>) -> tensor<8x8xf64> {
  %zeros = sparse_autograd.zeros %g : tensor<8x8xf64, #rows> -> tensor<8x8xf64, #rows>
  %d = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<8x8xf64, #rows>) outs(%zeros : tensor<8x8xf64, #rows>) {
    ^bb0(%u: f64, %o: f64):
      %s = math.sin %u : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64, #rows>
  %e = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g : tensor<8x8xf64, #rows>) outs(%zeros : tensor<8x8xf64, #rows>) {
    ^bb0(%u: f64, %o: f64):
      %s = math.cos %u : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64, #rows>
  %f = sparse_autograd.sampled_generic {indexing_maps = [#id, #transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d, %d : tensor<8x8xf64, #rows>, tensor<8x8xf64, #rows>) outs(%e : tensor<8x8xf64, #rows>) {
    ^bb0(%u: f64, %v: f64, %o: f64):
      %s = arith.mulf %u, %v : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64, #rows>
  %x1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %f : tensor<8x8xf64, #rows>, tensor<8x8xf64, #rows>) outs(%x : tensor<8x8xf64>) {
    ^bb0(%u: f64, %v: f64, %o: f64):
      %p = arith.mulf %u, %v : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  } -> tensor<8x8xf64>
  return %x1 : tensor<8x8xf64>
}

// A dense operand has no pattern; what has a pattern of its own is made before.

// CHECK-LABEL: func.func @sum_of_two
// CHECK-SAME:    %{{[^:]*}}: tensor<?x8xf64>, %[[Y:[^:]*]]: tensor<?x8xf64>
// CHECK:       sparse_autograd.store_positions
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK-DAG:       tensor.extract %[[Y]]
// CHECK-DAG:       math.tanh
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @sum_of_two(%x: !table, %y: !table, %g: !gradient, %h: !gradient, %n: index) -> !table {
  %empty = tensor.empty(%n) : !gradient
  %a = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %h : !gradient, !gradient) outs(%empty : !gradient) {
    ^bb0(%u: f64, %v: f64, %o: f64):
      %s = arith.addf %u, %v : f64
      linalg.yield %s : f64
  } -> !gradient
  %zeros = sparse_autograd.zeros %a : !gradient -> !gradient
  %d = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : !gradient) outs(%zeros : !gradient) {
    ^bb0(%u: f64, %o: f64):
      %s = math.tanh %u : f64
      linalg.yield %s : f64
  } -> !gradient
  %x1 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %d, %y : !gradient, !gradient, !table) outs(%x : !table) {
    ^bb0(%w: f64, %u: f64, %v: f64, %o: f64):
      %q = arith.mulf %w, %u : f64
      %p = arith.mulf %q, %v : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  } -> !table
  return %x1 : !table
}

// A number or a dense tensor that comes first has no pattern.

// CHECK-LABEL: func.func @behind_a_number
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xf64>, %[[M:[^:]*]]: tensor<?x8xf64>
// CHECK:       scf.for {{.*}} iter_args(%{{[^,]*}} = %[[X]], %{{[^,]*}} = %[[M]])
// CHECK:       return
func.func @behind_a_number(%x: !table, %m: !table, %y: !table, %f: f64, %g: !gradient) -> (!table, !table) {
  %x1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%f, %g : f64, !gradient) outs(%x : !table) {
    ^bb0(%b: f64, %a: f64, %o: f64):
      %p = arith.mulf %b, %a : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  } -> !table
  %m1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %g : !table, !gradient) outs(%m : !table) {
    ^bb0(%b: f64, %a: f64, %o: f64):
      %p = arith.mulf %b, %a : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
  } -> !table
  return %x1, %m1 : !table, !table
}
