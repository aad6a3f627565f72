#include "hone/pattern/compose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/draft.h"

namespace hone::pattern {
namespace {

constexpr std::string_view kAboutParts =
    "\n{0} One part after the other, its functions under its name; what one leaves to the next lies in the workspaces between*.\n"
    "{0} Tunables and workspaces of a part carry its number.\n";

/// Part `number`'s names, apart from all other parts'.
Rename names_of_part(const kernel::Header& header, size_t number) {
  Rename rename;
  rename.space = fmt::format("part_{}", number);
  for (const auto& tunable : header.tunables) rename.tunables.emplace(tunable.name, fmt::format("{}_{}", tunable.name, number));
  for (const auto& workspace : header.workspaces) rename.tensors.emplace(workspace.name, fmt::format("{}_{}", workspace.name, number));
  return rename;
}

}  // namespace

kernel::Kernel composed(const Partition& partition, const std::vector<kernel::Kernel>& kernels) {
  std::vector<Draft> drafts;
  std::vector<std::string> notes;
  const std::string_view remark = is_python(kernels.front().header) ? "#" : "//";
  for (const kernel::Kernel& kernel : kernels) {
    const size_t number = drafts.size() + 1;
    Draft draft = renamed(draft_of(kernel), names_of_part(kernel.header, number));
    // A kernel without includes has nothing before its text, which begins a line of its own all the same.
    draft.about = fmt::format("\n{} ---- part {} ----{}{}", remark, number, draft.about.starts_with('\n') ? "" : "\n", draft.about);
    drafts.push_back(std::move(draft));
    notes.push_back(kernel.header.note);
  }
  Draft all = joined(drafts);
  all.about = fmt::format(kAboutParts, remark);
  all.header.pattern = "parts";
  all.header.note = fmt::format("{} parts: {}", kernels.size(), fmt::join(notes, " | "));
  for (const auto& [name, type] : partition.between) all.header.workspaces.push_back({name, type, false});
  return kernel_of(all, "pattern:parts");
}

}  // namespace hone::pattern
