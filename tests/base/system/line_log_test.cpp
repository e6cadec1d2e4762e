// Lines that are kept, cut off and appended, and places where no log can be.
#include "base/system/line_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "base/temp_folder.h"

namespace perflab {
namespace {

using test::TempFolder;
using test::text_of;

TEST(LineLog, AppendsBehindWhatIsKept) {
  const TempFolder folder;
  const auto file = folder.write("log", "one\ntwo\nto");
  EXPECT_EQ(whole_lines(text_of(file)), "one\ntwo\n");
  {
    LineLog log = LineLog::open(file, "the log").value();
    EXPECT_EQ(log.path(), file);
    EXPECT_EQ(text_of(file), "one\ntwo\nto");
    EXPECT_TRUE(log.keep(8).has_value());
    EXPECT_TRUE(log.append("three\n").has_value());
    EXPECT_EQ(text_of(file), "one\ntwo\nthree\n");
    const LineLog moved = std::move(log);
    EXPECT_FALSE(LineLog::open(file, "the log").has_value());
  }
  LineLog log = LineLog::open(file, "the log").value();
  EXPECT_TRUE(log.append("four\n").has_value());
  EXPECT_TRUE(log.keep(100).has_value());
  EXPECT_EQ(text_of(file), "one\ntwo\nthree\nfour\n");
  EXPECT_TRUE(log.keep(0).has_value());
  EXPECT_EQ(text_of(file), "");
}

TEST(LineLog, FindsWholeLines) {
  EXPECT_EQ(whole_lines(""), "");
  EXPECT_EQ(whole_lines("torn"), "");
  EXPECT_EQ(whole_lines("\n"), "\n");
}

TEST(LineLog, SaysWhereNoneCanBe) {
  const TempFolder folder;
  const auto why = [](const std::filesystem::path& file) {
    const auto log = LineLog::open(file, "the log", "try another");
    EXPECT_FALSE(log.has_value());
    if (log) return std::string();
    EXPECT_EQ(log.error().code, ErrorCode::usage);
    return log.error().message + " | " + log.error().remedy;
  };
  EXPECT_EQ(why(folder.path()),
            "the log " + folder.path().string() + " cannot be written: is a directory | ");
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(why(pipe), "the log " + pipe.string() + " cannot be written: it is not a file | ");
  const auto file = folder / "log";
  const LineLog first = LineLog::open(file, "the log").value();
  EXPECT_EQ(why(file), "the log " + file.string() + " is in use by another process | try another");
}

TEST(LineLog, LeavesNoPartOfALineOnAFullDisk) {
  const TempFolder folder;
  LineLog log = LineLog::open(folder / "log", "the log").value();
  EXPECT_TRUE(log.append("one\n").has_value());
  // The limit of a file's size stands in for the disk's.
  const auto old = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 7, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto appended = log.append("two is long\n");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old);
  ASSERT_FALSE(appended.has_value());
  EXPECT_EQ(appended.error().code, ErrorCode::usage);
  EXPECT_EQ(text_of(folder / "log"), "one\n");
  EXPECT_TRUE(log.append("three\n").has_value());
  EXPECT_EQ(text_of(folder / "log"), "one\nthree\n");
}

}  // namespace
}  // namespace perflab
