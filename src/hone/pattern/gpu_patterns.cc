#include "hone/pattern/gpu_patterns.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern::gpu {
namespace {

using task::IntExpr;

/// Elements of a row that a thread holds: more, and registers run out.
constexpr int64_t kMostHeld = 32;
constexpr int64_t kMostThreads = 1024;

std::string bracketed(const IntExpr& e) { return fmt::format("({})", e.to_cpp()); }
/// "B * " before another factor; nothing for 1.
std::string factor(const IntExpr& e) { return is_one(e) ? "" : fmt::format("({}) * ", e.to_string()); }
std::string in_plan(const IntExpr& e) { return e.is_constant() ? e.to_string() : fmt::format("({})", e.to_string()); }

}  // namespace

kernel::Kernel finished(const std::string& source, const std::string& pattern) {
  auto kernel = kernel::parse_kernel(source, pattern + ".cu");
  HONE_CHECK(kernel.has_value(), kernel ? "" : kernel.error().to_string() + "\n" + source);
  kernel->author = "pattern:" + pattern;
  return std::move(*kernel);
}

std::string arguments_with(const task::Task& task, const std::vector<std::string>& more) {
  std::string text = arguments_of(task);
  for (const std::string& one : more) text += fmt::format(", \"{}\"", one);
  return text;
}

std::string choices(int64_t best, const std::vector<int64_t>& others) {
  std::vector<int64_t> all{best};
  for (const int64_t one : others)
    if (one != best) all.push_back(one);
  return fmt::format("{}", fmt::join(all, ", "));
}

