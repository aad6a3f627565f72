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
  /// Neighbouring threads have neighbouring rows: columns of memory.
  void go_across() { across_ = true; }
  /// What the program's scans keep in shared memory, before all passes: those that need scans walk in order then (tilelang_scans.cc).
  [[nodiscard]] std::string scan_memory(const std::string& indent);
  /// Bytes of it for each place of a line, and for each of its pieces.
  [[nodiscard]] std::pair<int64_t, int64_t> scan_bytes() const;
  /// Products along rows, which take shared memory.
  [[nodiscard]] bool has_products() const;
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
  [[nodiscard]] std::string tiles() const { return across_ ? "for j, i in T.Parallel(BLOCK, ROWS):" : "for i, j in T.Parallel(ROWS, BLOCK):"; }
  [[nodiscard]] std::string cell(const std::string& row, const std::string& place) const { return across_ ? place + ", " + row : row + ", " + place; }
  /// `scans`: those that `body` reads.
  std::string loop(const std::string& rows, const std::string& length, const std::string& indent, const std::string& body, const std::vector<int>& scans = {});
  std::string scan_step(int id, const std::string& rows, const std::string& length, const std::string& indent);
  [[nodiscard]] std::vector<int> scans_below(const std::vector<int>& roots) const;
  void begin(const std::string& indent);
  std::string text_of_body() { return std::exchange(lines_, {}); }

  const Program& program_;
  const Nest& nest_;
  std::vector<int> kept_, along_;
  TritonParameters& parameters_;
  bool across_ = false;
  std::map<int, std::string> bound_, names_;
  std::string lines_, indent_, obstacle_;
};

}  // namespace hone::pattern
