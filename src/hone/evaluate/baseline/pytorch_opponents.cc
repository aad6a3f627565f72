#include "hone/evaluate/baseline/pytorch_opponents.h"

#include "hone/evaluate/baseline/pytorch.h"

namespace hone::evaluate {

namespace {

/// Started when the first opponent needs it. A failure is remembered: it would not end differently.
class LazyHost {
 public:
  Result<std::shared_ptr<PytorchHost>> get(int threads, bool on_card) {
    if (!host_) host_ = PytorchHost::start(threads, on_card);
    return *host_;
  }

 private:
  std::optional<Result<std::shared_ptr<PytorchHost>>> host_;
};

std::vector<Opponent> opponents_with(const task::Task& task, int threads, const std::optional<target::CardInfo>& card) {
  const auto shared = std::make_shared<const task::Task>(task);
  const auto hosts = std::make_shared<LazyHost>();
  std::vector<Opponent> opponents;
  for (const PytorchMode mode : {PytorchMode::kEager, PytorchMode::kCompiled}) {
    Opponent& opponent = opponents.emplace_back();
    opponent.name = mode == PytorchMode::kEager ? "pytorch eager" : "pytorch compiled";
    opponent.prepare = [shared, hosts, mode, threads, card](const Stage& stage) -> Result<Opponent::Starter> {
      PytorchOptions options;
      options.mode = mode;
      options.threads = threads;
      options.card = card;
      HONE_TRY(auto host, hosts->get(threads, card.has_value()));
      HONE_TRY(auto server, PytorchServer::start(std::move(host), *shared, stage.bindings(), stage.regions(), options));
      return [server]() -> Result<std::unique_ptr<target::Session>> {
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
