#include "hone/base/embedded.h"

#include <gmock/gmock.h>

#include <string>

#include "hone/base/file.h"

namespace hone::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kFolder = HONE_SOURCE_DIR "/test/cases/embedded/";

TEST(Embedded, HoldsWhatTheFileHolds) {
  const auto text = find_embedded("cases/embedded/text.txt");
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, read_file(std::string(kFolder) + "text.txt").value());
  EXPECT_EQ(text->data()[text->size()], '\0');
}

TEST(Embedded, FoldersAreKeptInTheName) {
  EXPECT_TRUE(find_embedded("cases/embedded/folder/empty.txt").has_value());
  EXPECT_EQ(find_embedded("cases/embedded/folder/empty.txt")->size(), 0u);
}

TEST(Embedded, UnknownNamesAreAbsent) {
  EXPECT_FALSE(find_embedded("cases/embedded/text").has_value());
  EXPECT_FALSE(find_embedded("").has_value());
}

TEST(Embedded, ListsByPrefix) {
  EXPECT_THAT(list_embedded("cases/embedded/"),
              ElementsAre("cases/embedded/folder/empty.txt", "cases/embedded/text.txt"));
  EXPECT_THAT(list_embedded("nothing/"), IsEmpty());
}

TEST(Embedded, ProgramsAreEmbeddedWhole) {
  // A program of this build, as a runner would be.
  const auto program = find_embedded("programs/tiny");
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(program->substr(0, 4),
            "\x7f"
            "ELF");
}

}  // namespace
}  // namespace hone::base
