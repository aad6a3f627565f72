// A bound for blocking calls that have none: while a Patience lives, its thread's calls return EINTR
// once it has run out, and every tenth of a second from then on. Costs two system calls and wakes
// nobody, so it may stand around what is timed. One at a time per thread; takes one real-time signal.
#pragma once
#include <cstdint>

namespace hone::base {

class Patience {
 public:
  explicit Patience(int64_t ns);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  [[nodiscard]] bool is_over() const;

 private:
  int64_t end_ns_;
};

}  // namespace hone::base
