// Captures of PyTorch programs, as a Python process sends them.
#include "fuzz.h"
#include "hone/program/cut.h"
#include "hone/program/normalise.h"
#include "hone/program/program.h"
#include "hone/program/tasks.h"

namespace hone::program {
namespace {

HONE_FUZZ(program) {
  if (input.size() > fuzz::kMostBytes) return;
  auto program = program::read_program(input);
  if (!program) return;
  const auto normal = program::normalise(std::move(*program));
  if (!normal) return;
  const std::vector<program::Region> regions = program::cut(*normal);
  static_cast<void>(program::plan_program(*normal, regions));
}

}  // namespace
}  // namespace hone::program
