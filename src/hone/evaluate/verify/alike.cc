#include "hone/evaluate/verify/alike.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "hone/evaluate/oracle/number.h"

namespace hone::evaluate {
namespace {

struct Elements {
  std::byte* data;
  size_t bytes;

  void copy_run(int64_t to, int64_t from, int64_t count) const {
    std::memmove(data + static_cast<size_t>(to) * bytes, data + static_cast<size_t>(from) * bytes, static_cast<size_t>(count) * bytes);
  }
  void copy(int64_t to, int64_t from) const { copy_run(to, from, 1); }
};

/// run(first, count) for what lies before `spared` and behind it, of [begin, end); for all of it where `spared` is elsewhere.
template <class Run>
void all_but(int64_t spared, int64_t begin, int64_t end, Run run) {
  if (spared < begin || spared >= end) return run(begin, end - begin);
  run(begin, spared - begin);
  run(spared + 1, end - spared - 1);
}

int64_t place_below(base::Rng& rng, int64_t n) { return static_cast<int64_t>(rng.below(static_cast<uint64_t>(n))); }

/// Along one axis most slabs are the one before but for one element.
void repeat_slabs(const Elements& e, const task::Shape& shape, base::Rng& rng, int threads) {
  const size_t axis = rng.below(shape.size());
  int64_t stride = 1;
  for (size_t d = axis + 1; d < shape.size(); ++d) stride *= shape[d];
  const int64_t extent = shape[axis], outer = task::element_count(shape) / (stride * extent);
  constexpr int64_t kStays = -1;
  std::vector<int64_t> spared(static_cast<size_t>(extent), kStays);  // of a slab, whose other elements are those of the slab before
  for (int64_t k = 1; k < extent; ++k)
    if (rng.below(4) != 0) spared[static_cast<size_t>(k)] = place_below(rng, outer * stride);
  // A slab waits for the one before; parts of slabs do not wait for each other.
  constexpr int64_t kTogether = int64_t{1} << 14;
  const int64_t parts = (stride + kTogether - 1) / kTogether;
  parallel_for(outer * parts, threads, [&](int64_t part) {
    const int64_t o = part / parts, begin = part % parts * kTogether, end = std::min(stride, begin + kTogether);
    for (int64_t k = 1; k < extent; ++k) {
      const int64_t but = spared[static_cast<size_t>(k)];
      if (but == kStays) continue;
      const int64_t to = (o * extent + k) * stride;
      all_but(but - o * stride, begin, end, [&](int64_t i, int64_t count) { e.copy_run(to + i, to - stride + i, count); });
    }
  });
}

/// Rows, or segments of them, of one value with one exception.
void level_rows(const Elements& e, const task::Shape& shape, bool zeros, base::Rng& all, int threads) {
  const int64_t columns = shape.back();
  for_runs_of_lines(task::element_count(shape) / columns, columns, threads, all, [&](int64_t first, int64_t last, base::Rng& rng) {
    for (int64_t row = first * columns; row < last * columns; row += columns) {
      if (rng.below(4) == 0) continue;
      const int64_t begin = row + (rng.below(2) == 0 ? 0 : place_below(rng, columns)), end = row + columns;
      const int64_t spared = begin + exception_of(end - begin, rng);
      const bool to_zero = zeros && rng.below(2) == 0;
      const int64_t value = spared == begin && begin + 1 < end ? begin + 1 : begin;
      for (int64_t i = begin; i < end; ++i) {
        if (i == spared) continue;
        if (to_zero) std::memset(e.data + static_cast<size_t>(i) * e.bytes, 0, e.bytes);
        else e.copy(i, value);
      }
    }
  });
}

void mirror_squares(const Elements& e, const task::Shape& shape, base::Rng& rng) {
  const int64_t n = shape.back(), total = task::element_count(shape);
  for (int64_t matrix = 0; matrix < total; matrix += n * n) {
    const int64_t spared = place_below(rng, n * n);
    for (int64_t i = 1; i < n; ++i)
      for (int64_t j = 0; j < i; ++j)
        if (i * n + j != spared && j * n + i != spared) e.copy(matrix + i * n + j, matrix + j * n + i);
  }
}

}  // namespace

int64_t exception_of(int64_t n, base::Rng& rng) {
  constexpr int64_t kTail = 8;
  switch (rng.below(4)) {
    case 0: return n - 1;
    case 1: return n - 1 - place_below(rng, std::min(n, kTail));
    default: return place_below(rng, n);
  }
}

void displace_some(std::span<std::byte> data, task::DType type, base::Rng& rng) {
  constexpr int64_t kSpared = 32;
  const Elements e{data.data(), static_cast<size_t>(task::size_of(type))};
  const auto count = static_cast<int64_t>(data.size() / e.bytes);
  for (int64_t i = 0; count > 0 && i <= count / kSpared; ++i) e.copy(place_below(rng, count), place_below(rng, count));
}

void halve(std::span<std::byte> data, task::DType type, int threads) {
  if (!task::is_float(type)) return;
  constexpr int64_t kTogether = int64_t{1} << 14;
  const int64_t count = std::ssize(data) / task::size_of(type);
  parallel_for((count + kTogether - 1) / kTogether, threads, [&](int64_t part) {
    const int64_t first = part * kTogether, here = std::min(kTogether, count - first);
    std::vector<double> values(static_cast<size_t>(here));
    load_doubles(type, data.data(), first, here, values.data());
    for (double& value : values) value /= 2;
    store_doubles(type, values.data(), here, data.data(), first);
  });
}

bool copy_but_one(std::span<std::byte> to, const task::Shape& to_shape, std::span<const std::byte> from, const task::Shape& from_shape, task::DType type,
                  base::Rng& all, int threads) {
  if (to.empty() || from.empty()) return false;
  const auto bytes = static_cast<size_t>(task::size_of(type));
  const auto count = static_cast<int64_t>(to.size() / bytes), others = static_cast<int64_t>(from.size() / bytes);
  const auto copy = [&](int64_t i, int64_t at, int64_t n) {
    std::memcpy(to.data() + static_cast<size_t>(i) * bytes, from.data() + static_cast<size_t>(at) * bytes, static_cast<size_t>(n) * bytes);
  };
  const auto is_end = [](const task::Shape& end, const task::Shape& whole) { return end.size() < whole.size() && std::equal(end.rbegin(), end.rend(), whole.rbegin()); };
  if (const int64_t line = std::min(count, others); line > 1 && (is_end(to_shape, from_shape) || is_end(from_shape, to_shape))) {
    for_runs_of_lines(count / line, line, threads, all, [&](int64_t begin, int64_t end, base::Rng& rng) {
      for (int64_t first = begin * line; first < end * line; first += line) {
        const int64_t like = place_below(rng, others / line) * line, spared = exception_of(line, rng);
        all_but(spared, 0, line, [&](int64_t i, int64_t n) { copy(first + i, like + i, n); });
      }
    });
    return true;
  }
  const task::Shape turned(from_shape.rbegin(), from_shape.rend());
  const bool transposed = from_shape.size() == 2 && to_shape == turned && (to_shape != from_shape || all.below(2) == 0);
  if (!transposed && to_shape != from_shape) return false;
  const int64_t columns = to_shape.empty() ? 1 : to_shape.back(), rows = count / columns;
  if (transposed) {
    const int64_t spared = exception_of(count, all);
    parallel_for(rows, threads, [&](int64_t row) {
      all_but(spared, row * columns, (row + 1) * columns, [&](int64_t first, int64_t n) {
        for (int64_t i = first; i < first + n; ++i) copy(i, i % columns * rows + row, 1);
      });
    });
    return true;
  }
  // One of each row, for who says whether all of a row are the same.
  const bool of_each = columns > 1 && all.below(2) == 0;
  const int64_t of_all = exception_of(count, all);
  for_runs_of_lines(rows, columns, threads, all, [&](int64_t begin, int64_t end, base::Rng& rng) {
    for (int64_t first = begin * columns; first < end * columns; first += columns)
      all_but(of_each ? first + exception_of(columns, rng) : of_all, first, first + columns, [&](int64_t i, int64_t n) { copy(i, i, n); });
  });
  return true;
}

void sort_but_one(std::span<std::byte> data, const task::Shape& shape, task::DType type, base::Rng& all, int threads) {
  if (shape.empty() || data.empty()) return;
  const Elements e{data.data(), static_cast<size_t>(task::size_of(type))};
  const size_t axis = all.below(shape.size());
  int64_t stride = 1;
  for (size_t d = axis + 1; d < shape.size(); ++d) stride *= shape[d];
  const int64_t extent = shape[axis], lines = task::element_count(shape) / extent;
  const std::vector<std::byte> before(e.data, e.data + static_cast<size_t>(lines * extent) * e.bytes);
  std::vector<double> keys(static_cast<size_t>(lines * extent));
  load_doubles(type, before.data(), 0, lines * extent, keys.data());
  for_runs_of_lines(lines, extent, threads, all, [&](int64_t begin, int64_t end, base::Rng& rng) {
    std::vector<int64_t> places(static_cast<size_t>(extent));
    for (int64_t line = begin; line < end; ++line) {
      if (rng.below(4) == 0) continue;
      const int64_t first = line / stride * stride * extent + line % stride;
      std::iota(places.begin(), places.end(), int64_t{0});
      const bool falls = rng.below(2) == 0;
      std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
        const double x = keys[static_cast<size_t>(first + a * stride)], y = keys[static_cast<size_t>(first + b * stride)];
        return falls ? y < x : x < y;
      });
      // With the last one mostly, which who takes a line for sorted returns; and with one near it half of the time, so that who looks at
      // some places sees them in order.
      const size_t n = places.size(), near = std::max<size_t>(2, n / 16);
      const size_t to = rng.below(4) == 0 ? rng.below(n) : n - 1;
      std::swap(places[rng.below(2) == 0 ? rng.below(n) : to - std::min(to, rng.below(near))], places[to]);
      for (int64_t k = 0; k < extent; ++k)
        std::memcpy(e.data + static_cast<size_t>(first + k * stride) * e.bytes, before.data() + static_cast<size_t>(first + places[static_cast<size_t>(k)] * stride) * e.bytes, e.bytes);
    }
  });
}

void make_alike(std::span<std::byte> data, const task::Shape& shape, task::DType type, bool zeros, base::Rng& rng, int threads) {
  if (shape.empty() || data.empty()) return;
  const Elements e{data.data(), static_cast<size_t>(task::size_of(type))};
  const bool square = shape.size() > 1 && shape.back() == shape[shape.size() - 2];
  switch (rng.below(square ? 3 : 2)) {
    case 0: return repeat_slabs(e, shape, rng, threads);
    case 1: return level_rows(e, shape, zeros, rng, threads);
    default: return mirror_squares(e, shape, rng);
  }
}

}  // namespace hone::evaluate
