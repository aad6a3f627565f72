// What the fuzzers share. A fuzzer is one file, named for its entry point, with one HONE_FUZZ(name): what it does with any bytes that
// somebody else may have written. It must come back: no crash, no undefined behaviour, little memory, within seconds.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace hone::fuzz {

struct Entry {
  const char* name;
  void (*one)(std::string_view input);
};

/// Those of this program.
inline std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

struct Registered {
  Registered(const char* name, void (*one)(std::string_view)) { entries().push_back({name, one}); }
};

/// A promise that holds for every input.
inline void require(bool kept, std::string_view what) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// Beyond this an input shows nothing that a shorter one does not.
inline constexpr size_t kMostBytes = size_t{64} << 10;

}  // namespace hone::fuzz

#define HONE_FUZZ(name)                                                              \
  static void name##_one(std::string_view input);                                    \
  static const hone::fuzz::Registered name##_registered(#name, name##_one);          \
  static void name##_one(std::string_view input)
