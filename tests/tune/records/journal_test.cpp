// tune/values/outcome.h and tune/records/journal.h: evaluations and journals read back as they were
// written; resuming, torn and damaged lines, other keys, two processes; and processes that are
// killed while they append.
#include "tune/records/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <utility>

#include "base/enum_names.h"
#include "base/temp_folder.h"
#include "tune/records/sample_rows.h"

namespace perflab::tune {
namespace {

using perflab::test::Prng;
using perflab::test::TempFolder;
using perflab::test::text_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

JournalKey sample_key() {
  return {.command = "./k --bm {BLOCK_M}",
          .build = "",
          .check = "./check",
          .kind = "gpu_time",
          .goal = "minimize",
          .objective = "gemm",
          .binary_hash = "00ff",
          .gpu = "gfx942 304 CUs",
          .space = "BLOCK_M"};
}

JournalEntry sample_entry(Prng& prng, std::int64_t number) {
  return {.configuration = {{"n", number}, {"x", test::any_value(prng)}},
          .round = number % 5 == 4 ? "final 1" : "search",
          .worker = number % 2 == 0 ? "" : "gpu 1",
          .evaluation = test::any_evaluation(prng)};
}

void expect_same(const JournalEntry& read, const JournalEntry& written) {
  EXPECT_EQ(read.configuration, written.configuration);
  EXPECT_EQ(read.round, written.round);
  EXPECT_EQ(read.worker, written.worker);
  EXPECT_EQ(read.evaluation, written.evaluation);
}

/// A journal with `count` entries; what was appended.
std::vector<JournalEntry> write_journal(const std::filesystem::path& file, std::int64_t count,
                                        std::uint64_t seed = 1) {
  Prng prng(seed);
  std::vector<JournalEntry> entries;
  auto journal = Journal::open(file, sample_key(), false);
  EXPECT_TRUE(journal.has_value()) << describe(journal.error());
  for (std::int64_t i = 0; i < count; ++i) {
    entries.push_back(sample_entry(prng, i));
    EXPECT_TRUE(journal->append(entries.back()).has_value());
  }
  return entries;
}

std::string message_of(const std::filesystem::path& file, const JournalKey& key, bool resume,
                       ErrorCode code) {
  const auto journal = Journal::open(file, key, resume);
  if (journal) return "no error";
  EXPECT_EQ(journal.error().code, code);
  EXPECT_EQ(journal.error().message.find('\n'), std::string::npos);
  return journal.error().message;
}

TEST(Outcomes, NamesReadBack) {
  for (int i = 0; i < 6; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(from_name<Outcome>(to_string(outcome)), outcome);
  }
  EXPECT_EQ(to_string(Outcome::wrong), "correctness");
  EXPECT_EQ(from_name<Outcome>("constraints"), std::nullopt);
}

TEST(Outcomes, EvaluationsReadBackExactly) {
  Prng prng(7);
  for (int i = 0; i < 300; ++i) {
    const Evaluation written = test::any_evaluation(prng);
    const auto json = parse_json(to_canonical_text(to_json(written)), "x");
    ASSERT_TRUE(json.has_value());
    const auto read = evaluation_from_json(*json, "x");
    ASSERT_TRUE(read.has_value()) << describe(read.error());
    EXPECT_EQ(*read, written);
  }
}

TEST(Outcomes, DamagedEvaluationsAreNamed) {
  Prng prng(1);
  Evaluation whole = test::correct(1.5, {1.5});
  whole.compiled.push_back(test::any_kernel(prng));
  const Json good = to_json(whole);
  ASSERT_TRUE(evaluation_from_json(good, "place").has_value());
  // Every key is needed, and none takes an object.
  for (const auto& [key, item] : good.items()) {
    Json without = good, other = good;
    without.erase(key);
    other[key] = Json::object();
    for (const Json& damaged : {without, other}) {
      const auto read = evaluation_from_json(damaged, "place");
      ASSERT_FALSE(read.has_value()) << key;
      EXPECT_EQ(read.error().code, ErrorCode::bad_input);
      EXPECT_THAT(read.error().message, AllOf(HasSubstr("place"), HasSubstr(key)));
    }
  }
  Json contradiction = good;
  contradiction["outcome"] = "timeout";
  EXPECT_FALSE(evaluation_from_json(contradiction, "place").has_value());
  contradiction["value"] = nullptr;
  EXPECT_TRUE(evaluation_from_json(contradiction, "place").has_value());
  Json large = good;
  large["compiled"][0]["vgprs"] = std::uint64_t{1} << 63U;
  EXPECT_FALSE(evaluation_from_json(large, "place").has_value());
  EXPECT_FALSE(evaluation_from_json(Json::array(), "place").has_value());
  Json older = good;  // from before instructions were counted
  older["compiled"][0].erase("mix");
  older["compiled"][0].erase("why_no_mix");
  EXPECT_EQ(evaluation_from_json(older, "place")->compiled[0].mix, std::nullopt);
  older["compiled"][0]["mix"] = 3;
  EXPECT_FALSE(evaluation_from_json(older, "place").has_value());
}

TEST(ConfigurationKeys, EqualExactlyWhenTheConfigurationIs) {
  const auto key = [](std::vector<Binding> c) { return configuration_key(std::move(c)); };
  EXPECT_EQ(key({{"a", 1L}, {"b", std::string("x")}}), key({{"b", std::string("x")}, {"a", 1L}}));
  EXPECT_EQ(key({{"a", 1L}}), key({{"a", 1.0}}));
  EXPECT_EQ(key({{"a", 1L}}), key({{"a", true}}));
  EXPECT_NE(key({{"a", 1L}}), key({{"a", std::string("1")}}));
  EXPECT_NE(key({{"a", std::string("1\",\"b\"=\"2")}}),
            key({{"a", std::string("1")}, {"b", std::string("2")}}));
  EXPECT_NE(key({{"a", std::string("\\")}}), key({{"a", std::string("\\\\")}}));
  Prng prng(3);
  for (int i = 0; i < 2000; ++i) {
    const Value a = test::any_value(prng), b = test::any_value(prng);
    EXPECT_EQ(key({{"n", a}}) == key({{"n", b}}), same_value(a, b)) << to_text(a) << to_text(b);
  }
}

TEST(Journals, ReadBackAndGoOn) {
  const TempFolder folder;
  const auto file = folder / "j.jsonl";
  std::vector<JournalEntry> written = write_journal(file, 20);
  Prng prng(99);
  {
    auto journal = Journal::open(file, sample_key(), true);
    ASSERT_TRUE(journal.has_value()) << describe(journal.error());
    EXPECT_FALSE(journal->torn());
    EXPECT_EQ(journal->path(), file);
    ASSERT_EQ(journal->earlier().size(), 20U);
    for (std::size_t i = 0; i < 20; ++i) expect_same(journal->earlier()[i], written[i]);
    Journal moved = std::move(*journal);
    written.push_back(sample_entry(prng, 20));
    ASSERT_TRUE(moved.append(written.back()).has_value());
  }
  const auto read = Journal::read(file);
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->size(), 21U);
  expect_same(read->back(), written.back());
  struct stat info{};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U & ~0644U, 0U);
  EXPECT_EQ(info.st_mode & 0600U, 0600U);
}

