#include "hone/task/testing/mutants.h"

namespace hone::task {
namespace {

/// A million beyond those of every day; in parts, so that one can be run alone.
class LongMutants : public testing::TestWithParam<uint64_t> {};

TEST_P(LongMutants, AreReadOrRefusedWithAPlace) {
  TaskMutator mutator(task_texts());
  const uint64_t first = 10'000 + GetParam() * 100'000;
  for (uint64_t number = first; number < first + 100'000; ++number) {
    const std::string text = number % 2 == 0 ? mutator.mutant(number) : mutator.inner_mutant(number);
    SCOPED_TRACE(testing::Message() << "mutant " << number << ":\n" << text);
    ASSERT_EQ(broken_promise(text), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, LongMutants, testing::Range<uint64_t>(0, 10));

}  // namespace
}  // namespace hone::task
