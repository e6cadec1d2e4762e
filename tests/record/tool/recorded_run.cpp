// The stand-ins: tests/cuda_sim/README.md.
#include "record/tool/recorded_run.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>

#include "record/protocol.h"

namespace perflab::record {
namespace {

std::filesystem::path only(const std::vector<std::filesystem::path>& files) {
  EXPECT_EQ(files.size(), 1U);
  return files.empty() ? std::filesystem::path("/nowhere") : files.front();
}

}  // namespace

RecordedRun::RecordedRun(const std::vector<std::string>& arguments, const Variables& variables) {
  std::vector<std::string> command{PERFLAB_CUDA_SIM_FOLDER "/cuda_sim_app"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessOptions options;
  options.standard_output = options.standard_error = StreamMode::capture;
  options.timeout = std::chrono::seconds(60);
  options.set_environment = {{"LD_LIBRARY_PATH", PERFLAB_CUDA_SIM_FOLDER},
                             {"CUDA_INJECTION64_PATH", PERFLAB_RECORD_LIBRARY_FILE},
                             {"NVTX_INJECTION64_PATH", PERFLAB_RECORD_LIBRARY_FILE},
                             {kFolderVariable, folder.path().string()}};
  for (const auto& [name, value] : variables) {
    std::erase_if(options.set_environment, [&](const auto& one) { return one.first == name; });
    options.set_environment.emplace_back(name, value);
  }
  // A fork's child has none of the threads that hold what LeakSanitizer then calls leaked.
  const char* const asan = std::getenv("ASAN_OPTIONS");
  options.set_environment.emplace_back(
      "ASAN_OPTIONS", std::string(asan != nullptr ? asan : "") + ":detect_leaks=0");
  const auto ended = run_program(command, options);
  if (!ended) {
    ADD_FAILURE() << describe(ended.error());
    return;
  }
  result = *ended;
  EXPECT_FALSE(result.timed_out) << result.error.tail;
  const std::size_t line = result.output.tail.rfind("{\"pid\"");
  if (line == std::string::npos) return;
  const auto counts = parse_json(result.output.tail.substr(line), "counts");
  if (!counts) {
    ADD_FAILURE() << describe(counts.error());
    return;
  }
  for (const auto& [name, value] : counts->items()) did[name] = value.get<long long>();
}

std::vector<std::filesystem::path> RecordedRun::files(std::string_view ending) const {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    if (entry.path().string().ends_with(ending)) found.push_back(entry.path());
  return found;
}

test::TestDatabase RecordedRun::database() const {
  return test::TestDatabase(only(files(kDatabaseSuffix)));
}

test::TestDatabase RecordedRun::partial() const {
  const std::filesystem::path path =
      only(files(std::string(kDatabaseSuffix) + std::string(kPartialSuffix)));
  sqlite3* opened = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &opened), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(opened, "BEGIN IMMEDIATE; COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(opened);
  return test::TestDatabase(path);
}

Json RecordedRun::about(test::TestDatabase& database) {
  const auto parsed =
      parse_json(database.text("SELECT extdata FROM rocpd_info_process"), "extdata");
  EXPECT_TRUE(parsed);
  return parsed ? *parsed : Json::object();
}

}  // namespace perflab::record
