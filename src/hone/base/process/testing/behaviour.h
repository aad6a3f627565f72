// Programs for the process tests to run: the test program starts itself again with a behaviour's
// name, so that no second executable has to be built or found. Each test file defines
// `HONE_TEST_MAIN(table)` with the behaviours it needs.
#pragma once
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hone/base/process/process.h"

namespace hone::base::testing {

using Arguments = std::vector<std::string>;
using Behaviours = std::map<std::string, int (*)(const Arguments&)>;

/// Options that run `name` from this test program's table.
inline SpawnOptions behave(const std::string& name, const Arguments& arguments = {}) {
  SpawnOptions options;
  options.argv = {std::filesystem::read_symlink("/proc/self/exe").string(), "--behave", name};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  return options;
}

inline int test_main(int argc, char** argv, const Behaviours& behaviours) {
  if (argc >= 3 && std::string(argv[1]) == "--behave")
    return behaviours.at(argv[2])(Arguments(argv + 3, argv + argc));
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace hone::base::testing

#define HONE_TEST_MAIN(behaviours)                                       \
  int main(int argc, char** argv) {                                      \
    return ::hone::base::testing::test_main(argc, argv, (behaviours)); \
  }