TEST(Journals, EvaluationsAreNotOverwritten) {
  const TempFolder folder;
  const auto file = folder / "j.jsonl";
  write_journal(file, 1);
  const std::string before = text_of(file);
  EXPECT_THAT(message_of(file, sample_key(), false, ErrorCode::usage),
              HasSubstr("already holds 1 evaluation"));
  EXPECT_EQ(text_of(file), before);
  // A journal that holds nothing is taken over, whatever its key.
  const auto empty = folder / "empty.jsonl";
  write_journal(empty, 0);
  JournalKey other = sample_key();
  other.space = "OTHER";
  for (const bool resume : {false, true})
    EXPECT_TRUE(Journal::open(empty, other, resume).has_value());
  EXPECT_THAT(text_of(empty), HasSubstr("OTHER"));
}

TEST(Journals, AnotherKeyIsRefusedWithBothValues) {
  const TempFolder folder;
  const auto file = folder / "j.jsonl";
  write_journal(file, 2);
  const std::string before = text_of(file);
  const std::vector<std::pair<std::string JournalKey::*, std::string>> fields = {
      {&JournalKey::command, "command"},  {&JournalKey::build, "build"},
      {&JournalKey::check, "check"},      {&JournalKey::kind, "objective"},
      {&JournalKey::goal, "goal"},        {&JournalKey::objective, "pattern"},
      {&JournalKey::binary_hash, "hash"}, {&JournalKey::gpu, "GPU"},
      {&JournalKey::space, "space"}};
  for (const auto& [field, name] : fields) {
    JournalKey other = sample_key();
    other.*field = std::string(300, 'x') + "NEW\nvalue";
    const std::string message = message_of(file, other, true, ErrorCode::bad_input);
    EXPECT_THAT(message, AllOf(HasSubstr(name), HasSubstr("\"" + sample_key().*field + "\"")));
    EXPECT_LT(message.size(), file.string().size() + 350);
  }
  // Long values are shown where they differ.
  JournalKey old = sample_key(), now = sample_key();
  old.command = std::string(500, 'a') + "_old";
  now.command = std::string(500, 'a') + "_new";
  const auto longer = folder / "long.jsonl";
  {
    Prng prng(1);
    auto journal = Journal::open(longer, old, false);
    ASSERT_TRUE(journal->append(sample_entry(prng, 0)).has_value());
  }
  EXPECT_THAT(message_of(longer, now, true, ErrorCode::bad_input),
              AllOf(HasSubstr("_old\""), HasSubstr("_new\"")));
  EXPECT_EQ(text_of(file), before);
}

