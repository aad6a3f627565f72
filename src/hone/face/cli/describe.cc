// Commands about the task language: ops.
#include <cstdio>

#include <fmt/format.h>

#include "hone/face/cli/commands.h"
#include "hone/task/reference/language_page.h"
#include "hone/task/reference/op_facts.h"

namespace hone::face {

Result<int> list_ops(const std::string& name, bool markdown) {
  if (markdown && !name.empty())
    return fail(ErrorCode::kUsage, "--markdown prints the whole reference, not one operation", "leave one of the two out");
  if (markdown) {
    fmt::print("{}", task::language_page());
  } else if (name.empty()) {
    fmt::print("{}", task::op_table_text());
  } else {
    const task::Op* op = task::find_op(name);
    if (op == nullptr) {
      std::string hint = task::did_you_mean(name, task::all_op_names());
      if (hint.empty()) hint = "hone ops lists them";
      return fail(ErrorCode::kUsage, fmt::format("there is no operation '{}'", name), hint);
    }
    fmt::print("{}", task::op_text(*op));
  }
  return 0;
}

}  // namespace hone::face
