// Concatenations on GPUs: patterns/gpu/concat.cu.
#include <set>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_interleaved.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/pieces.h"
#include "hone/pattern/template.h"

namespace hone::pattern::gpu {

Result<kernel::Kernel> concat(const task::Task& task, kernel::Language language) {
  HONE_TRY(const std::vector<JoinedPieces> all, joined_pieces(task));
  std::string functions, launches;
  std::set<std::string> conditions;
  std::string room;
  int widest = 1;
  int64_t run_bytes = 0;
  size_t pieces = 0;
  for (const JoinedPieces& one : all) {
    HONE_TRY(Program program, find_program(one.task, {.slices = true, .placed = one.placed}));
    if (program.has_reductions()) return fail(ErrorCode::kUnavailable, "a piece is reduced, not element-wise");
    if (!program.row_outputs.empty()) return fail(ErrorCode::kUnavailable, "a piece that not all axes reach");
    const std::string name = all.size() == 1 ? "pieces" : fmt::format("pieces{}", &one - all.data());
    pieces += one.placed.size();
    if (const auto lines = interleaved_lines(program)) {
      HONE_TRY(const InterleavedText text, interleaved_text(program, *lines, name, task));
      functions += text.function;
      launches += text.launch;
      room += fmt::format(", \"{} <= 49152\"", text.bytes);
      conditions.insert(text.conditions.begin(), text.conditions.end());
      widest = std::max(widest, text.widest);
      run_bytes = std::max(run_bytes, text.run_bytes);
      continue;
    }
    program.row_axes.clear();
    program.inner_axes = program.nest.order;
    GpuWriter writer(program, GpuWriter::choose(program, program.inner_axes));
    if (std::string why = writer.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
    const std::string prologue = writer.row_prologue("0", "  ");
    functions += fmt::format("\n__global__ void __launch_bounds__(THREADS) {}({}) {{\n  const int thread = static_cast<int>(threadIdx.x);\n  const bool aligned = {};\n{}{}}}\n",
                             name, gpu_parameters_of(task), writer.aligned(), prologue, writer.round_loop(rounds_of(program, false).front(), "", "", "  "));
    launches += fmt::format("[[launch]]\nkernel = \"{}\"\ngrid   = [{}]\nblock  = [\"THREADS\"]\nargs   = [{}]\n", name, writer.walk_grid(), arguments_of(task));
    conditions.merge(writer.conditions());
    widest = std::max(widest, writer.widest_vector());
  }
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = fmt::format("{} pieces of {}, each in its place", pieces, task.outputs.front().first);
  slots["requires"] = GpuWriter::requirements(conditions);
  slots["tunables"] = fmt::format("THREADS = [256, 128, 512], VEC = [{}], UNROLL = [1, 2, 4]", choices(widest, {4, 8, 2, 1}));
  if (run_bytes > 0) {
    HONE_TRY(slots["tunables"], interleaved_tunables(run_bytes, widest));
  }
  slots["room"] = room;
  slots["header"] = run_bytes > 0 ? "interleave" : "tile";
  slots["about"] = run_bytes > 0 ? "// Short lines that lie side by side are made in shared memory and leave it as words (patterns/gpu/interleaved.cu).\n//\n" : "";
  slots["launches"] = launches;
  slots["functions"] = functions;
  return finished(fill_pattern("patterns/gpu/concat.cu", slots), "concat");
}

}  // namespace hone::pattern::gpu
