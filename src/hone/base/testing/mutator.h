// Mutants of texts, for tests that a reader survives anything. A mutant is a function of the texts, the words and its number
// alone, so a failure can be looked at again.
#pragma once
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::base::testing {

class Mutator {
 public:
  /// `words` are put in here and there. `focus`: half of the changes are made behind this word, where a text has it.
  Mutator(std::vector<std::string> texts, std::vector<std::string> words, std::string focus = {})
      : texts_(std::move(texts)), words_(std::move(words)), focus_(std::move(focus)) {}

  std::string mutant(uint64_t number) {
    begin(2 * number);
    std::string text = texts_[below(texts_.size())];
    for (size_t changes = 1 + below(4); changes > 0; --changes) change(text);
    return text;
  }

 protected:
  void begin(uint64_t seed) { state_ = seed * 0x9E3779B97F4A7C15U + 1; }

  /// splitmix64
  uint64_t random() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(random() % n); }

  const std::string& any_text() { return texts_[below(texts_.size())]; }

  void change(std::string& text) {
    if (text.empty()) return;
    const auto [at, size] = token(text);
    const std::string& word = words_[below(words_.size())];
    switch (below(9)) {
      case 0:
        text[at] = static_cast<char>(random());
        return;
      case 1:
        text.erase(at, size);
        return;
      case 2:
        text.insert(at, word);
        return;
      case 3:
        text.replace(at, size, word);
        return;
      case 4:
        text.insert(at, text.substr(at, size));
        return;
      case 5:
        text.erase(at, below(80));
        return;
      case 6:
        text.insert(below(text.size()), text.substr(at, below(80)));
        return;
      case 7: {
        const auto [other, length] = token(text);
        const std::string moved = text.substr(other, length);
        text.replace(at, size, moved);
        return;
      }
      default: {
        const std::string& donor = any_text();
        text.insert(at, donor.substr(below(donor.size()), below(120)));
      }
    }
  }

 private:
  /// A token of the text: a word, a number, or one character.
  std::pair<size_t, size_t> token(const std::string& text) {
    const auto part = [&](size_t i) { return std::isalnum(static_cast<unsigned char>(text[i])) != 0; };
    size_t begin = below(text.size());
    const size_t focus = focus_.empty() ? std::string::npos : text.find(focus_);
    if (focus != std::string::npos && random() % 2 == 0) begin = std::min(text.size() - 1, focus + focus_.size() + 2 + below(150));
    size_t end = begin + 1;
    while (begin > 0 && part(begin) && part(begin - 1)) --begin;
    while (end < text.size() && part(begin) && part(end)) ++end;
    return {begin, end - begin};
  }

  std::vector<std::string> texts_, words_;
  std::string focus_;
  uint64_t state_ = 0;
};

/// Of any text that has numbers, names and brackets.
inline std::vector<std::string> common_words() {
  return {"(",    ")",  "[",   "]",   "{",   "}",     ",",  ":",   "=",   ".",    "...",  "'",   "\"", "\n",   "#",  ";",  "\\", "-",  "**", "//", "%",
          "@",    "<",  "==",  "0",   "-1",  "2",     "7",  "1e999", "0.5", "1e300", "-1e300", "9223372036854775807", "-9223372036854775808",
          "18446744073709551615", "4611686018427387904", "2147483647", "4294967296", "true", "null", "none", "inf", "nan", "\xff", "\xc3",
          "\xe2\x88\x92", "\t", "\r", "[]", "{}", "\"\"", std::string(1, '\0')};
}

}  // namespace hone::base::testing
