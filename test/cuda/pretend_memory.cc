#include "pretend_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::pretend {

using target::cuda::kOutOfMemory;
using target::cuda::kSuccess;

namespace {

void* pointer(Address address) { return reinterpret_cast<void*>(address); }

constexpr size_t kFlushes = size_t{32} << 20;

}  // namespace

Result Memory::create(Handle& handle, size_t bytes) {
  if (bytes == 0 || bytes % kGranularity != 0) return kInvalidValue;
  if (bytes > available()) return kOutOfMemory;
  const int fd = memfd_create("pretend-card", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return kOutOfMemory;
  shared_[handle = next_++] = {fd, bytes, true};
  used_ += bytes;
  return kSuccess;
}

Result Memory::release(Handle handle) {
  const auto it = shared_.find(handle);
  if (it == shared_.end()) return kInvalidValue;
  close(it->second.fd);
  if (it->second.own) used_ -= it->second.bytes;
  shared_.erase(it);
  return kSuccess;
}

Result Memory::export_handle(int& fd, Handle handle) {
  const auto it = shared_.find(handle);
  if (it == shared_.end()) return kInvalidValue;
  fd = fcntl(it->second.fd, F_DUPFD_CLOEXEC, 3);
  return fd < 0 ? kOutOfMemory : kSuccess;
}

Result Memory::import_handle(Handle& handle, int fd) {
  struct stat info {};
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (own < 0 || fstat(own, &info) != 0) return kInvalidValue;
  shared_[handle = next_++] = {own, static_cast<size_t>(info.st_size), false};
  return kSuccess;
}

Result Memory::reserve(Address& address, size_t bytes) {
  if (bytes == 0 || bytes % kGranularity != 0) return kInvalidValue;
  void* const at = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return kOutOfMemory;
  address = reinterpret_cast<Address>(at);
  reserved_[address] = bytes;
  return kSuccess;
}

Result Memory::unreserve(Address address, size_t bytes) {
  const auto it = reserved_.find(address);
  if (it == reserved_.end() || it->second != bytes) return kInvalidValue;
  // What is still mapped there is a mistake of the caller's, which a real driver refuses too.
  const auto first = ranges_.lower_bound(address);
  if (first != ranges_.end() && first->first < address + bytes) return kInvalidValue;
  munmap(pointer(address), bytes);
  reserved_.erase(it);
  return kSuccess;
}

Result Memory::map(Address address, size_t bytes, Handle handle) {
  const auto it = shared_.find(handle);
  auto around = reserved_.upper_bound(address);
  if (it == shared_.end() || around == reserved_.begin()) return kInvalidValue;
  --around;
  if (address + bytes > around->first + around->second || bytes > it->second.bytes || ranges_.contains(address)) return kInvalidValue;
  if (mmap(pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, it->second.fd, 0) == MAP_FAILED) return kOutOfMemory;
  ranges_[address] = {bytes, Range::Kind::kMapped, false, false};
  return kSuccess;
}

Result Memory::unmap(Address address, size_t bytes) {
  const auto it = ranges_.find(address);
  if (it == ranges_.end() || it->second.kind != Range::Kind::kMapped || it->second.bytes != bytes) return kInvalidValue;
  mmap(pointer(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  ranges_.erase(it);
  return kSuccess;
}

Result Memory::set_access(Address address, size_t bytes, bool writable) {
  const auto it = ranges_.find(address);
  if (it == ranges_.end() || it->second.bytes != bytes) return kInvalidValue;
  if (mprotect(pointer(address), bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ) != 0) return kInvalidValue;
  it->second.readable = true;
  it->second.writable = writable;
  return kSuccess;
}

Result Memory::allocate(Address& address, size_t bytes) {
  if (bytes == 0) return kInvalidValue;
  if (bytes > available()) return kOutOfMemory;
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return kOutOfMemory;
  address = reinterpret_cast<Address>(at);
  ranges_[address] = {bytes, Range::Kind::kOwn, true, true};
  used_ += bytes;
  return kSuccess;
}

Result Memory::free(Address address) {
  const auto it = ranges_.find(address);
  if (it == ranges_.end() || it->second.kind != Range::Kind::kOwn) return kInvalidValue;
  munmap(pointer(address), it->second.bytes);
  used_ -= it->second.bytes;
  ranges_.erase(it);
  return kSuccess;
}

bool Memory::allows(Address address, size_t bytes, bool write) const {
  auto it = ranges_.upper_bound(address);
  if (it == ranges_.begin()) return false;
  --it;
  const Address end = it->first + it->second.bytes;
  return address < end && bytes <= end - address && (write ? it->second.writable : it->second.readable);
}

bool Memory::only_flushes(Address address) const {
  const auto it = ranges_.find(address);
  return it != ranges_.end() && it->second.kind == Range::Kind::kOwn && it->second.bytes >= kFlushes;
}

}  // namespace hone::pretend
