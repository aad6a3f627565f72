#include "hone/diagnose/profile/ptx_text.h"

#include <algorithm>
#include <charconv>
#include <cctype>
#include <tuple>

namespace hone::diagnose {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }

std::string_view without_space(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Comments and what stands in quotes become spaces, so that no `;` or brace in them counts; offsets and lines stay.
std::string blanked(std::string_view text) {
  std::string bare(text);
  const auto blank = [&](size_t from, size_t upto) {
    for (size_t i = from; i < std::min(upto, bare.size()); ++i)
      if (bare[i] != '\n') bare[i] = ' ';
  };
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = i;
    if (text.substr(i).starts_with("//")) end = std::min(text.find('\n', i), text.size());
    else if (text.substr(i).starts_with("/*")) end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
    else if (text[i] == '"') end = std::min(text.find('"', i + 1), text.size() - 1) + 1;
    else continue;
    blank(i, end);
    i = end - 1;
  }
  return bare;
}

/// Commas outside of all brackets part the operands.
std::vector<std::string_view> operands_of(std::string_view text) {
  std::vector<std::string_view> all;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '{' || text[i] == '[' || text[i] == '(')) ++depth;
    if (i < text.size() && (text[i] == '}' || text[i] == ']' || text[i] == ')')) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    if (const std::string_view operand = without_space(text.substr(begin, i - begin)); !operand.empty()) all.push_back(operand);
    begin = i + 1;
  }
  return all;
}

class Reader {
 public:
  explicit Reader(PtxText& out) : out_(out), text_(*out.bare) {}

  /// Between functions: variables and sections are passed over, braces and all.
  void module() {
    while (skip_space()) {
      const size_t begin = at_, end = text_.find_first_of(";{", at_);
      if (end == kNone) return;
      at_ = end + 1;
      if (text_[end] == ';') continue;
      PtxFunction function;
      if (head(text_.substr(begin, end - begin), function)) body(function), out_.functions.push_back(std::move(function));
      else skip_braces();
    }
  }

