#include <csignal>

namespace {

struct Deadly {
  Deadly() { (void)std::raise(SIGKILL); }
} deadly;

}  // namespace
