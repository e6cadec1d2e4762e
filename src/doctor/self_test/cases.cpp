// The cases of the self test.
#include <fmt/format.h>

#include "doctor/self_test/case.h"

namespace perflab::doctor {
namespace {

using std::chrono::seconds;
using Words = std::vector<std::string>;
using Relation::at_least;
using Relation::contains;
using Relation::differs;
using Relation::equal;
using Relation::lacks;

/// The program as it is, without rocm-perf.
TestStep alone(Words program, std::string output = {}) {
  return {.name = "alone", .words = std::move(program), .alone = true, .output = std::move(output)};
}

TestStep isolate(const std::string& kernel, int dispatch, const Words& program) {
  TestStep step{.name = "isolate",
                .words = {"<rocm-perf>", "isolate", "--kernel", kernel, "--dispatch",
                          std::to_string(dispatch), "--out", "<dir>/capture", "--json", "--"},
                .document = "isolate",
                .checks = {{"/captured", equal, true},
                           {"/program", equal, "ok"},
                           {"/capture/ordinal", equal, dispatch}}};
  step.words.insert(step.words.end(), program.begin(), program.end());
  return step;
}

/// No finding that forbids a replay.
TestStep check_capture() {
  return {
      .name = "check",
      .words = {"<rocm-perf>", "capture", "check", "<dir>/capture", "--json"},
      .document = "capture",
      .checks = {{"/integrity/sound", equal, true}, {"/findings", lacks, {{"severity", "error"}}}}};
}

/// It is not replayed, for a reason that has a name.
TestStep check_refused(const char* rule) {
  TestStep step = check_capture();
  step.exits = {1};
  step.checks.back() = {"/findings", contains, {{"severity", "error"}, {"rule", rule}}};
  return step;
}

TestStep verify(const char* verdict, int exit_code, Words more = {}) {
  TestStep step{.name = "verify",
                .words = {"<rocm-perf>", "replay", "verify", "<dir>/capture", "--time-limit", "30s",
                          "--json"},
                .exits = {exit_code},
                .document = "certificate",
                .checks = {{"/verdict", equal, verdict}}};
  step.words.insert(step.words.end(), more.begin(), more.end());
  return step;
}

/// Exit code 3: refused before anything ran; there is no certificate.
TestStep verify_refused() {
  return {.name = "verify",
          .words = {"<rocm-perf>", "replay", "verify", "<dir>/capture", "--json"},
          .exits = {3}};
}

/// A capture that replays byte for byte, in both address modes.
TestCase capture(std::string id, std::string group, std::string shows, const std::string& kernel,
                 int dispatch, const Words& program) {
  return {.id = std::move(id),
          .group = std::move(group),
          .shows = std::move(shows),
          .steps = {alone(program), isolate(kernel, dispatch, program), check_capture(),
                    verify("bitwise", 0)},
          .both_modes = true};
}

TestCase launch(std::string id, std::string shows, const std::string& kernel, int dispatch = 1) {
  const Words program{"<bin:launches>", id};
  return capture(std::move(id), "launch", std::move(shows), kernel, dispatch, program);
}

TestCase memory(std::string id, std::string shows, const std::string& kernel = "advance") {
  const Words program{"<bin:memory>", id};
  return capture(std::move(id), "memory", std::move(shows), kernel, 1, program);
}

TestCase module(std::string id, std::string shows, const char* way, const char* file) {
  return capture(std::move(id), "module", std::move(shows), "scale_add", 2,
                 {"<bin:modules>", way, file});
}

/// The same with another end.
TestCase ending(TestCase test, std::vector<TestStep> last_steps) {
  test.steps.resize(2);
  for (TestStep& step : last_steps) test.steps.push_back(std::move(step));
  return test;
}

TestCase replay_times() {
  TestCase test =
      launch("in_place", "in place, dispatch 3 of 4; addresses and times", "in_place", 3);
  test.steps.push_back({.name = "reserve-check",
                        .words = {"<rocm-perf>", "replay", "reserve-check", "--capture-dir",
                                  "<dir>/capture", "--json"},
                        .document = "reservation",
                        .checks = {{"/verdict", equal, "exact"}, {"/through", equal, "hsa"}}});
  test.steps.push_back(
      {.name = "full-vm",
       .words = {"<rocm-perf>", "replay", "full-vm", "--capture-dir", "<dir>/capture",
                 "--iterations", "5", "--json"},
       .document = "replay",
       .checks = {{"/execution/iterations", equal, 5}, {"/timing/samples/4", at_least, 0}}});
  return test;
}

// --- candidates -----------------------------------------------------------------------------

TestCase candidate(std::string id, std::string shows, TestStep last) {
  const Words program{"<bin:polish>"};
  return {
      .id = std::move(id),
      .group = "candidates",
      .shows = std::move(shows),
      .steps = {alone(program), isolate("polish", 3, program), check_capture(), std::move(last)}};
}

TestStep verify_candidate(const char* verdict, int exit_code, const char* file) {
  TestStep step = verify(verdict, exit_code, {"--hsaco", file, "--type", "f32"});
  step.checks.push_back({"/original_reproduces", equal, true});
  step.checks.push_back({"/code_object/captured", equal, false});
  return step;
}

std::vector<TestCase> candidates() {
  TestStep empty = verify_candidate("differs", 1, "<bin:polish_empty_code>");
  empty.checks.push_back({"/regions/0/not_rewritten_bytes", at_least, 1});
  return {candidate("right_candidate", "a candidate with a quarter of the work is called equal",
                    verify_candidate("bitwise", 0, "<bin:polish_fast_code>")),
          candidate("wrong_candidate", "one with another constant is called different",
                    verify_candidate("differs", 1, "<bin:polish_wrong_code>")),
          candidate("empty_candidate", "one that writes nothing is called different", empty)};
}

// --- optimize -------------------------------------------------------------------------------

TestStep optimize(const Words& how, const char* candidate) {
  TestStep step{.name = "optimize",
                .words = {"<rocm-perf>",
                          "optimize",
                          "--type",
                          "f32",
                          "--rtol",
                          "1e-6",
                          "--atol",
                          "1e-7",
                          "--proposer",
                          fmt::format("exec:cat <src>/{}", candidate),
                          "--max-candidates",
                          "1",
                          "--perturbations",
                          "2",
                          "--time-limit",
                          "30s",
                          "--time-budget",
                          "<search-time>",
                          "--out",
                          "<dir>/optimization",
                          "--json"},
                .document = "optimization",
                .checks = {{"/candidates/0/decision/outcome", equal, "accepted"},
                           {"/accepted", differs, nullptr}},
                .undecided = {{"/candidates/0/decision/reason", equal, "undecided"},
                              {"/candidates/0/decision/outcome", equal, "open"},
                              {"/final/measurement/comparison/verdict", equal, "UNDECIDED"}}};
  step.words.insert(step.words.begin() + 2, how.begin(), how.end());
  return step;
}

/// The proof of what was accepted, read again.
TestStep recheck() {
  return {
      .name = "recheck",
      .words = {"<rocm-perf>", "optimize", "--recheck", "<dir>/optimization/optimization.json"}};
}

const Words kOnCapture{"<src>/polish.hip", "--capture", "<dir>/capture", "--iterations", "5"};
const Words kAsProgram{"--build",        "<hip-compile> {source} -o {build_dir}/app",
                       "--run",          "{build_dir}/app {seed} {build_dir}/out.bin",
                       "--output",       "{build_dir}/out.bin",
                       "--metric-regex", "^([0-9.]+)$",
                       "--metric-unit",  "ms"};

Words with(Words first, const Words& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

std::vector<TestCase> optimizations() {
  const Words program{"<bin:polish>"};
  TestStep refused = optimize(kOnCapture, "polish_wrong.hip");
  refused.exits = {1};
  refused.checks = {{"/candidates/0/decision/outcome", equal, "refused"},
                    {"/candidates/0/decision/reason", equal, "wrong_output"}};
  refused.undecided.clear();
  TestStep host = optimize(
      with({"<src>/polish.hip", "--host"},
           {"--build", "<compiler> -O2 -w -x c++ -I <src>/host {source} -o {build_dir}/app"}),
      "polish_fast.hip");
  host.words.insert(host.words.begin() + 6, kAsProgram.begin() + 2, kAsProgram.end());
  host.words.insert(host.words.end(), {"--", "-I", "<src>/host"});
  const std::vector<Need> reader{Need::source_reader};
  return {
      {.id = "optimize_capture",
       .group = "optimize",
       .shows = "on a capture: a faster candidate is accepted, the proof holds",
       .steps = {alone(program), isolate("polish", 3, program),
                 optimize(kOnCapture, "polish_fast.hip"), recheck()},
       .needs = reader,
       .limit = seconds{150}},
      {.id = "optimize_wrong",
       .group = "optimize",
       .shows = "on a capture: a wrong candidate is refused",
       .steps = {alone(program), isolate("polish", 3, program), refused},
       .needs = reader,
       .limit = seconds{90}},
      {.id = "optimize_program",
       .group = "optimize",
       .shows = "as a program on the GPU: a faster candidate is accepted",
       .steps = {optimize(with({"<src>/polish.hip"}, kAsProgram), "polish_fast.hip"), recheck()},
       .needs = reader,
       .limit = seconds{120}},
      {.id = "optimize_host",
       .group = "optimize",
       .shows = "as a program on the CPU: a faster candidate is accepted",
       .steps = {host, recheck()},
       .needs = reader,
       .limit = seconds{60}},
      {.id = "optimize_application",
       .group = "optimize",
       .shows = "an application: its hottest kernel, timed by rocprofv3",
       .steps = {alone(program),
                 optimize(with({"<bin:polish>", "--source", "<src>/polish.hip", "--rocprofv3"},
                               Words(kAsProgram.begin(), kAsProgram.begin() + 6)),
                          "polish_fast.hip"),
                 recheck()},
       .needs = {Need::source_reader, Need::profiler},
       .limit = seconds{150}}};
}

// --- profile and compare --------------------------------------------------------------------

TestStep rocprofv3(const Words& options) {
  TestStep step = alone({"<rocprofv3>"});
  step.name = "rocprofv3";
  step.words =
      with(with(step.words, options), {"-d", "<dir>/alone", "-o", "alone", "--", "<bin:polish>"});
  return step;
}

TestStep profile(const Words& options, std::vector<FieldCheck> checks,
                 const char* program = "<bin:polish>") {
  TestStep step{.name = "profile",
                .words = with(with({"<rocm-perf>", "profile", "--json", "--quiet"}, options),
                              {"--", program}),
                .document = "profile",
                .checks = std::move(checks)};
  return step;
}

std::vector<TestCase> profiles() {
  return {
      {.id = "profile",
       .group = "profile",
       .shows = "rocprofv3's times of every dispatch, three runs",
       .steps = {rocprofv3({"--kernel-trace"}), profile({"--runs", "3", "--out", "<dir>/profile"},
                                                        {{"/kernel/dispatches", equal, 9},
                                                         {"/runtime/median_ns", at_least, 1},
                                                         {"/stability/runs/2/dispatches", equal, 9},
                                                         {"/resources", differs, nullptr},
                                                         {"/code_object", differs, nullptr}})},
       .needs = {Need::profiler}},
      {.id = "profile_counters",
       .group = "profile",
       .shows = "counters and the roofline",
       .steps = {rocprofv3({"--pmc", "SQ_WAVES"}),
                 profile({"--roofline", "--out", "<dir>/profile"},
                         {{"/kernel/dispatches", equal, 9}, {"/roofline", differs, nullptr}})},
       .needs = {Need::profiler},
       .limit = seconds{120}}};
}

TestStep compare(const Words& inputs) {
  return {.name = "compare",
          .words = with({"<rocm-perf>", "compare", "--json"}, inputs),
          .document = "comparison",
          .checks = {{"/kernels", contains, {{"verdict", "FASTER"}}}},
          .undecided = {{"/kernels", contains, {{"verdict", "UNDECIDED"}}}}};
}

std::vector<TestCase> comparisons() {
  TestStep slow = alone({"<bin:polish>"}, "<dir>/slow.txt");
  TestStep fast = alone({"<bin:polish_fast>"}, "<dir>/fast.txt");
  slow.name = "slow";
  fast.name = "fast";
  TestStep faster = compare({"--a", "<dir>/slow.txt", "--b", "<dir>/fast.txt", "--unit", "ms"});
  TestStep slower = compare({"--a", "<dir>/fast.txt", "--b", "<dir>/slow.txt", "--unit", "ms"});
  slower.name = "compare back";
  slower.exits = {1};
  slower.checks = {{"/verdict", equal, "regression"},
                   {"/kernels", contains, {{"verdict", "SLOWER"}}}};
  slower.undecided.clear();
  TestStep profiled_slow = profile({"--runs", "5", "--out", "<dir>/slow"}, {});
  TestStep profiled_fast = profile({"--runs", "5", "--out", "<dir>/fast"}, {}, "<bin:polish_fast>");
  profiled_slow.name = "profile slow";
  profiled_fast.name = "profile fast";
  TestStep profiles_compared = compare({"<dir>/slow", "<dir>/fast", "--kernel", "polish"});
  return {
      {.id = "compare",
       .group = "compare",
       .shows = "times of two programs: faster one way, a regression back",
       .steps = {slow, fast, faster, slower}},
      {.id = "compare_profiles",
       .group = "compare",
       .shows = "profiles of two programs, five runs each",
       .steps = {rocprofv3({"--kernel-trace"}), profiled_slow, profiled_fast, profiles_compared},
       .needs = {Need::profiler},
       .limit = seconds{90}}};
}

// --- all of them ----------------------------------------------------------------------------

std::vector<TestCase> special_captures() {
  TestStep wrote_nothing = check_capture();
  wrote_nothing.checks.push_back({"/totals/changed_pages", equal, 0});
  TestStep of_other = check_refused("not_captured");
  of_other.checks.push_back({"/regions", contains, {{"origin", "ipc"}, {"image", nullptr}}});
  TestStep of_host = check_refused("not_captured");
  of_host.checks.push_back({"/regions", contains, {{"origin", "locked"}, {"image", nullptr}}});
  TestCase second = launch("second_gpu", "a dispatch on the second GPU", "second_of_three");
  second.steps[2].checks.push_back({"/machine/gpu_index", equal, 1});
  TestCase shared =
      ending(memory("ipc", "memory of another process: refused by name", "read_shared"),
             {of_other, verify_refused()});
  return {ending(launch("racy", "a racy kernel is called racy", "racy_sums", 2),
                 {check_capture(), verify("not_deterministic", 0, {"--runs", "6"})}),
          ending(launch("nothing", "a kernel that writes nothing proves nothing", "writes_nothing"),
                 {wrote_nothing, verify("proves_nothing", 1)}),
          ending(launch("printf", "printf needs the old process: refused by name", "prints"),
                 {check_refused("hidden_hostcall"), verify_refused()}),
          ending(memory("registered", "registered host memory: refused by name"),
                 {of_host, verify_refused()}),
          std::move(shared),
          std::move(second)};
}

std::vector<TestCase> captures() {
  return {
      launch("several", "the second of three kernels in one code object", "second_of_three"),
      launch("list", "a linked list over 60 allocations", "walk_list"),
      launch("pointer_table", "a table of pointers to 24 buffers", "pointer_table"),
      launch("back_to_back", "dispatch 20 of 40 without waiting", "in_place", 20),
      launch("dynamic_lds", "dynamic LDS", "reverse_blocks"),
      launch("atomics", "integer atomics", "count_values"),
      launch("variables", "__constant__ and __device__ variables", "use_variables", 2),
      module("module_file", "hipModuleLoad of a file", "file", "<bin:module>"),
      module("module_packed", "arguments in one packed buffer, as Triton does", "packed",
             "<bin:module>"),
      launch("struct", "a struct of 176 bytes by value", "wide_struct"),
      launch("templates", "one of two instances of a template", "scaled<float"),
      launch("graph", "the second kernel of a graph, launched twice", "in_place", 2),
      launch("streams", "four streams", "in_place", 7),
      launch("scratch", "scratch memory", "use_scratch"),
      launch("grid_3d", "a 3-D grid larger than the work", "grid_3d"),
      memory("managed", "managed memory"),
      memory("pinned", "pinned host memory"),
      memory("stream_ordered", "stream-ordered memory (hipMallocAsync)"),
      memory("vmm", "virtual memory management (hipMemMap)"),
      memory("sparse", "200 MB, of which eight pages are used", "touch_sparse"),
      memory("neighbours", "buffers whose neighbours were freed"),
      launch("cooperative", "a cooperative launch", "together"),
      module("module_data", "hipModuleLoadData", "data", "<bin:module>"),
      module("module_data_ex", "hipModuleLoadDataEx", "data_ex", "<bin:module>"),
      module("module_compressed", "a compressed bundle", "data", "<bin:module_compressed>"),
      capture("twenty", "module", "a library with twenty code objects", "part_13", 1,
              {"<bin:twenty>", "<bin:library>"}),
      module("hiprtc", "a kernel compiled at run time by hiprtc", "compiled", "<arch>"),
      launch("processes", "one of two processes", "in_place", 2),
  };
}

}  // namespace

std::vector<TestCase> test_cases() {
  std::vector<TestCase> all{replay_times()};
  const auto add = [&all](std::vector<TestCase> more) {
    for (TestCase& test : more) all.push_back(std::move(test));
  };
  add(candidates());
  add(optimizations());
  add(profiles());
  add(comparisons());
  add(captures());
  add(special_captures());
  return all;
}

}  // namespace perflab::doctor
