// Short PTX for tests: one entry around a few statements.
#pragma once
#include <string>

namespace hone::diagnose::testing {

inline const std::string kPtxHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";

/// With registers %p, %r (32 bits), %h (16), %f, %d (f64), %rd (64 bits), a tile of shared memory, and parameters of 8 bytes.
inline std::string ptx_entry(const std::string& statements) {
  return kPtxHead + ".visible .entry k(\n.param .u64 k_param_0,\n.param .u64 k_param_1\n)\n{\n"
         ".reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .f64 %d<9>;\n.reg .b64 %rd<9>;\n"
         ".shared .align 16 .b8 tile[4096];\n"
         "ld.param.u64 %rd1, [k_param_0];\nld.param.u64 %rd2, [k_param_1];\n" + statements + "ret;\n}\n";
}

}  // namespace hone::diagnose::testing
