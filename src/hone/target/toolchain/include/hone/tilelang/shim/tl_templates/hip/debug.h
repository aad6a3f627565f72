// No kernel prints.
#pragma once
