// An archive of an older program is shown: by hone show, and as a page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "hone/engine/testing/old_archive.h"
#include "hone/face/cli/commands.h"
#include "hone/face/report/report.h"
#include "hone/face/report/testing/html_check.h"

namespace hone::face {
namespace {

using engine::testing::must;
using ::testing::HasSubstr;

class OldArchiveTest : public ::testing::Test {
 protected:
  OldArchiveTest() { ::setenv("HONE_HOME", scratch_.path().c_str(), 1); }
  ~OldArchiveTest() override { ::unsetenv("HONE_HOME"); }

  static std::string shown(const std::string& run) {
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(must(show(run, false)), 0);
    return ::testing::internal::GetCapturedStdout();
  }
  std::string page(const std::string& run) { return must(run_report(store_, must(store_.run(run)))); }

  base::ScratchDirectory scratch_ = must(base::ScratchDirectory::create("old-archive-test"));
  archive::Store store_ = must(archive::Store::open(engine::testing::unpack_old_archive(scratch_.path())));
};

TEST_F(OldArchiveTest, a_run_is_shown_with_its_kernels) {
  const std::string text = shown(engine::testing::kOldKilled);
  for (const char* part : {"bb7c2e0658d4  expression", "killed", "  1  4ecd52f284b3", "  8  0bce271f43b3", "hone resume bb7c2e0658d4 goes on with it"}) EXPECT_THAT(text, HasSubstr(part));
  const std::string model = shown(engine::testing::kOldModel);
  for (const char* part : {"model:", "does not compile", "champion: bc0f75127bba", "UNROLL="}) EXPECT_THAT(model, HasSubstr(part));
}

TEST_F(OldArchiveTest, its_page_has_all_that_was_written) {
  const std::string finished = page(engine::testing::kOldModel);
  const testing::HtmlCheck check(finished);
  EXPECT_EQ(check.problem(), "");
  for (const char* part : {"naive [", "scripted-model", "of the speed of light", "bc0f75127bba"}) EXPECT_THAT(check.text(), HasSubstr(part));
  EXPECT_THAT(check.text(), ::testing::Not(HasSubstr("left out")));
  for (const char* id : {"results", "progress", "candidates", "source", "diagnosis", "refused", "models", "conditions"}) EXPECT_TRUE(check.has_id(id)) << id;
  const testing::HtmlCheck killed(page(engine::testing::kOldKilled));
  EXPECT_EQ(killed.problem(), "");
  EXPECT_THAT(killed.text(), HasSubstr("hone resume bb7c2e0658d4"));
}

}  // namespace
}  // namespace hone::face
