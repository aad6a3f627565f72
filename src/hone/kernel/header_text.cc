#include "hone/kernel/header_text.h"

#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "hone/base/hash.h"
#include "hone/kernel/kernel.h"
#include "hone/task/toml_guard.h"

namespace hone::kernel {
namespace {

struct Span {
  size_t begin = std::string::npos, end = 0;  ///< of a line, without its newline
  [[nodiscard]] bool found() const { return begin != std::string::npos; }
};

/// The first line from `from` on that `wanted` says yes to; it sees the line without its indentation.
template <typename Wanted>
Span find_line(std::string_view text, size_t from, Wanted wanted) {
  for (size_t begin = from; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const size_t first = std::min(text.find_first_not_of(" \t", begin), end);
    if (wanted(text.substr(first, end - first))) return {begin, end};
    begin = end + 1;
  }
  return {};
}

Span line_of(std::string_view text, std::string_view key) {
  return find_line(text, 0, [&](std::string_view row) {
    return row.substr(0, key.size()) == key && row.find_first_of(" \t=", key.size()) == key.size();
  });
}

}  // namespace

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    // A header is a C comment too, which its text must not end; control characters are no TOML.
    if (c == '/' && out.back() == '*') out += ' ';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

void HeaderText::set_line(std::string_view key, std::string_view line_text, std::string_view neighbour) {
  if (const Span old = line_of(toml, key); old.found()) {
    toml.replace(old.begin, old.end - old.begin, line_text);
    return;
  }
  const Span next = line_of(toml, neighbour);
  HONE_CHECK(next.found(), "the header has the line that the new one goes before");
  toml.insert(next.begin, fmt::format("{}\n", line_text));
}

void HeaderText::remove_line(std::string_view key) {
  if (const Span old = line_of(toml, key); old.found()) toml.erase(old.begin, std::min(old.end + 1, toml.size()) - old.begin);
}

void HeaderText::remove_table(std::string_view name) {
  const Span head = find_line(toml, 0, [&](std::string_view row) { return row.substr(0, name.size() + 2) == fmt::format("[{}]", name); });
  if (!head.found()) return;
  const Span next = find_line(toml, head.end, [](std::string_view row) { return row.substr(0, 1) == "["; });
  size_t begin = head.begin;
  if (!next.found())  // the last table takes the blank lines before it along
    while (begin > 1 && toml[begin - 1] == '\n' && toml[begin - 2] == '\n') --begin;
  toml.erase(begin, (next.found() ? next.begin : toml.size()) - begin);
}

Result<HeaderText> take_apart(std::string_view source, const std::string& path) {
  // A file says its language in the header, so the header is found first: by whichever opening mark comes first.
  size_t open = std::string_view::npos;
  const LanguageRow* row = nullptr;
  for (const LanguageRow& candidate : languages())
    if (const size_t at = source.find(candidate.open); at < open) open = at, row = &candidate;
  if (!row)
    return fail(ErrorCode::kInput, "no header: expected a comment that begins with \"/* hone\"",
                "put the launch plan in a comment at the top of the file (in Python the module's docstring: \"\"\"hone); see docs/kernels.md", path);
  const size_t begin = open + row->open.size();
  const size_t end = source.find(row->close, begin);
  if (end == std::string_view::npos)
    return fail(ErrorCode::kInput, "the header comment is not closed", fmt::format("end it with {}", row->close), path + ":1:1");
  HeaderText text;
  text.before = source.substr(0, begin);
  text.toml = source.substr(begin, end - begin);
  text.after = source.substr(end);
  text.line = 1 + static_cast<int>(std::count(text.before.begin(), text.before.end(), '\n'));
  return text;
}

std::string Kernel::hash() const {
  base::Hasher hasher;
  hasher.add("kernel");
  auto text = take_apart(source, "");
  const bool readable = text && !task::toml_guard(text->toml);
  toml::parse_result document = toml::parse(readable ? std::string_view(text->toml) : std::string_view());
  if (readable && document) {
    // What the header means, not how it is laid out. `config` is added below; where a kernel was verified is
    // no part of what it is.
    document.table().erase("config");
    document.table().erase("verified");
    std::ostringstream meaning;
    meaning << toml::json_formatter(document.table());
    hasher.add(text->before).add(meaning.str()).add(text->after);
  } else {
    hasher.add(source);
  }
  for (const auto& [name, value] : config) hasher.add(name).add(std::to_string(value));
  return hasher.finish();
}

std::string with_config(const Kernel& kernel, const Config& config) {
  if (config.empty()) return kernel.source;
  std::vector<std::string> pairs;
  for (const auto& [name, value] : config) pairs.push_back(fmt::format("{} = {}", name, value));
  auto text = take_apart(kernel.source, "");
  HONE_CHECK(text.has_value(), "a parsed kernel has a header");
  text->remove_table("config");
  text->set_line("config", fmt::format("config = {{ {} }}", fmt::join(pairs, ", ")), "tunables");
  return text->whole();
}

Kernel with_compiler(const Kernel& kernel, std::string_view compiler) {
  HONE_CHECK(kernel.header.language == Language::kCpp, "other languages have one compiler");
  auto text = take_apart(kernel.source, "");
  HONE_CHECK(text.has_value(), "a parsed kernel has a header");
  text->set_line("compiler", fmt::format("compiler = {}", toml_string(compiler)), "language");
  Kernel other = kernel;
  other.source = text->whole();
  other.header.compiler = compiler;
  return other;
}

std::string with_verified(std::string_view source, const Verified& verified) {
  auto text = take_apart(source, "");
  HONE_CHECK(text.has_value(), "a parsed kernel has a header");
  text->remove_table("verified");
  std::vector<std::string> shapes;
  for (const std::string& shape : verified.shapes) shapes.push_back(toml_string(shape));
  if (text->toml.empty() || text->toml.back() != '\n') text->toml += '\n';
  text->toml += fmt::format(
      "\n[verified]\ntask      = {}\ntask_hash = {}\ntarget    = {}\ndevice    = {}\ntoolchain = {}\nshapes    = [{}]\ndate      = {}\nhone      = {}\n",
      toml_string(verified.task), toml_string(verified.task_hash), toml_string(verified.target), toml_string(verified.device),
      toml_string(verified.toolchain), fmt::join(shapes, ", "), toml_string(verified.date), toml_string(verified.hone));
  return text->whole();
}

std::string without_marks(std::string_view source) {
  auto text = take_apart(source, "");
  if (!text) return std::string(source);
  text->remove_table("verified");
  text->remove_line("pattern");
  text->remove_line("action");
  return text->whole();
}

}  // namespace hone::kernel
