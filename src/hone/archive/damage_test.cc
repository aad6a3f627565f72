// Files that are not what a hone of this version wrote: older, newer, foreign, damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <vector>

#include "hone/archive/schema.h"
#include "hone/archive/sql.h"
#include "hone/archive/store.h"
#include "hone/archive/test_support.h"
#include "hone/base/hash.h"
#include "hone/base/random.h"

namespace hone::archive::damage_cases {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::make_run;
using testing::must;

constexpr const char* kId = "0123456789ab";

class DamageTest : public testing::ArchiveTest {
 protected:
  std::unique_ptr<sql::Database> raw() {
    return must(sql::Database::open(file_, sql::Database::Mode::kWrite));
  }
  void write(std::string_view content) { std::ofstream(file_, std::ios::binary) << content; }

  void load_schema_1() {
    file_ = scratch_.path() / "schema_1.db";
    const fs::path fixture = HONE_SOURCE_DIR "/src/hone/archive/fixtures/schema_1.sql";
    must(raw()->script(must(base::read_file(fixture)).c_str()));
  }

  std::vector<std::string> rows(const char* query) {
    const auto database = raw();
    auto statement = must(database->query(query));
    std::vector<std::string> all;
    while (must(statement.step())) all.push_back(statement.text(0));
    return all;
  }

