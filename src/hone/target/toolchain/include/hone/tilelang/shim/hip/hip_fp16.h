// _Float16 is the compiler's own; two of them in a word are taken apart by these names.
#pragma once
struct half2 {
  _Float16 x, y;
};
