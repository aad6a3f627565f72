// Calls over HTTP against a server that misbehaves in every way the providers do, with time of our own; the
// budget around them; keys; programs on a pipe.
#include "hone/agent/model/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>

#include "hone/agent/model/budget.h"
#include "hone/agent/model/config.h"
#include "hone/agent/model/testing/scripted_server.h"
#include "hone/base/file.h"

namespace hone::agent::client_cases {
namespace {

using nlohmann::json;
using testing::answer;
using testing::Received;
using testing::Said;
using testing::Scripted;
using testing::ScriptedServer;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kKey = "sk-test-0123456789abcdef";

/// Waits that are only noted.
struct FakeWaiting {
  base::FakeClock clock;
  std::vector<int64_t> waits_ms;
  Waiting waiting() {
    return {&clock, [this](std::chrono::milliseconds time, const std::function<bool()>&) {
              waits_ms.push_back(time.count());
              clock.advance_ns(std::chrono::nanoseconds(time).count());
            }, [] { return 0.5; }};
  }
};

Request hello() {
  Request request;
  request.system = "You are brief.";
  request.messages.push_back({Message::Role::kUser, "hello", {}, {}, false, json::array()});
  request.max_output_tokens = 64;
  return request;
}

Scripted status(int code, json error = {}, std::vector<std::pair<std::string, std::string>> headers = {}) {
  Scripted scripted;
  scripted.status = code;
  scripted.type = "application/json";
  scripted.headers = std::move(headers);
  scripted.chunks = {json{{"error", error.is_null() ? json{{"message", "no"}} : std::move(error)}}.dump()};
  return scripted;
}

class ClientTest : public ::testing::TestWithParam<Protocol> {
 protected:
  Exchange ask(const ScriptedServer::Script& script, const Call& call = {}, Timeouts timeouts = {}, RetryPolicy policy = {}) {
    ScriptedServer server(script);
    const auto client = http_client({GetParam(), server.url(), "m", {}}, Secret(kKey), curl_transport(), policy, timeouts, fake_.waiting());
    const Exchange exchange = client->complete(hello(), call);
    received_ = server.received();
    return exchange;
  }
  [[nodiscard]] Scripted fine() const { return answer(GetParam(), Said{"fine", {}, {10, 0, 0, 5}, false}); }

