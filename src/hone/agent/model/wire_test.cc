// Streams into replies: every protocol's ordinary forms, cut anywhere; then damaged ones, of which none may
// crash or leave half a tool call.
#include "hone/agent/model/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/agent/model/testing/scripted_server.h"
#include "hone/base/fields.h"
#include "hone/base/random.h"

namespace hone::agent {
namespace {

using nlohmann::json;
using testing::Said;
using ::testing::HasSubstr;

constexpr Protocol kAll[] = {Protocol::kChat, Protocol::kResponses, Protocol::kMessages};

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

/// What comes of a stream that is fed in pieces as `next` sizes them.
tl::expected<Reply, Flaw> read(Protocol protocol, const std::string& stream, const std::function<size_t()>& next) {
  SseParser parser;
  const auto reader = make_reader(protocol);
  for (size_t at = 0; at < stream.size();) {
    const size_t size = std::min(stream.size() - at, std::max<size_t>(1, next()));
    const auto events = parser.feed(std::string_view(stream).substr(at, size));
    if (!events) return tl::unexpected(Flaw{events.error().message, false});
    for (const SseEvent& event : *events)
      if (auto flaw = reader->event(event)) return tl::unexpected(*flaw);
    at += size;
  }
  return reader->finish();
}

tl::expected<Reply, Flaw> read(Protocol protocol, const std::string& stream) {
  return read(protocol, stream, [&] { return stream.size(); });
}

Said everything() {
  Said said;
  said.text = "Here is what I would try next.";
  said.calls = {{"call-1", "read_pattern", {{"name", "rows"}, {"most", 3}}}, {"call-2", "show_limits", json::object()}};
  return said;
}

TEST(Sse, takes_every_line_end_and_joins_data_lines) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    const std::string e = end;
    const std::string stream = ": hello" + e + "event: a" + e + "data: 1" + e + "data:2" + e + e + "data" + e + e + "id: 7" + e + "data: x" + e + e;
    for (size_t step : {size_t{1}, size_t{3}, stream.size()}) {
      SseParser parser;
      std::vector<SseEvent> all;
      for (size_t at = 0; at < stream.size(); at += step) {
        const auto events = parser.feed(std::string_view(stream).substr(at, step));
        ASSERT_TRUE(events);
        all.insert(all.end(), events->begin(), events->end());
      }
      ASSERT_EQ(all.size(), 3U);
      EXPECT_EQ(all[0].name, "a");
      EXPECT_EQ(all[0].data, "1\n2");
      EXPECT_EQ(all[1].data, "");
      EXPECT_EQ(all[2].name, "");
      EXPECT_EQ(all[2].data, "x");
      EXPECT_FALSE(parser.unfinished());
    }
  }
}

TEST(Sse, refuses_an_endless_event) {
  SseParser parser;
  const std::string much(1 << 20, 'x');
  ASSERT_TRUE(parser.feed("data: "));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(parser.feed(much));
  EXPECT_FALSE(parser.feed(much));
  EXPECT_FALSE(parser.feed("\n\n")) << "it stays broken";
}

TEST(Utf8, replaces_what_is_none) {
  EXPECT_EQ(valid_utf8("a\xC3\xA9z"), "a\xC3\xA9z");
  EXPECT_EQ(valid_utf8("\xC3"), "\xEF\xBF\xBD");
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "surrogates";
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "overlong";
  EXPECT_EQ(bounded("a\xC3\xA9z", 2), "a\n[cut: 3 more bytes]");
}

class EveryProtocol : public ::testing::TestWithParam<Protocol> {};
INSTANTIATE_TEST_SUITE_P(, EveryProtocol, ::testing::ValuesIn(kAll), [](const auto& one) { return std::string(name_of(one.param)); });

TEST_P(EveryProtocol, reads_text_tool_calls_and_usage) {
  const Said said = everything();
  const auto reply = read(GetParam(), joined(testing::events_of(GetParam(), said)), [] { return 1; });
  ASSERT_TRUE(reply) << reply.error().problem;
  EXPECT_EQ(reply->text, said.text);
  ASSERT_EQ(reply->calls.size(), 2U);
  EXPECT_EQ(reply->calls[0].id, "call-1");
  EXPECT_EQ(reply->calls[0].name, "read_pattern");
  EXPECT_EQ(reply->calls[0].arguments, said.calls[0].arguments);
  EXPECT_EQ(reply->calls[1].arguments, json::object());
  EXPECT_EQ(reply->stop, Stop::kTools);
  ASSERT_TRUE(reply->usage);
  EXPECT_EQ(reply->usage->input, 100);
  EXPECT_EQ(reply->usage->cache_read, 20);
  EXPECT_EQ(reply->usage->output, 50);
}