 private:
  bool skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size();
  }
  void skip_braces() {
    for (int depth = 1; at_ < text_.size() && depth > 0; ++at_) depth += text_[at_] == '{' ? 1 : text_[at_] == '}' ? -1 : 0;
  }
  std::string_view name_at(size_t from) const {
    size_t end = from;
    while (end < text_.size() && is_name(text_[end])) ++end;
    return text_.substr(from, end - from);
  }

  /// `.entry name (...)` or `.func (result) name (...)`; what stands before may hold lines without an end, as .version has.
  bool head(std::string_view text, PtxFunction& function) const {
    const size_t entry = text.find(".entry"), func = text.find(".func");
    if (entry == kNone && func == kNone) return false;
    function.entry = entry != kNone;
    size_t at = function.entry ? entry + 6 : func + 5;
    while (at < text.size() && !is_name(text[at])) at = text[at] == '(' ? std::min(text.find(')', at), text.size() - 1) + 1 : at + 1;
    function.name = name_at(at + static_cast<size_t>(text.data() - text_.data()));
    return true;
  }

  void body(PtxFunction& function) {
    for (int depth = 1; skip_space();) {
      PtxStatement s;
      s.begin = at_;
      const std::string_view name = name_at(at_);
      const char c = text_[at_];
      if (c == ';') {
        ++at_;
        continue;
      }
      if (c == '{' || c == '}') {
        s.kind = PtxKind::kScope;
        depth += c == '{' ? 1 : -1;
        if (depth > 0) s.opcode = text_.substr(at_, 1);
        s.end = ++at_;
      } else if (c == '.') {
        directive(s, function);
      } else if (is_label(name)) {
        s.kind = PtxKind::kLabel;
        s.opcode = name;
        at_ = s.end = text_.find(':', at_) + 1;
      } else {
        instruction(s);
      }
      if (function.body == 0 && s.kind != PtxKind::kDirective) function.body = s.begin;
      if (depth == 0) return;
      function.statements.push_back(std::move(s));
    }
  }

  bool is_label(std::string_view name) const {
    size_t next = at_ + name.size();
    while (next < text_.size() && is_space(text_[next])) ++next;
    return !name.empty() && next < text_.size() && text_[next] == ':' && !text_.substr(next).starts_with("::");
  }

  void directive(PtxStatement& s, PtxFunction& function) {
    s.kind = PtxKind::kDirective;
    s.opcode = text_.substr(at_, 1 + name_at(at_ + 1).size());
    const bool line = s.opcode == ".loc" || s.opcode == ".file";
    const size_t end = std::min(text_.find(line ? '\n' : ';', at_), text_.size() - 1);
    s.operands = operands_of(text_.substr(at_ + s.opcode.size(), end - at_ - s.opcode.size()));
    at_ = s.end = end + 1;
    if (s.opcode == ".reg") declare(s, function);
  }

  /// `.reg .b32 %r<84>` and `.reg .pred p, q`.
  static void declare(const PtxStatement& s, PtxFunction& function) {
    std::string_view type;
    for (std::string_view operand : s.operands) {
      if (operand.front() == '.') {
        const size_t end = std::min(operand.find_first_of(" \t"), operand.size());
        type = operand.substr(1, end - 1);
        operand = without_space(operand.substr(end));
      }
      const auto [known, fresh] = function.registers.try_emplace(operand.substr(0, operand.find('<')), type);
      if (!fresh && known->second != type) known->second = {};
    }
  }

  void instruction(PtxStatement& s) {
    const size_t end = std::min(text_.find(';', at_), text_.size() - 1);
    if (text_[at_] == '@') {
      const size_t name = std::min(text_.find_first_not_of("@! \t\n", at_), end), after = name + name_at(name).size();
      s.guard = without_space(text_.substr(at_ + 1, after - at_ - 1));
      at_ = after;
      skip_space();
    }
    s.opcode_at = at_;
    s.opcode = without_space(text_.substr(at_, std::min(text_.find_first_of(" \t\n;{[(", at_), end) - at_));
    s.operands = operands_of(text_.substr(at_ + s.opcode.size(), end - at_ - s.opcode.size()));
    at_ = s.end = end + 1;
  }

  PtxText& out_;
  std::string_view text_;
  size_t at_ = 0;
};

/// Behind the line that only the head of a module has.
size_t behind_line(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  const size_t end = at == kNone ? kNone : text.find('\n', at);
  return end == kNone ? 0 : end + 1;
}

}  // namespace

std::string_view PtxStatement::part(size_t index) const {
  std::string_view rest = opcode;
  for (; index > 0; --index) {
    const size_t dot = rest.find('.');
    if (dot == kNone) return {};
    rest.remove_prefix(dot + 1);
  }
  return rest.substr(0, rest.find('.'));
}
bool PtxStatement::has(std::string_view wanted) const {
  for (size_t i = 1;; ++i) {
    const std::string_view found = part(i);
    if (found == wanted) return true;
    if (found.empty()) return false;
  }
}
bool PtxStatement::has_any(std::initializer_list<std::string_view> parts) const {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view wanted) { return has(wanted); });
}
std::string_view PtxStatement::type() const {
  const size_t dot = opcode.rfind('.');
  return dot == kNone ? std::string_view() : opcode.substr(dot + 1);
}

std::string_view PtxFunction::type_of(std::string_view wanted) const {
  if (const auto at = registers.find(wanted); at != registers.end()) return at->second;
  while (!wanted.empty() && is_digit(wanted.back())) wanted.remove_suffix(1);
  const auto group = registers.find(wanted);
  return group == registers.end() ? std::string_view() : group->second;
}

int PtxFunction::bits_of_address(std::string_view base, PtxSpace space) const {
  const bool global = space == PtxSpace::kGlobal;
  const std::string_view type = type_of(base);
  if (type.empty()) return base.front() == '%' ? 0 : global ? 64 : 32;
  const int bits = bits_of(type);
  return bits == 64 || (bits == 32 && !global) ? bits : 0;
}

