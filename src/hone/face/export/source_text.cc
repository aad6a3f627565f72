#include "hone/face/export/source_text.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>

namespace hone::face {
namespace {

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0; }
bool in_word(char c) { return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) {}

  std::vector<CppPiece> run() {
    while (at_ < source_.size()) {
      const size_t begin = at_;
      const CppToken kind = next();
      const std::string_view text = source_.substr(begin, at_ - begin);
      if (kind == CppToken::kSpace) {
        if (text.find('\n') != std::string_view::npos) line_begins_ = true;
      } else if (kind != CppToken::kComment) {
        line_begins_ = false;
      }
      pieces_.push_back({kind, std::string(text)});
    }
    return std::move(pieces_);
  }

 private:
  [[nodiscard]] char peek(size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool sees(std::string_view text) const { return source_.substr(at_, text.size()) == text; }

  CppToken next() {
    if (is_blank(peek())) {
      while (at_ < source_.size() && is_blank(peek())) ++at_;
      return CppToken::kSpace;
    }
    if (sees("//") || sees("/*")) {
      skip_comment();
      return CppToken::kComment;
    }
    if (peek() == '#' && line_begins_) return directive();
    if (starts_word(peek())) return word();
    if (std::isdigit(static_cast<unsigned char>(peek())) ||
        (peek() == '.' && std::isdigit(static_cast<unsigned char>(peek(1)))))
      return number();
    if (peek() == '"' || peek() == '\'') return literal();
    ++at_;
    return CppToken::kOther;
  }

  void skip_comment() {
    if (sees("/*")) {
      const size_t end = source_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? source_.size() : end + 2;
    } else {
      while (at_ < source_.size() && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
      at_ = std::min(at_, source_.size());
    }
  }

  CppToken directive() {
    while (at_ < source_.size() && peek() != '\n') {
      if (sees("/*")) {
        skip_comment();
      } else if (peek() == '\\' && peek(1) == '\r') {
        at_ = std::min(at_ + 3, source_.size());
      } else {
        at_ = std::min<size_t>(at_ + (peek() == '\\' ? 2 : 1), source_.size());
      }
    }
    return CppToken::kDirective;
  }

  CppToken word() {
    const size_t begin = at_;
    while (in_word(peek())) ++at_;
    const std::string_view text = source_.substr(begin, at_ - begin);
    if (peek() != '"' && peek() != '\'') return CppToken::kWord;
    for (const std::string_view prefix : {"u8", "u", "U", "L"})
      if (text == prefix) return literal();
    if (peek() == '"' && (text == "R" || text == "u8R" || text == "uR" || text == "UR" || text == "LR"))
      return raw_string();
    return CppToken::kWord;
  }

  CppToken number() {
    while (in_word(peek()) || peek() == '.' || (peek() == '\'' && in_word(peek(1))) ||
           ((peek() == '+' || peek() == '-') && at_ > 0 && std::string_view("eEpP").find(source_[at_ - 1]) != std::string_view::npos))
      ++at_;
    return CppToken::kNumber;
  }

  CppToken literal() {
    const char quote = peek();
    ++at_;
    while (at_ < source_.size() && peek() != quote && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
    at_ = std::min(at_, source_.size());
    if (peek() == quote) ++at_;
    return CppToken::kLiteral;
  }

  CppToken raw_string() {
    const size_t open = source_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = source_.size();
      return CppToken::kLiteral;
    }
    const std::string close = fmt::format("){}\"", source_.substr(at_ + 1, open - at_ - 1));
    const size_t end = source_.find(close, open);
    at_ = end == std::string_view::npos ? source_.size() : end + close.size();
    return CppToken::kLiteral;
  }

  std::string_view source_;
  size_t at_ = 0;
  bool line_begins_ = true;
  std::vector<CppPiece> pieces_;
};

bool is_quiet(const CppPiece& piece) {
  return piece.kind == CppToken::kSpace || piece.kind == CppToken::kComment;
}

/// A directive's name and the rest of its line: "include" and "<cmath>".
struct Directive {
  std::string name, rest;
};
Directive read_directive(std::string_view text) {
  std::string clean;
  for (const CppPiece& piece : tokenize_cpp(text.substr(1)))
    clean += piece.kind == CppToken::kComment ? " " : piece.text;
  size_t begin = 0;
  const auto skip = [&] { while (begin < clean.size() && is_blank(clean[begin])) ++begin; };
  skip();
  size_t end = begin;
  while (end < clean.size() && in_word(clean[end])) ++end;
  Directive directive{clean.substr(begin, end - begin), {}};
  begin = end;
  skip();
  directive.rest = clean.substr(begin);
  while (!directive.rest.empty() && is_blank(directive.rest.back())) directive.rest.pop_back();
  return directive;
}

/// Takes C linkage away.
class Unlinker {
 public:
  Unlinker(std::vector<CppPiece>& pieces, const std::set<std::string>& functions)
      : pieces_(pieces), local_(functions) {}

  void run() {
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (const auto found = read(i); found && found->defines) local_.insert(found->name);
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const auto found = read(i);
      if (!found) continue;
      if (found->block ? found->defines : local_.count(found->name) > 0) {
        pieces_[i].text = found->block ? "namespace" : "";
        for (size_t j = i + 1; j < found->after; ++j)
          if (pieces_[j].kind != CppToken::kComment) pieces_[j].text = j + 1 == found->after && found->block ? " " : "";
      }
    }
  }

 private:
  struct Linkage {
    size_t after = 0;      ///< the first piece of what follows `extern "C"`
    bool block = false;    ///< `extern "C" {`
    bool defines = false;  ///< a function with a body; of a block, any
    std::string name;      ///< of the function
  };

  [[nodiscard]] size_t skip_quiet(size_t i) const {
    while (i < pieces_.size() && is_quiet(pieces_[i])) ++i;
    return i;
  }
  [[nodiscard]] bool is(size_t i, std::string_view text) const {
    return i < pieces_.size() && !is_quiet(pieces_[i]) && pieces_[i].text == text;
  }
  /// Behind the bracket that closes the one at `i`.
  [[nodiscard]] size_t skip_group(size_t i, std::string_view open, std::string_view close) const {
    for (int depth = 0; i < pieces_.size(); ++i) {
      if (is(i, open)) ++depth;
      if (is(i, close) && --depth == 0) return i + 1;
    }
    return i;
  }

  [[nodiscard]] std::optional<Linkage> read(size_t i) const {
    if (pieces_[i].kind != CppToken::kWord || pieces_[i].text != "extern") return std::nullopt;
    size_t at = skip_quiet(i + 1);
    if (!is(at, "\"C\"")) return std::nullopt;
    Linkage linkage;
    linkage.after = at = skip_quiet(at + 1);
    if (is(at, "{")) {
      linkage.block = true;
      const size_t end = skip_group(at, "{", "}");
      for (size_t j = at + 1; j < end; ++j) linkage.defines = linkage.defines || is(j, "{");
      return linkage;
    }
    std::string word;
    for (; at < pieces_.size() && !is(at, ";") && !is(at, "{"); ++at) {
      if (pieces_[at].kind == CppToken::kWord) word = pieces_[at].text;
      if (!is(at, "(")) continue;
      if (linkage.name.empty() && word != "__attribute__" && word != "alignas" && word != "__declspec")
        linkage.name = word;
      at = skip_group(at, "(", ")") - 1;
    }
    linkage.defines = is(at, "{") && !linkage.name.empty();
    return linkage;
  }

  std::vector<CppPiece>& pieces_;
  std::set<std::string> local_;
};

/// `#define KERNEL(name) extern "C" void name` without the linkage.
std::string without_linkage(const std::string& directive) {
  std::vector<CppPiece> pieces = tokenize_cpp(std::string_view(directive).substr(1));
  std::string text = "#";
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].text == "extern" && i + 2 < pieces.size() && pieces[i + 2].text == "\"C\"") {
      i += i + 3 < pieces.size() && is_quiet(pieces[i + 3]) ? 3 : 2;
    } else {
      text += pieces[i].text;
    }
  }
  return text;
}

