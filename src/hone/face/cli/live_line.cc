#include "hone/face/cli/live_line.h"

#include <unistd.h>

#include <cstdio>

#include "hone/face/cli/text.h"

namespace hone::face {
namespace {

/// Longer ones would wrap on most terminals, and could not be renewed.
constexpr int kMostColumns = 150;

}  // namespace

LiveLine::LiveLine() : terminal_(is_terminal(STDERR_FILENO)) {}
LiveLine::~LiveLine() { end(); }

void LiveLine::renew(const std::string& text) {
  if (!terminal_) return say(text);
  std::fprintf(stderr, "\r\033[K%.*s", kMostColumns, text.c_str());
  std::fflush(stderr);
  open_ = true;
}

void LiveLine::say(const std::string& text) {
  std::fprintf(stderr, "%s%s\n", terminal_ ? "\r\033[K" : "", text.c_str());
  std::fflush(stderr);
  open_ = false;
}

void LiveLine::end() {
  if (open_) std::fputs("\n", stderr);
  open_ = false;
}

}  // namespace hone::face