TEST_P(EveryProtocol, takes_no_call_from_an_answer_at_its_limit) {
  Said said = everything();
  said.length = true;
  const auto reply = read(GetParam(), joined(testing::events_of(GetParam(), said)));
  ASSERT_TRUE(reply) << reply.error().problem;
  EXPECT_EQ(reply->stop, Stop::kLength);
  EXPECT_TRUE(reply->calls.empty());
}

TEST_P(EveryProtocol, knows_a_stream_that_was_cut) {
  const auto events = testing::events_of(GetParam(), everything());
  std::string stream;
  // Chat has two ends, the reason and [DONE]; both are cut away.
  const size_t ends = GetParam() == Protocol::kChat ? 3 : 1;
  for (size_t n = 0; n + ends < events.size() + 1 && n < events.size() - ends + 1; ++n) {
    const auto reply = read(GetParam(), stream + "\n");
    EXPECT_FALSE(reply) << n << " of " << events.size() << " events";
    if (!reply) { EXPECT_TRUE(reply.error().again); }
    stream += events[n];
  }
}

TEST_P(EveryProtocol, finds_an_error_inside_a_stream) {
  auto events = testing::events_of(GetParam(), everything());
  const json error = {{"type", "overloaded_error"}, {"message", "try later"}};
  std::string data;
  switch (GetParam()) {
    case Protocol::kChat: data = json{{"error", error}}.dump(); break;
    case Protocol::kResponses: data = json{{"type", "response.failed"}, {"sequence_number", 1000}, {"response", {{"error", error}}}}.dump(); break;
    case Protocol::kMessages: data = json{{"type", "error"}, {"error", error}}.dump(); break;
  }
  events.insert(events.begin() + 3, "data: " + data + "\n\n");
  const auto reply = read(GetParam(), joined(events));
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().problem, HasSubstr("try later"));
  EXPECT_TRUE(reply.error().again);
}

TEST_P(EveryProtocol, body_is_stable_and_carries_results_of_tools) {
  Endpoint endpoint{GetParam(), "http://127.0.0.1:1/", "m", 0.5};
  Request request;
  request.system = "be brief";
  request.messages.push_back({Message::Role::kUser, "task", {}, {}, false, json::array()});
  const auto reply = read(GetParam(), joined(testing::events_of(GetParam(), everything())));
  ASSERT_TRUE(reply);
  request.messages.push_back(reply->message());
  request.messages.push_back({Message::Role::kTool, "the result", {}, "call-1", true, json::array()});
  request.messages.push_back({Message::Role::kUser, "go on", {}, {}, false, json::array()});
  request.tools = {{"read_pattern", "reads", {{"type", "object"}}}};
  const std::string body = body_of(endpoint, request);
  EXPECT_EQ(body, body_of(endpoint, request));
  const json parsed = json::parse(body);
  EXPECT_EQ(parsed["model"], "m");
  EXPECT_EQ(parsed["stream"], true);
  EXPECT_THAT(body, HasSubstr("the result"));
  EXPECT_THAT(body, HasSubstr("call-1"));
  if (GetParam() == Protocol::kMessages) {
    ASSERT_EQ(parsed["messages"].size(), 3U);
    EXPECT_EQ(parsed["messages"][2]["content"][0]["type"], "tool_result");
    EXPECT_EQ(parsed["messages"][2]["content"][1]["text"], "go on");
    EXPECT_EQ(parsed["messages"][1]["content"], reply->raw);
    EXPECT_EQ(parsed["max_tokens"], request.max_output_tokens);
    EXPECT_EQ(parsed["system"][0]["cache_control"]["type"], "ephemeral");
  }
  EXPECT_EQ(request.hash("m"), request.hash("m"));
  EXPECT_NE(request.hash("m"), request.hash("n"));
}

TEST_P(EveryProtocol, a_reply_survives_being_kept) {
  const auto reply = read(GetParam(), joined(testing::events_of(GetParam(), everything())));
  ASSERT_TRUE(reply);
  Reply again;
  base::Notes notes;
  EXPECT_TRUE(base::read_fields(json::parse(base::fields_json(*reply).dump()), again, notes));
  EXPECT_THAT(notes, ::testing::IsEmpty());
  EXPECT_EQ(base::fields_json(again), base::fields_json(*reply));
}

TEST_P(EveryProtocol, any_cut_into_chunks_reads_alike) {
  const std::string stream = joined(testing::events_of(GetParam(), everything()));
  const auto whole = read(GetParam(), stream);
  ASSERT_TRUE(whole);
  base::Rng random(7);
  for (int round = 0; round < 300; ++round) {
    const auto reply = read(GetParam(), stream, [&] { return random.below(40); });
    ASSERT_TRUE(reply) << reply.error().problem;
    ASSERT_EQ(base::fields_json(*reply), base::fields_json(*whole));
  }
}

