// Writer: loops over a row and what they find.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/opencl_writer.h"

namespace hone::pattern::opencl {

using task::DType;
using task::Node;
using task::Prim;

namespace {
/// Words added up before their sum goes to the sum of such sums, which keeps what it loses (ADD): the error grows with this
/// number alone.
constexpr int kTogether = 32;
}  // namespace

std::string Writer::running_type(int id, Way way) const {
  const Node& node = program_.node(id);
  if (way == Way::kLanes) return value_type(node.type.dtype, way);
  const DType dtype = is_arg(id) ? program_.node(node.operands[0]).type.dtype : node.type.dtype;
  return dtype == DType::kBool ? "int" : value_type(dtype, Way::kItem);
}

const char* Writer::fold(int id) const {
  switch (program_.node(id).prim) {
    case Prim::kSum: return "PLUS";
    case Prim::kProd: return "TIMES";
    case Prim::kMax: case Prim::kAny: return "LARGER";
    case Prim::kArgMax: return "ABOVE";
    case Prim::kArgMin: return "BELOW";
    default: return "SMALLER";
  }
}

/// What a running result begins with.
std::string Writer::start(int id, Way way) const {
  const Node& node = program_.node(id);
  const DType dtype = is_arg(id) ? program_.node(node.operands[0]).type.dtype : node.type.dtype;
  const bool most = node.prim == Prim::kMax || node.prim == Prim::kArgMax || node.prim == Prim::kAny;
  std::string text;
  if (node.prim == Prim::kSum) text = "0";
  else if (node.prim == Prim::kProd) text = "1";
  else if (dtype == DType::kBool) text = most ? "0" : "1";
  else if (task::is_float(dtype)) text = most ? "-INFINITY" : "INFINITY";
  else text = fmt::format("{}_{}", fits_32(dtype) ? "INT" : "LONG", most ? "MIN" : "MAX");
  return way == Way::kLanes ? fmt::format("({})({})", value_type(dtype, way), text) : text;
}

bool Writer::is_real_sum(int id) const { return program_.node(id).prim == Prim::kSum && task::is_float(program_.node(id).type.dtype); }

bool Writer::sums_reals(const Pass& pass) const {
  return std::any_of(pass.reductions.begin(), pass.reductions.end(), [&](int id) { return is_real_sum(id); });
}

/// The statement that takes `value` into a result; sums of reals leave in `lost` what rounding takes from them.
std::string Writer::taken(int id, Way way, const std::string& into, const std::string& lost, const std::string& value) const {
  if (is_real_sum(id)) return fmt::format("ADD({}, {}, {}, {})", value_type(program_.node(id).type.dtype, way), into, lost, value);
  return fmt::format("{0} = {1}({0}, {2});", into, fold(id), value);
}

/// What a loop does at j: values, then what goes into t7 (lanes) or r7, and stores.
std::string Writer::body(const Pass& pass, Way way, const std::string& indent) {
  way_ = way;
  element_names_.clear();
  lines_.clear();
  decodes_ = false;
  const bool lanes = way == Way::kLanes;
  const bool apart = sums_reals(pass) || (lanes && !walk_.columns);   // results go to t7 first
  for (const int id : pass.reductions) {
    const Node& node = program_.node(id);
    std::string value = element(node.operands[0]);
    const bool boolean = program_.node(node.operands[0]).type.dtype == DType::kBool;
    if (boolean) value = lanes ? fmt::format("({} ? (INTS)(1) : (INTS)(0))", value) : fmt::format("(int)({})", value);
    const std::string into = fmt::format("{}{}", !is_arg(id) && apart ? "t" : "r", id);
    if (is_arg(id)) {
      const char* const sign = node.prim == Prim::kArgMax ? ">" : "<";
      lines_.push_back(fmt::format("if (l{0} == LONG_MAX || {1} {2} {3} || ({1} != {1} && {3} == {3})) {3} = {1}, l{0} = j;",
                                   id, value, sign, into));
    } else {
      // The element first: ties and NaN go to what is there already.
      lines_.push_back(fmt::format("{0} = {1}({0}, {2});", into, fold(id), value));
    }
  }
  for (const int id : pass.stores) {
    const std::string value = element(id);
    lines_.push_back(stored(program_.node(id).type.dtype, output_name(id) + "_row", at_element(id), value, way));
  }
  std::string text;
  if (decodes_) {
    std::string rest = "j";
    for (size_t k = program_.inner_axes.size(); k-- > 0;) {
      const std::string extent = spelled(parenthesised(program_.extent(program_.inner_axes[k])));
      text += fmt::format("{}const {} at{} = {}{};\n", indent, index(), program_.inner_axes[k], rest, k ? " % " + extent : "");
      rest += " / " + extent;
    }
  }
  for (const std::string& line : lines_) text += indent + line + "\n";
  return text;
}

/// A loop over j, from `begin` to `end`, every word or element of this item's. With sums of reals two loops: t7 has the sum
/// of some words, which goes to u7 (lanes) or r7.
std::string Writer::loop(const Pass& pass, Way way, const std::string& begin, const std::string& end, const std::string& indent) {
  const bool lanes = way == Way::kLanes, sums = sums_reals(pass), words = lanes && !walk_.columns;
  const std::string step = walk_.step == "1" ? (words ? "VEC" : "1") : words ? walk_.step + " * VEC" : walk_.step;
  const auto over = [&](const std::string& inset, const std::string& first, const std::string& last) {
    return fmt::format("{0}for ({1} j = {2}; j < {3}; j += {4}) {{\n{5}{0}}}\n", inset, index(), first, last, step,
                       body(pass, way, inset + "  "));
  };
  if (!sums) return over(indent, begin, end);
  std::string text = fmt::format("{0}for ({1} from = {2}; from < {3}; from += {4} * {5}) {{\n"
                                 "{0}  const {1} until = from + {4} * {5} < {3} ? from + {4} * {5} : {3};\n",
                                 indent, index(), begin, end, kTogether, step);
  for (const int id : pass.reductions)
    if (!is_arg(id)) text += fmt::format("{}  {} t{} = {};\n", indent, running_type(id, way), id, start(id, way));
  text += over(indent + "  ", "from", "until");
  for (const int id : pass.reductions) {
    if (is_arg(id)) continue;
    const std::string into = fmt::format("{}{}", words ? "u" : "r", id), lost = fmt::format("{}{}", words ? "e" : "c", id);
    text += fmt::format("{}  {}\n", indent, taken(id, way, into, lost, fmt::format("t{}", id)));
  }
  return text + indent + "}\n";
}

std::string Writer::begun(size_t pass, const std::string& indent) const {
  std::string text;
  for (const int id : program_.passes[pass].reductions) {
    const Way way = has_lane(id) ? way_ : Way::kItem;
    text += fmt::format("{}{} r{} = {};\n", indent, running_type(id, way), id, start(id, way));
    if (is_arg(id)) text += fmt::format("{}long l{} = LONG_MAX;\n", indent, id);
    if (is_real_sum(id)) text += fmt::format("{}{} c{} = 0;\n", indent, value_type(program_.node(id).type.dtype, way), id);
  }
  return text;
}

std::string Writer::pass_text(size_t number, const std::string& indent) {
  const Pass& pass = program_.passes[number];
  std::string loops;
  const std::string length = spelled(parenthesised(program_.row_length()));
  if (walk_.columns) {
    loops += loop(pass, way_, walk_.first, length, indent);
  } else if (lanes_) {
    const char* const lanes = sums_reals(pass) ? "u" : "t";
    for (const int id : pass.reductions) {
      loops += fmt::format("{}{} {}{} = {};\n", indent, running_type(id, Way::kLanes), lanes, id, start(id, Way::kLanes));
      if (is_real_sum(id)) loops += fmt::format("{}FLOATS e{} = 0;\n", indent, id);
    }
    loops += loop(pass, Way::kLanes, walk_.first == "0" ? "0" : walk_.first + " * VEC", fmt::format("{} / VEC * VEC", length), indent);
    for (const int id : pass.reductions) {
      const std::string into = fmt::format("r{}", id), lost = fmt::format("c{}", id);
      loops += fmt::format("{0}{{\n{0}  {1} lane[VEC];\n{0}  PUT({2}{3}, lane);\n{0}  for (int k = 0; k < VEC; ++k) {4}\n", indent,
                           running_type(id), lanes, id, taken(id, Way::kItem, into, lost, "lane[k]"));
      if (is_real_sum(id))
        loops += fmt::format("{0}  PUT(e{1}, lane);\n{0}  for (int k = 0; k < VEC; ++k) {2} += lane[k];\n", indent, id, lost);
      loops += indent + "}\n";
    }
    const std::string begin = fmt::format("{} / VEC * VEC{}", length, walk_.first == "0" ? "" : " + " + walk_.first);
    loops += loop(pass, Way::kItem, begin, length, indent);
  } else {
    loops += loop(pass, Way::kItem, walk_.first, length, indent);
  }
  // Where the sum is infinite, what it lost is no number.
  for (const int id : pass.reductions)
    if (is_real_sum(id))
      loops += fmt::format("{0}r{1} += c{1} == c{1} ? c{1} : {2};\n", indent, id, has_lane(id) && lanes_ ? "(FLOATS)(0)" : "0");
  return take_row_lines(indent) + begun(number, indent) + loops + (walk_.group ? combined(number, indent) : "") + found(number, indent);
}

std::string Writer::combined(size_t pass, const std::string& indent) const {
  std::string text;
  for (const int id : program_.passes[pass].reductions) {
    if (is_arg(id)) text += fmt::format("{0}COMBINE_PLACES(share_{1}, places, r{2}, l{2}, {3})\n", indent, running_type(id), id, fold(id));
    else text += fmt::format("{}COMBINE(share_{}, r{}, {})\n", indent, running_type(id), id, fold(id));
  }
  return text;
}

std::string Writer::found(size_t pass, const std::string& indent) {
  std::string text;
  for (const int id : program_.passes[pass].reductions) {
    const DType dtype = program_.node(id).type.dtype;
    const Way way = has_lane(id) ? way_ : Way::kItem;
    const std::string value = is_arg(id) ? fmt::format("l{}", id) : dtype != DType::kBool ? fmt::format("r{}", id)
                              : way == Way::kLanes ? fmt::format("r{} != (INTS)(0)", id) : fmt::format("r{} != 0", id);
    text += fmt::format("{}const {} v{} = {};\n", indent, value_type(dtype, way), id, value);
    row_names_[id] = fmt::format("v{}", id);
  }
  return text;
}

std::string Writer::row_stores(const std::string& indent, const std::string& condition) {
  std::vector<std::string> lines;
  for (const int id : program_.row_outputs) {
    const Way way = has_lane(id) ? way_ : Way::kItem;
    const std::string value = row(id), at = offset(id, program_.row_axes);
    lines.push_back(stored(program_.node(id).type.dtype, output_name(id), at.empty() ? "0" : at, value, way));
  }
  std::string text = take_row_lines(indent);
  if (lines.empty()) return text;
  if (condition.empty()) {
    for (const std::string& line : lines) text += indent + line + "\n";
    return text;
  }
  text += fmt::format("{}if ({}) {{\n", indent, condition);
  for (const std::string& line : lines) text += indent + "  " + line + "\n";
  return text + indent + "}\n";
}

std::string Writer::shares(const std::string& indent) const {
  std::set<std::string> types;
  bool places = false;
  for (const Pass& pass : program_.passes)
    for (const int id : pass.reductions) {
      types.insert(running_type(id));
      places |= is_arg(id);
    }
  std::string text;
  for (const std::string& type : types) text += fmt::format("{0}__local {1} share_{1}[ITEMS];\n", indent, type);
  if (places) text += indent + "__local long places[ITEMS];\n";
  return text;
}

}  // namespace hone::pattern::opencl
