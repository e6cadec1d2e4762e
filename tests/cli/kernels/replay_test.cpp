// rocm-perf replay on the stand-in runtime: documents, texts, exit codes, and every failure by its
// name.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/system/files.h"
#include "cli/program.h"
#include "hsa_sim/sim_code_objects.h"
#include "replay/sample_capture.h"

namespace perflab::cli {
namespace {

using test::SampleCapture;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Variables = std::vector<std::pair<std::string, std::string>>;

/// x += 1 over 3000 floats, as the stand-in runs it.
SampleCapture inplace_capture() {
  SampleCapture sample = test::inplace_sample(3000);
  sample.code_object = test::sim_code_object({{.name = "inplace"}, {.name = "empty"}});
  sample.kernarg.resize(test::sim_kernarg_bytes("inplace"));
  sample.description.dispatch.kernarg_bytes = test::sim_kernarg_bytes("inplace");
  // No device memory of the application to put them in.
  return sample;
}

class Replay : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(inplace_capture().write(folder_ / "capture").has_value()); }

  [[nodiscard]] Outcome run(std::vector<std::string> arguments, Variables variables = {},
                            bool with_runtime = true) const {
    ProcessOptions options;
    options.set_environment = std::move(variables);
    if (with_runtime)
      options.set_environment.emplace_back("LD_LIBRARY_PATH", PERFLAB_HSA_SIM_FOLDER);
    options.unset_environment = {"ROCM_PATH", "HSA_RESERVE_SVM", "PERFLAB_STEERING_ATTEMPT"};
    arguments.insert(arguments.begin(), "replay");
    return rocm_perf(folder_.path(), std::move(arguments), std::move(options));
  }
  [[nodiscard]] Outcome full_vm(std::vector<std::string> more = {},
                                Variables variables = {}) const {
    more.insert(more.begin(), {"full-vm", "--capture-dir", "capture", "--iterations", "2"});
    return run(std::move(more), std::move(variables));
  }
  /// Fails by that name, with nothing on stdout.
  void expect_failure(const Outcome& outcome, const std::string& name, int exit_code,
                      const std::string& what) const {
    EXPECT_EQ(outcome.exit_code, exit_code) << what << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("rocm-perf: " + name + ": ")) << what;
    EXPECT_EQ(outcome.out, "") << what;
  }

  test::TempFolder folder_;
};

