#include "mutants.h"

#include <set>
#include <sstream>

#include "hone/pattern/plain.h"

namespace hone::sensitivity {
namespace {

/// The first line of `text` from where the two differ; the whole of a launch plan is one place.
std::string first_difference(const std::string& right, const std::string& text) {
  std::istringstream a(right), b(text);
  std::string line, other;
  bool in_header = true;
  std::string header_line;
  while (std::getline(b, line)) {
    if (!std::getline(a, other)) other.clear();
    if (line != other) {
      const size_t start = line.find_first_not_of(' ');
      const std::string trimmed = start == std::string::npos ? "" : line.substr(start);
      if (!in_header) return trimmed;
      if (header_line.empty()) header_line = trimmed;
    }
    if (line == "*/" || line.rfind("*/", line.size() - 2) != std::string::npos) in_header = false;
  }
  return header_line;
}

}  // namespace

std::vector<Mutant> mutants_of(const task::Task& task) {
  const kernel::Kernel right = pattern::plain_cpp(task);
  std::vector<Mutant> all;
  std::set<std::string> sources{right.source};
  const auto add = [&](const std::string& what, kernel::Kernel kernel) {
    if (sources.insert(kernel.source).second) all.push_back({what, first_difference(right.source, kernel.source), std::move(kernel)});
  };
  for (WrongGraph& wrong : wrong_graphs(task.primitive)) {
    task::Task mutated = task;
    mutated.primitive = std::move(wrong.graph);
    add(wrong.what, pattern::plain_cpp(mutated));
  }
  std::vector<std::vector<pattern::Mistake>> places;
  (void)pattern::plain_cpp(task, [&](const std::string& text, const std::vector<pattern::Mistake>& wrong) {
    places.push_back(wrong);
    return text;
  });
  for (size_t place = 0; place < places.size(); ++place)
    for (size_t k = 0; k < places[place].size(); ++k) {
      size_t at = 0;
      add(places[place][k].what, pattern::plain_cpp(task, [&](const std::string& text, const std::vector<pattern::Mistake>& wrong) {
            return at++ == place ? wrong[k].text : text;
          }));
    }
  return all;
}

}  // namespace hone::sensitivity
