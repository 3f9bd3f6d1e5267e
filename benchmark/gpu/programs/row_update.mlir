// Steps of Adam on the rows of a table that a batch reads, as in
// examples/recommender_embedding.mlir: the gradient stores the rows of the batch,
// each once, and these rows of the table and its moments are changed. The loss is
// the sum of the squares of what the rows lack to a target. Each step reads other
// rows: those of the batch, `stride` further.

#rows = #sparse_tensor.encoding<{map = (r, k) -> (r : compressed, k : dense), posWidth = 32, crdWidth = 32}>
#element = affine_map<(r, k) -> (r, k)>
#vector = affine_map<(i) -> (i)>
!table = tensor<?x64xf32>
!gradient = tensor<?x64xf32, #rows>
!ids = tensor<?xindex>

func.func private @loss(%table: !table, %ids: !ids, %target: !table) -> tensor<f32> {
  %rows = sparse_autograd.gather %table, %ids : !table, !ids -> !table
  %errors = arith.subf %rows, %target : !table
  %squares = arith.mulf %errors, %errors : !table
  %loss = sparse_autograd.masked_reduce sum %squares dims = [0, 1] : !table -> tensor<f32>
  return %loss : tensor<f32>
}

func.func private @adam(%x: !table, %g: !gradient, %m: !table, %v: !table,
    %correction1: f32, %correction2: f32) -> (!table, !table, !table) {
  %rest1 = arith.constant 0.1 : f32
  %rest2 = arith.constant 0.001 : f32
  %rate = arith.constant -0.02 : f32
  %epsilon = arith.constant 1.0e-8 : f32
  %old_m = sparse_autograd.sample %m, %g : !table, !gradient -> !gradient
  %old_v = sparse_autograd.sample %v, %g : !table, !gradient -> !gradient
  %pattern = sparse_autograd.zeros %g : !gradient -> !gradient
  %dm = linalg.generic {
      indexing_maps = [#element, #element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%g, %old_m : !gradient, !gradient) outs(%pattern : !gradient) {
    ^bb0(%gi: f32, %mi: f32, %out: f32):
      %difference = arith.subf %gi, %mi : f32
      %change = arith.mulf %rest1, %difference : f32
      linalg.yield %change : f32
  } -> !gradient
  %dv = linalg.generic {
      indexing_maps = [#element, #element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%g, %old_v : !gradient, !gradient) outs(%pattern : !gradient) {
    ^bb0(%gi: f32, %vi: f32, %out: f32):
      %g2 = arith.mulf %gi, %gi : f32
      %difference = arith.subf %g2, %vi : f32
      %change = arith.mulf %rest2, %difference : f32
      linalg.yield %change : f32
  } -> !gradient
  %dx = linalg.generic {
      indexing_maps = [#element, #element, #element, #element, #element],
      iterator_types = ["parallel", "parallel"]}
      ins(%old_m, %dm, %old_v, %dv : !gradient, !gradient, !gradient, !gradient) outs(%pattern : !gradient) {
    ^bb0(%mi: f32, %dmi: f32, %vi: f32, %dvi: f32, %out: f32):
      %m_new = arith.addf %mi, %dmi : f32
      %v_new = arith.addf %vi, %dvi : f32
      %m_hat = arith.divf %m_new, %correction1 : f32
      %v_hat = arith.divf %v_new, %correction2 : f32
      %root = math.sqrt %v_hat : f32
      %denominator = arith.addf %root, %epsilon : f32
      %direction = arith.divf %m_hat, %denominator : f32
      %step = arith.mulf %rate, %direction : f32
      linalg.yield %step : f32
  } -> !gradient
  %x1 = sparse_autograd.accumulate %x, %dx : !table, !gradient -> !table
  %m1 = sparse_autograd.accumulate %m, %dm : !table, !gradient -> !table
  %v1 = sparse_autograd.accumulate %v, %dv : !table, !gradient -> !table
  return %x1, %m1, %v1 : !table, !table, !table
}

func.func @run(%table: !table {sparse_autograd.name = "table"}, %m: !table {sparse_autograd.name = "m"},
    %v: !table {sparse_autograd.name = "v"}, %batch: !ids {sparse_autograd.name = "batch"},
    %target: !table {sparse_autograd.name = "target"}, %stride: index {sparse_autograd.name = "stride"},
    %steps: index {sparse_autograd.name = "steps"})
    -> (!table {sparse_autograd.name = "table"}, !table {sparse_autograd.name = "m"},
        !table {sparse_autograd.name = "v"}, tensor<f32> {sparse_autograd.name = "losses"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %beta1 = arith.constant 0.9 : f32
  %beta2 = arith.constant 0.999 : f32
  %none = arith.constant dense<0.0> : tensor<f32>
  %rows = tensor.dim %table, %c0 : !table
  %count = tensor.dim %batch, %c0 : !ids
  %end:6 = scf.for %step = %c0 to %steps step %c1
      iter_args(%ts = %table, %ms = %m, %vs = %v, %sum = %none, %power1 = %one, %power2 = %one)
      -> (!table, !table, !table, tensor<f32>, f32, f32) {
    %offset = arith.muli %step, %stride : index
    %empty = tensor.empty(%count) : !ids
    %ids = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
        ins(%batch : !ids) outs(%empty : !ids) {
      ^bb0(%id: index, %out: index):
        %moved = arith.addi %id, %offset : index
        %row = arith.remui %moved, %rows : index
        linalg.yield %row : index
    } -> !ids
    %loss, %g = sparse_autograd.value_and_grad @loss(%ts, %ids, %target) {wrt = [0]}
        : (!table, !ids, !table) -> (tensor<f32>, !gradient)
    %next1 = arith.mulf %power1, %beta1 : f32
    %next2 = arith.mulf %power2, %beta2 : f32
    %correction1 = arith.subf %one, %next1 : f32
    %correction2 = arith.subf %one, %next2 : f32
    %t1, %m1, %v1 = func.call @adam(%ts, %g, %ms, %vs, %correction1, %correction2)
        : (!table, !gradient, !table, !table, f32, f32) -> (!table, !table, !table)
    %losses = arith.addf %sum, %loss : tensor<f32>
    scf.yield %t1, %m1, %v1, %losses, %next1, %next2 : !table, !table, !table, tensor<f32>, f32, f32
  }
  return %end#0, %end#1, %end#2, %end#3 : !table, !table, !table, tensor<f32>
}
