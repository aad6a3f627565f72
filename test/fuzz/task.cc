// Task files.
#include "fuzz.h"
#include "hone/task/testing/promise.h"

namespace hone::task {
namespace {

HONE_FUZZ(task) {
  if (input.size() > hone::fuzz::kMostBytes) return;
  const std::string broken = hone::task::broken_promise(std::string(input));
  hone::fuzz::require(broken.empty(), broken);
}

}  // namespace
}  // namespace hone::task
