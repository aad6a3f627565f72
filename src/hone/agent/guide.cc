#include "hone/agent/guide.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace hone::agent {
namespace {

using kernel::Language;

/// The language that `text` begins with, and what is behind its name.
std::optional<Language> take_language(std::string_view& text) {
  for (const kernel::LanguageRow& row : kernel::languages())
    if (text.starts_with(row.title)) {
      text.remove_prefix(row.title.size());
      return row.language;
    }
  return std::nullopt;
}

/// Those that `text` is for: "CUDA, HIP: …", or with `whole` a heading, "CUDA". Empty: for all.
std::vector<Language> languages_of(std::string_view text, bool whole) {
  std::vector<Language> all;
  for (;;) {
    const auto language = take_language(text);
    if (!language) return {};
    all.push_back(*language);
    if (text.starts_with(":") || (whole && text.empty())) return all;
    if (!text.starts_with(", ")) return {};
    text.remove_prefix(2);
  }
}

bool for_others(Language language, const std::vector<Language>& only) {
  return !only.empty() && std::find(only.begin(), only.end(), language) == only.end();
}

}  // namespace

std::string guide_for(kernel::Language language, std::string_view guide) {
  constexpr std::string_view kSection = "## ", kCell = " | ", kCommands = "On the command line";
  std::string out;
  bool left_out = false, code = false;
  while (!guide.empty()) {
    const size_t end = std::min(guide.find('\n'), guide.size());
    const std::string_view line = guide.substr(0, end);
    guide.remove_prefix(std::min(end + 1, guide.size()));
    if (line.starts_with("```")) code = !code;
    if (!code && line.starts_with(kSection))
      left_out = line.substr(kSection.size()) == kCommands || for_others(language, languages_of(line.substr(kSection.size()), true));
    if (left_out) continue;
    if (!code && line.starts_with("| ")) {
      const size_t cell = line.find(kCell);
      if (cell != std::string_view::npos && for_others(language, languages_of(line.substr(cell + kCell.size()), false))) continue;
    }
    out.append(line).append("\n");
  }
  return out;
}

}  // namespace hone::agent
