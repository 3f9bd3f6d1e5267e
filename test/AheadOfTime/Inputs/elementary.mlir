// An elementary function of each type. The mask has narrow elements: as many as
// fill a register of them may be computed at a time.

func.func @singles(%x: tensor<?xf32>, %mask: tensor<?xi1>) -> tensor<?xf32> {
  %y = math.tanh %x : tensor<?xf32>
  %z = arith.select %mask, %y, %x : tensor<?xi1>, tensor<?xf32>
  return %z : tensor<?xf32>
}

func.func @doubles(%x: tensor<?xf64>, %mask: tensor<?xi1>) -> tensor<?xf64> {
  %y = math.tanh %x : tensor<?xf64>
  %z = arith.select %mask, %y, %x : tensor<?xi1>, tensor<?xf64>
  return %z : tensor<?xf64>
}
