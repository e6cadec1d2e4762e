// Tables and tools libraries: docs/facts/hsa_runtime.md "Tables", "Load and unload of tools",
// "HSA_TOOLS_LIB".
#include <gmock/gmock.h>

#include <algorithm>

#include "base/system/subprocess.h"
#include "hsa_sim/sim_session.h"
#include "support/lines.h"

namespace perflab::test {
namespace {

using namespace hsa;
using ::testing::ElementsAre;
using Variables = std::vector<std::pair<std::string, std::string>>;

/// The sample program under some variables: its exit code, stderr, and what the tools wrote.
struct AppRun {
  std::optional<int> exit_code;
  std::string error;
  std::vector<std::string> tool_lines;
  std::string calls;  ///< HSA_SIM_LOG
};

// With `lines`, the program is given up when the tools have written so many and no more for a
// while.
AppRun run_app(Variables variables, std::vector<std::string> options = {},
               std::optional<std::size_t> lines = std::nullopt) {
  const TempFolder folder;
  ProcessOptions process;
  variables.emplace_back("HSA_SIM_TEST_TOOL_LOG", (folder / "tool.log").string());
  variables.emplace_back("HSA_SIM_LOG", (folder / "calls.log").string());
  process.set_environment = std::move(variables);
  process.standard_output = StreamMode::discard;
  process.standard_error = StreamMode::capture;
  int ticks = 0;
  if (lines)
    process.give_up = [&] {
      return lines_of(text_of(folder / "tool.log")).size() == *lines && ++ticks > 5;
    };
  options.insert(options.begin(), PERFLAB_HSA_SIM_APP);
  options.insert(options.end(), {"--n", "256"});
  const Result<ProcessResult> result = run_program(options, process);
  EXPECT_TRUE(result.has_value());
  if (!result) return {};
  return {.exit_code = result->given_up ? std::nullopt : result->exit_code,
          .error = result->error.tail,
          .tool_lines = lines_of(text_of(folder / "tool.log")),
          .calls = text_of(folder / "calls.log")};
}

std::uint32_t minor_of(const void* table) {
  return static_cast<const TableVersion*>(table)->minor;
}
std::uint32_t major_of(const void* table) {
  return static_cast<const TableVersion*>(table)->major;
}

// "Tables"
TEST(HsaSimTables, HaveTheSizesOfTheRuntimeOfToday) {
  const SimSession session;
  const ApiTables& root = *session.tables;
  EXPECT_EQ(root.version.major, 3U);
  EXPECT_EQ(root.version.minor, 64U);
  EXPECT_EQ(minor_of(root.core), 1016U);
  EXPECT_EQ(major_of(root.amd_ext), 2U);
  EXPECT_EQ(minor_of(root.amd_ext), 744U);
  EXPECT_EQ(minor_of(root.finalizer), 0U);
  EXPECT_EQ(minor_of(root.image), 0U);
  ASSERT_NE(root.image, nullptr);
  EXPECT_EQ(minor_of(root.tools), 64U);
  EXPECT_EQ(minor_of(root.pc_sampling), 72U);
}

// Every slot is filled, also those that nobody here calls.
TEST(HsaSimTables, HaveNoNullEntry) {
  const SimSession session;
  for (const void* table : {session.tables->core, session.tables->amd_ext}) {
    for (std::size_t at = sizeof(TableVersion); at < minor_of(table); at += 8) {
      void* entry = nullptr;
      std::memcpy(&entry, static_cast<const std::byte*>(table) + at, sizeof entry);
      EXPECT_NE(entry, nullptr) << "offset " << at;
    }
  }
}

// Fact 1: what a tool compiled against the older struct takes for interception is another entry.
TEST(HsaSimTables, TheOlderLayoutHasItsEntriesElsewhere) {
  const auto entry_at = [](const ApiTables& tables, std::size_t offset) {
    void* entry = nullptr;
    std::memcpy(&entry, static_cast<const std::byte*>(tables.amd_ext) + offset, sizeof entry);
    return entry;
  };
  const auto address = [](auto* function) { return reinterpret_cast<void*>(function); };
  void* intercept = nullptr;
  {
    const SimSession today;
    intercept = address(today.table_api.amd.queue_intercept_create);
    EXPECT_EQ(entry_at(*today.tables, 312), intercept);
    EXPECT_NE(entry_at(*today.tables, 296), intercept);
    EXPECT_NE(today.table_api.amd.vmem_map, nullptr);
  }
  const SimSession older(Set{"HSA_SIM_TABLE", "5.2.3"});
  EXPECT_EQ(older.tables->version.major, 1U);
  EXPECT_EQ(older.tables->version.minor, 48U);
  EXPECT_EQ(major_of(older.tables->amd_ext), 1U);
  EXPECT_EQ(minor_of(older.tables->amd_ext), 400U);
  EXPECT_EQ(entry_at(*older.tables, 296), intercept);
  EXPECT_EQ(older.table_api.amd.vmem_map, nullptr);
}

TEST(HsaSimTables, AnUnlistedEntryReportsItselfAndEnds) {
  const SimSession session;
  void* entry = nullptr;  // hsa_system_extension_supported, at 40
  std::memcpy(&entry, static_cast<const std::byte*>(session.tables->core) + 40, sizeof entry);
  EXPECT_DEATH(reinterpret_cast<void (*)()>(entry)(), "an entry of the tables was called");
}

// Fact 3.
TEST(HsaSimTables, InterceptionIsInTheTableOnly) {
  const SimSession session;
  EXPECT_EQ(session.api.amd.queue_intercept_create, nullptr);
  EXPECT_EQ(session.api.amd.queue_intercept_register, nullptr);
  EXPECT_NE(session.table_api.amd.queue_intercept_create, nullptr);
  EXPECT_NE(session.table_api.amd.queue_intercept_register, nullptr);
  for (const EntryPlace& entry : core_entries())
    EXPECT_NE(::dlsym(sim_library(), entry.name), nullptr) << entry.name;
  for (const EntryPlace& entry : amd_entries())
    EXPECT_EQ(::dlsym(sim_library(), entry.name) != nullptr,
              !std::string_view(entry.name).starts_with("hsa_amd_queue_intercept"))
        << entry.name;
}

// "Load and unload of tools": the first hsa_init passes no hook, what follows does; OnUnload finds
// a closed runtime.
TEST(HsaSimTools, AreLoadedInTheFirstInitAndUnloadedInTheLastShutDown) {
  const AppRun run = run_app({{"HSA_TOOLS_LIB", PERFLAB_TEST_TOOL}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.tool_lines,
              ElementsAre("a constructed", "a OnLoad version 3 failed agents 2 status 0",
                          "a hsa_executable_destroy", "a hsa_shut_down", "a OnUnload status 4107",
                          "a destroyed"));
}

// Fact 10: exit handlers of the program call the runtime after the tool's destructors.
TEST(HsaSimTools, AreCalledAfterTheirDestructors) {
  const AppRun run = run_app({{"HSA_TOOLS_LIB", PERFLAB_TEST_TOOL}}, {"--shutdown-at-exit"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(
      run.tool_lines,
      ElementsAre("a constructed", "a OnLoad version 3 failed agents 2 status 0", "a destroyed",
                  "a hsa_executable_destroy", "a hsa_shut_down", "a OnUnload status 4107"));
}

TEST(HsaSimTools, AreNotUnloadedByAProgramThatDoesNotShutDown) {
  const AppRun run = run_app({{"HSA_TOOLS_LIB", PERFLAB_TEST_TOOL}}, {"--exit-without-shutdown"});
  EXPECT_THAT(run.tool_lines,
              ElementsAre("a constructed", "a OnLoad version 3 failed agents 2 status 0"));
}

// Fact 2.
TEST(HsaSimTools, AreSilentlyIgnoredUnderAProfiler) {
  Variables variables = {{"HSA_TOOLS_LIB", PERFLAB_TEST_TOOL}, {"HSA_SIM_ROCPROFILER", "1"}};
  AppRun run = run_app(variables);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.tool_lines, ElementsAre());
  EXPECT_EQ(run.error, "");
  variables.emplace_back("HSA_TOOLS_DISABLE_REGISTER", "1");
  EXPECT_EQ(run_app(variables).tool_lines.size(), 6U);
}

// "HSA_TOOLS_LIB": separated by spaces, unloaded in reverse; later tools hear which ones failed.
TEST(HsaSimTools, OfAListAreLoadedInOrder) {
  const std::string both = std::string(PERFLAB_TEST_TOOL) + " /no/such.so " + PERFLAB_TEST_TOOL_B;
  const AppRun run = run_app({{"HSA_TOOLS_LIB", both}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.error, "Tool lib \"/no/such.so\" failed to load.\n");
  EXPECT_THAT(run.tool_lines,
              ElementsAre("a constructed", "a OnLoad version 3 failed agents 2 status 0",
                          "b constructed", "b OnLoad version 3 failed such.so agents 2 status 0",
                          "b hsa_executable_destroy", "a hsa_executable_destroy", "b hsa_shut_down",
                          "a hsa_shut_down", "b OnUnload status 4107", "a OnUnload status 4107",
                          "b destroyed", "a destroyed"));
  const AppRun quiet = run_app({{"HSA_TOOLS_LIB", both}, {"HSA_TOOLS_REPORT_LOAD_FAILURE", "0"}});
  EXPECT_EQ(quiet.error, "");
  const AppRun colon =
      run_app({{"HSA_TOOLS_LIB", std::string(PERFLAB_TEST_TOOL) + ":" + PERFLAB_TEST_TOOL_B}});
  EXPECT_THAT(colon.tool_lines, ElementsAre());
}

TEST(HsaSimTools, ThatRefuseAreClosedAndNamedToTheNext) {
  const std::string both = std::string(PERFLAB_TEST_TOOL) + " " + PERFLAB_TEST_TOOL_B;
  const AppRun run = run_app({{"HSA_TOOLS_LIB", both}, {"HSA_SIM_TEST_TOOL_DO", "refuse"}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.error, "");
  EXPECT_THAT(run.tool_lines,
              ::testing::Contains("b OnLoad version 3 failed libtest_tool_a.so agents 2 status 0"));
  EXPECT_THAT(run.tool_lines, ::testing::Not(::testing::Contains("a hsa_shut_down")));
}

TEST(HsaSimTools, OfTheOlderLayoutGetItsVersion) {
  const AppRun run = run_app({{"HSA_TOOLS_LIB", PERFLAB_TEST_TOOL}, {"HSA_SIM_TABLE", "5.2.3"}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.tool_lines.at(1), "a OnLoad version 1 failed agents 2 status 0");
}

// Table of statuses: a nested hsa_init never comes back.
TEST(HsaSimTools, ThatInitialiseInOnLoadWaitForever) {
  const AppRun run =
      run_app({{"HSA_TOOLS_LIB", PERFLAB_TEST_TOOL}, {"HSA_SIM_TEST_TOOL_DO", "nested"}}, {}, 2);
  EXPECT_EQ(run.exit_code, std::nullopt);
  EXPECT_EQ(run.tool_lines.size(), 2U) << "constructed and OnLoad, nothing for half a second";
}

// "Load and unload of tools": after a full shut-down OnLoad is called again, in the same library.
TEST(HsaSimTools, AreLoadedAgainWithTheRuntime) {
  const TempFolder folder;
  const ScopedVariable log("HSA_SIM_TEST_TOOL_LOG", (folder / "log").string());
  for (int i = 0; i < 2; ++i) {
    const SimSession session(Set{"HSA_SIM_TEST_TOOL_DO", "hook"});
    void* address = nullptr;
    EXPECT_EQ(session.api.core.init(), success) << "a second user";
    EXPECT_EQ(session.api.amd.vmem_address_reserve(&address, 4096, 0, 0), success);
    EXPECT_EQ(session.api.core.shut_down(), success);
  }
  std::vector<std::string> lines = lines_of(text_of(folder / "log"));
  std::erase(lines, "a constructed");
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_TRUE(std::equal(lines.begin(), lines.begin() + 6, lines.begin() + 6));
  EXPECT_EQ(lines[1], "a hsa_init") << "later calls pass the hook";
  EXPECT_EQ(lines[2], "a hsa_amd_vmem_address_reserve")
      << "exported functions go through the table";
  EXPECT_EQ(lines[5], "a OnUnload status 4107");
}

/// Addresses that a run of the program got from the pools.
std::vector<std::string> addresses_of_run(const Variables& variables) {
  const AppRun run = run_app(variables, {"--regions", "3"});
  EXPECT_EQ(run.exit_code, 0);
  std::vector<std::string> addresses;
  for (const std::string& line : lines_of(run.calls))
    if (line.starts_with("hsa_amd_agents_allow_access"))
      addresses.push_back(line.substr(line.rfind(' ') + 1));
  EXPECT_EQ(addresses.size(), 5U);
  return addresses;
}

// Fact 8. The kernel's randomisation must be on: three equal runs are as good as impossible then.
TEST(HsaSimAddresses, ChangeFromRunToRunUnlessReserved) {
  if (text_of("/proc/sys/kernel/randomize_va_space") == "0\n")
    GTEST_SKIP() << "the kernel does not randomise addresses here";
  const auto first = addresses_of_run({}), second = addresses_of_run({});
  EXPECT_TRUE(first != second || first != addresses_of_run({}));
  const Variables reserved = {{"HSA_RESERVE_SVM", "1"}};
  const auto fixed = addresses_of_run(reserved);
  EXPECT_EQ(fixed, addresses_of_run(reserved));
}

TEST(HsaSimFaults, StrikeTheCallThatIsNamed) {
  const SimSession session(
      Set{"HSA_SIM_FAULT", "hsa_signal_create@2=0x1008,hsa_amd_memory_pool_free@*=0x1003"});
  Signal signal{};
  const auto create = [&] { return session.api.core.signal_create(1, 0, nullptr, &signal); };
  EXPECT_EQ(create(), success);
  EXPECT_EQ(create(), Status::out_of_resources);
  EXPECT_EQ(create(), success);
  EXPECT_EQ(session.api.amd.memory_pool_free(session.allocate(64)), Status::invalid_allocation);
  EXPECT_EQ(session.api.amd.memory_pool_free(nullptr), Status::invalid_allocation);
}

// A failing call touches none of its arguments, so any will do.
TEST(HsaSimFaults, StrikeEveryEntryThatAnswersWithAStatus) {
  const auto has_status = [](std::string_view name) {
    for (const char* start :
         {"hsa_queue_load", "hsa_queue_store", "hsa_queue_add", "hsa_signal_load",
          "hsa_signal_store", "hsa_signal_wait", "hsa_signal_subtract", "hsa_amd_queue_intercept"})
      if (name.starts_with(start)) return false;
    return name != "hsa_init";
  };
  std::vector<std::string> names;
  for (const auto entries : {core_entries(), amd_entries()})
    for (const EntryPlace& entry : entries)
      if (has_status(entry.name)) names.emplace_back(entry.name);
  std::string list;
  for (const std::string& name : names) list += name + "@1=0x1000,";
  const ScopedVariable faults("HSA_SIM_FAULT", list);
  const Api api = api_of_library(sim_library());
  ASSERT_EQ(api.core.init(), success);
  EXPECT_GT(names.size(), 60U);
  using AnyCall = Status(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                         std::uint64_t, std::uint64_t, std::uint64_t);
  for (const std::string& name : names) {
    auto* const call = reinterpret_cast<AnyCall*>(::dlsym(sim_library(), name.c_str()));
    EXPECT_EQ(call(0, 0, 0, 0, 0, 0, 0, 0), Status::error) << name;
  }
  EXPECT_EQ(api.core.shut_down(), success) << "its second call";
}

// Table of statuses: before hsa_init and after the last hsa_shut_down.
TEST(HsaSimFaults, AClosedRuntimeAnswersSo) {
  const Api api = api_of_library(sim_library());
  int unused = 0;
  const auto expect_closed = [&] {
    EXPECT_EQ(api.core.shut_down(), Status::not_initialized);
    EXPECT_EQ(api.core.system_get_info(0, &unused), Status::not_initialized);
    EXPECT_EQ(api.amd.memory_pool_free(nullptr), Status::not_initialized);
  };
  expect_closed();
  {
    const SimSession session;
  }
  expect_closed();
}

}  // namespace
}  // namespace perflab::test
