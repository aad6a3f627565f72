#include "hone/task/toml_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "hone/task/language/limits.h"

namespace hone::task {
namespace {

/// Bytes of the UTF-8 character at `at`; 0 where there is none (RFC 3629: no surrogates, nothing overlong).
size_t utf8_size(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto tail = [&](size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xc2 && byte(0) < 0xe0) return tail(1) ? 2 : 0;
  if (byte(0) >= 0xe0 && byte(0) < 0xf0) {
    const bool overlong = byte(0) == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = byte(0) == 0xed && byte(1) >= 0xa0;
    return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (byte(0) >= 0xf0 && byte(0) < 0xf5) {
    const bool overlong = byte(0) == 0xf0 && byte(1) < 0x90;
    const bool beyond = byte(0) == 0xf4 && byte(1) >= 0x90;
    return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

/// Walks TOML text: what is inside strings and comments, which brackets are open. It follows valid
/// TOML exactly and makes the best of anything else.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;
  }

  std::optional<TomlProblem> too_deep() {
    while (at_ < text_.size()) {
      if (static_cast<int>(open_.size()) > kMaxTomlNesting)
        return TomlProblem{open_.back().where,
                           fmt::format("brackets are nested more than {} deep", kMaxTomlNesting),
                           "no file of hone's needs more than four"};
      if (dots_ > kMaxTomlNesting)
        return TomlProblem{where_, fmt::format("a key of more than {} parts", kMaxTomlNesting),
                           "keys have one part, or two as in inputs.x"};
      // Of other characters than ASCII toml++ takes some for blanks and some for nothing that there is.
      if (static_cast<unsigned char>(text_[at_]) >= 0x80) return not_ascii();
      // A quote where no text begins is refused by itself, after a look at what follows on the line.
      if ((looks_at("\"") || looks_at("'")) && std::string_view("\n=,[{.").find(last_) == std::string_view::npos) {
        while (at_ < text_.size() && text_[at_] != '\n' && static_cast<unsigned char>(text_[at_]) < 0x80) forward(1);
        return at_ < text_.size() && text_[at_] != '\n' ? std::optional(not_ascii()) : std::nullopt;
      }
      // And it looks for no brace where a value of a list begins. What else closes what it did not open it refuses itself.
      const char closes = looks_at("]") ? '[' : looks_at("}") ? '{' : '\0';
      if (closes != '\0' && !open_.empty() && open_.back().bracket != closes)
        return closes == '{' ? std::optional(TomlProblem{where_, "expected ',' or ']', found '}'", ""}) : std::nullopt;
      if (at_statement_ && open_.empty() && looks_at("["))
        if (auto problem = nameless()) return problem;
      step();
      if (unfit_) return unfit_;
    }
    return std::nullopt;
  }

  /// The first thing left open, for a text that toml++ refused.
  std::optional<TomlProblem> left_open() {
    while (at_ < text_.size() && !found_) step();
    if (found_) return found_;
    if (open_.empty()) return std::nullopt;
    return TomlProblem{open_.back().where, fmt::format("'{}' is never closed", open_.back().bracket), ""};
  }

 private:
  struct Open {
    char bracket;
    Where where;
  };

  [[nodiscard]] bool looks_at(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  void forward(size_t bytes) {
    for (; bytes > 0 && at_ < text_.size(); --bytes) {
      const char c = text_[at_++];
      const bool continues = at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xc0U) == 0x80U;
      if (c == '\n')
        where_ = {where_.line + 1, 1};
      else if (!continues)
        ++where_.column;
    }
  }

  [[nodiscard]] TomlProblem not_ascii() const;

  /// A section whose name begins with what begins no name: toml++ takes it for granted that nobody writes that.
  [[nodiscard]] std::optional<TomlProblem> nameless() const {
    size_t at = at_ + 1;
    const auto blanks = [&] { at = std::min(text_.find_first_not_of(" \t", at), text_.size()); };
    blanks();
    if (text_.substr(at, 1) == "[") ++at, blanks();
    if (at == text_.size()) return std::nullopt;  // it says so itself, as of "[]"
    const auto c = static_cast<unsigned char>(text_[at]);
    if (std::isalnum(c) != 0 || std::string_view("_-\"']").find(text_[at]) != std::string_view::npos) return std::nullopt;
    return TomlProblem{where_, "the section that begins here has no name", "a section is [name], a word of letters, digits, _ and -"};
  }

  void step() {
    const char c = text_[at_];
    if (c != ' ' && c != '\t' && c != '\r' && c != '#') last_ = c;
    at_statement_ = c == '\n' || (at_statement_ && (c == ' ' || c == '\t'));
    if (c == '"' || c == '\'') return string(c);
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') forward(1);
      return;
    }
    if (c == '\n' && !open_.empty() && open_.back().bracket == '{' && !found_)
      found_ = {open_.back().where, "the table that begins here goes on in another line",
                "{ … } stands on one line; of several lines is a section: [inputs], then one key a line"};
    if (c == '[' || c == '{') open_.push_back({c, where_});
    if ((c == ']' || c == '}') && !open_.empty()) open_.pop_back();
    if (c == '.') ++dots_;
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') dots_ = 0;
    forward(1);
  }

  void string(char quote) {
    const Where begin = where_;
    const std::string triple(3, quote);
    const bool multi = looks_at(triple);
    forward(multi ? 3 : 1);
    while (at_ < text_.size()) {
      if (quote == '"' && text_[at_] == '\\') {
        // toml++ looks there for blanks.
        const size_t next = multi ? std::min(text_.find_first_not_of(" \t\r\n", at_ + 1), text_.size()) : at_ + 1;
        if (next < text_.size() && static_cast<unsigned char>(text_[next]) >= 0x80 && !unfit_)
          unfit_ = {where_, "a backslash before a character that has no escape", "a backslash is written \\\\, or the text stands in single quotes"};
        forward(2);
      } else if (multi && looks_at(triple)) {
        forward(3);
        while (at_ < text_.size() && text_[at_] == quote) forward(1);  // """x""""" ends with two quotes
        return;
      } else if (!multi && text_[at_] == quote) {
        return forward(1);
      } else if (!multi && text_[at_] == '\n') {
        if (!found_)
          found_ = {begin, "the text that begins here is not closed on its line",
                    "texts of several lines stand between \"\"\" and \"\"\""};
        return;
      } else {
        forward(1);
      }
    }
    if (!found_)
      found_ = {begin, "the text that begins here is never closed", multi ? triple + " ends it" : ""};
  }

  std::string_view text_;
  size_t at_ = 0;
  Where where_{1, 1};
  int dots_ = 0;
  char last_ = '\n';           ///< that is no blank
  bool at_statement_ = true;  ///< nothing but blanks since the line began
  std::vector<Open> open_;
  std::optional<TomlProblem> found_, unfit_;
};

std::optional<TomlProblem> not_text(std::string_view text) {
  Where where{1, 1};
  for (size_t at = 0; at < text.size();) {
    const size_t size = utf8_size(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    if (size == 0)
      return TomlProblem{where, fmt::format("the byte 0x{:02x} is not UTF-8", byte),
                         "save the file as UTF-8"};
    if (byte == 0) return TomlProblem{where, "a NUL byte: this is not text", "save the file as UTF-8"};
    if (byte == '\n')
      where = {where.line + 1, 1};
    else
      ++where.column;
    at += size;
  }
  return std::nullopt;
}

/// The line that holds a place, and the place in it as a byte.
struct Spot {
  std::string_view line;
  size_t at = 0;
};

Spot spot_of(std::string_view text, Where where) {
  for (int line = 1; line < where.line; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  Spot spot{text.substr(0, text.find('\n')), 0};
  if (!spot.line.empty() && spot.line.back() == '\r') spot.line.remove_suffix(1);
  for (int column = 1; column < where.column && spot.at < spot.line.size(); ++column)
    spot.at += std::max<size_t>(1, utf8_size(spot.line, spot.at));
  spot.at = std::min(spot.at, spot.line.size());
  return spot;
}

/// The word of a value around a spot; `where` moves to its beginning.
std::string word_at(const Spot& spot, Where& where) {
  constexpr std::string_view kEnds = " \t=,[]{}#;";
  size_t begin = spot.at;
  while (begin > 0 && kEnds.find(spot.line[begin - 1]) == std::string_view::npos) {
    --begin;
    if ((static_cast<unsigned char>(spot.line[begin]) & 0xc0U) != 0x80U) --where.column;
  }
  size_t end = std::min(spot.line.size(), spot.line.find_first_of(kEnds, begin));
  constexpr size_t kLongest = 100;  // of what stands in a message
  if (end - begin <= kLongest) return std::string(spot.line.substr(begin, end - begin));
  end = begin + kLongest;
  while ((static_cast<unsigned char>(spot.line[end]) & 0xc0U) == 0x80U) --end;
  return std::string(spot.line.substr(begin, end - begin)) + "\u2026";
}

/// Where the key begins whose value stands at the spot.
Where key_before(const Spot& spot, Where where) {
  size_t begin = spot.line.substr(0, spot.at).find_last_of("{,");
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  begin = std::min(spot.at, spot.line.find_first_not_of(" \t", begin));
  for (size_t at = begin; at < spot.at; ++at)
    if ((static_cast<unsigned char>(spot.line[at]) & 0xc0U) != 0x80U) --where.column;
  return where;
}

std::string found_at(const Spot& spot) {
  if (spot.at >= spot.line.size()) return "the end of the line";
  return fmt::format("'{}'", spot.line.substr(spot.at, std::max<size_t>(1, utf8_size(spot.line, spot.at))));
}

TomlProblem bad_value(const Spot& spot, Where where) {
  const std::string word = word_at(spot, where);
  if (word.empty()) return {where, fmt::format("expected a value, found {}", found_at(spot)), ""};
  std::string lower = word;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "true" || lower == "false")
    return {where, fmt::format("'{}' is not a value", word), fmt::format("write {}", lower)};
  for (const auto& [text, hint] : {std::pair{"yes", "write true"},
                                   {"on", "write true"},
                                   {"no", "write false"},
                                   {"off", "write false"},
                                   {"null", "leave the key out"},
                                   {"none", "leave the key out"},
                                   {"nil", "leave the key out"}})
    if (lower == text) return {where, fmt::format("'{}' is not a value", word), hint};
  return {where, fmt::format("'{}' is not a value", word),
          "texts stand in straight quotes, as in name = \"softmax\""};
}

TomlProblem bad_number(std::string_view detail, const Spot& spot, Where place) {
  Where where = place;
  const std::string word = word_at(spot, where);
  if (detail.find("64 bits") != std::string_view::npos)
    return {where, fmt::format("{} does not fit 64 bits", word), ""};
  if (!word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) != 0) return bad_value(spot, place);
  std::string hint;
  if (detail.find("leading zero") != std::string_view::npos) hint = "numbers have no leading zeros";
  if (!word.empty() && (word.front() == '.' || word.back() == '.'))
    hint = "a point has a digit on both sides: 0.5, 1.0";
  return {where, fmt::format("'{}' is not a number", word), hint};
}

TomlProblem Scanner::not_ascii() const {
  const Spot spot = spot_of(text_, where_);
  if (at_statement_) return {where_, fmt::format("expected a name of letters, digits, _ and -, found {}", found_at(spot)), ""};
  return bad_value(spot, where_);
}

struct Rule {
  std::string_view part, message, hint;
};
/// What toml++ says, and what we say; {} is what stands at the place.
constexpr Rule kRules[] = {
    {"expected '=', saw", "expected '=' after the key, found {}", "keys are given as key = value"},
    {"expected keys, tables", "expected a key, found {}", "every line is key = value, or [section]"},
    {"expected a comment or whitespace", "expected the end of the line, found {}", "one key = value a line"},
    {"bare key starting character", "expected a name of letters, digits, _ and -, found {}", ""},
    {"expected comma or closing ']'", "expected ',' or ']', found {}", ""},
    {"expected comma or closing '}'", "expected ',' or '}', found {}", ""},
    {"dangling comma", "a ',' before '}'", "an inline table has no comma at its end"},
    {"expected key-value pair or closing", "expected a key, found {}", ""},
    {"expected key or closing", "expected ',' or '}', found {}", ""},
    {"expected ']', saw", "expected ']', found {}", "a line that begins with [ is a section: [inputs]"},
    {"is not supported", "a text has no escape '\\{}'",
     "a backslash is written \\\\, or the text stands in single quotes"},
    {"expected value or closing", "expected a value, found {}", ""},
    {"expected value, saw", "expected a value, found {}", ""},
    {"blank bare keys", "a section without a name", "sections are [inputs] and [outputs]"},
    {"unicode surrogates", "half of a surrogate pair is not a character", "write the character itself"},
    {"expected hex digit", "an escape \\u takes four hexadecimal digits, \\U eight", ""},
    {"unknown escape sequence", "a text has no escape '\\{}'",
     "a backslash is written \\\\, or the text stands in single quotes"},
    {"control characters", "a control character in a text", "write it as an escape, such as \\u0007"},
    {"not legal whitespace", "a control character outside a text", "indent with blanks or tabs"},
    {"line-ending backslash", "a backslash at a line's end has nothing but blanks behind it", ""},
    {"prohibited in keys", "a key of several lines", "keys are words: letters, digits, _ and -"},
    {"after '\\r'", "a carriage return inside a line", "lines end with \\n or \\r\\n"},
    {"into existing inline table", "this section adds to a table that { … } has closed",
     "give all its keys in one place"},
};

}  // namespace

std::optional<TomlProblem> toml_guard(std::string_view text) {
  if (text.size() > kMaxFileBytes)
    return TomlProblem{{1, 1},
                       fmt::format("a file of more than {} bytes", kMaxFileBytes),
                       "it says what to compute; data does not belong in it"};
  if (auto problem = not_text(text)) return problem;
  return Scanner(text).too_deep();
}

TomlProblem toml_problem(std::string_view description, std::string_view text, Where where) {
  if (auto open = Scanner(text).left_open()) return *open;
  constexpr std::string_view kPrefix = "Error while parsing ";
  std::string_view detail = description;
  std::string_view subject;
  if (detail.substr(0, kPrefix.size()) == kPrefix) {
    const size_t colon = detail.find(": ");
    if (colon != std::string_view::npos) {
      subject = detail.substr(kPrefix.size(), colon - kPrefix.size());
      detail = detail.substr(colon + 2);
    }
  }
  const Spot spot = spot_of(text, where);
  constexpr std::string_view kAgain = "cannot redefine existing ";
  if (detail.substr(0, kAgain.size()) == kAgain) {
    const size_t open = detail.find('\'');
    const size_t close = detail.rfind('\'');
    const std::string name(open == close ? "" : detail.substr(open, close - open + 1));
    if (subject == "key-value pair") where = key_before(spot, where);
    return {where, name.empty() ? "a key is given twice" : fmt::format("{} is given twice", name),
            "keep one of them"};
  }
  for (const Rule& rule : kRules)
    if (detail.find(rule.part) != std::string_view::npos) {
      std::string found = found_at(spot);
      if (rule.message.find("no escape") != std::string_view::npos && found.size() > 2)
        found = found.substr(1, found.size() - 2);
      std::string message(rule.message);
      if (const size_t at = message.find("{}"); at != std::string::npos) message.replace(at, 2, found);
      return {where, std::move(message), std::string(rule.hint)};
    }
  const auto about = [&](std::string_view what) { return subject.find(what) != std::string_view::npos; };
  if (about("boolean") || detail.find("value type") != std::string_view::npos) return bad_value(spot, where);
  if (about("date") || about("time"))
    return {where, fmt::format("'{}' is not a date", word_at(spot, where)), ""};
  if (about("integer") || about("floating-point") || about("value")) return bad_number(detail, spot, where);
  if (about("key-value pair"))
    return {where,
            fmt::format("expected {}, found the end of the file",
                        spot.line.find('=') == std::string_view::npos ? "'=' after the key" : "a value"),
            "keys are given as key = value"};
  return {where, fmt::format("this is not TOML ({}): {}", subject.empty() ? "file" : subject, detail), ""};
}

}  // namespace hone::task
