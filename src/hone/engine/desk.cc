#include "hone/engine/desk.h"

#include <chrono>

#include <fmt/format.h>

#include "hone/base/fields.h"

namespace hone::engine {

std::string exchange_key(const std::string& run, int n) { return fmt::format("exchange {} {}", run, n); }

Desk::Desk(std::string run, const ModelServices& services, agent::Budget& budget) : run_(std::move(run)), services_(services), budget_(budget) {}

Desk::~Desk() {
  cancelled_ = true;
  for (auto& [n, thread] : threads_) thread.join();
}

void Desk::send(int n, int model, agent::Request request, const agent::Cost& most, std::optional<agent::Price> price) {
  const std::scoped_lock lock(mutex_);
  threads_[n] = std::thread([this, n, model, request = std::move(request), most, price = std::move(price)] { work(n, model, request, most, price); });
}

void Desk::work(int n, int model, const agent::Request& request, const agent::Cost& most, const std::optional<agent::Price>& price) {
  agent::BudgetGate gate(budget_, most, price);
  agent::Call call;
  call.gate = &gate;
  call.cancelled = [this] { return cancelled_.load(); };
  agent::Exchange exchange = services_.clients.at(static_cast<size_t>(model))->complete(request, call);
  event::Exchanged exchanged{std::move(exchange), gate.charged()};
  const std::string text = base::canonical_json(base::fields_json(exchanged));
  if (services_.another_store)
    if (auto store = services_.another_store()) (void)store->put_fact(exchange_key(run_, n), text);
  const std::scoped_lock lock(mutex_);
  back_.push_back({n, std::move(exchanged)});
  came_.notify_all();
}

std::optional<Desk::Answered> Desk::take() {
  std::thread finished;
  std::optional<Answered> answered;
  {
    const std::scoped_lock lock(mutex_);
    if (back_.empty()) return std::nullopt;
    answered = std::move(back_.front());
    back_.pop_front();
    const auto it = threads_.find(answered->n);
    finished = std::move(it->second);
    threads_.erase(it);
  }
  finished.join();
  return answered;
}

bool Desk::any_back() const {
  const std::scoped_lock lock(mutex_);
  return !back_.empty();
}

void Desk::wait(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, most, [this] { return !back_.empty() || threads_.empty(); });
}

int Desk::under_way() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<int>(threads_.size());
}

}  // namespace hone::engine
