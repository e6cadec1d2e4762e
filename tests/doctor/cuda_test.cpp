// What doctor makes of NVIDIA's driver and CUPTI, by answers of a process.
#include "doctor/cuda.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/temp_folder.h"

namespace perflab::doctor {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CudaMachine : public testing::Test {
 protected:
  CudaMachine() {
    places.devices = folder_ / "dev";
    places.system = folder_ / "sys";
    places.processes = folder_ / "proc";
    fs::create_directories(places.devices);
  }
  void driver() const { std::ofstream(places.devices / "nvidiactl") << ""; }
  void answers(const std::string& json) {
    places.cuda_command = {"sh", "-c", "echo '" + json + "'"};
  }
  void params(const std::string& text) const {
    fs::create_directories(places.processes / "driver/nvidia");
    std::ofstream(places.processes / "driver/nvidia/params") << text;
  }
  std::vector<Part> parts() {
    Result<std::vector<Part>> found = cuda_parts(places, gpus_);
    EXPECT_TRUE(found.has_value());
    return found ? std::move(*found) : std::vector<Part>{};
  }

  Places places;
  std::vector<Gpu> gpus_;
  test::TempFolder folder_;
  test::ScopedVariable library_{"PERFLAB_RECORD_LIBRARY", "/no/such/library.so"};
};

constexpr const char* kGood =
    R"({"driver":{"path":"/lib/libcuda.so.1","version":"13.0","gpus":[{"processor":"sm_90",)"
    R"("product":"NVIDIA H100 80GB HBM3","compute_units":132}]},)"
    R"("cupti":{"path":"/lib/libcupti.so.13","version":130001}})";

TEST_F(CudaMachine, WithoutTheDriverHasNoParts) {
  answers(kGood);
  EXPECT_TRUE(parts().empty());
  EXPECT_TRUE(gpus_.empty());
}

TEST_F(CudaMachine, SaysDriverGpusCuptiAndLibrary) {
  driver();
  answers(kGood);
  params("RmProfilingAdminOnly: 0\nOther: 1\n");
  const std::vector<Part> found = parts();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].need, Need::cuda_driver);
  EXPECT_EQ(found[0].state, State::works);
  EXPECT_EQ(found[0].version, "13.0");
  EXPECT_THAT(found[0].details.at(0), HasSubstr("open to all users"));
  EXPECT_EQ(found[1].need, Need::cupti);
  EXPECT_EQ(found[1].state, State::works);
  EXPECT_EQ(found[1].version, "130001");
  EXPECT_EQ(found[2].need, Need::record_library);
  EXPECT_EQ(found[2].state, State::missing);
  ASSERT_EQ(gpus_.size(), 1U);
  EXPECT_EQ(gpus_[0].processor, "sm_90");
  EXPECT_EQ(gpus_[0].compute_units, 132);
  EXPECT_TRUE(gpus_[0].known);
}

TEST_F(CudaMachine, SaysThatCountersAreForRoot) {
  driver();
  answers(kGood);
  params("RmProfilingAdminOnly: 1\n");
  EXPECT_THAT(parts().at(0).details.at(0), HasSubstr("root alone"));
}

TEST_F(CudaMachine, SaysWhatDoesNotWork) {
  driver();
  answers(R"({"driver":{"path":"/lib/libcuda.so.1","problem":"it does not start: X"},)"
          R"("cupti":{"path":"","version":0,"problem":"not found"}})");
  const std::vector<Part> found = parts();
  EXPECT_EQ(found.at(0).state, State::unusable);
  EXPECT_EQ(found.at(0).problem, "it does not start: X");
  EXPECT_EQ(found.at(1).state, State::missing);
  EXPECT_FALSE(found.at(1).remedy.empty());
}

TEST_F(CudaMachine, OutlivesADriverThatCrashes) {
  driver();
  places.cuda_command = {"sh", "-c", "kill -SEGV $$"};
  const std::vector<Part> found = parts();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].state, State::unusable);
  EXPECT_THAT(found[0].problem, HasSubstr("SIGSEGV"));
  EXPECT_EQ(found[1].state, State::missing);
}

Part part_in_state(Need need, State state) {
  return {.need = need, .state = state, .title = std::string(to_string(need))};
}

TEST(CudaReadiness, ProfileNeedsOneOfThePlatforms) {
  const auto readiness_with = [](State amd, State cuda) {
    return readiness({part_in_state(Need::driver, amd), part_in_state(Need::profiler, amd),
                      part_in_state(Need::decoder, amd), part_in_state(Need::cuda_driver, cuda),
                      part_in_state(Need::cupti, cuda), part_in_state(Need::record_library, cuda)},
                     {"profile"})
        ->at(0)
        .readiness;
  };
  EXPECT_EQ(readiness_with(State::missing, State::works), Readiness::ready);
  EXPECT_EQ(readiness_with(State::works, State::missing), Readiness::ready);
  EXPECT_EQ(readiness_with(State::missing, State::unusable), Readiness::not_ready);
}

}  // namespace
}  // namespace perflab::doctor
