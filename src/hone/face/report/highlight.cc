#include "hone/face/report/highlight.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace hone::face::report {
namespace {

using Names = std::set<std::string, std::less<>>;

const Names& cpp_words() {
  static const Names kWords{"alignas",      "asm",
                            "auto",         "break",
                            "case",         "class",
                            "concept",      "const",
                            "constexpr",    "continue",
                            "decltype",     "default",
                            "delete",       "do",
                            "else",         "enum",
                            "explicit",     "extern",
                            "false",        "for",
                            "friend",       "goto",
                            "if",           "inline",
                            "namespace",    "new",
                            "noexcept",     "nullptr",
                            "operator",     "private",
                            "public",       "register",
                            "requires",     "restrict",
                            "return",       "sizeof",
                            "static",       "struct",
                            "switch",       "template",
                            "this",         "true",
                            "typedef",      "typename",
                            "union",        "using",
                            "virtual",      "volatile",
                            "while",        "__device__",
                            "__global__",   "__shared__",
                            "__constant__", "__host__",
                            "__restrict__", "__kernel",
                            "__global",     "__local",
                            "__private",    "kernel",
                            "static_cast",  "reinterpret_cast"};
  return kWords;
}

const Names& python_words() {
  static const Names kWords{
      "and",  "as",     "assert", "async", "await", "break",  "class", "continue", "def",   "del",  "elif",
      "else", "except", "False",  "for",   "from",  "global", "if",    "import",   "in",    "is",   "lambda",
      "None", "not",    "or",     "pass",  "raise", "return", "True",  "try",      "while", "with", "yield"};
  return kWords;
}

bool is_type(std::string_view word) {
  static const Names kTypes{"void",   "bool",   "char",    "int",      "long",   "short",   "float",
                            "double", "half",   "signed",  "unsigned", "size_t", "dim3",    "uint",
                            "float2", "float4", "double2", "half2",    "__half", "__half2", "__nv_bfloat16",
                            "f16v",   "f32v",   "f64v",    "i8v",      "i16v",   "i32v",    "i64v"};
  return kTypes.contains(word) || (word.ends_with("_t") && word.find("int") != std::string_view::npos);
}

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Scanner {
 public:
  Scanner(std::string_view source, std::string_view language, const Names& tunables)
      : text_(source), python_(language == "triton" || language == "tilelang"), tunables_(tunables) {}

  Markup run() {
    out_.raw("<span class=\"line\">");
    while (at_ < text_.size()) step();
    out_.raw("</span>");
    return std::move(out_).markup();
  }

 private:
  [[nodiscard]] char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool here(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  /// The end of what closes with `mark`, from `from` on.
  [[nodiscard]] size_t after(std::string_view mark, size_t from) const {
    const size_t found = text_.find(mark, from);
    return found == std::string_view::npos ? text_.size() : found + mark.size();
  }
  [[nodiscard]] size_t line_end() const { return std::min(text_.find('\n', at_), text_.size()); }

  /// Writes up to `end` in one class, which is closed and opened again around line breaks.
  void emit(std::string_view style, size_t end) {
    while (at_ < end) {
      const size_t stop = std::min(end, line_end());
      if (stop > at_) {
        const std::string_view piece = text_.substr(at_, stop - at_);
        style.empty() ? out_.add("{}", piece) : out_.add("<i class=\"{}\">{}</i>", style, piece);
      }
      at_ = stop;
      if (at_ < end) {
        out_.raw("\n</span><span class=\"line\">");
        ++at_;
      }
    }
  }

  size_t string_end() const {
    const char quote = peek();
    size_t i = at_ + 1;
    while (i < text_.size() && text_[i] != quote && text_[i] != '\n') i += text_[i] == '\\' ? 2 : 1;
    if (i < text_.size() && text_[i] == quote) ++i;
    return std::min(i, text_.size());
  }
  size_t number_end() const {
    size_t i = at_;
    while (i < text_.size() && (in_word(text_[i]) || text_[i] == '.' || text_[i] == '\'' ||
                                ((text_[i] == '+' || text_[i] == '-') && i > at_ &&
                                 std::string_view("eEpP").find(text_[i - 1]) != std::string_view::npos)))
      ++i;
    return i;
  }
  size_t word_end() const {
    size_t i = at_;
    while (i < text_.size() && in_word(text_[i])) ++i;
    return i;
  }

  void word() {
    const size_t end = word_end();
    const std::string_view name = text_.substr(at_, end - at_);
    size_t next = end;
    while (next < text_.size() && text_[next] == ' ') ++next;
    const bool called = next < text_.size() && text_[next] == '(';
    emit(tunables_.contains(name)                                  ? "u"
         : (python_ ? python_words() : cpp_words()).contains(name) ? "k"
         : is_type(name)                                           ? "t"
         : called                                                  ? "f"
                                                                   : "",
         end);
  }

  /// The kernel's header: TOML between "/* hone" and "*/".
  void header() {
    emit("c", at_ + 7);
    const size_t close = std::min(text_.find("*/", at_), text_.size());
    while (at_ < close) {
      const char c = peek();
      if (c == '"' || c == '\'') {
        emit("s", std::min(string_end(), close));
      } else if (c == '#') {
        emit("c", std::min(line_end(), close));
      } else if (starts_word(c)) {
        const size_t end = std::min(word_end(), close);
        emit(tunables_.contains(text_.substr(at_, end - at_)) ? "u" : "k", end);
      } else if (std::isdigit(static_cast<unsigned char>(c))) {
        emit("n", std::min(number_end(), close));
      } else {
        emit("", at_ + 1);
      }
    }
    emit("c", std::min(close + 2, text_.size()));
  }

  void step() {
    const char c = peek();
    if (here("/* hone") && !in_word(peek(7))) return header();
    if (!python_ && here("/*")) return emit("c", after("*/", at_ + 2));
    if (!python_ && here("//")) return emit("c", line_end());
    if (python_ && c == '#') return emit("c", line_end());
    if (python_ && (here("\"\"\"") || here("'''"))) return emit("s", after(text_.substr(at_, 3), at_ + 3));
    if (!python_ && c == '#')
      return emit("p", std::min(line_end(), at_ + 1 + (word_end_from(at_ + 1) - (at_ + 1))));
    if (c == '"' || c == '\'') return emit("s", string_end());
    if (std::isdigit(static_cast<unsigned char>(c))) return emit("n", number_end());
    if (starts_word(c)) return word();
    // A run of anything else goes out in one piece.
    size_t end = at_ + 1;
    while (end < text_.size() && !starts_word(text_[end]) &&
           !std::isdigit(static_cast<unsigned char>(text_[end])) &&
           std::string_view("/#\"'").find(text_[end]) == std::string_view::npos)
      ++end;
    emit("", end);
  }

  size_t word_end_from(size_t i) const {
    while (i < text_.size() && in_word(text_[i])) ++i;
    return i;
  }

  std::string_view text_;
  bool python_;
  const Names& tunables_;
  size_t at_ = 0;
  Html out_;
};

}  // namespace

Markup highlight(std::string_view source, std::string_view language, const Names& tunables) {
  while (source.ends_with('\n')) source.remove_suffix(1);
  return Scanner(source, language, tunables).run();
}

}  // namespace hone::face::report
