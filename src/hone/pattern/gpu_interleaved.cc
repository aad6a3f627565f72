// Short lines that lie side by side in memory, made as runs of it: patterns/gpu/interleaved.cu, and the pieces of a concatenation.
#include "hone/pattern/gpu_interleaved.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_text.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern {

using task::IntExpr;

std::string GpuWriter::run_begin(const LineRun& run) const {
  const std::vector<int> outside(program_.row_axes.begin(), program_.row_axes.end() - 1);
  const std::string at = offset(run.id, outside);
  const bool leaf = is_leaf(run.id);
  std::string text = leaf ? leaf_tensor(run.id) : output_name(run.id);
  if (const auto placed = program_.nest.placed.find(run.id); placed != program_.nest.placed.end() && !is_zero(placed->second.base))
    text += " + " + parenthesised(placed->second.base);
  if (!at.empty()) text += " + " + at;
  text += run.back ? " - (start + places - 1) * lines" : " + start * lines";
  return run.turned ? text + " - (lines - 1)" : text;
}

std::string GpuWriter::tile_of_lines(const std::vector<LineRun>& runs, const std::string& indent) {
  for (const LineRun& run : runs) {
    const std::string name = is_leaf(run.id) ? leaf_name(run.id) : store_name(run.id);
    in_runs_[run.id] = fmt::format("{}_run[{} * lines + {}]", name, run.back ? "(places - 1 - static_cast<int>(j - start))" : "static_cast<int>(j - start)",
                                   run.turned ? "(lines - 1 - line)" : "line");
  }
  loads_.clear();
  const std::string in = indent + "  ", each = each_text(0, in), reads = loads(in);
  const Pass& pass = program_.passes.front();
  std::string rooms, stored;
  const auto beside = [&](int id) { return !in_runs_.contains(id) && is_linear(id); };
  for (const int id : pass.stores) {
    if (!beside(id)) continue;
    rooms += fmt::format("{}auto {}_v = tile.template room<{}>();\n", in, store_name(id), storage_type(program_.node(id).type.dtype));
    stored += fmt::format("{0}tile.store({1}_row, {1}_v);\n", in, store_name(id));
  }
  return take_row_lines(indent) +
         fmt::format("{}hone::gpu::tile_at<THREADS, VEC, UNROLL>(aligned, {}, blockIdx.x, thread, [&](const auto tile) {{\n", indent, length().to_cpp()) + reads +
         rooms + each + stored + indent + "});\n";
}

