#include "hone/target/ttir/text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace hone::target::ttir {
namespace {

constexpr int kDeepest = 64;            ///< regions in regions
constexpr int64_t kMostLanes = 1 << 22; ///< Triton's own limit is 2^20

/// Where each "#locN" of the text is in the user's file; calls are where they are called from.
class Locations {
 public:
  explicit Locations(std::string_view text) {
    for (size_t at = 0; (at = text.find("\n#loc", at)) != std::string_view::npos;) {
      ++at;
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, end - at);
      if (const size_t equals = line.find(" = loc("); equals != std::string_view::npos) bodies_[std::string(line.substr(0, equals))] = line.substr(equals + 3);
      at = end;
    }
    if (text.starts_with("#loc")) {
      const std::string_view line = text.substr(0, text.find('\n'));
      if (const size_t equals = line.find(" = loc("); equals != std::string_view::npos) bodies_[std::string(line.substr(0, equals))] = line.substr(equals + 3);
    }
  }

  /// Of "loc(#loc3)" or "loc("kernel.py":3:4)" and the like.
  [[nodiscard]] int line_of(std::string_view location, int depth = 0) const {
    if (depth > 24) return 0;
    // Code inlined from a helper of the library counts where it is called.
    if (const size_t file = location.find("kernel.py\":"); file != std::string_view::npos) return std::atoi(std::string(location.substr(file + 11, 12)).c_str());
    int found = 0;
    for (size_t at = 0; (at = location.find("#loc", at)) != std::string_view::npos && found == 0;) {
      size_t end = at + 4;
      while (end < location.size() && std::isdigit(static_cast<unsigned char>(location[end]))) ++end;
      const auto it = bodies_.find(location.substr(at, end - at));
      if (it != bodies_.end()) {
        // Each name is looked into once: where each of a row names the next twice, every step would double the work.
        const auto [known, fresh] = lines_.try_emplace(it->first, 0);
        if (fresh) known->second = line_of(it->second, depth + 1);
        found = known->second;
      }
      at = end;
    }
    return found;
  }

