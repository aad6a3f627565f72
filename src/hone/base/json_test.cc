#include "hone/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "hone/base/fields.h"
#include "hone/base/random.h"

namespace hone::base {
namespace {

using ::testing::HasSubstr;

Json parsed(std::string_view text) {
  auto value = parse_json(text, "test");
  EXPECT_TRUE(value) << (value ? "" : value.error().to_string());
  return value ? *value : Json();
}

TEST(JsonTest, writes_sorted_and_without_white_space) {
  EXPECT_EQ(canonical_json(parsed(R"( { "b" : [ 1 , true , null ] , "a" : { } , "B" : "x" } )")),
            R"({"B":"x","a":{},"b":[1,true,null]})");
  EXPECT_EQ(canonical_json(Json()), "null");
  EXPECT_EQ(canonical_json(Json::array()), "[]");
}

TEST(JsonTest, writes_numbers_in_one_way) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(canonical_json(Json(0.1)), "0.1");
  EXPECT_EQ(canonical_json(Json(1.0)), "1.0");
  EXPECT_EQ(canonical_json(Json(-0.0)), "-0.0");
  EXPECT_EQ(canonical_json(Json(1e300)), "1e+300");
  EXPECT_EQ(canonical_json(Json(5e-324)), "5e-324");
  EXPECT_EQ(canonical_json(Json(std::nan(""))), "null");
  EXPECT_EQ(canonical_json(Json({inf, -inf})), "[null,null]");
  EXPECT_EQ(canonical_json(Json(INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(canonical_json(Json(UINT64_MAX)), "18446744073709551615");
}

TEST(JsonTest, doubles_read_back_bit_for_bit) {
  Rng random(5);
  for (int i = 0; i < 20'000; ++i) {
    const auto value = std::bit_cast<double>(random.next_u64());
    if (!std::isfinite(value)) continue;
    const std::string text = canonical_json(Json(value));
    const Json back = parsed(text);
    ASSERT_TRUE(back.is_number_float()) << text;
    ASSERT_EQ(std::bit_cast<uint64_t>(back.get<double>()), std::bit_cast<uint64_t>(value)) << text;
    ASSERT_EQ(canonical_json(back), text);
  }
}

TEST(JsonTest, writes_any_string) {
  EXPECT_EQ(canonical_json(Json("a\"b\\c\n\x01é")), "\"a\\\"b\\\\c\\n\\u0001é\"");
  EXPECT_EQ(canonical_json(Json("\xff!")), "\"\xEF\xBF\xBD!\"");
  EXPECT_EQ(canonical_json(Json{{"\xff", 1}}), "{\"\xEF\xBF\xBD\":1}");
}

TEST(JsonTest, says_where_text_is_wrong) {
  const auto wrong = parse_json("{\n  \"a\": nope\n}", "reply.json");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kInput);
  EXPECT_THAT(wrong.error().context, HasSubstr("reply.json:2:"));
  EXPECT_THAT(wrong.error().message, HasSubstr("not valid JSON: syntax error"));
  for (const char* text : {"", "{", "[1,]", "1 2", "{\"a\":1e999}", "\"\xff\""}) {
    EXPECT_FALSE(parse_json(text, "x")) << text;
  }
}

TEST(JsonTest, refuses_towers) {
  const auto tower = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_TRUE(parse_json(tower(200), "x"));
  EXPECT_THAT(parse_json(tower(100'000), "x").error().message, HasSubstr("levels deep"));
}

TEST(JsonTest, reads_members) {
  const Json object = parsed(R"({"s":"x","i":-3,"u":18446744073709551615,"d":2.5,"b":true,"n":null})");
  EXPECT_EQ(string_at(object, "s"), "x");
  EXPECT_EQ(int_at(object, "i"), -3);
  EXPECT_EQ(bool_at(object, "b"), true);
  EXPECT_EQ(number_at(object, "d"), 2.5);
  EXPECT_EQ(number_at(object, "i"), -3.0);
  EXPECT_TRUE(std::isnan(number_at(object, "n").value()));
  EXPECT_EQ(string_at(object, "absent").error().message, "'absent' is missing");
  EXPECT_EQ(string_at(object, "i").error().message, "'i': expected a string, found -3");
  EXPECT_EQ(int_at(object, "d").error().message, "'d': expected a 64-bit integer, found 2.5");
  EXPECT_FALSE(int_at(object, "u"));
  EXPECT_FALSE(bool_at(object, "i"));
  EXPECT_FALSE(number_at(object, "s"));
  EXPECT_EQ(int_at(Json::array(), "i").error().message, "expected an object with 'i', found array");
}

TEST(JsonTest, whole_numbers_are_read_exactly_or_refused) {
  EXPECT_EQ(exactly<int>(parsed("-7")), -7);
  EXPECT_EQ(exactly<uint64_t>(parsed("18446744073709551615")), UINT64_MAX);
  for (const char* const text : {"1e300", "-1e300", "7.0", "2147483648", "\"7\"", "null", "18446744073709551616"}) EXPECT_THROW(static_cast<void>(exactly<int>(parsed(text))), Json::exception) << text;
  EXPECT_THROW(static_cast<void>(exactly<int64_t>(parsed("9223372036854775808"))), Json::exception);
  EXPECT_EQ(exactly(parsed("{\"a\":3}"), "a", 5), 3);
  EXPECT_EQ(exactly(parsed("{}"), "a", 5), 5);
  EXPECT_THROW(static_cast<void>(exactly(parsed("{\"a\":\"3\"}"), "a", 5)), Json::exception);
}

}  // namespace
}  // namespace hone::base
