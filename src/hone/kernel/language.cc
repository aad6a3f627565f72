#include "hone/kernel/language.h"

namespace hone::kernel {
namespace {

// In the order of the enumeration.
constexpr LanguageRow kRows[] = {
    {Language::kCpp, "c++", "C++", ".cc", "/* hone", "*/", "cpp", Threads::kNone, false, false, ""},
    {Language::kCuda, "cuda", "CUDA", ".cu", "/* hone", "*/", "cuda", Threads::kBlock, true, true, "emulator:cuda"},
    {Language::kHip, "hip", "HIP", ".hip", "/* hone", "*/", "hip", Threads::kBlock, true, false, "emulator:hip"},
    {Language::kTriton, "triton", "Triton", ".py", "\"\"\"hone", "\"\"\"", "python", Threads::kWarps, false, false, "emulator:triton"},
    {Language::kTileLang, "tilelang", "TileLang", ".py", "\"\"\"hone", "\"\"\"", "python", Threads::kCompiled, false, false, "emulator:cuda"},
};

}  // namespace

std::span<const LanguageRow> languages() { return kRows; }

const LanguageRow& row_of(Language language) { return kRows[static_cast<size_t>(language)]; }

std::string_view name_of(Language language) { return row_of(language).name; }

std::optional<Language> language_from(std::string_view name) {
  for (const LanguageRow& row : kRows)
    if (row.name == name) return row.language;
  return std::nullopt;
}

std::string language_names() {
  std::string all;
  for (const LanguageRow& row : kRows) all += (all.empty() ? "" : ", ") + std::string(row.name);
  return all;
}

}  // namespace hone::kernel
