// The structures of PC sampling, their sizes as CUPTI wants them and their numbers, against the
// toolkit's header (CUPTI_API_VERSION 130001). Compiled where the build found it.
#include <gtest/gtest.h>

#ifdef PERFLAB_CUPTI_HEADERS
#include <cuda.h>
#include <cupti_pcsampling.h>

#include <cstddef>

#include "cuda/pc_sampling_types.h"
#include "cuda/same_field.h"

namespace perflab::cuda {
namespace {

TEST(PcSamplingLayout, StallCount) {
  using Ours = PcStallCount;
  using Theirs = CUpti_PCSamplingStallReason;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(reason, pcSamplingStallReasonIndex);
  SAME_FIELD(samples, samples);
}

TEST(PcSamplingLayout, Pc) {
  using Ours = PcSamplingPc;
  using Theirs = CUpti_PCSamplingPCData;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(size, size);
  SAME_FIELD(cubin_crc, cubinCrc);
  SAME_FIELD(offset, pcOffset);
  SAME_FIELD(function_index, functionIndex);
  SAME_FIELD(function, functionName);
  SAME_FIELD(reason_count, stallReasonCount);
  SAME_FIELD(reasons, stallReason);
  SAME_FIELD(correlation, correlationId);
}

TEST(PcSamplingLayout, Buffer) {
  using Ours = PcSamplingBuffer;
  using Theirs = CUpti_PCSamplingData;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(size, size);
  SAME_FIELD(room, collectNumPcs);
  SAME_FIELD(samples, totalSamples);
  SAME_FIELD(dropped, droppedSamples);
  SAME_FIELD(pcs, totalNumPcs);
  SAME_FIELD(left, remainingNumPcs);
  SAME_FIELD(range, rangeId);
  SAME_FIELD(data, pPcData);
  SAME_FIELD(other_samples, nonUsrKernelsTotalSamples);
  SAME_FIELD(hardware_buffer_full, hardwareBufferFull);
}

TEST(PcSamplingLayout, Setting) {
  using Ours = PcSamplingSetting;
  using Theirs = CUpti_PCSamplingConfigurationInfo;
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  SAME_FIELD(attribute, attributeType);
  SAME_FIELD(status, attributeStatus);
  SAME_FIELD(value, attributeData);
}

TEST(PcSamplingLayout, Calls) {
  EXPECT_EQ(sized<PcSamplingConfigure>().size, CUpti_PCSamplingConfigurationInfoParamsSize);
  EXPECT_EQ(sized<PcSamplingGetData>().size, CUpti_PCSamplingGetDataParamsSize);
  EXPECT_EQ(sized<PcSamplingCall>().size, CUpti_PCSamplingEnableParamsSize);
  EXPECT_EQ(sized<PcSamplingCall>().size, CUpti_PCSamplingDisableParamsSize);
  EXPECT_EQ(sized<PcSamplingReasonCount>().size, CUpti_PCSamplingGetNumStallReasonsParamsSize);
  EXPECT_EQ(sized<PcSamplingReasons>().size, CUpti_PCSamplingGetStallReasonsParamsSize);
  {
    using Ours = PcSamplingConfigure;
    using Theirs = CUpti_PCSamplingConfigurationInfoParams;
    SAME_FIELD(context, ctx);
    SAME_FIELD(count, numAttributes);
    SAME_FIELD(settings, pPCSamplingConfigurationInfo);
  }
  {
    using Ours = PcSamplingReasons;
    using Theirs = CUpti_PCSamplingGetStallReasonsParams;
    SAME_FIELD(context, ctx);
    SAME_FIELD(count, numStallReasons);
    SAME_FIELD(indices, stallReasonIndex);
    SAME_FIELD(names, stallReasons);
  }
  {
    using Ours = PcSamplingGetData;
    using Theirs = CUpti_PCSamplingGetDataParams;
    SAME_FIELD(context, ctx);
    SAME_FIELD(buffer, pcSamplingData);
  }
}

TEST(PcSamplingLayout, Numbers) {
  const auto number = [](auto value) { return static_cast<int>(value); };
  EXPECT_EQ(number(PcSamplingMode::continuous), CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);
  EXPECT_EQ(number(PcSamplingMode::kernels_in_turns),
            CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED);
  EXPECT_EQ(number(PcSamplingAttribute::period),
            CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD);
  EXPECT_EQ(number(PcSamplingAttribute::hardware_buffer_bytes),
            CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE);
  EXPECT_EQ(number(PcSamplingAttribute::mode),
            CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE);
  EXPECT_EQ(number(PcSamplingAttribute::data_buffer),
            CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
  EXPECT_EQ(number(PcSamplingAttribute::worker_sleep_ms),
            CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN);
  EXPECT_EQ(PcSamplingReasons::kNameBytes, CUPTI_STALL_REASON_STRING_SIZE);
}

}  // namespace
}  // namespace perflab::cuda

#else

TEST(PcSamplingLayout, Headers) {
  GTEST_SKIP() << "skipped: the toolkit's headers are not installed";
}

#endif