  /// Everything in the archive that a reader may see, with what went wrong.
  struct Reading {
    std::vector<std::string> found;
    std::vector<Error> errors;
  };
  Reading read_everything();
};

const Context& the_context() {
  static const Context context{"cpu", "a device", "a compiler", "softmax", std::string(64, 'a'), "[]", {}};
  return context;
}

void fill(Store& store) {
  RunInfo run = make_run(kId);
  run.task_toml = std::string(3000, 't');
  must(store.create_run(run));
  for (int i = 0; i < 40; ++i) {
    must(store.append_event(kId, i, "evaluated", "{\"n\":\"" + std::string(200, 'e') + "\"}"));
    must(store.put_fact("fact " + std::to_string(i), std::string(100, 'f')));
  }
  must(store.put_kernel({std::string(64, 'c'), "c++", std::string(9000, 's'), "{}", "", "user", "",
                         "", std::string(64, 'b')}));
  must(store.put_blob(std::string(20'000, 'b')));
  for (int rows = 0; rows < 10; ++rows) {
    Lesson lesson;
    lesson.context = the_context().id();
    lesson.source = "rows: keep in scratch";
    lesson.config = {{"ROWS", rows}};
    must(store.put_lesson(the_context(), lesson));
    Evidence evidence;
    evidence.run = kId;
    evidence.n = rows;
    must(store.put_evidence(lesson.id(), evidence));
  }
}

DamageTest::Reading DamageTest::read_everything() {
  Reading reading;
  const auto take = [&](const auto& result, const auto& show) {
    if (result) {
      reading.found.push_back(show(*result));
    } else {
      reading.errors.push_back(result.error());
    }
  };
  auto opened = Store::open(file_);
  if (!opened) {
    reading.errors.push_back(opened.error());
    return reading;
  }
  Store& store = *opened;
  const auto same = [](const std::string& text) { return text; };
  take(store.run("last"), [](const RunInfo& run) { return run.id + run.status + run.task_toml; });
  take(store.kernel("c"), [](const KernelRow& kernel) { return kernel.source + kernel.author; });
  take(store.blob(base::content_hash(std::string(20'000, 'b'))), same);
  take(store.events(kId), [](const std::vector<Event>& events) {
    std::string all;
    for (const Event& event : events) all += event.kind + event.json;
    return all;
  });
  for (int i = 0; i < 40; ++i) {
    take(store.fact("fact " + std::to_string(i)),
         [](const std::optional<std::string>& fact) { return fact.value_or("absent"); });
  }
  take(store.contexts("cpu"), [](const std::vector<Context>& contexts) { return contexts.empty() ? "none" : contexts[0].id(); });
  take(store.lessons(the_context().id()), [](const std::vector<Lesson>& lessons) {
    std::string all;
    for (const Lesson& lesson : lessons)
      for (const Evidence& evidence : lesson.evidence) all += fmt::format("{} {} {} ", lesson.id(), evidence.run, evidence.n);
    return all;
  });
  take(store.check(), [](const std::vector<std::string>& problems) {
    return problems.empty() ? std::string("sound") : std::string("unsound");
  });
  return reading;
}

// A file that an earlier hone wrote ends up with the layout of a fresh one. Should this fail, a step
// that has shipped was edited: add a step to the ladder instead, and a fixture of what it makes.
TEST_F(DamageTest, shipped_schema_steps_stay_as_they_were) {
  { open(); }
  const char* layout = "SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name";
  const auto fresh = rows(layout);
  load_schema_1();
  { open(); }
  EXPECT_EQ(rows(layout), fresh);
}

TEST_F(DamageTest, reads_an_archive_of_schema_1) {
  load_schema_1();
  Store store = open();
  const RunInfo run = must(store.run("last"));
  EXPECT_EQ(run.task_name, "softmax");
  EXPECT_EQ(run.status, "interrupted");
  const auto events = must(store.events(run.id));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].json, R"({"verdict":"accepted"})");
  EXPECT_EQ(must(store.kernel("c0ffee")).author, "pattern:rows");
  EXPECT_EQ(must(store.fact("verdict/1")), R"({"accepted":true})");
  EXPECT_EQ(must(store.blob(base::content_hash("a log\n"))), "a log\n");
  EXPECT_THAT(must(store.check()), IsEmpty());
  must(store.append_event(run.id, 2, "promoted", "{}"));
}

// The first file there ever was: ours by its application_id, and without a single table.
TEST_F(DamageTest, brings_an_archive_of_schema_0_up_to_date) {
  must(raw()->script("PRAGMA application_id = 0x686f6e65; VACUUM;"));
  {
    const auto looked = Store::open_read_only(file_);
    ASSERT_FALSE(looked) << "for looking only must not migrate";
    EXPECT_THAT(looked.error().message, HasSubstr("older schema 0"));
  }
  must(open().create_run(make_run(kId)));
  EXPECT_THAT(rows("PRAGMA user_version"), ElementsAre(std::to_string(kSchemaVersion)));
  EXPECT_THAT(rows("SELECT value FROM meta WHERE key = 'needs_hone'"), ElementsAre("0.1.0"));
}

// A ladder of the tests' own, to see data carried through two steps.
constexpr const char* kOldest = R"(
  CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) STRICT;
  CREATE TABLE log(run TEXT, text TEXT) STRICT;)";
constexpr SchemaStep kLadder[] = {
    {"0.1.0", kOldest},
    {"0.2.0", R"(
      CREATE TABLE runs(number INTEGER PRIMARY KEY, id TEXT UNIQUE) STRICT;
      INSERT INTO runs(id) SELECT DISTINCT run FROM log ORDER BY run;
      CREATE TABLE events(run INTEGER REFERENCES runs(number), text TEXT) STRICT;
      INSERT INTO events SELECT number, text FROM log JOIN runs ON runs.id = log.run;
      DROP TABLE log;)"},
    {"0.3.0", "ALTER TABLE events ADD COLUMN kind TEXT NOT NULL DEFAULT 'note';"}};
constexpr const char* kOldFile = R"(
  INSERT INTO log VALUES('a', 'one'), ('b', 'two'), ('a', 'three');
  PRAGMA application_id = 0x686f6e65; PRAGMA user_version = 1;)";

TEST_F(DamageTest, carries_data_up_the_ladder) {
  const auto database = raw();
  must(database->script(kOldest));
  must(database->script(kOldFile));
  must(migrate(*database, kLadder));
  EXPECT_THAT(rows("SELECT runs.id || ' ' || kind || ' ' || text FROM events JOIN runs"
                   " ON number = run ORDER BY runs.id, text"),
              ElementsAre("a note one", "a note three", "b note two"));
  EXPECT_THAT(rows("PRAGMA user_version"), ElementsAre("3"));
  EXPECT_THAT(rows("SELECT value FROM meta"), ElementsAre("0.3.0"));
  must(migrate(*database, kLadder));  // nothing left to do
}

TEST_F(DamageTest, leaves_the_file_as_it_was_when_a_step_fails) {
  const auto database = raw();
  must(database->script(kOldest));
  must(database->script(kOldFile));
  const SchemaStep fails[] = {kLadder[0], kLadder[1], {"0.3.0", "INSERT INTO nowhere VALUES(1);"}};
  const Status failed = migrate(*database, fails);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().to_string(), HasSubstr("from schema 2 to 3"));
  const SchemaStep breaks[] = {
      kLadder[0], kLadder[1], {"0.3.0", "INSERT INTO events VALUES(77, 'of no run');"}};
  const Status broken = migrate(*database, breaks);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(rows("PRAGMA user_version"), ElementsAre("1"));
  EXPECT_THAT(rows("SELECT text FROM log"), ElementsAre("one", "two", "three"));
}

TEST_F(DamageTest, refuses_a_newer_schema_and_says_which_hone_it_needs) {
  { open(); }
  must(raw()->script("UPDATE meta SET value = '0.9.0'; PRAGMA user_version = 9;"));
  for (const auto& store : {Store::open(file_), Store::open_read_only(file_)}) {
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(store.error().message, HasSubstr(fmt::format("schema 9; this hone knows schemas up to {}", kSchemaVersion)));
    EXPECT_THAT(store.error().hint, HasSubstr("hone 0.9.0 or newer"));
  }
  must(raw()->script("DROP TABLE meta;"));
  EXPECT_THAT(Store::open(file_).error().hint, HasSubstr("a newer version"));
}

TEST_F(DamageTest, leaves_another_programs_database_alone) {
  must(raw()->script("CREATE TABLE bookmarks(url TEXT);"));
  const std::string before = must(base::read_file(file_));
  for (const auto& store : {Store::open(file_), Store::open_read_only(file_)}) {
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::kInput);
    EXPECT_THAT(store.error().message, HasSubstr("another program"));
  }
  must(raw()->script("PRAGMA application_id = 77;"));
  EXPECT_EQ(Store::open(file_).error().code, ErrorCode::kInput);
  must(raw()->script("PRAGMA application_id = 0;"));
  EXPECT_FALSE(fs::exists(file_.string() + ".locks"));
}

TEST_F(DamageTest, refuses_what_is_no_database) {
  write("This is a letter, and not a database, and long enough to be sure of that.\n");
  for (const auto& store : {Store::open(file_), Store::open_read_only(file_)}) {
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(store.error().hint, Not(IsEmpty()));
  }
  EXPECT_FALSE(fs::exists(file_.string() + ".locks"));
  EXPECT_THAT(must(base::read_file(file_)), ::testing::StartsWith("This is a letter"));
}

TEST_F(DamageTest, takes_an_empty_file_for_a_new_archive) {
  write("");
  must(open().create_run(make_run(kId)));
}

TEST_F(DamageTest, says_that_there_is_nothing_to_look_at) {
  const auto store = Store::open_read_only(file_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(DamageTest, notices_truncation) {
  {
    Store store = open();
    fill(store);
  }
  fs::resize_file(file_, fs::file_size(file_) / 2);
  const Reading reading = read_everything();
  ASSERT_FALSE(reading.errors.empty());
  for (const Error& error : reading.errors) {
    EXPECT_EQ(error.code, ErrorCode::kCorrupt) << error.to_string();
    EXPECT_THAT(error.hint, Not(IsEmpty()));
  }
}

// Whatever byte is flipped: what is read is what was written, or an error says otherwise.
TEST_F(DamageTest, is_never_silently_wrong) {
  {
    Store store = open();
    fill(store);
  }
  const std::string sound = must(base::read_file(file_));
  const Reading expected = read_everything();
  ASSERT_TRUE(expected.errors.empty());
  ASSERT_EQ(expected.found.back(), "sound");
  base::Rng random(3);
  int noticed = 0;
  for (int round = 0; round < 150; ++round) {
    std::string damaged = sound;
    const size_t at = random.below(damaged.size());
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8)));
    for (const char* beside : {"-wal", "-shm"}) fs::remove(file_.string() + beside);
    write(damaged);
    const Reading reading = read_everything();
    const bool unsound = !reading.found.empty() && reading.found.back() == "unsound";
    if (unsound || !reading.errors.empty()) {
      ++noticed;
      continue;
    }
    ASSERT_EQ(reading.found, expected.found) << "byte " << at;
  }
  EXPECT_GT(noticed, 50);
}

