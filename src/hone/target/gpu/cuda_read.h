// Kernels that read memory, as text that the driver compiles: the worker has no compiler beside it.
#pragma once

namespace hone::target::cuda {

/// kReadName and kWarmName of driver.h. The driver's compiler cannot know that words never differ, and leaves the reading in.
inline constexpr char kReadText[] = R"(
.version 6.3
.target sm_70
.address_size 64
.visible .entry hone_read(.param .u64 from, .param .u64 bytes)
{
  .reg .pred %done, %other;
  .reg .b32 %thread, %threads, %block, %blocks, %first, %step, %sum, %a, %b, %c, %d;
  .reg .b64 %begin, %end, %at, %stride;
  ld.param.u64 %begin, [from];
  ld.param.u64 %end, [bytes];
  add.u64 %end, %begin, %end;
  mov.u32 %thread, %tid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %blocks, %nctaid.x;
  mad.lo.u32 %first, %block, %threads, %thread;
  mul.lo.u32 %step, %blocks, %threads;
  mul.wide.u32 %at, %first, 16;
  add.u64 %at, %begin, %at;
  mul.wide.u32 %stride, %step, 16;
  mov.u32 %sum, 0;
Next:
  setp.ge.u64 %done, %at, %end;
  @%done bra Last;
  ld.global.v4.u32 {%a, %b, %c, %d}, [%at];
  xor.b32 %a, %a, %b;
  xor.b32 %c, %c, %d;
  or.b32 %a, %a, %c;
  or.b32 %sum, %sum, %a;
  add.u64 %at, %at, %stride;
  bra Next;
Last:
  setp.eq.u32 %other, %sum, 0;
  @%other ret;
  st.global.u32 [%begin], %sum;
  ret;
}
.visible .entry hone_warm(.param .u64 from, .param .u64 bytes)
{
  .reg .pred %done;
  .reg .b32 %thread, %threads, %block, %blocks, %first, %step, %word;
  .reg .b64 %at, %end, %stride;
  ld.param.u64 %at, [from];
  ld.param.u64 %end, [bytes];
  add.u64 %end, %at, %end;
  mov.u32 %thread, %tid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %blocks, %nctaid.x;
  mad.lo.u32 %first, %block, %threads, %thread;
  mul.lo.u32 %step, %blocks, %threads;
  mul.wide.u32 %stride, %first, 16;
  add.u64 %at, %at, %stride;
  mul.wide.u32 %stride, %step, 16;
Next:
  setp.ge.u64 %done, %at, %end;
  @%done ret;
  ld.volatile.global.u32 %word, [%at];
  add.u64 %at, %at, %stride;
  bra Next;
}
)";

}  // namespace hone::target::cuda
