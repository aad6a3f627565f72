// The languages that a kernel can be written in: one row a language, which says how its files look and what its launches
// need. Constants; thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hone::kernel {

enum class Language : uint8_t { kCpp, kCuda, kHip, kTriton, kTileLang };

/// How a launch says how many threads work on a block.
enum class Threads : uint8_t {
  kNone,     ///< it does not: a CPU's thread walks the grid
  kBlock,    ///< `block`: one to three extents, in threads
  kWarps,    ///< `warps`, `stages`, `ctas`: the compiler lays threads out by itself, and shared memory too
  kCompiled, ///< it says arguments alone: grid, threads and shared memory come with what the compiler makes of the source
};

struct LanguageRow {
  Language language;
  std::string_view name;       ///< "c++", "triton": in a header's `language`
  std::string_view title;      ///< "C++", "Triton": in documents for people
  std::string_view suffix;     ///< ".py": of its files
  std::string_view open;       ///< what a header's comment begins with: `/* hone`, `"""hone`
  std::string_view close;      ///< and ends with
  std::string_view fence;      ///< names it in Markdown: "python"
  Threads threads;
  bool repeats, clusters;      ///< a launch may say `repeat`; may say `cluster`
  std::string_view emulator;   ///< target that judges it without a device; empty: it runs on this CPU, or nowhere
};

[[nodiscard]] std::span<const LanguageRow> languages();
[[nodiscard]] const LanguageRow& row_of(Language language);
[[nodiscard]] std::string_view name_of(Language language);  ///< "c++", "cuda", …
[[nodiscard]] std::optional<Language> language_from(std::string_view name);
[[nodiscard]] std::string language_names();  ///< all of them, for messages: "c++, cuda, …"

}  // namespace hone::kernel
