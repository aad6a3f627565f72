#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "hone/base/clock.h"
#include "hone/base/process/process.h"
#include "hone/base/process/testing/inmate.h"

namespace hone::base::jail_cases {
namespace {
namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::Arguments;
using testing::behave;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class Jail : public ::testing::Test {
 protected:
  Jail() : scratch_(ScratchDirectory::create("jail").value()) {
    fs::create_directory(shown());
    fs::create_directory(writable());
    EXPECT_TRUE(write_file_atomic(shown() / "file", "shown"));
    EXPECT_TRUE(write_file_atomic(hidden(), "hidden"));
    jail_.readable = {shown()};
    jail_.writable = {writable()};
  }

  [[nodiscard]] fs::path shown() const { return scratch_.path() / "shown"; }
  [[nodiscard]] fs::path writable() const { return scratch_.path() / "writable"; }
  [[nodiscard]] fs::path hidden() const { return scratch_.path() / "hidden"; }

  Exit run_jailed(const std::string& behaviour, const Arguments& arguments = {},
                  std::chrono::nanoseconds deadline = 30s) {
    SpawnOptions options = behave(behaviour, arguments);
    options.jail = jail_;
    options.environment = {{"ASAN_OPTIONS", "detect_leaks=0"}};  // that needs ptrace
    options.input = "input";
    auto exit = run(options, deadline);
    EXPECT_TRUE(exit) << exit.error().to_string();
    return exit.value_or(Exit{});
  }
  /// What it printed, less the end of the line.
  std::string says(const std::string& behaviour, const Arguments& arguments = {}) {
    const Exit exit = run_jailed(behaviour, arguments);
    EXPECT_TRUE(exit.ok()) << exit.describe() << exit.err;
    return exit.out.substr(0, exit.out.find('\n'));
  }

  base::Jail jail_;
  ScratchDirectory scratch_;
};

TEST_F(Jail, ReadsWhatItIsShownAndNothingElse) {
  EXPECT_EQ(says("read_one_byte", {shown() / "file"}), "ok");
  EXPECT_NE(says("read_one_byte", {hidden()}), "ok");
  EXPECT_NE(says("read_one_byte", {"/etc/passwd"}), "ok");
  EXPECT_NE(says("read_one_byte", {HONE_SOURCE_DIR "/CMakeLists.txt"}), "ok");
}

TEST_F(Jail, FollowsLinksToWhatItIsShown) {
  fs::create_directory_symlink("shown", scratch_.path() / "link");
  jail_.readable = {scratch_.path() / "link"};
  EXPECT_EQ(says("read_one_byte", {scratch_.path() / "link" / "file"}), "ok");
}

TEST_F(Jail, ShowsSingleFiles) {
  jail_.readable = {hidden()};
  EXPECT_EQ(says("read_one_byte", {hidden()}), "ok");
  EXPECT_NE(says("read_one_byte", {shown() / "file"}), "ok");
}

TEST_F(Jail, KeepsItsRulesWhateverNumbersDescriptorsGet) {
  const Fd handed(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnOptions options = behave("read_one_byte", {shown() / "file"});
  options.jail = jail_;
  options.environment = {{"ASAN_OPTIONS", "detect_leaks=0"}};
  // Among so many is also the number that the jail's own descriptor has here.
  for (int number = 3; number < 100; ++number) options.descriptors[number] = handed.get();
  const auto exit = run(options, 30s);
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_TRUE(exit->ok()) << exit->describe() << exit->err;
}

TEST_F(Jail, FailsWhenWhatItShouldShowDoesNotExist) {
  SpawnOptions options = behave("read_one_byte", {"/dev/null"});
  options.jail = jail_;
  options.jail->readable.push_back("/no/such/folder");
  const auto result = run(options, 10s);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(result.error().message, HasSubstr("/no/such/folder"));
  options.jail->readable.back() = "/";
  EXPECT_FALSE(run(options, 10s));
}

TEST_F(Jail, WritesWhereItMayAndNowhereElse) {
  EXPECT_EQ(says("write_one_byte", {writable() / "new"}), "ok");
  EXPECT_EQ(read_file(writable() / "new").value(), "x");
  EXPECT_EQ(says("rename_file", {writable() / "new", writable() / "renamed"}), "ok");
  EXPECT_EQ(says("write_one_byte", {"/dev/null"}), "ok");
  for (const fs::path& path : {shown() / "file", shown() / "new", hidden(), scratch_.path() / "new",
                               fs::path("/tmp/new"), fs::path("/usr/new"), fs::path("/new")}) {
    EXPECT_NE(says("write_one_byte", {path}), "ok") << path;
  }
  EXPECT_EQ(read_file(shown() / "file").value(), "shown");
}

TEST_F(Jail, HasNoSockets) {
  for (const char* family : {"inet", "inet6", "unix", "netlink"})
    EXPECT_EQ(says("open_socket", {family}), "EPERM") << family;
  EXPECT_EQ(says("pair_sockets", {"stream"}), "ok");
  EXPECT_EQ(says("pair_sockets", {"datagram"}), "EPERM");
  EXPECT_EQ(says("name_socket", {"bind"}), "EPERM");
  // What CUDA's driver asks for, and nothing to reach others by.
  jail_.card = true;
  EXPECT_EQ(says("name_socket", {"bind"}), "ok");
  EXPECT_EQ(says("name_socket", {"connect"}), "EPERM");
  for (const char* family : {"inet", "inet6", "unix", "netlink"}) EXPECT_EQ(says("open_socket", {family}), "EPERM") << family << " of datagrams";
  jail_.network = true;
  EXPECT_EQ(says("open_socket", {"inet"}), "ok");
}

TEST_F(Jail, NamesItsThreadsWhereItUsesACard) {
  if (run_jailed("list_folder", {"/proc"}).out.empty()) GTEST_SKIP() << "/proc cannot be mounted here";
  EXPECT_NE(says("name_thread", {}), "ok");
  jail_.card = true;
  EXPECT_EQ(says("name_thread", {}), "ok");
  for (const char* path : {"/proc/sys/kernel/pid_max", "/proc/self/oom_score_adj", "/proc/1/comm"}) EXPECT_NE(says("write_one_byte", {path}), "ok") << path;
}

TEST_F(Jail, CannotTouchItsParent) {
  const std::string us = std::to_string(::getpid());
  EXPECT_NE(says("send_signal", {us, "0"}), "ok");
  EXPECT_EQ(says("trace", {us}), "EPERM");
  for (const char* file : {"mem", "maps", "environ"})
    EXPECT_NE(says("read_one_byte", {"/proc/" + us + "/" + file}), "ok") << file;
}

TEST_F(Jail, SeesOnlyItsOwnProcesses) {
  if (!probe_jail().namespaces) GTEST_SKIP() << "no namespaces here";
  const std::string entries = run_jailed("list_folder", {"/proc"}).out;
  if (entries.empty()) GTEST_SKIP() << "/proc cannot be mounted here";
  EXPECT_THAT(entries, HasSubstr("\n2\n"));
  EXPECT_THAT(entries, ::testing::Not(HasSubstr("\n" + std::to_string(::getpid()) + "\n")));
  EXPECT_NE(says("read_one_byte", {"/proc/1/mem"}), "ok");
  EXPECT_NE(says("write_one_byte", {"/proc/sys/kernel/pid_max"}), "ok");
}

TEST_F(Jail, RefusesDangerousCalls) { EXPECT_EQ(says("try_forbidden_calls"), ""); }

TEST_F(Jail, ContainsAForkBomb) {
  // Root's processes are not counted, and only a pid namespace has a bound of its own.
  if (!probe_jail().namespaces && ::getuid() == 0) GTEST_SKIP() << "root without namespaces";
  jail_.processes = 20;
  const int children = std::stoi(says("multiply"));
  EXPECT_GT(children, 5);
  EXPECT_LT(children, 400);
}

TEST_F(Jail, RunnersHaveThreadsButNoChildren) {
  jail_.calls = base::Jail::Calls::kRunner;
  EXPECT_EQ(says("start_threads", {"4"}), "ok");
  EXPECT_EQ(says("multiply"), "0");
}

TEST_F(Jail, LimitsFiles) {
  jail_.file_bytes = 1 << 20;
  EXPECT_EQ(says("fill_disk", {writable() / "big"}), std::to_string(1 << 20));
}

TEST_F(Jail, LimitsMemory) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer reserves more";
  const std::string gigabyte = std::to_string(1 << 30);
  EXPECT_EQ(says("eat_memory", {gigabyte}), "ok");
  jail_.memory_bytes = 512 << 20;
  EXPECT_EQ(says("eat_memory", {gigabyte}), "ENOMEM");
}

TEST_F(Jail, LimitsCpuTime) {
  jail_.cpu_seconds = 1;
  EXPECT_EQ(run_jailed("burn_cpu").describe(), "killed by SIGXCPU (its CPU time was used up)");
}

TEST_F(Jail, ReportsHowItEnded) {
  EXPECT_EQ(run_jailed("abort_itself").describe(), "killed by SIGABRT (it aborted itself)");
  EXPECT_EQ(run_jailed("burn_cpu", {}, 50ms).how, Exit::How::kDeadline);
}

TEST_F(Jail, FailsWhenTheProgramIsNotOne) {
  ASSERT_TRUE(write_file_atomic(shown() / "script", "#!/no/such/interpreter\n"));
  fs::permissions(shown() / "script", fs::perms::owner_all);
  SpawnOptions options;
  options.argv = {shown() / "script"};
  options.jail = jail_;
  const auto result = Child::spawn(options);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("cannot execute it"));
}

bool is_written(const fs::path& path) {
  struct stat before {}, after {};
  ::stat(path.c_str(), &before);
  std::this_thread::sleep_for(100ms);
  ::stat(path.c_str(), &after);
  return before.st_size != after.st_size;
}

/// The kill has been sent, but whoever it hits must get a turn to die.
bool falls_silent(const fs::path& path) {
  for (int i = 0; i < 50; ++i)
    if (!is_written(path)) return true;
  return false;
}

TEST_F(Jail, LeavesNoOrphans) {
  EXPECT_TRUE(run_jailed("leave_an_orphan", {writable() / "file"}).ok());
  EXPECT_TRUE(fs::exists(writable() / "file"));
  EXPECT_TRUE(falls_silent(writable() / "file"));
}

TEST_F(Jail, DiesWithAKilledOwner) {
  if (!probe_jail().namespaces) GTEST_SKIP() << "grandchildren die with a pid namespace only";
  const fs::path file = writable() / "file";
  Child owner = Child::spawn(behave("own_an_inmate", {file})).value();
  for (int i = 0; i < 500 && !fs::exists(file); ++i) std::this_thread::sleep_for(10ms);
  ASSERT_TRUE(is_written(file));
  ::kill(owner.pid(), SIGKILL);
  (void)owner.wait(10s);
  EXPECT_TRUE(falls_silent(file));
}

TEST_F(Jail, PidIsTheProgramsSoThatItCanBeFrozen) {
  SpawnOptions options = behave("burn_cpu");
  options.jail = jail_;
  Child child = Child::spawn(options).value();
  const std::string name = fs::read_symlink("/proc/self/exe").string();
  EXPECT_EQ(fs::read_symlink("/proc/" + std::to_string(child.pid()) + "/exe").string(), name);
  EXPECT_TRUE(child.freeze());
  EXPECT_THAT(read_file("/proc/" + std::to_string(child.pid()) + "/stat").value(), HasSubstr(") T "));
  EXPECT_TRUE(child.thaw());
}

TEST_F(Jail, CompilersWork) {
  ASSERT_TRUE(write_file_atomic(writable() / "unit.cc",
                                "#include <vector>\nint f() { return std::vector<int>(3).size(); }\n"));
  SpawnOptions options;
  options.argv = {"g++", "-O2", "-shared", "-fPIC", "-o", "unit.so", "unit.cc"};
  options.environment = {{"PATH", "/usr/bin:/bin"}, {"TMPDIR", writable().string()}};
  options.directory = writable();
  options.jail = jail_;
  const Exit exit = run(options, 60s).value();
  EXPECT_TRUE(exit.ok()) << exit.describe() << exit.err;
  EXPECT_TRUE(fs::exists(writable() / "unit.so"));
}

TEST_F(Jail, CompilersCannotIncludeWhatIsHidden) {
  ASSERT_TRUE(write_file_atomic(writable() / "unit.cc", "#include \"" + hidden().string() + "\"\n"));
  SpawnOptions options;
  options.argv = {"g++", "-fsyntax-only", "unit.cc"};
  options.environment = {{"PATH", "/usr/bin:/bin"}, {"TMPDIR", writable().string()}};
  options.directory = writable();
  options.jail = jail_;
  const Exit exit = run(options, 60s).value();
  EXPECT_FALSE(exit.ok());
  EXPECT_THAT(exit.err, HasSubstr("hidden:"));
}

TEST_F(Jail, LockDownLeavesCompute) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer makes calls of its own";
  jail_.calls = base::Jail::Calls::kRunner;
  EXPECT_EQ(says("lock_and", {"compute"}), "done");
}

