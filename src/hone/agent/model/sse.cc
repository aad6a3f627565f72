#include "hone/agent/model/sse.h"

#include <utility>

namespace hone::agent {

Result<std::vector<SseEvent>> SseParser::feed(std::string_view bytes) {
  std::vector<SseEvent> out;
  for (const char c : bytes) {
    if (broken_) break;
    if (c == '\n' && std::exchange(after_cr_, false)) continue;  // the second half of CRLF
    after_cr_ = c == '\r';
    if (c == '\r' || c == '\n') {
      end_line(out);
      continue;
    }
    line_ += c;
    broken_ = line_.size() + data_.size() > kMaxEvent;
  }
  if (broken_) return fail(ErrorCode::kExhausted, "an event of the stream is longer than 4 MiB");
  return out;
}

void SseParser::end_line(std::vector<SseEvent>& out) {
  std::string line = std::exchange(line_, {});
  if (std::exchange(at_start_, false) && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (line.empty()) {
    if (has_data_) out.push_back({std::exchange(name_, {}), std::exchange(data_, {})});
    has_data_ = false;
    name_.clear();
    return;
  }
  if (line.front() == ':') return;
  const size_t colon = line.find(':');
  const std::string field = line.substr(0, colon);
  std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.erase(0, 1);
  if (field == "event") name_ = std::move(value);
  if (field != "data") return;
  if (std::exchange(has_data_, true)) data_ += '\n';
  data_ += value;
}

}  // namespace hone::agent
