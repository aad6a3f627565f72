#include "hone/target/toolchain/source_check.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

namespace hone::target {
namespace {

constexpr std::string_view kAssembly[] = {"asm", "__asm", "__asm__"};
constexpr std::string_view kAttributes[] = {"__attribute__", "__attribute", "__declspec"};
/// What a compiler knows of a value or an object is more, or less, in a build with sanitizers; where a call stands on the stack, and who
/// called it, differs between programs.
constexpr std::string_view kQuestions[] = {"__builtin_constant_p", "__builtin_object_size", "__builtin_dynamic_object_size", "__builtin_frame_address",
                                           "__builtin_return_address", "__builtin_extract_return_addr", "__builtin_dwarf_cfa", "__builtin_stack_address"};
/// What else is on the machine that builds: another kernel there.
constexpr std::string_view kOtherFiles[] = {"__has_include", "__has_include_next", "__has_embed"};

bool in_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

struct Lexeme {
  enum class Kind : uint8_t { kName, kString, kOther } kind;
  std::string_view text;       ///< of a string: between its quotes, as it is written
  bool plain = true;           ///< of a string: it is not raw
};

/// Tokens of preprocessed text, comments gone; a number's suffix or exponent may come as a name, which harms nobody.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  bool next(Lexeme& token) {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    if (at_ >= text_.size()) return false;
    const size_t begin = at_;
    if (in_identifier(text_[at_])) {
      const bool number = std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
      // 1'000 is one number, not a character.
      while (at_ < text_.size() && (in_identifier(text_[at_]) || (number && text_[at_] == '\''))) ++at_;
      token = {Lexeme::Kind::kName, text_.substr(begin, at_ - begin)};
      if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'') && !number && is_prefix(token.text)) return quoted(token, token.text.ends_with('R'));
      return true;
    }
    if (text_[at_] == '"' || text_[at_] == '\'') return quoted(token, false);
    token = {Lexeme::Kind::kOther, text_.substr(at_++, 1)};
    return true;
  }

 private:
  static bool is_prefix(std::string_view name) {
    constexpr std::string_view kPrefixes[] = {"L", "u", "U", "u8", "R", "LR", "uR", "UR", "u8R"};
    return is_one_of(kPrefixes, name);
  }

  bool quoted(Lexeme& token, bool raw) {
    const char quote = text_[at_++];
    const size_t begin = at_;
    if (raw && quote == '"') {
      const size_t open = std::min(text_.find('(', at_), text_.size());
      const std::string close = fmt::format("){}\"", text_.substr(at_, open - at_));
      const size_t end = std::min(text_.find(close, open), text_.size());
      token = {Lexeme::Kind::kString, text_.substr(std::min(open + 1, end), end - std::min(open + 1, end)), false};
      at_ = std::min(end + close.size(), text_.size());
      return true;
    }
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    token = {quote == '"' ? Lexeme::Kind::kString : Lexeme::Kind::kOther, text_.substr(begin, at_ - begin)};
    if (at_ < text_.size()) ++at_;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// The kernel's own lines.
std::string own_text(std::string_view preprocessed) {
  std::string own;
  bool ours = true;
  for (size_t at = 0; at < preprocessed.size();) {
    const size_t end = std::min(preprocessed.find('\n', at), preprocessed.size());
    const std::string_view line = preprocessed.substr(at, end - at);
    if (line.size() > 2 && line[0] == '#' && line[1] == ' ' && std::isdigit(static_cast<unsigned char>(line[2]))) {
      const size_t name = line.find('"');
      ours = name == std::string_view::npos || name + 1 >= line.size() || line[name + 1] != '/';
    } else if (ours) {
      own.append(line).push_back('\n');
    }
    at = end + 1;
  }
  return own;
}

/// What an attribute's text may be made of: names, versions, options.
bool is_harmless(const Lexeme& text) {
  return text.plain && std::all_of(text.text.begin(), text.text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_.,=+-: ").find(c) != std::string_view::npos;
  });
}

class Judge {
 public:
  explicit Judge(std::string_view text) {
    Lexer lexer(text);
    for (Lexeme token{}; lexer.next(token);) tokens_.push_back(token);
  }

