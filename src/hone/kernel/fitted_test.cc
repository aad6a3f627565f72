#include <gtest/gtest.h>

#include "hone/kernel/kernel.h"

namespace hone::kernel {
namespace {

Header header_of(const std::string& keys) {
  return parse_kernel("/* hone\nlanguage = \"c++\"\n" + keys + "\n[[launch]]\nkernel = \"f\"\ngrid = [\"1\"]\nargs = [\"x\"]\n*/\n", "f.cc").value().header;
}

TEST(Fitted, TheNearestThatIsAllowed) {
  const Header header = header_of("tunables = { ROWS = [12, 8, 6], COLUMNS = [32, 16], DEEP = [4, 2], OTHER = [1, 2] }\n"
                                  "constraints = [\"ROWS * COLUMNS <= REGISTERS\", \"COLUMNS * DEEP <= 64\"]");
  const Config first = {{"ROWS", 12}, {"COLUMNS", 32}, {"DEEP", 4}, {"OTHER", 2}};
  EXPECT_EQ(fitted(header, first, {{"REGISTERS", 1000}}), (Config{{"ROWS", 12}, {"COLUMNS", 32}, {"DEEP", 2}, {"OTHER", 2}}));
  EXPECT_EQ(fitted(header, first, {{"REGISTERS", 200}}), (Config{{"ROWS", 12}, {"COLUMNS", 16}, {"DEEP", 4}, {"OTHER", 2}}));
  EXPECT_EQ(fitted(header, first, {{"REGISTERS", 100}}), (Config{{"ROWS", 6}, {"COLUMNS", 16}, {"DEEP", 4}, {"OTHER", 2}}));
  // What is allowed stays, where it was begun counts, and what nothing meets or nobody knows stays as it is.
  const Config fine = {{"ROWS", 6}, {"COLUMNS", 16}, {"DEEP", 2}, {"OTHER", 1}};
  EXPECT_EQ(fitted(header, fine, {{"REGISTERS", 100}}), fine);
  EXPECT_EQ(fitted(header, {{"ROWS", 6}, {"COLUMNS", 32}, {"DEEP", 2}, {"OTHER", 1}}, {{"REGISTERS", 100}}), fine);
  EXPECT_EQ(fitted(header, first, {{"REGISTERS", 10}}), first);
  EXPECT_EQ(fitted(header, first, {}), first);
}

}  // namespace
}  // namespace hone::kernel
