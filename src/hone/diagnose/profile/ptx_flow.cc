#include "hone/diagnose/profile/ptx_flow.h"

#include <algorithm>

namespace hone::diagnose {
namespace {

constexpr std::string_view kSpaces[] = {"shared", "local", "param"};

bool is_jump(const PtxStatement& s) { return s.is_instruction("bra") || s.is_instruction("brx"); }

/// Instructions whose first operand is no result.
bool writes_nothing(const PtxStatement& s) {
  constexpr std::string_view kNames[] = {"st", "red", "bra", "brx", "ret", "exit", "bar", "barrier", "trap", "prefetch", "prefetchu"};
  return std::find(std::begin(kNames), std::end(kNames), s.part(0)) != std::end(kNames) || s.operands.empty() || s.operands[0].front() == '[';
}

/// Spaces that an instruction on memory may mean: of a generic address either of the block's and the thread's own.
std::vector<std::string_view> spaces_of(const PtxStatement& s) {
  constexpr std::string_view kOfMemory[] = {"ld", "st", "atom", "red", "ldmatrix", "stmatrix", "mbarrier"};
  if (std::find(std::begin(kOfMemory), std::end(kOfMemory), s.part(0)) == std::end(kOfMemory)) return {};
  if (s.has_any({"shared", "shared::cta", "shared::cluster"}) || s.part(0) == "mbarrier") return {"shared"};
  if (s.has("local")) return {"local"};
  if (s.has_any({"param", "param::func", "param::entry"})) return {"param"};
  if (s.has_any({"global", "const"})) return {};
  return {"shared", "local"};
}

/// Where the labels of a function are, and between which statements its loops go round.
struct Loops {
  std::map<std::string_view, size_t> labels;
  std::vector<std::pair<size_t, size_t>> turns;

