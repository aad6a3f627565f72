// The loops of drawing for any processor.
#include "hone/evaluate/verify/draw/loops.h"

#define HONE_DRAW_TABLE kDrawLoops_base
#include "hone/evaluate/verify/draw/loops.inc"
