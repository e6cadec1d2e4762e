// What doctor makes of a driver's files, of an answer about agents, and of the parts.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temp_folder.h"
#include "doctor/agents.h"
#include "doctor/doctor_document.h"
#include "doctor/doctor_text.h"
#include "doctor/driver.h"
#include "doctor/replay_here.h"
#include "report/kit/document.h"
#include "report/kit/text_table.h"
#include "report/summary/followed.h"

namespace perflab::doctor {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// A machine's files below a folder.
class Machine {
 public:
  Machine() {
    places.devices = folder_ / "dev";
    places.system = folder_ / "sys";
    places.release = folder_ / "os-release";
    fs::create_directories(places.devices);
  }
  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void node(int number, const std::string& properties) const {
    write(places.system / "class/kfd/kfd/topology/nodes" / std::to_string(number) / "properties",
          properties);
  }
  void gpu(int number, int version, int simds = 1216) const {
    node(number, "cpu_cores_count 0\nsimd_count " + std::to_string(simds) +
                     "\nsimd_per_cu 4\ngfx_target_version " + std::to_string(version) + "\n");
  }
  void devices() const {
    write(places.devices / "kfd", "");
    write(places.devices / "dri/renderD128", "");
  }
  void answers(const std::string& words) { places.agents_command = {"sh", "-c", words}; }

  Places places;

 private:
  test::TempFolder folder_;
};

Part works(Need need) {
  return {.need = need, .state = State::works, .title = std::string(to_string(need))};
}

std::vector<Part> all_but(std::initializer_list<Need> lacking) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < kNeeds; ++i) {
    const auto need = static_cast<Need>(i);
    parts.push_back(works(need));
    if (std::ranges::find(lacking, need) == lacking.end()) continue;
    parts.back().state = State::missing;
    parts.back().problem = "it is not there";
    parts.back().remedy = "sudo apt install it";
  }
  return parts;
}

TEST(Doctor, KnowsProcessorsByTheNumberOfTheDriver) {
  const auto processor_of = [](int version) {
    const Machine machine;
    machine.gpu(1, version);
    return driver_gpus(machine.places).at(0).processor;
  };
  EXPECT_EQ(processor_of(90402), "gfx942");
  EXPECT_EQ(processor_of(90010), "gfx90a");
  EXPECT_EQ(processor_of(110000), "gfx1100");
  EXPECT_EQ(processor_of(120001), "gfx1201");
  EXPECT_EQ(processor_of(90012), "gfx90c");
}

TEST(Doctor, ListsTheDriverSGpusAndLeavesCpusOut) {
  const Machine machine;
  machine.node(0, "cpu_cores_count 64\nsimd_count 0\ngfx_target_version 0\n");
  machine.gpu(10, 110000, 192);
  machine.gpu(2, 90402);
  machine.gpu(3, 990999);
  machine.node(4, "torn");
  machine.write(machine.places.system / "class/kfd/kfd/topology/nodes/x/properties", "");
  const std::vector<Gpu> gpus = driver_gpus(machine.places);
  ASSERT_EQ(gpus.size(), 3U);
  EXPECT_EQ(gpus[0].node, 2);
  EXPECT_EQ(gpus[0].processor, "gfx942");
  EXPECT_EQ(gpus[0].compute_units, 304);
  EXPECT_TRUE(gpus[0].known);
  EXPECT_FALSE(gpus[1].known);
  EXPECT_EQ(gpus[2].node, 10);
}

TEST(Doctor, SaysWhatIsWrongWithTheDriver) {
  const Machine machine;
  const std::vector<Gpu> gpus{Gpu{.node = 1, .processor = "gfx942"}};
  EXPECT_EQ(driver_part(machine.places, gpus).state, State::missing);
  machine.write(machine.places.devices / "kfd", "");
  EXPECT_THAT(driver_part(machine.places, gpus).problem, HasSubstr("renderD"));
  machine.devices();
  machine.write(machine.places.system / "module/amdgpu/version", "6.10.5\n");
  EXPECT_THAT(driver_part(machine.places, {}).problem, HasSubstr("no GPU"));
  const Part part = driver_part(machine.places, gpus);
  EXPECT_EQ(part.state, State::works);
  EXPECT_EQ(part.version, "6.10.5");
  EXPECT_EQ(part.problem, "");
}

