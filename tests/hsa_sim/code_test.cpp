// Code objects and kernels: docs/facts/hsa_runtime.md "Code of HIP", "Variables and symbols",
// "Dispatch", its "Statuses" that belong there, and the bodies that other tests rely on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>
#include <set>

#include "base/temp_folder.h"
#include "code/object/code_object.h"
#include "hsa/loader_table.h"
#include "hsa_sim/sim_session.h"

namespace perflab::test {
namespace {

using namespace hsa;
using namespace hsa::sim;

constexpr std::uint32_t kFlagsOfGfx90a = 0x53f;  // as kFlags in the writer, mach 0x3f
constexpr std::uint32_t kCount = 256;

struct Loader : SimSession {
  using SimSession::SimSession;

  [[nodiscard]] CodeObjectReader reader(const std::string& bytes) const {
    CodeObjectReader made{};
    EXPECT_EQ(api.core.code_object_reader_create_from_memory(bytes.data(), bytes.size(), &made),
              success);
    return made;
  }
  [[nodiscard]] Executable executable() const {
    Executable made{};
    EXPECT_EQ(
        api.core.executable_create_alt(Profile::full, RoundingMode::by_default, nullptr, &made),
        success);
    return made;
  }
  [[nodiscard]] Status load_into(Executable into, CodeObjectReader from, Agent agent) const {
    return api.core.executable_load_agent_code_object(into, agent, from, nullptr, nullptr);
  }
  [[nodiscard]] Status find(Executable in, const char* name, const Agent* agent) const {
    ExecutableSymbol unused{};
    return api.core.executable_get_symbol_by_name(in, name, agent, &unused);
  }
  [[nodiscard]] std::vector<std::string> listed(Executable of) const {
    struct List {
      const Loader* session;
      std::vector<std::string> names;
    } list{this, {}};
    api.core.executable_iterate_agent_symbols(
        of, gpu,
        [](Executable, Agent, ExecutableSymbol symbol, void* data) {
          auto& to = *static_cast<List*>(data);
          to.names.push_back(to.session->name_of(symbol));
          return success;
        },
        &list);
    return list.names;
  }
  [[nodiscard]] std::string name_of(ExecutableSymbol symbol) const {
    std::string name(symbol_info<std::uint32_t>(symbol, symbol_info::name_length), '\0');
    EXPECT_EQ(api.core.executable_symbol_get_info(symbol, symbol_info::name, name.data()), success);
    return name;
  }
};

namespace info = hsa::symbol_info;

TEST(HsaSimCode, AnswersMisuseWithTheRealStatuses) {
  const Loader session;
  const Core& core = session.api.core;
  const std::string object = sim_code_object({{.name = "inplace"}});
  CodeObjectReader unused{};
  EXPECT_EQ(core.code_object_reader_create_from_memory(nullptr, 5, &unused),
            Status::invalid_argument);
  EXPECT_EQ(core.code_object_reader_create_from_memory(object.data(), 0, &unused),
            Status::invalid_argument);
  EXPECT_EQ(core.code_object_reader_create_from_file(-1, &unused), Status::invalid_argument);
  EXPECT_EQ(core.code_object_reader_create_from_file(9999, &unused), Status::invalid_file);

  const Executable executable = session.executable();
  const std::string other = sim_code_object(SimObject{.kernels = {{.name = "inplace"}},
                                                      .flags = kFlagsOfGfx90a,
                                                      .target = "amdgcn-amd-amdhsa--gfx90a"});
  EXPECT_EQ(session.load_into(executable, session.reader(other), session.gpu),
            Status::incompatible_arguments);
  EXPECT_EQ(session.load_into(executable, session.reader(object), session.cpu),
            Status::incompatible_arguments);
  const std::string bundle = "__CLANG_OFFLOAD_BUNDLE__ and more";
  EXPECT_EQ(session.load_into(executable, session.reader(bundle), session.gpu),
            Status::invalid_code_object);
  const std::string half = object.substr(0, object.size() / 2);
  EXPECT_EQ(session.load_into(executable, session.reader(half), session.gpu),
            Status::invalid_code_object);
  const CodeObjectReader gone = session.reader(object);
  EXPECT_EQ(core.code_object_reader_destroy(gone), success);
  EXPECT_EQ(core.code_object_reader_destroy(gone), Status::invalid_code_object_reader);
  EXPECT_EQ(session.load_into(executable, gone, session.gpu), Status::invalid_code_object_reader);

  EXPECT_EQ(core.executable_freeze(executable, nullptr), success);
  EXPECT_TRUE(session.listed(executable).empty()) << "nothing was loaded";
  EXPECT_EQ(core.executable_freeze(executable, nullptr), Status::frozen_executable);
  EXPECT_EQ(session.load_into(executable, session.reader(object), session.gpu),
            Status::frozen_executable);
  EXPECT_EQ(core.executable_destroy(executable), success);
  EXPECT_DEATH(core.executable_destroy(executable), "executable is destroyed");
}

TEST(HsaSimCode, FindsSymbolsByTheirExactNames) {
  Loader session;
  const Executable executable = session.load(sim_code_object({{.name = "inplace"}}));
  EXPECT_EQ(session.find(executable, "inplace.kd", &session.gpu), success);
  EXPECT_EQ(session.find(executable, "inplace", &session.gpu), Status::invalid_symbol_name);
  EXPECT_EQ(session.find(executable, "vadd.kd", &session.gpu), Status::invalid_symbol_name);
  EXPECT_EQ(session.find(executable, "inplace.kd", nullptr), Status::invalid_symbol_name);
  const Executable stripped =
      session.load(sim_code_object(SimObject{.kernels = {{.name = "inplace"}}, .stripped = true}));
  EXPECT_EQ(session.find(stripped, "inplace.kd", &session.gpu), Status::invalid_symbol_name);
  EXPECT_TRUE(session.listed(stripped).empty());
  int value = 0;
  EXPECT_EQ(session.api.core.executable_symbol_get_info(ExecutableSymbol{4711}, info::type, &value),
            Status::invalid_executable_symbol);
}

TEST(HsaSimCode, LoadsOnlyCodeWhoseFeaturesFit) {
  Loader session(Set{"HSA_SIM_ISA", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"});
  const auto status = [&](std::uint32_t flags) {
    const std::string object = sim_code_object(
        SimObject{.kernels = {{.name = "inplace"}}, .flags = flags, .target = "any"});
    return session.load_into(session.executable(), session.reader(object), session.gpu);
  };
  EXPECT_EQ(status(kFlagsOfGfx90a), success);
  EXPECT_EQ(status(0x63f), success) << "xnack off";
  EXPECT_EQ(status(0x73f), Status::incompatible_arguments) << "xnack on";
  EXPECT_EQ(status(0x54c), Status::incompatible_arguments) << "gfx942";
}

// "Variables and symbols": they lie in the image, with what the file has in them.
TEST(HsaSimCode, HasVariablesInItsImage) {
  Loader session;
  const Executable executable = session.load(
      sim_code_object(SimObject{.kernels = {{.name = "scale"}, {.name = "accumulate"}},
                                .variables = {{.name = "factor", .bytes = bytes_of(3.0F)}}}));
  const ExecutableSymbol factor = session.symbol(executable, "factor");
  EXPECT_EQ(session.symbol_info<SymbolKind>(factor, info::type), SymbolKind::variable);
  EXPECT_EQ(session.symbol_info<std::uint32_t>(factor, info::variable_size), 4U);
  const auto address = session.symbol_info<std::uint64_t>(factor, info::variable_address);
  EXPECT_EQ(*reinterpret_cast<const float*>(address), 3.0F);
  EXPECT_EQ(session.symbol_info<std::uint64_t>(factor, info::kernel_object), address);
  EXPECT_EQ(session.listed(executable).size(), 4U) << "two kernels and two variables";
  PointerInfo pointer{};
  pointer.size = sizeof pointer;
  EXPECT_EQ(session.api.amd.pointer_info(reinterpret_cast<void*>(address), &pointer, nullptr,
                                         nullptr, nullptr),
            success);
  EXPECT_EQ(pointer.type, PointerType::unknown) << "no pool gave it";
}

TEST(HsaSimCode, TellsTheFiguresOfItsKernels) {
  Loader session;
  const Executable executable = session.load(sim_code_object({{.name = "_Z3addPKfS0_Pfj",
                                                               .body = "vadd",
                                                               .group_segment_bytes = 1024,
                                                               .private_segment_bytes = 16}}));
  const ExecutableSymbol kernel = session.symbol(executable, "_Z3addPKfS0_Pfj.kd");
  const auto figure = [&](std::uint32_t attribute) {
    return session.symbol_info<std::uint32_t>(kernel, attribute);
  };
  EXPECT_EQ(session.symbol_info<SymbolKind>(kernel, info::type), SymbolKind::kernel);
  EXPECT_EQ(figure(info::kernarg_segment_size), 32U + 256U);
  EXPECT_EQ(figure(info::kernarg_segment_alignment), 16U);
  EXPECT_EQ(figure(info::group_segment_size), 1024U);
  EXPECT_EQ(figure(info::private_segment_size), 16U);
  EXPECT_FALSE(session.symbol_info<bool>(kernel, info::dynamic_callstack));
  EXPECT_EQ(session.symbol_info<Agent>(kernel, info::agent), session.gpu);
}

// "Variables and symbols": a prototype took the first; here too that is another one each time.
TEST(HsaSimCode, ListsItsSymbolsInAnOrderThatChanges) {
  Loader session;
  const std::string object = sim_code_object({{.name = "vadd"},
                                              {.name = "inplace"},
                                              {.name = "slow"},
                                              {.name = "reverse"},
                                              {.name = "empty"}});
  std::set<std::vector<std::string>> orders;
  for (int i = 0; i < 20; ++i) orders.insert(session.listed(session.load(object)));
  EXPECT_GT(orders.size(), 1U);
}

TEST(HsaSimCode, IsReadByTheProjectsReader) {
  const auto object = code::read_code_object(
      sim_code_object({{.name = "scale"}, {.name = "f", .body = "sum_f32"}}), "sample");
  ASSERT_TRUE(object.has_value()) << describe(object.error());
  EXPECT_TRUE(object->problems.empty());
  ASSERT_EQ(object->kernels.size(), 2U);
  EXPECT_EQ(object->kernels[1].kernarg_bytes, 24 + 256);
  ASSERT_TRUE(object->kernels[1].descriptor.has_value());
  EXPECT_EQ(object->kernels[1].descriptor->kernarg_bytes, 280U);
}

TEST(HsaSimCode, FromAFileIsTheSame) {
  Loader session;
  const TempFolder folder;
  const auto path = folder.write("k.hsaco", sim_code_object({{.name = "inplace"}}));
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CodeObjectReader reader{};
  EXPECT_EQ(session.api.core.code_object_reader_create_from_file(file, &reader), success);
  ::close(file);
  const Executable executable = session.executable();
  EXPECT_EQ(session.load_into(executable, reader, session.gpu), success);
  EXPECT_EQ(session.listed(executable), std::vector<std::string>{"inplace.kd"});
}

/// Runs one kernel on an array of 0, 1, 2, ... and returns the array.
struct KernelRun {
  explicit KernelRun(const SimKernel& which) : kernel(which.name) {
    executable = session.load(sim_code_object({which}));
    x = session.allocate<float>(kCount);
    std::iota(x, x + kCount, 0.0F);
  }
  template <class Arguments>
  void run(const Arguments& arguments, std::uint32_t lds = 0) {
    const Signal done = session.signal();
    KernelDispatchPacket packet = session.packet(executable, kernel, arguments, done);
    packet.group_segment_size = lds;
    session.submit(session.queue(), {packet});
    EXPECT_TRUE(session.wait(done));
  }
  void run_on_array(std::uint32_t lds = 0) { run(ArrayArguments{.x = x, .n = kCount}, lds); }

  SimSession session;
  std::string kernel;
  Executable executable{};
  float* x = nullptr;
};

// "Unreported mistakes": too little LDS is not reported, the result is wrong.
TEST(HsaSimKernels, NeedTheLdsOfThePacket) {
  KernelRun right({.name = "reverse"});
  right.run_on_array(64 * 4);
  EXPECT_EQ(right.x[0], 63);
  EXPECT_EQ(right.x[64], 127);
  KernelRun wrong({.name = "reverse"});
  wrong.run_on_array();
  EXPECT_NE(wrong.x[0], 63);
}

TEST(HsaSimKernels, UseTheVariablesOfTheirObject) {
  KernelRun scale({.name = "scale"});
  scale.run_on_array();
  EXPECT_EQ(scale.x[3], 7.5F);
  KernelRun sum({.name = "accumulate"});
  sum.run_on_array();
  const auto total = sum.session.symbol_info<std::uint64_t>(
      sum.session.symbol(sum.executable, "total"), info::variable_address);
  EXPECT_EQ(*reinterpret_cast<const float*>(total), 255.0F * 128);
}

TEST(HsaSimKernels, HaveTheBodyThatTheirObjectNames) {
  KernelRun skips({.name = "inplace", .body = "inplace_skips"});
  skips.run_on_array();
  EXPECT_EQ(skips.x[5], 6);
  EXPECT_EQ(skips.x[6], 6) << "left alone";
  KernelRun empty({.name = "inplace", .body = "empty"});
  empty.run_on_array();
  EXPECT_EQ(empty.x[5], 5);
}

TEST(HsaSimKernels, MayDifferFromRunToRun) {
  KernelRun random({.name = "atomic_order"});
  std::set<float> seen;
  for (int i = 0; i < 4; ++i) {
    random.run_on_array();
    seen.insert(random.x[0]);
    EXPECT_EQ(random.x[9], random.x[0] + 9);
  }
  EXPECT_GT(seen.size(), 1U);
}

TEST(HsaSimKernels, AddUpInTwoOrders) {
  float sums[2] = {};
  for (const int which : {0, 1}) {
    KernelRun run({.name = "sum_f32", .body = which == 0 ? "sum_f32" : "sum_f32_reassociated"});
    for (std::uint32_t i = 0; i < kCount; ++i) run.x[i] = 1.0F / static_cast<float>(i + 1);
    auto* const out = run.session.allocate<float>(1);
    run.run(SumArguments{.x = run.x, .out = out, .n = kCount});
    sums[which] = *out;
  }
  EXPECT_NE(sums[0], sums[1]);
  EXPECT_NEAR(sums[0], sums[1], 1e-5);
}

TEST(HsaSimKernels, MayWriteBehindTheirBuffer) {
  KernelRun run({.name = "vadd_oob"});
  auto* const b = run.session.allocate<float>(kCount);
  auto* const c = run.session.allocate<float>(kCount + 1);
  run.run(VaddArguments{.a = run.x, .b = b, .c = c, .n = kCount});
  EXPECT_EQ(c[kCount - 1], 255);
  EXPECT_EQ(c[kCount], -1);
}

TEST(HsaSimKernels, ChaseRealPointers) {
  KernelRun run({.name = "chase"});
  auto* const nodes = run.session.allocate<ChaseNode>(4);
  auto* const far = run.session.allocate<ChaseNode>(300'000);
  auto* const sum = run.session.allocate<std::uint64_t>(1);
  far[200'000] = {.next = nullptr, .value = 100};
  nodes[3] = {.next = far + 200'000, .value = 10};
  nodes[0] = {.next = nodes + 3, .value = 1};
  run.run(ChaseArguments{.head = nodes, .sum = sum, .steps = 9});
  EXPECT_EQ(*sum, 111U);
}

LoaderTable asked_table(const SimSession& session, std::size_t bytes) {
  LoaderTable table;
  std::memset(static_cast<void*>(&table), 0x5a, sizeof table);
  EXPECT_EQ(session.api.core.system_get_major_extension_table(0x201, 1, bytes, &table), success);
  return table;
}

// As much as is asked for and there is; the rest stays as it was.
TEST(HsaSimLoader, CopiesItsTable) {
  const SimSession session;
  LoaderTable untouched;
  std::memset(static_cast<void*>(&untouched), 0x5a, sizeof untouched);
  const LoaderTable all = asked_table(session, sizeof all), some = asked_table(session, 40);
  EXPECT_NE(all.code_object_reader_create_from_file_with_offset_size,
            untouched.code_object_reader_create_from_file_with_offset_size);
  EXPECT_EQ(all.executable_load_agent_code_object_at_address,
            untouched.executable_load_agent_code_object_at_address)
      << "of 1.4, and this is 1.3";
  EXPECT_EQ(some.loaded_code_object_get_info, all.loaded_code_object_get_info);
  EXPECT_EQ(some.code_object_reader_create_from_file_with_offset_size,
            untouched.code_object_reader_create_from_file_with_offset_size);
  LoaderTable table{};
  const Core& core = session.api.core;
  EXPECT_EQ(core.system_get_extension_table(0x201, 1, 2, &table), success);
  EXPECT_EQ(table.iterate_executables, nullptr);
  EXPECT_EQ(core.system_get_extension_table(0x201, 1, 4, &table), Status::invalid_argument);
  EXPECT_EQ(core.system_get_major_extension_table(0x201, 1, 0, &table), Status::invalid_argument);
  EXPECT_EQ(core.system_get_major_extension_table(0x201, 2, 56, &table), Status::error);
  EXPECT_EQ(core.system_get_major_extension_table(0x202, 1, 56, &table), Status::error);
}

TEST(HsaSimLoader, SaysWhereCodeCameFrom) {
  const Loader session;
  const LoaderTable loader = asked_table(session, sizeof loader);
  const std::string object = sim_code_object({{.name = "inplace"}});
  const TempFolder folder;
  const std::string path = folder.write("a b#1", "12345" + object + "6").string();
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CodeObjectReader reader{};
  const auto read = [&](std::size_t offset, std::size_t size) {
    return loader.code_object_reader_create_from_file_with_offset_size(opened, offset, size,
                                                                       &reader);
  };
  EXPECT_EQ(read(5, 0), Status::invalid_code_object);
  EXPECT_EQ(read(1U << 20U, 5), Status::invalid_code_object);
  ASSERT_EQ(read(5, object.size()), success);
  ::close(opened);
  const Executable executable = session.executable();
  LoadedCodeObject loaded{};
  ASSERT_EQ(session.api.core.executable_load_agent_code_object(executable, session.gpu, reader,
                                                               nullptr, &loaded),
            success);
  std::vector<LoadedCodeObject> listed;
  loader.executable_iterate_loaded_code_objects(
      executable,
      [](Executable, LoadedCodeObject one, void* list) {
        static_cast<std::vector<LoadedCodeObject>*>(list)->push_back(one);
        return success;
      },
      &listed);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].handle, loaded.handle);
  const auto info = [&]<class T>(std::uint32_t attribute, T) {
    T value{};
    EXPECT_EQ(loader.loaded_code_object_get_info(loaded, attribute, &value), success) << attribute;
    return value;
  };
  using namespace loaded_code_info;
  std::string text(info(uri_length, std::uint32_t{}), '\0');
  EXPECT_EQ(loader.loaded_code_object_get_info(loaded, uri, text.data()), success);
  EXPECT_EQ(text, "file://" + folder.path().string() +
                      "/a%20b%231#offset=5&size=" + std::to_string(object.size()));
  EXPECT_EQ(info(storage_type, std::uint32_t{}), storage_memory);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(info(memory_base, std::uint64_t{})),
                             info(memory_size, std::uint64_t{})),
            object);
  EXPECT_EQ(info(load_base, std::uint64_t{}),
            static_cast<std::uint64_t>(info(load_delta, std::int64_t{})));
  EXPECT_EQ(loader.loaded_code_object_get_info(loaded, file, &text), Status::invalid_argument);
  EXPECT_EQ(loader.loaded_code_object_get_info({77}, uri_length, &text),
            Status::invalid_code_object);
}

}  // namespace
}  // namespace perflab::test
