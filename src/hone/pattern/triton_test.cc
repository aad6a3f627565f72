// The library's kernels among those of test/triton (triton_table_testing.h), whose TTIR is kept and judged without Triton: they are what the
// library writes today. HONE_TRITON_WRITE=1 writes them anew; then what Triton makes of them is to be recorded anew too.
#include <gtest/gtest.h>

#include <cstdlib>

#include "hone/evaluate/triton_table_testing.h"
#include "hone/pattern/library.h"

namespace hone::pattern {
namespace {

using evaluate::TritonCase;

TEST(TritonLibrary, WritesTheKernelsOfTheTable) {
  int count = 0;
  for (const TritonCase& c : evaluate::triton_table()) {
    const std::string wanted = c.after("# library: ");
    if (wanted.empty()) continue;
    ++count;
    const auto task = c.task();
    ASSERT_TRUE(task) << c.name << ": " << task.error().to_string();
    std::vector<std::string> why_not;
    std::vector<Offer> offers = offers_triton(*task, why_not);
    offers.push_back(*plain_offer(*task, kernel::Language::kTriton));
    const auto offer = std::find_if(offers.begin(), offers.end(), [&](const Offer& o) { return o.pattern == wanted; });
    ASSERT_NE(offer, offers.end()) << c.name << ": no offer " << wanted << "; " << fmt::format("{}", fmt::join(why_not, "; "));
    const std::string comments = c.source.substr(c.source.find("\n# task: "));
    const std::string now = offer->kernel.source + comments;
    if (std::getenv("HONE_TRITON_WRITE")) ASSERT_TRUE(base::write_file_atomic(HONE_SOURCE_DIR "/test/triton/" + c.name, now));
    else EXPECT_EQ(c.source, now) << c.name;
  }
  EXPECT_GE(count, 10);
}

}  // namespace
}  // namespace hone::pattern
