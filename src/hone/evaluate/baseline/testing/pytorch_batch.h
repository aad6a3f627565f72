// One Python process that runs many random cases: pytorch_batch.py says how. A test that cannot
// start it or loses it fails at once.
#pragma once
#include <sys/socket.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/process/process.h"
#include "hone/evaluate/baseline/pytorch.h"
#include "hone/evaluate/baseline/pytorch_process.h"
#include "hone/evaluate/baseline/testing/random_case.h"
#include "hone/evaluate/oracle/testing.h"

namespace hone::evaluate::testing {

/// A random case as a task with drawn inputs.
struct Prepared {
  RandomCase random;
  Case built;
  std::string forward;  ///< what the emitter made of it

  Prepared(RandomCase r) : random(std::move(r)), built(random.compute, random.declarations()) {
    for (size_t i = 0; i < random.inputs.size(); ++i) draw_input(i);
    auto source = emit_pytorch(built.task, built.graph.bindings);
    HONE_CHECK(source.has_value(), random.compute + ": " + source.error().to_string());
    forward = std::move(*source);
  }

  [[nodiscard]] int outputs() const { return static_cast<int>(built.task.outputs.size()); }
  [[nodiscard]] int64_t count(int output) const { return task::element_count(built.output_shape(output)); }

 private:
  void draw_input(size_t i) {
    const RandomInput& input = random.inputs[i];
    task::InputSpec spec = built.task.inputs[i];
    spec.domain = input.domain;
    if (input.extra == Extra::kBall) spec.domain = Domain::kUnit;
    void* data = built.data[i].data();
    draw(spec, input.shape, input.bound, random.family, random.seed, data, 1);
    if (input.extra == Extra::kNone) return;
    const int64_t n = task::element_count(input.shape);
    std::vector<double> v(static_cast<size_t>(n));
    load_doubles(input.dtype, data, 0, n, v.data());
    base::Rng rng(random.seed, i + 1);
    constexpr double kInf = std::numeric_limits<double>::infinity();
    for (double& x : v) {
      if (input.extra == Extra::kBall) x = 2 * x - 1;
      if (input.extra == Extra::kNonZero && x == 0) x = 3;
      if (input.extra == Extra::kSpecial && task::is_float(input.dtype) && rng.below(4) == 0)
        x = std::array{kInf, -kInf, std::nan("")}[rng.below(3)];
    }
    store_doubles(input.dtype, v.data(), n, data, 0);
  }
};

/// PyTorch's results for one case: of the generator's statements and of the emitter's forward().
struct TorchResults {
  std::string statements_error, forward_error;           ///< empty: it ran
  std::vector<std::vector<double>> statements, forward;  ///< by output
};

class PytorchBatch {
 public:
  explicit PytorchBatch(const PythonTorch& python) {
    int pair[2];
    HONE_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0, "socketpair");
    base::Fd ours(pair[0]), theirs(pair[1]);
    base::SpawnOptions spawn;
    spawn.argv = {python.python.string(),
                  HONE_SOURCE_DIR "/src/hone/evaluate/baseline/testing/pytorch_batch.py"};
    spawn.environment = pytorch_environment();
    spawn.environment["OMP_NUM_THREADS"] = "1";
    spawn.descriptors[3] = theirs.get();
    auto child = base::Child::spawn(spawn);
    HONE_CHECK(child.has_value(), child.error().to_string());
    child_.emplace(std::move(*child));
    channel_ = Channel(std::move(ours));
  }

  [[nodiscard]] std::vector<TorchResults> run(const std::vector<std::unique_ptr<Prepared>>& cases) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    const std::string request = request_of(cases);
    HONE_CHECK(channel_.send(request, deadline), lost());
    uint64_t size = 0;
    const Reply length = channel_.receive(sizeof size, deadline);
    HONE_CHECK(length.how == Reply::How::kDone, lost());
    std::memcpy(&size, length.text.data(), sizeof size);
    const Reply reply = channel_.receive(size, deadline);
    HONE_CHECK(reply.how == Reply::How::kDone, lost());
    return results_of(cases, reply.text);
  }

 private:
  std::string lost() {
    child_->kill();
    const base::Exit exit = child_->wait(std::chrono::seconds(5));
    return "PyTorch's process " + exit.describe() + "\n" + exit.err;
  }

  static void append_size(std::string& to, size_t size) {
    const auto small = static_cast<uint32_t>(size);
    to.append(reinterpret_cast<const char*>(&small), sizeof small);
  }

  static std::string request_of(const std::vector<std::unique_ptr<Prepared>>& cases) {
    nlohmann::json all = nlohmann::json::array();
    std::string bytes;
    for (const auto& c : cases) {
      nlohmann::json one = {{"torch", c->random.torch},
                            {"forward", c->forward},
                            {"upcast", c->random.upcast},
                            {"inputs", nlohmann::json::array()},
                            {"outputs", nlohmann::json::array()}};
      for (size_t i = 0; i < c->random.inputs.size(); ++i) {
        const RandomInput& input = c->random.inputs[i];
        one["inputs"].push_back({input.name, task::name_of(input.dtype), input.shape});
        bytes.append(reinterpret_cast<const char*>(c->built.data[i].data()), c->built.data[i].size());
      }
      for (int k = 0; k < c->outputs(); ++k)
        one["outputs"].push_back({task::name_of(c->built.output_type(k)), c->built.output_shape(k)});
      all.push_back(std::move(one));
    }
    const std::string text = all.dump();
    std::string request;
    append_size(request, 4 + text.size() + bytes.size());
    append_size(request, text.size());
    return request + text + bytes;
  }

  static std::vector<TorchResults> results_of(const std::vector<std::unique_ptr<Prepared>>& cases,
                                              const std::string& reply) {
    uint32_t size = 0;
    std::memcpy(&size, reply.data(), sizeof size);
    const auto errors = nlohmann::json::parse(reply.substr(4, size));
    size_t at = 4 + size;
    std::vector<TorchResults> all(cases.size());
    for (size_t i = 0; i < cases.size(); ++i) {
      const auto read = [&](const nlohmann::json& error, std::string& text,
                            std::vector<std::vector<double>>& outputs) {
        if (!error.is_null()) {
          text = error.get<std::string>();
          return;
        }
        for (int k = 0; k < cases[i]->outputs(); ++k) {
          auto& output = outputs.emplace_back(static_cast<size_t>(cases[i]->count(k)));
          HONE_CHECK(at + output.size() * 8 <= reply.size(), "PyTorch's reply is too short");
          std::memcpy(output.data(), reply.data() + at, output.size() * 8);
          at += output.size() * 8;
        }
      };
      read(errors[i][0], all[i].statements_error, all[i].statements);
      read(errors[i][1], all[i].forward_error, all[i].forward);
    }
    HONE_CHECK(at == reply.size(), "PyTorch's reply is too long");
    return all;
  }

  std::optional<base::Child> child_;
  Channel channel_;
};

}  // namespace hone::evaluate::testing
