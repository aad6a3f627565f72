#include "hone/task/testing/mutants.h"

namespace hone::task {
namespace {

/// Always the same 10,000; mutants_long_test.cc goes on from there.
TEST(Mutants, AreReadOrRefusedWithAPlace) {
  TaskMutator mutator(task_texts());
  for (uint64_t number = 0; number < 10'000; ++number) {
    const std::string text = number % 2 == 0 ? mutator.mutant(number) : mutator.inner_mutant(number);
    SCOPED_TRACE(testing::Message() << "mutant " << number << ":\n" << text);
    ASSERT_EQ(broken_promise(text), "");
  }
}

}  // namespace
}  // namespace hone::task
