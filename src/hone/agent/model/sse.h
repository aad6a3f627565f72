// Server-sent events out of a byte stream cut anywhere. Lines end in LF, CRLF or CR; several data lines
// join with a newline; comments are dropped. Bytes are handed on as they are: an event is complete before
// anybody looks at its characters. One thread. Fails (once, then for good) on an event beyond the bound.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"

namespace hone::agent {

struct SseEvent {
  std::string name;   ///< of its `event:` line; empty: none
  std::string data;
};

class SseParser {
 public:
  static constexpr size_t kMaxEvent = size_t{4} << 20;

  /// Events that `bytes` completes. kExhausted where one is longer than kMaxEvent.
  [[nodiscard]] Result<std::vector<SseEvent>> feed(std::string_view bytes);
  /// True while bytes of an unfinished event are held: a stream that ends here was cut.
  [[nodiscard]] bool unfinished() const { return !line_.empty() || has_data_; }

 private:
  void end_line(std::vector<SseEvent>& out);

  std::string line_, name_, data_;
  bool has_data_ = false, after_cr_ = false, at_start_ = true, broken_ = false;
};

}  // namespace hone::agent
