#include "hone/agent/header_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/agent/tool.h"
#include "hone/base/embedded.h"

namespace hone::agent {
namespace {

constexpr std::string_view kIncluded = "include/";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view word_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

/// Without comments and what stands in quotation marks.
std::string without_comments(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("//")) {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (text.substr(i).starts_with("/*")) {
      i = std::min(text.find("*/", i), text.size() - 2) + 1;
      continue;
    } else if (text[i] == '"') {
      const size_t close = text.find('"', i + 1);
      out += "\"\"";
      if (close == std::string_view::npos) break;
      i = close;
      continue;
    }
    if (i < text.size()) out += text[i];
  }
  return out;
}

/// Takes the directives out of the text; macros that stay are named, with their arguments: who writes HONE_UNROLL for HONE_UNROLL(n) gets what does not compile.
std::string without_directives(const std::string& text, std::vector<std::string>& macros) {
  std::istringstream lines(text);
  std::string out;
  bool goes_on = false;
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(" \t");
    const bool directive = goes_on || (first != std::string::npos && line[first] == '#');
    if (directive && !goes_on) {
      const size_t what = line.find_first_not_of(" \t", first + 1);
      const std::string_view rest = what == std::string::npos ? std::string_view() : std::string_view(line).substr(what);
      for (const auto& [word, defines] : {std::pair(std::string_view("define "), true), {std::string_view("undef "), false}}) {
        if (!rest.starts_with(word)) continue;
        const size_t at = rest.find_first_not_of(' ', word.size());
        const std::string_view name = word_at(rest, at), behind = rest.substr(std::min(at + name.size(), rest.size()));
        std::erase_if(macros, [&](const std::string& macro) { return word_at(macro, 0) == name; });
        if (defines) macros.push_back(fmt::format("{}{}", name, behind.starts_with('(') ? behind.substr(0, behind.find(')') + 1) : ""));
      }
    }
    goes_on = directive && line.ends_with('\\');
    if (!directive) out += line + "\n";
  }
  return out;
}

/// Behind "template <…>" and what it requires.
std::string_view without_template(std::string_view s) {
  const auto blank = [&] { s.remove_prefix(std::min(s.find_first_not_of(" \n\t"), s.size())); };
  for (blank(); word_at(s, 0) == "template"; blank()) {
    int depth = 0, inside = 0;
    size_t i = s.find('<');
    if (i == std::string_view::npos) return {};
    for (; i < s.size(); ++i) {
      if (s[i] == '(') ++inside;
      if (s[i] == ')') --inside;
      if (s[i] == '<' && inside == 0) ++depth;
      if (s[i] == '>' && inside == 0 && --depth == 0) break;
    }
    s.remove_prefix(std::min(i + 1, s.size()));
  }
  return s;
}