  FakeWaiting fake_;
  std::vector<Received> received_;
};
INSTANTIATE_TEST_SUITE_P(, ClientTest, ::testing::Values(Protocol::kChat, Protocol::kResponses, Protocol::kMessages),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST_P(ClientTest, asks_and_is_answered) {
  const Exchange exchange = ask([&](const Received&, int) { return fine(); });
  ASSERT_TRUE(exchange.reply) << exchange.problem;
  EXPECT_EQ(exchange.reply->text, "fine");
  ASSERT_EQ(exchange.attempts.size(), 1U);
  EXPECT_EQ(exchange.attempts[0].usage->total(), 15);
  EXPECT_FALSE(exchange.attempts[0].id.empty());
  ASSERT_EQ(received_.size(), 1U);
  if (GetParam() == Protocol::kMessages) {
    EXPECT_EQ(received_[0].header("x-api-key"), kKey);
    EXPECT_EQ(received_[0].header("anthropic-version"), "2023-06-01");
  } else {
    EXPECT_EQ(received_[0].header("Authorization"), std::string("Bearer ") + kKey);
  }
  EXPECT_THAT(received_[0].body, Not(HasSubstr(kKey)));
}

TEST_P(ClientTest, waits_as_long_as_it_is_told) {
  const Exchange exchange = ask([&](const Received&, int n) {
    if (n == 0) return status(429, {}, {{"retry-after", "7"}});
    if (n == 1) return status(529, {}, {{"retry-after", "100"}, {"retry-after-ms", "250"}});
    return fine();
  });
  ASSERT_TRUE(exchange.reply) << exchange.problem;
  EXPECT_THAT(fake_.waits_ms, ::testing::ElementsAre(7000, 250));
  EXPECT_FALSE(exchange.attempts[0].began) << "a refusal is not on the bill";
}

TEST_P(ClientTest, backs_off_with_jitter_when_told_nothing) {
  const Exchange exchange = ask([&](const Received&, int n) { return n < 3 ? status(n == 0 ? 429 : n == 1 ? 503 : 529) : fine(); });
  ASSERT_TRUE(exchange.reply) << exchange.problem;
  EXPECT_THAT(fake_.waits_ms, ::testing::ElementsAre(500, 1000, 2000));
}

TEST_P(ClientTest, gives_up_where_the_wait_is_beyond_the_deadline) {
  const Exchange exchange = ask([&](const Received&, int) { return status(429, {}, {{"retry-after", "86400"}}); });
  EXPECT_FALSE(exchange.reply);
  EXPECT_EQ(received_.size(), 1U);
  EXPECT_THAT(exchange.problem, HasSubstr("deadline"));
}

TEST_P(ClientTest, gives_up_after_so_many_attempts) {
  const Exchange exchange = ask([&](const Received&, int) { return status(500); });
  EXPECT_FALSE(exchange.reply);
  EXPECT_EQ(received_.size(), 6U);
}

TEST_P(ClientTest, does_not_repeat_what_will_not_help) {
  for (const int code : {400, 401, 402, 403, 404, 413, 302}) {
    const Exchange exchange = ask([&](const Received&, int) { return status(code); });
    EXPECT_FALSE(exchange.reply);
    EXPECT_EQ(received_.size(), 1U) << code;
    EXPECT_THAT(exchange.problem, HasSubstr(std::to_string(code)));
  }
  const Exchange exchange = ask([&](const Received&, int) {
    return status(429, {{"type", "insufficient_quota"}, {"code", "insufficient_quota"}, {"message", "pay first"}});
  });
  EXPECT_EQ(received_.size(), 1U) << "a used-up quota";
  EXPECT_THAT(exchange.problem, HasSubstr("pay first"));
}

TEST_P(ClientTest, sends_again_what_broke) {
  const auto whole = fine();
  for (size_t n = 0; n + 3 < whole.chunks.size() + 1; ++n) {
    const Exchange exchange = ask([&](const Received&, int number) {
      if (number > 0) return fine();
      Scripted broken = whole;
      broken.chunks.resize(n);
      broken.breaks = true;
      return broken;
    });
    ASSERT_TRUE(exchange.reply) << exchange.problem;
    EXPECT_EQ(exchange.reply->text, "fine") << "nothing of the broken stream is left";
    EXPECT_EQ(exchange.attempts.size(), 2U);
  }
}

TEST_P(ClientTest, half_a_tool_call_is_sent_again_and_never_handed_on) {
  const Said said{"", {{"c1", "evaluate_kernel", {{"source", "void f() {}"}}}}, {}, false};
  auto events = testing::events_of(GetParam(), said);
  const Exchange exchange = ask([&](const Received&, int number) {
    Scripted scripted;
    scripted.chunks = events;
    if (number < 2) {
      // The arguments lose their end, the stream keeps its own.
      for (std::string& event : scripted.chunks)
        for (const char* end : {"() {}\\\"}", "{}\\\"}", "}\\\"}", "\\\"}"})
          if (const size_t at = event.find(end); at != std::string::npos) {
            event.erase(at, std::string(end).size());
            break;
          }
    }
    return scripted;
  });
  ASSERT_TRUE(exchange.reply) << exchange.problem;
  ASSERT_EQ(exchange.reply->calls.size(), 1U);
  EXPECT_EQ(exchange.reply->calls[0].arguments["source"], "void f() {}");
  EXPECT_EQ(received_.size(), 3U);
}

TEST_P(ClientTest, stops_reading_absurd_lengths) {
  const Exchange exchange = ask([&](const Received&, int) {
    Scripted scripted;
    scripted.chunks.assign(100, "data: " + std::string(1 << 20, 'x'));  // one event without end
    return scripted;
  });
  EXPECT_FALSE(exchange.reply);
  EXPECT_EQ(received_.size(), 1U) << "it would be as long again";
  const std::string mega(60'000, 'y');
  const Exchange chatty = ask([&](const Received&, int) { return answer(GetParam(), Said{std::string(kMaxReplyText + 10, 'z'), {}, {}, false}); });
  EXPECT_FALSE(chatty.reply);
  EXPECT_THAT(chatty.problem, HasSubstr("longer"));
}

TEST_P(ClientTest, survives_bytes_that_are_no_text) {
  const Exchange exchange = ask([&](const Received&, int n) {
    if (n > 0) return fine();
    Scripted scripted;
    scripted.chunks = {std::string("data: \xFF\xFE\x00{\"\xC3\x28\n\n", 15), "\x80\x81\n\n\n"};
    return scripted;
  });
  ASSERT_TRUE(exchange.reply) << exchange.problem;
  EXPECT_EQ(exchange.reply->text, "fine");
}

TEST_P(ClientTest, ends_a_slow_drip) {
  Timeouts timeouts;
  timeouts.total = std::chrono::milliseconds(400);
  RetryPolicy policy;
  policy.attempts = 2;
  const auto before = std::chrono::steady_clock::now();
  const Exchange exchange = ask([&](const Received&, int n) {
    if (n > 0) return fine();
    Scripted scripted;
    scripted.between = std::chrono::milliseconds(50);
    scripted.chunks.assign(200, ":\n");
    return scripted;
  }, {}, timeouts, policy);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(8));
  ASSERT_TRUE(exchange.reply) << exchange.problem;
  EXPECT_EQ(exchange.attempts.size(), 2U);
}

TEST_P(ClientTest, can_be_cancelled) {
  std::atomic<bool> cancel{false};
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    cancel = true;
  });
  Call call;
  call.cancelled = [&] { return cancel.load(); };
  const Exchange exchange = ask([&](const Received&, int) {
    Scripted scripted;
    scripted.between = std::chrono::milliseconds(5000);
    scripted.chunks = {":\n"};
    return scripted;
  }, call);
  later.join();
  EXPECT_TRUE(exchange.cancelled);
  EXPECT_FALSE(exchange.reply);
}

TEST_P(ClientTest, keeps_the_key_out_of_what_is_kept) {
  const Exchange exchange = ask([&](const Received&, int n) {
    if (n == 0) return status(500, {{"message", std::string("invalid key ") + kKey}});
    return answer(GetParam(), Said{std::string("your key is ") + kKey, {}, {}, false});
  });
  ASSERT_TRUE(exchange.reply);
  EXPECT_EQ(exchange.reply->text, "your key is [key]");
  EXPECT_THAT(exchange.attempts[0].problem, Not(HasSubstr(kKey)));
}

TEST_P(ClientTest, never_exceeds_its_budget) {
  const Price price{2, 1, 3, 10, ""};
  const Cost most = most_cost_of(hello(), price);
  // Room for two attempts at the most, and a half.
  Budget budget({2 * most.tokens + most.tokens / 2, 0, 0});
  BudgetGate gate(budget, most, price);
  Call call;
  call.gate = &gate;
  const Exchange exchange = ask([&](const Received&, int) {
    Scripted broken = fine();
    broken.chunks.resize(1);
    broken.breaks = true;
    return broken;
  }, call);
  EXPECT_FALSE(exchange.reply);
  EXPECT_EQ(received_.size(), 2U);
  EXPECT_THAT(exchange.problem, HasSubstr("budget"));
  EXPECT_LE(budget.spent().tokens, budget.limits().tokens);
  EXPECT_EQ(gate.charged(), budget.spent());
}

TEST(ClientTransport, says_who_cannot_be_reached) {
  FakeWaiting fake;
  RetryPolicy policy;
  policy.attempts = 2;
  const auto client = http_client({Protocol::kChat, "http://127.0.0.1:1", "m", {}}, Secret(), curl_transport(), policy, {}, fake.waiting());
  const Exchange exchange = client->complete(hello(), {});
  EXPECT_FALSE(exchange.reply);
  EXPECT_EQ(exchange.attempts.size(), 2U);
  EXPECT_FALSE(exchange.attempts[0].began);
}

TEST(Retry, understands_dates_and_nonsense) {
  const auto wait = [](const char* text) { return asked_wait({200, {{"retry-after", text}}}, 1'700'000'000'000); };
  EXPECT_EQ(wait("1.5")->count(), 1500);
  EXPECT_EQ(wait("Tue, 14 Nov 2023 22:13:30 GMT")->count(), 10'000);
  EXPECT_EQ(wait("Tue, 14 Nov 2000 22:13:30 GMT")->count(), 0);
  EXPECT_FALSE(wait("soon"));
  EXPECT_FALSE(wait("-3"));
  EXPECT_FALSE(wait("nan"));
  EXPECT_FALSE(asked_wait({200, {}}, 0));
  EXPECT_EQ(backoff({}, 40, 1).count(), 60'000);
}

TEST(Budget, counts_in_billionths_and_rounds_up) {
  const Price price{0.25, 0.025, 0.25, 2, ""};
  EXPECT_EQ(cost_of({1000, 0, 0, 0}, price).nanodollars, 250'000);
  EXPECT_EQ(cost_of({0, 1, 0, 0}, price).nanodollars, 25);
  EXPECT_EQ(cost_of({5, 0, 0, 5}, {}).nanodollars, 0);
  EXPECT_EQ(cost_of({5, 0, 0, 5}, {}).tokens, 10);
}

TEST(Budget, many_at_once_stay_below_it) {
  Budget budget({10'000, 0, 0});
  std::vector<std::thread> threads;
  std::atomic<int> admitted{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        if (budget.reserve({100, 0})) {
          ++admitted;
          budget.settle({100, 0}, {99, 0});
        }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_LE(budget.spent().tokens, 10'000);
  EXPECT_GE(budget.spent().tokens, 9'800);
  EXPECT_EQ(budget.spent().tokens, admitted * 99);
}

TEST(Secret, comes_from_safe_places_only) {
  const auto scratch = base::ScratchDirectory::create("secret-test");
  ASSERT_TRUE(scratch);
  const auto file = scratch->path() / "key";
  std::ofstream(file) << kKey << "\n";
  ::chmod(file.c_str(), 0644);
  EXPECT_FALSE(secret_from_file(file));
  ::chmod(file.c_str(), 0600);
  ASSERT_TRUE(secret_from_file(file));
  EXPECT_EQ(secret_from_file(file)->reveal(), kKey);
  std::ofstream(file) << "two words\r\nX-Evil: 1";
  EXPECT_FALSE(secret_from_file(file));
  EXPECT_FALSE(secret_from_file(scratch->path()));
  EXPECT_FALSE(secret_from_environment("HONE_NO_SUCH_KEY"));
}

TEST(Command, pipes_the_prompt_and_reads_the_answer) {
  const auto client = command_client("sh -c 'echo got; cat'", {}, base::system_clock());
  ASSERT_TRUE(client) << client.error().to_string();
  const Exchange exchange = (*client)->complete(hello(), {});
  ASSERT_TRUE(exchange.reply) << exchange.problem;
  EXPECT_THAT(exchange.reply->text, HasSubstr("got\nYou are brief.\n\nhello"));
}

TEST(Command, sees_no_key) {
  ::setenv("HONE_TEST_API_KEY", kKey, 1);
  const auto client = command_client("sh -c 'cat >/dev/null; env; pwd; ls -A'", {}, base::system_clock());
  ASSERT_TRUE(client);
  const Exchange exchange = (*client)->complete(hello(), {});
  ::unsetenv("HONE_TEST_API_KEY");
  ASSERT_TRUE(exchange.reply) << exchange.problem;
  EXPECT_THAT(exchange.reply->text, Not(HasSubstr(kKey)));
  EXPECT_THAT(exchange.reply->text, HasSubstr("PATH="));
}

TEST(Command, failures_are_told) {
  const auto failing = command_client("sh -c 'cat >/dev/null; echo out of luck >&2; exit 3'", {}, base::system_clock());
  ASSERT_TRUE(failing);
  const Exchange exchange = (*failing)->complete(hello(), {});
  EXPECT_FALSE(exchange.reply);
  EXPECT_THAT(exchange.problem, HasSubstr("status 3"));
  EXPECT_THAT(exchange.problem, HasSubstr("out of luck"));
  EXPECT_FALSE(command_client("./no/such/program", {}, base::system_clock()));
  EXPECT_FALSE(command_client("'open", {}, base::system_clock()));
  EXPECT_FALSE(command_client("  ", {}, base::system_clock()));
}

TEST(Command, can_be_cancelled) {
  const auto client = command_client("sleep 30", {}, base::system_clock());
  ASSERT_TRUE(client);
  const auto before = std::chrono::steady_clock::now();
  Call call;
  call.cancelled = [&] { return std::chrono::steady_clock::now() - before > std::chrono::milliseconds(150); };
  const Exchange exchange = (*client)->complete(hello(), call);
  EXPECT_TRUE(exchange.cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
}

constexpr const char* kModels = R"(
calls_at_once = 2
feedback = false
patient = true
[budget]
dollars = 1.5
[[model]]
name = "big"
protocol = "messages"
url = "https://api.example.com"
model = "claude-sonnet-4-5"
key_env = "SOME_KEY"
[[model]]
command = "./prog --fast"
share = 0.5
later = true
)";

TEST(Models, are_read_and_kept) {
  auto config = parse_models(kModels, "models.toml");
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_EQ(config->calls_at_once, 2);
  EXPECT_FALSE(config->feedback);
  EXPECT_TRUE(config->patient);
  EXPECT_EQ(config->limits.nanodollars, 1'500'000'000);
  ASSERT_EQ(config->models.size(), 2U);
  EXPECT_TRUE(config->models[1].command_model);
  EXPECT_FALSE(config->models[0].later);
  EXPECT_TRUE(config->models[1].later);
  ASSERT_TRUE(add_prices(*config, "/no/such/file"));
  ASSERT_TRUE(config->models[0].price);
  EXPECT_EQ(config->models[0].price->output, 15);
  EXPECT_FALSE(config->models[0].price->as_of.empty());
  const auto again = ModelsConfig::from_json(config->to_json());
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->to_json(), config->to_json());
}

TEST(Models, mistakes_have_a_place) {
  const auto problem = [](const char* text) {
    const auto config = parse_models(text, "models.toml");
    return config ? std::string("none") : config.error().to_string();
  };
  EXPECT_THAT(problem("[[model]]\nkey = \"sk-1\"\n"), HasSubstr("key_env"));
  EXPECT_THAT(problem("[[model]]\nprotocol = \"soap\"\nurl = \"http://h\"\nmodel = \"m\"\n"), HasSubstr("models.toml:2"));
  EXPECT_THAT(problem("[[model]]\nurl = \"http://user@h\"\nmodel = \"m\"\n"), HasSubstr("user name"));
  EXPECT_THAT(problem("[[model]]\nmodel = \"m\"\n"), HasSubstr("address"));
  EXPECT_THAT(problem("[[model]]\nurl = \"http://h\"\nmodel = \"m\"\nlater = true\n"), HasSubstr("models.toml:4:9: only a command may answer later"));
  EXPECT_THAT(problem("x = 1"), HasSubstr("unknown key"));
  EXPECT_THAT(problem(""), HasSubstr("no [[model]]"));
  auto config = parse_models("[budget]\ndollars = 1\n[[model]]\nurl = \"http://h\"\nmodel = \"unheard-of\"\n", "m");
  ASSERT_TRUE(config);
  const auto priced = add_prices(*config, "/no/such/file");
  ASSERT_FALSE(priced);
  EXPECT_THAT(priced.error().message, HasSubstr("no price"));
}

TEST(Models, on_the_command_line) {
  EXPECT_EQ(model_from("chat:qwen@http://127.0.0.1:8000")->endpoint.model, "qwen");
  EXPECT_EQ(model_from("command:./prog -x")->command, "./prog -x");
  EXPECT_FALSE(model_from("qwen"));
  EXPECT_FALSE(model_from("chat:qwen"));
  ::setenv("HONE_TEST_KEY", kKey, 1);
  ModelConfig plain = *model_from("chat:q@http://example.com");
  plain.key_env = "HONE_TEST_KEY";
  EXPECT_FALSE(make_client(plain, nullptr, system_waiting())) << "a key in the clear";
  plain.endpoint.url = "https://example.com";
  EXPECT_TRUE(make_client(plain, nullptr, system_waiting()));
}

}  // namespace
}  // namespace hone::agent::client_cases
