#include "hone/task/known_values.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/base64.h"
#include "hone/base/gzip.h"

namespace hone::task {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostBytes = size_t{64} << 20;  ///< of a .npy file
constexpr size_t kMostHeader = 4096;

tl::unexpected<Error> odd(std::string message, std::string hint = {}) { return fail(ErrorCode::kInput, std::move(message), std::move(hint)); }

/// How NumPy calls what a file of such values holds; empty where it has no such type.
std::string_view descr_of(DType type) {
  switch (type) {
    case DType::kF64: return "<f8";
    case DType::kF32: case DType::kBF16: return "<f4";
    case DType::kF16: return "<f2";
    case DType::kI64: return "<i8";
    case DType::kI32: return "<i4";
    case DType::kI16: return "<i2";
    case DType::kI8: return "|i1";
    case DType::kBool: return "|b1";
    default: return {};
  }
}

/// What stands behind a key of the header, "'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), ".
std::optional<std::string_view> behind(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(at + key.size());
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == ':')) rest.remove_prefix(1);
  return rest;
}

std::optional<Shape> shape_in(std::string_view text) {
  if (text.empty() || text.front() != '(') return std::nullopt;
  text.remove_prefix(1);
  Shape shape;
  for (;;) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
    if (text.empty()) return std::nullopt;
    if (text.front() == ')') return shape;
    int64_t extent = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (read.ec != std::errc() || extent < 0 || extent > static_cast<int64_t>(kMostBytes) || shape.size() >= 8) return std::nullopt;
    shape.push_back(extent);
    text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  }
}

float half_to_float(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const auto mantissa = static_cast<float>(half & 1023);
  const float size = exponent == 31 ? ((half & 1023) != 0 ? NAN : INFINITY) : exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

template <class T>
T element(const std::string& bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

/// f32 to bf16 where no bits are lost.
Result<std::string> narrowed(std::string_view wide) {
  std::string narrow(wide.size() / 2, '\0');
  for (size_t i = 0; i < wide.size() / 4; ++i) {
    if (wide[4 * i] != 0 || wide[4 * i + 1] != 0) return odd("holds numbers that bf16 does not have", "round them first: x.bfloat16().float().numpy()");
    narrow[2 * i] = wide[4 * i + 2], narrow[2 * i + 1] = wide[4 * i + 3];
  }
  return narrow;
}

std::string widened(const std::string& narrow) {
  std::string wide(narrow.size() * 2, '\0');
  for (size_t i = 0; i < narrow.size() / 2; ++i) wide[4 * i + 2] = narrow[2 * i], wide[4 * i + 3] = narrow[2 * i + 1];
  return wide;
}

}  // namespace

Result<KnownValues> values_from_npy(std::string_view npy, DType type) {
  const std::string_view wanted = descr_of(type);
  if (wanted.empty()) return odd(fmt::format("cannot hold {}, which NumPy lacks", name_of(type)));
  if (!npy.starts_with(kMagic) || npy.size() < 12) return odd("is no .npy file", "numpy.save(\"mask.npy\", mask) writes one");
  const bool wide = npy[6] > 1;
  size_t length = static_cast<uint8_t>(npy[8]) + 256U * static_cast<uint8_t>(npy[9]);
  if (wide) length += 65536U * static_cast<uint8_t>(npy[10]) + 16777216U * static_cast<uint8_t>(npy[11]);
  const size_t begin = wide ? 12 : 10;
  if (length > kMostHeader || npy.size() - begin < length) return odd("is cut off");
  const std::string_view header = npy.substr(begin, length);
  const auto descr = behind(header, "'descr'"), order = behind(header, "'fortran_order'"), extents = behind(header, "'shape'");
  const auto shape = extents ? shape_in(*extents) : std::nullopt;
  if (!descr || !order || !shape) return odd("is no .npy file of one array");
  if (!order->starts_with("False")) return odd("is in Fortran's order", "numpy.ascontiguousarray() before it is saved");
  const std::string_view found = descr->substr(1, descr->find('\'', 1) == std::string_view::npos ? 0 : descr->find('\'', 1) - 1);
  if (found != wanted) return odd(fmt::format("holds '{}', and {} is '{}' there", found.substr(0, 20), name_of(type), wanted), "x.astype() before it is saved");
  double elements = 1;
  for (const int64_t extent : *shape) elements *= static_cast<double>(extent);
  const double bytes = elements * (type == DType::kBF16 ? 4 : size_of(type));
  const std::string_view data = npy.substr(begin + length);
  if (bytes > static_cast<double>(kMostBytes) || static_cast<double>(data.size()) != bytes) return odd(fmt::format("has {} bytes of elements where its shape says {}", data.size(), bytes));
  KnownValues values;
  values.shape = *shape;
  std::string own(data);
  if (type == DType::kBF16) {
    HONE_TRY(own, narrowed(data));
  }
  if (type == DType::kBool)
    for (const char c : own)
      if (c != 0 && c != 1) return odd("holds bools that are neither 0 nor 1");
  values.bytes = std::make_shared<const std::string>(std::move(own));
  return values;
}

std::string npy_of(const KnownValues& values, DType type) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr_of(type), fmt::join(values.shape, ", "), values.shape.size() == 1 ? "," : "");
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string npy(kMagic);
  npy += '\1', npy += '\0';
  npy += static_cast<char>(header.size() % 256), npy += static_cast<char>(header.size() / 256);
  return npy + header + (type == DType::kBF16 ? widened(*values.bytes) : *values.bytes);
}

std::string pack_values(const KnownValues& values, DType type) { return std::string(kPackedPrefix) + base::base64(base::gzip(npy_of(values, type))); }

Result<KnownValues> unpack_values(std::string_view text, DType type) {
  const auto packed = base::from_base64(text.substr(std::min(text.size(), kPackedPrefix.size())));
  if (!text.starts_with(kPackedPrefix) || !packed) return odd("are not packed as hone packs them", "name a .npy file instead");
  HONE_TRY(const std::string npy, base::gunzip(*packed, kMostBytes, "values"));
  return values_from_npy(npy, type);
}

double value_at(const KnownValues& values, DType type, int64_t i) {
  const std::string& bytes = *values.bytes;
  switch (type) {
    case DType::kF64: return element<double>(bytes, i);
    case DType::kF32: return element<float>(bytes, i);
    case DType::kF16: return half_to_float(element<uint16_t>(bytes, i));
    case DType::kBF16: {
      const uint32_t bits = uint32_t{element<uint16_t>(bytes, i)} << 16;
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    case DType::kI64: return static_cast<double>(element<int64_t>(bytes, i));
    case DType::kI32: return element<int32_t>(bytes, i);
    case DType::kI16: return element<int16_t>(bytes, i);
    default: return element<int8_t>(bytes, i);
  }
}

}  // namespace hone::task
