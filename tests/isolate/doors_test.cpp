// Every way in which the bytes of a code object come into the runtime, and where they are found
// when no door was watched: the stand-in loads modules as CLR does.
#include <unistd.h>

#include "base/system/files.h"
#include "hsa_sim/sim_code_objects.h"
#include "isolate/isolated.h"

namespace perflab::test {
namespace {

/// A run whose program loads its code object from a file of an odd name.
Isolated from_file(const TempFolder& folder, const std::string& door, const std::string& loader,
                   std::vector<std::string> more = {}) {
  more.insert(more.end(),
              {"--kernel", "inplace", "--from-file", folder / "a b%20c#1.hsaco", "--door", door});
  return Isolated({.options = std::move(more), .environment = {{"HSA_SIM_LOADER", loader}}});
}

std::string inplace_object() {
  return sim_code_object({{.name = "inplace"}});
}

/// The capture holds exactly the bytes that the program loaded.
void expect_captured(const Isolated& run, const std::string& door) {
  SCOPED_TRACE(door);
  ASSERT_CAPTURED(run);
  EXPECT_EQ(read_file(run.outcome.folder / "kernel.hsaco").value_or(""), inplace_object());
  EXPECT_EQ(run.array(true)[3], 4);
}

/// The runtime's own word where code came from is not needed.
TEST(IsolateDoors, SeesEveryReader) {
  for (const char* door : {"file", "module", "bundle", "minor"}) {
    const TempFolder folder;
    expect_captured(from_file(folder, door, ""), door);
  }
  const TempFolder folder;
  expect_captured(from_file(folder, "address", "1.4"), "address");
  expect_captured(Isolated({.options = {"--kernel", "inplace"}}), "memory");
  expect_captured(Isolated({.options = {"--kernel", "inplace", "--door", "legacy"}}), "legacy");
}

// A file that is replaced between the two calls is no matter to a door that is watched.
TEST(IsolateDoors, KeepsWhatTheReaderRead) {
  for (const char* door : {"file", "module", "bundle"}) {
    const TempFolder folder;
    expect_captured(from_file(folder, door, "", {"--replace-file"}), door);
  }
}

TEST(IsolateDoors, FindsWhatCameInUnseenInTheLoadersMemory) {
  for (const char* door : {"module", "bundle", "minor"}) {
    const TempFolder folder;
    expect_captured(from_file(folder, door, "unseen"), door);
    const TempFolder replaced;
    expect_captured(from_file(replaced, door, "unseen", {"--replace-file"}), door);
  }
}

TEST(IsolateDoors, FindsWhatCameInUnseenByItsUri) {
  for (const char* door : {"module", "bundle", "minor"}) {
    const TempFolder folder;
    expect_captured(from_file(folder, door, "unseen,no-storage"), door);
  }
}

// What has the name now is another kernel: the capture would prove it against the original's
// results.
TEST(IsolateDoors, RefusesAFileThatWasReplacedSince) {
  for (const char* door : {"module", "bundle"}) {
    const TempFolder folder;
    const Isolated run = from_file(folder, door, "unseen,no-storage", {"--replace-file"});
    EXPECT_TRUE(run.program_is_fine());
    EXPECT_FALSE(std::filesystem::exists(run.outcome.folder));
    ASSERT_TRUE(run.outcome.events.refused.has_value());
    EXPECT_NE(run.outcome.events.refused->find("a b%20c#1.hsaco has changed since the program"),
              std::string::npos)
        << *run.outcome.events.refused;
  }
}

// An object that no call of ours has loaded is found at the freeze, by its URI or by its storage.
TEST(IsolateDoors, FindsWhatWasLoadedUnseen) {
  const TempFolder folder;
  expect_captured(from_file(folder, "address", "1.4,unseen"), "storage");
  const TempFolder other;
  expect_captured(from_file(other, "address", "1.4,unseen,no-storage"), "URI");
}

// An older runtime has neither the reader nor a table as long as the program's: the hook leaves
// alone what it does not write.
TEST(IsolateDoors, LeavesAShorterTableAlone) {
  const TempFolder folder;
  expect_captured(from_file(folder, "file", "1.1"), "file");
}

}  // namespace
}  // namespace perflab::test
