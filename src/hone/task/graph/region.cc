#include "hone/task/graph/region.h"

#include <algorithm>
#include <optional>
#include <span>

#include "hone/base/result.h"

namespace hone::task {
namespace {

constexpr size_t kMaxRegions = 8;

bool contains(const Region& outer, const Region& inner) {
  for (size_t i = 0; i < outer.size(); ++i) {
    if (outer[i] == inner[i]) continue;
    if (outer[i].step != 1 || inner[i].start < outer[i].start || inner[i].last() > outer[i].last())
      return false;
  }
  return true;
}

bool is_dense(const Region& region) {
  return std::all_of(region.begin(), region.end(), [](const Range& r) { return r.step == 1; });
}

/// By coordinate compression: the volume of the cells that some box covers.
double union_volume(const std::vector<Region>& boxes, size_t axis, const std::vector<size_t>& live) {
  if (live.empty()) return 0;
  if (axis == boxes[0].size()) return 1;
  std::vector<int64_t> cuts;
  for (const size_t b : live) {
    cuts.push_back(boxes[b][axis].start);
    cuts.push_back(boxes[b][axis].start + boxes[b][axis].count);
  }
  std::sort(cuts.begin(), cuts.end());
  double total = 0;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i] == cuts[i + 1]) continue;
    std::vector<size_t> here;
    for (const size_t b : live)
      if (boxes[b][axis].start <= cuts[i] && cuts[i] < boxes[b][axis].start + boxes[b][axis].count)
        here.push_back(b);
    total += static_cast<double>(cuts[i + 1] - cuts[i]) * union_volume(boxes, axis + 1, here);
  }
  return total;
}

/// An interval of row-major positions that the group's ranges make, if they make one.
std::optional<Range> flat_interval(std::span<const Range> ranges, std::span<const int64_t> extents) {
  int64_t start = 0;
  int64_t count = 1;
  bool open = false;  // a dimension before this one is partial: this and all later must be whole
  for (size_t i = 0; i < ranges.size(); ++i) {
    const bool full = ranges[i].count == extents[i];
    if (open && !full) return std::nullopt;
    if (!full && ranges[i].count > 1 && ranges[i].step != 1) return std::nullopt;
    start = start * extents[i] + ranges[i].start;
    count *= ranges[i].count;
    if (ranges[i].count > 1) open = true;
  }
  return Range{start, count, 1};
}

/// A box inside the interval: all of it where its ends fall on rows.
void box_of(Range interval, std::span<const int64_t> extents, Region& out) {
  for (size_t i = 0; i < extents.size(); ++i) {
    int64_t inner = 1;
    for (size_t k = i + 1; k < extents.size(); ++k) inner *= extents[k];
    const int64_t end = interval.start + interval.count;
    const int64_t first = interval.start / inner;
    if (first == (end - 1) / inner) {
      out.push_back({first, 1, 1});
      interval.start -= first * inner;
      continue;
    }
    const int64_t from = (interval.start + inner - 1) / inner;
    const int64_t to = end / inner;
    if (to > from) {
      out.push_back({from, to - from, 1});
      interval = {0, inner, 1};
    } else {  // the end of one row and the beginning of the next: the longer of the two
      const int64_t head = from * inner - interval.start;
      const bool keep_head = head >= end - from * inner;
      out.push_back({keep_head ? first : from, 1, 1});
      interval = keep_head ? Range{interval.start - first * inner, head, 1} : Range{0, end - from * inner, 1};
    }
  }
}

/// `count` elements somewhere: as many whole trailing dimensions as fit.
void box_of_count(int64_t count, std::span<const int64_t> extents, Region& out) {
  Region reversed;
  for (size_t i = extents.size(); i-- > 0;) {
    const int64_t taken = std::min(extents[i], std::max<int64_t>(count, 1));
    reversed.push_back({0, taken, 1});
    count /= taken;
  }
  out.insert(out.end(), reversed.rbegin(), reversed.rend());
}

}  // namespace

Region whole_region(const Shape& shape) {
  Region region;
  for (const int64_t extent : shape) region.push_back({0, extent, 1});
  return region;
}

double volume(const Region& region) {
  double n = 1;
  for (const Range& range : region) n *= static_cast<double>(range.count);
  return n;
}

bool is_whole(const Region& region, const Shape& shape) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (region[i].count != shape[i]) return false;
  return true;
}

void Need::add(Region region) {
  for (const Range& range : region)
    if (range.count < 1) return;
  for (const Region& known : regions_)
    if (contains(known, region)) return;
  std::erase_if(regions_, [&](const Region& known) { return contains(region, known); });
  regions_.push_back(std::move(region));
  if (regions_.size() <= kMaxRegions) return;
  regions_.erase(std::min_element(regions_.begin(), regions_.end(),
                                  [](const Region& a, const Region& b) { return volume(a) < volume(b); }));
}

double Need::count() const {
  if (regions_.empty()) return 0;
  double largest = 0;
  for (const Region& region : regions_) largest = std::max(largest, volume(region));
  if (regions_.size() == 1 || !std::all_of(regions_.begin(), regions_.end(), is_dense)) return largest;
  std::vector<size_t> all(regions_.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  return union_volume(regions_, 0, all);
}

Region reshape_region(const Region& region, const Shape& from, const Shape& to) {
  if (is_whole(region, from)) return whole_region(to);
  Region result;
  size_t i = 0;
  size_t j = 0;
  while (i < from.size() || j < to.size()) {
    // The shortest groups of dimensions with equal products.
    const size_t i0 = i;
    const size_t j0 = j;
    int64_t a = i < from.size() ? from[i++] : 1;
    int64_t b = j < to.size() ? to[j++] : 1;
    while (a != b) {
      if (a < b) {
        HONE_CHECK(i < from.size(), "reshape");
        a *= from[i++];
      } else {
        HONE_CHECK(j < to.size(), "reshape");
        b *= to[j++];
      }
    }
    const std::span<const Range> ranges(region.data() + i0, i - i0);
    const std::span<const int64_t> old(from.data() + i0, i - i0);
    const std::span<const int64_t> fresh(to.data() + j0, j - j0);
    const auto is_extent = [](int64_t extent) { return extent != 1; };
    if (std::count_if(old.begin(), old.end(), is_extent) == 1 &&
        std::count_if(fresh.begin(), fresh.end(), is_extent) == 1) {
      // The same dimension, but for ones around it: steps survive.
      const Range& range =
          ranges[static_cast<size_t>(std::find_if(old.begin(), old.end(), is_extent) - old.begin())];
      for (const int64_t extent : fresh) result.push_back(extent == 1 ? Range{0, 1, 1} : range);
    } else if (const auto interval = flat_interval(ranges, old)) {
      box_of(*interval, fresh, result);
    } else {
      double count = 1;
      for (const Range& range : ranges) count *= static_cast<double>(range.count);
      box_of_count(static_cast<int64_t>(count), fresh, result);
    }
  }
  return result;
}

}  // namespace hone::task
