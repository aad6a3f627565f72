// Lessons: how sure the evidence makes us, what the archive keeps of it, and which tasks count as alike.
#include "hone/archive/memory/lesson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hone/archive/sql.h"
#include "hone/archive/test_support.h"

namespace hone::archive {
namespace {

using testing::must;

constexpr int64_t kDay = 24 * 3600 * 1000;
constexpr int64_t kNow = 1'800'000'000'000;

Evidence trial(double actual, int64_t age_days = 0, const std::string& run = "0123456789ab", int64_t n = 1) {
  Evidence e;
  e.run = run;
  e.n = n;
  e.unix_ms = kNow - age_days * kDay;
  e.reference = "naive";
  e.accepted = actual > 0;
  e.actual = actual;
  return e;
}

Evidence carried(double promised, double kept) {
  Evidence e = trial(kept);
  e.carried = true;
  e.expected = promised;
  return e;
}

Belief believed(std::vector<Evidence> evidence) {
  Lesson lesson;
  lesson.evidence = std::move(evidence);
  const auto belief = belief_of(lesson, kNow);
  EXPECT_TRUE(belief);
  return belief.value_or(Belief{});
}

TEST(LessonTest, grows_surer_with_agreement_and_less_sure_with_contradiction) {
  const double once = believed({trial(4)}).confidence;
  EXPECT_NEAR(once, 2.0 / 3, 1e-12);
  EXPECT_NEAR(believed({trial(4), trial(4.4)}).confidence, 3.0 / 4, 1e-12);
  EXPECT_NEAR(believed({trial(4), trial(4.4), trial(3.9)}).confidence, 4.0 / 5, 1e-12);
  EXPECT_LT(believed({trial(4), trial(1)}).confidence, once);
}

TEST(LessonTest, believes_what_most_trials_say_and_the_newest_of_two) {
  EXPECT_DOUBLE_EQ(believed({trial(4, 3), trial(1, 2), trial(1.1, 1)}).speedup, 1.1);
  EXPECT_DOUBLE_EQ(believed({trial(4, 2), trial(1, 1)}).speedup, 1);
  EXPECT_DOUBLE_EQ(believed({trial(1, 1), trial(4, 2)}).speedup, 1) << "the order of the rows is nobody's business";
}

TEST(LessonTest, retracts_what_is_contradicted_and_takes_it_back) {
  const std::vector<Evidence> all_differ = {trial(1, 4), trial(2, 3), trial(4, 2), trial(8, 1)};
  EXPECT_TRUE(believed(all_differ).retracted);
  EXPECT_FALSE(believed({trial(1, 4), trial(2, 3)}).retracted);
  std::vector<Evidence> settled = all_differ;
  for (int i = 0; i < 3; ++i) settled.push_back(trial(8));
  EXPECT_FALSE(believed(settled).retracted);
  EXPECT_DOUBLE_EQ(believed(settled).speedup, 8);
}

TEST(LessonTest, does_not_trust_what_does_not_carry_over) {
  EXPECT_GT(believed({trial(4), carried(1, 0.95)}).confidence, believed({trial(4)}).confidence);
  EXPECT_LT(believed({trial(4), carried(1, 0.3)}).confidence, believed({trial(4)}).confidence);
  EXPECT_TRUE(believed({trial(4), carried(1, 0.3), carried(1, 0), carried(0.9, 0.2)}).retracted);
  EXPECT_DOUBLE_EQ(believed({trial(4), carried(1, 0.3)}).speedup, 4) << "what it did at home stays";
}

TEST(LessonTest, forgets_with_age) {
  EXPECT_NEAR(believed({trial(4, 180)}).confidence, 1.5 / 2.5, 1e-12);
  // Two old trials do not outweigh what was seen today.
  EXPECT_DOUBLE_EQ(believed({trial(4, 400), trial(4, 401), trial(1)}).speedup, 1);
}

TEST(LessonTest, holds_refusals_and_speedups_against_each_other) {
  EXPECT_FALSE(believed({trial(0)}).accepted);
  EXPECT_FALSE(believed({trial(4, 2), trial(0, 1)}).accepted);
  EXPECT_TRUE(believed({trial(0, 2), trial(4, 1), trial(4)}).accepted);
  Evidence other = trial(40, 1);
  other.reference = "another kernel";
  EXPECT_NEAR(believed({other, trial(4)}).confidence, 2.0 / 3, 1e-12) << "speedups over another kernel neither agree nor contradict";
  EXPECT_FALSE(belief_of(Lesson{}, kNow));
  Lesson both;
  both.evidence = {other, trial(4)};
  EXPECT_DOUBLE_EQ(belief_of(both, kNow, "another kernel").value_or(Belief{}).speedup, 40);
  EXPECT_FALSE(belief_of(both, kNow, "a third"));
}

task::Task task_of(const std::string& compute, const std::vector<std::string>& inputs) { return must(task::task_from_expressions(compute, inputs, {})); }
Signature signed_of(const std::string& compute, const std::vector<std::string>& inputs) { return must(signature_of(task_of(compute, inputs))); }

TEST(SignatureTest, knows_siblings_from_strangers) {
  const Signature softmax = signed_of("y = softmax(x, axis=-1)", {"x=f32[4096,1024]"});
  const Signature larger = signed_of("y = softmax(x, axis=-1)", {"x=f32[8192,2048]"});
  const Signature log_softmax = signed_of("y = log_softmax(x, axis=-1)", {"x=f32[4096,1024]"});
  const Signature by_columns = signed_of("y = softmax(x, axis=0)", {"x=f32[4096,1024]"});
  const Signature half = signed_of("y = softmax(x, axis=-1)", {"x=f16[4096,1024]"});
  const Signature product = signed_of("y = matmul(a, b)", {"a=f32[512,512]", "b=f32[512,512]"});
  const Signature fused = signed_of("y = gelu(matmul(a, b) + c)", {"a=f32[512,512]", "b=f32[512,512]", "c=f32[512]"});
  EXPECT_DOUBLE_EQ(distance(softmax, softmax), 0);
  EXPECT_GT(distance(softmax, larger), 0);
  EXPECT_LT(distance(softmax, larger), 0.1);
  EXPECT_LT(distance(softmax, log_softmax), 0.2);
  EXPECT_LT(distance(product, fused), 0.35);
  EXPECT_GT(distance(softmax, product), 0.4);
  EXPECT_GT(distance(log_softmax, fused), 0.4);
  EXPECT_LT(distance(softmax, larger), distance(softmax, by_columns));
  EXPECT_GT(distance(softmax, half), 0.1);
  for (const Signature& one : {softmax, larger, product, fused})
    for (const Signature& other : {log_softmax, half, by_columns, fused}) {
      EXPECT_DOUBLE_EQ(distance(one, other), distance(other, one));
      EXPECT_LE(distance(one, other), 1);
    }
}

TEST(SignatureTest, survives_the_archive) {
  const Signature softmax = signed_of("y = softmax(x, axis=-1)", {"x=f32[4096,1024]"});
  EXPECT_DOUBLE_EQ(distance(softmax, signature_from(nlohmann::json::parse(to_json(softmax).dump()))), 0);
}

class LessonStoreTest : public testing::ArchiveTest {
 protected:
  Context context_{"cpu", "a device", "a compiler", "softmax", std::string(64, 'a'), "[]", {}};
  Lesson lesson(int64_t rows) const {
    Lesson lesson;
    lesson.context = context_.id();
    lesson.source = "rows: keep in scratch";
    lesson.pattern = "rows";
    lesson.config = {{"ROWS", rows}};
    lesson.kernel = std::string(64, 'b');
    return lesson;
  }
};

TEST_F(LessonStoreTest, keeps_lessons_with_their_evidence) {
  {
    Store store = open();
    for (const int64_t rows : {1, 4}) must(store.put_lesson(context_, lesson(rows)));
    must(store.put_evidence(lesson(4).id(), trial(2, 0, "run", 1)));
    must(store.put_evidence(lesson(4).id(), trial(3, 0, "run", 2)));
    must(store.put_evidence(lesson(4).id(), trial(5, 0, "run", 2)));  // the same trial, after a kill
    must(store.put_lesson(context_, lesson(4)));
  }
  Store store = open();
  const auto contexts = must(store.contexts("cpu"));
  ASSERT_EQ(contexts.size(), 1u);
  EXPECT_EQ(contexts[0].id(), context_.id());
  EXPECT_THAT(must(store.contexts("cuda:0")), ::testing::IsEmpty());
  const auto lessons = must(store.lessons(context_.id()));
  ASSERT_EQ(lessons.size(), 2u);
  for (const Lesson& found : lessons) {
    EXPECT_EQ(found.id(), lesson(found.config.at("ROWS")).id());
    if (found.config.at("ROWS") == 1) {
      EXPECT_TRUE(found.evidence.empty());
    } else {
      ASSERT_EQ(found.evidence.size(), 2u);
      EXPECT_DOUBLE_EQ(found.evidence[0].actual, 2);
      EXPECT_DOUBLE_EQ(found.evidence[1].actual, 5);
    }
  }
  EXPECT_THAT(must(store.check()), ::testing::IsEmpty());
  EXPECT_FALSE(store.put_evidence("no such lesson", trial(1))) << "evidence belongs to a lesson";
}

TEST_F(LessonStoreTest, sees_what_another_process_adds_at_once) {
  Store one = open(), other = open();
  must(one.put_lesson(context_, lesson(4)));
  must(one.put_evidence(lesson(4).id(), trial(2)));
  ASSERT_EQ(must(other.lessons(context_.id())).size(), 1u);
  EXPECT_EQ(must(other.lessons(context_.id()))[0].evidence.size(), 1u);
}

TEST_F(LessonStoreTest, says_where_a_lesson_was_tampered_with) {
  {
    Store store = open();
    must(store.put_lesson(context_, lesson(4)));
    must(store.put_evidence(lesson(4).id(), trial(2)));
  }
  must(must(sql::Database::open(file_, sql::Database::Mode::kWrite))->script("UPDATE evidence SET json = replace(json, '2.0', '9.0')"));
  Store store = open();
  const auto lessons = store.lessons(context_.id());
  ASSERT_FALSE(lessons);
  EXPECT_EQ(lessons.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(must(store.check()), ::testing::ElementsAre(::testing::HasSubstr("evidence")));
}

}  // namespace
}  // namespace hone::archive
