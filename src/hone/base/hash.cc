#include "hone/base/hash.h"

#include <sodium.h>

#include "hone/base/result.h"

namespace hone::base {

struct Hasher::State {
  crypto_generichash_state inner;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  HONE_CHECK(sodium_init() >= 0);
  crypto_generichash_init(&state_->inner, nullptr, 0, 32);
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::add(std::string_view field) {
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(field.size() >> (8 * i));
  crypto_generichash_update(&state_->inner, length, sizeof length);
  crypto_generichash_update(&state_->inner, reinterpret_cast<const unsigned char*>(field.data()),
                            field.size());
  return *this;
}

namespace {
std::string hex(const unsigned char (&digest)[32]) {
  char text[65];
  sodium_bin2hex(text, sizeof text, digest, sizeof digest);
  return text;
}
}  // namespace

std::string Hasher::finish() {
  unsigned char digest[32];
  crypto_generichash_final(&state_->inner, digest, sizeof digest);
  return hex(digest);
}

std::string content_hash(std::string_view data) {
  unsigned char digest[32];
  crypto_generichash(digest, sizeof digest, reinterpret_cast<const unsigned char*>(data.data()),
                     data.size(), nullptr, 0);
  return hex(digest);
}

}  // namespace hone::base
