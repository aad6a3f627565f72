#include "hone/target/ttir/memory.h"

#include <cstring>

#include "hone/target/ttir/types.h"

namespace hone::target::ttir {
namespace {

/// Tensors lie so far apart that a wrong index does not find its way from one into another.
constexpr int kApart = 42;
constexpr uint64_t kAlignment = 4096;
constexpr uint8_t kSeveralReaders = 1, kAtomicWriter = 2, kAtomicReader = 4;

template <size_t kBytes>
void take_each(const char* from, size_t count, uint64_t* bits) {
  for (size_t i = 0; i < count; ++i) {
    bits[i] = 0;
    std::memcpy(&bits[i], from + i * kBytes, kBytes);
  }
}

}  // namespace

void Memory::begin_call(const simt::Buffer* buffers, uint32_t count) {
  spaces_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    Space space;
    space.buffer = buffers[i];
    const auto kind = space.buffer.kind;
    if (kind == simt::BufferKind::kOutput || kind == simt::BufferKind::kWorkspace) space.written.assign(static_cast<size_t>(space.buffer.bytes), 0);
    spaces_.push_back(std::move(space));
  }
}

void Memory::begin_launch() {
  for (Space& space : spaces_) space.unit = 0;
  known_.clear();
  handed_.clear();
  epoch_ = 1;
}

uint64_t Memory::address(uint32_t index) const {
  const auto base = reinterpret_cast<uint64_t>(spaces_[index].buffer.base);
  return (uint64_t{index + 1} << kApart) + base % kAlignment;
}

Memory::Place Memory::find(uint64_t address, int bytes, bool write) {
  // The nearest tensor, so that a step before its beginning is one too.
  const uint64_t half = uint64_t{1} << (kApart - 1);
  const uint64_t number = (address + half) >> kApart;
  if (number == 0 || number > spaces_.size()) throw Stop{simt::Finding::kOutOfBounds, std::string(write ? "stores to" : "loads from") + " an address that is no tensor's"};
  Space& space = spaces_[number - 1];
  const auto offset = static_cast<int64_t>(address - this->address(static_cast<uint32_t>(number - 1)));
  const auto where = [&] { return " (buffer " + std::to_string(space.buffer.index) + ")"; };
  if (offset < 0 || offset > space.buffer.bytes - bytes)
    throw Stop{simt::Finding::kOutOfBounds, std::string(write ? "stores " : "loads ") + std::to_string(bytes) + " bytes at byte " + std::to_string(offset) + " of" + where() +
                                               ", which has " + std::to_string(space.buffer.bytes)};
  if (reinterpret_cast<uint64_t>(space.buffer.base + offset) % static_cast<uint64_t>(bytes) != 0)
    throw Stop{simt::Finding::kUndefined, "an access of " + std::to_string(bytes) + " bytes is not aligned in" + where()};
  if (write && space.buffer.kind == simt::BufferKind::kInput) throw Stop{simt::Finding::kOutOfBounds, "stores to" + where() + ", which is an input"};
  return {&space, offset};
}

void Memory::cells_for(Space& space, int bytes) {
  if (space.unit != 0 && space.unit <= bytes) return;
  const int before = space.unit;
  std::vector<Cell> old = std::move(space.cells);
  space.unit = bytes;
  space.cells.assign(static_cast<size_t>((space.buffer.bytes + bytes - 1) / bytes), Cell{});
  if (before == 0) return;
  for (size_t i = 0; i < space.cells.size(); ++i) space.cells[i] = old[i * static_cast<size_t>(bytes) / static_cast<size_t>(before)];
}

bool Memory::ordered(const Mark& mark) const {
  if (mark.program == 0 || mark.program == program_) return true;
  const auto it = known_.find(mark.program);
  return it != known_.end() && mark.epoch <= it->second;
}

void Memory::race(const Space& space, int64_t offset, const Mark& other, const char* mine, const char* theirs) const {
  throw Stop{simt::Finding::kRace, std::string(mine) + " byte " + std::to_string(offset) + " of (buffer " + std::to_string(space.buffer.index) + "), which program " +
                                       std::to_string(other.program - 1) + " " + theirs + " in the same launch: programs run in any order"};
}

bool Memory::read_by_others(const Cell& cell) const {
  if (known_.empty()) return !ordered(cell.reader) || (cell.several & kSeveralReaders);
  return !ordered(cell.reader);
}

void Memory::read_by_me(Cell& cell, bool atomic) const {
  if (cell.reader.program != 0 && cell.reader.program != program_) cell.several |= kSeveralReaders;
  if (!atomic || cell.reader.program == 0) cell.several = static_cast<uint8_t>(atomic ? cell.several | kAtomicReader : cell.several & ~kAtomicReader);
  cell.reader = {program_, epoch_};
}

void Memory::written_by_me(Cell& cell, bool atomic) const {
  cell.writer = {program_, epoch_};
  cell.several = static_cast<uint8_t>(atomic ? cell.several | kAtomicWriter : cell.several & ~kAtomicWriter);
}

