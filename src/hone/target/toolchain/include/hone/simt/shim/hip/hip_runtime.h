// On the emulator all of it is there from the start.
#pragma once
