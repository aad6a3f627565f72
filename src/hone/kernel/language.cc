#include "hone/kernel/language.h"

namespace hone::kernel {
namespace {

// In the order of the enumeration.
constexpr LanguageRow kRows[] = {
    {Language::kCpp, "c++", ".cc", "/* hone", "*/", "cpp", Threads::kNone, TunableWay::kMacro, ""},
    {Language::kOpenCl, "opencl", ".cl", "/* hone", "*/", "c", Threads::kBlock, TunableWay::kMacro, ""},
    {Language::kCuda, "cuda", ".cu", "/* hone", "*/", "cuda", Threads::kBlock, TunableWay::kMacro, "emulator:cuda"},
    {Language::kHip, "hip", ".hip", "/* hone", "*/", "cpp", Threads::kBlock, TunableWay::kMacro, "emulator:hip"},
    {Language::kTriton, "triton", ".py", "\"\"\"hone", "\"\"\"", "python", Threads::kWarps, TunableWay::kArgument, "emulator:triton"},
    {Language::kTileLang, "tilelang", ".py", "\"\"\"hone", "\"\"\"", "python", Threads::kNone, TunableWay::kArgument, ""},
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

}  // namespace hone::kernel
