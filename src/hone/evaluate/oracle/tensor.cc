#include "hone/evaluate/oracle/tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "hone/evaluate/oracle/kernels/kernels.h"

namespace hone::evaluate {

struct Pool::Shelf {
  std::vector<std::unique_ptr<double[]>> free[48];
};

Pool::Pool() : shelf_(std::make_shared<Shelf>()) {}

std::shared_ptr<double> Pool::take(int64_t count) {
  const size_t size = std::bit_ceil(static_cast<size_t>(std::max<int64_t>(count, 64)));
  const auto bin = static_cast<size_t>(std::bit_width(size)) - 1;
  auto& free = shelf_->free[bin];
  double* data;
  if (free.empty()) {
    // Large blocks are mapped page by page as they are touched; small ones round up to share bins.
    data = new double[size];
  } else {
    data = free.back().release();
    free.pop_back();
  }
  return {data, [shelf = shelf_, bin](double* p) {
            shelf->free[bin].push_back(std::unique_ptr<double[]>(p));
          }};
}

int64_t Tensor::offset_of(const task::Shape& at) const {
  int64_t offset = 0;
  for (size_t d = 0; d < at.size(); ++d) offset += (at[d] - box.start[d]) * stride[d];
  return offset;
}

bool Tensor::is_dense() const {
  int64_t step = 1;
  for (size_t d = stride.size(); d-- > 0;) {
    if (box.extent[d] != 1 && stride[d] != step) return false;
    step *= box.extent[d];
  }
  return true;
}

Fresh make_dense(const Box& box, bool with_scale, Pool& pool) {
  const int64_t count = std::max<int64_t>(box.count(), 1);
  std::shared_ptr<double> memory = pool.take(with_scale ? 2 * count : count);
  Fresh fresh;
  fresh.value = memory.get();
  fresh.scale = with_scale ? memory.get() + count : nullptr;
  fresh.tensor = {box, dense_strides(box.extent), fresh.value, fresh.scale, std::move(memory)};
  return fresh;
}

Tensor restrict_to(const Tensor& t, const Box& box) {
  Tensor part = t;
  const int64_t offset = t.offset_of(box.start);
  part.box = box;
  part.value += offset;
  if (part.scale) part.scale += offset;
  return part;
}

Walk::Walk(const Tensor& t) { merge(t.box.extent, t.stride); }

Walk::Walk(const Tensor& t, const task::Shape& shape, const Box& result) {
  task::Shape stride(result.extent.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;  // broadcast, or a single element: either way at the start
    stride[d] = t.stride[d];
    offset_ += (result.start[d] - t.box.start[d]) * t.stride[d];
  }
  merge(result.extent, stride);
}

void Walk::merge(const task::Shape& extent, const task::Shape& stride) {
  for (size_t d = 0; d < extent.size(); ++d) {
    if (extent[d] == 1) continue;
    if (!extent_.empty() && stride_.back() == stride[d] * extent[d]) {
      extent_.back() *= extent[d];
      stride_.back() = stride[d];
    } else {
      extent_.push_back(extent[d]);
      stride_.push_back(stride[d]);
    }
  }
  if (extent_.empty()) {
    extent_ = {1};
    stride_ = {1};
  }
  contiguous_ = extent_.size() == 1 && stride_[0] == 1;
}

void Walk::read(const double* data, int64_t begin, int64_t count, double* out) const {
  const size_t rank = extent_.size();
  const int64_t inner = extent_.back(), step = stride_.back();
  task::Shape at(rank);
  int64_t rest = begin, offset = offset_;
  for (size_t d = rank; d-- > 0;) {
    at[d] = rest % extent_[d];
    rest /= extent_[d];
    offset += at[d] * stride_[d];
  }
  while (count > 0) {
    const int64_t run = std::min(count, inner - at[rank - 1]);
    const double* from = data + offset;
    if (step == 1) {
      std::memcpy(out, from, static_cast<size_t>(run) * sizeof(double));
    } else if (step == 0) {
      std::fill(out, out + run, *from);
    } else {
      for (int64_t i = 0; i < run; ++i) out[i] = from[i * step];
    }
    out += run;
    count -= run;
    if (count == 0) return;
    // On to the next run: carry into the outer dimensions.
    offset = offset_;
    at[rank - 1] = 0;
    for (size_t d = rank - 1; d-- > 0;) {
      if (++at[d] < extent_[d]) break;
      at[d] = 0;
    }
    for (size_t d = 0; d + 1 < rank; ++d) offset += at[d] * stride_[d];
  }
}

Tensor densify(const Tensor& t, Pool& pool) {
  if (t.is_dense()) return t;
  Fresh copy = make_dense(t.box, t.scale != nullptr, pool);
  const Walk walk(t);
  const int64_t count = t.box.count();
  walk.read(t.value, 0, count, copy.value);
  if (t.scale) walk.read(t.scale, 0, count, copy.scale);
  return copy.tensor;
}

void place(const Tensor& from, const Fresh& to, const task::Shape& at, double unit) {
  const task::Shape& extent = from.box.extent;
  const Box& into = to.tensor.box;
  const size_t rank = extent.size();
  // Runs that are contiguous in both: the inner dimensions that `to` holds no more of.
  size_t inner = rank;
  int64_t run = 1;
  while (inner > 0) {
    --inner;
    run *= extent[inner];
    if (extent[inner] != into.extent[inner]) break;
  }
  int64_t base = 0;
  for (size_t d = 0; d < rank; ++d) base += (at[d] - into.start[d]) * to.tensor.stride[d];
  const Walk walk(from);
  const int64_t count = from.box.count();
  for (int64_t begin = 0; begin < count; begin += run) {
    int64_t rest = begin / run, offset = base;
    for (size_t d = inner; d-- > 0;) {
      offset += rest % extent[d] * to.tensor.stride[d];
      rest /= extent[d];
    }
    walk.read(from.value, begin, run, to.value + offset);
    if (!to.scale) continue;
    if (from.scale)
      walk.read(from.scale, begin, run, to.scale + offset);
    else
      kernels().magnitude(run, to.value + offset, unit, to.scale + offset);
  }
}

}  // namespace hone::evaluate
