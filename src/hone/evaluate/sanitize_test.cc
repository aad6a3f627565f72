#include "hone/evaluate/sanitize.h"

#include <gtest/gtest.h>

namespace hone::evaluate {
namespace {

TEST(Sanitize, TheFirstFindingIsOneLineThatIsTheSameEveryTime) {
  EXPECT_EQ(first_finding("=================================================================\n"
                          "==3==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x606000000060 at pc 0x7f0 bp 0x1 sp 0x2\n"
                          "WRITE of size 1 at 0x606000000060 thread T0\n"),
            "AddressSanitizer: heap-buffer-overflow");
  EXPECT_EQ(first_finding("==3==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x7 bp 0x1)\n"),
            "AddressSanitizer: SEGV");
  EXPECT_EQ(first_finding("kernel.cc:22:9: runtime error: signed integer overflow: 2147483647 + 65 cannot be represented in type 'int'\n"),
            "kernel.cc:22:9: runtime error: signed integer overflow: 2147483647 + 65 cannot be represented in type 'int'");
  EXPECT_EQ(first_finding("kernel.cc:21:3: runtime error: store to misaligned address 0x606000000044 for type 'double', which requires 8 byte alignment\n"),
            "kernel.cc:21:3: runtime error: store to misaligned address for type 'double', which requires 8 byte alignment");
  EXPECT_EQ(first_finding("nothing of note"), "");
  EXPECT_EQ(first_finding(""), "");
}

// A kernel may write what it likes to where a sanitizer reports, and it is read as that.
TEST(Sanitize, LongLinesAreCut) {
  const std::string tail(200'000, 'a'), slashes(200'000, '/');
  EXPECT_EQ(first_finding("runtime error: x on address " + tail), "runtime error: x");
  EXPECT_EQ(first_finding("runtime error: " + tail).size(), 300u);
  EXPECT_EQ(finding_frames("READ of size 4" + tail), "READ of size 4\n");
  EXPECT_LE(finding_frames("kernel.cc:1 0x" + tail + "\n" + slashes + "kernel.cc:2").size(), 1001u);
}

}  // namespace
}  // namespace hone::evaluate
