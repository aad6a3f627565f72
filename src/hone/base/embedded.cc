#include "hone/base/embedded.h"

#include <algorithm>

namespace hone::base {
namespace {

// Initialised before any constructor runs, whatever the order of translation units.
constinit const EmbeddedFiles* first = nullptr;

}  // namespace

EmbeddedFiles::EmbeddedFiles(std::span<const EmbeddedFile> files) : files_(files), next_(first) {
  first = this;
}

std::optional<std::string_view> find_embedded(std::string_view name) {
  for (const EmbeddedFiles* set = first; set != nullptr; set = set->next())
    for (const EmbeddedFile& file : set->files())
      if (file.name == name) return file.content;
  return std::nullopt;
}

std::vector<std::string_view> list_embedded(std::string_view prefix) {
  std::vector<std::string_view> names;
  for (const EmbeddedFiles* set = first; set != nullptr; set = set->next())
    for (const EmbeddedFile& file : set->files())
      if (file.name.starts_with(prefix)) names.push_back(file.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hone::base
