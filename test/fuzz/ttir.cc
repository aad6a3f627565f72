// TTIR as Triton's compiler prints it.
#include "fuzz.h"
#include "hone/target/ttir/run.h"

namespace hone::target {
namespace {

HONE_FUZZ(ttir) {
  if (input.size() > hone::fuzz::kMostBytes) return;
  try {
    ttir::Module module = ttir::read_module(input);
    static_cast<void>(ttir::prepare(module));
  } catch (const ttir::Unreadable& why) {
    hone::fuzz::require(!why.text.empty(), "it says why");
  }
}

}  // namespace
}  // namespace hone::target