namespace gpu {
namespace {

/// Lines this long fill a tile that is turned (patterns/gpu/transposed.cu).
constexpr int64_t kLongLine = 16;
/// Fewer places leave threads of a block without work.
constexpr int64_t kFewPlaces = 256;

/// How a tensor steps along an axis, in steps of `of` elements: 1, -1, or 0 for anything else.
int step_of(const Nest& nest, int id, int axis, const IntExpr& of) {
  if (!nest.has(id, axis)) return 0;
  const IntExpr stride = nest.stride(id, axis);
  return stride == of ? 1 : stride == of * -1 ? -1 : 0;
}

/// The tensor as a run of lines along `along`, of places along `down`; nothing where it is none.
std::optional<LineRun> run_of(const Program& program, int id, int along, const std::vector<int>& down) {
  if (const auto access = program.nest.access.find(id); access != program.nest.access.end() && access->second.index >= 0) return std::nullopt;
  const int turn = step_of(program.nest, id, along, 1);
  IntExpr of = program.extent(along);
  int way = 0;
  for (size_t k = down.size(); k-- > 0; of = of * program.extent(down[k])) {
    const int step = step_of(program.nest, id, down[k], of);
    if (step == 0 || (way != 0 && step != way)) return std::nullopt;
    way = step;
  }
  if (turn == 0) return std::nullopt;
  return LineRun{id, way < 0, turn < 0};
}

}  // namespace

Result<Interleaved> interleaved_lines(const Program& given) {
  if (!given.row_outputs.empty() || given.has_reductions() || given.has_scans()) return fail(ErrorCode::kUnavailable, "not element-wise all along");
  Program program = given;
  program.row_axes.clear();
  program.inner_axes = program.nest.order;
  const std::vector<int> tensors = GpuWriter(program, {}).tensors();
  const auto conforms = [&](int id, int along, const std::vector<int>& down) {
    const bool none = std::none_of(down.begin(), down.end(), [&](int axis) { return program.nest.has(id, axis); });
    IntExpr of = 1;
    bool straight = true;
    for (size_t k = down.size(); k-- > 0; of = of * program.extent(down[k])) straight = straight && step_of(program.nest, id, down[k], of) == 1;
    return none || straight || run_of(program, id, along, down).has_value();
  };
  for (const int first : tensors)
    for (const int along : program.nest.order) {
      if (step_of(program.nest, first, along, 1) == 0 || GpuWriter::largest(program, program.extent(along)) >= kLongLine) continue;
      Interleaved found{along, {}, {}};
      // Outwards, as far as the tensor goes on as one run, and the others with it.
      for (bool more = true; more;) {
        more = false;
        for (const int axis : program.nest.order) {
          if (axis == along || std::find(found.down.begin(), found.down.end(), axis) != found.down.end()) continue;
          std::vector<int> down = found.down;
          down.insert(down.begin(), axis);
          const bool all = std::all_of(tensors.begin(), tensors.end(), [&](int id) { return conforms(id, along, down); });
          if (!run_of(program, first, along, down) || (!found.down.empty() && !all)) continue;
          found.down = std::move(down);
          more = true;
          break;
        }
      }
      if (found.down.empty() || GpuWriter::largest(program, product(program, found.down)) < kFewPlaces) continue;
      bool differ = false;
      for (const int id : tensors) {
        const auto run = run_of(program, id, along, found.down);
        const bool both = program.nest.has(id, along) && program.nest.has(id, found.down.back());
        if (run) found.runs.push_back(*run);
        differ = differ || (both && !run) || (run && (run->back != found.runs.front().back || run->turned != found.runs.front().turned));
      }
      if (differ) return found;
    }
  return fail(ErrorCode::kUnavailable, "no short lines side by side that lie apart elsewhere");
}

Result<InterleavedText> interleaved_text(const Program& given, const Interleaved& lines, const std::string& name, const task::Task& whole) {
  Program program = given;
  program.inner_axes = lines.down;
  program.row_axes.clear();
  for (const int axis : given.nest.order)
    if (axis != lines.along && std::find(lines.down.begin(), lines.down.end(), axis) == lines.down.end()) program.row_axes.push_back(axis);
  const std::vector<int> outside = program.row_axes;
  program.row_axes.push_back(lines.along);
  GpuWriter writer(program, {{}, lines.down});
  if (std::string why = writer.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const IntExpr pieces = product(program, outside), length = writer.length(), along = program.extent(lines.along);
  const int64_t most = GpuWriter::largest(program, along);
  const std::string tile = "THREADS * VEC * UNROLL";
  InterleavedText text;
  text.conditions = writer.conditions();
  if (!along.is_constant()) text.conditions.insert(fmt::format("\"{} <= {}\"", along.to_string(), most));
  std::string rooms, runs, loads, stores, bytes;
  for (const LineRun& run : lines.runs) {
    const bool leaf = writer.is_leaf(run.id);
    const std::string tensor = leaf ? writer.leaf_name(run.id) : writer.store_name(run.id), type = storage_type(program.node(run.id).type.dtype);
    const int size = task::size_of(program.node(run.id).type.dtype);
    rooms += fmt::format("  __shared__ hone::gpu::RunRoom<{}, {} * {}> {}_room;\n", type, tile, most, tensor);
    runs += fmt::format("    {0}{1}* const {2}_begin = {3};\n    const hone::gpu::StagedRun<{1}> {2}_run({2}_room, {2}_begin, places * lines);\n", leaf ? "const " : "", type, tensor,
                        writer.run_begin(run));
    (leaf ? loads : stores) += fmt::format("    {0}_run.template {1}<THREADS>({0}_begin, thread);\n", tensor, leaf ? "load" : "store");
    bytes += fmt::format("{}({} * {} + {}) * {}", bytes.empty() ? "" : " + ", tile, most, 16 / size, size);
    text.run_bytes += most * size;
  }
  text.bytes = bytes;
  text.widest = writer.widest_vector();
  const std::string body = writer.tile_of_lines(lines.runs, "      ");
  text.function = fmt::format(
      "\n__global__ void __launch_bounds__(THREADS) {}({}) {{\n{}"
      "  const int thread = static_cast<int>(threadIdx.x);\n  constexpr int kPlaces = {};\n  const bool aligned = {};\n"
      "  const int64_t length = {}, start = blockIdx.x * static_cast<int64_t>(kPlaces);\n"
      "  const int lines = static_cast<int>({}), places = static_cast<int>(length - start < kPlaces ? length - start : kPlaces);\n"
      "  for (int64_t piece = blockIdx.y; piece < {}; piece += gridDim.y) {{\n{}{}{}{}"
      "    for (int line = 0; line < lines; ++line) {{\n      [[maybe_unused]] const int64_t at{} = line;\n{}{}    }}\n"
      "{}{}    __syncthreads();\n  }}\n}}\n",
      name, gpu_parameters_of(whole), rooms, tile, writer.aligned(), length.to_cpp(), along.to_cpp(), pieces.to_cpp(),
      writer.row_places("piece", outside, "    "), runs, loads, loads.empty() ? "" : "    __syncthreads();\n", lines.along, writer.row_pointers("      "), body,
      stores.empty() ? "" : "    __syncthreads();\n", stores);
  text.launch = fmt::format("[[launch]]\nkernel = \"{}\"\ngrid   = [\"ceil_div({}, {})\", \"min(65535, {})\"]\nblock  = [\"THREADS\"]\nargs   = [{}]\n", name,
                            length.to_string(), tile, pieces.to_string(), arguments_of(whole));
  return text;
}

Result<std::string> interleaved_tunables(int64_t run_bytes, int widest) {
  // Two words of 4 bytes for a thread and more, as far as what stands in shared memory allows.
  for (const int64_t threads : {256, 128})
    for (const int64_t unroll : {4, 2, 1})
      for (const int64_t vec : {std::max(1, widest / 4), 1})
        if (run_bytes * threads * unroll * vec + 1024 <= 49152)
          return fmt::format("THREADS = [{}], VEC = [{}], UNROLL = [{}]", choices(threads, {256, 128, 512}), choices(vec, {1, 2, 4, 8}), choices(unroll, {4, 2, 1, 8}));
  return fail(ErrorCode::kUnavailable, "a run does not fit into shared memory");
}

Result<kernel::Kernel> interleaved(const Program& program, kernel::Language language) {
  HONE_TRY(const Interleaved lines, interleaved_lines(program));
  HONE_TRY(const InterleavedText text, interleaved_text(program, lines, "interleaved", *program.task));
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "short lines as runs of memory: " + program.outline();
  slots["requires"] = GpuWriter::requirements(text.conditions);
  HONE_TRY(slots["tunables"], interleaved_tunables(text.run_bytes, text.widest));
  slots["bytes"] = text.bytes;
  slots["launches"] = text.launch;
  slots["functions"] = text.function;
  return finished(fill_pattern("patterns/gpu/interleaved.cu", slots), "interleaved");
}

}  // namespace gpu
}  // namespace hone::pattern
