// Writes the values of a Program as TileLang: expressions of one element, in loops over tiles (T.Parallel) in which `row` and `at` say which
// line and place it is of. Reductions of a pass are sums a thread in fragments, combined at its end. One thread.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hone/pattern/program.h"
#include "hone/pattern/triton_tile.h"

namespace hone::pattern {

class TileElements {
 public:
  TileElements(const Program& program, std::vector<int> kept, std::vector<int> along, TritonParameters& parameters)
      : program_(program), nest_(program.nest), kept_(std::move(kept)), along_(std::move(along)), parameters_(parameters) {}

  /// A value that is there already: a product's element.
  void bind(int id, const std::string& text) { bound_[id] = text; }
  /// Lines of a loop's body that compute and store outputs; a body of its own.
  [[nodiscard]] std::string stores(const std::vector<int>& outputs, const std::string& indent);
  /// Those that compute one value, and its name.
  [[nodiscard]] std::pair<std::string, std::string> value(int id, const std::string& indent);
  /// Fragments, loops and combinations of pass p; and the loop over rows that stores what has no places along them.
  [[nodiscard]] std::string pass(size_t number, const std::string& rows, const std::string& length, const std::string& indent);
  [[nodiscard]] std::string row_stores(const std::string& rows, const std::string& indent);
  /// Of a program with one scan and no reductions: all of it.
  [[nodiscard]] std::string scan(const std::string& rows, const std::string& length, const std::string& indent);
  /// Why it cannot be written so, once the text is made; empty: it can.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }
  [[nodiscard]] std::string requirements() const;

 private:
  std::string positions(const std::vector<int>& axes, const std::string& from, const std::string& indent);
  std::string index(int id, const task::IntExpr& base);
  std::string leaf(int id);
  std::string element(int id);
  std::string assign(int id, const std::string& text);
  void refuse(const std::string& why) { if (obstacle_.empty()) obstacle_ = why; }
  std::string loop(const std::string& rows, const std::string& length, const std::string& indent, const std::string& body);
  void begin(const std::string& indent);
  std::string text_of_body() { return std::exchange(lines_, {}); }

  const Program& program_;
  const Nest& nest_;
  std::vector<int> kept_, along_;
  TritonParameters& parameters_;
  std::map<int, std::string> bound_, names_;
  std::string lines_, indent_, obstacle_;
};

}  // namespace hone::pattern
