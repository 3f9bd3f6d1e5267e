// x <- c x: reads and writes an array once a step, which is what a copy moves.

func.func @run(%x: tensor<?xf32> {sparse_autograd.name = "x"}, %c: f32 {sparse_autograd.name = "c"},
    %steps: index {sparse_autograd.name = "steps"}) -> (tensor<?xf32> {sparse_autograd.name = "x"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = scf.for %step = %c0 to %steps step %c1 iter_args(%old = %x) -> tensor<?xf32> {
    %new = linalg.generic {
        indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%c : f32) outs(%old : tensor<?xf32>) {
      ^bb0(%ci: f32, %xi: f32):
        %scaled = arith.mulf %ci, %xi : f32
        linalg.yield %scaled : f32
    } -> tensor<?xf32>
    scf.yield %new : tensor<?xf32>
  }
  return %end : tensor<?xf32>
}
