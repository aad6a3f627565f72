// Memory as the interpreter's programs see it: tensors at addresses far from one another, every byte of which knows whether
// it was written and by which program. Owns: bounds, bytes never written, races between programs of a launch.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hone/target/toolchain/include/hone/simt/context.h"

namespace hone::target::ttir {

/// Ends the launch: what was found, in words. Thrown.
struct Stop {
  simt::Finding finding;
  std::string text;
};

class Memory {
 public:
  /// A call begins: buffers as the runner has them. Inputs and zeroed workspaces count as written.
  void begin_call(const simt::Buffer* buffers, uint32_t count);
  /// A launch sees all that launches before it wrote.
  void begin_launch();
  /// Programs of a launch run one after the other, as if each knew nothing of the others.
  void begin_program(int64_t program) {
    program_ = static_cast<uint32_t>(program) + 1;
    known_.clear();
    epoch_ = 1;
  }

  /// Where buffer `index` (as the plan counts) begins: as far from a boundary as the memory behind it.
  [[nodiscard]] uint64_t address(uint32_t index) const;

  /// `bytes` bits of memory, little end first; `bad` gets kUnwritten where nobody wrote. Stop: out of bounds, a race, misaligned.
  [[nodiscard]] uint64_t load(uint64_t address, int bytes, uint8_t& bad) { return load(address, bytes, bad, false); }
  void store(uint64_t address, int bytes, uint64_t bits) { store(address, bytes, bits, false); }
  /// The same for `count` neighbours from `address` on at once. False, and nothing done, where one of them is not as it should
  /// be: one by one says why.
  [[nodiscard]] bool load_run(uint64_t address, int bytes, size_t count, uint64_t* bits);
  [[nodiscard]] bool store_run(uint64_t address, int bytes, size_t count, const uint64_t* bits);

  /// An atomic operation on one place: reads, lets `change` say what to write, and orders what `acquire` and `release` say.
  template <typename Change>
  uint64_t atomic(uint64_t address, int bytes, bool acquire, bool release, uint8_t& bad, Change change) {
    if (acquire) acquired(address);
    const uint64_t old = load(address, bytes, bad, true);
    const auto [write, value] = change(old);
    if (write) store(address, bytes, value, true);
    if (release) released(address);
    return old;
  }

 private:
  struct Mark {
    uint32_t program = 0;   ///< 1 + the program; 0: nobody
    uint32_t epoch = 0;     ///< of that program's releases
  };
  struct Cell {
    Mark writer, reader;
    uint8_t several = 0;    ///< bits: readers of more than one program, written by atomics only, read by atomics only
  };
  struct Space {
    simt::Buffer buffer;
    int unit = 0;                   ///< bytes of a cell; 0: not touched in this launch
    std::vector<Cell> cells;
    std::vector<uint8_t> written;   ///< of each byte; empty: all
  };
  struct Place {
    Space* space;
    int64_t offset;
  };

  [[nodiscard]] uint64_t load(uint64_t address, int bytes, uint8_t& bad, bool atomic);
  void store(uint64_t address, int bytes, uint64_t bits, bool atomic);
  Place find(uint64_t address, int bytes, bool write);
  /// Null where the run is not wholly inside, aligned, of cells of this size.
  Space* find_run(uint64_t address, int bytes, size_t count, int64_t& offset);
  void cells_for(Space& space, int bytes);
  [[nodiscard]] bool ordered(const Mark& mark) const;
  [[nodiscard]] bool read_by_others(const Cell& cell) const;
  void read_by_me(Cell& cell, bool atomic) const;
  void written_by_me(Cell& cell, bool atomic) const;
  void acquired(uint64_t address);
  void released(uint64_t address);
  [[noreturn]] void race(const Space& space, int64_t offset, const Mark& other, const char* mine, const char* theirs) const;

  std::vector<Space> spaces_;
  uint32_t program_ = 0;
  uint32_t epoch_ = 1;
  /// What the program at work knows of others' releases, and what a place of synchronisation hands on.
  std::map<uint32_t, uint32_t> known_;
  std::map<uint64_t, std::map<uint32_t, uint32_t>> handed_;
};

}  // namespace hone::target::ttir
