// Standard error as progress uses it: on a terminal one line that renews itself, elsewhere plain lines.
#pragma once
#include <string>

namespace hone::face {

class LiveLine {
 public:
  LiveLine();
  ~LiveLine();
  [[nodiscard]] bool terminal() const { return terminal_; }
  /// Terminal: takes the place of what was renewed before. Elsewhere: a line.
  void renew(const std::string& text);
  /// A line that stays, in the place of what was renewed before.
  void say(const std::string& text);
  /// What was renewed stays.
  void end();

 private:
  bool terminal_;
  bool open_ = false;        ///< a renewing line stands without a newline
};

}  // namespace hone::face
