#include "hone/pattern/gpu_patterns.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_partials.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern::gpu {

using task::IntExpr;
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
  slots["tunables"] = fmt::format("THREADS = [256, 128, 512], VEC = [{}], UNROLL = [1, 2, 4, 8]", choices(writer.widest_vector(), {4, 8, 2, 1}));
  slots["args"] = arguments_of(*program.task);
  slots["parameters"] = gpu_parameters_of(*program.task);
  slots["aligned"] = writer.aligned();
  slots["body"] = prologue + writer.round_loop(rounds_of(program, false).front(), "", "", "  ");
  slots["grid"] = writer.walk_grid();
  return finished(fill_pattern("patterns/gpu/map.cu", slots), "map");
}

namespace {

/// Threads that hold a row of so many words in registers, and the words of each, `most` of them at most: four a thread, as long as that leaves a
/// wave. Blocks are small. On an H100 layer norms of 57,855 rows of 720, 32,768 of 4,096 and 130,048 of 256 bf16 took 60.7, 183 and 52.5 us so, with two
/// words a thread and 256 threads a block 75, 202 and 55.8, with one word 87 and more: fewer threads meet sooner.
struct RowThreads { int64_t threads, words; };
RowThreads row_threads(int64_t row, int64_t most) {
  constexpr int64_t kWords = 4, kWave = 32;
  int64_t threads = std::max(power_of_two((row + kWords - 1) / kWords), std::min(power_of_two(row), kWave));
  if (threads > kMostThreads / 2) threads = power_of_two((row + most - 1) / most);
  threads = std::clamp<int64_t>(threads, 8, kMostThreads / 2);
  return {threads, std::min(power_of_two((row + threads - 1) / threads), most)};
}

}  // namespace

