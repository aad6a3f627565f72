// Writes the parts of a GPU kernel that depend on the graph: parameters, addresses, row values and the bodies of
// passes, on the tiles of hone/gpu/*.h. One writer makes one kernel function's text. Pure.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hone/pattern/expression.h"
#include "hone/pattern/gpu_rounds.h"
#include "hone/pattern/program.h"

namespace hone::pattern {

/// Which axes a tile runs along. What lies outside is walked piece by piece.
struct Segment {
  std::vector<int> pieces;   ///< outermost first
  std::vector<int> axes;     ///< the innermost ones, as one index
};

/// A tensor whose memory holds short lines side by side, line behind line: what a tile has of it is one run of memory.
struct LineRun {
  int id;
  bool back = false;     ///< lines come from the last to the first
  bool turned = false;   ///< each line is turned round
};

/// What stands around a walk of scans, and whether it stores what it finds.
struct ScanEnds {
  bool stores = true;
  std::string before, behind;
};

/// A task's tensors and symbols as parameters of a kernel function.
[[nodiscard]] std::string gpu_parameters_of(const task::Task& task);
/// Their names, in the same order: the arguments of a call of such a function by another.
[[nodiscard]] std::string gpu_names_of(const task::Task& task);

class GpuWriter {
 public:
  /// `resident`: a row lies in registers from its first use on; values in `kept` are stored there when first
  /// computed.
  GpuWriter(const Program& program, Segment segment, bool resident = false, std::vector<int> kept = {});

  /// The segment of a program's loops along `axes` (outermost first): as many of the innermost as every tensor has
  /// in one run of memory, or does not have; more, at the price of divisions, while that is short.
  [[nodiscard]] static Segment choose(const Program& program, const std::vector<int>& axes);
  /// Whether that segment is made of several lines of some tensor that does not have them one behind the other, so that it
  /// moves element by element although its lines would move as words.
  [[nodiscard]] static bool breaks_lines(const Program& program, const std::vector<int>& axes);
  /// Largest value of an extent over the workloads.
  [[nodiscard]] static int64_t largest(const Program& program, const task::IntExpr& extent) { return largest_of(*program.task, extent); }
  [[nodiscard]] static int64_t largest_of(const task::Task& task, const task::IntExpr& extent);

  /// "requires = [...]\n" or nothing.
  [[nodiscard]] std::string requirements() const { return requirements(conditions()); }
  [[nodiscard]] static std::string requirements(const std::set<std::string>& conditions);
  /// What has to hold of shapes, in quotes.
  [[nodiscard]] std::set<std::string> conditions() const;
  /// Whether words begin on their boundaries whatever the row or piece: a condition on VEC.
  [[nodiscard]] std::string aligned() const;
  /// The row's hone::gpu::Alignment, by the pointers of row_prologue(). From here on rounds go by `alignment`, not `aligned`.
  [[nodiscard]] std::string alignment();
  /// Of a plan: a Alignment's lead, at most.
  [[nodiscard]] std::string most_lead() const;
  [[nodiscard]] task::IntExpr pieces() const;
  [[nodiscard]] task::IntExpr length() const;   ///< of the segment
  /// Elements that one word of 16 bytes holds of the widest tensor read or written along the segment.
  [[nodiscard]] int widest_vector() const;
  [[nodiscard]] bool stores_elements() const;
  [[nodiscard]] std::string outline() const { return program_.outline(); }
  /// Bytes of the largest running result: 4, 8 or 16.
  [[nodiscard]] int slot_bytes() const;
  /// Empty where every reduction can be written; else why not.
  [[nodiscard]] std::string obstacle() const;
  /// Empty where every scan can be written, all in one direction along the segment; else why not.
  [[nodiscard]] std::string scan_obstacle() const;
  /// Whether rows are walked from their ends, as reverse scans need it.
  [[nodiscard]] bool goes_back() const;
  /// Whether a scan is a linear recurrence, whose running result is a pair.
  [[nodiscard]] bool scans_pairs() const;
  /// Of the first pass, in the order to do them; and whether one of them is of another's results.
  [[nodiscard]] std::vector<int> scans() const;
  [[nodiscard]] bool scans_follow() const;
  [[nodiscard]] std::string scan_type(int id) const;   ///< C++ type of its running result

