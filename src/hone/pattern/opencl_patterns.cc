#include "hone/pattern/opencl_patterns.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/opencl_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern::opencl {
namespace {

/// Rows shorter than this are not worth a group of their own.
constexpr int64_t kShortRow = 256;

kernel::Kernel filled(const char* pattern, const Slots& slots) {
  return finished(with_helpers(fill_pattern(fmt::format("patterns/opencl/{}.cl", pattern), slots)), pattern);
}

Slots slots_of(const Writer& writer, const Program& program) {
  Slots slots;
  slots["requires"] = writer.requirements();
  slots["rows"] = program.rows().to_string();
  slots["args"] = writer.arguments();
  slots["parameters"] = writer.parameters();
  slots["index"] = writer.index();
  return slots;
}

tl::unexpected<Error> unsuited(const std::string& why) { return fail(ErrorCode::kUnavailable, why); }

/// Tensors of a row's running results, one element a group, and how they are passed on.
struct Left {
  explicit Left(const Writer& writer, const Program& program) {
    for (const Pass& pass : program.passes)
      for (const int id : pass.reductions) {
        add(fmt::format("left{}", id), writer.running_type(id), program);
        if (writer.is_arg(id)) add(fmt::format("at{}_left", id), "long", program);
      }
  }
  void add(const std::string& name, const std::string& type, const Program& program) {
    const char* const dtype = type == "float" ? "f32" : type == "double" ? "f64" : type == "int" ? "i32" : "i64";
    workspaces += fmt::format("{}{} = \"{}[{}, GROUPS]\"", workspaces.empty() ? "" : ", ", name, dtype, program.rows().to_string());
    parameters += fmt::format(", __global {}* restrict {}", type, name);
    arguments += fmt::format(", \"{}\"", name);
  }
  std::string workspaces, parameters, arguments;
};

/// What all groups found in pass `number`, by every group for itself: an item's share, then combined.
std::string gathered(Writer& writer, const Program& program, size_t number) {
  std::string text = writer.begun(number, "  ");
  for (const int id : program.passes[number].reductions) {
    text += "  for (int k = item; k < GROUPS; k += ITEMS)\n";
    if (writer.is_arg(id))
      text += fmt::format("    if ({1}(left{0}[row * GROUPS + k], at{0}_left[row * GROUPS + k], r{0}, l{0}))\n"
                          "      r{0} = left{0}[row * GROUPS + k], l{0} = at{0}_left[row * GROUPS + k];\n", id, writer.fold(id));
    else
      text += fmt::format("    r{0} = {1}(r{0}, left{0}[row * GROUPS + k]);\n", id, writer.fold(id));
  }
  return text + writer.combined(number, "  ") + writer.found(number, "  ");
}

}  // namespace

Result<kernel::Kernel> map(const Program& given) {
  if (!given.row_outputs.empty()) return unsuited("an output that not all axes reach");
  Program program = given;
  if (GpuWriter::largest(program, program.row_length()) < kShortRow) {
    program.row_axes.clear();
    program.inner_axes = program.nest.order;
  }
  Writer writer(program, {"get_global_id(0)", "get_global_size(0)", false});
  if (std::string why = writer.obstacle(); !why.empty()) return unsuited(why);
  Slots slots = slots_of(writer, program);
  slots["note"] = "element by element: " + writer.outline();
  slots["vec"] = writer.vector_tunable(8);
  slots["length"] = program.row_length().to_string();
  const std::string prologue = writer.row_prologue("row", "  ");
  slots["body"] = prologue + writer.pass_text(0, "  ");
  return filled("map", slots);
}

Result<kernel::Kernel> rows(const Program& program) {
  Writer writer(program, {"item", "ITEMS", true});
  if (std::string why = writer.obstacle(); !why.empty()) return unsuited(why);
  Slots slots = slots_of(writer, program);
  slots["note"] = "a group a row: " + writer.outline();
  slots["items"] = "1, 16, 64, 256";
  slots["vec"] = writer.vector_tunable(16);
  slots["shares"] = writer.shares("  ");
  std::string body = writer.row_prologue("row", "  ");
  for (size_t pass = 0; pass < program.passes.size(); ++pass) body += writer.pass_text(pass, "  ");
  slots["body"] = body + writer.row_stores("  ", "item == 0");
  return filled("rows", slots);
}

