// TileLang's templates include it and use nothing of it.
#pragma once
