// hone/nvrtc/prelude.h, or the compiler itself, has it all.
#pragma once