Result<PtxText> read_ptx(std::string_view text) {
  PtxText out;
  out.bare = std::make_shared<const std::string>(blanked(text));
  Reader(out).module();
  out.globals = std::max(behind_line(*out.bare, ".target"), behind_line(*out.bare, ".address_size"));
  const bool entry = std::any_of(out.functions.begin(), out.functions.end(), [](const PtxFunction& f) { return f.entry; });
  if (!entry || out.globals == 0 || out.bare->find(".address_size 64") == kNone)
    return fail(ErrorCode::kInput, "this is no PTX with a 64-bit .entry", "give the whole text that NVRTC or `nvcc -ptx` wrote");
  return out;
}

void for_names(std::string_view operand, const std::function<void(std::string_view)>& visit) {
  for (size_t i = 0; i < operand.size();) {
    size_t end = i;
    while (end < operand.size() && is_name(operand[end])) ++end;
    if (end > i && !is_digit(operand[i])) visit(operand.substr(i, end - i));
    i = std::max(end, i + 1);
  }
}

int bits_of(std::string_view type) {
  if (type == "pred") return 0;
  if (type.ends_with("x2")) return 32;
  const size_t digit = type.find_first_of("0123456789");
  int bits = 0;
  if (digit != kNone) std::from_chars(type.data() + digit, type.data() + type.size(), bits);
  return bits;
}

bool is_float(std::string_view type) {
  constexpr std::string_view kFloats[] = {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"};
  return std::find(std::begin(kFloats), std::end(kFloats), type) != std::end(kFloats);
}

std::optional<std::pair<std::string_view, int64_t>> address_of(std::string_view operand) {
  if (operand.size() < 3 || operand.front() != '[' || operand.back() != ']') return std::nullopt;
  operand = without_space(operand.substr(1, operand.size() - 2));
  size_t end = 0;
  while (end < operand.size() && is_name(operand[end])) ++end;
  const std::string_view base = operand.substr(0, end);
  if (base.empty() || is_digit(base.front())) return std::nullopt;
  std::string_view rest = without_space(operand.substr(end));
  if (rest.empty()) return std::pair(base, int64_t{0});
  if (rest.front() != '+' && rest.front() != '-') return std::nullopt;
  if (rest.front() == '+') rest = without_space(rest.substr(1));
  int64_t offset = 0;
  const auto [last, error] = std::from_chars(rest.data(), rest.data() + rest.size(), offset);
  if (error != std::errc() || last != rest.data() + rest.size()) return std::nullopt;
  return std::pair(base, offset);
}

std::optional<PtxAccess> access_of(const PtxStatement& s) {
  if (!s.is_instruction("ld") && !s.is_instruction("ldu") && !s.is_instruction("st")) return std::nullopt;
  PtxAccess a;
  a.load = !s.is_instruction("st");
  if (s.has_any({"shared", "shared::cta"})) a.space = PtxSpace::kShared;
  else if (s.has("local")) a.space = PtxSpace::kLocal;
  else if (!s.has("global")) return std::nullopt;
  a.weak = !s.has_any({"volatile", "relaxed", "acquire", "release", "mmio"});
  a.bytes = bits_of(s.type()) / 8;
  a.elements = s.has("v2") ? 2 : s.has("v4") ? 4 : s.has("v8") ? 8 : 1;
  if (a.bytes == 0 || s.operands.size() < 2) return std::nullopt;
  a.address = s.operands[a.load ? 1 : 0];
  const auto address = address_of(a.address);
  if (!address) return std::nullopt;
  std::tie(a.base, a.offset) = *address;
  std::string_view values = s.operands[a.load ? 0 : 1];
  if (values.front() == '{') values = values.substr(1, values.size() - 2);
  a.values = operands_of(values);
  return a;
}

std::string PtxEdits::applied_to(std::string_view text) && {
  std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::string out;
  size_t at = 0;
  for (const Edit& edit : edits_) {
    out += text.substr(at, edit.begin - at);
    out += edit.by;
    at = edit.end;
  }
  return out += text.substr(at);
}

}  // namespace hone::diagnose
