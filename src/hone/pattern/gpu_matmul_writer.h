// Fills patterns/gpu/matmul*.cu for a contraction. Pure; one writer makes all kernels of one product.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/pattern/gpu_factor.h"
#include "hone/pattern/library.h"
#include "hone/pattern/template.h"

namespace hone::pattern {

/// How a tile is multiplied.
struct GpuMethod {
  const char* math;    ///< a type of hone/gpu/matmul_mma.h; empty: without matrix units
  int size = 4;        ///< bytes of an element in shared memory
  int pair = 1;        ///< neighbours in depth that a thread reads at once
  const char* action;
};

/// How groups of warps (wgmma) multiply.
struct GroupMethod {
  const char* math;    ///< a type of hone/gpu/matmul_wgmma.h
  task::DType number;  ///< what the units take
  int parts;           ///< numbers whose sum is an element
  const char* action;
  [[nodiscard]] int bytes() const { return parts * static_cast<int>(task::size_of(number)); }  ///< of an element's parts
};

/// The method of groups of warps for factors of these types that holds a track's accuracy, if there is one.
[[nodiscard]] std::optional<GroupMethod> group_method_for(task::Track track, task::DType a, task::DType b);

/// The methods for factors of these types that hold a track's accuracy, most promising first.
[[nodiscard]] std::vector<GpuMethod> methods_for(task::Track track, task::DType a, task::DType b, kernel::Language language);

class GpuOperand;

/// Scales of a product's factors that are the same for segments of the depth (find_scaled): `line_scale_of` and `other_scale_of`, functions
/// as GpuOperand::scalar_text writes them, of those factors that have any.
struct PatchScales {
  std::string functions;
  bool of_lines = false, of_others = false;
  std::vector<task::IntExpr> segments;   ///< that a warp's depths have to divide
  std::vector<task::IntExpr> conditions;  ///< on shapes
};

// What the files of the writer share.

/// One more parameter where the depth is split: the sums of the parts.
constexpr char kPartParameter[] = ", float* __restrict__ part_at";
[[nodiscard]] std::string cpp_of(const task::IntExpr& e);   ///< in parentheses where it is more than a name or a number
void replace_all(std::string& text, std::string_view what, std::string_view with);
[[nodiscard]] Offer product_offer(const char* pattern, const Slots& slots, const std::string& action);
/// All conditions of both; nothing where either can never hold.
[[nodiscard]] std::optional<std::vector<std::string>> both(std::optional<std::vector<std::string>> a, const std::optional<std::vector<std::string>>& b);
/// Where a factor's elements lie, as three slots. `batch`: what the kernel calls its product's number in the batch.
void add_factor(Slots& slots, const std::string& name, const GpuFactor& factor, std::string_view batch = "batch_at");

/// The functions that say what an index picks, `left_pick_of` and `right_pick_of` (index_text), of those factors that have one.
[[nodiscard]] Result<std::string> picks_text(const task::Task& task, const Contraction& contraction);

class GpuMatmulWriter {
 public:
  /// `finish`: of finish_text, and of picks_text where an index picks. Task and contraction must outlive the writer.
  GpuMatmulWriter(const task::Task& task, const Contraction& contraction, kernel::Language language, std::string finish);

  [[nodiscard]] task::DType a_dtype() const { return a_.dtype(); }
  [[nodiscard]] task::DType b_dtype() const { return b_.dtype(); }
  /// Parts of the factors or the result need not be computed.
  [[nodiscard]] bool triangular() const { return triangles_.a || triangles_.b || triangles_.result; }

  /// An index picks a factor's rows, or which right factor a row is multiplied by (grouped): of such there are tiles() alone.
  [[nodiscard]] bool picked() const { return all_.a.pick || all_.b.pick; }
  [[nodiscard]] bool grouped() const { return all_.b.pick.has_value(); }

  /// Rows for each of the right factor's groups, where it is grouped(). Of one or less no tile is better than a loop.
  [[nodiscard]] double rows_of_group(const task::Workload& workload) const;

  /// Tiles of the result; `split`: the depth is split between blocks, whose sums a second launch adds up.
  [[nodiscard]] Offer tiles(const GpuMethod& method, bool split) const;

  /// What is said of the sums of a product on groups of warps.
  struct Sums {
    bool deep = false;    ///< so much is summed that sums of parts should be summed on two levels
    bool split = false;   ///< as above; nothing triangular
    bool brief = false;   ///< so little that most of the time goes to what surrounds it
  };
  /// The same on Hopper's wgmma, with factors that launches before it have written in the units' numbers.
  [[nodiscard]] Offer groups(const GroupMethod& method, Sums of) const;

