#include "hone/face/export/amalgamation.h"

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/face/export/source_text.h"

namespace hone::face {

Status Amalgamation::add(const std::string& name) {
  if (!seen_.insert(name).second) return {};
  const auto content = base::find_embedded(prefix_ + name);
  if (!content) return fail(ErrorCode::kInput, fmt::format("#include \"{}\": hone has no such header", name));
  // Our own files include under no condition, so there is no namespace to leave.
  HONE_TRY(const MovedSource moved, move_source(*content, name, {}, {}));
  for (const std::string& needed : moved.hone) HONE_TRY_VOID(add(needed));
  const size_t first = moved.text.find_first_not_of('\n');
  if (first != std::string::npos) text_ += fmt::format("// ---- {}\n{}\n", name, moved.text.substr(first));
  system_.insert(moved.system.begin(), moved.system.end());
  macros_.insert(macros_.end(), moved.macros.begin(), moved.macros.end());
  return {};
}

std::string undefine(const std::vector<std::string>& macros) {
  std::string text;
  for (const std::string& macro : macros) text += fmt::format("#undef {}\n", macro);
  return text;
}

}  // namespace hone::face
