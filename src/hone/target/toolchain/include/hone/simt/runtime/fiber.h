// Fibers: one stack a thread of the emulated device, switched by a few instructions.
#pragma once
#include <stddef.h>
#include <stdint.h>

#if defined(HONE_SIMT_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// hone_simt_switch(save, load): keeps what a callee must keep on the old stack, its pointer in *save, and goes
// on with the stack `load`.
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .local hone_simt_switch
  .type hone_simt_switch,@function
hone_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size hone_simt_switch,.-hone_simt_switch
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .local hone_simt_switch
  .type hone_simt_switch,%function
hone_simt_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size hone_simt_switch,.-hone_simt_switch
)");
#else
#error "the emulator knows x86-64 and aarch64"
#endif
extern "C" void hone_simt_switch(void** save, void* load);

namespace hone::simt {

/// A stack ready to begin in `entry` at the next switch to what is returned.
inline void* prepare_stack(char* stack, size_t bytes, void (*entry)()) {
  char* top = stack + bytes;
#if defined(__x86_64__)
  void** sp = reinterpret_cast<void**>(top) - 8;
  for (int i = 0; i < 8; ++i) sp[i] = nullptr;
  sp[6] = reinterpret_cast<void*>(entry);  // with the stack as a call would leave it: 16 n + 8
#else
  void** sp = reinterpret_cast<void**>(top) - 20;
  for (int i = 0; i < 20; ++i) sp[i] = nullptr;
  sp[11] = reinterpret_cast<void*>(entry);
#endif
  return sp;
}

#if defined(HONE_SIMT_ASAN)
inline const void* main_bottom = nullptr;
inline size_t main_bytes = 0;

/// To a fiber's stack, from the scheduler's.
inline void switch_in(void** save, void* load, const char* stack, size_t bytes) {
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack, bytes);
  hone_simt_switch(save, load);
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
}
/// Back to the scheduler; `over`: this fiber is never resumed.
inline void switch_out(void** save, void* load, bool over) {
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(over ? nullptr : &fake, main_bottom, main_bytes);
  hone_simt_switch(save, load);
  __sanitizer_finish_switch_fiber(fake, &main_bottom, &main_bytes);
}
inline void fiber_begins() { __sanitizer_finish_switch_fiber(nullptr, &main_bottom, &main_bytes); }
inline void stack_is_free(char* stack, size_t bytes) { __asan_unpoison_memory_region(stack, bytes); }
#else
inline void switch_in(void** save, void* load, const char*, size_t) { hone_simt_switch(save, load); }
inline void switch_out(void** save, void* load, bool) { hone_simt_switch(save, load); }
inline void fiber_begins() {}
inline void stack_is_free(char*, size_t) {}
#endif

}  // namespace hone::simt
