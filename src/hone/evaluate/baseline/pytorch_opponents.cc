#include "hone/evaluate/baseline/pytorch_opponents.h"

#include <fmt/format.h>

#include "hone/evaluate/baseline/pytorch.h"

namespace hone::evaluate {

namespace {

std::vector<Opponent> opponents_with(const task::Task& task, int threads, const std::optional<target::CardInfo>& card) {
  const auto shared = std::make_shared<const task::Task>(task);
  std::vector<Opponent> opponents;
  for (const PytorchMode mode : {PytorchMode::kEager, PytorchMode::kCompiled, PytorchMode::kAutotuned}) {
    Opponent& opponent = opponents.emplace_back();
    opponent.name = fmt::format("pytorch {}", name_of(mode));
    opponent.prepare = [shared, mode, threads, card](const Stage& stage) -> Result<Opponent::Starter> {
      PytorchOptions options;
      options.mode = mode;
      options.threads = threads;
      options.card = card;
      if (mode == PytorchMode::kAutotuned) options.start_deadline *= 3;
      HONE_TRY(auto host, PytorchHost::shared(threads, card.has_value()));
      auto server = PytorchServer::start(host, *shared, stage.bindings(), stage.regions(), options);
      // The host that all share may have ended at any time before.
      if (!server && PytorchHost::forget_ended(host)) {
        HONE_TRY(host, PytorchHost::shared(threads, card.has_value()));
        server = PytorchServer::start(host, *shared, stage.bindings(), stage.regions(), options);
      }
      if (!server) return tl::unexpected(server.error());
      return [server = std::move(*server)]() -> Result<std::unique_ptr<target::Session>> {
        HONE_TRY(auto session, PytorchServer::fork(server));
        return std::unique_ptr<target::Session>(std::move(session));
      };
    };
  }
  return opponents;
}

}  // namespace

std::vector<Opponent> pytorch_opponents(const task::Task& task, int threads) { return opponents_with(task, threads, std::nullopt); }
std::vector<Opponent> pytorch_opponents(const task::Task& task, const target::CardInfo& card) { return opponents_with(task, 0, card); }

}  // namespace hone::evaluate