  std::string judge() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Lexeme& token = tokens_[i];
      if (is_punctuation(i, '[') && is_punctuation(i + 1, '[') && carries_assembly(i, '[', ']')) return attribute_words();
      if (token.kind != Lexeme::Kind::kName) continue;
      if (is_one_of(kAssembly, token.text) && is_empty_statement(i) && says_that_it_writes(i))
        return "it has an empty assembly statement that says that it writes (\"=…\"): what it hands over is whatever was there before";
      if (is_one_of(kAssembly, token.text) && !is_empty_statement(i))
        return fmt::format("it has inline assembly ({}): no check can look into that; <immintrin.h> has what the processor can do", statement(i));
      if (is_one_of(kAttributes, token.text) && carries_assembly(i + 1, '(', ')')) return attribute_words();
      if (is_one_of(kQuestions, token.text))
        return fmt::format("it asks {}, whose answer may be another in a build that is watched or in another program", token.text);
    }
    return {};
  }

 private:
  static std::string attribute_words() { return "an attribute of its has more than a name in its text: that reaches the assembler as it is"; }
  [[nodiscard]] bool is_punctuation(size_t i, char c) const {
    return i < tokens_.size() && tokens_[i].kind == Lexeme::Kind::kOther && tokens_[i].text.size() == 1 && tokens_[i].text[0] == c;
  }

  /// asm volatile("" : …): what orders the compiler about and is no instruction.
  [[nodiscard]] bool is_empty_statement(size_t i) const {
    for (++i; i < tokens_.size() && tokens_[i].kind == Lexeme::Kind::kName;) ++i;
    if (!is_punctuation(i++, '(')) return false;
    const size_t first = i;
    for (; i < tokens_.size() && tokens_[i].kind == Lexeme::Kind::kString; ++i)
      if (!tokens_[i].text.empty()) return false;
    return i > first && (is_punctuation(i, ')') || is_punctuation(i, ':'));
  }
  /// Of an empty statement: whether it has a result that is none of its operands. "+r" and "=r" with "0" hand an operand on.
  [[nodiscard]] bool says_that_it_writes(size_t i) const {
    bool writes = false, hands_on = false;
    for (; i < tokens_.size() && !is_punctuation(i, ';'); ++i) {
      if (tokens_[i].kind != Lexeme::Kind::kString || tokens_[i].text.empty()) continue;
      writes |= tokens_[i].text.front() == '=';
      hands_on |= std::isdigit(static_cast<unsigned char>(tokens_[i].text.front())) != 0;
    }
    return writes && !hands_on;
  }
  [[nodiscard]] std::string statement(size_t i) const {
    for (; i < tokens_.size() && !is_punctuation(i, ';'); ++i)
      if (tokens_[i].kind == Lexeme::Kind::kString) return fmt::format("\"{}\"", tokens_[i].text.substr(0, 40));
    return "asm";
  }

  [[nodiscard]] bool carries_assembly(size_t i, char open, char close) const {
    for (int depth = 0; i < tokens_.size(); ++i) {
      if (is_punctuation(i, open)) ++depth;
      if (is_punctuation(i, close) && --depth == 0) return false;
      if (depth == 0) return false;
      if (tokens_[i].kind == Lexeme::Kind::kString && !is_harmless(tokens_[i])) return true;
    }
    return false;
  }

  std::vector<Lexeme> tokens_;
};

/// Behind blanks and whole comments.
std::string_view behind_blanks(std::string_view line) {
  for (;;) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line[0]))) line.remove_prefix(1);
    const size_t end = line.starts_with("/*") ? line.find("*/", 2) : std::string_view::npos;
    if (end == std::string_view::npos) return line;
    line.remove_prefix(end + 2);
  }
}

/// What stands behind a line's # at its beginning; empty where there is none.
std::string_view directive_of(std::string_view line) {
  line = behind_blanks(line);
  const size_t mark = line.starts_with("#") ? 1 : line.starts_with("%:") ? 2 : line.starts_with("?\?=") ? 3 : 0;
  return mark == 0 ? std::string_view() : behind_blanks(line.substr(mark));
}

/// Whether a directive hangs on files of the machine that are no headers, or on whether there are such.
bool looks_for_files(std::string_view line) {
  line = directive_of(line);
  if (line.starts_with("embed") && (line.size() == 5 || !in_identifier(line[5]))) return true;
  for (size_t begin = 0; begin < line.size();) {
    size_t end = begin;
    while (end < line.size() && in_identifier(line[end])) ++end;
    if (is_one_of(kOtherFiles, line.substr(begin, end - begin))) return true;
    begin = std::max(end, begin + 1);
  }
  return false;
}

/// `# 7 "file"`, `#line 7`, or a directive with a comment in its midst that hides which it is.
bool is_line_directive(std::string_view line) {
  line = directive_of(line);
  if (line.starts_with("/*")) return true;
  if (line.starts_with("line")) return line.size() == 4 || !in_identifier(line[4]);
  if (line.empty() || !std::isdigit(static_cast<unsigned char>(line[0]))) return false;
  line.remove_prefix(std::min(line.find_first_not_of("0123456789'"), line.size()));
  line = behind_blanks(line);
  return line.empty() || line.starts_with("\"") || line.starts_with("/*") || line.starts_with("//");
}

/// Whether a directive of the line is such a one; it may follow the end of a comment that began lines before.
bool has_directive(std::string_view line, bool (*is)(std::string_view)) {
  if (is(line)) return true;
  for (size_t at = 0; (at = line.find("*/", at)) != std::string_view::npos;)
    if (is(line.substr(at += 2))) return true;
  return false;
}

}  // namespace

std::string refuse_directives(std::string_view source) {
  std::string text(source);
  for (const std::string_view splice : {"\\\r\n", "\\\n"})
    for (size_t at; (at = text.find(splice)) != std::string::npos;) text.erase(at, splice.size());
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (has_directive(line, is_line_directive)) return "it has a #line of its own: what is said of its lines could not be believed";
    if (has_directive(line, looks_for_files)) return "it asks which files there are where it is built, or reads one: a kernel is the same everywhere";
    at = end + 1;
  }
  return {};
}

std::string refuse_text(std::string_view preprocessed) {
  const std::string own = own_text(preprocessed);
  return Judge(own).judge();
}

}  // namespace hone::target
