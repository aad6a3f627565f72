#include "hone/pattern/functions_file.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/base/result.h"
#include "hone/pattern/template.h"

namespace hone::pattern {

std::string functions_of_file(const std::string& path, const std::string& text) {
  constexpr std::string_view kBreak = "\n\n\n", kDef = "def ";
  const auto file = base::find_embedded(path);
  HONE_CHECK(file.has_value(), path);
  struct One {
    std::string name, text;
    bool used = false;
  };
  std::vector<One> all;
  for (size_t at = file->find(kBreak); at != std::string_view::npos;) {
    const size_t next = file->find(kBreak, at + kBreak.size());
    std::string_view body = file->substr(at, next == std::string_view::npos ? next : next - at);
    body.remove_prefix(kBreak.size());
    if (body.ends_with('\n')) body.remove_suffix(1);
    const size_t name = body.find(kDef) + kDef.size();
    all.push_back({std::string(body.substr(name, body.find('(') - name)), std::string(body)});
    at = next;
  }
  const auto words = [](std::string_view of) {
    std::set<std::string, std::less<>> found;
    for (size_t at = 0; at < of.size();) {
      size_t end = at;
      while (end < of.size() && in_word(of[end])) ++end;
      if (end > at) found.emplace(of.substr(at, end - at));
      at = std::max(end, at + 1);
    }
    return found;
  };
  auto known = words(text);
  for (bool again = true; again;) {
    again = false;
    for (One& one : all)
      if (!one.used && known.contains(one.name)) one.used = again = true, known.merge(words(one.text));
  }
  std::string result;
  for (const One& one : all)
    if (one.used) result += fmt::format("\n\n{}\n", one.text);
  return result;
}

}  // namespace hone::pattern
