// Several binaries of one kernel as one file: a card loads each as a module of its own. Pure.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::target {

inline constexpr std::string_view kBundleMark = "hone: bundle of binaries 1\n";
/// Each begins on so many bytes of the file.
inline constexpr size_t kBundleAlign = 64;

/// Mark, count, sizes (64 bits each), images with a byte of 0 between them at least.
[[nodiscard]] inline std::string bundled(std::span<const std::string> images) {
  std::string file(kBundleMark);
  const auto put = [&](uint64_t number) { file.append(reinterpret_cast<const char*>(&number), sizeof number); };
  put(images.size());
  for (const std::string& image : images) put(image.size());
  for (const std::string& image : images) {
    file.resize((file.size() + kBundleAlign) / kBundleAlign * kBundleAlign);
    file += image;
  }
  return file;
}

/// The binaries in a file: itself, where it is no bundle; none, where it is a damaged one.
[[nodiscard]] inline std::vector<std::string_view> binaries_in(std::string_view file) {
  if (!file.starts_with(kBundleMark)) return {file};
  size_t at = kBundleMark.size();
  const auto take = [&](uint64_t& number) {
    if (file.size() - at < sizeof number) return false;
    std::memcpy(&number, file.data() + at, sizeof number);
    at += sizeof number;
    return true;
  };
  uint64_t count = 0;
  if (!take(count) || count > file.size() / sizeof count) return {};
  std::vector<uint64_t> sizes(count);
  if (!std::all_of(sizes.begin(), sizes.end(), take)) return {};
  std::vector<std::string_view> images;
  for (const uint64_t size : sizes) {
    at = std::min((at + kBundleAlign) / kBundleAlign * kBundleAlign, file.size());
    if (file.size() - at < size) return {};
    images.push_back(file.substr(at, size));
    at += size;
  }
  return images;
}

}  // namespace hone::target