TEST(Journals, ATornLineIsCutOffWhereverItEnds) {
  const TempFolder folder;
  const auto file = folder / "j.jsonl";
  const std::vector<JournalEntry> written = write_journal(file, 3);
  const std::string whole = text_of(file);
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  const std::size_t header = whole.find('\n') + 1;
  // The reader at every length, the file where something changes.
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const auto text = parse_journal(std::string_view(whole).substr(0, length), "cut");
    ASSERT_TRUE(text.has_value()) << length << describe(text.error());
    ASSERT_EQ(text->whole_bytes, length == 0 ? 0 : whole.rfind('\n', length - 1) + 1);
    ASSERT_EQ(text->torn, text->whole_bytes != length);
    ASSERT_EQ(text->key.has_value(), length >= header);
    if (length >= last) {
      ASSERT_EQ(text->entries.size(), length == whole.size() ? 3U : 2U);
    }
  }
  for (const std::size_t length : {last, last + 1, last + 50, whole.size() - 1}) {
    const auto cut = folder.write("cut.jsonl", whole.substr(0, length));
    const auto journal = Journal::open(cut, sample_key(), true);
    ASSERT_TRUE(journal.has_value()) << length << describe(journal.error());
    EXPECT_EQ(journal->earlier().size(), 2U);
    EXPECT_EQ(journal->torn(), length > last);
    EXPECT_EQ(text_of(cut), whole.substr(0, last));
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, header - 1, header}) {
    const auto cut = folder.write("cut.jsonl", whole.substr(0, length));
    const auto journal = Journal::open(cut, sample_key(), length % 2 == 0);
    ASSERT_TRUE(journal.has_value()) << length << describe(journal.error());
    EXPECT_TRUE(journal->earlier().empty());
    EXPECT_EQ(journal->torn(), length != 0 && length != header);
    EXPECT_EQ(text_of(cut), whole.substr(0, header));
  }
  // The line has its end, but not its middle.
  std::string hollow = whole;
  std::fill(hollow.begin() + static_cast<std::ptrdiff_t>(last) + 5, hollow.end() - 1, '\0');
  const auto journal = Journal::open(folder.write("hollow.jsonl", hollow), sample_key(), true);
  ASSERT_TRUE(journal.has_value());
  EXPECT_TRUE(journal->torn());
  EXPECT_EQ(journal->earlier().size(), 2U);
}

TEST(Journals, DamagedLinesAreNamed) {
  const TempFolder folder;
  write_journal(folder / "j.jsonl", 3);
  const std::string whole = text_of(folder / "j.jsonl");
  const std::size_t second = whole.find('\n') + 1;
  const auto refuse = [&](const std::string& text) {
    const auto file = folder.write("bad.jsonl", text);
    const std::string message = message_of(file, sample_key(), true, ErrorCode::bad_input);
    EXPECT_EQ(text_of(file), text) << "it was changed";
    return message;
  };
  std::string damaged = whole;
  damaged[second + 3] = '\0';
  EXPECT_THAT(refuse(damaged), HasSubstr("line 2"));
  EXPECT_THAT(refuse(whole + "\n" + whole.substr(second)), HasSubstr("line 5"));
  EXPECT_THAT(refuse(whole + "{}\n"), AllOf(HasSubstr("line 5"), HasSubstr("configuration")));
  EXPECT_THAT(refuse(whole + "[1]\n"), HasSubstr("line 5"));
  EXPECT_THAT(refuse(whole + R"({"configuration":{"a":[]}})" + "\n"), HasSubstr("line 5"));
  JournalEntry unmeasured;  // as a worker answers that was asked for a build alone
  unmeasured.configuration = {{"a", 1L}};
  unmeasured.evaluation.outcome = Outcome::correct;
  EXPECT_THAT(refuse(whole + journal_line(unmeasured)),
              AllOf(HasSubstr("line 5"), HasSubstr("\"value\" is missing")));
  unmeasured.round = kBuiltRound;
  EXPECT_TRUE(parse_journal(whole + journal_line(unmeasured), "journal"));
  EXPECT_THAT(refuse("hello\n"), HasSubstr("is not a journal"));
  EXPECT_THAT(refuse("int main() {}"), HasSubstr("is not a journal"));
  EXPECT_THAT(refuse("{}\n"), HasSubstr("is not a journal"));
  std::string newer = whole;
  newer.replace(newer.find("\"version\":2"), 11, "\"version\":3");
  EXPECT_THAT(refuse(newer), HasSubstr("version 3"));
  std::string keyless = whole;
  keyless.replace(keyless.find("\"gpu\""), 5, "\"gpx\"");
  EXPECT_THAT(refuse(keyless), HasSubstr("gpu"));
}

