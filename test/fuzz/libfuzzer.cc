// libFuzzer's side: one fuzzer a program.
#include <cstdint>

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hone::fuzz::entries().front().one({reinterpret_cast<const char*>(data), size});
  return 0;
}
