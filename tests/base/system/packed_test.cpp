// Packed files: members and frames, damage, limits, and the beginning alone; databases as files
// without a name.
#include "base/system/packed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zstd.h>

#include <fstream>
#include <functional>
#include <string>

#include "base/gzipped.h"
#include "base/system/sqlite.h"
#include "base/system/unpacked_database.h"
#include "base/temp_folder.h"
#include "base/zstd_packed.h"

namespace perflab {
namespace {

using test::ScopedVariable;
using test::TempFolder;
using ::testing::HasSubstr;

struct Packing {
  std::string name;
  std::function<std::string(std::string_view)> pack;
};

void PrintTo(const Packing& packing, std::ostream* out) {
  *out << packing.name;
}

class Packed : public testing::TestWithParam<Packing> {
 protected:
  static std::string pack(std::string_view text) { return GetParam().pack(text); }
  TempFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, Packed,
                         testing::Values(Packing{"gzip", gzipped}, Packing{"zstd", zstd_packed}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(Packed, WholeFiles) {
  const std::string text = R"({"cache": {"1": {"a": 1, "b": 1, "time": 1}}})";
  const std::string packed = pack(text);
  const auto read = [&](std::string_view bytes, std::size_t most = 1U << 20U) {
    return read_maybe_packed(folder_.write("file", bytes), most);
  };
  EXPECT_EQ(read(text), text);
  EXPECT_EQ(read(packed), text);
  EXPECT_EQ(read(pack("ab") + pack("") + pack("c")), "abc");
  for (std::size_t length = 4; length < packed.size(); ++length) {
    const auto cut = read(packed.substr(0, length));
    ASSERT_FALSE(cut.has_value()) << length;
    EXPECT_THAT(cut.error().message, HasSubstr("the " + GetParam().name + " data end early"));
  }
  for (const std::size_t place : {15U, 40U}) {
    std::string damaged = packed;
    damaged[place] = static_cast<char>(~damaged[place]);
    EXPECT_FALSE(read(damaged).has_value()) << place;
  }
  const auto trailing = read(packed + "trailing bytes");
  ASSERT_FALSE(trailing.has_value());
  EXPECT_THAT(trailing.error().message, HasSubstr("data are damaged"));
  const std::string bomb = pack(std::string(std::size_t{16} << 20U, '0'));
  ASSERT_LT(bomb.size(), 100'000U);
  const auto exploded = read(bomb);
  ASSERT_FALSE(exploded.has_value());
  EXPECT_THAT(exploded.error().message, HasSubstr("more than 1048576 bytes"));
  EXPECT_FALSE(read_maybe_packed(folder_ / "missing").has_value());
}

TEST_P(Packed, TheBeginningAlone) {
  const auto start = [&](std::string_view bytes, std::size_t most) {
    return start_of_maybe_packed(folder_.write("file", bytes), most);
  };
  EXPECT_EQ(start("plain text", 5), "plain");
  EXPECT_EQ(start("plain", 50), "plain");
  EXPECT_EQ(start("", 5), "");
  EXPECT_EQ(start(pack("packed text"), 6), "packed");
  EXPECT_EQ(start(pack("packed"), 60), "packed");
  EXPECT_EQ(start(pack("") + pack("ab") + pack("cd"), 3), "abc");
  // What is cut off or damaged: as much as there is.
  const std::string packed = pack("a text that is packed");
  for (std::size_t length = 0; length < packed.size(); ++length)
    EXPECT_LE(start(packed.substr(0, length), 60).size(), std::max<std::size_t>(21, length));
  EXPECT_EQ(start_of_maybe_packed(folder_ / "missing", 5), "");
  EXPECT_EQ(start_of_maybe_packed(folder_ / "", 5), "");
}

TEST_P(Packed, LongTextsInPieces) {
  std::string text;
  for (unsigned i = 0; text.size() < (std::size_t{3} << 20U); ++i)
    text += std::to_string(i * 2'654'435'761U);
  const std::size_t cut = text.size() / 3;
  const std::string packed = pack(text.substr(0, cut)) + pack(text.substr(cut));
  EXPECT_TRUE(read_maybe_packed(folder_.write("file", packed)) == text);
  Result<PackedReader> reader = PackedReader::open(folder_ / "file");
  ASSERT_TRUE(reader.has_value());
  std::string piece(1, '\0'), first;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(reader->read(piece), 1U);
    first += piece;
  }
  EXPECT_EQ(first, text.substr(0, 100));
  EXPECT_LT(reader->bytes_read(), packed.size() / 2) << "no more than it takes";
}

TEST(PackedZstd, FramesThatAreSkipped) {
  const TempFolder folder;
  const std::string skipped("\x50\x2a\x4d\x18\x04\x00\x00\x00pzst", 12);
  EXPECT_EQ(read_maybe_packed(folder.write("f", skipped + zstd_packed("a") + skipped)), "a");
}

TEST(PackedZstd, AWindowThatTakesTooMuchMemory) {
  const TempFolder folder;
  // A frame header that asks for a window of 2^31 bytes.
  const auto read =
      read_maybe_packed(folder.write("f", std::string("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9)));
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(describe(read.error()), HasSubstr("need a window of more than 128 MiB"));
  EXPECT_THAT(describe(read.error()), HasSubstr("--long=31"));
}

/// A database with a row, as bytes; `mode`: of its journal.
std::string database(const std::string& mode = "delete") {
  const TempFolder folder;
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open((folder / "x.db").c_str(), &db), SQLITE_OK);
  EXPECT_EQ(
      sqlite3_exec(
          db,
          ("PRAGMA journal_mode=" + mode + "; CREATE TABLE t(a); INSERT INTO t VALUES(42)").c_str(),
          nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(db);
  std::ifstream file(folder / "x.db", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_P(Packed, DatabasesAreOpenedWithoutAName) {
  const TempFolder temporary;
  const ScopedVariable variable("TMPDIR", temporary.path().string());
  // What stands behind the pages is not part of the database.
  for (const auto& [mode, behind] :
       {std::pair{"delete", 0}, std::pair{"delete", 100'000}, std::pair{"wal", 0}}) {
    const std::string bytes = database(mode);
    const auto file = folder_.write(
        "x.db.packed", pack(bytes + std::string(static_cast<std::size_t>(behind), 'x')));
    auto unpacked = UnpackedDatabase::of(file);
    ASSERT_TRUE(unpacked.has_value()) << describe(unpacked.error());
    ASSERT_TRUE(unpacked->has_value());
    EXPECT_EQ((*unpacked)->bytes(), bytes.size());
    EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
    auto connection = Connection::open_nameless((*unpacked)->path(), file.string());
    ASSERT_TRUE(connection.has_value()) << describe(connection.error());
    ASSERT_TRUE(connection->begin_read().has_value());
    auto row = connection->prepare("SELECT a FROM t", "t");
    ASSERT_TRUE(row.has_value());
    ASSERT_EQ(row->step(), true);
    EXPECT_EQ(row->integer(0), 42);
    const auto wrong = connection->prepare("SELECT a FROM u", "u");
    ASSERT_FALSE(wrong.has_value());
    EXPECT_THAT(wrong.error().message, HasSubstr("x.db.packed: u"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
}

TEST_P(Packed, DatabasesThatDoNotFitOrAreDamaged) {
  const auto message = [](const std::filesystem::path& file) {
    const auto unpacked = UnpackedDatabase::of(file);
    return unpacked ? std::string("unpacked") : describe(unpacked.error());
  };
  std::string large = database();
  // 2^32 - 1 pages of 4096 bytes: no folder for temporary files has room for 16 TiB.
  for (std::size_t at = 28; at < 32; ++at) large[at] = '\xff';
  const std::string refusal = message(folder_.write("large.db", pack(large)));
  EXPECT_THAT(refusal, HasSubstr("large.db: unpacks to 17592186040320 bytes"));
  EXPECT_THAT(refusal, HasSubstr("set TMPDIR"));
  const std::string packed = pack(database());
  EXPECT_THAT(message(folder_.write("cut.db", packed.substr(0, packed.size() - 3))),
              HasSubstr("cut.db: the " + GetParam().name + " data end early"));
  const auto plain = folder_.write("plain.db", database());
  const ScopedVariable variable("TMPDIR", (folder_ / "none").string());
  EXPECT_FALSE(UnpackedDatabase::of(plain)->has_value());
}

}  // namespace
}  // namespace perflab