TEST_F(DamageTest, check_names_what_is_wrong) {
  std::string blob;
  {
    Store store = open();
    fill(store);
    blob = must(store.put_blob("to be changed"));
  }
  must(raw()->script("UPDATE blobs SET content = x'00' WHERE length(content) = 13;"
                     "UPDATE events SET json = '{}' WHERE seq = 7;"
                     "DELETE FROM events WHERE seq = 30;"
                     "UPDATE facts SET json = 'no' WHERE key = 'fact 3';"
                     "UPDATE kernels SET source = 'other';"
                     "UPDATE runs SET champion = 'forged';"
                     "PRAGMA foreign_keys = OFF;"
                     "INSERT INTO events VALUES(99, 0, 0, 'x', '{}', seal(99, 0, 0, 'x', '{}'));"));
  Store store = open();
  const auto problems = must(store.check());
  EXPECT_THAT(problems,
              ::testing::UnorderedElementsAre(
                  HasSubstr("blob " + blob), HasSubstr("event 7 of run number 1"),
                  HasSubstr(std::string("numbering of the events of run ") + kId),
                  HasSubstr("fact 3"), HasSubstr("kernel cccc"),
                  HasSubstr(std::string("not what was written: run ") + kId),
                  HasSubstr("row that does not exist")));
  EXPECT_EQ(store.blob(blob).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(store.events(kId).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(store.fact("fact 3").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(store.kernel("cccc").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(store.run("last").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(store.runs().error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace hone::archive::damage_cases
