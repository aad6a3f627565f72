// What generated entries need besides the kernel's language.
#pragma once

namespace hone::simt {

/// A tensor of i64: the kernel declares its elements long, long long or int64_t, as it likes.
template <bool INPUT>
struct Longs {
  uint64_t address;
  operator const long*() const { return reinterpret_cast<const long*>(address); }
  operator const long long*() const { return reinterpret_cast<const long long*>(address); }
  operator long*() const requires(!INPUT) { return reinterpret_cast<long*>(address); }
  operator long long*() const requires(!INPUT) { return reinterpret_cast<long long*>(address); }
};

}  // namespace hone::simt
