// The init of a pid namespace has one duty here: to exist. It must not share our memory, so it has
// to be executed, and it must need nothing from the jail's file system, so it is built here: an ELF
// header, one segment and a loop around pause().
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "hone/base/file.h"
#include "hone/base/process/jail_plan.h"

namespace hone::base {
namespace {

#ifndef MFD_EXEC
constexpr unsigned kExecutable = 0x10;  // Linux 6.3
#else
constexpr unsigned kExecutable = MFD_EXEC;
#endif

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
constexpr uint32_t kCode[] = {
    0x000022b8, 0xeb050f00, 0x000000f7,  // mov eax, 34 (pause); syscall; jmp back
};
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr uint32_t kCode[] = {
    0xd2800000, 0xd2800001, 0xd2800002, 0xd2800003, 0xd2800004,  // mov x0..x4, 0
    0xd2800928,                                                  // mov x8, 73 (ppoll)
    0xd4000001, 0x17fffff9,                                      // svc 0; b back
};
#else
#error "write the init's loop for this architecture"
#endif

struct Image {
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  uint32_t code[sizeof kCode / sizeof kCode[0]];
};

Image make_image() {
  constexpr uint64_t kBase = 0x400000;
  Image image{};
  Elf64_Ehdr& header = image.header;
  const unsigned char magic[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
  for (size_t i = 0; i < sizeof magic; ++i) header.e_ident[i] = magic[i];
  header.e_type = ET_EXEC;
  header.e_machine = kMachine;
  header.e_version = EV_CURRENT;
  header.e_entry = kBase + offsetof(Image, code);
  header.e_phoff = offsetof(Image, segment);
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof image.segment;
  header.e_phnum = 1;
  Elf64_Phdr& segment = image.segment;
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R | PF_X;
  segment.p_vaddr = segment.p_paddr = kBase;
  segment.p_filesz = segment.p_memsz = sizeof image;
  segment.p_align = 0x10000;
  for (size_t i = 0; i < sizeof kCode / sizeof kCode[0]; ++i) image.code[i] = kCode[i];
  return image;
}

int write_program() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Fd fd(memfd_create("hone-init", kFlags | kExecutable));
  if (!fd) fd = Fd(memfd_create("hone-init", kFlags));
  const Image image = make_image();
  if (!fd || ::write(fd.get(), &image, sizeof image) != ssize_t{sizeof image}) return -1;
  // Executing refuses a file that is open for writing.
  const Fd writable = std::move(fd);
  fcntl(writable.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  const std::string path = "/proc/self/fd/" + std::to_string(writable.get());
  return open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace

int init_program() {
  static const int fd = write_program();
  return fd;
}

}  // namespace hone::base
