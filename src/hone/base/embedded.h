// Files built into the program: patterns, device headers, helper scripts, the runner. Named as
// cmake/hone_embed.cmake was told ("patterns/cpp/rows.cc"). Contents live as long as the program and
// are followed by a NUL byte that the view does not count. Thread-safe once main() has begun.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hone::base {

/// The content of an embedded file; empty when no file of that name was linked in.
[[nodiscard]] std::optional<std::string_view> find_embedded(std::string_view name);

/// Names that begin with `prefix`, sorted.
[[nodiscard]] std::vector<std::string_view> list_embedded(std::string_view prefix);

struct EmbeddedFile {
  std::string_view name, content;
};

/// What generated sources declare, one object each: adds its files to the program's.
class EmbeddedFiles {
 public:
  explicit EmbeddedFiles(std::span<const EmbeddedFile> files);
  EmbeddedFiles(const EmbeddedFiles&) = delete;
  EmbeddedFiles& operator=(const EmbeddedFiles&) = delete;

  [[nodiscard]] std::span<const EmbeddedFile> files() const { return files_; }
  [[nodiscard]] const EmbeddedFiles* next() const { return next_; }

 private:
  std::span<const EmbeddedFile> files_;
  const EmbeddedFiles* next_;
};

}  // namespace hone::base
