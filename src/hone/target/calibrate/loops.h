// The loops that peaks are measured with, for the instructions this CPU has. Pure computations on the
// caller's buffers; every thread runs its own.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hone::target::calibrate {

/// `rounds` times around a loop of independent multiply-adds in registers.
struct Products {
  void (*run)(int64_t rounds);
  int64_t per_round;   ///< multiply-adds a round
};
/// The best of f32 may serve bf16 where there is no instruction of its own; the caller takes the maximum.
[[nodiscard]] Products f64_products();
[[nodiscard]] Products f32_products();
[[nodiscard]] Products bf16_products();
[[nodiscard]] Products i8_products();

// Memory. Sizes are bytes, multiples of 512; buffers lie on 64-byte boundaries.
void read_stream(const std::byte* from, size_t bytes);
/// `around`: past the caches (non-temporal), where the CPU can.
void write_stream(std::byte* to, size_t bytes, bool around);
void copy_stream(std::byte* to, const std::byte* from, size_t bytes, bool around);

}  // namespace hone::target::calibrate
