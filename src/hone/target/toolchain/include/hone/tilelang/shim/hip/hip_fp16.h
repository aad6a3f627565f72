// _Float16 is the compiler's own.
#pragma once
