#include "hone/pattern/names.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "hone/pattern/draft.h"

namespace hone::pattern {
namespace {

using task::IntExpr;
using Symbols = std::map<std::string, IntExpr, std::less<>>;

/// Chooses names: those made first are the shorter ones, which keep their looks.
class Chooser {
 public:
  std::string choose(std::string_view prefix, const std::string& name) {
    std::string wanted = name;
    if (is_taken(fmt::format("{}{}", prefix, wanted))) std::erase(wanted, '_');
    std::string chosen = fmt::format("{}{}", prefix, wanted);
    for (int number = 2; is_taken(chosen); ++number) chosen = fmt::format("{}{}n{}", prefix, wanted, number);
    taken_.insert(chosen);
    return chosen;
  }

 private:
  /// Whether one is the other, or the other with "_…" behind.
  [[nodiscard]] bool is_taken(const std::string& name) const {
    return std::any_of(taken_.begin(), taken_.end(), [&](const std::string& other) {
      return name == other || name.starts_with(other + "_") || other.starts_with(name + "_");
    });
  }
  std::set<std::string> taken_;
};

void rename(task::TensorType& type, const Symbols& symbols) {
  for (IntExpr& dim : type.dims) dim = dim.substitute(symbols);
}

void rename(task::Node& node, const Symbols& symbols) {
  rename(node.type, symbols);
  for (auto& [key, value] : node.attrs) {
    if (auto* const expression = std::get_if<IntExpr>(&value)) *expression = expression->substitute(symbols);
    if (auto* const dims = std::get_if<task::Dims>(&value))
      for (IntExpr& dim : *dims) dim = dim.substitute(symbols);
  }
}

}  // namespace

Names::Names(const task::Task& given) : task_(given) {
  Chooser chooser;
  struct Named {
    std::string_view prefix;
    std::string name;
  };
  std::vector<Named> all;
  for (const std::string& symbol : given.symbols()) all.push_back({"n_", symbol});
  for (const task::InputSpec& input : given.inputs) all.push_back({"in_", input.name});
  for (const auto& [name, type] : given.outputs) all.push_back({"out_", name});
  std::stable_sort(all.begin(), all.end(), [](const Named& a, const Named& b) { return a.name.size() < b.name.size(); });
  Symbols symbols;
  std::map<std::string, std::string, std::less<>> tensors;
  for (const auto& [prefix, name] : all) {
    const std::string ours = chooser.choose(prefix, name);
    if (prefix == "n_") {
      symbols.emplace(name, IntExpr::symbol(ours));
      symbols_.emplace(ours, name);
    } else {
      tensors.emplace(name, ours);
      tensors_.emplace(ours, name);
    }
  }
  for (task::InputSpec& input : task_.inputs) {
    input.name = tensors.at(input.name);
    rename(input.type, symbols);
    input.index_bound = input.index_bound.substitute(symbols);
  }
  for (auto& [name, type] : task_.outputs) {
    name = tensors.at(name);
    rename(type, symbols);
  }
  task::Graph& graph = task_.primitive;
  for (std::string& name : graph.output_names) name = tensors.at(name);
  for (task::Node& node : graph.nodes) {
    rename(node, symbols);
    if (node.prim == task::Prim::kInput) node.attrs["name"] = tensors.at(node.attr<std::string>("name"));
    if (!node.name.empty()) node.name = "t_" + node.name;
  }
  for (task::Workload& workload : task_.workloads) {
    task::Bindings bindings;
    for (const auto& [name, value] : workload.bindings)
      if (const auto symbol = symbols.find(name); symbol != symbols.end()) bindings[*symbol->second.symbols().begin()] = value;
    workload.bindings = std::move(bindings);
  }
}

kernel::Kernel Names::given(const kernel::Kernel& kernel) const {
  Symbols symbols;
  std::set<std::string, std::less<>> users;
  for (const auto& [ours, name] : symbols_) symbols.emplace(ours, IntExpr::symbol(name)), users.insert(name);
  std::map<std::string, std::string, std::less<>> tensors = tensors_;
  std::set<std::string, std::less<>> user_tensors;
  for (const auto& [ours, name] : tensors_) user_tensors.insert(name);
  for (const kernel::Workspace& workspace : kernel.header.workspaces) {
    std::string name = workspace.name;
    while (user_tensors.contains(name)) name += "_";
    tensors.emplace(workspace.name, name);
  }
  Rename rename{.tensors = std::move(tensors), .symbols = std::move(symbols)};
  for (const kernel::Tunable& tunable : kernel.header.tunables) {
    std::string name = tunable.name;
    while (users.contains(name)) name += "_";
    if (name != tunable.name) rename.tunables.emplace(tunable.name, name);
  }
  return kernel_of(renamed(draft_of(kernel), rename), kernel.author);
}

std::vector<Offer> Names::given(std::vector<Offer> offers) const {
  for (Offer& offer : offers) offer.kernel = given(offer.kernel);
  return offers;
}

}  // namespace hone::pattern
