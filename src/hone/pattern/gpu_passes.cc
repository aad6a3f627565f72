// GpuWriter: passes and rounds around the elements.
#include "hone/pattern/gpu_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/gpu_text.h"

namespace hone::pattern {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

std::string GpuWriter::row_offset(int id) {
  const std::vector<int> reduced(program_.inner_axes.begin(), program_.inner_axes.end() - 1);
  if (reduced.size() == 1) {
    const IntExpr stride = program_.nest.stride(id, reduced[0]);
    if (!program_.nest.has(id, reduced[0]) || is_zero(stride)) return "[=](int64_t) { return int64_t{0}; }";
    return fmt::format("[=](int64_t r) {{ return r * {}; }}", parenthesised(stride));
  }
  const std::string at = offset(id, reduced);
  return fmt::format("[=](int64_t r) {{\n{}      return {};\n    }}", decode(reduced, "r", "      ", false), at.empty() ? "int64_t{0}" : at);
}

std::string GpuWriter::loads(const std::string& indent) {
  std::string text;
  for (const int id : loads_) {
    if (resident_ && !loaded_.insert(id).second) continue;
    const std::string name = leaf_name(id), index = picked(id);
    if (program_.by_columns) {
      text += fmt::format("{}const auto {}_v = rows.load({}_row{}, {});\n", indent, name, name, index, row_offset(id));
      continue;
    }
    const std::string at = offset(id, segment_.pieces);
    const bool stays = std::find(staying_.begin(), staying_.end(), id) != staying_.end();
    text += fmt::format("{}const auto {}_v = tile.load({}{}_row{}{});\n", indent, name, stays ? name + "_kept, " : "", name,
                        at.empty() ? "" : " + " + at, index + (stays ? ", " + leaf_end(id) : ""));
  }
  return text;
}

std::string GpuWriter::fetches(const std::string& indent) {
  std::string text = segment_.pieces.empty() ? "" : decode(segment_.pieces, "piece", indent, false);
  for (const int id : staying_) {
    const std::string name = leaf_name(id), at = offset(id, segment_.pieces);
    text += fmt::format("{}tile.fetch(barrier, {}_kept, {}_row{}, {});\n", indent, name, name, at.empty() ? "" : " + " + at, leaf_end(id));
  }
  return text;
}

std::string GpuWriter::rooms(const Pass& pass, const std::string& indent) const {
  std::string text;
  for (const int id : pass.stores)
    if (is_linear(id) || is_turned(id))
      text += fmt::format("{}auto {}_v = {}.template room<{}>();\n", indent, store_name(id), program_.by_columns ? "rows" : "tile",
                          storage_type(program_.node(id).type.dtype));
  return text;
}

std::string GpuWriter::stores(const Pass& pass, const std::string& indent) {
  std::string text;
  for (const int id : pass.stores) {
    const std::string name = store_name(id);
    if (is_turned(id)) {
      text += fmt::format("{}rows.store_turned(scratch, {}_row, {}, {}_v);\n", indent, name, program_.nest.stride(id, program_.inner_axes.back()).to_cpp(), name);
      continue;
    }
    if (!is_linear(id)) continue;
    if (program_.by_columns) {
      text += fmt::format("{}rows.store({}_row, {}, {}_v);\n", indent, name, row_offset(id), name);
      continue;
    }
    const std::string at = offset(id, segment_.pieces);
    text += fmt::format("{}tile.store({}_row{}, {}_v);\n", indent, name, at.empty() ? "" : " + " + at, name);
  }
  return text;
}

/// tile.each(…) with the body of a pass.
std::string GpuWriter::each_text(size_t pass, const std::string& indent) {
  pass_ = pass;
  const std::string body = body_text(program_.passes[pass], indent + "  ");
  return fmt::format("{}tile.each([&]([[maybe_unused]] int u, [[maybe_unused]] int e, [[maybe_unused]] int64_t j) {{\n{}{}}});\n", indent,
                     body, indent);
}

/// The last pass over a tile that holds its row: what only this pass needs comes word by word and takes no room.
std::string GpuWriter::words_text(size_t number, const std::string& indent) {
  const Pass& pass = program_.passes[number];
  pass_ = number;
  by_words_ = true;
  loads_.clear();
  const std::string in = indent + "  ", body = body_text(pass, in + "  ");
  std::string text = fmt::format("{}tile.words([&]([[maybe_unused]] int u) {{\n", indent);
  for (const int id : loads_) {
    if (loaded_.contains(id)) continue;
    const std::string name = leaf_name(id);
    text += fmt::format("{0}hone::gpu::Pack<{1}, VEC> {2}_v;\n{0}tile.load_word({2}_v, {2}_row{3}, u);\n", in,
                        storage_type(program_.node(id).type.dtype), name, picked(id));
  }
  for (const int id : pass.stores)
    if (is_linear(id)) text += fmt::format("{}hone::gpu::Pack<{}, VEC> {}_v;\n", in, storage_type(program_.node(id).type.dtype),
                                           store_name(id));
  text += fmt::format("{0}tile.elements_of(u, [&]([[maybe_unused]] int e, [[maybe_unused]] int64_t j) {{\n{1}{0}}});\n", in, body);
  for (const int id : pass.stores)
    if (is_linear(id)) text += fmt::format("{0}tile.store_word({1}_row, u, {1}_v);\n", in, store_name(id));
  by_words_ = false;
  return take_row_lines(indent) + text + indent + "});\n";
}

/// The second pass of a round, with what the first found in this tile standing for what it will find in the row; then
/// both as one running result.
std::string GpuWriter::second_pass(const Round& round, const std::string& count, const std::string& indent, bool merge) {
  std::string text, locals, together;
  for (const Running& result : round.results) {
    if (result.second < 0) continue;
    const std::string type = thread_type(program_.node(result.first).type.dtype);
    const int known = result.kind == Running::Kind::kMoments ? result.mean : result.first;
    const std::string mean = fmt::format("static_cast<{}>({})", type, count);
    text += fmt::format("{}{} t{};\n", indent, accumulator(result.second), result.second);
    locals += result.kind == Running::Kind::kMoments
                  ? fmt::format("{0}  const {1} v{2} = t{3}.value / {4};\n", indent, type, known, result.first, mean)
                  : fmt::format("{}  const {} v{} = t{}.value;\n", indent, type, known, result.first);
    row_names_[known] = fmt::format("v{}", known);
    if (merge) together += fmt::format("{}thread_group.merge(t{});\n", indent, result.second);
    together += fmt::format("{0}{1}{2}{3}::of(t{4}.value, t{5}.value, {6}){7};\n", indent, merge ? "auto " : "", fmt::format("r{}{}",
        result.first, merge ? " = " : ".merge("),
                            accumulator(result), result.first, result.second, mean, merge ? "" : ")");
  }
  const std::string body = each_text(round.passes[1], indent + "  ");
  text += fmt::format("{0}{{\n{1}{2}{0}}}\n{3}", indent, locals, body, together);
  // Views of what stood in have its name too.
  for (const Running& result : round.results)
    if (result.second >= 0) {
      const std::string name = fmt::format("v{}", result.kind == Running::Kind::kMoments ? result.mean : result.first);
      std::erase_if(row_names_, [&](const auto& known) { return known.second == name; });
    }
  return text;
}

bool GpuWriter::pieces_share() const {
  return !segment_.pieces.empty() &&
         std::any_of(loads_.begin(), loads_.end(), [&](int id) { return offset(id, segment_.pieces).empty(); });
}

/// The walk over tiles, up to the thread.
std::string GpuWriter::walk(const std::string& first, const std::string& step) const {
  const char* const alignment = footed_ ? "alignment" : "aligned";
  const std::string pieces = this->pieces().to_cpp(), length = this->length().to_cpp();
  if (!first.empty())
    return fmt::format("{}<THREADS, VEC, UNROLL>({}, {}, {}, {}, {}", pieces_share() ? "tiles_down" : "tiles", alignment, pieces, length, first, step);
  if (pieces_share()) return fmt::format("tiles_of_piece<THREADS, VEC, UNROLL>({}, blockIdx.x, {}, blockIdx.y, gridDim.y", alignment, length);
  return fmt::format("tile_of_pieces<THREADS, VEC, UNROLL>({}, {}, {}, blockIdx.x, blockIdx.y, gridDim.y", alignment, pieces, length);
}

std::string GpuWriter::walk_grid() const {
  const std::string tiles = fmt::format("ceil_div({}, THREADS * VEC * UNROLL)", length().to_string()), pieces = this->pieces().to_string();
  if (segment_.pieces.empty()) return fmt::format("\"{}\"", tiles);
  return pieces_share() ? fmt::format("\"{}\", \"min(65535, {})\"", pieces, tiles) : fmt::format("\"{}\", \"min(65535, {})\"", tiles, pieces);
}

std::string GpuWriter::round_loop(const Round& round, const std::string& first, const std::string& step, const std::string& indent) {
  const Pass& pass = program_.passes[round.passes[0]];
  pass_ = round.passes[0];
  const std::string in = indent + "  ";
  const std::string stages = scan_stages(pass, "tile", in);
  std::string inner;
  for (const int id : pass.reductions) inner += fmt::format("{}{} t{};\n", in, accumulator(id), id);
  inner += each_text(pass_, in);
  for (const Running& result : round.results)
    if (result.second < 0) inner += fmt::format("{0}r{1}.merge(t{1});\n", in, result.first);
  if (round.passes.size() > 1) inner += second_pass(round, "tile.count()", in, false);
  const std::string reads = loads(in);
  std::string text = take_row_lines(indent);
  text += scans_held(pass, "THREADS, ROWS", indent);
  for (const Running& result : round.results) text += fmt::format("{}{} r{};\n", indent, accumulator(result), result.first);
  if (program_.has_scans())
    text += fmt::format("{}hone::gpu::ordered_tiles<THREADS, VEC, UNROLL, {}>(aligned, some, {}, thread, [&](const auto tile) {{\n", indent,
                        goes_back(), length().to_cpp());
  else
    text += fmt::format("{}hone::gpu::{}, thread, [&](const auto tile, [[maybe_unused]] int64_t piece) {{\n", indent, walk(first, step));
  if (!segment_.pieces.empty()) text += decode(segment_.pieces, "piece", in, false);
  text += reads + stages + rooms(pass, in) + inner;
  return text + stores(pass, in) + indent + "});\n";
}

std::string GpuWriter::round_resident(const Round& round, const std::string& indent) {
  const size_t number = round.passes[0];
  const Pass& pass = program_.passes[number];
  const bool together = round.passes.size() > 1;
  if (pass.reductions.empty() && number > 0) return words_text(number, indent);
  loads_.clear();
  std::string inner;
  for (const int id : kept_)
    if (program_.depth[static_cast<size_t>(id)] == static_cast<int>(number))
      inner += fmt::format("{}auto keep{} = tile.template room<{}>();\n", indent, id, thread_type(program_.node(id).type.dtype));
  for (const int id : pass.reductions) inner += fmt::format("{}{} t{};\n", indent, accumulator(id), id);
  inner += each_text(number, indent);
  if (together)
    for (const int id : pass.reductions) inner += fmt::format("{}thread_group.merge(t{});\n", indent, id);
  for (const Running& result : round.results)
    if (result.second < 0) inner += fmt::format("{0}auto r{1} = t{1};\n", indent, result.first);
  if (together) inner += second_pass(round, "tile.inside()", indent, true);
  const std::string reads = loads(indent);
  return take_row_lines(indent) + reads + rooms(pass, indent) + inner + stores(pass, indent);
}

namespace {
/// Of a running result: "r5.value", "r5.place()", "r5.value != 0".
std::string result_of(const std::string& running, bool arg, DType dtype) {
  if (arg) return running + ".place()";
  return dtype == DType::kBool ? running + ".value != 0" : running + ".value";
}
}  // namespace

std::string GpuWriter::merged(const Round& round, const std::string& indent, bool merge) {
  std::string text;
  for (const Running& result : round.results) {
    const int id = result.first;
    const DType dtype = program_.node(id).type.dtype;
    if (merge) text += fmt::format("{}thread_group.merge(r{});\n", indent, id);
    text += fmt::format("{}[[maybe_unused]] const {} v{} = {};\n", indent, thread_type(dtype), id, result_of(fmt::format("r{}", id),
        is_arg(id), dtype));
    row_names_[id] = fmt::format("v{}", id);
    if (result.second < 0) continue;
    text += fmt::format("{}const {} v{} = r{}.second;\n", indent, thread_type(program_.node(result.second).type.dtype), result.second, id);
    row_names_[result.second] = fmt::format("v{}", result.second);
  }
  return text;
}

/// Values that columns have, each into its array.
std::string GpuWriter::column_values(const std::vector<int>& needed, const std::string& indent) {
  std::string text;
  for (const int id : needed) {
    if (!columns_known_.insert(id).second) continue;
    element_names_.clear();
    body_.clear();
    const std::string value = element(id);
    text += take_row_lines(indent);
    text += fmt::format("{}{} c{}[VEC];\n{}columns.each([&](int e, [[maybe_unused]] int64_t j) {{\n", indent,
                        thread_type(program_.node(id).type.dtype), id, indent);
    for (const std::string& line : body_) text += indent + "  " + line + "\n";
    text += fmt::format("{0}  c{1}[e] = {2};\n{0}}});\n", indent, id, value);
  }
  return text;
}

std::string GpuWriter::pass_columns(size_t number, const std::string& begin, const std::string& end, const std::string& indent) {
  const Pass& pass = program_.passes[number];
  pass_ = number;
  in_rows_ = true;
  loads_.clear();
  columns_needed_.clear();
  const std::string in = indent + "  ";
  const std::string body = body_text(pass, resident_ ? in : in + "  "), reads = loads(resident_ ? indent : in);
  const std::vector<int> needed = columns_needed_;
  in_rows_ = false;
  std::string text = take_row_lines(indent);
  text += column_values(needed, indent);
  for (const int id : pass.reductions) text += fmt::format("{}{} r{}[VEC];\n", indent, accumulator(id), id);
  const std::string each = fmt::format("rows.each([&]([[maybe_unused]] int u, [[maybe_unused]] int e, [[maybe_unused]] int64_t r, [[maybe_unused]] int64_t j) {{\n{}", body);
  if (resident_) {
    for (const int id : pass.reductions) text += fmt::format("{0}auto& t{1} = r{1};\n", indent, id);
    return text + reads + rooms(pass, indent) + indent + each + indent + "});\n" + stores(pass, indent);
  }
  text += fmt::format("{}columns.rows({}, {}, [&](const auto rows) {{\n", indent, begin, end);
  text += reads + rooms(pass, in);
  // Places come in ascending order: no need to bring them together anew each time.
  for (const int id : pass.reductions)
    text += is_arg(id) ? fmt::format("{0}auto& t{1} = r{1};\n", in, id) : fmt::format("{}{} t{}[VEC];\n", in, accumulator(id), id);
  text += in + each + in + "});\n";
  for (const int id : pass.reductions)
    if (!is_arg(id)) text += fmt::format("{}for (int e = 0; e < VEC; ++e) r{}[e].merge(t{}[e]);\n", in, id, id);
  return text + stores(pass, in) + indent + "});\n";
}

std::string GpuWriter::merged_columns(size_t number, const std::string& indent) {
  std::string text;
  for (const int id : program_.passes[number].reductions) text += fmt::format("{}hone::gpu::merge_columns(scratch, r{});\n", indent, id);
  return text + found_columns(number, indent);
}

std::string GpuWriter::found_columns(size_t number, const std::string& indent) const {
  std::string text;
  for (const int id : program_.passes[number].reductions) {
    const DType dtype = program_.node(id).type.dtype;
    text += fmt::format("{0}{2} v{1}[VEC];\n{0}for (int e = 0; e < VEC; ++e) v{1}[e] = {3};\n", indent, id, thread_type(dtype),
                        result_of(fmt::format("r{}[e]", id), is_arg(id), dtype));
  }
  return text;
}

std::string GpuWriter::column_stores(const std::string& indent, const std::string& condition) {
  if (program_.column_outputs.empty()) return {};
  element_names_.clear();
  body_.clear();
  in_rows_ = false;
  for (const int id : program_.column_outputs) {
    const std::string value = element(id);
    body_.push_back(fmt::format("{} = hone::gpu::stored<{}>({});", gathered(id, output_name(id)),
                                storage_type(program_.node(id).type.dtype), value));
  }
  std::string text = take_row_lines(indent);
  text += fmt::format("{}if ({}) {{\n{}  columns.each([&](int e, int64_t j) {{\n", indent, condition, indent);
  for (const std::string& line : body_) text += indent + "    " + line + "\n";
  return text + fmt::format("{0}  }});\n{0}}}\n", indent);
}

std::string GpuWriter::row_stores(const std::string& indent, const std::string& condition) {
  std::vector<std::string> lines;
  for (const int id : program_.row_outputs) {
    const std::string value = row(id), at = offset(id, program_.row_axes);
    lines.push_back(fmt::format("{}[{}] = hone::gpu::stored<{}>({});", output_name(id), at.empty() ? "0" : at,
                                storage_type(program_.node(id).type.dtype), value));
  }
  std::string text = take_row_lines(indent);
  if (lines.empty()) return text;
  text += fmt::format("{}if ({}) {{\n", indent, condition);
  for (const std::string& line : lines) text += indent + "  " + line + "\n";
  return text + indent + "}\n";
}

}  // namespace hone::pattern
