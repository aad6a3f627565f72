#include "hone/face/export/python_names.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "hone/base/result.h"

namespace hone::face {
namespace {

constexpr std::string_view kWords[] = {
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield",
    // what generated code calls its own or uses
    "F", "abs", "bool", "launches", "len", "math", "max", "min", "nn", "range", "self", "torch", "workspaces"};

}  // namespace

std::string python_name(std::string wanted, const std::set<std::string>& taken) {
  while (taken.count(wanted) > 0 || std::find(std::begin(kWords), std::end(kWords), wanted) != std::end(kWords)) wanted += '_';
  return wanted;
}

std::string python_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace hone::face
