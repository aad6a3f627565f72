#include "hone/base/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace hone::base {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window, in gzip's own format
constexpr size_t kChunk = size_t{1} << 20;

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Result<std::string> gunzip(std::string_view bytes, size_t most, std::string_view name) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInput, fmt::format("the gzip file {}", what), "", std::string(name));
  };
  if (bytes.size() > std::numeric_limits<uInt>::max()) return wrong("is larger than 4 GiB");
  z_stream stream{};
  HONE_CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK, "zlib is out of memory");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib does not write to it
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int status = Z_OK;
  bool too_large = false;
  while (status == Z_OK && !too_large) {
    const size_t had = text.size();
    text.resize(had + kChunk);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + had);
    stream.avail_out = static_cast<uInt>(kChunk);
    status = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
    too_large = text.size() > most;
    if (status == Z_STREAM_END && stream.avail_in > 0) status = inflateReset(&stream);  // another member follows
  }
  inflateEnd(&stream);
  if (too_large) return wrong(fmt::format("holds more than {} bytes", most));
  if (status == Z_BUF_ERROR) return wrong("is cut off");
  if (status != Z_STREAM_END) return wrong("is damaged");
  return text;
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  HONE_CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK,
             "zlib is out of memory");
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  HONE_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib's bound does not hold");
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

}  // namespace hone::base
