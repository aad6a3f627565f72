// Linked into each test program that is compiled for an instruction set of its own, and itself compiled without it. On a CPU that
// lacks the set it ends the program, as one skipped test, before anything else runs. A check inside the tests would come too late:
// the compiler may use the new instructions in the static initialisers that register them, and merely listing the tests then dies.
//
// HONE_ISA_LEVEL: 0 for AVX2, 1 for AVX-512, 2 for AVX-512 with products of bytes (the flags are in cpu_header_test.cmake).
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

bool supported() {
  __builtin_cpu_init();
  bool all = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (HONE_ISA_LEVEL >= 1) {
    all = all && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512dq");
  }
  if (HONE_ISA_LEVEL >= 2) all = all && __builtin_cpu_supports("avx512vnni");
  return all;
}

// 101 is the first priority that a program may use: ahead of every static initialiser. glibc hands constructors main's arguments.
__attribute__((constructor(101))) void guard(int argc, char** argv) {
  if (supported()) return;
  bool listing = false;
  for (int i = 1; i < argc; ++i) listing = listing || std::strcmp(argv[i], "--gtest_list_tests") == 0;
  // The name of the program, so that the skipped tests of several programs differ.
  std::printf(listing ? "%s.\n  ThisCpu\n" : "[  SKIPPED ] %s.ThisCpu: lacks the instructions that this program is compiled for\n",
              program_invocation_short_name);
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace
