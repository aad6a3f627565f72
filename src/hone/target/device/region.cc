#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "hone/target/card.h"
#include "hone/target/device/session.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace hone::target {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;

}  // namespace

int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    int64_t kib = 0;
    if (key == "MemAvailable:" && file >> kib) return kib << 10;
    file.ignore(256, '\n');
  }
  return -1;
}

Result<Region> Region::create(int64_t bytes, Access access) {
  HONE_CHECK(bytes > 0);
  const int64_t size = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  if (const int64_t available = available_memory(); available >= 0 && size > available / 10 * 9)
    return fail(ErrorCode::kExhausted,
                fmt::format("the buffers need {} MiB, but only {} MiB of memory are available",
                            size >> 20, available >> 20),
                "use a smaller workload");
  Region region;
  region.size_ = size;
  region.access_ = access;
  region.fd_ = base::Fd(memfd_create("hone-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!region.fd_ || ftruncate(region.fd_.get(), size) != 0)
    return fail(ErrorCode::kExhausted, fmt::format("cannot allocate {} MiB of shared memory: {}",
                                                   size >> 20, std::strerror(errno)));
  void* memory = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED,
                      region.fd_.get(), 0);
  if (memory == MAP_FAILED)
    return fail(ErrorCode::kExhausted, fmt::format("cannot map {} MiB: {}", size >> 20, std::strerror(errno)));
  region.data_ = static_cast<std::byte*>(memory);
  // Huge pages take TLB misses out of the measurement. Best effort: an older kernel says EINVAL. A page that is there makes
  // the other 511 its neighbours; where all are there they are copied, which takes thirty times as long.
  for (int64_t at = 0; at < size; at += kHugePage) region.data_[at] = std::byte{0};
  (void)madvise(memory, static_cast<size_t>(size), MADV_COLLAPSE);
  if (madvise(memory, static_cast<size_t>(size), MADV_POPULATE_WRITE) != 0)
    std::memset(memory, 0, static_cast<size_t>(size));
  // Our mapping stays writable, every later one is read-only: a candidate cannot undo that.
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | (access == Access::kInput ? F_SEAL_FUTURE_WRITE : 0);
  if (fcntl(region.fd_.get(), F_ADD_SEALS, seals) != 0)
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot seal shared memory: {}", std::strerror(errno)),
                "hone needs Linux 5.1 or later");
  return region;
}

Result<Region> Region::create_on(Card& card, int64_t bytes, Access access) {
  HONE_CHECK(bytes > 0);
  Region region;
  region.access_ = access;
  HONE_TRY(region.card_, card.allocate(bytes));
  region.size_ = region.card_->size();
  void* memory = mmap(nullptr, static_cast<size_t>(region.size_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return fail(ErrorCode::kExhausted, fmt::format("cannot map {} MiB: {}", region.size_ >> 20, std::strerror(errno)));
  region.data_ = static_cast<std::byte*>(memory);
  // Gigabytes are drawn into it: a fault for each 4 KiB would take longer than the drawing.
  (void)madvise(memory, static_cast<size_t>(region.size_), MADV_HUGEPAGE);
  return region;
}

int Region::descriptor() const { return card_->fd(); }

void Region::upload(int64_t offset, const std::byte* from, int64_t bytes) const {
  if (card_) card_->upload(offset, from, bytes);
}

void Region::download(int64_t offset, int64_t bytes) const {
  if (card_) card_->download(offset, data_ + offset, bytes);
}

void Region::download(std::span<const Piece> pieces, int width) const {
  if (card_) card_->download(pieces, width, data_);
}

void Region::fill(int64_t offset, int64_t bytes, uint64_t pattern, int width) const {
  if (card_ && bytes > 0) card_->fill(offset, bytes, pattern, width);
}

uint64_t Region::address() const {
  HONE_CHECK(card_ != nullptr);
  return card_->address();
}

void Region::peek(int64_t offset, void* to, int64_t bytes) const {
  HONE_CHECK(card_ != nullptr);
  card_->download(offset, to, bytes);
}

int64_t Region::count(int64_t offset, int64_t count, int width, uint64_t bits, uint64_t exponent) const {
  HONE_CHECK(card_ != nullptr);
  return count > 0 ? card_->count(offset, count, width, bits, exponent) : 0;
}

Region::Region() = default;
Region::Region(Region&& other) noexcept { *this = std::move(other); }

Region& Region::operator=(Region&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(card_, other.card_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(access_, other.access_);
  return *this;
}

Region::~Region() {
  if (data_) munmap(data_, static_cast<size_t>(size_));
}

}  // namespace hone::target