  /// `const int64_t at0 = …;` for the row axes from the linear index `from`, and row pointers.
  [[nodiscard]] std::string row_prologue(const std::string& from, const std::string& indent) { return row_places(from, program_.row_axes, indent) + row_pointers(indent); }
  [[nodiscard]] std::string row_places(const std::string& from, const std::vector<int>& axes, const std::string& indent) const { return decode(axes, from, indent, false); }
  [[nodiscard]] std::string row_pointers(const std::string& indent);
  /// A round over tiles `first`, `first + step`, … of the row. Results stay with their thread, as r7, ….
  /// Where `first` is empty: the tiles that are the block's in a grid of walk_grid().
  [[nodiscard]] std::string round_loop(const Round& round, const std::string& first, const std::string& step, const std::string& indent);
  /// The grid, as a plan has it, of a tile a block, for the round written last.
  [[nodiscard]] std::string walk_grid() const;
  /// A round over `tile`, which holds the whole row or, of a round of two passes, the block's part of it; then results
  /// are the block's, as r7, ….
  [[nodiscard]] std::string round_resident(const Round& round, const std::string& indent);
  /// Brings what a round found together and names it; `merge`: between the threads of the group, first.
  [[nodiscard]] std::string merged(const Round& round, const std::string& indent, bool merge = true);
  /// By columns: all rows from `begin` to `end`; resident: `rows`, which holds them.
  [[nodiscard]] std::string pass_columns(size_t pass, const std::string& begin, const std::string& end, const std::string& indent);
  /// The walk of the program's only pass, which scans, from one end to the other: tiles of a row, or of columns.
  [[nodiscard]] std::string scan_walk(const std::string& begin, const std::string& end, const ScanEnds& ends, const std::string& indent);
  /// The program's only pass over one word of a line, from place `first` to `along_end` at `at7`, … of the other inner axis;
  /// `across`: leaves that a SwappedTile `NAME_tile` holds, at [a + e][d].
  [[nodiscard]] std::string one_word(const std::vector<int>& across, const std::string& indent);
  /// The program's only pass over tile number blockIdx.x of a row of `places` places from `start` on, which is place `line` of short lines of
  /// `lines` elements: `NAME_run` (hone::gpu::Run) holds what the tile has of `runs`.
  [[nodiscard]] std::string tile_of_lines(const std::vector<LineRun>& runs, const std::string& indent);
  /// Where in memory the tile's run begins, all but the last row axis being known.
  [[nodiscard]] std::string run_begin(const LineRun& run) const;
  /// What elements take that is the same for a whole row: behind row_prologue(), before what was written last.
  [[nodiscard]] std::string row_values(const std::string& indent) { return take_row_lines(indent); }
  /// Leaves that are no row values, and outputs.
  [[nodiscard]] std::vector<int> tensors() const;
  [[nodiscard]] bool is_leaf(int id) const;
  [[nodiscard]] std::string merged_columns(size_t pass, const std::string& indent);
  /// Names what merge_columns or the like has brought together.
  [[nodiscard]] std::string found_columns(size_t pass, const std::string& indent) const;
  [[nodiscard]] std::string column_stores(const std::string& indent, const std::string& condition);
  /// Row values that are outputs, stored by the thread for which `condition` holds.
  [[nodiscard]] std::string row_stores(const std::string& indent, const std::string& condition);

  /// By columns, resident: an output whose lines run down the columns, which leaves through shared memory.
  [[nodiscard]] bool is_turned(int id) const;

  /// C++ type of a running result: "hone::gpu::Sum<float>".
  [[nodiscard]] std::string accumulator(int id) const;
  [[nodiscard]] std::string accumulator(const Running& result) const;
  [[nodiscard]] bool is_arg(int id) const;