/// Walks the pieces and takes includes out.
class Mover {
 public:
  Mover(const std::string& path, const Outside& outside) : path_(path), outside_(outside) {}

  Result<MovedSource> run(const std::vector<CppPiece>& pieces) {
    for (const CppPiece& piece : pieces) {
      if (piece.kind == CppToken::kDirective) {
        HONE_TRY_VOID(directive(piece.text));
      } else {
        if (piece.kind == CppToken::kOther && piece.text == "{") ++braces_;
        if (piece.kind == CppToken::kOther && piece.text == "}") --braces_;
        std::string_view text = piece.text;
        // The line of a directive that went goes as a whole.
        if (dropped_ && !text.empty() && text.front() == '\n') text.remove_prefix(1);
        moved_.text += text;
        dropped_ = false;
      }
      line_ += static_cast<int>(std::count(piece.text.begin(), piece.text.end(), '\n'));
    }
    return std::move(moved_);
  }

 private:
  Status directive(const std::string& text) {
    const Directive read = read_directive(text);
    dropped_ = false;
    if (read.name == "include") return include(read.rest);
    if (read.name == "pragma" && read.rest == "once") {
      dropped_ = true;
      return {};
    }
    if (read.name == "define") {
      const std::string name = read.rest.substr(
          0, static_cast<size_t>(std::find_if_not(read.rest.begin(), read.rest.end(), in_word) - read.rest.begin()));
      if (std::find(moved_.macros.begin(), moved_.macros.end(), name) == moved_.macros.end())
        moved_.macros.push_back(name);
    }
    moved_.text += read.name == "define" ? without_linkage(text) : text;
    if (read.name == "if" || read.name == "ifdef" || read.name == "ifndef") ++conditions_;
    if (read.name == "endif") --conditions_;
    return {};
  }

