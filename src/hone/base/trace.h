// Where the time of hone itself goes, for those who make it faster: with HONE_TRACE=FILE every Span adds one line to FILE,
// an event of Chrome's trace format ("X", microseconds), which Perfetto and chrome://tracing show. Processes and threads
// may share the file: a line is one write. Without the variable a Span costs one load.
#pragma once
#include <cstdint>

namespace hone::base {

class Span {
 public:
  /// `name`: of static storage.
  explicit Span(const char* name);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  const char* name_;  ///< null: nobody asked
  int64_t start_ns_ = 0;
};

}  // namespace hone::base
