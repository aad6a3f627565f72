#include "hone/agent/guide.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "hone/agent/header_names.h"

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

/// What differs between languages in prompts/guide.md, and whose guide is whose.
struct GuideWords {
  Language language;
  std::string_view file, launch_keys, more_args, macros, limits, calling;
};
constexpr GuideWords kGuideWords[] = {
    {Language::kCpp, "guide_cpp", "`shared` (bytes)", ", or `\"shared\"`", "they reach the source as macros", "`THREADS L1_BYTES L2_BYTES L3_BYTES VECTOR_BYTES`",
     "C++ types: f64 `double`, f32 `float`, `hone::bf16`, `hone::f16`, `int64_t` to `int8_t`, `bool`."},
    {Language::kCuda, "guide_cuda", "`block = [\"BLOCK\"]`, `shared` (bytes), `repeat` (times, `STEP` counts)", "", "they reach the source as macros",
     "`SMS SHARED_MAX WAVE`", "Types: f64 `double`, f32 `float`, f16 `__half`, i64 to i8 `long long` to `signed char`, bool `bool`."},
    {Language::kHip, "guide_hip", "`block = [\"BLOCK\"]`, `shared` (bytes), `repeat` (times, `STEP` counts)", "", "they reach the source as macros",
     "`SMS SHARED_MAX WAVE`", "Types: f64 `double`, f32 `float`, f16 `__half`, i64 to i8 `long long` to `signed char`, bool `bool`."},
    {Language::kTriton, "guide_triton", "`warps`, `stages`", ", `\"f32:EXPR\"`, or a constant `\"=EXPR\"`", "pass them as constants, `\"=BLOCK\"`",
     "`SMS SHARED_MAX WAVE`", "A program is a block of the grid."},
    {Language::kTileLang, "guide_tilelang", "no more", ", or a constant `\"=EXPR\"`", "pass them as constants, `\"=BLOCK\"`", "`SMS SHARED_MAX WAVE`",
     "A kernel is built anew for each shape."},
};
constexpr std::string_view kGrid = "`grid = [\"ceil_div(B, ROWS)\"]` (one to three\n  extents), ";

}  // namespace

Documents documents_to_keep() {
  Documents documents = own_documents();
  for (const auto& [file, root] : {std::pair("guide_cpp", "hone/cpu.h"), {"guide_gpu", "hone/gpu.h"}}) {
    const auto told = prompt(documents, file, {{"common", ""}, {"gpu", ""}, {"rest", ""}, {"headers", ""}});
    const auto kept = documents.find(fmt::format("prompts/{}.md", file));
    if (!told || kept == documents.end()) continue;
    for (const auto& [place, words] : {std::pair(std::string("{{rest}}"), names_of_headers(root, *told)), {"{{headers}}", headers_under("hone/gpu/")}})
      if (const size_t at = kept->second.find(place); at != std::string::npos) kept->second.replace(at, place.size(), words);
  }
  return documents;
}

Result<std::string> language_guide(Language language, const Documents& documents) {
  const auto* const words = std::find_if(std::begin(kGuideWords), std::end(kGuideWords), [&](const GuideWords& w) { return w.language == language; });
  if (words == std::end(kGuideWords)) return fail(ErrorCode::kNotFound, fmt::format("there is no guide to kernels in {}", kernel::name_of(language)));
  const kernel::LanguageRow& row = kernel::row_of(language);
  HONE_TRY(const std::string common, prompt(documents, "guide", {{"open", fmt::format("`{}`", row.open)}, {"language", std::string(row.name)},
      {"launch_keys", std::string(words->launch_keys)}, {"more_args", std::string(words->more_args)}, {"macros", std::string(words->macros)},
      {"grid", std::string(row.threads == kernel::Threads::kCompiled ? "" : kGrid)}, {"limits", std::string(words->limits)}, {"calling", std::string(words->calling)}}));
  // What the texts do not name is named by the headers themselves.
  const auto rest_of = [&](std::string_view file, std::string_view root) -> Result<std::string> {
    HONE_TRY(const std::string told, prompt(documents, file, {{"common", ""}, {"gpu", ""}, {"rest", ""}, {"headers", ""}}));
    return names_of_headers(root, told);
  };
  HONE_TRY(const std::string gpu_rest, rest_of("guide_gpu", "hone/gpu.h"));
  HONE_TRY(const std::string gpu, prompt(documents, "guide_gpu", {{"rest", gpu_rest}, {"headers", headers_under("hone/gpu/")}}));
  HONE_TRY(const std::string rest, rest_of(words->file, "hone/cpu.h"));
  return prompt(documents, words->file, {{"common", common}, {"gpu", gpu}, {"rest", rest}});
}

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
