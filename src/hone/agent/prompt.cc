#include "hone/agent/prompt.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "hone/agent/model/message.h"
#include "hone/base/embedded.h"
#include "hone/base/hash.h"

namespace hone::agent {
namespace {

constexpr std::string_view kFolder = "prompts/", kEnding = ".md", kRule = "+++\n", kVersion = "version = ", kGuide = "docs/kernels.md";

struct PromptFile {
  int version = 0;
  std::string_view text;
};

std::string path_of(std::string_view name) { return fmt::format("{}{}{}", kFolder, name, kEnding); }

/// The parts of a prompt's file; `content` must outlive them.
Result<PromptFile> parts_of(std::string_view name, std::optional<std::string_view> content) {
  if (!content) return fail(ErrorCode::kInternal, fmt::format("there is no prompt \"{}\"", name));
  const size_t end = content->find(kRule, kRule.size());
  const size_t version = content->find(kVersion);
  if (!content->starts_with(kRule) || end == std::string_view::npos || version > end)
    return fail(ErrorCode::kInternal, fmt::format("the prompt \"{}\" says no version", name));
  PromptFile file;
  file.text = content->substr(end + kRule.size());
  const std::string_view digits = content->substr(version + kVersion.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), file.version);
  return file;
}

/// Without control characters but line ends and tabs, and without what is not UTF-8.
std::string clean(std::string_view text) {
  std::string out = valid_utf8(text);
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) c = ' ';
  }
  return out;
}

Result<std::string> fill(std::string_view name, std::optional<std::string_view> content,
                         const std::map<std::string, std::string, std::less<>>& values) {
  HONE_TRY(const PromptFile file, parts_of(name, content));
  std::string out;
  std::string_view rest = file.text;
  for (;;) {
    const size_t open = rest.find("{{");
    out += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const size_t close = rest.find("}}", open);
    const std::string_view place = rest.substr(open + 2, close == std::string_view::npos ? 0 : close - open - 2);
    const auto value = values.find(place);
    if (value == values.end()) return fail(ErrorCode::kInternal, fmt::format("the prompt \"{}\" has a place \"{}\" that nobody fills", name, place));
    out += value->second;
    rest.remove_prefix(close + 2);
  }
  return out;
}

}  // namespace

Documents own_documents() {
  Documents all;
  for (const std::string_view path : base::list_embedded(kFolder)) all.emplace(path, *base::find_embedded(path));
  if (const auto guide = base::find_embedded(kGuide)) all.emplace(kGuide, *guide);
  return all;
}

Result<std::string> prompt(std::string_view name, const std::map<std::string, std::string, std::less<>>& values) {
  return fill(name, base::find_embedded(path_of(name)), values);
}

Result<std::string> prompt(const Documents& documents, std::string_view name, const std::map<std::string, std::string, std::less<>>& values) {
  const auto found = documents.find(path_of(name));
  return fill(name, found == documents.end() ? std::nullopt : std::optional<std::string_view>(found->second), values);
}

std::map<std::string, int> prompt_versions() {
  std::map<std::string, int> all;
  for (const std::string_view path : base::list_embedded(kFolder)) {
    const std::string name(path.substr(kFolder.size(), path.size() - kFolder.size() - kEnding.size()));
    if (const auto file = parts_of(name, base::find_embedded(path))) all[name] = file->version;
  }
  return all;
}

std::string material(std::string_view label, std::string_view text, size_t most) {
  const std::string body = bounded(clean(text), most);
  const std::string mark = fmt::format("{}-{}", label, base::short_hash(base::content_hash(body)));
  return fmt::format("<<<{}\n{}{}{}>>>", mark, body, body.ends_with('\n') || body.empty() ? "" : "\n", mark);
}

std::string one_line(std::string_view text, size_t most) {
  std::string out = clean(text);
  for (char& c : out)
    if (c == '\n' || c == '\t') c = ' ';
  if (out.size() <= most) return out;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0U) == 0x80U) --end;
  return out.substr(0, end) + "…";
}

std::string in_words(std::string_view text, size_t most) {
  std::string whole = one_line(text, std::string::npos);
  if (whole.size() <= most) return whole;
  // A word without end is cut like anything else.
  const size_t space = whole.rfind(' ', most);
  if (space == std::string::npos || space < most / 2) return one_line(text, most);
  whole.resize(space);
  return whole + " …";
}

}  // namespace hone::agent
