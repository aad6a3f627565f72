// Binds the arguments of a call to the parameters of an op, converting each to what the parameter
// takes. Errors name the op, the parameter, and what was found.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/task/graph/op_table.h"
#include "hone/task/graph/value.h"
#include "hone/task/language/lexer.h"

namespace hone::task {

struct Argument {
  std::string keyword;  ///< empty: positional
  Value value;
  Where where;
};

struct Bound {
  std::vector<int> operands;  ///< nodes of the tensor parameters present
  Attrs attrs;
};

/// `as_tensor` makes a node of a number; `rank_of` tells a node's rank (axes count from its end).
struct Binder {
  std::function<Sourced<int>(const Value&, Where)> as_tensor;
  std::function<int(int)> rank_of;
};

[[nodiscard]] Sourced<Bound> bind_arguments(const Op& op, const std::vector<Argument>& args, Where where,
                                            const Binder& binder);

/// A parameter may be given by a name that PyTorch or NumPy has for it: {"dim", "axis"}.
struct Synonym {
  std::string_view from, to;
};
[[nodiscard]] std::span<const Synonym> keyword_synonyms();

/// "a number", "a tensor", "a list", …: for messages.
[[nodiscard]] std::string describe(const Value& value);

}  // namespace hone::task