  /// What the round written last takes from tiles.
  [[nodiscard]] const std::vector<int>& taken() const { return loads_; }
  /// Something of it is the same in all pieces of the segment.
  [[nodiscard]] bool pieces_share() const;
  /// Loops: tiles of these leaves have a place to stay, `NAME_kept`.
  void keep(std::vector<int> leaves) { staying_ = std::move(leaves); }
  /// Sends for the parts of `tile` of `piece` that have a place to stay.
  [[nodiscard]] std::string fetches(const std::string& indent);
  [[nodiscard]] std::string leaf_name(int id) const;
  /// Of what is written of an output: its name, but where several nodes are written to places of one output.
  [[nodiscard]] std::string store_name(int id) const;

 private:
  [[nodiscard]] std::string walk(const std::string& first, const std::string& step) const;
  [[nodiscard]] std::string output_name(int id) const { return program_.name_of_output(id); }
  [[nodiscard]] bool is_view(int id) const;
  [[nodiscard]] std::string leaf_tensor(int id) const;
  [[nodiscard]] std::string leaf_end(int id) const;   ///< behind the tensor that a leaf lies in
  [[nodiscard]] std::vector<task::IntExpr> steps() const;
  [[nodiscard]] bool is_linear(int id) const { return linear(program_, id, segment_.axes); }
  [[nodiscard]] static bool linear(const Program& program, int id, const std::vector<int>& axes);
  [[nodiscard]] std::string offset(int node, const std::vector<int>& axes) const;
  [[nodiscard]] std::string decode(const std::vector<int>& axes, const std::string& from, const std::string& indent, bool narrow) const;
  [[nodiscard]] std::string place(int axis);
  [[nodiscard]] std::string gathered(int id, const std::string& base);
  [[nodiscard]] std::string picked(int id);
  [[nodiscard]] std::string row_offset(int id);     ///< by columns: a lambda from a row to its offset
  std::string element(int id);
  std::string compute_element(int id);
  std::string row(int id);
  std::string body_text(const Pass& pass, const std::string& indent);
  std::string each_text(size_t pass, const std::string& indent);
  std::string words_text(size_t pass, const std::string& indent);
  std::string divisor(int id);
  std::string second_pass(const Round& round, const std::string& count, const std::string& indent, bool merge);
  [[nodiscard]] std::vector<int> scans_of(const Pass& pass) const;
  std::string scan_stages(const Pass& pass, const std::string& of, const std::string& indent);
  [[nodiscard]] std::string each_parameters() const;
  [[nodiscard]] std::string scan_name(int id) const;
  [[nodiscard]] std::string scans_held(const Pass& pass, const std::string& place, const std::string& indent) const;
  std::string column_values(const std::vector<int>& needed, const std::string& indent);
  std::string take_row_lines(const std::string& indent);
  std::string loads(const std::string& indent);
  std::string stores(const Pass& pass, const std::string& indent);
  std::string rooms(const Pass& pass, const std::string& indent) const;

  const Program& program_;
  Segment segment_;
  bool resident_;
  std::vector<int> kept_;
  size_t pass_ = 0;
  std::map<int, std::string> element_names_;
  std::vector<std::string> body_;
  std::vector<int> loads_;                   ///< leaves that the body takes from tiles
  std::vector<int> staying_;
  std::set<int> loaded_;                     ///< resident: those that are there
  bool by_words_ = false;                    ///< the body takes what is not there yet word by word
  std::set<int> divisor_ids_;
  std::set<int> have_;                       ///< resident: kept values that are there
  std::map<int, std::string> row_names_;
  std::vector<std::string> row_lines_;
  bool decodes_ = false;                     ///< the body needs its place along each axis of the segment
  std::set<int> scanned_;                    ///< scans whose results the tile has
  std::vector<int> across_;                  ///< leaves in a SwappedTile
  std::map<int, std::string> in_runs_;       ///< the place of an element in its run
  bool in_rows_ = false;
  bool footed_ = false;
  std::vector<int> columns_needed_;
  std::set<int> columns_known_;
};

}  // namespace hone::pattern
