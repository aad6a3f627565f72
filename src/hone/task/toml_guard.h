// What is looked at before and after toml++ reads what somebody else wrote (task files, kernels' headers, lists of models): it recurses on
// nesting, takes what it has not looked at for granted, and its messages speak of its own grammar. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "hone/task/graph/graph.h"

namespace hone::task {

struct TomlProblem {
  Where where;  ///< column in code points, as toml++ counts
  std::string message, hint;
};

/// Text that must not reach toml++: too long, not UTF-8, with NUL bytes, or nested so deeply (brackets,
/// dotted keys) that its recursion could exhaust the stack; and, outside of texts and comments, what it has not
/// foreseen: other characters than ASCII, a section without a name, a list that a brace ends. None for anything else.
[[nodiscard]] std::optional<TomlProblem> toml_guard(std::string_view text);

/// A parse error of toml++ as a sentence for people who write task files. `text` and `where` are the
/// file and the place toml++ names.
[[nodiscard]] TomlProblem toml_problem(std::string_view description, std::string_view text, Where where);

}  // namespace hone::task