/// What a declaration at the level of a namespace declares, without its body.
std::string declared(std::string_view s) {
  s = without_template(s);
  const std::string_view first = word_at(s, 0);
  const auto second = [&](size_t behind) { return std::string(word_at(s, std::min(s.find_first_not_of(" \n\t", behind), s.size()))); };
  if (first == "struct" || first == "class" || first == "enum" || first == "union") {
    std::string name = second(first.size());
    if (name == "class" || name == "struct") name = second(s.find(name, first.size()) + name.size());
    if (name == "alignas") name = second(s.find(')') + 1);
    const size_t at = s.find(name) + name.size();
    return s.substr(std::min(s.find_first_not_of(" \n\t", at), s.size())).starts_with('<') ? "" : name;   // a specialisation
  }
  if (first == "concept") return second(first.size());
  if (first == "using") {
    if (second(first.size()) == "namespace") return {};
    const size_t equals = s.find('='), colons = s.rfind("::", equals);
    return equals == std::string_view::npos && colons != std::string_view::npos ? std::string(word_at(s, colons + 2)) : second(first.size());
  }
  if (first == "typedef") {
    // typedef float f32v __attribute__((…));
    size_t end = std::min(s.find("__attribute__"), s.size());
    while (end > 0 && !is_word(s[end - 1])) --end;
    size_t begin = end;
    while (begin > 0 && is_word(s[begin - 1])) --begin;
    return std::string(s.substr(begin, end - begin));
  }
  if (first == "static_assert" || first == "namespace" || first == "extern" || first.empty()) return {};
  // A function's name is the word before its arguments, a constant's the one before "=".
  static constexpr std::array kNoNames = {"__attribute__", "alignas", "requires", "decltype", "noexcept", "__typeof__", "operator", "if", "launch_bounds", "__launch_bounds__", "HONE_UNROLL"};
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '(' && s[i] != '=') continue;
    size_t end = i;
    while (end > 0 && std::isspace(static_cast<unsigned char>(s[end - 1])) != 0) --end;
    size_t begin = end;
    while (begin > 0 && is_word(s[begin - 1])) --begin;
    std::string name(s.substr(begin, end - begin));
    if (s.substr(0, begin).find("operator") != std::string_view::npos) return {};
    if (!name.empty() && std::ranges::find(kNoNames, name) == kNoNames.end()) return begin > 0 ? name : "";
    if (s[i] == '=') return {};
    // Over the parentheses of what is no name.
    int depth = 0;
    for (; i < s.size(); ++i) {
      if (s[i] == '(') ++depth;
      if (s[i] == ')' && --depth == 0) break;
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> public_names(std::string_view header) {
  std::vector<std::string> names;
  const std::string text = without_directives(without_comments(header), names);
  std::vector<std::string> open;   // the name of a namespace, or "{"
  std::string statement;
  const auto take = [&] {
    std::string name = open == std::vector<std::string>{"hone"} ? declared(statement) : "";
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    statement.clear();
  };
  for (const char c : text) {
    if (c == '{') {
      const size_t at = statement.find("namespace");
      std::string inner = "{";
      if (at != std::string::npos && statement.find_first_not_of(" \n\t") == at) {
        const size_t name = std::min(statement.find_first_not_of(" \n\t", at + 9), statement.size());
        inner = statement.substr(name, statement.find_last_not_of(" \n\t") + 1 - std::min(name, statement.find_last_not_of(" \n\t") + 1));
        statement.clear();
      } else {
        take();
      }
      open.push_back(std::move(inner));
    } else if (c == '}') {
      if (!open.empty()) open.pop_back();
      statement.clear();
    } else if (c == ';') {
      take();
    } else {
      statement += c;
    }
  }
  return names;
}

std::string names_of_headers(std::string_view root, std::string_view already) {
  std::set<std::string> visited, told;
  for (size_t i = 0; i < already.size(); ++i)
    if (const std::string_view word = word_at(already, i); !word.empty()) told.emplace(word), i += word.size();
  std::string text;
  const std::function<void(const std::string&)> visit = [&](const std::string& header) {
    const auto found = base::find_embedded(fmt::format("{}{}", kIncluded, header));
    if (!found || !visited.insert(header).second) return;
    std::istringstream lines{std::string(*found)};
    for (std::string line; std::getline(lines, line);)
      if (constexpr std::string_view kInclude = "#include \""; line.starts_with(kInclude)) visit(line.substr(kInclude.size(), line.find('"', kInclude.size()) - kInclude.size()));
    std::vector<std::string> names;
    for (std::string& name : public_names(*found))
      if (told.emplace(word_at(name, 0)).second) names.push_back(std::move(name));
    if (!names.empty()) text += fmt::format("{}`{}`: `{}`", text.empty() ? "" : "; ", header.substr(header.find('/') + 1), fmt::join(names, " "));
  };
  visit(std::string(root));
  return text;
}

std::string headers_under(std::string_view folder) {
  std::vector<std::string> names;
  const std::string under = fmt::format("{}{}", kIncluded, folder);
  for (const std::string_view path : base::list_embedded(under))
    if (!is_ours_alone(path.substr(kIncluded.size()))) names.emplace_back(path.substr(under.size()));
  return fmt::format("`{}`", fmt::join(names, " "));
}

}  // namespace hone::agent