TEST_P(EveryProtocol, damage_never_makes_half_a_call) {
  Said said = everything();
  // Whatever survives must be one of the calls that were sent: so each byte of the arguments says which.
  const std::string stream = joined(testing::events_of(GetParam(), said));
  base::Rng random(11);
  int replies = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = stream;
    const int wounds = 1 + static_cast<int>(random.below(4));
    for (int w = 0; w < wounds && !damaged.empty(); ++w) {
      const size_t at = random.below(damaged.size());
      switch (random.below(5)) {
        case 0: damaged[at] = static_cast<char>(random.below(256)); break;
        case 1: damaged.erase(at, 1 + random.below(60)); break;
        case 2: damaged.resize(at); break;
        case 3: damaged.insert(at, damaged.substr(random.below(damaged.size()), random.below(80))); break;
        case 4: damaged.insert(at, std::string(1 + random.below(4), static_cast<char>(random.below(256)))); break;
      }
    }
    const auto reply = read(GetParam(), damaged, [&] { return 1 + random.below(200); });
    if (!reply) {
      ++refused;
      EXPECT_FALSE(reply.error().problem.empty());
      continue;
    }
    ++replies;
    for (const ToolCall& call : reply->calls) {
      ASSERT_TRUE(call.arguments.is_object());
      ASSERT_FALSE(call.name.empty());
      ASSERT_FALSE(call.id.empty());
    }
    ASSERT_NO_THROW((void)base::fields_json(*reply).dump(-1, ' ', false, json::error_handler_t::replace));
  }
  EXPECT_GT(replies, 20);
  EXPECT_GT(refused, 500);
}

TEST(Wire, reads_a_whole_document_of_a_relay) {
  const auto reader = make_reader(Protocol::kChat);
  ASSERT_FALSE(reader->document(json::parse(R"({"id":"x","choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],
      "usage":{"prompt_tokens":3,"completion_tokens":2}})")));
  const auto reply = reader->finish();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "hello");
  EXPECT_EQ(reply->usage->total(), 5);
}

TEST(Wire, one_end_of_a_chat_is_enough) {
  for (const size_t left_out : {size_t{1}, size_t{2}}) {  // [DONE]; the reason
    auto events = testing::chat_events(Said{"hi", {}, {}, false});
    if (left_out == 1) events.pop_back();
    else events.erase(events.end() - 3);
    const auto reply = read(Protocol::kChat, joined(events));
    ASSERT_TRUE(reply) << reply.error().problem;
    EXPECT_EQ(reply->text, "hi");
  }
}

TEST(Wire, invalid_utf8_is_replaced) {
  const std::string stream = "data: {\"choices\":[{\"delta\":{\"content\":\"a\xFF\xC3z\"},\"finish_reason\":\"stop\"}]}\n\n";
  const auto reply = read(Protocol::kChat, stream);
  ASSERT_TRUE(reply) << reply.error().problem;
  EXPECT_EQ(reply->text, "a\xEF\xBF\xBD\xEF\xBF\xBDz");
}

TEST(Wire, a_character_may_be_cut_between_chunks) {
  const std::string stream = "data: {\"choices\":[{\"delta\":{\"content\":\"\xE2\x82\xAC\"},\"finish_reason\":\"stop\"}]}\n\n";
  const auto reply = read(Protocol::kChat, stream, [] { return 1; });
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "\xE2\x82\xAC");
}

TEST(Wire, thinking_goes_back_as_it_came) {
  const auto event = [](const json& data) { return testing::sse(data, true); };
  const std::string stream =
      event({{"type", "message_start"}, {"message", {{"id", "m"}, {"usage", {{"input_tokens", 5}}}}}}) +
      event({{"type", "content_block_start"}, {"index", 0}, {"content_block", {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}}}) +
      event({{"type", "content_block_delta"}, {"index", 0}, {"delta", {{"type", "thinking_delta"}, {"thinking", "hm"}}}}) +
      event({{"type", "content_block_delta"}, {"index", 0}, {"delta", {{"type", "signature_delta"}, {"signature", "s1"}}}}) +
      event({{"type", "content_block_stop"}, {"index", 0}}) +
      event({{"type", "something_new"}, {"value", 1}}) +
      event({{"type", "message_delta"}, {"delta", {{"stop_reason", "end_turn"}}}, {"usage", {{"output_tokens", 9}}}}) +
      event({{"type", "message_stop"}});
  const auto reply = read(Protocol::kMessages, stream);
  ASSERT_TRUE(reply) << reply.error().problem;
  EXPECT_EQ(reply->raw, json::parse(R"([{"type":"thinking","thinking":"hm","signature":"s1"}])"));
  EXPECT_EQ(reply->usage->output, 9);
}

TEST(Wire, addresses) {
  EXPECT_EQ(address_of({Protocol::kChat, "http://h:1/v1/", "m", {}}), "http://h:1/v1/chat/completions");
  EXPECT_EQ(address_of({Protocol::kMessages, "https://h", "m", {}}), "https://h/v1/messages");
}

}  // namespace
}  // namespace hone::agent
