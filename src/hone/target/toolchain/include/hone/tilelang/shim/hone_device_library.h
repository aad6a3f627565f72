// What HIP's headers want of the device libraries that ROCm brings: a thread's place, by builtins.
#pragma once

#define HONE_PLACE(NAME, X, Y, Z)                                                                                              \
  extern "C" __device__ inline __attribute__((always_inline, weak)) __SIZE_TYPE__ NAME(unsigned axis) { \
    return axis == 0 ? X : axis == 1 ? Y : Z;                                                                                  \
  }
HONE_PLACE(__ockl_get_group_id, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z())
HONE_PLACE(__ockl_get_local_id, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z())
HONE_PLACE(__ockl_get_local_size, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z())
HONE_PLACE(__ockl_get_num_groups, __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(),
           __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z())
#undef HONE_PLACE
