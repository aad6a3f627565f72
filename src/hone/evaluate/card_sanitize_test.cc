// Reports as compute-sanitizer 2025.3 wrote them of planted faults on an H200.
#include "hone/evaluate/card_sanitize.h"

#include <gmock/gmock.h>

namespace hone::evaluate {
namespace {

TEST(CardSanitize, AnAccessOutsideSaysWhoDidWhatWhere) {
  const CardFinding found = first_card_finding(
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ write of size 4 bytes\n"
      "=========     at out_of_bounds+0xe0 in faults.cu:4\n"
      "=========     by thread (255,0,0) in block (0,0,0)\n"
      "=========     Access to 0x7f4562eb2bfc is out of bounds\n"
      "=========     and is 3,760,925,181 bytes after the nearest allocation at 0x7f4482c00000 of size 512 bytes\n"
      "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
      "=========         Host Frame: main [0x8e13] in faults\n"
      "========= \n"
      "end 717 operation not supported on global/shared address space\n"
      "========= Target application returned an error\n"
      "========= ERROR SUMMARY: 2 errors\n");
  EXPECT_EQ(found.text, "Invalid __global__ write of size 4 bytes at out_of_bounds in faults.cu:4, thread (255,0,0) in block (0,0,0), out of bounds");
  EXPECT_TRUE(found.outside);
}

TEST(CardSanitize, AMisalignedAccessIsInsideTheKernelsMemory) {
  const CardFinding found = first_card_finding(
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ write of size 16 bytes\n"
      "=========     at misaligned+0x90 in faults.cu:7\n"
      "=========     by thread (0,0,0) in block (0,0,0)\n"
      "=========     Access to 0x7fb4f2800004 is misaligned\n"
      "=========     and is inside the nearest allocation at 0x7fb4f2800000 of size 1,024 bytes\n");
  EXPECT_EQ(found.text, "Invalid __global__ write of size 16 bytes at misaligned in faults.cu:7, thread (0,0,0) in block (0,0,0), misaligned");
  EXPECT_FALSE(found.outside);
}

TEST(CardSanitize, ARaceHasTwoEnds) {
  const CardFinding found = first_card_finding(
      "========= COMPUTE-SANITIZER\n"
      "========= Error: Race reported between Write access at race+0xb0 in faults.cu:8\n"
      "=========     and Read access at race+0xc0 in faults.cu:8 [2048 hazards]\n"
      "========= \n"
      "end 0 no error\n"
      "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n");
  EXPECT_EQ(found.text, "Error: Race reported between Write access at race in faults.cu:8 and Read access at race in faults.cu:8 [2048 hazards]");
  EXPECT_FALSE(found.outside);
}

TEST(CardSanitize, ReadsOfWhatNobodyWroteAndWhatIsNothing) {
  EXPECT_THAT(first_card_finding("========= COMPUTE-SANITIZER\n"
                                 "========= Uninitialized __global__ memory read of size 4 bytes\n"
                                 "=========     at uninit+0x60 in faults.cu:9\n"
                                 "=========     by thread (0,0,0) in block (0,0,0)\n"
                                 "=========     Address 0x7f7ee6800400\n")
                  .text,
              ::testing::StartsWith("Uninitialized __global__ memory read of size 4 bytes at uninit in faults.cu:9"));
  for (const char* nothing : {"========= COMPUTE-SANITIZER\nend 0 no error\n========= ERROR SUMMARY: 0 errors\n", "",
                              "========= COMPUTE-SANITIZER\nend 716 misaligned address\n========= Target application returned an error\n"
                              "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n",
                              "========= Warning: Race reported between Write access at k+0x10 and Write access at k+0x10 [2 hazards]\n",
                              "Invalid __global__ write, as a kernel prints it\n"})
    EXPECT_EQ(first_card_finding(nothing).text, "") << nothing;
}

}  // namespace
}  // namespace hone::evaluate
