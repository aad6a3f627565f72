#include "hone/pattern/plain_function.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/expression.h"

namespace hone::pattern::plain {
namespace {

using task::IntExpr;

bool is_atom(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

std::string as_operand(const std::string& text) { return is_atom(text) ? text : "(" + text + ")"; }

}  // namespace

Text operator+(const Text& a, const Text& b) {
  if (a.text == "0") return b;
  if (b.text == "0") return a;
  return {a.text + " + " + as_operand(b.text), std::max(a.level, b.level)};
}

Text operator-(const Text& a, const Text& b) {
  if (b.text == "0") return a;
  return {a.text + " - " + as_operand(b.text), std::max(a.level, b.level)};
}

Text operator*(const Text& a, const Text& b) {
  if (a.text == "0" || b.text == "1") return a;
  if (b.text == "0" || a.text == "1") return b;
  return {as_operand(a.text) + " * " + as_operand(b.text), std::max(a.level, b.level)};
}

Text call(const std::string& function, const std::vector<Text>& arguments) {
  Text result;
  std::vector<std::string> texts;
  for (const Text& argument : arguments) {
    texts.push_back(argument.text);
    result.level = std::max(result.level, argument.level);
  }
  result.text = fmt::format("{}({})", function, fmt::join(texts, ", "));
  return result;
}

Function::Function(const task::Task& task, const Plan& plan, const Misprint& misprint, std::string name, Dialect dialect)
    : task_(task), plan_(plan), misprint_(misprint), name_(std::move(name)), dialect_(dialect), levels_(1) {}

void Function::open(const std::string& header, const std::string& footer) {
  levels_.push_back({header + (in_lanes() ? ":" : " {"), footer, {}, {}});
}

void Function::close() {
  Level done = std::move(levels_.back());
  levels_.pop_back();
  levels_.back().lines.push_back(done.header);
  for (const std::string& text : done.lines) levels_.back().lines.push_back((in_lanes() ? "    " : "  ") + text);
  if (!in_lanes()) levels_.back().lines.push_back(done.footer);
}

Text Function::loop(const std::string& name, const Text& begin, const Text& end) {
  if (in_lanes()) {
    open(fmt::format("for {} in range({}, {})", name, begin.text, end.text));
    return {name, level()};
  }
  open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", name, begin.text, end.text));
  return {name, level()};
}

Text Function::loop_over(const std::string& name, const IntExpr& e) {
  return is_one(e) ? number(0) : always_loop_over(name, e);
}

Text Function::always_loop_over(const std::string& name, const IntExpr& e) {
  const Text whole = extent(e);
  const Text first{maybe("0", {{"the first term left out", "1"}}), 0};
  return loop(name, first, {maybe_short(e), 0});
}

std::string Function::maybe_short(const IntExpr& e) {
  const std::string whole = extent(e).text;
  std::vector<Mistake> wrong{{"the last term left out", whole + " - 1"}};
  if (!e.is_constant() || e.constant() % 8 != 0) wrong.push_back({"the tail after the last eight left out", as_operand(whole) + " / 8 * 8"});
  return maybe(whole, wrong);
}

Text Function::local(const std::string& type, const Text& value) {
  Level& level = levels_[static_cast<size_t>(value.level)];
  const std::string key = type + " " + value.text;
  // A constant of this level, or of one around it, whose names the value cannot shadow.
  if (const auto it = level.known.find(key); it != level.known.end()) return {it->second, value.level};
  const std::string name = fmt::format("v{}", locals_++);
  level.lines.push_back(in_lanes() ? fmt::format("{} = {}", name, value.text) : fmt::format("const {} {} = {};", type, name, value.text));
  level.known.emplace(key, name);
  return {name, value.level};
}

Text Function::index(const Text& value) { return is_atom(value.text) ? value : local("int64_t", value); }

std::vector<Text> Function::grid(const std::vector<std::string>& names, const std::vector<IntExpr>& extents,
                                 const std::string& block) {
  IntExpr blocks = 1;
  std::vector<Text> positions(names.size());
  std::vector<size_t> loops;
  for (size_t k = 0; k < extents.size(); ++k) {
    blocks = blocks * extents[k];
    if (is_one(extents[k])) positions[k] = number(0);
    else loops.push_back(k);
  }
  grid_.push_back(blocks);
  blocks_.push_back(block);
  if (in_lanes()) {
    line(fmt::format("{} = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)", block));
    line(fmt::format("inside = {} < {}", block, extent(blocks).text));
    Text rest{block, 0};
    for (size_t n = loops.size(); n-- > 0;) {
      const size_t k = loops[n];
      const Text e = extent(extents[k]);
      positions[k] = index(n ? remainder(rest, e) : rest);
      if (n) rest = index(quotient(rest, e));
    }
    return positions;
  }
  std::string rest = block;
  std::vector<std::string> lines;
  for (size_t n = loops.size(); n-- > 0;) {
    const size_t k = loops[n];
    const std::string e = as_operand(extent(extents[k]).text);
    lines.push_back(fmt::format("const int64_t {} = {}{};", names[k], rest, n ? " % " + e : ""));
    rest += " / " + e;
    positions[k] = {names[k], 0};
  }
  for (auto it = lines.rbegin(); it != lines.rend(); ++it) line("[[maybe_unused]] " + *it);
  return positions;
}

void Function::grid_blocks(const IntExpr& e, const std::string& block, const std::string& size, int64_t size_value) {
  grid_.push_back(IntExpr::ceil_div(e, size_value));
  blocks_.push_back(block);
  const std::string whole = extent(e).text;
  line(fmt::format("const int64_t start = {} * hone::plain::{};", block, size));
  const std::string right = fmt::format("hone::plain::least(hone::plain::{}, {} - start)", size, whole);
  line(fmt::format("const int64_t count = {};",
                   maybe(right, {{"the last element of a block left out", right + " - 1"},
                                 {"the tail after the last eight left out", right + " / 8 * 8"}})));
}

Text Function::extent(const IntExpr& e) {
  if (in_lanes()) {
    if (e.is_constant()) return number(e.constant());
    auto at = std::find(extents_.begin(), extents_.end(), e);
    if (at == extents_.end()) at = extents_.insert(at, e);
    return {fmt::format("e{}", at - extents_.begin()), 0};
  }
  symbols_.merge(e.symbols());
  return {e.to_cpp(), 0};
}

Text Function::quotient(const Text& a, const Text& b) {
  return {fmt::format("{} {} {}", as_operand(a.text), in_lanes() ? "//" : "/", as_operand(b.text)), std::max(a.level, b.level)};
}

Text Function::remainder(const Text& a, const Text& b) {
  return {fmt::format("{} % {}", as_operand(a.text), as_operand(b.text)), std::max(a.level, b.level)};
}

Text Function::held(const Text& x, const Text& e) {
  const int level = std::max(x.level, e.level);
  if (in_lanes()) return {fmt::format("held({}, {})", x.text, e.text), level};
  return {fmt::format("hone::plain::most(0, hone::plain::least({}, {} - 1))", x.text, e.text), level};
}

Text Function::whole(const Text& x) {
  return {in_lanes() ? fmt::format("(tl.full((1,), 0, tl.int64) + {})", x.text) : fmt::format("int64_t({})", x.text), x.level};
}

std::string Function::select(const std::string& condition, const std::string& a, const std::string& b) const {
  return fmt::format(fmt::runtime(in_lanes() ? "tl.where({}, {}, {})" : "{} ? {} : {}"), condition, a, b);
}

std::string Function::both(const std::string& a, const std::string& b) const {
  if (a.empty()) return in_lanes() ? "(" + b + ")" : b;
  return in_lanes() ? fmt::format("{} & ({})", a, b) : fmt::format("{} && {}", a, b);
}

std::string Function::reads(const std::string& tensor) {
  reads_.insert(tensor);
  return tensor;
}

std::string Function::writes(const std::string& tensor) {
  writes_.insert(tensor);
  return tensor;
}

task::DType Function::dtype_of(const std::string& tensor) const {
  for (const auto& input : task_.inputs)
    if (input.name == tensor) return input.type.dtype;
  for (const auto& [name, type] : task_.outputs)
    if (name == tensor) return type.dtype;
  for (const auto& workspace : plan_.workspaces)
    if (workspace.name == tensor) return workspace.type.dtype;
  HONE_CHECK(false, tensor);
}

std::vector<std::string> Function::tensors() const {
  std::vector<std::string> all;
  for (const std::string& tensor : reads_)
    if (!writes_.contains(tensor)) all.push_back(tensor);
  all.insert(all.end(), writes_.begin(), writes_.end());
  return all;
}

std::string Function::lanes_definition() const {
  std::vector<std::string> parameters = tensors();
  for (size_t k = 0; k < extents_.size(); ++k) parameters.push_back(fmt::format("e{}", k));
  std::string text = fmt::format("\n\n@triton.jit\ndef {}({}, BLOCK: tl.constexpr):\n", name_, fmt::join(parameters, ", "));
  for (const std::string& line : levels_[0].lines) text += "    " + line + "\n";
  return text;
}

std::string Function::lanes_launch() const {
  std::vector<std::string> arguments;
  for (const std::string& tensor : tensors()) arguments.push_back("\"" + tensor + "\"");
  for (const IntExpr& e : extents_) arguments.push_back("\"i64:" + e.to_string() + "\"");
  return fmt::format("[[launch]]\nkernel = \"{}\"\ngrid   = [\"ceil_div({}, BLOCK)\"]\nargs   = [{}, \"=BLOCK\"]\n", name_, grid_.front().to_string(),
                     fmt::join(arguments, ", "));
}

std::string Function::definition() const {
  HONE_CHECK(levels_.size() == 1, "every loop is closed");
  if (in_lanes()) return lanes_definition();
  std::vector<std::string> parameters;
  const auto pointer = [&](const std::string& tensor, const char* qualifier) {
    const task::DType dtype = dtype_of(tensor);
    parameters.push_back(fmt::format("{}{}* __restrict {}", qualifier, storage_type(dtype), tensor));
  };
  for (const std::string& tensor : reads_)
    if (!writes_.contains(tensor)) pointer(tensor, "const ");
  for (const std::string& tensor : writes_) pointer(tensor, "");
  for (const std::string& symbol : symbols_)
    parameters.push_back("[[maybe_unused]] int64_t " + symbol);
  if (shared_) parameters.emplace_back("void* shared");
  for (const std::string& block : blocks_) parameters.push_back("[[maybe_unused]] int64_t " + block);
  std::string text = fmt::format("\nvoid {}({}) {{\n", name_, fmt::join(parameters, ", "));
  for (const std::string& line : levels_[0].lines) text += "  " + line + "\n";
  return text + "}\n";
}

std::string Function::launch() const {
  if (in_lanes()) return lanes_launch();
  std::vector<std::string> extents, arguments;
  for (const IntExpr& e : grid_) extents.push_back("\"" + e.to_string() + "\"");
  for (const std::string& tensor : reads_)
    if (!writes_.contains(tensor)) arguments.push_back("\"" + tensor + "\"");
  for (const std::string& tensor : writes_) arguments.push_back("\"" + tensor + "\"");
  for (const std::string& symbol : symbols_) arguments.push_back("\"i64:" + symbol + "\"");
  std::string text = fmt::format("[[launch]]\nkernel = \"{}\"\ngrid   = [{}]\n", name_, fmt::join(extents, ", "));
  if (shared_) {
    text += fmt::format("shared = \"{}\"\n", shared_->to_string());
    arguments.emplace_back("\"shared\"");
  }
  return text + fmt::format("args   = [{}]\n", fmt::join(arguments, ", "));
}

}  // namespace hone::pattern::plain
