// Every task of test/cases/pattern/ through every offer of the patterns, judged by the evaluator.
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <filesystem>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/evaluate/evaluator.h"
#include "hone/pattern/library.h"

namespace hone::pattern {
namespace {

struct Case {
  std::string name, compute;
  std::vector<std::string> inputs, patterns;
  std::map<std::string, std::string> indices;   ///< inputs that hold numbers below a bound
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<std::string> strings(const toml::array* array) {
  std::vector<std::string> all;
  if (array)
    for (const toml::node& node : *array) all.push_back(node.value_or(std::string()));
  return all;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/test/cases/pattern")) {
    const auto file = toml::parse_file(entry.path().string());
    if (!file) {
      ADD_FAILURE() << entry.path() << ": " << file.error().description();
      continue;
    }
    for (const toml::node& node : *file.table()["case"].as_array()) {
      const toml::table& table = *node.as_table();
      std::map<std::string, std::string> indices;
      if (const toml::table* bounds = table["indices"].as_table())
        for (const auto& [name, bound] : *bounds) indices[std::string(name.str())] = bound.value_or(std::string());
      all.push_back({table["name"].value_or(std::string()), table["compute"].value_or(std::string()),
                     strings(table["inputs"].as_array()), strings(table["patterns"].as_array()), std::move(indices)});
    }
  }
  return all;
}

class Families : public testing::TestWithParam<Case> {};

TEST_P(Families, EveryOfferIsAccepted) {
  const Case& c = GetParam();
  std::string even = "D=192", odd = "D=77";
  const auto bind = [&](char symbol, const char* to_even, const char* to_odd) {
    const bool used = std::any_of(c.inputs.begin(), c.inputs.end(), [&](const std::string& input) {
      return input.find(symbol, input.find('[')) != std::string::npos;
    });
    if (used) even += fmt::format(",{}={}", symbol, to_even), odd += fmt::format(",{}={}", symbol, to_odd);
  };
  bind('B', "8", "5");
  bind('A', "4", "3");
  bind('N', "64", "41");
  auto task = task::task_from_expressions(c.compute, c.inputs, {even, odd});
  ASSERT_TRUE(task) << task.error().to_string();
  for (task::InputSpec& input : task->inputs)
    if (const auto bound = c.indices.find(input.name); bound != c.indices.end()) {
      input.domain = task::Domain::kIndex;
      input.index_bound = task::IntExpr::parse(bound->second).value();
    }
  std::shared_ptr<target::Toolchain> toolchain = target::cpp_toolchain().value();
  evaluate::EvaluatorOptions options;
  options.repetitions = 1;
  auto evaluator = evaluate::cpu_evaluator(*task, toolchain, options);
  ASSERT_TRUE(evaluator) << evaluator.error().to_string();
  const kernel::Kernel naive = naive_cpp(*task);
  const auto plain = (*evaluator)->screen(naive);
  ASSERT_TRUE(plain) << plain.error().to_string();
  EXPECT_TRUE(plain->verdict.accepted()) << plain->verdict.reason << "\n" << plain->verdict.detail << naive.source;
  std::vector<std::string> why_not;
  const auto offers = offers_cpp(*task, why_not);
  base::Rng rng(7);
  for (const std::string& wanted : c.patterns)
    EXPECT_TRUE(std::any_of(offers.begin(), offers.end(), [&](const Offer& o) { return o.pattern == wanted; }))
        << wanted << "; " << fmt::format("{}", fmt::join(why_not, "; "));
  for (const Offer& offer : offers)
    for (int drawn = 0; drawn < 2; ++drawn) {
      kernel::Kernel kernel = offer.kernel;
      if (drawn)
        for (const auto& tunable : kernel.header.tunables)
          kernel.config[tunable.name] = tunable.values[rng.below(tunable.values.size())];
      const auto screening = (*evaluator)->screen(kernel);
      ASSERT_TRUE(screening) << screening.error().to_string();
      EXPECT_TRUE(screening->verdict.accepted())
          << offer.pattern << ": " << offer.action << ": " << evaluate::name_of(screening->verdict.kind) << ": "
          << screening->verdict.reason << "\n" << screening->verdict.detail << "\n" << kernel::with_config(kernel, kernel.config);
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, Families, testing::ValuesIn(cases()), [](const auto& parameter) {
  std::string name = parameter.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace hone::pattern