TEST_F(Jail, LockDownKillsWhateverAsksForMore) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer makes calls of its own";
  jail_.calls = base::Jail::Calls::kRunner;
  for (const char* call : {"open", "open in another thread", "read", "fork", "kill", "socket", "sleep", "give memory back", "punch a hole",
                           "unmap", "move memory", "make code"})
    EXPECT_EQ(run_jailed("lock_and", {call}).describe(),
              "killed by SIGSYS (a system call the jail forbids)")
        << call;
  EXPECT_EQ(run_jailed("lock_and", {"abort"}).describe(), "killed by SIGABRT (it aborted itself)");
}

TEST_F(Jail, LoadingStartsNothing) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer makes calls of its own";
  jail_.calls = base::Jail::Calls::kRunner;
  for (const char* call : {"map code", "seal", "open"}) EXPECT_EQ(says("load_and", {call}), "ok") << call;
  for (const char* call : {"thread", "fork", "kill", "memfd"}) EXPECT_EQ(says("load_and", {call}), "EPERM") << call;
}

TEST_F(Jail, CostsLittle) {
  const auto median = [&](bool jailed) {
    std::vector<int64_t> times;
    for (int i = 0; i < 11; ++i) {
      SpawnOptions options;
      options.argv = {"true"};
      if (jailed) options.jail = jail_;
      const int64_t begin = system_clock().now_ns();
      EXPECT_TRUE(run(options, 10s).value().ok());
      times.push_back(system_clock().now_ns() - begin);
    }
    std::nth_element(times.begin(), times.begin() + 5, times.end());
    return times[5];
  };
  const int64_t plain = median(false), jailed = median(true);
  RecordProperty("plain_ns", std::to_string(plain));
  RecordProperty("jailed_ns", std::to_string(jailed));
  EXPECT_LT(jailed - plain, 50'000'000) << "a few milliseconds at most on an idle machine";
}

void expect_tests_pass_without(const std::string& part, const std::string& probed) {
  const Exit exit = run(behave("run_tests_without", {part}), 120s).value();
  EXPECT_TRUE(exit.ok()) << exit.describe() << "\n" << exit.out << exit.err;
  EXPECT_THAT(exit.out, HasSubstr(probed));
}

TEST(DegradedJail, HoldsWithoutNamespaces) {
  if (probe_jail().landlock_abi == 0) GTEST_SKIP() << "neither is there";
  expect_tests_pass_without("namespaces", "no namespaces, Landlock ");
}

TEST(DegradedJail, HoldsWithoutLandlock) {
  if (!probe_jail().namespaces) GTEST_SKIP() << "neither is there";
  expect_tests_pass_without("Landlock", "namespaces, no Landlock, seccomp");
}

}  // namespace
}  // namespace hone::base::jail_cases

HONE_TEST_MAIN(hone::base::testing::kInmates)
