#include "hone/task/source_map.h"

#include <algorithm>

namespace hone::task {
namespace {

/// Walks a file, counting lines and columns as toml++ does: one a code point.
class Cursor {
 public:
  explicit Cursor(std::string_view file) : file_(file) {}
  [[nodiscard]] bool done() const { return at_ >= file_.size(); }
  [[nodiscard]] Where where() const { return where_; }
  [[nodiscard]] bool looks_at(std::string_view text) const { return file_.substr(at_, text.size()) == text; }
  [[nodiscard]] char peek() const { return file_[at_]; }
  void step() {
    const auto byte = static_cast<unsigned char>(file_[at_++]);
    const bool continues = at_ < file_.size() && (static_cast<unsigned char>(file_[at_]) & 0xc0) == 0x80;
    if (byte == '\n') {
      ++where_.line;
      where_.column = 1;
    } else if (!continues) {
      ++where_.column;
    }
  }
  void step(size_t count) {
    for (; count > 0 && !done(); --count) step();
  }

 private:
  std::string_view file_;
  size_t at_ = 0;
  Where where_{1, 1};
};

}  // namespace

SourceMap::SourceMap(std::string_view file, Where begin) {
  Cursor cursor(file);
  while (!cursor.done() && (cursor.where().line < begin.line ||
                            (cursor.where().line == begin.line && cursor.where().column < begin.column)))
    cursor.step();
  lines_.emplace_back();
  if (cursor.done()) return;
  const char quote = cursor.peek();
  const bool multi = cursor.looks_at(std::string(3, quote));
  const std::string close(multi ? 3 : 1, quote);
  cursor.step(close.size());
  if (multi && cursor.looks_at("\r\n"))
    cursor.step(2);
  else if (multi && cursor.looks_at("\n"))
    cursor.step();
  const auto add = [&](size_t bytes) {
    for (; bytes > 0; --bytes) lines_.back().bytes.push_back(cursor.where());
  };
  while (!cursor.done() && !cursor.looks_at(close)) {
    if (cursor.peek() == '\n') {
      add(1);
      cursor.step();
      lines_.emplace_back();
    } else if (quote == '"' && cursor.peek() == '\\') {
      const bool unicode = cursor.looks_at("\\u") || cursor.looks_at("\\U");
      const bool newline = cursor.looks_at("\\n");
      const bool joined = cursor.looks_at("\\\n") || cursor.looks_at("\\\r") || cursor.looks_at("\\ ");
      if (joined) {
        cursor.step();
        while (!cursor.done() && (cursor.peek() == ' ' || cursor.peek() == '\n' || cursor.peek() == '\r' ||
                                  cursor.peek() == '\t'))
          cursor.step();
        continue;
      }
      add(1);
      cursor.step(unicode ? (cursor.looks_at("\\u") ? 6 : 10) : 2);
      if (newline) lines_.emplace_back();
    } else {
      add(1);
      cursor.step();
    }
  }
  add(1);
}

Where SourceMap::to_file(Where inside) const {
  const auto line = static_cast<size_t>(std::clamp(inside.line, 1, static_cast<int>(lines_.size()))) - 1;
  const std::vector<Where>& bytes = lines_[line].bytes;
  if (bytes.empty()) return line + 1 < lines_.size() ? to_file({inside.line + 1, 1}) : Where{};
  const auto column = static_cast<size_t>(std::max(inside.column, 1)) - 1;
  return bytes[std::min(column, bytes.size() - 1)];
}

}  // namespace hone::task
