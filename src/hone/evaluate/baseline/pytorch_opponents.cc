#include "hone/evaluate/baseline/pytorch_opponents.h"

#include "hone/evaluate/baseline/pytorch.h"

namespace hone::evaluate {

std::vector<Opponent> pytorch_opponents(const task::Task& task, int threads) {
  const auto shared = std::make_shared<const task::Task>(task);
  std::vector<Opponent> opponents;
  for (const PytorchMode mode : {PytorchMode::kEager, PytorchMode::kCompiled}) {
    Opponent& opponent = opponents.emplace_back();
    opponent.name = mode == PytorchMode::kEager ? "pytorch eager" : "pytorch compiled";
    opponent.restarts = false;
    opponent.start = [shared, mode, threads](const Stage& stage) -> Result<std::unique_ptr<target::Session>> {
      PytorchOptions options;
      options.mode = mode;
      options.threads = threads;
      HONE_TRY(auto session, start_pytorch(*shared, stage.bindings(), stage.regions(), options));
      return std::unique_ptr<target::Session>(std::move(session));
    };
  }
  return opponents;
}

}  // namespace hone::evaluate
