#include "hone/task/language/lexer.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "hone/task/language/characters.h"

namespace hone::task {
namespace {

constexpr std::array<std::string_view, 29> kPunctuation{"...", "//", "**", "==", "!=", "<=", ">=", "<<", ">>", "+", "-",
                                                        "*",   "/",  "%",  "@",  "<",  ">",  "=",  "(", ")",
                                                        "[",   "]",  ",",  ":",  ".",  "&",  "|",  "^", "~"};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Sourced<std::vector<Token>> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '\n' || c == ';') {
        if (brackets_.empty() && !tokens_.empty() && tokens_.back().kind != TokenKind::kNewline)
          add(TokenKind::kNewline, 1);
        else
          ++at_;
        if (c == '\n') {
          ++line_;
          line_start_ = at_;
        }
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
        HONE_TRY(const Token number, read_number());
        tokens_.push_back(number);
      } else if (is_name_start(c)) {
        size_t size = 1;
        while (at_ + size < text_.size() && is_name_part(text_[at_ + size])) ++size;
        add(TokenKind::kName, size);
      } else if (c == '"' || c == '\'') {
        const size_t end = text_.find_first_of(c == '"' ? "\"\n" : "'\n", at_ + 1);
        if (end == std::string_view::npos || text_[end] == '\n')
          return fail_at(here(), "the string is not closed on its line");
        tokens_.push_back({TokenKind::kString, std::string(text_.substr(at_ + 1, end - at_ - 1)), here()});
        at_ = end + 1;
      } else if (const size_t size = punctuation_size(); size != 0) {
        track_brackets(c);
        add(TokenKind::kPunctuation, size);
      } else {
        return fail_at(here(), fmt::format("unexpected character '{}'", printable(c)),
                       std::string(hint_for(printable(c))));
      }
    }
    if (!brackets_.empty())
      return fail_at(brackets_.back().where, fmt::format("'{}' is never closed", brackets_.back().text));
    add(TokenKind::kEnd, 0);
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] Where here() const { return {line_, static_cast<int>(at_ - line_start_) + 1}; }

  void add(TokenKind kind, size_t size) {
    tokens_.push_back({kind, std::string(text_.substr(at_, size)), here()});
    at_ += size;
  }

  void track_brackets(char c) {
    if (c == '(' || c == '[') brackets_.push_back({TokenKind::kPunctuation, std::string(1, c), here()});
    if ((c == ')' || c == ']') && !brackets_.empty()) brackets_.pop_back();
  }

  [[nodiscard]] size_t punctuation_size() const {
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view p : kPunctuation)
      if (rest.substr(0, p.size()) == p) return p.size();
    return 0;
  }

  [[nodiscard]] std::string printable(char c) const {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return fmt::format("\\x{:02x}", byte);
    size_t size = 1;  // a whole UTF-8 sequence
    while (byte >= 0xc0 && at_ + size < text_.size() &&
           (static_cast<unsigned char>(text_[at_ + size]) & 0xc0) == 0x80)
      ++size;
    return std::string(text_.substr(at_, size));
  }

  /// What look-alikes and characters of other languages are written as.
  [[nodiscard]] static std::string_view hint_for(std::string_view character) {
    constexpr std::pair<std::string_view, std::string_view> kHints[] = {
        {"!", "negation is written 'not' or '~'"},
        {"{", "lists are written with [ ]"},
        {"}", "lists are written with [ ]"},
        {"?", "choose between values with where(condition, a, b)"},
        {"\\", "a statement goes on in the next line inside brackets"},
        {"\u2212", "the minus sign is the hyphen of the keyboard"},
        {"\u2013", "the minus sign is the hyphen of the keyboard"},
        {"\u00d7", "a product is written *"},
        {"\u00b7", "a product is written *"},
        {"\u00f7", "a quotient is written /"},
        {"\u00b2", "a square is written x * x or x ** 2"},
        {"\u221a", "a square root is written sqrt(x)"},
        {"\u2264", "write <="},
        {"\u2265", "write >="},
        {"\u2260", "write !="},
        {"\u201c", "texts stand in straight quotes"},
        {"\u201d", "texts stand in straight quotes"},
        {"\u2018", "texts stand in straight quotes"},
        {"\u2019", "texts stand in straight quotes"},
        {"\u00a0", "this is a no-break space: write an ordinary one"},
    };
    for (const auto& [text, hint] : kHints)
      if (text == character) return hint;
    return "";
  }

  Sourced<Token> read_number() {
    size_t size = 0;
    bool real = false;
    const auto digits = [&] {
      while (at_ + size < text_.size() && is_digit(text_[at_ + size])) ++size;
    };
    digits();
    if (at_ + size < text_.size() && text_[at_ + size] == '.' && text_.substr(at_ + size, 3) != "...") {
      real = true;
      ++size;
      digits();
    }
    if (at_ + size < text_.size() && (text_[at_ + size] == 'e' || text_[at_ + size] == 'E')) {
      real = true;
      ++size;
      if (at_ + size < text_.size() && (text_[at_ + size] == '+' || text_[at_ + size] == '-')) ++size;
      const size_t before = size;
      digits();
      if (size == before) return fail_at(here(), "the exponent of the number has no digits");
    }
    if (at_ + size < text_.size() && is_name_part(text_[at_ + size]))
      return fail_at(here(), fmt::format("'{}' is neither a number nor a name", text_.substr(at_, size + 1)),
                     "names start with a letter; a product needs '*'");
    Token token{real ? TokenKind::kFloat : TokenKind::kInteger, std::string(text_.substr(at_, size)), here()};
    at_ += size;
    return token;
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  size_t line_start_ = 0;
  std::vector<Token> tokens_;
  std::vector<Token> brackets_;
};

}  // namespace

std::string describe(const Token& token) {
  if (token.kind == TokenKind::kNewline) return "the end of the statement";
  if (token.kind == TokenKind::kEnd) return "the end";
  if (token.kind == TokenKind::kString) return fmt::format("\"{}\"", token.text);
  return fmt::format("'{}'", token.text);
}

Sourced<std::vector<Token>> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace hone::task