TEST(Doctor, SaysWhichDeviceMayNotBeUsed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read and write everything";
  const Machine machine;
  machine.devices();
  fs::permissions(machine.places.devices / "dri/renderD128", fs::perms::owner_read);
  const Part part = driver_part(machine.places, {Gpu{}});
  EXPECT_EQ(part.state, State::unusable);
  EXPECT_THAT(part.problem, HasSubstr("renderD128"));
  EXPECT_THAT(part.remedy, HasSubstr("usermod"));
}

TEST(Doctor, ReadsWhatTheRuntimeSays) {
  Machine machine;
  machine.gpu(1, 90402);
  machine.gpu(2, 90402);
  std::vector<Gpu> gpus = driver_gpus(machine.places);
  machine.answers(
      R"(echo noise; echo '{"version":"1.18","rocm_version":"7.1.1","gpus":[)"
      R"({"processor":"gfx942","product":"one"},{"processor":"gfx942","product":"two"},)"
      R"({"processor":"gfx1100","product":"three"}]}')");
  const Result<Part> part = runtime_part(machine.places, gpus);
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->state, State::works);
  EXPECT_EQ(part->version, "1.18");
  EXPECT_THAT(part->details, ElementsAre("ROCm 7.1.1"));
  ASSERT_EQ(gpus.size(), 3U);
  EXPECT_EQ(gpus[0].product, "one");
  EXPECT_EQ(gpus[1].product, "two");
  EXPECT_EQ(gpus[2].product, "three");
  EXPECT_EQ(gpus[2].node, std::nullopt);
}

TEST(Doctor, OutlivesARuntimeThatCrashesOrAnswersNonsense) {
  Machine machine;
  std::vector<Gpu> gpus;
  for (const auto& [words, said] : std::vector<std::pair<std::string, std::string>>{
           {"kill -SEGV $$", "SIGSEGV"},
           {"exit 3", "code 3"},
           {"echo nonsense", "code 0"},
           {"echo '[]'", "code 0"},
           {R"(echo '{"version":"1.18","gpus":[]}')", "no GPU"},
           {R"(echo '{"problem":"x did not answer","remedy":"y","installed":true}')",
            "x did not answer"}}) {
    machine.answers(words);
    const Result<Part> part = runtime_part(machine.places, gpus);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->state, State::unusable) << words;
    EXPECT_THAT(part->problem, HasSubstr(said)) << words;
    EXPECT_NE(part->remedy, "") << words;
  }
  machine.answers(R"(echo '{"problem":"x is not there","remedy":"y","installed":false}')");
  EXPECT_EQ(runtime_part(machine.places, gpus)->state, State::missing);
}

TEST(Doctor, TellsCommandsThatWorkFromThoseThatLackSomething) {
  const auto of = [](const std::vector<Part>& parts, const std::string& command) {
    return readiness(parts, {command}).value().at(0);
  };
  EXPECT_EQ(of(all_but({}), "profile").readiness, Readiness::ready);
  EXPECT_EQ(of(all_but({Need::decoder}), "profile").readiness, Readiness::partly);
  EXPECT_EQ(of(all_but({Need::decoder, Need::profiler}), "profile").readiness,
            Readiness::not_ready);
  EXPECT_EQ(of(all_but({Need::profiler}), "analyze").readiness, Readiness::ready);
  EXPECT_EQ(of(all_but({Need::source_reader}), "optimize").readiness, Readiness::not_ready);
  EXPECT_EQ(of(all_but({Need::network}), "optimize").lacks.size(), 1U);
  // Nothing is known of them: they are not there.
  EXPECT_EQ(of({}, "replay").readiness, Readiness::not_ready);
  const auto unknown = readiness({}, {"profile", "nonsense"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::usage);
  EXPECT_THAT(unknown.error().remedy, HasSubstr("critical-path"));
}

TEST(Doctor, TheTextFitsAndSaysWhatToDo) {
  Examination examination;
  examination.parts = all_but({Need::driver, Need::runtime});
  examination.parts[3].path = "/opt/" + std::string(200, 'p');
  examination.commands = readiness(examination.parts, {}).value();
  for (const std::size_t width : {40U, 80U, 200U}) {
    const std::string text = doctor_text(examination, {.width = width});
    EXPECT_THAT(text, HasSubstr("sudo apt install it"));
    if (width >= 80) {
      EXPECT_THAT(text, HasSubstr("without driver and runtime"));
    }
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
      if (width >= 80) {
        EXPECT_LE(report::display_width(text.substr(begin, end - begin)), width);
      }
      EXPECT_FALSE(end > begin && text[end - 1] == ' ');
      begin = end + 1;
    }
  }
}

