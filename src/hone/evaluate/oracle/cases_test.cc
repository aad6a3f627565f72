// Data-driven: every [[case]] of test/cases/oracle/*.toml. compute and inputs as on a command line;
// data.<input>: values; expected: the first output, to 1e-12 of its scale; scale: to 1e-6, if given.
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <cmath>
#include <filesystem>

#include "hone/evaluate/oracle/testing.h"

namespace hone::evaluate {
namespace {

std::vector<double> numbers(const toml::array* array) {
  std::vector<double> values;
  if (array)
    for (const toml::node& item : *array) values.push_back(item.value_or(std::nan("")));
  return values;
}

void check(const toml::table& item) {
  std::vector<std::string> inputs;
  for (const toml::node& input : *item["inputs"].as_array()) inputs.push_back(input.value_or(std::string()));
  testing::Case c(item["compute"].value_or(std::string()), inputs);
  for (size_t i = 0; i < inputs.size(); ++i)
    c.set(i, numbers(item["data"][c.task.inputs[i].name].as_array()));
  const std::vector<double> expected = numbers(item["expected"].as_array());
  const Answer answer = c.answer();
  ASSERT_EQ(answer.value.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!std::isfinite(expected[i])) {
      EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(answer.value[i]) : answer.value[i] == expected[i])
          << "element " << i << " is " << answer.value[i];
      continue;
    }
    EXPECT_NEAR(answer.value[i], expected[i], 1e-12 * std::max(answer.scale[i], std::abs(expected[i])))
        << "element " << i;
  }
  const std::vector<double> scale = numbers(item["scale"].as_array());
  for (size_t i = 0; i < scale.size(); ++i)
    EXPECT_NEAR(answer.scale[i], scale[i], 1e-6 * scale[i]) << "scale of element " << i;
}

TEST(OracleCases, files) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/test/cases/oracle")) {
    if (entry.path().extension() != ".toml") continue;
    toml::parse_result file = toml::parse_file(entry.path().string());
    ASSERT_TRUE(file) << entry.path() << ": " << file.error().description();
    for (const toml::node& item : *file.table()["case"].as_array()) {
      const toml::table& table = *item.as_table();
      SCOPED_TRACE(entry.path().filename().string() + ":" + std::to_string(table.source().begin.line) + ": " +
                   table["compute"].value_or(std::string()));
      check(table);
      ++count;
    }
  }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace hone::evaluate
