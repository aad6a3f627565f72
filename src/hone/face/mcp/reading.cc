#include "hone/face/mcp/reading.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "hone/agent/guide.h"
#include "hone/agent/prompt.h"
#include "hone/agent/tool.h"
#include "hone/base/embedded.h"
#include "hone/kernel/language.h"
#include "hone/task/reference/language_page.h"

namespace hone::face::mcp {
namespace {

using nlohmann::json;

constexpr size_t kShownInPrompts = size_t{64} << 10;

/// What is embedded under `folder`, as resources under `at`, each with what it says of itself.
void add_files(std::vector<Resource>& all, std::string_view folder, std::string_view at, std::string_view about, std::string_view type) {
  for (const std::string_view path : base::list_embedded(folder)) {
    const std::string name(path.substr(folder.size()));
    if (agent::is_ours_alone(name)) continue;
    const std::string says = agent::about_file(*base::find_embedded(path));
    all.push_back({fmt::format("hone://{}/{}", at, name), name, says.empty() ? name : says, std::string(type),
                   [path]() -> Result<std::string> { return std::string(*base::find_embedded(path)); }, {}, fmt::format("hone://{}s", at)});
  }
  const std::string index = all.back().said_in;
  std::string lines;
  for (const Resource& resource : all)
    if (resource.said_in == index) lines += fmt::format("- {}: {}\n", resource.uri, resource.description);
  all.push_back({index, fmt::format("All of hone://{}/…", at), fmt::format("What each of them is, a line each; {}", about), "text/markdown", [lines]() -> Result<std::string> { return lines; }});
}

Result<std::string> guide_named(const std::string& name) {
  const auto language = kernel::language_from(name);
  if (!language) return fail(ErrorCode::kInput, fmt::format("there is no language \"{}\"", agent::one_line(name, 40)), "a list of " + kernel::language_names());
  return agent::language_guide(*language, agent::own_documents());
}

}  // namespace

std::vector<Resource> resources() {
  std::vector<Resource> all;
  for (const kernel::LanguageRow& row : kernel::languages()) {
    if (!agent::language_guide(row.language, agent::own_documents())) continue;
    all.push_back({fmt::format("hone://guide/{}", row.name), fmt::format("Guide to kernels in {}", row.title), "Header, launch plan, how it is called, what hone has for it, a whole kernel",
                   "text/markdown", [name = std::string(row.name)] { return guide_named(name); }});
  }
  all.push_back({"hone://operations", "The task language", "Task files, and every operation with its signature", "text/markdown", []() -> Result<std::string> { return task::language_page(); }});
  all.push_back({"hone://kernels", "Kernel files", "The whole reference of kernel files", "text/markdown",
                 []() -> Result<std::string> { return std::string(base::find_embedded("docs/kernels.md").value_or("")); }});
  for (const std::string_view path : base::list_embedded("docs/"))
    all.push_back({fmt::format("hone://doc/{}", path.substr(5)), "A page of hone's documentation", "As other texts name it: accuracy.md, diagnosis.md, emulator.md, json.md, …", "text/markdown",
                   [path]() -> Result<std::string> { return std::string(*base::find_embedded(path)); }, "hone://doc/{name}"});
  add_files(all, "include/", "header", "device headers, which kernels may include", "text/x-c++");
  add_files(all, "patterns/", "pattern", "patterns, which the library's kernels are made of", "text/x-c++");
  return all;
}

std::vector<PromptText> prompts() {
  const PromptText::Argument task{"task", "a task file of hone (TOML)", true}, language{"language", "c++, cuda, hip, triton or tilelang", true},
      target{"target", "cpu, cuda:0, emulator:cuda, …", true}, kernel{"kernel", "the kernel file to improve", true};
  const auto steps = [](const json& a) {
    return fmt::format("Work with hone's tools on the target {0}: explain_task and show_limits first, library_kernels for what there is already; evaluate_kernel for each draft, and "
                       "read what it says of a refusal; diagnose and profile_kernel where it is slow; compare_kernels to decide between two; tune_kernel at the end.\n\n"
                       "The task:\n{1}\n\n",
                       agent::one_line(a["target"].get<std::string>(), 40), agent::material("TASK", a["task"].get<std::string>(), kShownInPrompts));
  };
  return {{"write_kernel", "Write a kernel", "For a task on a target, from the guide to a language", {task, language, target},
           [steps](const json& a) -> Result<std::string> {
             HONE_TRY(const std::string guide, guide_named(a["language"].get<std::string>()));
             return fmt::format("Write a fast kernel for the task below. {}How kernels are written:\n{}", steps(a), guide);
           }},
          {"improve_kernel", "Improve a kernel", "A kernel that is right and should be faster", {task, language, target, kernel},
           [steps](const json& a) -> Result<std::string> {
             HONE_TRY(const std::string guide, guide_named(a["language"].get<std::string>()));
             return fmt::format("Make the kernel below faster. {}The kernel:\n{}\n\nHow kernels are written:\n{}", steps(a),
                                agent::material("KERNEL", a["kernel"].get<std::string>(), kShownInPrompts), guide);
           }}};
}

}  // namespace hone::face::mcp
