// A shared object of one function and a table, and what it says changed.
#include "hone/target/toolchain/elf_check.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "hone/base/file.h"

namespace hone::target {
namespace {

using ::testing::HasSubstr;

class ElfCheck : public testing::Test {
 protected:
  /// The header number `i` of the kind, to be changed.
  template <class T>
  T& at(uint64_t offset) { return *reinterpret_cast<T*>(image_.data() + offset); }
  Elf64_Ehdr& header() { return at<Elf64_Ehdr>(0); }
  Elf64_Shdr& section(uint32_t type) {
    for (size_t i = 0; i < header().e_shnum; ++i)
      if (auto& section = at<Elf64_Shdr>(header().e_shoff + i * sizeof(Elf64_Shdr)); section.sh_type == type) return section;
    throw std::runtime_error("no such section");
  }
  Elf64_Phdr& writable() {
    for (size_t i = 0; i < header().e_phnum; ++i)
      if (auto& segment = at<Elf64_Phdr>(header().e_phoff + i * sizeof(Elf64_Phdr)); segment.p_type == PT_LOAD && (segment.p_flags & PF_W)) return segment;
    throw std::runtime_error("no writable segment");
  }
  Result<ElfFacts> read() {
    EXPECT_TRUE(base::write_file_atomic(folder_.path() / "kernel.so", image_));
    return read_elf(folder_.path() / "kernel.so");
  }

  base::ScratchDirectory folder_ = base::ScratchDirectory::create("elf").value();
  std::string image_ = base::read_file(std::string(HONE_SOURCE_DIR) + "/test/fuzz/corpus/binary/shared_object").value();
};

TEST_F(ElfCheck, ReadsWhatItDefinesAndAsksFor) {
  const auto facts = read();
  ASSERT_TRUE(facts.has_value()) << facts.error().to_string();
  EXPECT_THAT(facts->exported, testing::UnorderedElementsAre("rows", "hone_entries"));
  EXPECT_THAT(facts->undefined, testing::ElementsAre("expf"));
  EXPECT_EQ(facts->forbidden, "");
}

TEST_F(ElfCheck, ARelocationLiesWithinWhatMayBeWritten) {
  auto& relocation = at<Elf64_Rela>(section(SHT_RELA).sh_offset);
  const uint64_t begin = writable().p_vaddr, end = begin + writable().p_memsz;
  for (const uint64_t place : {begin, end - 8}) {
    relocation.r_offset = place;
    EXPECT_EQ(read()->forbidden, "") << place;
  }
  // From address 0 on: eight bytes before it, a place ends where numbers begin anew.
  writable().p_vaddr = 0, writable().p_memsz = end;
  relocation.r_offset = begin;
  EXPECT_EQ(read()->forbidden, "");
  for (const uint64_t place : {end - 7, end, UINT64_MAX - 7, UINT64_MAX}) {
    relocation.r_offset = place;
    EXPECT_THAT(read()->forbidden, HasSubstr("has its code changed")) << place;
  }
}

TEST_F(ElfCheck, SizesThatCannotBeAreRefused) {
  for (const uint64_t size : {uint64_t{1} << 41, uint64_t{INT64_MAX}, UINT64_MAX}) {
    section(SHT_PROGBITS).sh_size = size;
    EXPECT_FALSE(read().has_value()) << size;
  }
}

TEST_F(ElfCheck, OneTableOfSymbols) {
  // Another section becomes a second one.
  section(SHT_PROGBITS) = section(SHT_DYNSYM);
  EXPECT_FALSE(read().has_value());
}

}  // namespace
}  // namespace hone::target
