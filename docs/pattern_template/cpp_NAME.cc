#include "hone/pattern/cpp_NAME.h"

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern {

Result<std::string> NAME_cpp(const task::Task& task) {
  // Does the task have the form? Each no is a sentence that `hone explain` shows behind "not NAME:".
  HONE_TRY(const Program program, find_program(task, {.slices = true}));
  if (program.has_reductions()) return fail(ErrorCode::kUnavailable, "what is in the way");
  HONE_TRY(const Way way, way_for(program));
  CppWriter writer(program, way, {});
  Slots slots;
  slots["note"] = writer.outline();
  slots["requires"] = writer.requirements();
  slots["rows"] = program.rows().to_string();
  slots["rows_cpp"] = "(" + program.rows().to_cpp() + ")";
  slots["args"] = writer.arguments();
  slots["parameters"] = writer.parameters();
  // In this order: a pass refers to the values that the prologue declares.
  slots["body"] = writer.row_prologue("row", "    ");
  slots["body"] += writer.pass_text(0, "    ");
  return fill_pattern("patterns/cpp/NAME.cc", slots);
}

}  // namespace hone::pattern
