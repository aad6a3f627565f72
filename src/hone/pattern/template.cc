#include "hone/pattern/template.h"

#include <set>

#include "hone/base/embedded.h"
#include "hone/base/result.h"

namespace hone::pattern {

namespace {

/// What begins like a slot and is Python.
std::string_view decorator_at(std::string_view text) {
  for (const std::string_view decorator : {"@triton.jit", "@T.prim_func"})
    if (text.starts_with(decorator)) return decorator;
  return {};
}

}  // namespace

std::string fill_pattern(std::string_view name, const Slots& slots) {
  const auto file = base::find_embedded(name);
  HONE_CHECK(file.has_value(), std::string(name));
  std::string text;
  std::set<std::string, std::less<>> used;
  std::string_view rest = *file;
  for (;;) {
    const size_t open = rest.find('@');
    text += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    if (const std::string_view decorator = decorator_at(rest.substr(open)); !decorator.empty()) {
      text += decorator;
      rest.remove_prefix(open + decorator.size());
      continue;
    }
    const size_t close = rest.find('@', open + 1);
    HONE_CHECK(close != std::string_view::npos, "a slot is not closed");
    const std::string_view slot = rest.substr(open + 1, close - open - 1);
    const auto value = slots.find(slot);
    HONE_CHECK(value != slots.end(), "no filling for slot " + std::string(slot));
    text += value->second;
    used.insert(std::string(slot));
    rest = rest.substr(close + 1);
  }
  HONE_CHECK(used.size() == slots.size(), "a filling has no slot");
  return text;
}

std::string renamed(std::string_view text, const Slots& names) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const auto it = names.find(text.substr(at, end - at));
    out += it == names.end() ? std::string(text.substr(at, end - at)) : it->second;
    at = end;
  }
  return out;
}

kernel::Kernel finished(const std::string& source, const std::string& pattern) {
  auto kernel = kernel::parse_kernel(source, "pattern " + pattern);
  HONE_CHECK(kernel.has_value(), kernel ? "" : kernel.error().to_string() + "\n" + source);
  kernel->author = "pattern:" + pattern;
  return std::move(*kernel);
}

}  // namespace hone::pattern