TEST(Doctor, TheSummaryIsTrueAndShortWhateverIsMissing) {
  for (std::size_t lacking = 0; lacking < (1U << kNeeds); lacking += 61) {
    Examination examination;
    examination.parts = all_but({});
    for (std::size_t i = 0; i < kNeeds; ++i) {
      Part& part = examination.parts[i];
      if ((lacking >> i & 1U) == 0) continue;
      part.state = i % 2 == 0 ? State::missing : State::unusable;
      part.problem = "it cannot be used, because of something that takes a line to say";
      part.remedy = "sudo apt install one-of-several-packages, or let VARIABLE name it instead";
    }
    examination.system = "Debian GNU/Linux 12 (bookworm)";
    examination.commands = readiness(examination.parts, {}).value();
    const std::vector<report::NamedDocument> documents = {{"doctor", doctor_document(examination)}};
    const Json summary = report::summary_document(documents);
    EXPECT_TRUE(report::render("summary", summary));
    EXPECT_GT(report::figures_followed(documents, summary), 30U);
    report::expect_short(summary);
    const Json commands = report::part_named(summary, "commands");
    EXPECT_EQ(commands["left_out"], 0) << "of every command it is said whether it works";
    EXPECT_EQ(commands["rows"].size(), command_names().size());
  }
}

TEST(Doctor, TheSummaryPutsFirstWhatKeepsMostCommandsFromWorking) {
  Examination examination;
  examination.parts = all_but({Need::cluster, Need::driver, Need::profiler});
  examination.commands = readiness(examination.parts, {}).value();
  const std::vector<report::NamedDocument> documents = {{"doctor", doctor_document(examination)}};
  const Json summary = report::summary_document(documents);
  std::vector<std::string> needs;
  for (const Json& row : report::part_named(summary, "missing")["rows"])
    needs.push_back(row["need"]);
  EXPECT_THAT(needs, ElementsAre("driver", "profiler", "cluster"));
  EXPECT_EQ(summary["next"][0]["command"], "rocm-perf doctor calibrate isolate profile replay");
  examination.commands = readiness(examination.parts, {"analyze", "inspect"}).value();
  const Json two = report::summary_document(
      std::vector<report::NamedDocument>{{"doctor", doctor_document(examination)}});
  for (const Json& part : two["parts"]) EXPECT_NE(part["part"], "missing");
  EXPECT_EQ(two["next"][0]["command"], "rocm-perf analyze --help");
}

TEST(Doctor, SaysWhetherAReplayHasItsGpuHere) {
  Machine machine;
  const auto here = [&](std::uint32_t index, const std::string& isa) {
    capture::Machine captured;
    captured.isa = isa;
    captured.gpu_index = index;
    const auto answer = replay_here(machine.places, captured);
    return answer ? *answer : report::ReplayHere{.problem = "no answer", .gpus = {}};
  };
  machine.answers(R"(echo '{"version":"1.18","gpus":[{"processor":"gfx942","product":"one",)"
                  R"("isa":"amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"}]}')");
  EXPECT_EQ(here(0, "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-").problem, "");
  EXPECT_EQ(here(0, "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-").gpus.size(), 1U);
  EXPECT_THAT(here(0, "amdgcn-amd-amdhsa--gfx90a").problem,
              testing::StartsWith("the capture was taken on amdgcn-amd-amdhsa--gfx90a, "));
  EXPECT_THAT(here(1, "amdgcn-amd-amdhsa--gfx942").problem, HasSubstr("GPU 1"));
  machine.answers(R"(echo '{"problem":"x is not there","remedy":"y","installed":false}')");
  EXPECT_EQ(here(0, "amdgcn-amd-amdhsa--gfx942").problem, "x is not there");
  machine.answers("kill -SEGV $$");
  EXPECT_THAT(here(0, "amdgcn-amd-amdhsa--gfx942").problem, HasSubstr("SIGSEGV"));
}

TEST(Doctor, TheDocumentSatisfiesItsSchema) {
  Examination examination;
  examination.parts = all_but({Need::cluster});
  examination.gpus = {Gpu{.node = 1, .processor = "gfx942", .compute_units = 304}};
  examination.commands = readiness(examination.parts, {}).value();
  const Result<std::string> text = report::render("doctor", doctor_document(examination));
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("\"need\": \"cluster\""));
}

}  // namespace
}  // namespace perflab::doctor
