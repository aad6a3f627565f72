// dim3 and the vector types: float4 and its kin, with their alignment.
#pragma once

// An access to one of these at an address that is no multiple of its alignment is an error on a card, while the emulator's processor does it.
// A sanitizer looks at addresses where a function is called, and a copy is none unless it is written out: so it is in the build with
// sanitizers (HONE_CHECKED_VECTORS), for kernels that compile with it (a union of such a type does not).
#if defined(HONE_CHECKED_VECTORS)
#define HONE_CHECKED_2(NAME, T)                                            \
  NAME() = default;                                                        \
  constexpr NAME(T a, T b) : x(a), y(b) {}                                 \
  constexpr NAME(const NAME& v) : x(v.x), y(v.y) {}                        \
  constexpr NAME& operator=(const NAME& v) { x = v.x; y = v.y; return *this; }
#define HONE_CHECKED_4(NAME, T)                                            \
  NAME() = default;                                                        \
  constexpr NAME(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}           \
  constexpr NAME(const NAME& v) : x(v.x), y(v.y), z(v.z), w(v.w) {}        \
  constexpr NAME& operator=(const NAME& v) { x = v.x; y = v.y; z = v.z; w = v.w; return *this; }
#else
#define HONE_CHECKED_2(NAME, T)
#define HONE_CHECKED_4(NAME, T)
#endif

#define HONE_VECTORS(T, NAME, A1, A2, A4)                                              \
  struct __attribute__((aligned(A1))) NAME##1 { T x; };                                \
  struct __attribute__((aligned(A2))) NAME##2 { T x, y; HONE_CHECKED_2(NAME##2, T) };  \
  struct NAME##3 { T x, y, z; };                                                       \
  struct __attribute__((aligned(A4))) NAME##4 { T x, y, z, w; HONE_CHECKED_4(NAME##4, T) }; \
  constexpr NAME##1 make_##NAME##1(T x) { return {x}; }                                \
  constexpr NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                        \
  constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                \
  constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
HONE_VECTORS(signed char, char, 1, 2, 4)
HONE_VECTORS(unsigned char, uchar, 1, 2, 4)
HONE_VECTORS(short, short, 2, 4, 8)
HONE_VECTORS(unsigned short, ushort, 2, 4, 8)
HONE_VECTORS(int, int, 4, 8, 16)
HONE_VECTORS(unsigned, uint, 4, 8, 16)
HONE_VECTORS(long, long, 8, 16, 16)
HONE_VECTORS(unsigned long, ulong, 8, 16, 16)
HONE_VECTORS(long long, longlong, 8, 16, 16)
HONE_VECTORS(unsigned long long, ulonglong, 8, 16, 16)
HONE_VECTORS(float, float, 4, 8, 16)
HONE_VECTORS(double, double, 8, 16, 16)
#undef HONE_VECTORS
#undef HONE_CHECKED_2
#undef HONE_CHECKED_4

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3() = default;
  constexpr dim3(unsigned a, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
