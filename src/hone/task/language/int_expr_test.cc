#include "hone/task/language/int_expr.h"
#include "hone/task/language/int_expr_python.h"

#include <gtest/gtest.h>

#include <limits>

namespace hone::task {
namespace {

IntExpr parse(std::string_view text) {
  auto e = IntExpr::parse(text);
  EXPECT_TRUE(e.has_value()) << text << ": " << (e ? "" : e.error().to_string());
  return e ? *e : IntExpr(0);
}

const Bindings kValues{{"B", 3}, {"D", 10}, {"H", 7}, {"N", 1000}};

TEST(IntExpr, Evaluates) {
  const std::pair<const char*, int64_t> cases[] = {{"1 + 2 * 3", 7},
                                                   {"(1 + 2) * 3", 9},
                                                   {"-7 // 2", -4},
                                                   {"-7 % 2", 1},
                                                   {"7 % -2", -1},
                                                   {"7 // -2", -4},
                                                   {"ceil_div(-7, 2)", -3},
                                                   {"ceil_div(N, 128)", 8},
                                                   {"align(N, 128)", 1024},
                                                   {"min(B, D, H)", 3},
                                                   {"max(B, 5)", 5},
                                                   {"abs(B - D)", 7},
                                                   {"select(B < D, H, 0)", 7},
                                                   {"next_power_of_2(N)", 1024},
                                                   {"next_power_of_2(1024) + next_power_of_2(1025)", 3072},
                                                   {"next_power_of_2(B - B) + next_power_of_2(-5)", 2},
                                                   {"B < D and D < N", 1},
                                                   {"not B", 0},
                                                   {"B == 3 or 1 // 0", 1},
                                                   {"D % 4 == 0", 0},
                                                   {"B * (D + H) - 1", 50},
                                                   {"10 - 2 - 3", 5},
                                                   {"N // 10 // 10", 10},
                                                   {"--B", 3},
                                                   {"B > 2", 1},
                                                   {"B >= 4", 0},
                                                   {"B != 3", 0},
                                                   {"not B == 3", 0}};
  for (const auto& [text, expected] : cases) {
    const auto value = parse(text).eval(kValues);
    ASSERT_TRUE(value.has_value()) << text << ": " << value.error().to_string();
    EXPECT_EQ(*value, expected) << text;
  }
}

TEST(IntExpr, EqualForms) {
  const std::pair<const char*, const char*> cases[] = {{"B * D", "D * B"},
                                                       {"(B + 1) * (B - 1)", "B * B - 1"},
                                                       {"B + B", "2 * B"},
                                                       {"(4 * B + D) // 4", "B + D // 4"},
                                                       {"(N + 127) // 128", "ceil_div(N, 128)"},
                                                       {"(8 * B + 3) % 4", "3"},
                                                       {"(H - 1) // 2 + 1", "ceil_div(H, 2)"},
                                                       {"B > D", "D < B"},
                                                       {"1024 >= B", "B <= 1024"},
                                                       {"min(B, min(D, 3), 5)", "min(3, D, B)"},
                                                       {"B - B", "0"},
                                                       {"align(N, 4)", "ceil_div(N, 4) * 4"},
                                                       {"max(B, B)", "B"},
                                                       {"B < B + 1", "1"}};
  for (const auto& [a, b] : cases) EXPECT_EQ(parse(a), parse(b)) << a << "  " << b;
  EXPECT_FALSE(parse("B * D") == parse("B * B"));
  EXPECT_FALSE(parse("B // D") == parse("D // B"));
  EXPECT_FALSE(parse("B < D") == parse("B <= D"));
}

TEST(IntExpr, CanonicalText) {
  const std::pair<const char*, const char*> cases[] = {{"D*B*2+1", "2*B*D + 1"},
                                                       {"1-D", "1 - D"},
                                                       {"-D", "-D"},
                                                       {"(N//4)*4", "4*(N // 4)"},
                                                       {"-(N // 4)", "-(N // 4)"},
                                                       {"(B+D)//H", "(B + D) // H"},
                                                       {"B*D//H", "B*D // H"},
                                                       {"B//(D//H)", "B // (D // H)"},
                                                       {"D%4==0", "D % 4 == 0"},
                                                       {"not (B and D)", "not (B and D)"},
                                                       {"(B or D) and H", "(B or D) and H"},
                                                       {"4096<=N", "N >= 4096"},
                                                       {"(B < D) + 1", "(B < D) + 1"},
                                                       {"select(B<D, 1, 2)", "select(B < D, 1, 2)"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(parse(text).to_string(), expected);
    EXPECT_EQ(parse(parse(text).to_string()), parse(text)) << text;
  }
}

TEST(IntExpr, Cpp) {
  EXPECT_EQ(parse("ceil_div(N, 4) + min(B, D, 3)").to_cpp(),
            "hone_ceil_div(N, 4) + hone_min(hone_min(B, D), 3)");
  EXPECT_EQ(parse("N // B % 4 == 0 and B < 3").to_cpp(),
            "int64_t(int64_t(hone_mod(hone_floor_div(N, B), 4) == 0) && int64_t(B < 3))");
  EXPECT_EQ(parse("2*B*D - 1").to_cpp(), "2 * B * D - 1");
}

TEST(IntExpr, Python) {
  EXPECT_EQ(to_python(parse("ceil_div(N, 4) + min(B, D, 3)")), "-(-N // 4) + min(B, D, 3)");
  EXPECT_EQ(to_python(parse("ceil_div(N - 1, B*D) * 4")), "4*-(-(N - 1) // (B*D))");
  EXPECT_EQ(to_python(parse("next_power_of_2(N + B)")), "(1 << max(B + N - 1, 0).bit_length())");
  EXPECT_EQ(parse("next_power_of_2(N)").to_cpp(), "(int64_t{1} << (N > 1 ? 64 - __builtin_clzll(N - 1) : 0))");
  EXPECT_EQ(to_python(parse("N // B % 4 == 0 and B < 3")), "bool(N // B % 4 == 0 and B < 3)");
  EXPECT_EQ(to_python(parse("(B or D) + 1")), "bool(B or D) + 1");
  EXPECT_EQ(to_python(parse("2 * select(B < 4, D, 1 - H)")), "2*(D if B < 4 else 1 - H)");
}

TEST(IntExpr, OverflowAndDivisionAreErrors) {
  EXPECT_FALSE(parse("9223372036854775807 + 1").eval({}).has_value());
  EXPECT_FALSE(parse("9223372036854775807 * 2").eval({}).has_value());
  EXPECT_FALSE(parse("N * N * N * N * N * N * N * N").eval(kValues).has_value());
  EXPECT_FALSE(parse("1 // (B - 3)").eval(kValues).has_value());
  EXPECT_FALSE(parse("D % (B - B)").eval(kValues).has_value());
  const auto unbound = parse("K + 1").eval(kValues);
  ASSERT_FALSE(unbound.has_value());
  EXPECT_EQ(unbound.error().message, "'K' has no value in 'K + 1'");
  // Only the result has to fit.
  const int64_t big = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(parse("4*A - 3*A").eval({{"A", big}}), big);
  EXPECT_EQ(parse("A*B - A*C").eval({{"A", big}, {"B", 5}, {"C", 4}}), big);
}

TEST(IntExpr, ErrorsNameTheColumn) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"", "column 1", "expected an integer, a name or '(', found the end"},
      {"B +", "column 4", "expected an integer, a name or '(', found the end"},
      {"B / 2", "column 3", "expected an operator or the end, found '/'"},
      {"(B", "column 3", "expected ')', found the end"},
      {"foo(3)", "column 1", "there is no function 'foo'"},
      {"ceil_div(3)", "column 1", "ceil_div takes 2 arguments, found 1"},
      {"1 < B < 3", "column 7", "comparisons do not chain"},
      {"99999999999999999999", "column 1", "99999999999999999999 does not fit 64 bits"},
      {"3x", "column 1", "'3x' is neither a number nor a name"},
      {"B $ 3", "column 3", "expected an operator or the end, found '$'"}};
  for (const auto& [text, context, message] : cases) {
    const auto e = IntExpr::parse(text);
    ASSERT_FALSE(e.has_value()) << text;
    EXPECT_EQ(e.error().context, context) << text;
    EXPECT_EQ(e.error().message, message) << text;
  }
  EXPECT_FALSE(IntExpr::parse(std::string(5000, '(')).has_value());
  EXPECT_FALSE(IntExpr::parse(std::string(20'000, '1')).has_value());
}

TEST(IntExpr, SymbolsAndSubstitution) {
  EXPECT_EQ(parse("B * D // H + B").symbols(), (std::set<std::string>{"B", "D", "H"}));
  EXPECT_EQ(parse("B * D // H").substitute({{"H", 4}, {"D", IntExpr::symbol("X") * 8}}), parse("2 * B * X"));
  EXPECT_EQ(parse("select(B < 4, D, H)").substitute({{"B", 3}}), parse("D"));
  EXPECT_TRUE(parse("B - B + 4").is_constant());
  EXPECT_EQ(parse("B - B + 4").constant(), 4);
}

TEST(IntExpr, ExactDivisionAndCertainDifference) {
  EXPECT_EQ(IntExpr::divide_exactly(parse("B*H*D + 2*B*D"), parse("B*D")), parse("H + 2"));
  EXPECT_FALSE(IntExpr::divide_exactly(parse("B*H"), parse("D")).has_value());
  EXPECT_EQ(IntExpr::divide_exactly(parse("B + D"), parse("D + B")), IntExpr(1));
  EXPECT_TRUE(IntExpr::never_equal(parse("D"), parse("D + 1")));
  EXPECT_TRUE(IntExpr::never_equal(parse("D"), parse("2*D")));
  EXPECT_FALSE(IntExpr::never_equal(parse("D"), parse("B")));
  EXPECT_FALSE(IntExpr::never_equal(parse("D"), parse("D")));
  EXPECT_FALSE(IntExpr::never_equal(parse("D // 4 + D"), parse("D")));
}

TEST(IntExpr, ManyTermsStayFactors) {
  std::string sum = "(a0";
  for (int i = 1; i < 40; ++i) sum += " + a" + std::to_string(i);
  sum += ")";
  const IntExpr product = parse(sum + "*" + sum + "*" + sum);
  EXPECT_LT(product.to_string().size(), 1000U);
  Bindings ones;
  for (int i = 0; i < 40; ++i) ones["a" + std::to_string(i)] = 1;
  EXPECT_EQ(product.eval(ones), 64000);
  EXPECT_EQ(parse(product.to_string()), product);
}

}  // namespace
}  // namespace hone::task
