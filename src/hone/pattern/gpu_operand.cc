#include "hone/pattern/gpu_operand.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/gpu_factor.h"

namespace hone::pattern {
namespace {

using task::IntExpr;
using task::Node;
using task::Prim;

/// Depths of a patch and lines of it, at most: more take more registers than there are.
constexpr int kLongestRun = 32, kMostLines = 32;
/// What a lane reads at once.
constexpr int kWordBytes = 16;

bool among(int axis, const std::vector<Place>& places) {
  return std::any_of(places.begin(), places.end(), [&](const Place& place) { return place.axis == axis; });
}

/// "(at + 3) / 2" as an operand.
std::string over(const std::string& index, int by) { return by == 1 ? index : fmt::format("{} / {}", index, by); }

}  // namespace

Result<GpuOperand> GpuOperand::create(const Operand& operand, std::string parameters) {
  GpuOperand made(operand, std::move(parameters));
  made.choose();
  HONE_TRY_VOID(made.write());
  return made;
}

bool GpuOperand::of_lines(int axis) const { return among(axis, operand_.line); }

/// How patches of each of `sizes` move along the axes of `places`, from the last one on; false where they come to lie across an axis.
bool GpuOperand::walk(const std::vector<Place>& places, bool line, const std::vector<int>& sizes, const char* macro) {
  int inner = 1;
  for (size_t k = places.size(); k-- > 0;) {
    const auto& [axis, extent] = places[k];
    const auto all = [&](auto holds) { return std::all_of(sizes.begin(), sizes.end(), [&](int size) { return holds(size / inner); }); };
    if (all([](int rest) { return rest == 1; })) return true;
    if (is_one(extent)) continue;
    if (axis < 0) return false;
    if (extent.is_constant() && all([&](int rest) { return rest % extent.constant() == 0; })) {
      moves_[axis] = {line, inner, std::to_string(extent.constant()), true};
      inner *= static_cast<int>(extent.constant());
      continue;
    }
    if (extent.is_constant() && !all([&](int rest) { return extent.constant() % rest == 0; })) return false;
    moves_[axis] = {line, inner, inner == 1 ? macro : fmt::format("{} / {}", macro, inner), false};
    return true;
  }
  return std::all_of(sizes.begin(), sizes.end(), [&](int size) { return size == inner; });
}

/// Patches by the tensor that takes longest to read: along its words, and of whole ones.
void GpuOperand::choose() {
  const task::Graph& graph = operand_.task.primitive;
  const auto bytes = [&](int id) {
    double all = static_cast<double>(task::size_of(graph.node(id).type.dtype));
    for (const IntExpr& extent : graph.node(id).type.dims) all *= static_cast<double>(extent.eval(operand_.task.workloads.front().bindings).value_or(1));
    return all;
  };
  const std::vector<int> leaves = operand_.leaves();
  const int main = *std::max_element(leaves.begin(), leaves.end(), [&](int a, int b) { return bytes(a) < bytes(b); });
  const int in_word = std::max(1, kWordBytes / static_cast<int>(task::size_of(graph.node(main).type.dtype)));
  int beside = -1;
  for (const auto* places : {&operand_.line, &operand_.depth})
    for (const Place& place : *places)
      if (place.axis >= 0 && operand_.nest.has(main, place.axis) && is_one(operand_.nest.stride(main, place.axis))) beside = place.axis;
  along_depth_ = beside < 0 || !of_lines(beside);
  // Elements that a word has behind one of its own numbers: eight nibbles of an i32.
  const auto in_number = [&](const std::vector<Place>& places) {
    int all = 1;
    for (size_t k = places.size(); k-- > 0 && places[k].axis != beside;)
      if (places[k].axis >= 0 && places[k].extent.is_constant()) all *= static_cast<int>(places[k].extent.constant());
    return all;
  };
  const auto depths_walk = [&](int run) {
    moves_.clear();
    return walk(operand_.depth, false, {run}, "RUN");
  };
  const auto holds = [&](int run) {
    if (!depths_walk(run)) return false;
    for (const auto& [axis, move] : moves_)
      for (const task::Workload& workload : operand_.task.workloads) {
        const auto extent = operand_.nest.axes[static_cast<size_t>(axis)].extent.eval(workload.bindings);
        if (!move.whole && (!extent || *extent % (run / move.inner) != 0)) return false;
      }
    return true;
  };
  std::vector<int> runs;
  for (int run = kLongestRun; run >= 8; run /= 2) runs.push_back(run);
  const int most = !along_depth_ ? 8 : std::clamp(in_word * in_number(operand_.depth), 8, kLongestRun);
  std::erase_if(runs, [&](int run) { return run > most; });
  const auto fits = std::find_if(runs.begin(), runs.end(), holds), can = std::find_if(runs.begin(), runs.end(), depths_walk);
  bool walks = can != runs.end();
  run_ = fits != runs.end() ? *fits : walks ? *can : 8;
  walks = depths_walk(run_);
  if (along_depth_) {
    lines_ = {4, 2, 8};
  } else {
    const int number = in_number(operand_.line);
    for (int words = in_word; words >= 1; words /= 2)
      if (const int lines = words * number; lines >= 2 && lines <= kMostLines) lines_.push_back(lines);
    if (lines_.empty()) lines_ = {2};
    // Half the registers leave room for more rows of the other factor, and for more warps.
    if (lines_.size() > 1 && lines_.front() > kMostLines / 2) std::swap(lines_[0], lines_[1]);
    walks = walks && walk(operand_.line, true, lines_, "LINES");
  }
  if (!walks) moves_.clear();
  else wide_.emplace();
}

std::string GpuOperand::tensor(int id) const {
  const auto access = operand_.nest.access.find(id);
  const Node& node = operand_.task.primitive.node(access == operand_.nest.access.end() ? id : access->second.input);
  const std::string name = node.attr<std::string>("name");
  return access == operand_.nest.access.end() || is_zero(access->second.base) ? name : fmt::format("{} + {}", name, wrapped(access->second.base.to_cpp()));
}

std::string GpuOperand::stride_text(int id, int axis) const {
  const IntExpr stride = operand_.nest.stride(id, axis);
  return is_one(stride) ? "" : " * " + wrapped(stride.to_cpp());
}

/// How far within its patch an element lies along an axis that patches move along.
std::string GpuOperand::small(int axis) const {
  const Move& move = moves_.at(axis);
  const std::string index = over(move.line ? "l_at" : "d_at", move.inner);
  return move.whole ? fmt::format("{} % {}", index, move.count) : index;
}

/// `const int64_t at3 = …;` from a linear index; of a patch not for axes of which it has all.
std::string GpuOperand::decoded(const std::vector<Place>& places, const std::string& from, const std::string& indent, bool patch) const {
  std::string text, rest = fmt::format("static_cast<uint32_t>({})", from);
  for (size_t k = places.size(); k-- > 0;) {
    const auto& [axis, extent] = places[k];
    if (is_one(extent)) continue;
    const std::string by = fmt::format("static_cast<uint32_t>({})", extent.to_cpp());
    const bool first = std::all_of(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(k), [](const Place& p) { return is_one(p.extent); });
    const auto move = moves_.find(axis);
    if (axis >= 0 && !(patch && move != moves_.end() && move->second.whole))
      text += first ? fmt::format("{}[[maybe_unused]] const int64_t at{} = {};\n", indent, axis, rest)
                    : fmt::format("{}[[maybe_unused]] const int64_t at{} = {} % {};\n", indent, axis, rest, by);
    rest = fmt::format("{} / {}", rest, by);
  }
  return text;
}

/// Where a patch begins along all axes but those of lines that are read one by one.
std::string GpuOperand::positions(const std::string& indent, bool patch) const {
  std::string text = decoded(operand_.batch, "batch_at", indent, patch) + decoded(operand_.depth, "depth_at", indent, patch);
  return patch && along_depth_ ? text : text + decoded(operand_.line, "line_at", indent, patch);
}

namespace {
/// a % b == 0 as a condition of a plan; nothing where it always holds, false where it never does.
struct Condition {
  bool possible = true;
  std::string text;
};
Condition divides(const IntExpr& of, const std::string& by, int least) {
  if (is_zero(of)) return {};
  if (of.is_constant() && of.constant() % least == 0) return {};
  if (of.is_constant() && by == std::to_string(least)) return {false, ""};
  return {true, fmt::format("{} % ({}) == 0", wrapped(of.to_string()), by)};
}
}  // namespace

Result<std::string> GpuOperand::value(int id, bool patch, std::map<int, std::string>& names, std::string& lines) {
  if (const auto known = names.find(id); known != names.end()) return known->second;
  const task::Graph& graph = operand_.task.primitive;
  const Node& node = graph.node(id);
  if (node.prim == Prim::kConstant) return names[id] = constant_text(node, Way::kThread);
  if (is_view(node) && !operand_.is_leaf(id)) {
    HONE_TRY(names[id], value(node.operands[0], patch, names, lines));
    return names[id];
  }
  // Along an axis: of a patch, which remembers where it begins.
  const auto place = [&](int axis) -> std::string {
    if (!patch) return fmt::format("at{}", axis);
    const auto move = moves_.find(axis);
    if (move != moves_.end() && move->second.whole) return fmt::format("({})", small(axis));
    stays_.insert(axis);
    if (along_depth_ && of_lines(axis)) return fmt::format("patch.at{}[l_at]", axis);
    return move == moves_.end() ? fmt::format("patch.at{}", axis) : fmt::format("(patch.at{} + {})", axis, small(axis));
  };
  /// Along several that follow each other.
  const auto joint = [&](const std::vector<int>& axes) {
    std::string text = axes.empty() ? "0" : "";
    for (const int axis : axes)
      text = text.empty() ? place(axis)
                          : fmt::format("({} * {} + {})", text, wrapped(operand_.nest.axes[static_cast<size_t>(axis)].extent.to_cpp()), place(axis));
    return text;
  };
  std::string text;
  if (operand_.is_leaf(id)) {
    if (!patch) {
      for (size_t axis = 0; axis < operand_.nest.axes.size(); ++axis)
        if (const int a = static_cast<int>(axis); operand_.nest.has(id, a))
          text += fmt::format("{}at{}{}", text.empty() ? "" : " + ", a, stride_text(id, a));
      text = fmt::format("hone::gpu::value(({})[{}])", tensor(id), text.empty() ? "0" : text);
    } else {
      text = fmt::format("patch.w{}", id);
      if (along_depth_) {
        const bool by_line = std::any_of(operand_.line.begin(), operand_.line.end(), [&](const Place& p) { return p.axis >= 0 && operand_.nest.has(id, p.axis); });
        if (by_line) text += "[l_at]";
      }
      const auto vector = vector_axis(id);
      for (const auto& [axis, move] : moves_)
        if (operand_.nest.has(id, axis) && vector != axis) text += fmt::format("[{}]", small(axis));
      text = fmt::format("hone::gpu::value({}[{}])", text, vector ? small(*vector) : "0");
    }
  } else if (node.prim == Prim::kSymbol) {
    text = node.attr<IntExpr>("value").to_cpp();
  } else if (node.prim == Prim::kIota) {
    text = joint(operand_.nest.of_dims[static_cast<size_t>(id)][static_cast<size_t>(node.attr<int64_t>("axis"))]);
  } else if (node.prim == Prim::kConcat) {
    std::vector<std::string> pieces;
    for (const int operand : node.operands) {
      HONE_TRY(const std::string piece, value(operand, patch, names, lines));
      pieces.push_back(piece);
    }
    const auto at = operand_.nest.pieces.find(id);
    const std::string which = at == operand_.nest.pieces.end() ? "0" : joint(at->second);
    for (size_t k = 0; k + 1 < pieces.size(); ++k) text += fmt::format("{} == {} ? {} : ", which, k, pieces[k]);
    text += pieces.back();
  } else if (const auto power = node.prim == Prim::kFloorDiv && task::is_int(node.type.dtype) ? power_of_two(graph, node.operands[1]) : std::nullopt) {
    HONE_TRY(const std::string of, value(node.operands[0], patch, names, lines));
    HONE_TRY(const std::string exponent, value(power->exponent, patch, names, lines));
    text = fmt::format("{} >> {} * {}", of, power->bits, exponent);
  } else if (task::is_elementwise(node.prim)) {
    std::vector<std::string> operands;
    std::vector<task::DType> types;
    for (const int operand : node.operands) {
      HONE_TRY(const std::string of, value(operand, patch, names, lines));
      operands.push_back(of);
      types.push_back(graph.node(operand).type.dtype);
    }
    text = thread_text(graph, node, operands, types);
  } else {
    return fail(ErrorCode::kUnavailable, fmt::format("{} makes a factor", task::name_of(node.prim)));
  }
  const std::string name = fmt::format("v{}", id);
  lines += fmt::format("  const {} {} = {};\n", value_type(node.type.dtype, Way::kThread), name, text);
  return names[id] = name;
}

/// The axis along which a patch has neighbours in that tensor, if words of them can stand on boundaries.
std::optional<int> GpuOperand::vector_axis(int id) const {
  for (const auto& [axis, move] : moves_) {
    if (!operand_.nest.has(id, axis) || !is_one(operand_.nest.stride(id, axis))) continue;
    for (const auto& [of, condition] : boundaries(id, axis))
      if (!condition) return std::nullopt;
    return axis;
  }
  return std::nullopt;
}

/// What has to be a multiple of a word, with the condition on shapes that says so: "" where it always is, nothing where it never is.
std::vector<std::pair<IntExpr, std::optional<std::string>>> GpuOperand::boundaries(int id, int along) const {
  const Move& move = moves_.at(along);
  const int most = std::max(1, kWordBytes / static_cast<int>(task::size_of(operand_.task.primitive.node(id).type.dtype)));
  // Elements of a word, for the plan, and their number if it is known.
  const std::vector<int> sizes = move.line ? lines_ : std::vector<int>{run_};
  std::vector<int> counts;
  for (const int size : sizes) counts.push_back(std::min(most, move.whole ? std::stoi(move.count) : size / move.inner));
  const bool known = std::all_of(counts.begin(), counts.end(), [&](int c) { return c == counts.front(); });
  const std::string words = known ? std::to_string(counts.front()) : fmt::format("min(LINES // {}, {})", move.inner, most);
  std::vector<std::pair<IntExpr, std::optional<std::string>>> all;
  const auto check = [&](const IntExpr& of) {
    const Condition condition = divides(of, words, *std::max_element(counts.begin(), counts.end()));
    all.emplace_back(of, condition.possible ? std::optional(condition.text) : std::nullopt);
  };
  for (size_t axis = 0; axis < operand_.nest.axes.size(); ++axis)
    if (const int a = static_cast<int>(axis); a != along && operand_.nest.has(id, a)) check(operand_.nest.stride(id, a));
  if (const auto access = operand_.nest.access.find(id); access != operand_.nest.access.end()) check(access->second.base);
  return all;
}

Result<std::string> GpuOperand::scalar_text(const Operand& operand, int node, const std::string& name, const std::string& parameters) {
  GpuOperand writer(operand, parameters);
  std::map<int, std::string> names;
  std::string lines;
  HONE_TRY(const std::string result, writer.value(node, false, names, lines));
  return fmt::format("__device__ inline float {}({}, [[maybe_unused]] int64_t batch_at, [[maybe_unused]] int64_t line_at, [[maybe_unused]] int64_t depth_at) {{\n{}{}  return {};\n}}\n",
                     name, parameters, writer.positions("  ", false), lines, result);
}

Status GpuOperand::write() {
  HONE_TRY(single_text_, scalar_text(operand_, operand_.root(), "single_of", parameters_));
  single_text_ = "/// The computed factor's element at `depth_at` of line `line_at`.\n" + single_text_;
  return wide_ ? write_patch() : Status();
}

Status GpuOperand::write_patch() {
  std::map<int, std::string> names;
  std::string lines;
  HONE_TRY(const std::string element, value(operand_.root(), true, names, lines));
  const auto add_condition = [&](const std::string& given) {
    const IntExpr condition = given.empty() ? IntExpr(1) : IntExpr::parse(given).value();
    const std::string text = condition.to_string();
    if (!condition.is_constant() && std::find(wide_->begin(), wide_->end(), text) == wide_->end()) wide_->push_back(text);
  };
  for (const auto& [axis, move] : moves_) {
    if (move.whole) continue;
    const IntExpr& extent = operand_.nest.axes[static_cast<size_t>(axis)].extent;
    if (!extent.is_constant())
      add_condition(fmt::format("{} % {} == 0", wrapped(extent.to_string()), move.line ? fmt::format("(LINES // {})", move.inner) : std::to_string(run_ / move.inner)));
  }
  // Tensors that differ from line to line are loaded line by line where lines may be any.
  std::string members, by_lines, others;
  for (const int id : operand_.leaves()) {
    const bool by_line = along_depth_ && std::any_of(operand_.line.begin(), operand_.line.end(), [&](const Place& p) { return p.axis >= 0 && operand_.nest.has(id, p.axis); });
    const auto vector = vector_axis(id);
    if (vector)
      for (const auto& [of, condition] : boundaries(id, *vector)) add_condition(*condition);
    const std::string type = fmt::format("hone::gpu::Words<{}, {}>", storage_type(operand_.task.primitive.node(id).type.dtype), vector ? moves_.at(*vector).count : "1");
    std::string member = fmt::format("  {} w{}", type, id), to = fmt::format("patch.w{}", id), at, loops, indent = by_line ? "    " : "  ";
    if (by_line) member += "[LINES]", to += "[l_at]";
    for (size_t axis = 0; axis < operand_.nest.axes.size(); ++axis) {
      const int a = static_cast<int>(axis);
      const auto move = moves_.find(a);
      if (!operand_.nest.has(id, a) || (move != moves_.end() && move->second.whole)) continue;
      at += fmt::format("{}at{}{}", at.empty() ? "" : " + ", a, stride_text(id, a));
    }
    for (const auto& [axis, move] : moves_) {
      if (!operand_.nest.has(id, axis) || vector == axis) continue;
      loops += fmt::format("{0}HONE_UNROLL\n{0}for (int i{1} = 0; i{1} < {2}; ++i{1})\n", indent, axis, move.count);
      indent += "  ";
      member += fmt::format("[{}]", move.count), to += fmt::format("[i{}]", axis);
      at += fmt::format("{}i{}{}", at.empty() ? "" : " + ", axis, stride_text(id, axis));
    }
    (by_line ? by_lines : others) += fmt::format("{}{}{} = *reinterpret_cast<const {}*>({} + {});\n", loops, indent, to, type, tensor(id), wrapped(at.empty() ? "0" : at));
    members += member + ";\n";
  }
  std::string remember, remember_lines;
  for (const int axis : stays_) {
    const bool by_line = along_depth_ && of_lines(axis);
    members += fmt::format("  int32_t at{}{};\n", axis, by_line ? "[LINES]" : "");
    (by_line ? remember_lines : remember) += fmt::format("{}patch.at{}{} = static_cast<int32_t>(at{});\n", by_line ? "    " : "  ", axis, by_line ? "[l_at]" : "", axis);
  }
  IntExpr all = 1;
  for (const Place& place : operand_.line) all = all * place.extent;
  std::string body = fmt::format("  Patch patch;\n{}", along_depth_ ? "" : fmt::format("  line_at = hone::gpu::min(line_at, static_cast<int64_t>({}) - LINES);\n", all.to_cpp()));
  body += positions("  ", true) + others + remember;
  if (!by_lines.empty() || !remember_lines.empty())
    body += fmt::format("  HONE_UNROLL\n  for (int l_at = 0; l_at < LINES; ++l_at) {{\n{}{}{}  }}\n",
                        decoded(operand_.line, fmt::format("hone::gpu::min(line_at + l_at, static_cast<int64_t>({}) - 1)", all.to_cpp()), "    ", true), by_lines, remember_lines);
  patch_text_ = fmt::format("/// What a lane holds of the computed factor: LINES lines x RUN of the depth, as they lie in memory.\n"
                            "struct Patch {{\n{}}};\n"
                            "__device__ inline Patch patch_of({}, [[maybe_unused]] int64_t batch_at, int64_t line_at, int64_t depth_at) {{\n{}  return patch;\n}}\n"
                            "/// An element of it, computed.\n"
                            "__device__ inline float element_of({}, const Patch& patch, [[maybe_unused]] int l_at, [[maybe_unused]] int d_at) {{\n{}  return {};\n}}\n",
                            members, parameters_, body, parameters_, lines, element);
  return {};
}

}  // namespace hone::pattern
