// Names that C does not have, in the program and in its comments.

#Blocks = #sparse_tensor.encoding<{ map = (i, j) ->
    (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense) }>
#COO = #sparse_tensor.encoding<{ map = (i, j) ->
    (i : loose_compressed(nonunique), j : singleton(soa)), posWidth = 16, crdWidth = 8 }>

func.func @a.b() -> i64 {
  %one = arith.constant 1 : i64
  return %one : i64
}

func.func @a_b() -> i64 {
  %two = arith.constant 2 : i64
  return %two : i64
}

func.func @"two words, */ and\0A a line\\"(
    %x: tensor<2x?xi1> {sparse_autograd.mask_of = "*/ \\"},
    %y: tensor<2x?xbf16> {sparse_autograd.name = "*/ \\"},
    %z: f16, %i: index) -> i8 {
  %three = arith.constant 3 : i8
  return %three : i8
}

func.func @t(%a: tensor<4x6xf64, #Blocks>) -> tensor<4x6xf64, #Blocks> {
  return %a : tensor<4x6xf64, #Blocks>
}

func.func @t__argument0() {
  return
}

func.func @u(%a: tensor<?x6xi32, #COO>) {
  return
}

func.func @nine(%a: tensor<1x1x1x1x1x1x1x1x?xf32>) {
  return
}
