// The C interface in this process: the documents are the program's, byte for byte; what a caller
// can get wrong is a status.
#include "api/perflab.h"

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

#include "cli/program.h"
#include "cli/written_run.h"
#include "report/kit/document.h"

namespace perflab {
namespace {

using testing::HasSubstr;

struct Free {
  void operator()(perflab_documents* documents) const { perflab_free(documents); }
};
using Documents = std::unique_ptr<perflab_documents, Free>;

perflab_inputs empty_inputs() {
  perflab_inputs inputs;
  std::memset(&inputs, 0, sizeof inputs);
  inputs.size = sizeof inputs;
  return inputs;
}

Documents analyze_traces(std::span<const char* const> traces,
                         std::span<const char* const> counters = {}) {
  perflab_inputs inputs = empty_inputs();
  inputs.traces = traces.data();
  inputs.trace_count = traces.size();
  inputs.counters = counters.data();
  inputs.counter_count = counters.size();
  return Documents(perflab_analyze(&inputs));
}

std::vector<std::string> counter_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PERFLAB_SAMPLE_PASSES))
    if (entry.path().extension() == ".db") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

TEST(Api, GivesTheDocumentsOfTheProgram) {
  const test::TempFolder folder;
  const std::vector<std::string> passes = counter_files();
  std::vector<std::string> arguments = {"analyze", PERFLAB_SAMPLE, "--out",     "docs",
                                        "--html",  "page.html",    "--counters"};
  arguments.insert(arguments.end(), passes.begin(), passes.end());
  ASSERT_EQ(cli::rocm_perf(folder.path(), arguments).exit_code, 0);

  std::vector<const char*> names;
  for (const std::string& file : passes) names.push_back(file.c_str());
  const std::array<const char*, 1> traces = {PERFLAB_SAMPLE};
  const Documents documents = analyze_traces(traces, names);
  ASSERT_NE(documents, nullptr);
  EXPECT_EQ(perflab_status(documents.get()), 0) << perflab_message(documents.get());
  EXPECT_STREQ(perflab_message(documents.get()), "");
  const std::size_t count = perflab_document_count(documents.get());
  EXPECT_EQ(perflab_document_name(documents.get(), count), nullptr);
  std::vector<std::string> files;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = perflab_document_name(documents.get(), i);
    files.push_back(name + ".json");
    EXPECT_EQ(perflab_document_text(documents.get(), name.c_str()),
              test::text_of(folder / "docs" / files.back()))
        << name;
    EXPECT_NE(perflab_schema(name.c_str()), nullptr) << name;
  }
  std::ranges::sort(files);
  EXPECT_EQ(files, cli::names_in(folder / "docs"));
  EXPECT_EQ(perflab_document_text(documents.get(), "occupancy"), nullptr);
  EXPECT_EQ(perflab_document_text(documents.get(), nullptr), nullptr);
}

TEST(Api, GivesThePageOfTheProgram) {
  const test::TempFolder folder;
  const std::string run = folder / "run.db";
  cli::write_steps(run);
  ASSERT_EQ(cli::rocm_perf(folder.path(), {"analyze", run, "--html", "page.html"}).exit_code, 0);
  const std::array<const char*, 1> traces = {run.c_str()};
  const Documents documents = analyze_traces(traces);
  const char* const page = perflab_page(documents.get());
  ASSERT_NE(page, nullptr) << perflab_message(documents.get());
  EXPECT_TRUE(page == test::text_of(folder / "page.html"));  // not EXPECT_EQ: it is a megabyte
  EXPECT_EQ(perflab_page(documents.get()), page);
}

TEST(Api, SaysWhatIsWrongWithAFile) {
  const test::TempFolder folder;
  const std::string file = folder.write("no.db", "no database");
  const std::array<const char*, 1> traces = {file.c_str()};
  const Documents documents = analyze_traces(traces);
  EXPECT_EQ(perflab_status(documents.get()), 3);
  EXPECT_THAT(perflab_message(documents.get()), HasSubstr(file));
  EXPECT_EQ(perflab_document_count(documents.get()), 0U);
  EXPECT_EQ(perflab_page(documents.get()), nullptr);
  EXPECT_EQ(perflab_document_text(documents.get(), "analysis"), nullptr);
}

TEST(Api, RefusesInputsThatSayNothing) {
  const auto refused = [](const perflab_inputs* inputs) {
    const Documents documents(perflab_analyze(inputs));
    EXPECT_EQ(perflab_status(documents.get()), 2);
    return std::string(perflab_message(documents.get()));
  };
  EXPECT_THAT(refused(nullptr), HasSubstr("size is not set"));
  perflab_inputs inputs = empty_inputs();
  inputs.size = 0;
  EXPECT_THAT(refused(&inputs), HasSubstr("size is not set"));
  inputs = empty_inputs();
  EXPECT_THAT(refused(&inputs), HasSubstr("there is no trace"));
  inputs.trace_count = 1;
  EXPECT_THAT(refused(&inputs), HasSubstr("a name in traces is NULL"));
  const std::array<const char*, 2> with_hole = {PERFLAB_SAMPLE, nullptr};
  inputs.traces = with_hole.data();
  inputs.trace_count = 2;
  EXPECT_THAT(refused(&inputs), HasSubstr("a name in traces is NULL"));
  inputs = empty_inputs();
  inputs.counters = with_hole.data();
  inputs.counter_count = 1;
  EXPECT_THAT(refused(&inputs), HasSubstr("there is no trace"));
  // Thread traces can be alone, but code and counters then have nothing to be of.
  inputs.thread_traces = with_hole.data();
  inputs.thread_trace_count = 1;
  EXPECT_THAT(refused(&inputs), HasSubstr("there is no trace"));
  inputs.counter_count = 0;
  inputs.code = with_hole.data();
  inputs.code_count = 1;
  EXPECT_THAT(refused(&inputs), HasSubstr("there is no trace"));
}

// A newer header has more members, an older one fewer.
TEST(Api, TakesInputsOfOtherVersions) {
  struct Newer {
    perflab_inputs known;
    std::uint64_t unknown;
  } newer{};
  const test::TempFolder folder;
  const std::string run = folder / "run.db";
  cli::write_steps(run);
  const std::array<const char*, 1> traces = {run.c_str()};
  newer.known = empty_inputs();
  newer.known.size = sizeof newer;
  newer.known.traces = traces.data();
  newer.known.trace_count = 1;
  EXPECT_EQ(perflab_status(Documents(perflab_analyze(&newer.known)).get()), 0);
  newer.unknown = 1;
  const Documents refused(perflab_analyze(&newer.known));
  EXPECT_EQ(perflab_status(refused.get()), 2);
  EXPECT_THAT(perflab_message(refused.get()), HasSubstr("this version does not have"));

  perflab_inputs older = newer.known;
  older.size = offsetof(perflab_inputs, counters);
  older.counters = nullptr;
  older.counter_count = 7;  // not looked at
  EXPECT_EQ(perflab_status(Documents(perflab_analyze(&older)).get()), 0);
}

TEST(Api, KnowsItsVersionAndSchemas) {
  EXPECT_STREQ(perflab_version(), PERFLAB_VERSION);
  EXPECT_EQ(perflab_schema("nothing"), nullptr);
  EXPECT_EQ(perflab_schema(nullptr), nullptr);
  for (const std::string& name : report::schema_names()) {
    ASSERT_NE(perflab_schema(name.c_str()), nullptr);
    EXPECT_EQ(perflab_schema(name.c_str()), std::string(report::schema_text(name).value()));
  }
  perflab_free(nullptr);
}

}  // namespace
}  // namespace perflab
