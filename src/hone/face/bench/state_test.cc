#include "hone/face/bench/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/base/file.h"

namespace hone::face::bench {
namespace {

/// A record as a bench of one task left it.
std::string record() { return base::read_file(std::string(HONE_SOURCE_DIR) + "/test/fuzz/corpus/page/bench").value(); }

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = record();
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

TEST(BenchState, IsReadBackAsItWasKept) {
  const auto state = state_from(record(), "state.json");
  ASSERT_TRUE(state.has_value()) << state.error().to_string();
  EXPECT_EQ(state->rows().size(), 1u);
  EXPECT_EQ(to_text(*state_from(to_text(*state), "again")), to_text(*state));
}

TEST(BenchState, WhatIsNoneIsCorrupt) {
  const std::string deep(1'000'000, '[');
  for (const std::string& text : {std::string("no JSON"), std::string("[]"), std::string("{}"), replaced("\"created_unix_ms\":", "\"created_unix_ms\":1e300,\"x\":"),
                                  replaced("\"machine\":{", "\"machine\":7,\"x\":{\"deep\":" + deep), replaced("\"row\":{", "\"row\":7,\"x\":{"),
                                  replaced("\"seed\":1", "\"seed\":-1e300"), replaced("\"spent\":0.0", "\"spent\":\"long\"")}) {
    const auto state = state_from(text, "state.json");
    ASSERT_FALSE(state.has_value()) << text.substr(0, 200);
    EXPECT_EQ(state.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace hone::face::bench