TEST(Journals, PlacesThatCannotBeWritten) {
  const TempFolder folder;
  const JournalKey key = sample_key();
  EXPECT_THAT(message_of(folder / "no/such/folder", key, false, ErrorCode::usage),
              HasSubstr("cannot be written"));
  message_of(folder.path(), key, false, ErrorCode::usage);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(message_of(folder / "pipe", key, false, ErrorCode::usage), HasSubstr("not a file"));
  EXPECT_FALSE(Journal::read(folder / "missing").has_value());
}

TEST(Journals, OneProcessAtATime) {
  const TempFolder folder;
  const auto file = folder / "j.jsonl";
  const auto journal = Journal::open(file, sample_key(), false);
  ASSERT_TRUE(journal.has_value());
  EXPECT_THAT(message_of(file, sample_key(), true, ErrorCode::usage), HasSubstr("another process"));
  EXPECT_TRUE(Journal::read(file).has_value()) << "reading needs no lock";
}

TEST(Journals, AFullDiskLeavesWholeLines) {
  const TempFolder folder;
  const auto file = folder / "j.jsonl";
  // In a child: the limit on the size of files holds for the whole process.
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 3000, .rlim_max = 3000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Prng prng(5);
    auto journal = Journal::open(file, sample_key(), false);
    int appended = 0;
    while (journal && appended < 100 && journal->append(sample_entry(prng, appended))) ++appended;
    ::_exit(appended);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  const auto read = Journal::open(file, sample_key(), true);
  ASSERT_TRUE(read.has_value()) << describe(read.error());
  EXPECT_FALSE(read->torn());
  EXPECT_EQ(read->earlier().size(), static_cast<std::size_t>(WEXITSTATUS(status)));
  EXPECT_GT(read->earlier().size(), 2U);
  EXPECT_LT(read->earlier().size(), 100U);
}

/// Appends until it is killed; says through the pipe what append() has returned for.
[[noreturn]] void append_forever(const std::filesystem::path& file, int pipe, std::uint64_t seed) {
  Prng prng(seed);
  auto journal = Journal::open(file, sample_key(), true);
  if (!journal) ::_exit(1);
  for (auto i = static_cast<std::int64_t>(journal->earlier().size());; ++i) {
    if (!journal->append(sample_entry(prng, i))) ::_exit(1);
    if (::write(pipe, &i, sizeof i) != sizeof i) ::_exit(1);
  }
}

TEST(Journals, AKillLosesNothingThatWasWritten) {
  const TempFolder folder;
  const auto file = folder / "j.jsonl";
  Prng prng(2024);
  for (std::uint64_t kill = 0; kill < 30; ++kill) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) append_forever(file, ends[1], kill);
    ::close(ends[1]);
    std::int64_t number = 0;
    // However long the child takes to begin: a line of each is there.
    ASSERT_EQ(::read(ends[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
    ::usleep(static_cast<useconds_t>(prng.below(20'000)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(ends[0], &number, sizeof number) == sizeof number) {
    }
    const auto acknowledged = static_cast<std::size_t>(number) + 1;
    ::close(ends[0]);
    const auto journal = Journal::open(file, sample_key(), true);
    ASSERT_TRUE(journal.has_value()) << describe(journal.error());
    ASSERT_GE(journal->earlier().size(), acknowledged);
    ASSERT_LE(journal->earlier().size(), acknowledged + 1) << "one line may be written unsaid";
    for (std::size_t i = 0; i < journal->earlier().size(); ++i)
      ASSERT_EQ(journal->earlier()[i].configuration.front(),
                Binding("n", static_cast<std::int64_t>(i)));
  }
}

}  // namespace
}  // namespace perflab::tune
