#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/library.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using task::IntExpr;

kernel::Kernel finished(std::string source, const std::string& pattern) {
  auto kernel = kernel::parse_kernel(source, pattern + ".cc");
  HONE_CHECK(kernel.has_value(), kernel ? "" : kernel.error().to_string() + "\n" + source);
  kernel->author = "pattern:" + pattern;
  return std::move(*kernel);
}

/// Vectors of 32-bit lanes where every value fits them, else of 64-bit lanes.
Result<Way> way_for(const Program& program) {
  for (const Way way : {Way::kVector32, Way::kVector64}) {
    const CppWriter writer(program, way, {});
    if (writer.vectorisable()) return way;
  }
  return fail(ErrorCode::kUnavailable, "the innermost axis is not contiguous in every tensor");
}

std::string fence(const CppWriter& writer) {
  return writer.stores_elements() ? "  if constexpr (STREAM) hone::stream_fence();\n" : "";
}

Result<kernel::Kernel> rows(const Program& program, Way way, bool keep) {
  CppWriter writer(program, way, keep ? program.worth_keeping() : std::vector<int>{});
  std::string body = writer.row_prologue("row", "    ") + writer.keep_prologue("    ");
  for (size_t pass = 0; pass < program.passes.size(); ++pass) body += writer.pass_text(pass, "    ");
  body += writer.row_stores("    ");
  const bool stores = writer.stores_elements();
  const IntExpr shared = writer.keep_bytes();
  const bool needs_shared = keep && !(shared.is_constant() && shared.constant() == 0);
  Slots slots;
  slots["pattern"] = "rows";
  slots["note"] = "a row at a time: " + writer.outline() + (keep ? "; keeps what is dear to compute twice" : "");
  slots["requires"] = writer.requirements();
  slots["tunables"] = std::string("ROWS = [4, 1, 16, 64], UNROLL = [4, 2, 1, 8], AHEAD = [1, 0, 2]") + (stores ? ", STREAM = [1, 0]" : "");
  slots["rows"] = program.rows().to_string();
  slots["args"] = writer.arguments() + (needs_shared ? ", \"shared\"" : "");
  slots["shared"] = needs_shared ? fmt::format("shared = \"{}\"\n", shared.to_string()) : "";
  slots["parameters"] = writer.parameters() + (needs_shared ? ", void* shared" : "");
  slots["rows_cpp"] = fmt::format("({})", program.rows().to_cpp());
  slots["body"] = body;
  slots["fence"] = fence(writer);
  return finished(fill_pattern("patterns/cpp/rows.cc", slots), "rows");
}

Result<kernel::Kernel> map(const Program& program, Way way) {
  CppWriter writer(program, way, {});
  const bool outer = !program.row_axes.empty();
  const IntExpr length = program.row_length();
  std::string body = writer.row_prologue("row", "  ");
  std::string pass = writer.pass_text(0, "  ");
  // The pass runs over the whole row; a block of this kernel takes a chunk of it.
  const std::string whole = fmt::format("UNROLL>({}, ", length.to_cpp());
  const size_t at = pass.find(whole);
  HONE_CHECK(at != std::string::npos);
  pass.replace(at, whole.size(), "UNROLL>(count, ");
  const std::string index = "[&](int64_t j, auto n) HONE_BODY {\n";
  const size_t lambda = pass.find(index);
  HONE_CHECK(lambda != std::string::npos);
  pass.replace(lambda, index.size(), "[&](int64_t i, auto n) HONE_BODY {\n    const int64_t j = start + i;\n");
  Slots slots;
  slots["note"] = "element by element: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["tunables"] = "CHUNK = [16384, 4096, 65536], UNROLL = [4, 2, 1, 8], AHEAD = [0, 2], STREAM = [1, 0]";
  slots["length"] = length.to_string();
  slots["outer_grid"] = outer ? fmt::format(", \"{}\"", program.rows().to_string()) : "";
  slots["args"] = writer.arguments();
  slots["parameters"] = writer.parameters();
  slots["outer_parameter"] = outer ? ", int64_t row" : "";
  slots["length_cpp"] = fmt::format("({})", length.to_cpp());
  slots["body"] = body + pass + writer.row_stores("  ");
  slots["fence"] = fence(writer);
  return finished(fill_pattern("patterns/cpp/map.cc", slots), "map");
}

bool innermost_is_reduced(const Program& program) {
  return !program.nest.order.empty() && !program.inner_axes.empty() &&
         program.nest.order.back() == program.inner_axes.back();
}

bool has_reductions(const Program& program) {
  return std::any_of(program.passes.begin(), program.passes.end(), [](const Pass& p) { return !p.reductions.empty(); });
}

}  // namespace

std::vector<Offer> offers_cpp(const task::Task& task, std::vector<std::string>& why_not) {
  std::vector<Offer> offers;
  const auto program = find_program(task);
  if (!program) {
    why_not.push_back("rows, map: " + program.error().message);
    return offers;
  }
  const auto way = way_for(*program);
  if (!way) {
    why_not.push_back("rows, map: " + way.error().message);
    return offers;
  }
  const auto add = [&](const char* pattern, const char* action, Result<kernel::Kernel> kernel) {
    if (kernel) {
      kernel->header.action = action;
      offers.push_back({std::move(*kernel), pattern, action});
    } else {
      why_not.push_back(std::string(pattern) + ": " + kernel.error().message);
    }
  };
  if (!has_reductions(*program)) {
    add("map", "fuse into one loop", map(*program, *way));
  } else if (innermost_is_reduced(*program)) {
    if (!program->worth_keeping().empty()) add("rows", "keep in scratch", rows(*program, *way, true));
    add("rows", "recompute", rows(*program, *way, false));
  } else {
    why_not.push_back("rows: the innermost axis is not reduced");
  }
  return offers;
}

}  // namespace hone::pattern
