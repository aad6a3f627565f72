#include "hone/base/result.h"

#include <cstdio>
#include <cstdlib>

namespace hone {

std::string Error::to_string() const {
  std::string text;
  if (!context.empty()) text += context + ": ";
  text += message;
  if (!hint.empty()) text += "\n  hint: " + hint;
  return text;
}

void check_failed(const char* condition, const char* file, int line, std::string_view what) {
  std::fprintf(stderr, "hone: internal error: %s:%d: %s%s%.*s\nThis is a bug in hone.\n", file,
               line, condition, what.empty() ? "" : ": ", static_cast<int>(what.size()),
               what.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace hone
