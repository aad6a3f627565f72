#include "hone/agent/difference.h"

#include <algorithm>
#include <vector>

namespace hone::agent {
namespace {

constexpr size_t kMostLines = 2000;

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::optional<std::string> difference(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = lines_in(before), b = lines_in(after);
  if (a.size() > kMostLines || b.size() > kMostLines) return std::nullopt;
  // Length of the longest common rest from (i, j) on.
  const size_t width = b.size() + 1;
  std::vector<uint16_t> rest((a.size() + 1) * width, 0);
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      rest[i * width + j] = a[i] == b[j] ? static_cast<uint16_t>(rest[(i + 1) * width + j + 1] + 1) : std::max(rest[(i + 1) * width + j], rest[i * width + j + 1]);
  std::string text;
  bool same = true;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      same = true;
      ++i, ++j;
      continue;
    }
    if (same && i > 0) text.append(" ").append(a[i - 1]).append("\n");
    same = false;
    const bool removed = j == b.size() || (i < a.size() && rest[(i + 1) * width + j] >= rest[i * width + j + 1]);
    text.append(removed ? "-" : "+").append(removed ? a[i++] : b[j++]).append("\n");
  }
  return 2 * text.size() > after.size() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace hone::agent