uint64_t Memory::load(uint64_t address, int bytes, uint8_t& bad, bool atomic) {
  const Place place = find(address, bytes, false);
  Space& space = *place.space;
  uint64_t bits = 0;
  std::memcpy(&bits, space.buffer.base + place.offset, static_cast<size_t>(bytes));
  if (!space.written.empty())
    for (int64_t i = place.offset; i < place.offset + bytes; ++i)
      if (!space.written[static_cast<size_t>(i)]) bad |= kUnwritten;
  if (space.buffer.kind == simt::BufferKind::kInput) return bits;
  cells_for(space, bytes);
  for (int64_t i = place.offset / space.unit; i <= (place.offset + bytes - 1) / space.unit; ++i) {
    Cell& cell = space.cells[static_cast<size_t>(i)];
    if (!ordered(cell.writer) && !(atomic && (cell.several & kAtomicWriter))) race(space, place.offset, cell.writer, "loads", "writes");
    read_by_me(cell, atomic);
  }
  return bits;
}

void Memory::store(uint64_t address, int bytes, uint64_t bits, bool atomic) {
  const Place place = find(address, bytes, true);
  Space& space = *place.space;
  cells_for(space, bytes);
  for (int64_t i = place.offset / space.unit; i <= (place.offset + bytes - 1) / space.unit; ++i) {
    Cell& cell = space.cells[static_cast<size_t>(i)];
    if (!ordered(cell.writer) && !(atomic && (cell.several & kAtomicWriter))) race(space, place.offset, cell.writer, "stores to", "writes too");
    if (read_by_others(cell) && !(atomic && (cell.several & kAtomicReader))) race(space, place.offset, cell.reader, "stores to", "reads");
    written_by_me(cell, atomic);
  }
  std::memcpy(space.buffer.base + place.offset, &bits, static_cast<size_t>(bytes));
  if (!space.written.empty())
    for (int64_t i = place.offset; i < place.offset + bytes; ++i) space.written[static_cast<size_t>(i)] = 1;
}

Memory::Space* Memory::find_run(uint64_t address, int bytes, size_t count, int64_t& offset) {
  const uint64_t number = address >> kApart;
  if (number == 0 || number > spaces_.size()) return nullptr;
  Space& space = spaces_[number - 1];
  const uint64_t base = this->address(static_cast<uint32_t>(number - 1));
  if (address < base) return nullptr;
  offset = static_cast<int64_t>(address - base);
  if (offset > space.buffer.bytes - static_cast<int64_t>(count) * bytes) return nullptr;
  if (reinterpret_cast<uint64_t>(space.buffer.base + offset) % static_cast<uint64_t>(bytes) != 0) return nullptr;
  if (space.buffer.kind == simt::BufferKind::kInput) return &space;
  cells_for(space, bytes);
  return space.unit == bytes ? &space : nullptr;
}

bool Memory::load_run(uint64_t address, int bytes, size_t count, uint64_t* bits) {
  int64_t offset = 0;
  Space* const space = find_run(address, bytes, count, offset);
  if (!space) return false;
  if (space->buffer.kind != simt::BufferKind::kInput) {
    if (!space->written.empty() && std::memchr(&space->written[static_cast<size_t>(offset)], 0, count * static_cast<size_t>(bytes))) return false;
    Cell* const cells = &space->cells[static_cast<size_t>(offset / bytes)];
    for (size_t i = 0; i < count; ++i)
      if (!ordered(cells[i].writer)) return false;
    for (size_t i = 0; i < count; ++i) read_by_me(cells[i], false);
  }
  const char* const from = space->buffer.base + offset;
  switch (bytes) {
    case 1: take_each<1>(from, count, bits); break;
    case 2: take_each<2>(from, count, bits); break;
    case 4: take_each<4>(from, count, bits); break;
    default: take_each<8>(from, count, bits);
  }
  return true;
}

bool Memory::store_run(uint64_t address, int bytes, size_t count, const uint64_t* bits) {
  int64_t offset = 0;
  Space* const space = find_run(address, bytes, count, offset);
  if (!space || space->buffer.kind == simt::BufferKind::kInput) return false;
  Cell* const cells = &space->cells[static_cast<size_t>(offset / bytes)];
  for (size_t i = 0; i < count; ++i)
    if (!ordered(cells[i].writer) || read_by_others(cells[i])) return false;
  for (size_t i = 0; i < count; ++i) written_by_me(cells[i], false);
  char* const to = space->buffer.base + offset;
  for (size_t i = 0; i < count; ++i) std::memcpy(to + i * static_cast<size_t>(bytes), &bits[i], static_cast<size_t>(bytes));
  if (!space->written.empty()) std::memset(&space->written[static_cast<size_t>(offset)], 1, count * static_cast<size_t>(bytes));
  return true;
}

void Memory::acquired(uint64_t address) {
  for (const auto& [program, epoch] : handed_[address]) known_[program] = std::max(known_[program], epoch);
}

void Memory::released(uint64_t address) {
  auto& handed = handed_[address];
  for (const auto& [program, epoch] : known_) handed[program] = std::max(handed[program], epoch);
  handed[program_] = epoch_++;
}

}  // namespace hone::target::ttir
