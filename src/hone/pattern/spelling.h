// How the languages write element-wise primitives: a row each, all languages side by side. What takes more than a name (casts,
// negation, tests, what differs by type) is with the writers: expression.cc, triton_text.cc, tilelang_text.cc. Pure text.
#pragma once
#include "hone/task/graph/graph.h"

namespace hone::pattern {

/// Null where a language has no such function: the operator is written then.
struct Spelling {
  task::Prim prim;
  const char* sign = nullptr;  ///< the operator, between two operands in every language
  // functions
  const char* cpp = nullptr;   ///< of hone:: (hone/cpu.h, hone/gpu.h) and hone::gpu:: (hone/gpu/math.h)
  const char* triton = nullptr;
  const char* tilelang = nullptr;
  // functions of integers
  const char* whole_cpp = nullptr;  ///< templates of hone/whole.h: integers wrap in their own type
  const char* whole_triton = nullptr;
  const char* whole_tilelang = nullptr;
};

/// Of element-wise primitives only.
[[nodiscard]] const Spelling& spelling_of(task::Prim op);

}  // namespace hone::pattern
