#include "hone/pattern/gpu_patterns.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_partials.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern::gpu {

using task::IntExpr;

namespace {
/// Elements that 128 multiprocessors hold comfortably.
constexpr int64_t kComfortable = 128 * 3 * 256 * (kMostHeld - 8);
}  // namespace

Result<kernel::Kernel> resident_rows(const Program& program, kernel::Language language) {
  const std::vector<Round> rounds = rounds_of(program, true);
  if (rounds.size() < 2) return fail(ErrorCode::kUnavailable, "one pass needs no row to stay");
  GpuWriter writer(program, {{}, program.inner_axes}, true);
  if (std::string why = writer.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const IntExpr length = program.row_length();
  const int64_t vec = writer.widest_vector();
  // Three blocks of 256 leave a thread 80 registers, which is comfortable; the longest rows need all there are.
  const bool packed = GpuWriter::largest(program, length) > kComfortable;
  const std::string blocks = fmt::format("ceil_div({} + {}, THREADS * VEC * WORDS)", length.to_string(), writer.most_lead());
  const Partials partials(writer, rounds, program.rows().to_string(), blocks);
  std::string require = writer.requirements();
  const std::string room = fmt::format("\"{} <= SMS * RESIDENT\"", blocks);
  require = require.empty() ? fmt::format("requires = [{}]\n", room) : require.substr(0, require.size() - 2) + ", " + room + "]\n";
  std::vector<std::string> names = partials.names;
  for (const char* name : {"tickets", "arrived"}) names.emplace_back(name);
  names.push_back("i64:" + blocks);
  std::string body;
  for (size_t r = 0; r < rounds.size(); ++r) {
    body += writer.round_resident(rounds[r], "    ");
    if (rounds[r].results.empty()) continue;
    if (rounds[r].passes.size() == 1)
      for (const Running& result : rounds[r].results) body += fmt::format("    thread_group.merge(r{});\n", result.first);
    body += "    if (thread == 0) {\n" + partials.leave(rounds[r], "row * blocks + rank", "      ") + "    }\n";
    body += fmt::format("    hone::gpu::meet(arrived + row * {} + {}, static_cast<int32_t>(blocks));\n", rounds.size(), r);
    for (const Running& result : rounds[r].results) {
      std::vector<std::string> parts;
      for (const std::string& field : partials.fields(result)) parts.push_back(fmt::format("{}[row * blocks + c]", left_name(field, result.first)));
      body += fmt::format("    r{0} = {{}};\n    for (int64_t c = thread; c < blocks; c += THREADS) r{0}.merge({{{1}}});\n", result.first,
                          fmt::join(parts, ", "));
    }
    body += writer.merged(rounds[r], "    ");
  }
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "several blocks hold a row: " + writer.outline();
  slots["requires"] = require;
  slots["tunables"] = fmt::format("THREADS = [{}], VEC = [{}], WORDS = [{}], RESIDENT = [{}]", choices(packed ? 512 : 256, {256, 512, 1024, 64}),
                                  choices(vec, {4, 2, 1}), choices(kMostHeld / vec - (packed ? 0 : 1), {4, 8, 16, 1}), choices(packed ? 2 : 3, {1, 2, 3, 4}));
  slots["workspaces"] = partials.workspaces + fmt::format(", tickets = \"zero i32[1]\", arrived = \"zero i32[{}, {}]\"",
                                                          program.rows().to_string(), rounds.size());
  slots["grid"] = factor(program.rows()) + blocks;
  slots["args"] = arguments_with(*program.task, names);
  slots["parameters"] = gpu_parameters_of(*program.task) + partials.parameters + ", int32_t* __restrict__ tickets, int32_t* __restrict__ arrived, int64_t blocks";
  slots["prologue"] = writer.row_prologue("row", "  ");
  slots["alignment"] = writer.alignment();
  slots["length_cpp"] = bracketed(length);
  slots["body"] = body + writer.row_stores("    ", "rank == 0 && thread == 0");
  return finished(fill_pattern("patterns/gpu/resident_rows.cu", slots), "resident_rows");
}

}  // namespace hone::pattern::gpu
