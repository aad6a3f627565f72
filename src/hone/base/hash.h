// Content hashes: BLAKE2b-256 by libsodium. Names kernels, builds and blobs. Pure; thread-safe.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hone::base {

/// 64 lower-case hexadecimal digits of BLAKE2b-256 over `data`.
[[nodiscard]] std::string content_hash(std::string_view data);

/// Hash of several fields, each preceded by its length, so that ("ab","c") differs from ("a","bc").
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  Hasher& add(std::string_view field);
  [[nodiscard]] std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The first twelve digits: what people see and type.
[[nodiscard]] inline std::string short_hash(std::string_view hash) {
  return std::string(hash.substr(0, 12));
}

}  // namespace hone::base