  Status include(const std::string& what) {
    if (what.size() > 2 && what.front() == '"' && what.substr(1, 5) == "hone/") {
      moved_.hone.push_back(what.substr(1, what.size() - 2));
      dropped_ = true;
      return {};
    }
    const std::string where = fmt::format("{}:{}", path_, line_);
    if (what.size() < 3 || what.front() != '<')
      return fail(ErrorCode::kInput, fmt::format("#include {} cannot travel with the kernel", what),
                  "include headers of the system as <name>, hone's as \"hone/…\", and nothing else", where);
    if (conditions_ == 0) {
      moved_.system.insert(what);
      dropped_ = true;
      return {};
    }
    if (braces_ != 0)
      return fail(ErrorCode::kInput, fmt::format("#include {} stands under a condition inside braces", what),
                  "move it to the top of the file", where);
    moved_.text += fmt::format("{}\n#include {}\n{}", outside_.leave, what, outside_.enter);
    return {};
  }

  const std::string& path_;
  const Outside& outside_;
  MovedSource moved_;
  int line_ = 1, braces_ = 0, conditions_ = 0;
  bool dropped_ = false;
};

}  // namespace

std::vector<CppPiece> tokenize_cpp(std::string_view source) { return Scanner(source).run(); }

bool uses_word(const std::vector<CppPiece>& pieces, std::string_view word) {
  return std::any_of(pieces.begin(), pieces.end(), [&](const CppPiece& piece) {
    if (piece.kind == CppToken::kWord) return piece.text == word;
    if (piece.kind != CppToken::kDirective) return false;
    return uses_word(tokenize_cpp(std::string_view(piece.text).substr(1)), word);
  });
}

Result<MovedSource> move_source(std::string_view source, const std::string& path,
                                const std::set<std::string>& functions, const Outside& outside) {
  std::vector<CppPiece> pieces = tokenize_cpp(source);
  Unlinker(pieces, functions).run();
  return Mover(path, outside).run(pieces);
}

}  // namespace hone::face