  /// One product of TF32 on wgmma (`parts` 1), or three for floats in two parts, of factors as they lie in memory. Where can_be_direct().
  [[nodiscard]] bool can_be_direct() const;
  [[nodiscard]] Offer direct(Sums of, int parts) const;

  /// Factors of 16 or 8 bits on wgmma, brought by the copy engine: as they lie in memory, at the shapes where they lie well; `anew`:
  /// those that do not at some workload are written once more before, with lines on 16 bytes. Where can_be_tensors().
  [[nodiscard]] bool can_be_tensors() const;
  /// `split`: as above, of one product of floats.
  [[nodiscard]] Offer tensors(bool anew, bool split = false) const;
  /// Whether the copy engine can bring all factors as they lie at these symbols. Where can_be_tensors().
  [[nodiscard]] bool lie_well(const task::Bindings& symbols) const;

  /// Of a contraction with a computed factor: `operand`, whose text it is. For about `few` lines of the other factor; `depth`: a workload's.
  /// With `scales` both factors are of one byte, and multiplied as f16.
  [[nodiscard]] Offer patches(const GpuOperand& operand, int64_t few, int64_t depth, bool split, const PatchScales* scales = nullptr) const;

  /// Whether the rows (else the columns) can be the many lines of a skinny product: their factor is read along the depth.
  [[nodiscard]] bool can_be_many(bool rows) const { return (rows ? a_ : b_).along_depth() && !triangular(); }
  /// For products of about `few` columns (of rows, where the columns are many).
  [[nodiscard]] Offer skinny(bool rows, int few) const;

 private:
  using Conditions = std::optional<std::vector<std::string>>;
  /// A __global__ function `name` that calls multiply<`widths`>, and its launch.
  struct Entry {
    std::string name, when, widths, grid, block, shared;
    std::string blocks = {};  ///< on a multiprocessor, where that is said
  };
  [[nodiscard]] static const char* split_action();
  [[nodiscard]] Slots common(const std::string& note) const;
  void add_entry(Slots& slots, const Entry& entry, bool split) const;
  /// The entry for wide reads, which needs `wide`, and that for the other shapes.
  void add_entries(Slots& slots, Entry entry, const Conditions& wide, int v_a, int v_b, bool split) const;
  void add_entries_of_each(Slots& slots, Entry entry, const GpuFactor& a, const GpuFactor& b, bool split) const;
  /// Of a product whose depth is split between blocks: into how many parts, where their sums lie, who adds them up.
  [[nodiscard]] std::string parts() const;
  [[nodiscard]] std::string parts_workspace() const;
  [[nodiscard]] std::string part_epilogue() const;
  void add_waves(Slots& slots, bool split) const;
  void put_tiles(Slots& slots, const std::vector<int64_t>& rows, const std::vector<int64_t>& columns, bool split) const;
  /// At the first workload; 1 where that is not known.
  [[nodiscard]] double at_first(const task::IntExpr& e) const;
  [[nodiscard]] const char* ahead_values() const;
  void put_tensor_tiles(Slots& slots, task::DType number, bool split) const;
  void put_direct_tiles(Slots& slots, bool swapped, Sums of) const;
  /// The segment of `depth` that a block sums, and what becomes of a sum.
  void add_segment(Slots& slots, bool split, const std::string& depth) const;
  void add_up(Slots& slots) const;
  void add_picks(Slots& slots, bool split) const;   ///< after add_segment; nothing where none are
  /// `down`, `across`: behind the rows and columns of a tile, where several make one.
  [[nodiscard]] std::string tiles_text(std::string_view down = {}, std::string_view across = {}) const;
  [[nodiscard]] std::string cluster_blocks(bool split) const;
  [[nodiscard]] std::string grid(bool split) const;
  [[nodiscard]] std::string clips() const;
  [[nodiscard]] std::string shared(const GpuMethod& method) const;
  [[nodiscard]] std::string names() const;
  [[nodiscard]] std::string times_batch() const;
  /// The numbers that products of these factors by tensors() are of, if there are any.
  [[nodiscard]] std::optional<task::DType> tensor_number() const;
  [[nodiscard]] bool lies_well(const GpuFactor& factor, const task::Bindings& symbols) const;

  const task::Task& task_;
  const Contraction& all_;
  kernel::Language language_;
  std::string finish_;
  GpuFactor a_, b_;
  std::optional<GpuFactor> second_;   ///< of a pair, of which there are tensors() alone
  ProductTriangles triangles_;
};

}  // namespace hone::pattern
