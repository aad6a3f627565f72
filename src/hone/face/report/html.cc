#include "hone/face/report/html.h"

#include <cstdint>

namespace hone::face::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;  ///< 0: not UTF-8
};

/// The code point that starts at text[at], whose first byte is not ASCII.
CodePoint decode(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  const uint8_t first = byte(0);
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + bytes > text.size()) return {};
  uint32_t value = first & (0x7FU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  if (value < kLeast[bytes] || value > 0x10FFFF || surrogate) return {};
  return {value, bytes};
}

/// Marks that are invisible and change how their neighbours are shown, and the C1 controls.
bool is_deceptive(uint32_t c) {
  return (c >= 0x80 && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF ||
         (c >= 0xE0000 && c < 0xE0080);
}

void escape_ascii(char c, std::string& out) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\'':
      out += "&#39;";
      return;
    case '\n':
    case '\t':
      out += c;
      return;
    default:
      break;
  }
  if (c == 0x7F) {
    out += "\xE2\x90\xA1";
  } else if (c < 0x20) {
    out += "\xE2\x90";  // U+2400 and following: pictures of the control characters
    out += static_cast<char>(0x80 + c);
  } else {
    out += c;
  }
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (size_t i = 0; i < text.size();) {
    if (static_cast<uint8_t>(text[i]) < 0x80) {
      if (text.substr(i, 2) == "\r\n") ++i;
      escape_ascii(text[i++], out);
      continue;
    }
    const CodePoint point = decode(text, i);
    if (point.bytes == 0) {
      out += kReplacement;
      ++i;
      continue;
    }
    if (is_deceptive(point.value)) {
      out += fmt::format("\u27E8U+{:04X}\u27E9", point.value);
    } else {
      out += text.substr(i, point.bytes);
    }
    i += point.bytes;
  }
  return out;
}

}  // namespace hone::face::report