  explicit Loops(const PtxFunction& f) {
    for (size_t i = 0; i < f.statements.size(); ++i) {
      const PtxStatement& s = f.statements[i];
      if (s.kind == PtxKind::kLabel) labels[s.opcode] = i;
      else if (const size_t target = target_of(s); target < i) turns.emplace_back(target, i);
    }
  }
  /// Labels that come later are not known while the loops are sought: none of them closes one.
  [[nodiscard]] size_t target_of(const PtxStatement& s) const {
    if (!s.is_instruction("bra") || s.operands.empty()) return std::string_view::npos;
    const auto at = labels.find(s.operands.back());
    return at == labels.end() ? std::string_view::npos : at->second;
  }
  /// Whether a loop goes on or ends as the guarded statement has it, or as the jump behind it that it may skip.
  [[nodiscard]] bool ended_by(const PtxFunction& f, size_t index) const {
    return std::any_of(turns.begin(), turns.end(), [&](const auto& turn) {
      const auto goes_out = [&](size_t at) {
        if (at < turn.first || at >= f.statements.size() || at > turn.second) return false;
        const PtxStatement& s = f.statements[at];
        const size_t target = target_of(s);
        return at == turn.second || s.leaves() || s.is_instruction("brx") || (is_jump(s) && (target < turn.first || target > turn.second));
      };
      return goes_out(index) || (is_jump(f.statements[index]) && goes_out(index + 1));
    });
  }
};

}  // namespace

PtxFlow::PtxFlow(const PtxText& text) : text_(text) {
  for (const PtxFunction& f : text.functions) one_group_ |= !f.entry;
  for (size_t f = 0; f < text.functions.size(); ++f)
    for (const PtxStatement& s : text.functions[f].statements)
      if (s.kind == PtxKind::kInstruction) read(f, s);
  for (size_t f = 0; f < text.functions.size(); ++f) roots(f);
  while (!raised_.empty()) {
    const Node node = raised_.back();
    raised_.pop_back();
    const Level level = levels_[node];
    if (const auto at = writers_.find(node); at != writers_.end())
      for (const PtxStatement* s : at->second) follow(node.first, *s, level);
    if (const auto at = stored_.find(node); at != stored_.end())
      for (const auto& [function, value] : at->second) raise_operand(function, value, level);
  }
}

size_t PtxFlow::group(size_t function) const { return one_group_ ? 0 : function; }
/// A space's name begins with a dot, so that it is no register's.
PtxFlow::Node PtxFlow::space(size_t function, std::string_view name) const {
  return {group(function), name == "shared" ? ".shared" : name == "local" ? ".local" : ".param"};
}
PtxFlow::Level PtxFlow::level(const Node& node) const {
  const auto at = levels_.find(node);
  return at == levels_.end() ? Level::kNone : at->second;
}
std::string_view PtxFlow::float_type(size_t function, std::string_view name) const {
  const auto at = floats_.find({function, name});
  return at == floats_.end() ? std::string_view() : at->second;
}

/// Who writes and reads what, and as which type.
void PtxFlow::read(size_t function, const PtxStatement& s) {
  const bool writes = !writes_nothing(s);
  if (writes) for_names(s.operands[0], [&](std::string_view name) { writers_[{function, name}].push_back(&s); });
  const auto reads = [&](std::string_view operand) { for_names(operand, [&](std::string_view name) { read_.insert({function, name}); }); };
  reads(s.guard);
  for (size_t i = writes ? 1 : 0; i < s.operands.size(); ++i) reads(s.operands[i]);

  // Of atom too: what one thread leaves there another may read.
  if (const bool stores = s.is_instruction("st") || s.is_instruction("atom") || s.is_instruction("red") || s.is_instruction("stmatrix"); stores)
    for (const std::string_view name : spaces_of(s))
      for (const std::string_view operand : s.operands)
        if (operand.front() != '[') stored_[space(function, name)].emplace_back(function, operand);

  // Products of matrices name the types of several operands.
  if (s.is_instruction("mma") || s.is_instruction("wgmma") || s.is_instruction("tcgen05") || !is_float(s.type())) return;
  const bool converts = s.is_instruction("cvt");
  for (size_t i = converts ? 1 : 0; i < s.operands.size(); ++i)
    if (s.operands[i].front() != '[') for_names(s.operands[i], [&](std::string_view name) { floats_.try_emplace({function, name}, s.type()); });
}

void PtxFlow::roots(size_t function) {
  const PtxFunction& f = text_.functions[function];
  const Loops loops(f);
  for (size_t i = 0; i < f.statements.size(); ++i) {
    const PtxStatement& s = f.statements[i];
    if (s.kind != PtxKind::kInstruction) continue;
    bool addresses = false;
    for (const std::string_view operand : s.operands)
      if (operand.front() == '[') addresses = true, raise_operand(function, operand, Level::kWay);
    if (s.is_instruction("brx") || s.is_instruction("call"))
      for (const std::string_view operand : s.operands) raise_operand(function, operand, Level::kWay);
    if (s.guard.empty()) continue;
    if (is_jump(s) || s.leaves()) raise_operand(function, s.guard, loops.ended_by(f, i) ? Level::kTurns : Level::kWay);
    else if (addresses || s.is_instruction("call") || s.part(0).starts_with("bar")) raise_operand(function, s.guard, Level::kWay);
  }
}

void PtxFlow::raise(const Node& node, Level level) {
  Level& known = levels_[node];
  if (level <= known) return;
  known = level;
  raised_.push_back(node);
}
void PtxFlow::raise_operand(size_t function, std::string_view operand, Level level) {
  for_names(operand, [&](std::string_view name) { raise({function, name}, level); });
}

/// What decides the result of an instruction decides what the result does.
void PtxFlow::follow(size_t function, const PtxStatement& s, Level level) {
  if (level == Level::kWay && (s.is_instruction("setp") || s.is_instruction("set")) && is_float(s.type())) return;
  raise_operand(function, s.guard, level);
  for (size_t i = 1; i < s.operands.size(); ++i) raise_operand(function, s.operands[i], level);
  for (const std::string_view name : spaces_of(s)) {
    const bool own_parameter = name == "param" && text_.functions[function].entry && s.operands.size() > 1 &&
                               s.operands[1].substr(1).starts_with(text_.functions[function].name);
    if (!own_parameter) raise(space(function, name), level);
  }
  const bool others = s.is_instruction("atom") || (s.is_instruction("ld") && s.has_any({"volatile", "relaxed", "acquire", "mmio"}));
  if (level == Level::kTurns && others && !s.has_any({"shared", "shared::cta", "local", "param"})) waits_.insert(group(function));
}

}  // namespace hone::diagnose
