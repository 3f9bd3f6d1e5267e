target triple = "nvptx64-nvidia-cuda"
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.1d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i16, i64, i1 immarg, i1 immarg, i32 immarg)
define ptx_kernel void @f(ptr addrspace(7) %to, ptr addrspace(3) %object, ptr %map) {
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.1d(ptr addrspace(7) %to, ptr addrspace(3) %object, ptr %map, i32 0, i16 3, i64 0, i1 true, i1 false, i32 0)
  ret void
}