Result<kernel::Kernel> columns(const Program& program) {
  const Walk walk{"0", "1", false, true};
  const Writer facts(program, walk);
  if (std::string why = facts.obstacle(); !why.empty()) return unsuited(why);
  const auto text = [&](bool lanes) {
    Writer writer(program, walk);
    writer.choose(lanes);
    std::string body = writer.row_prologue("row", "    ");
    for (size_t pass = 0; pass < program.passes.size(); ++pass) body += writer.pass_text(pass, "    ");
    return body + writer.row_stores("    ", "");
  };
  const task::IntExpr& width = program.extent(program.row_axes.back());
  task::IntExpr lines = 1;
  for (size_t k = 0; k + 1 < program.row_axes.size(); ++k) lines = lines * program.extent(program.row_axes[k]);
  Slots slots = slots_of(facts, program);
  slots.erase("rows");
  slots["note"] = "an item a word of columns: " + facts.outline();
  slots["lines"] = lines.to_string();
  slots["width"] = width.to_string();
  slots["lines_cl"] = spelled(parenthesised(lines));
  slots["width_cl"] = spelled(parenthesised(width));
  slots["vec"] = facts.vector_tunable(16);
  if (facts.lanes())
    slots["whole"] = fmt::format("  if (column + VEC <= {0}) {{\n    const {1} row = line * {0} + column;\n{2}    return;\n  }}\n",
                                 slots["width_cl"], facts.index(), text(true));
  else slots["whole"] = "";
  slots["single"] = text(false);
  return filled("columns", slots);
}

Result<kernel::Kernel> split(const Program& program) {
  const Walk walk{"(group * ITEMS + item)", "(GROUPS * ITEMS)", true};
  const Writer facts(program, walk);
  if (std::string why = facts.obstacle(); !why.empty()) return unsuited(why);
  if (!program.has_reductions()) return unsuited("nothing is reduced");
  const Left left(facts, program);
  std::string functions, launches;
  const auto add = [&](const std::string& name, const std::string& body, const std::string& grid) {
    functions += fmt::format("\n__attribute__((reqd_work_group_size(ITEMS, 1, 1)))\n__kernel void {}({}{}) {{\n{}}}\n", name,
                             facts.parameters(), left.parameters, body);
    launches += fmt::format("[[launch]]\nkernel = \"{}\"\ngrid   = [{}]\nblock  = [\"ITEMS\", \"1\"]\nargs   = [{}{}]\n", name, grid,
                            facts.arguments(), left.arguments);
  };
  const std::string opening = facts.shares("  ") + "  const int item = get_local_id(0), group = get_group_id(0);\n" +
                              "  const long row = get_group_id(1);\n";   // times GROUPS, which no requirement bounds
  for (size_t p = 0; p < program.passes.size(); ++p) {
    Writer writer(program, walk);
    std::string body = opening + writer.row_prologue("row", "  ");
    for (size_t before = 0; before < p; ++before) body += gathered(writer, program, before);
    body += writer.pass_text(p, "  ");
    std::string leaves;
    for (const int id : program.passes[p].reductions) {
      leaves += fmt::format("    left{0}[row * GROUPS + group] = r{0};\n", id);
      if (writer.is_arg(id)) leaves += fmt::format("    at{0}_left[row * GROUPS + group] = l{0};\n", id);
    }
    if (!leaves.empty()) body += "  if (item == 0) {\n" + leaves + "  }\n";
    add(fmt::format("pass{}", p), body, fmt::format("\"GROUPS\", \"{}\"", program.rows().to_string()));
  }
  if (!program.row_outputs.empty()) {
    Writer writer(program, walk);
    std::string body = opening + writer.row_prologue("row", "  ");
    for (size_t p = 0; p < program.passes.size(); ++p) body += gathered(writer, program, p);
    add("finish", body + writer.row_stores("  ", "item == 0"), fmt::format("\"1\", \"{}\"", program.rows().to_string()));
  }
  Slots slots;
  slots["note"] = "rows shared between groups: " + facts.outline();
  slots["requires"] = facts.requirements();
  slots["groups"] = "32, 8, 128, 512";
  slots["items"] = "1, 16, 64, 256";
  slots["vec"] = facts.vector_tunable(16);
  slots["workspaces"] = left.workspaces;
  slots["launches"] = launches;
  slots["functions"] = functions;
  return filled("split", slots);
}

}  // namespace hone::pattern::opencl