TEST_F(Replay, FullVmTellsWhatRanAndHowLong) {
  const Outcome outcome = full_vm({"--json", "--out", "documents"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json replay = document("replay", outcome.out);
  EXPECT_EQ(replay["kernel"]["name"], "inplace");
  EXPECT_EQ(replay["kernel"]["hsaco_path"], "kernel.hsaco");
  EXPECT_EQ(replay["execution"]["iterations"], 2);
  EXPECT_EQ(replay["execution"]["mode"], "recopy");
  EXPECT_EQ(replay["execution"]["restored_bytes_per_iteration"], 12000);
  EXPECT_EQ(replay["execution"]["restored_on_device"], true);
  EXPECT_EQ(replay["timing"]["samples"].size(), 2U);
  EXPECT_GE(replay["timing"]["max"], replay["timing"]["min"]);
  EXPECT_GT(replay["timing"]["min"], 0);
  EXPECT_EQ(replay["timing"]["captured"], 2000);
  EXPECT_EQ(replay["environment"]["gpu_agent"], "gfx942");
  EXPECT_EQ(test::text_of(folder_ / "documents" / "replay.json"), outcome.out);

  const Outcome once = full_vm({"--iterations", "1", "--no-recopy", "--json"});
  EXPECT_EQ(once.exit_code, 2);  // given twice
  const Outcome carry = run({"full-vm", "capture", "--iterations", "1", "--no-recopy", "--json"});
  ASSERT_EQ(carry.exit_code, 0) << carry.err;
  const Json one = document("replay", carry.out);
  EXPECT_EQ(one["execution"]["mode"], "no_recopy");
  EXPECT_EQ(one["execution"]["warmup"], 0);
  EXPECT_EQ(one["execution"]["restored_bytes_per_iteration"], 0);
  EXPECT_TRUE(one["timing"]["cv"].is_null());
  std::set<std::string> missing;
  for (const Json& entry : one["missing"]) missing.insert(entry["field"]);
  EXPECT_TRUE(missing.contains("timing.cv") && missing.contains("timing.stddev"));

  const Outcome text = full_vm({"--details"}, {{"COLUMNS", "60"}});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, ::testing::AllOf(StartsWith("inplace\n"), HasSubstr("median "),
                                         HasSubstr("12 kB before each iteration, on the GPU"),
                                         HasSubstr("the replay's median is")));
  std::istringstream lines_of(text.out);
  for (std::string line; std::getline(lines_of, line);) EXPECT_LE(line.size(), 60U) << line;
}

TEST_F(Replay, TheAnswersAreShortAndNameTheNextCommand) {
  const Outcome times = full_vm({"--out", "documents"});
  ASSERT_EQ(times.exit_code, 0) << times.err;
  EXPECT_THAT(times.out,
              ::testing::AllOf(HasSubstr("Replayed\n  inplace\n  2 dispatches on gfx942"),
                               HasSubstr("\nGPU time of a dispatch\n  median "),
                               HasSubstr("  not known: full-vm compares no memory"),
                               HasSubstr("  rocm-perf replay verify capture\n")));
  EXPECT_EQ(document("summary", test::text_of(folder_ / "documents" / "summary.json"))["made_from"],
            Json::array({"replay"}));
  const Outcome reserved = run({"reserve-check", "capture"});
  EXPECT_THAT(reserved.out,
              ::testing::AllOf(StartsWith("Verdict (exit code 0)\n  exact: "),
                               HasSubstr("\nNext\n  rocm-perf replay full-vm capture\n")));
  EXPECT_EQ(document("summary", run({"reserve-check", "capture", "--json", "--brief"})
                                    .out)["parts"][0]["rows"][0]["verdict"],
            "exact");
}

TEST_F(Replay, RunsAnotherCodeObject) {
  (void)folder_.write("other.hsaco", test::sim_code_object({{.name = "inplace", .body = "vadd"}}));
  expect_failure(full_vm({"--hsaco", "other.hsaco", "--json"}), "kernel_mismatch", 3, "arguments");
  (void)folder_.write("skips.hsaco",
                      test::sim_code_object({{.name = "inplace", .body = "inplace_skips"}}));
  const Outcome skips = full_vm({"--hsaco", "skips.hsaco", "--json"});
  ASSERT_EQ(skips.exit_code, 0) << skips.err;
  const Json replay = document("replay", skips.out);
  EXPECT_EQ(replay["kernel"]["hsaco_path"], "skips.hsaco");
  EXPECT_EQ(replay["kernel"]["captured_code_object"], false);
  EXPECT_TRUE(replay["timing"]["ratio_to_captured"].is_null());
}

// Every call that answers with a status, at its first and at its last time, fails by its name.
TEST_F(Replay, EveryFailingCallIsNamed) {
  const auto log = folder_ / "calls";
  ASSERT_EQ(full_vm({}, {{"HSA_SIM_LOG", log.string()}}).exit_code, 0);
  std::map<std::string, int> calls;
  std::istringstream lines_of(test::text_of(log));
  for (std::string line; std::getline(lines_of, line);)
    ++calls[line.substr(0, line.find_first_of(" ("))];
  const std::set<std::string> giving_back{"hsa_shut_down",
                                          "hsa_queue_destroy",
                                          "hsa_signal_destroy",
                                          "hsa_executable_destroy",
                                          "hsa_amd_vmem_unmap",
                                          "hsa_code_object_reader_destroy",
                                          "hsa_amd_memory_pool_free",
                                          "hsa_amd_vmem_address_free",
                                          "hsa_amd_vmem_handle_release"};
  // These answer with a value, or not at all.
  const std::set<std::string> without_status{
      "hsa_signal_store_relaxed", "hsa_signal_store_screlease", "hsa_signal_wait_scacquire",
      "hsa_queue_add_write_index_screlease"};
  int tried = 0;
  for (const auto& [name, times] : calls) {
    if (!name.starts_with("hsa_") || without_status.contains(name)) continue;
    for (const int nth : std::set{1, times}) {
      const std::string fault = fmt::format("{}@{}=0x1001", name, nth);
      const Outcome outcome = full_vm({"--json"}, {{"HSA_SIM_FAULT", fault}});
      if (giving_back.contains(name)) {
        EXPECT_EQ(outcome.exit_code, 0) << fault << outcome.err;
        continue;
      }
      ++tried;
      expect_failure(outcome, "hsa_call_failed", 4, fault);
      EXPECT_THAT(outcome.err, ::testing::AllOf(HasSubstr(name), HasSubstr("0x1001"),
                                                HasSubstr("invalid argument")));
    }
  }
  EXPECT_GE(tried, 35);
}

TEST_F(Replay, NamesWhatEndedADispatch) {
  expect_failure(full_vm({"--time-limit", "1s"}, {{"HSA_SIM_FAULT", "dispatch@2=hang"}}),
                 "timed_out", 5, "hang");
  expect_failure(full_vm({}, {{"HSA_SIM_FAULT", "dispatch@1=fault"}}), "kernel_fault", 5, "fault");
}

TEST_F(Replay, NamesWhatDoesNotFitBeforeAnythingIsLoaded) {
  const auto log = folder_ / "calls";
  expect_failure(full_vm({}, {{"HSA_SIM_ISA", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"},
                              {"HSA_SIM_LOG", log.string()}}),
                 "isa_mismatch", 4, "isa");
  EXPECT_THAT(test::text_of(log), ::testing::Not(HasSubstr("vmem_address_reserve")));
  EXPECT_THAT(test::text_of(log), ::testing::Not(HasSubstr("load_agent_code_object")));
  expect_failure(full_vm({}, {{"HSA_SIM_TABLE", "5.2.3"}, {"HSA_SIM_GPUS", "0"}}), "no_gpu", 4,
                 "no GPU");
  SampleCapture second = inplace_capture();
  second.description.machine.gpu_index = 1;
  second.description.machine.gpu_count = 2;
  second.regions[0].region.agent_index = 1;
  ASSERT_TRUE(second.write(folder_ / "second").has_value());
  expect_failure(run({"full-vm", "second"}), "no_gpu", 4, "second GPU");
  EXPECT_EQ(run({"full-vm", "second"}, {{"HSA_SIM_GPUS", "2"}}).exit_code, 0);

  SampleCapture lost = inplace_capture();
  lost.description.dispatch.kernel = "other";
  ASSERT_TRUE(lost.write(folder_ / "lost").has_value());
  const Outcome outcome = run({"full-vm", "lost", "--ignore-findings"});
  expect_failure(outcome, "kernel_not_found", 3, "kernel");
  EXPECT_THAT(outcome.err, HasSubstr("it has: empty, inplace"));
  EXPECT_EQ(run({"full-vm", "nowhere"}).exit_code, 3);
  EXPECT_EQ(run({"full-vm"}).exit_code, 2);
  EXPECT_EQ(full_vm({"--time-limit", "soon"}).exit_code, 2);
}

TEST_F(Replay, WithoutARuntimeSaysHowToGetOne) {
  const Outcome outcome = run({"full-vm", "capture"}, {{"LD_LIBRARY_PATH", "/nowhere"}}, false);
  if (outcome.exit_code == 0) GTEST_SKIP() << "this machine has a runtime of its own";
  expect_failure(outcome, "no_runtime", 4, "no runtime");
  const Outcome check =
      run({"reserve-check", "capture", "--json"}, {{"LD_LIBRARY_PATH", "/nowhere"}}, false);
  EXPECT_EQ(check.exit_code, 0) << check.err;
  const Json reservation = document("reservation", check.out);
  EXPECT_EQ(reservation["through"], "mmap");
  EXPECT_THAT(reservation["environment"]["no_runtime"].get<std::string>(),
              AllOf(HasSubstr("runtime"), Not(HasSubstr("no_runtime"))));
}

TEST_F(Replay, ReserveCheckAnswersWithItsExitCode) {
  const Outcome exact = run({"reserve-check", "--capture-dir", "capture", "--json"});
  EXPECT_EQ(exact.exit_code, 0) << exact.err;
  const Json good = document("reservation", exact.out);
  EXPECT_EQ(good["through"], "hsa");
  EXPECT_EQ(good["verdict"], "exact");
  EXPECT_EQ(good["ranges"][0]["base"], "0x200000000000");
  EXPECT_EQ(good["summary"]["bytes"], 12288);
  EXPECT_EQ(run({"reserve-check", "--capture-dir", "capture", "--json"}).out, exact.out);

  const auto faulty = [&](const char* fault) {
    return run({"reserve-check", "capture", "--json"}, {{"HSA_SIM_FAULT", fault}});
  };
  const Outcome moved = faulty("hsa_amd_vmem_address_reserve@1=relocate");
  EXPECT_EQ(moved.exit_code, 2) << moved.err;
  const Json relocated = document("reservation", moved.out);
  EXPECT_EQ(relocated["summary"]["relocated"], 1);
  EXPECT_THAT(relocated["environment"]["not_exact"][0]["returned"].get<std::string>(),
              StartsWith("0x"));
  const Outcome failed = faulty("hsa_amd_vmem_address_reserve@1=0x1008");
  EXPECT_EQ(failed.exit_code, 1) << failed.err;
  EXPECT_EQ(document("reservation", failed.out)["environment"]["not_exact"][0]["status"],
            "0x1008 (out of resources)");
  expect_failure(full_vm({}, {{"HSA_SIM_FAULT", "hsa_amd_vmem_address_reserve@1=relocate"}}),
                 "relocated", 1, "relocated");

  const Outcome probe = run({"reserve-check", "--details"}, {{"COLUMNS", "80"}});
  EXPECT_TRUE(probe.exit_code >= 0 && probe.exit_code <= 2) << probe.err;
  EXPECT_THAT(probe.out, HasSubstr("6 typical ranges"));
}

TEST_F(Replay, StepsAsideWhenItsOwnMappingsAreInTheWay) {
  const auto squat = [](int starts) {
    return Variables{{"LD_PRELOAD", PERFLAB_SQUATTER},
                     {"ASAN_OPTIONS", "verify_asan_link_order=0:intercept_tls_get_addr=0"},
                     {"SQUAT", fmt::format("0x200000001000:{}", starts)}};
  };
  for (const int starts : {1, 3, 4}) {  // out of the way at the last restart at the latest
    const Outcome outcome = full_vm({}, squat(starts));
    EXPECT_EQ(outcome.exit_code, 0) << starts << outcome.err;
    EXPECT_EQ(run({"reserve-check", "capture"}, squat(starts)).exit_code, 0);
  }
  const Outcome outcome = full_vm({"--json"}, squat(5));
  expect_failure(outcome, "occupied", 1, "squatter");
  EXPECT_THAT(outcome.err, HasSubstr("(r--p 200000001000-200000002000)"));
  const Outcome check = run({"reserve-check", "capture", "--details"}, squat(5));
  EXPECT_EQ(check.exit_code, 2) << check.err;
  EXPECT_THAT(check.out, HasSubstr("200000001000-200000002000)"));
}

// What the runtime does not look at in its reserved mode, the replay looks at itself.
TEST_F(Replay, InReservedModeTooNothingIsMappedOver) {
  SampleCapture sample = inplace_capture();
  sample.description.machine.address_mode = "reserved";
  // Two neighbours of different kinds.
  const std::vector<std::byte> bytes(4096, std::byte{7});
  test::SampleRegion& host = sample.add(test::kSampleBase + 0x3000, bytes, bytes);
  host.region.on_gpu = false;
  host.region.pool_flags = hsa::pool_fine_grained;
  ASSERT_TRUE(sample.write(folder_ / "reserved").has_value());
  const Outcome good = run({"full-vm", "reserved", "--json"});
  EXPECT_EQ(good.exit_code, 0) << good.err;
  const Variables squat{{"LD_PRELOAD", PERFLAB_SQUATTER},
                        {"ASAN_OPTIONS", "verify_asan_link_order=0:intercept_tls_get_addr=0"},
                        {"SQUAT", "0x200000001000:9"}};
  expect_failure(run({"full-vm", "reserved"}, squat), "occupied", 1, "squatter");
}

// Captured from a running program, in both address modes: nothing but the captured pages changes,
// so that no buffer of the runtime lies over the ranges (in its reserved mode it would put some
// there: its allocator of device memory knows nothing of reservations).
TEST_F(Replay, BringsBackWhatIsolateTookInBothAddressModes) {
  for (const char* const reserved : {"0", "1"}) {
    const std::string name = fmt::format("isolated{}", reserved);
    ProcessOptions options;
    options.set_environment = {{"LD_LIBRARY_PATH", PERFLAB_HSA_SIM_FOLDER}};
    if (*reserved == '1') options.set_environment.emplace_back("HSA_RESERVE_SVM", "1");
    const Outcome taken = rocm_perf(folder_.path(),
                                    {"isolate", "--kernel", "inplace", "--out", name, "--",
                                     std::string(PERFLAB_HSA_SIM_FOLDER) + "/hsa_sim_app",
                                     "--kernel", "inplace", "--regions", "30", "--n", "1024"},
                                    std::move(options));
    ASSERT_EQ(taken.exit_code, 0) << taken.err;
    EXPECT_EQ(run({"reserve-check", name}).exit_code, 0);
    const Outcome outcome = run({"full-vm", name, "--iterations", "3", "--json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json replay = document("replay", outcome.out);
    EXPECT_EQ(replay["execution"]["learned_pages"], 0) << name;
    EXPECT_EQ(replay["execution"]["restored_bytes_per_iteration"], 4096) << name;
    EXPECT_EQ(replay["notes"], Json::array()) << name;
  }
}

TEST_F(Replay, CtrlCEndsItBetweenTwoIterations) {
  ProcessOptions options;
  options.set_environment = {{"LD_LIBRARY_PATH", PERFLAB_HSA_SIM_FOLDER}};
  options.timeout = std::chrono::seconds(6);  // it has begun by then
  options.working_directory = folder_.path();
  options.standard_output = options.standard_error = StreamMode::capture;
  const auto result = run_program(
      {PERFLAB_PROGRAM, "replay", "full-vm", "capture", "--iterations", "1000000"}, options);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->exit_code, 130);
  EXPECT_EQ(result->output.tail, "");
  EXPECT_THAT(result->error.tail, HasSubstr("interrupted after "));
}

/// A tree of sysfs in which the stand-in's GPU has the amdgpu driver's sensors.
void write_sensors(const std::filesystem::path& tree, char power_limited) {
  const std::filesystem::path gpu = tree / "bus/pci/devices/0000:01:00.0";
  std::filesystem::create_directories(gpu / "hwmon/hwmon0");
  const auto put = [&](const std::string& file, const std::string& text) {
    ASSERT_TRUE(write_file_atomically(gpu / file, text));
  };
  put("vendor", "0x1002\n");
  put("hwmon/hwmon0/name", "amdgpu\n");
  put("hwmon/hwmon0/freq1_input", "2100000000\n");
  put("hwmon/hwmon0/freq2_input", "1300000000\n");
  put("hwmon/hwmon0/temp2_input", "51000\n");
  std::string metrics(120, '\0');  // version 1.3
  metrics[0] = 120;
  metrics[2] = 1;
  metrics[3] = 3;
  metrics[112] = power_limited;
  put("gpu_metrics", metrics);
}

TEST_F(Replay, FullVmSaysWhatTheSensorsSaidAroundItsTurns) {
  write_sensors(folder_ / "sys", 0);
  const Variables tree{{"PERFLAB_SYSFS", (folder_ / "sys").string()}};
  const Json calm = document("replay", full_vm({"--json"}, tree).out)["timing"];
  EXPECT_EQ(calm["iterations_per_turn"], 1);
  EXPECT_EQ(calm["conditions"]["source"], "sysfs");
  EXPECT_EQ(calm["conditions"]["repeated"], 0);
  ASSERT_EQ(calm["conditions"]["turns"].size(), 2U);
  EXPECT_EQ(calm["conditions"]["turns"][0]["core_mhz"], Json::array({2100, 2100}));
  EXPECT_EQ(calm["conditions"]["turns"][0]["throttled"], Json::array());
  EXPECT_EQ(calm["conditions"]["turns"][0]["power_w"], nullptr);
  EXPECT_EQ(calm["conditions"]["missing"][0]["field"], "power_w");

  write_sensors(folder_ / "sys", 1);
  const Outcome hot = full_vm({"--json"}, tree);
  ASSERT_EQ(hot.exit_code, 0) << hot.err;
  const Json conditions = document("replay", hot.out)["timing"]["conditions"];
  EXPECT_EQ(conditions["repeated"], 10);  // and no more
  EXPECT_EQ(conditions["disturbed"], 2);
  EXPECT_EQ(conditions["turns"][1]["disturbed"], "throttled: power");
  EXPECT_THAT(full_vm({"--details"}, tree).out, HasSubstr("10 of the turns were repeated"));

  const Json none = document("replay", full_vm({"--json"}).out)["timing"]["conditions"];
  EXPECT_EQ(none["source"], nullptr);
  EXPECT_THAT(none["no_source_because"].get<std::string>(), HasSubstr("0000:01:00.0"));
}

}  // namespace
}  // namespace perflab::cli
