// hone/hip/math.h has it all.
#pragma once
