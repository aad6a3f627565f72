#include "hone/target/toolchain/pack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/gzip.h"
#include "hone/base/hash.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kPackMagic = "\x93hone-pack-1\r\n\x1a\n";  // 16 bytes, damaged by whoever takes it for text
constexpr size_t kHash = 64, kFooter = 8 + 8 + kHash + kPackMagic.size();
constexpr uint64_t kMostIndex = uint64_t{64} << 20, kMostKernel = uint64_t{256} << 20;  ///< bytes, unpacked

std::string little_endian(uint64_t number) {
  std::string bytes(8, '\0');
  for (char& byte : bytes) byte = static_cast<char>(number), number >>= 8;
  return bytes;
}

uint64_t number_of(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = 8; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

/// Empty where the file does not have them all.
std::string bytes_at(const base::Fd& fd, uint64_t at, size_t count) {
  std::string bytes(count, '\0');
  for (size_t done = 0; done < count;) {
    const ssize_t n = ::pread(fd.get(), bytes.data() + done, count - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {};
    done += static_cast<size_t>(n);
  }
  return bytes;
}

tl::unexpected<Error> damaged(const fs::path& file, std::string_view what) {
  return fail(ErrorCode::kCorrupt, fmt::format("the pack of kernels in {} is damaged: {}", file.string(), what));
}

bool is_hash(const std::string& text) { return text.size() == kHash && text.find_first_not_of("0123456789abcdef") == std::string::npos; }

}  // namespace

PackWriter::PackWriter(size_t most) : most_(most), bytes_(kPackMagic) {}

bool PackWriter::add(const PackedBuild& build) {
  const json head = {{"key", build.key}, {"facts", build.facts}, {"log", build.log}};
  const std::string text = head.dump(-1, ' ', false, json::error_handler_t::replace) + "\n" + build.image, packed = base::gzip(text);
  // What a line of the index takes at most, packed: two hashes of 64 digits, which pack to half, and some numbers.
  constexpr size_t kLine = 192, kRest = 256 + kFooter;
  if (text.size() > kMostKernel || (most_ != 0 && bytes_.size() + packed.size() + (index_.size() + 1) * kLine + kRest > most_)) return false;
  index_.push_back({build.key, build.arch, build.toolchain, base::content_hash(packed), bytes_.size(), packed.size(), text.size()});
  bytes_ += packed;
  return true;
}

std::string PackWriter::finish() const {
  json lines = json::array();
  for (const Line& line : index_) lines.push_back({line.key, line.arch, line.toolchain, line.hash, line.at, line.bytes, line.unpacked});
  const std::string index = base::gzip(lines.dump());
  return bytes_ + index + little_endian(bytes_.size() + index.size() + kFooter) + little_endian(index.size()) + base::content_hash(index) +
         std::string(kPackMagic);
}

Result<std::shared_ptr<const Pack>> Pack::open(const fs::path& file) {
  const auto pack = std::make_shared<Pack>();
  pack->file_ = file;
  pack->fd_ = base::Fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!pack->fd_ || ::fstat(pack->fd_.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(ErrorCode::kNotFound, fmt::format("cannot read {}: {}", file.string(), pack->fd_ ? "it is no file" : std::strerror(errno)));
  const auto size = static_cast<uint64_t>(status.st_size);
  const std::string footer = size < kFooter ? std::string() : bytes_at(pack->fd_, size - kFooter, kFooter);
  if (!footer.ends_with(kPackMagic)) return fail(ErrorCode::kNotFound, fmt::format("{} holds no pack of kernels", file.string()));
  const uint64_t whole = number_of(footer), index_bytes = number_of(std::string_view(footer).substr(8));
  if (whole > size || index_bytes > kMostIndex || index_bytes + kFooter + kPackMagic.size() > whole) return damaged(file, "it says it is larger than it is");
  pack->bytes_ = whole;
  pack->start_ = size - whole;
  const uint64_t index_at = whole - kFooter - index_bytes;
  const std::string packed = bytes_at(pack->fd_, pack->start_ + index_at, index_bytes);
  if (bytes_at(pack->fd_, pack->start_, kPackMagic.size()) != kPackMagic || base::content_hash(packed) != footer.substr(16, kHash))
    return damaged(file, "its index is not what it was");
  const auto text = base::gunzip(packed, kMostIndex, file.string());
  const json lines = text ? json::parse(*text, nullptr, false) : json();
  if (!lines.is_array()) return damaged(file, "it has no index");
  for (const json& line : lines) {
    const auto is = [&](size_t i, bool (json::*kind)() const noexcept) { return (line[i].*kind)(); };
    bool sound = line.is_array() && line.size() == 7;
    for (size_t i = 0; sound && i < 7; ++i) sound = i < 4 ? is(i, &json::is_string) : is(i, &json::is_number_unsigned);
    if (!sound) return damaged(file, "its index does not say where its kernels are");
    Entry entry{line[1], line[2], line[3], line[4], line[5], line[6]};
    sound = is_hash(line[0]) && is_hash(entry.hash) && entry.at >= kPackMagic.size() && entry.at <= index_at && entry.bytes <= index_at - entry.at &&
            entry.unpacked <= kMostKernel;
    if (!sound || !pack->entries_.emplace(line[0], std::move(entry)).second) return damaged(file, "its index does not say where its kernels are");
  }
  return pack;
}

Result<PackedBuild> Pack::read(std::string_view key) const {
  const auto found = entries_.find(key);
  HONE_CHECK(found != entries_.end(), "a key of the pack");
  const Entry& entry = found->second;
  const std::string packed = bytes_at(fd_, start_ + entry.at, entry.bytes);
  if (base::content_hash(packed) != entry.hash) return damaged(file_, "a kernel is not what it was");
  const auto text = base::gunzip(packed, entry.unpacked, file_.string());
  const size_t end = text ? text->find('\n') : std::string::npos;
  const json head = end == std::string::npos ? json() : json::parse(text->substr(0, end), nullptr, false);
  const auto facts = head.is_object() ? head.find("facts") : head.end();
  if (!head.is_object() || head.value("key", json()) != key || !head.value("log", json()).is_string() || facts == head.end() || !facts->is_object() ||
      !std::all_of(facts->begin(), facts->end(), [](const json& fact) { return fact.is_number(); }))
    return damaged(file_, "a kernel is another than its index says");
  return PackedBuild{std::string(key), entry.arch, entry.toolchain, *facts, head["log"], text->substr(end + 1)};
}

Status append_pack(const fs::path& program, const fs::path& pack) {
  HONE_TRY(const auto added, Pack::open(pack));
  HONE_TRY(std::string content, base::read_file(program));
  if (!content.starts_with("\x7f" "ELF")) return fail(ErrorCode::kInput, fmt::format("{} is no program", program.string()));
  const auto before = Pack::open(program);
  if (!before && before.error().code != ErrorCode::kNotFound) return tl::unexpected(before.error());
  if (before) content.resize(content.size() - (*before)->bytes());
  HONE_TRY(const std::string bytes, base::read_file(pack));
  content += std::string_view(bytes).substr(bytes.size() - added->bytes());
  std::error_code error;
  const fs::perms rights = fs::status(program, error).permissions();
  const fs::path beside = program.string() + ".packed";
  HONE_TRY_VOID(base::write_file_atomic(beside, content));
  fs::permissions(beside, rights, error);
  if (!error) fs::rename(beside, program, error);
  if (!error) return {};
  std::error_code ignored;
  fs::remove(beside, ignored);
  return fail(ErrorCode::kUnavailable, fmt::format("cannot write {}: {}", program.string(), error.message()));
}

}  // namespace hone::target