 private:
  std::map<std::string, std::string_view, std::less<>> bodies_;
  mutable std::map<std::string, int, std::less<>> lines_;   ///< of names that were looked into
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), locations_(text) {}

  void read(Module& into) {
    while (at_ < text_.size()) {
      if (!look("tt.func")) {
        ++at_;
        continue;
      }
      into.functions.push_back(function());
    }
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    const size_t begin = std::min(at_, text_.size());
    std::string near(text_.substr(begin, 60));
    std::replace(near.begin(), near.end(), '\n', ' ');
    throw Unreadable{what + " near \"" + near + "\""};
  }

  void space() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
      else if (text_.substr(at_, 2) == "//") at_ = std::min(text_.find('\n', at_), text_.size());
      else break;
    }
  }
  [[nodiscard]] bool look(std::string_view token) {
    space();
    return text_.substr(at_, token.size()) == token;
  }
  bool take(std::string_view token) {
    if (!look(token)) return false;
    at_ += token.size();
    return true;
  }
  void need(std::string_view token) {
    if (!take(token)) bad("expected " + std::string(token));
  }
  [[nodiscard]] static bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$'; }
  [[nodiscard]] std::string word() {
    space();
    const size_t begin = at_;
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string quoted() {
    need("\"");
    std::string all;
    while (at_ < text_.size() && text_[at_] != '"') all += text_[at_++];
    need("\"");
    return all;
  }
  [[nodiscard]] int64_t integer() {
    space();
    char* end = nullptr;
    const std::string digits(text_.substr(at_, 24));
    const int64_t value = std::strtoll(digits.c_str(), &end, 10);
    if (end == digits.c_str()) bad("expected a number");
    at_ += static_cast<size_t>(end - digits.c_str());
    return value;
  }

  /// Raw text up to one of `ends` outside of brackets and quotes, which is not taken.
  std::string until(std::string_view ends) {
    space();
    const size_t begin = at_;
    int depth = 0;
    bool quote = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote) {
        if (c == '\\') ++at_;
        else quote = c != '"';
        continue;
      }
      if (depth == 0 && ends.find(c) != std::string_view::npos) break;
      if (c == '"') quote = true;
      const bool arrow = c == '>' && at_ > 0 && text_[at_ - 1] == '-';
      if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
      if ((c == ')' || c == ']' || c == '}' || c == '>') && !arrow) --depth;
    }
    std::string all(text_.substr(begin, std::min(at_, text_.size()) - begin));
    while (!all.empty() && std::isspace(static_cast<unsigned char>(all.back()))) all.pop_back();
    return all;
  }

  // --- types ---
  [[nodiscard]] static Elem scalar_named(const std::string& name) {
    static const std::map<std::string, Elem, std::less<>> kNames = {
        {"i1", Elem::kI1}, {"i8", Elem::kI8}, {"i16", Elem::kI16}, {"i32", Elem::kI32}, {"i64", Elem::kI64}, {"index", Elem::kI64},
        {"f8E4M3FN", Elem::kF8E4}, {"f8E5M2", Elem::kF8E5}, {"f16", Elem::kF16}, {"bf16", Elem::kBF16}, {"f32", Elem::kF32}, {"f64", Elem::kF64}};
    const auto it = kNames.find(name);
    return it == kNames.end() ? Elem::kNone : it->second;
  }

  void dimensions(Type& type) {
    space();
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      type.shape.push_back(integer());
      if (type.shape.back() <= 0 || type.shape.back() > kMostLanes) bad("a tensor's extent is out of range");
      need("x");
    }
    int64_t lanes = 1;
    for (const int64_t extent : type.shape)
      if (lanes = lanes * extent; lanes > kMostLanes) bad("a tensor has too many elements");
  }

  Type type() {
    Type type;
    if (take("tensor<")) {
      type.tensor = true;
      dimensions(type);
      const Type element = this->type();
      if (element.tensor || element.elem == Elem::kDescriptor) bad("a tensor of tensors");
      type.elem = element.elem;
      type.pointee = element.pointee;
      if (take(",")) until(">");
      need(">");
      return type;
    }
    // Where an operation takes nothing else, a pointer is written <f32> and a descriptor <32x16xf32>.
    const bool bare = look("<");
    const bool bare_block = bare && at_ + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + 1]));
    if (take("!tt.ptr<") || (bare && !bare_block && take("<"))) {
      type.elem = Elem::kPointer;
      const Type to = this->type();
      if (to.tensor) bad("block pointers are not interpreted");
      type.pointee = to.elem;
      if (take(",")) until(">");
      need(">");
      return type;
    }
    if (take("!tt.tensordesc<") || (bare_block && take("<"))) {
      type.elem = Elem::kDescriptor;
      if (look("tensor<")) {
        const Type block = this->type();
        type.shape = block.shape;
        type.pointee = block.elem;
      } else {
        dimensions(type);
        type.pointee = this->type().elem;
      }
      if (take(",")) until(">");
      need(">");
      return type;
    }
    const std::string name = word();
    type.elem = scalar_named(name);
    if (type.elem == Elem::kNone) bad("the type " + (name.empty() ? std::string("here") : name) + " is not interpreted,");
    return type;
  }

  /// Of "(a, b) -> (c, d)", "a, b", "a * b -> c", "a to b": all types in order.
  void types(std::vector<Type>& into) {
    for (int guard = 0; guard < 4096; ++guard) {
      if (take("(")) {
        while (!look(")")) {
          into.push_back(type());
          if (!take(",")) break;
        }
        need(")");
      } else {
        into.push_back(type());
      }
      if (take(",") || take("->") || take("*")) continue;
      if (look("to ")) {
        at_ += 3;
        continue;
      }
      return;
    }
  }

  // --- values ---
  [[nodiscard]] std::string value_name() {
    need("%");
    std::string name = word();
    // "%c-1_i64": a constant's name has its sign.
    while (at_ + 1 < text_.size() && text_[at_] == '-' && in_word(text_[at_ + 1])) {
      ++at_;
      name += "-" + word();
    }
    if (take("#")) return "%" + name + "#" + std::to_string(integer());
    return "%" + name;
  }
  int define(const std::string& name) {
    const int number = values_++;
    if (values_ > 1 << 20) bad("too many values");
    scopes_.back()[name] = number;
    return number;
  }
  int use(const std::string& name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto it = scope->find(name); it != scope->end()) return it->second;
    // "%x#0" of an operation with one result is the result.
    if (name.ends_with("#0")) return use(name.substr(0, name.size() - 2));
    bad("the value " + name + " is not there");
  }
  int operand() { return use(value_name()); }

  int location() {
    if (!look("loc(")) return 0;
    at_ += 4;
    const std::string body = until(")");
    need(")");
    return locations_.line_of(body);
  }

  void dictionary(std::map<std::string, std::string, std::less<>>& into) {
    need("{");
    while (!take("}")) {
      std::string key = look("\"") ? quoted() : word();
      if (key.empty()) bad("expected an attribute's name");
      into[key] = take("=") ? until(",}") : "";
      take(",");
    }
  }

  // --- operations ---
  Function function() {
    Function function;
    need("tt.func");
    for (const char* word : {"public", "private"}) take(word);
    need("@");
    function.name = look("\"") ? quoted() : word();
    scopes_.assign(1, {});
    values_ = 0;
    Block entry;
    need("(");
    while (!take(")")) {
      const std::string name = value_name();
      need(":");
      function.types.push_back(type());
      entry.arguments.push_back(define(name));
      function.divisible.push_back(1);
      if (look("{")) {
        std::map<std::string, std::string, std::less<>> attributes;
        dictionary(attributes);
        if (const auto it = attributes.find("tt.divisibility"); it != attributes.end()) function.divisible.back() = std::max(1, std::atoi(it->second.c_str()));
      }
      location();
      take(",");
    }
    if (take("->")) types(function.results);
    if (take("attributes")) {
      std::map<std::string, std::string, std::less<>> ignored;
      dictionary(ignored);
    }
    function.body = region(std::move(entry));
    location();
    function.values = values_;
    return function;
  }

  /// "{ … }" with a first block that has its arguments already.
  Region region(Block first) {
    if (++depth_ > kDeepest) bad("regions nest too deeply");
    need("{");
    scopes_.emplace_back();
    std::map<std::string, int> labels;
    Region blocks;
    blocks.push_back(std::move(first));
    // Names of blocks may be used before the block: branches hold numbers given at first sight.
    const auto label = [&](const std::string& name) { return labels.emplace(name, static_cast<int>(labels.size()) + 1).first->second; };
    std::map<int, size_t> places;
    while (!take("}")) {
      if (look("^")) {
        ++at_;
        const std::string name = word();
        Block block;
        if (take("(")) {
          while (!take(")")) {
            const std::string value = value_name();
            need(":");
            (void)type();
            block.arguments.push_back(define(value));
            location();
            take(",");
          }
        }
        need(":");
        const bool again = blocks.size() == 1 && blocks[0].ops.empty() && blocks[0].arguments.empty() && labels.empty();
        places[label(name)] = again ? 0 : blocks.size();
        if (again) blocks[0] = std::move(block);
        else blocks.push_back(std::move(block));
        continue;
      }
      blocks.back().ops.push_back(operation(label));
      if (blocks.back().ops.size() > 1 << 17) bad("too many operations");
    }
    for (Block& block : blocks)
      for (Op& op : block.ops)
        for (auto& [target, values] : op.targets) {
          const auto it = places.find(target);
          if (it == places.end()) bad("a branch goes to no block");
          target = static_cast<int>(it->second);
        }
    scopes_.pop_back();
    --depth_;
    return blocks;
  }

  template <typename Label>
  Op operation(const Label& label) {
    std::vector<std::pair<std::string, int64_t>> names;
    if (look("%")) {
      do {
        const std::string name = value_name();
        names.emplace_back(name, take(":") ? integer() : 1);
        if (names.back().second < 1 || names.back().second > 1024) bad("a strange number of results");
      } while (take(","));
      need("=");
    }
    Op op;
    if (look("\"")) {
      op.name = quoted();
      generic(op);
    } else {
      op.name = word();
      if (op.name.empty()) bad("expected an operation");
      if (op.name == "scf.for") loop(op);
      else if (op.name == "scf.if") choice(op);
      else if (op.name == "scf.while") while_loop(op);
      else if (op.name == "cf.br" || op.name == "cf.cond_br") branch(op, label);
      else if (op.name == "arith.constant") constant(op);
      else plain(op);
    }
    op.line = location();
    for (const auto& [name, count] : names) {
      if (count == 1) {
        op.results.push_back(define(name));
        continue;
      }
      for (int64_t i = 0; i < count; ++i) op.results.push_back(define(name + "#" + std::to_string(i)));
    }
    return op;
  }

  /// name operands words attributes : types
  void plain(Op& op) {
    for (int guard = 0; guard < 1 << 14; ++guard) {
      space();
      if (at_ >= text_.size()) bad("the text ends within an operation");
      const char c = text_[at_];
      if (c == '%') op.operands.push_back(operand());
      else if (c == '[') ++at_;
      else if (c == ']' || c == '(' || c == ')' || c == ',') {
        if (look("loc(")) break;
        ++at_;
      } else if (c == '{') dictionary(op.attributes);
      else if (c == ':') {
        ++at_;
        types(op.types);
        return;
      } else if (c == '-' && look("->")) {
        at_ += 2;
        types(op.types);
        return;
      } else if (look("loc(")) return;
      else if (c == '"') op.words.push_back(quoted());
      else if (c == '<') until(",:"), ++at_;
      else if (c == '@') ++at_, op.words.push_back("@" + (look("\"") ? quoted() : word()));
      else if (c == '}' || c == '^') return;
      else {
        const std::string name = word();
        if (name.empty()) bad(op.name + " is written in a way that is not interpreted,");
        if (look("<")) {  // overflow<nsw>, fastmath<fast>
          ++at_;
          until(">");
          need(">");
          continue;
        }
        if (name == "scale") op.attributes["scale " + std::to_string(op.operands.size())] = "";  // the next operand scales the one before
        else if (take("=")) op.attributes[name] = look("%") ? std::to_string(operand()) : word();
        else if (name.find('.') != std::string::npos) {  // the next operation: this one had no types (tt.return)
          at_ -= name.size();
          return;
        } else op.words.push_back(name);
      }
    }
    bad("an operation is too long");
  }

  void constant(Op& op) {
    if (look("{")) dictionary(op.attributes);
    space();
    const size_t begin = at_;
    if (take("true") || take("false")) {
      op.literal = std::string(text_.substr(begin, at_ - begin));
      op.types.push_back({Elem::kI1, Elem::kNone, false, {}});
      return;
    }
    if (take("dense<")) {
      op.literal = until(">");
      need(">");
    } else {
      op.literal = until(":");
    }
    need(":");
    types(op.types);
  }

  /// "name"(operands) <{attributes}> ({ regions }) : types
  void generic(Op& op) {
    need("(");
    while (!take(")")) {
      op.operands.push_back(operand());
      take(",");
    }
    if (look("[")) bad(op.name + " with successors is not interpreted,");
    if (take("<{")) {
      --at_;
      dictionary(op.attributes);
      need(">");
    }
    if (take("(")) {
      do op.regions.push_back(region({}));
      while (take(","));
      need(")");
    }
    if (look("{")) dictionary(op.attributes);
    need(":");
    types(op.types);
  }

  /// %i = %a to %b step %c iter_args(%x = %y, …) -> (types) : i32 { … }
  void loop(Op& op) {
    scopes_.emplace_back();
    if (take("unsigned")) op.words.emplace_back("unsigned");
    Block body;
    const std::string induction = value_name();
    need("=");
    for (const char* after : {"to", "step", ""}) {
      op.operands.push_back(operand());
      if (*after) need(after);
    }
    std::vector<std::string> carried;
    if (take("iter_args")) {
      need("(");
      while (!take(")")) {
        carried.push_back(value_name());
        need("=");
        op.operands.push_back(operand());
        take(",");
      }
      need("->");
      types(op.types);
    }
    body.arguments.push_back(define(induction));
    for (const std::string& name : carried) body.arguments.push_back(define(name));
    Type counter{Elem::kI64, Elem::kNone, false, {}};
    if (take(":")) counter = type();
    op.types.push_back(counter);
    op.regions.push_back(region(std::move(body)));
    if (look("{")) dictionary(op.attributes);
    scopes_.pop_back();
  }

  void choice(Op& op) {
    op.operands.push_back(operand());
    if (take("->")) types(op.types);
    op.regions.push_back(region({}));
    if (take("else")) op.regions.push_back(region({}));
    if (look("{")) dictionary(op.attributes);
  }

  void while_loop(Op& op) {
    scopes_.emplace_back();
    Block before;
    std::vector<std::string> names;
    if (take("(")) {
      while (!take(")")) {
        names.push_back(value_name());
        need("=");
        op.operands.push_back(operand());
        take(",");
      }
    }
    need(":");
    types(op.types);
    for (const std::string& name : names) before.arguments.push_back(define(name));
    op.regions.push_back(region(std::move(before)));
    need("do");
    op.regions.push_back(region({}));
    if (take("attributes")) dictionary(op.attributes);
    scopes_.pop_back();
  }

  template <typename Label>
  void branch(Op& op, const Label& label) {
    if (op.name == "cf.cond_br") {
      op.operands.push_back(operand());
      if (look("weights")) bad("branch weights are not interpreted,");
      need(",");
    }
    do {
      need("^");
      std::pair<int, std::vector<int>> target{label(word()), {}};
      if (take("(")) {
        while (!look(":")) {
          target.second.push_back(operand());
          take(",");
        }
        need(":");
        std::vector<Type> ignored;
        types(ignored);
        need(")");
      }
      op.targets.push_back(std::move(target));
    } while (take(","));
  }

  std::string_view text_;
  size_t at_ = 0;
  Locations locations_;
  std::vector<std::map<std::string, int, std::less<>>> scopes_;
  int values_ = 0;
  int depth_ = 0;
};

}  // namespace

const Function* Module::find(std::string_view name) const {
  for (const Function& function : functions)
    if (function.name == name) return &function;
  return nullptr;
}

Module read_module(std::string_view text) {
  Module module;
  // Each "module {" of several has locations of its own.
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t next = text.find("\nmodule", at);
    if (next == std::string_view::npos) break;
    // The text of a module begins at its first #loc line and goes up to the next module's first.
    const size_t following = text.find("\n#loc = ", next);
    const size_t end = following == std::string_view::npos ? text.size() : following + 1;
    Reader(text.substr(begin, end - begin)).read(module);
    begin = at = end;
  }
  if (module.functions.empty()) throw Unreadable{"the text holds no function"};
  return module;
}

}  // namespace hone::target::ttir
