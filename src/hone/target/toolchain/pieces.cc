#include "hone/target/toolchain/pieces.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

namespace hone::target {
namespace {

using Names = std::set<std::string, std::less<>>;

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

struct Block {
  std::string name;
  std::string text;            ///< of the whole source's lines: those that are not its own are empty
  Names names;                 ///< in it
};

/// Walks over C++ as far as pieces need it. What it does not know for sure ends in `unknown`.
class Divider {
 public:
  explicit Divider(std::string_view source) : source_(source), outside_{{}, blank(source), {}} {}

  bool divide() {
    while (!unknown_ && at_ < source_.size()) {
      const char c = source_[at_];
      if (std::isspace(static_cast<unsigned char>(c))) ++at_;
      else if (skip_comment()) continue;
      else if (c == '#') directive(outside_);
      else open_namespace();
    }
    return !unknown_;
  }
  [[nodiscard]] const Block& outside() const { return outside_; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }

 private:
  /// So many lines, and nothing in them.
  static std::string blank(std::string_view text) {
    std::string lines(text);
    std::replace_if(lines.begin(), lines.end(), [](char c) { return c != '\n'; }, ' ');
    return lines;
  }

  bool skip_comment() {
    const bool line = source_.substr(at_).starts_with("//"), block = source_.substr(at_).starts_with("/*");
    if (!line && !block) return false;
    const size_t end = source_.find(line ? "\n" : "*/", at_ + 2);
    // A comment that goes on behind a backslash is rare enough.
    if (end == std::string_view::npos || (line && source_[end - 1] == '\\')) unknown_ |= block || end != std::string_view::npos;
    at_ = end == std::string_view::npos ? source_.size() : end + (line ? 0 : 2);
    return true;
  }

  std::string_view name() {
    const size_t begin = at_;
    while (at_ < source_.size() && in_name(source_[at_])) ++at_;
    return source_.substr(begin, at_ - begin);
  }
  void skip_blanks() {
    while (at_ < source_.size() && (source_[at_] == ' ' || source_[at_] == '\t')) ++at_;
  }

  void keep(Block& block, size_t begin, size_t end) { block.text.replace(begin, end - begin, source_.substr(begin, end - begin)); }

  /// A whole line. `defines`: of macros that are to end in their block; none outside of blocks, where macros are everybody's.
  void directive(Block& block, Names* defines = nullptr) {
    const size_t begin = at_++;
    skip_blanks();
    const std::string_view word = name();
    skip_blanks();
    const std::string macro(name());
    if (defines && word == "define") unknown_ |= !defines->insert(macro).second;
    else if (defines && word == "undef") unknown_ |= defines->erase(macro) == 0;
    else unknown_ |= word != "pragma" && (defines || (word != "include" && word != "define"));
    block.names.insert(macro);
    while (at_ < source_.size() && source_[at_] != '\n') {
      if (in_name(source_[at_])) block.names.emplace(name());
      else if (source_[at_] == '\\' || source_.substr(at_).starts_with("/*")) unknown_ = true;
      else ++at_;
      if (unknown_) return;
    }
    keep(block, begin, at_);
  }

  /// namespace NAME { … }, which is all that there may be.
  void open_namespace() {
    const size_t begin = at_;
    if (name() != "namespace") return void(unknown_ = true);
    skip_blanks();
    const std::string called(name());
    skip_blanks();
    if (called.empty() || at_ >= source_.size() || source_[at_] != '{') return void(unknown_ = true);
    auto block = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.name == called; });
    if (block == blocks_.end()) block = blocks_.insert(blocks_.end(), {called, blank(source_), {}});
    Names defines;
    int depth = 0;
    bool at_line = false;
    while (!unknown_ && at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '#' && at_line) {
        directive(*block, &defines);
        continue;
      }
      at_line = c == '\n' || (at_line && std::isspace(static_cast<unsigned char>(c)));
      if (skip_comment()) continue;
      if (c == '"' || c == '\'') quoted(c);
      else if (in_name(c)) block->names.emplace(named());
      else ++at_;
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (c == '}' && depth == 0) break;
    }
    unknown_ |= depth != 0 || !defines.empty();
    keep(*block, begin, at_);
  }

  /// A name, or a number with what may stand in it; before a quote it may be a raw string's.
  std::string_view named() {
    const size_t begin = at_;
    const bool number = std::isdigit(static_cast<unsigned char>(source_[at_])) != 0;
    while (at_ < source_.size() && (in_name(source_[at_]) || (number && source_[at_] == '\''))) ++at_;
    unknown_ |= at_ < source_.size() && source_[at_] == '"' && source_[at_ - 1] == 'R';
    return source_.substr(begin, at_ - begin);
  }

  void quoted(char quote) {
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_)
      if (source_[at_] == '\\') ++at_;
      else if (source_[at_] == '\n') unknown_ = true;
    if (at_++ >= source_.size()) unknown_ = true;
  }

  std::string_view source_;
  size_t at_ = 0;
  bool unknown_ = false;
  Block outside_;
  std::vector<Block> blocks_;
};

/// What either has on a line, whose number it keeps; how long the lines were that neither has is no difference.
std::string together(std::string_view one, std::string_view other) {
  std::string text;
  for (size_t i = 0; i < one.size(); ++i) {
    if (one[i] == '\n') text.erase(text.find_last_not_of(' ') + 1);
    text += one[i] == ' ' ? other[i] : one[i];
  }
  return text;
}

}  // namespace

std::vector<kernel::Kernel> pieces_of(const kernel::Kernel& kernel) {
  Divider all(kernel.source);
  if (!all.divide() || all.blocks().size() < 2) return {};
  std::vector<kernel::Kernel> pieces;
  size_t launches = 0;
  for (const Block& block : all.blocks()) {
    const bool names_another = std::ranges::any_of(all.blocks(), [&](const Block& other) { return other.name != block.name && block.names.contains(other.name); });
    if (names_another || all.outside().names.contains(block.name)) return {};
    kernel::Kernel piece = kernel;
    const auto unknown = [&](std::string_view name) { return !block.names.contains(name) && !all.outside().names.contains(name); };
    piece.source = together(block.text, all.outside().text);
    std::erase_if(piece.config, [&](const auto& tunable) { return unknown(tunable.first); });
    std::erase_if(piece.header.specialise, [&](const std::string& symbol) { return unknown(symbol); });
    std::erase_if(piece.header.launches, [&](const kernel::Launch& launch) { return !launch.function.starts_with(block.name + "::"); });
    launches += piece.header.launches.size();
    if (!piece.header.launches.empty()) pieces.push_back(std::move(piece));
  }
  // Each launch has its place, or nobody knows where its function is.
  if (launches != kernel.header.launches.size() || pieces.size() < 2) return {};
  return pieces;
}

}  // namespace hone::target