int64_t power_of_two(int64_t value) {
  int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

Result<kernel::Kernel> map(const Program& given, kernel::Language language) {
  if (!given.row_outputs.empty()) return fail(ErrorCode::kUnavailable, "an output that not all axes reach");
  Program program = given;
  program.row_axes.clear();
  program.inner_axes = program.nest.order;
  GpuWriter writer(program, GpuWriter::choose(program, program.inner_axes));
  if (std::string why = writer.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const std::string prologue = writer.row_prologue("0", "  ");
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "element by element: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["tunables"] = fmt::format("THREADS = [256, 128, 512], VEC = [{}], UNROLL = [4, 2, 1, 8]", choices(writer.widest_vector(), {4, 8, 2, 1}));
  slots["pieces"] = factor(writer.pieces());
  slots["length"] = writer.length().to_string();
  slots["args"] = arguments_of(*program.task);
  slots["parameters"] = gpu_parameters_of(*program.task);
  slots["aligned"] = writer.aligned();
  slots["body"] = prologue + writer.round_loop(rounds_of(program, false).front(), "int64_t{blockIdx.x}", "int64_t{gridDim.x}", "  ");
  return finished(fill_pattern("patterns/gpu/map.cu", slots), "map");
}

Result<kernel::Kernel> rows(const Program& program, kernel::Language language) {
  GpuWriter resident(program, {{}, program.inner_axes}, true, program.worth_keeping());
  GpuWriter loops(program, GpuWriter::choose(program, program.inner_axes));
  if (std::string why = resident.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const IntExpr length = program.row_length();
  const int64_t vec = resident.widest_vector(), longest = GpuWriter::largest(program, length);
  const int64_t held = longest <= 64 * vec ? vec : longest <= kMostHeld / 2 * kMostThreads / 2 ? kMostHeld / 2 : kMostHeld, words = held / vec;
  const int64_t threads = std::clamp<int64_t>(power_of_two((longest + vec * words - 1) / (vec * words)), 8, kMostThreads / 2);
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "a row in registers: " + resident.outline();
  slots["requires"] = resident.requirements();
  slots["tunables"] = fmt::format("THREADS = [{}], ROWS = [{}], VEC = [{}], WORDS = [{}], UNROLL = [4, 2, 8]",
                                  choices(threads, {32, 64, 128, 256, 512, 1024}), choices(std::max<int64_t>(1, 256 / threads), {1, 2, 4, 8}),
                                  choices(vec, {4, 2, 1}), choices(words, {1, 2, 4, 8}));
  slots["length"] = length.to_string();
  slots["rows"] = program.rows().to_string();
  slots["args"] = arguments_of(*program.task);
  slots["parameters"] = gpu_parameters_of(*program.task);
  slots["rows_cpp"] = bracketed(program.rows());
  slots["length_cpp"] = bracketed(length);
  slots["prologue"] = resident.row_prologue("row", "  ");
  slots["aligned_row"] = resident.aligned();
  std::string body, looped;
  for (const Round& round : rounds_of(program, false)) {
    body += resident.round_resident(round, "    ");
    body += resident.merged(round, "    ");
  }
  for (const Round& round : rounds_of(program, true)) {
    looped += loops.round_loop(round, "first", "1", "  ");
    looped += loops.merged(round, "  ");
  }
  slots["resident"] = body + resident.row_stores("    ", "some && thread == 0");
  slots["long_prologue"] = loops.row_prologue("row", "  ");
  slots["aligned"] = loops.aligned();
  slots["body"] = looped + loops.row_stores("  ", "some && thread == 0");
  return finished(fill_pattern("patterns/gpu/rows.cu", slots), "rows");
}

namespace {

std::string workspace_type(const std::string& accumulator) {
  if (accumulator.find("double") != std::string::npos) return "f64";
  if (accumulator.find("int64_t") != std::string::npos) return "i64";
  return accumulator.find("int32_t") != std::string::npos ? "i32" : "f32";
}
const char* cpp_type(const std::string& workspace) {
  return workspace == "f64" ? "double" : workspace == "i64" ? "int64_t" : workspace == "i32" ? "int32_t" : "float";
}

/// Workspaces in which the blocks of a row leave their running results: [rows, blocks] of each.
struct Partials {
  Partials(const GpuWriter& writer, const std::vector<Round>& rounds, const std::string& rows, const std::string& blocks) : facts(writer) {
    for (const Round& round : rounds)
      for (const Running& result : round.results)
        for (const std::string& field : fields(result)) {
          const std::string type = field == "at" ? "i64" : workspace_type(facts.accumulator(result)), name = fmt::format("{}{}", field, result.first);
          workspaces += fmt::format("{}{} = \"{}[{}, {}]\"", workspaces.empty() ? "" : ", ", name, type, rows, blocks);
          parameters += fmt::format(", {}* __restrict__ {}", cpp_type(type), name);
          names.push_back(name);
        }
  }
  /// Members of a running result, in their order.
  [[nodiscard]] std::vector<std::string> fields(const Running& result) const {
    if (result.kind == Running::Kind::kExpSum) return {"value", "second"};
    if (result.kind == Running::Kind::kMoments) return {"value", "second", "count"};
    return facts.is_arg(result.first) ? std::vector<std::string>{"value", "at"} : std::vector<std::string>{"value"};
  }
  /// value7[AT] = r7.value; …
  [[nodiscard]] std::string leave(const Round& round, const std::string& at, const std::string& indent) const {
    std::string text;
    for (const Running& result : round.results)
      for (const std::string& field : fields(result)) text += fmt::format("{0}{1}{2}[{3}] = r{2}.{1};\n", indent, field, result.first, at);
    return text;
  }
  /// What all `blocks` blocks of the row left, a share to each thread, as r7, …
  [[nodiscard]] std::string gather(const Round& round, const std::string& blocks, const std::string& indent) const {
    std::string text;
    for (const Running& result : round.results) {
      std::vector<std::string> parts;
      for (const std::string& field : fields(result)) parts.push_back(fmt::format("{}{}[row * {} + c]", field, result.first, blocks));
      text += fmt::format("{0}{1} r{2};\n{0}for (int64_t c = thread; c < {3}; c += THREADS) r{2}.merge({{{4}}});\n", indent, facts.accumulator(result), result.first, blocks,
                          fmt::join(parts, ", "));
    }
    return text;
  }
  const GpuWriter& facts;
  std::string workspaces, parameters;
  std::vector<std::string> names;
};

}  // namespace

Result<kernel::Kernel> split(const Program& program, kernel::Language language) {
  const Stretch stretch = GpuWriter::choose(program, program.inner_axes);
  const GpuWriter facts(program, stretch);
  if (std::string why = facts.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const std::string chunks = fmt::format("max(1, min(ceil_div(BLOCKS * SMS, {}), {}ceil_div({}, THREADS * VEC * UNROLL)))", in_plan(program.rows()),
                                         factor(facts.pieces()), facts.length().to_string());
  const std::vector<Round> rounds = rounds_of(program, true);
  Partials partials(facts, rounds, program.rows().to_string(), chunks);
  const std::string parameters = gpu_parameters_of(*program.task) + partials.parameters + ", int64_t chunks";
  std::vector<std::string> names = partials.names;
  names.push_back("i64:" + chunks);
  const auto combined = [&](GpuWriter& writer, size_t before) {
    std::string text;
    for (size_t r = 0; r < before; ++r) {
      text += partials.gather(rounds[r], "chunks", "  ");
      text += writer.merged(rounds[r], "  ");
    }
    return text;
  };
  const std::string opening =
      "  __shared__ hone::gpu::Scratch<THREADS, 1> scratch;\n  [[maybe_unused]] hone::gpu::Team<THREADS, 1> team(scratch);\n"
      "  const int thread = static_cast<int>(threadIdx.x);\n";
  std::string functions, launches;
  for (size_t r = 0; r < rounds.size(); ++r) {
    GpuWriter writer(program, stretch);
    std::string body = opening + "  const int64_t row = blockIdx.x / chunks, chunk = blockIdx.x % chunks;\n" + writer.row_prologue("row", "  ");
    body += fmt::format("  const bool aligned = {};\n", writer.aligned());
    body += combined(writer, r);
    body += writer.round_loop(rounds[r], "chunk", "chunks", "  ");
    for (const Running& result : rounds[r].results) body += fmt::format("  team.merge(r{});\n", result.first);
    if (!rounds[r].results.empty()) body += "  if (thread == 0) {\n" + partials.leave(rounds[r], "row * chunks + chunk", "    ") + "  }\n";
    functions += fmt::format("\n__global__ void __launch_bounds__(THREADS) pass{}({}) {{\n{}}}\n", r, parameters, body);
    launches += fmt::format("[[launch]]\nkernel = \"pass{}\"\ngrid   = [\"{}{}\"]\nblock  = [\"THREADS\"]\nargs   = [{}]\n", r, factor(program.rows()), chunks,
                            arguments_with(*program.task, names));
  }
  if (!program.row_outputs.empty()) {
    GpuWriter writer(program, stretch);
    std::string body = opening + "  const int64_t row = blockIdx.x;\n" + writer.row_prologue("row", "  ");
    body += combined(writer, rounds.size());
    body += writer.row_stores("  ", "thread == 0");
    functions += fmt::format("\n__global__ void __launch_bounds__(THREADS) finish({}) {{\n{}}}\n", parameters, body);
    launches += fmt::format("[[launch]]\nkernel = \"finish\"\ngrid   = [\"{}\"]\nblock  = [\"THREADS\"]\nargs   = [{}]\n", program.rows().to_string(),
                            arguments_with(*program.task, names));
  }
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "rows shared out between blocks: " + facts.outline();
  slots["requires"] = facts.requirements();
  slots["tunables"] = fmt::format("THREADS = [256, 512, 128], VEC = [{}], UNROLL = [4, 2, 8], BLOCKS = [8, 4, 2, 16]", choices(facts.widest_vector(), {4, 2, 1}));
  slots["workspaces"] = partials.workspaces;
  slots["launches"] = launches;
  slots["functions"] = functions;
  return finished(fill_pattern("patterns/gpu/split.cu", slots), "split");
}

Result<kernel::Kernel> columns(const Program& program, kernel::Language language) {
  if (!program.row_outputs.empty()) return fail(ErrorCode::kUnavailable, "an output has no column");
  const Stretch stretch{{}, {program.inner_axes.back()}};
  GpuWriter held(program, stretch, true), loops(program, stretch);
  if (std::string why = held.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const IntExpr& width = program.extent(program.inner_axes.back());
  IntExpr depth = 1;
  for (size_t k = 0; k + 1 < program.inner_axes.size(); ++k) depth = depth * program.extent(program.inner_axes[k]);
  const int64_t vec = held.widest_vector(), wide = GpuWriter::largest(program, width), deep = GpuWriter::largest(program, depth);
  const int64_t x = std::clamp<int64_t>(power_of_two(wide) / vec, 8, 32), y = std::clamp<int64_t>(power_of_two(deep) / 4, 64 / x, 256 / x);
  const int64_t rows_held = std::clamp<int64_t>(power_of_two((deep + y - 1) / y), 1, kMostHeld / vec);
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "tiles of columns: " + held.outline();
  slots["requires"] = held.requirements();
  slots["tunables"] = fmt::format("X = [{}], Y = [{}], VEC = [{}], HELD = [{}], UNROLL = [4, 2, 8]", choices(x, {16, 32, 64, 128}), choices(y, {4, 8, 16, 32}),
                                  choices(vec, {4, 2, 1}), choices(rows_held, {8, 4, 2, 1}));
  slots["slot"] = fmt::format("{}", held.slot_bytes());
  slots["depth"] = depth.to_string();
  slots["rows"] = factor(program.rows());
  slots["columns"] = width.to_string();
  slots["args"] = arguments_of(*program.task);
  slots["parameters"] = gpu_parameters_of(*program.task);
  slots["columns_cpp"] = bracketed(width);
  slots["depth_cpp"] = bracketed(depth);
  slots["aligned"] = loops.aligned();
  slots["held_prologue"] = held.row_prologue("row", "  ");
  slots["prologue"] = loops.row_prologue("row", "  ");
  std::string body, looped;
  for (size_t pass = 0; pass < program.passes.size(); ++pass) {
    body += held.pass_columns(pass, {}, {}, "    ");
    body += held.merged_columns(pass, "    ");
    looped += loops.pass_columns(pass, "0", bracketed(depth), "    ");
    looped += loops.merged_columns(pass, "    ");
  }
  slots["held"] = body + held.column_stores("    ", "threadIdx.y == 0");
  slots["body"] = looped + loops.column_stores("    ", "threadIdx.y == 0");
  return finished(fill_pattern("patterns/gpu/columns.cu", slots), "columns");
}

Result<kernel::Kernel> scans(const Program& program, kernel::Language language) {
  GpuWriter writer(program, {{}, program.inner_axes});
  if (std::string why = writer.scan_obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const IntExpr length = program.row_length();
  const int64_t vec = writer.widest_vector(), longest = GpuWriter::largest(program, length);
  const int64_t threads = std::clamp<int64_t>(power_of_two((longest + vec * 4 - 1) / (vec * 4)), 64, 256);
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "along rows, tile by tile: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["tunables"] = fmt::format("THREADS = [{}], ROWS = [1, 2], VEC = [{}], UNROLL = [4, 2, 1]", choices(threads, {64, 128, 256, 512}), choices(vec, {4, 2, 1}));
  slots["rows"] = program.rows().to_string();
  slots["args"] = arguments_of(*program.task);
  slots["parameters"] = gpu_parameters_of(*program.task);
  slots["rows_cpp"] = bracketed(program.rows());
  slots["prologue"] = writer.row_prologue("row", "  ");
  slots["aligned"] = writer.aligned();
  std::string body;
  for (const Round& round : rounds_of(program, false)) {
    body += writer.round_loop(round, "", "", "  ");
    body += writer.merged(round, "  ");
  }
  slots["body"] = body + writer.row_stores("  ", "some && thread == 0");
  return finished(fill_pattern("patterns/gpu/scans.cu", slots), "scans");
}

Result<kernel::Kernel> crews(const Program& program, kernel::Language language) {
  const std::vector<Round> rounds = rounds_of(program, true);
  if (rounds.size() < 2) return fail(ErrorCode::kUnavailable, "one pass needs no row to stay");
  GpuWriter writer(program, {{}, program.inner_axes}, true);
  if (std::string why = writer.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const IntExpr length = program.row_length();
  const int64_t vec = writer.widest_vector();
  const std::string blocks = fmt::format("ceil_div({}, THREADS * VEC * WORDS)", length.to_string());
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
      for (const Running& result : rounds[r].results) body += fmt::format("    team.merge(r{});\n", result.first);
    body += "    if (thread == 0) {\n" + partials.leave(rounds[r], "row * blocks + rank", "      ") + "    }\n";
    body += fmt::format("    hone::gpu::meet(arrived + row * {} + {}, static_cast<int32_t>(blocks));\n", rounds.size(), r);
    for (const Running& result : rounds[r].results) {
      std::vector<std::string> parts;
      for (const std::string& field : partials.fields(result)) parts.push_back(fmt::format("{}{}[row * blocks + c]", field, result.first));
      body += fmt::format("    r{0} = {{}};\n    for (int64_t c = thread; c < blocks; c += THREADS) r{0}.merge({{{1}}});\n", result.first, fmt::join(parts, ", "));
    }
    body += writer.merged(rounds[r], "    ");
  }
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "several blocks hold a row: " + writer.outline();
  slots["requires"] = require;
  slots["tunables"] = fmt::format("THREADS = [512, 256, 1024, 64], VEC = [{}], WORDS = [{}], RESIDENT = [2, 1, 3, 4]", choices(vec, {4, 2, 1}),
                                  choices(kMostHeld / vec, {4, 8, 16, 1}));
  slots["workspaces"] = partials.workspaces + fmt::format(", tickets = \"zero i32[1]\", arrived = \"zero i32[{}, {}]\"", program.rows().to_string(), rounds.size());
  slots["grid"] = factor(program.rows()) + blocks;
  slots["args"] = arguments_with(*program.task, names);
  slots["parameters"] = gpu_parameters_of(*program.task) + partials.parameters + ", int32_t* __restrict__ tickets, int32_t* __restrict__ arrived, int64_t blocks";
  slots["prologue"] = writer.row_prologue("row", "  ");
  slots["aligned"] = writer.aligned();
  slots["length_cpp"] = bracketed(length);
  slots["body"] = body + writer.row_stores("    ", "rank == 0 && thread == 0");
  return finished(fill_pattern("patterns/gpu/crews.cu", slots), "crews");
}

}  // namespace hone::pattern::gpu
