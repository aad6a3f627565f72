// What headers are found to offer, and that the guides leave none of it out.
#include "hone/agent/header_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "hone/agent/guide.h"
#include "hone/base/embedded.h"
#include "hone/kernel/language.h"

namespace hone::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HeaderNames, AreThoseForWhoeverIncludesIt) {
  EXPECT_THAT(public_names(R"(// A comment with struct Nothing { and a brace.
#pragma once
#include "hone/other.h"
#define HONE_BODY __attribute__((always_inline))
#if defined(__clang__)
#define HONE_UNROLL(n) HONE_PRAGMA(clang loop unroll_count(n))
#else
#define HONE_UNROLL(n) HONE_PRAGMA(GCC unroll n)
#endif
#define HONE_HERE(name, ...) \
  HONE_INLINE int name() { return 1; }
#undef HONE_HERE
namespace hone {
namespace detail {
HONE_INLINE int hidden() { return 1; }
struct Hidden {};
}  // namespace detail
typedef float f32v __attribute__((vector_size(64)));
template <class V>
inline constexpr int width = 16;
template <class V, class... T>
concept Vector = requires(V v) { v[0]; };
struct All {};
template <class V, class OP, bool BACK = (1 > 0)>
class Scan {
 public:
  HONE_INLINE V next(V v) { return step(v); }
};
template <>
struct Scan<int, int> {};
using Pair = detail::Hidden;
/* struct Gone {}; */
template <class V, class T>
HONE_INLINE V load_n(const T* p, All, Lane<V> = 0) { return load<V>(p); }
template <class V, class T>
HONE_INLINE V load_n(const T* p, int n) { return load<V>(p); }
__attribute__((noinline)) static int odd(int (*of)(int)) { return of("}"[0]); }
HONE_INLINE bool operator==(All, All) { return true; }
int declared(int x);
}  // namespace hone
struct Outside {};
)"), ElementsAre("HONE_BODY", "HONE_UNROLL(n)", "f32v", "width", "Vector", "All", "Scan", "Pair", "load_n", "odd", "declared"));
}

/// Where the library's own kernels use it, whoever reads the guide must have heard of it.
TEST(HeaderNames, TheGuideToCppNamesAllThatTheLibrarysKernelsUse) {
  const std::string guide = language_guide(kernel::Language::kCpp, own_documents()).value();
  const std::regex used(R"(\bhone::([A-Za-z_]\w*))"), word(R"(\w+)");
  std::set<std::string> told;
  for (auto at = std::sregex_iterator(guide.begin(), guide.end(), word); at != std::sregex_iterator(); ++at) told.insert(at->str());
  size_t seen = 0;
  for (const std::string_view path : base::list_embedded("patterns/")) {
    if (!path.ends_with(".cc")) continue;
    const std::string text(*base::find_embedded(path));
    for (auto at = std::sregex_iterator(text.begin(), text.end(), used); at != std::sregex_iterator(); ++at) {
      if (at->str(1) == "detail") continue;
      ++seen;
      EXPECT_TRUE(told.contains(at->str(1))) << path << " uses " << at->str() << ", which the guide does not name";
    }
  }
  EXPECT_GT(seen, 50U);
  for (const char* name : {"LinearScan", "Scan", "ReduceColumns", "RegisterTile", "Divisor", "prefetch_l2", "pack_rows", "transpose"}) EXPECT_TRUE(told.contains(name)) << name;
  EXPECT_FALSE(told.contains("IndexOf")) << "of namespace detail";
  EXPECT_LT(guide.size(), 8'000U);
}

TEST(HeaderNames, WhatARunKeepsSaysThemItself) {
  const Documents documents = documents_to_keep();
  for (const kernel::LanguageRow& row : kernel::languages()) {
    const auto guide = language_guide(row.language, own_documents());
    if (!guide) continue;
    EXPECT_EQ(language_guide(row.language, documents).value(), *guide) << row.title;
  }
  EXPECT_THAT(documents.at("prompts/guide_cpp.md"), HasSubstr("HONE_UNROLL(n)"));
  EXPECT_THAT(documents.at("prompts/guide_gpu.md"), HasSubstr("block_group.h"));
  for (const auto& [name, text] : documents)
    for (const char* place : {"{{rest}}", "{{headers}}"}) EXPECT_EQ(text.find(place), std::string::npos) << name;
}

TEST(HeaderNames, TheGuidesToGpusNameEveryHeaderAndAllOfTheFirst) {
  for (const kernel::Language language : {kernel::Language::kCuda, kernel::Language::kHip}) {
    const std::string guide = language_guide(language, own_documents()).value();
    for (const std::string_view path : base::list_embedded("include/hone/gpu/"))
      EXPECT_THAT(guide, HasSubstr(std::string(path.substr(std::string_view("include/hone/gpu/").size())))) << path;
    for (const std::string& name : public_names(*base::find_embedded("include/hone/gpu.h"))) EXPECT_THAT(guide, HasSubstr(name));
  }
}

}  // namespace
}  // namespace hone::agent
