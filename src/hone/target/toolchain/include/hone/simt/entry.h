// What generated calls need besides the kernel's language. Templates, so that whether a kernel takes what they give can be asked.
#pragma once

namespace hone::simt {

/// A tensor as it is declared in the task.
template <class T, class At>
inline T* tensor(At at) { return reinterpret_cast<T*>(at); }

/// For a kernel that declares a tensor's elements as it likes: without const, as long or long long, as float4.
struct Address {
  uint64_t at;
  template <class T>
  operator T*() const { return reinterpret_cast<T*>(at); }
};
template <class At>
inline Address address(At at) { return {at}; }

}  // namespace hone::simt