Result<kernel::Kernel> rows(const Program& program, kernel::Language language) {
  GpuWriter resident(program, {{}, program.inner_axes}, true, program.worth_keeping());
  GpuWriter loops(program, GpuWriter::choose(program, program.inner_axes));
  if (std::string why = resident.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const IntExpr length = program.row_length();
  const int64_t vec = resident.widest_vector(), longest = GpuWriter::largest(program, length);
  const RowThreads size = row_threads((longest + vec - 1) / vec, kMostHeld / vec);
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "a row in registers: " + resident.outline();
  slots["requires"] = resident.requirements();
  slots["tunables"] = fmt::format("THREADS = [{}], ROWS = [{}], VEC = [{}], WORDS = [{}], UNROLL = [4, 2, 8]",
                                  choices(size.threads, {32, 64, 128, 256, 512, 1024}), choices(std::max<int64_t>(1, (size.words < 4 ? 64 : 32) / size.threads), {1, 2, 4, 8}),
                                  choices(vec, {4, 2, 1}), choices(size.words, {1, 2, 4, 8}));
  slots["length"] = length.to_string();
  slots["rows"] = program.rows().to_string();
  slots["args"] = arguments_of(*program.task);
  slots["parameters"] = gpu_parameters_of(*program.task);
  slots["rows_cpp"] = bracketed(program.rows());
  slots["length_cpp"] = bracketed(length);
  slots["prologue"] = resident.row_prologue("row", "  ");
  slots["alignment_row"] = resident.alignment();
  const std::string alignment = loops.alignment();
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
  slots["alignment"] = alignment;
  slots["body"] = looped + loops.row_stores("  ", "some && thread == 0");
  return finished(fill_pattern("patterns/gpu/rows.cu", slots), "rows");
}

Result<kernel::Kernel> split(const Program& program, kernel::Language language) {
  const Segment segment = GpuWriter::choose(program, program.inner_axes);
  const GpuWriter facts(program, segment);
  if (std::string why = facts.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const auto parts_of = [&](const char* blocks) {
    return fmt::format("max(1, min(ceil_div({} * SMS, {}), {}ceil_div({}, THREADS * VEC * UNROLL)))", blocks, in_plan(program.rows()),
                       factor(facts.pieces()), facts.length().to_string());
  };
  const std::string chunks = parts_of("BLOCKS");
  const std::vector<Round> rounds = rounds_of(program, true);
  // One pass and no more: nobody reads the partial results but the last launch, so there may be many, and blocks that are
  // more than a multiprocessor holds leave no last round half empty. Three eighths of its threads are there (80 registers): with
  // half of them (64) the losses of two tensors spill.
  const bool once = rounds.size() == 1;
  const auto only_writes = [&](size_t r) { return r > 0 && rounds[r].results.empty(); };
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
      "  __shared__ hone::gpu::Scratch<THREADS, 1> scratch;\n  [[maybe_unused]] hone::gpu::ThreadGroup<THREADS, 1> thread_group(scratch);\n"
      "  const int thread = static_cast<int>(threadIdx.x);\n";
  std::string functions, launches;
  bool down = false;
  for (size_t r = 0; r < rounds.size(); ++r) {
    GpuWriter writer(program, segment);
    const std::string parts = only_writes(r) ? "parts" : "chunks";
    std::string body = opening;
    if (only_writes(r)) body += fmt::format("  const int64_t parts = gridDim.x / ({});\n", program.rows().to_cpp());
    body += fmt::format("  const int64_t row = blockIdx.x / {0}, chunk = blockIdx.x % {0};\n", parts) + writer.row_prologue("row", "  ");
    body += fmt::format("  const hone::gpu::Alignment alignment = {};\n", writer.alignment());
    body += combined(writer, r);
    // What a pass read last lies in the cache when the next one comes.
    body += writer.round_loop(rounds[r], "chunk", r % 2 == 0 ? parts : fmt::format("BACK ? -{0} : {0}", parts), "  ");
    down = once && writer.pieces_share();
    for (const Running& result : rounds[r].results) body += fmt::format("  thread_group.merge(r{});\n", result.first);
    if (!rounds[r].results.empty()) body += "  if (thread == 0) {\n" + partials.leave(rounds[r], "row * chunks + chunk", "    ") + "  }\n";
    functions += fmt::format("\n__global__ void __launch_bounds__(THREADS{}) pass{}({}) {{\n{}}}\n", once ? ", 768 / THREADS" : "", r, parameters, body);
    launches += fmt::format("[[launch]]\nkernel = \"pass{}\"\ngrid   = [\"{}{}\"]\nblock  = [\"THREADS\"]\nargs   = [{}]\n", r,
                            factor(program.rows()), only_writes(r) ? parts_of("BLOCKS * LAST") : chunks,
                            arguments_with(*program.task, names));
  }
  if (!program.row_outputs.empty()) {
    GpuWriter writer(program, segment);
    std::string body = opening + "  const int64_t row = blockIdx.x;\n" + writer.row_prologue("row", "  ");
    body += combined(writer, rounds.size());
    body += writer.row_stores("  ", "thread == 0");
    functions += fmt::format("\n__global__ void __launch_bounds__(THREADS) finish({}) {{\n{}}}\n", parameters, body);
    launches += fmt::format("[[launch]]\nkernel = \"finish\"\ngrid   = [\"{}\"]\nblock  = [\"THREADS\"]\nargs   = [{}]\n",
                            program.rows().to_string(),
                            arguments_with(*program.task, names));
  }
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "rows shared out between blocks: " + facts.outline();
  slots["requires"] = facts.requirements();
  // One row, read and then written: on an H200 these are 5 % faster on 7.5 GB (2026-11-23, level 1, 037).
  const bool one_row = program.rows().is_constant() && program.rows().constant() == 1 && only_writes(rounds.size() - 1);
  // Blocks that go down the rows with what these share are few and stay: 0.99 of light where many that come and go reached 0.92
  // on an H200 (results/h200/2026-11-25-pytorch.md, 100).
  slots["tunables"] = fmt::format("THREADS = [{}], VEC = [{}], UNROLL = [{}], BLOCKS = [{}]{}{}", one_row || down ? "512, 256, 128" : "256, 512, 128",
                                  choices(down ? std::min<int64_t>(2, facts.widest_vector()) : facts.widest_vector(), {4, 2, 1}),
                                  one_row ? "8, 4, 2" : down ? "2, 4, 8" : "4, 2, 8",
                                  down ? "4, 8, 16, 64" : once ? "64, 8, 16, 4" : one_row ? "16, 8, 4, 2" : "8, 4, 2, 16", rounds.size() > 1 ? ", BACK = [1, 0]" : "",
                                  !only_writes(rounds.size() - 1) ? "" : one_row ? ", LAST = [32, 8, 1]" : ", LAST = [8, 1, 32]");
  slots["back"] = rounds.size() > 1 ? "//   BACK     1: every second pass goes through a row from its end: what the one before read last is in the cache\n" : "";
  // Blocks that stay copied at 3.8 TB/s on an H200 where blocks that come and go copied at 4.15 to 4.28 (docs/patterns/specialised_rows.md).
  if (only_writes(rounds.size() - 1))
    slots["back"] += "//   LAST     times as many blocks for the last pass, which only writes: blocks that come and go keep memory busier\n";
  slots["workspaces"] = partials.workspaces;
  slots["launches"] = launches;
  slots["functions"] = functions;
  return finished(fill_pattern("patterns/gpu/split.cu", slots), "split");
}

}  // namespace hone::pattern::gpu
