// Runs kernels of a code object as a plan says, and checks what they computed. Compiles with HIP
// and with CUDA's driver API; started under a profiler.
//     host OBJECT PLAN RESULTS
// A line of the plan: function, input, work-groups, work-items of one, rounds, mask, bytes of input
// and of output, stride (words), minus and one (bits), repetitions. RESULTS gets a line per line of
// the plan: the function, and "right" or how the first wrong word differs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#if defined(CALIBRATE_HOST_PLATFORM)  // tests run it on the CPU
#include CALIBRATE_HOST_PLATFORM
#elif defined(CALIBRATE_WITH_CUDA)
#include <cuda.h>
using Status = CUresult;
using Module = CUmodule;
using Function = CUfunction;
using Pointer = CUdeviceptr;
static const Status kGood = CUDA_SUCCESS;
#else
#include <hip/hip_runtime.h>
using Status = hipError_t;
using Module = hipModule_t;
using Function = hipFunction_t;
using Pointer = hipDeviceptr_t;
static const Status kGood = hipSuccess;
#endif

static void check(Status status, const char* what) {
  if (status == kGood) return;
  std::fprintf(stderr, "%s failed with error %d\n", what, static_cast<int>(status));
  std::exit(2);
}
#define CHECK(call) check((call), #call)

struct Line {
  std::string function, input;
  std::uint32_t groups = 0, group = 0, rounds = 0, mask = 0;
  std::uint64_t in_bytes = 0, out_bytes = 0;
  std::uint32_t stride = 0;
  std::uint64_t minus = 0, one = 0;
  int repetitions = 0;
  std::uint32_t threads() const { return groups * group; }
};

// The arguments of every kernel (platform.h).
struct Arguments {
  Pointer in, out;
  std::uint32_t rounds, block, threads, mask;
  std::uint64_t minus, one;
};

// ---- The GPU -----------------------------------------------------------------------------------

#if defined(CALIBRATE_HOST_PLATFORM)
// In its header.
#elif defined(CALIBRATE_WITH_CUDA)
static void start() {
  CUdevice device;
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
}
static Module load(const char* file) {
  Module module;
  CHECK(cuModuleLoad(&module, file));
  return module;
}
static Function find(Module module, const std::string& name) {
  Function function;
  CHECK(cuModuleGetFunction(&function, module, name.c_str()));
  return function;
}
static Pointer allocate(std::size_t bytes) {
  Pointer memory;
  CHECK(cuMemAlloc(&memory, bytes));
  return memory;
}
static void upload(Pointer to, const std::vector<std::uint32_t>& words) {
  CHECK(cuMemcpyHtoD(to, words.data(), words.size() * 4));
}
static void download(std::vector<std::uint32_t>& words, Pointer from) {
  CHECK(cuMemcpyDtoH(words.data(), from, words.size() * 4));
}
static void clear(Pointer memory, unsigned char value, std::size_t bytes) {
  CHECK(cuMemsetD8(memory, value, bytes));
}
static void launch(Function function, const Line& line, Arguments& arguments) {
  void* parameters[] = {&arguments};
  CHECK(cuLaunchKernel(function, line.groups, 1, 1, line.group, 1, 1, 0, nullptr, parameters,
                       nullptr));
  CHECK(cuCtxSynchronize());
}
#else
static void start() {
  CHECK(hipSetDevice(0));
}
static Module load(const char* file) {
  Module module;
  CHECK(hipModuleLoad(&module, file));
  return module;
}
static Function find(Module module, const std::string& name) {
  Function function;
  CHECK(hipModuleGetFunction(&function, module, name.c_str()));
  return function;
}
static Pointer allocate(std::size_t bytes) {
  void* memory = nullptr;
  CHECK(hipMalloc(&memory, bytes));
  return memory;
}
static void upload(Pointer to, const std::vector<std::uint32_t>& words) {
  CHECK(hipMemcpy(to, words.data(), words.size() * 4, hipMemcpyHostToDevice));
}
static void download(std::vector<std::uint32_t>& words, Pointer from) {
  CHECK(hipMemcpy(words.data(), from, words.size() * 4, hipMemcpyDeviceToHost));
}
static void clear(Pointer memory, unsigned char value, std::size_t bytes) {
  CHECK(hipMemset(memory, value, bytes));
}
static void launch(Function function, const Line& line, Arguments& arguments) {
  std::size_t bytes = sizeof(arguments);
  void* parameters[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                        &bytes, HIP_LAUNCH_PARAM_END};
  CHECK(hipModuleLaunchKernel(function, line.groups, 1, 1, line.group, 1, 1, 0, nullptr, nullptr,
                              parameters));
  CHECK(hipDeviceSynchronize());
}
#endif

// ---- What goes in ------------------------------------------------------------------------------

static std::uint32_t pattern(std::uint32_t place) {
  return place * 2654435761U + 12345U;
}

// Small whole numbers of either sign, as bits of each type.
static int small_number(std::uint32_t place) {
  return static_cast<int>(pattern(place) >> 29) - 4;
}
static std::uint32_t float_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
static std::uint32_t half_bits(int value) {  // exact for |value| <= 4, and for n/8 below
  static const std::uint32_t kBits[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
  return (value < 0 ? 0x8000U : 0U) | kBits[value < 0 ? -value : value];
}
// e4m3; both codings of it have the same order. Never 0: -0 is a NaN in the coding of gfx942.
static std::uint32_t fp8_bits(int value) {
  static const std::uint32_t kBits[] = {0x48, 0x38, 0x40, 0x44, 0x48};
  return (value < 0 ? 0x80U : 0U) | kBits[value < 0 ? -value : value];
}
static std::uint32_t eighth_bits(std::uint32_t n) {  // n/8 as FP16, n from 1 to 7
  static const std::uint32_t kBits[] = {0, 0x3000, 0x3400, 0x3600, 0x3800, 0x3900, 0x3a00, 0x3b00};
  return kBits[n];
}
static std::uint32_t double_word(double value, bool high) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return static_cast<std::uint32_t>(high ? bits >> 32 : bits);
}

// One 32-bit word of the input.
static std::function<std::uint32_t(std::uint32_t)> words_of(const std::string& input) {
  const auto eighth = [](std::uint32_t i) { return 1 + (pattern(i) >> 24) % 7; };
  if (input == "fp32" || input == "fp32x2")
    return [=](std::uint32_t i) { return float_bits(static_cast<float>(eighth(i)) / 8); };
  if (input == "fp64")
    return [=](std::uint32_t i) { return double_word(eighth(i / 2) / 8.0, i % 2 != 0); };
  if (input == "fp16") return [=](std::uint32_t i) { return eighth_bits(eighth(i)); };
  if (input == "fp16x2")
    return [=](std::uint32_t i) {
      return eighth_bits(eighth(2 * i)) | eighth_bits(eighth(2 * i + 1)) << 16;
    };
  if (input == "ones") return [](std::uint32_t) { return float_bits(1); };
  if (input == "matrix_fp16")
    return [](std::uint32_t i) {
      return half_bits(small_number(2 * i)) | half_bits(small_number(2 * i + 1)) << 16;
    };
  if (input == "matrix_bf16")
    return [](std::uint32_t i) {
      return float_bits(static_cast<float>(small_number(2 * i))) >> 16 |
             (float_bits(static_cast<float>(small_number(2 * i + 1))) & 0xffff0000U);
    };
  if (input == "matrix_fp32")
    return [](std::uint32_t i) { return float_bits(static_cast<float>(small_number(i))); };
  if (input == "matrix_fp64")
    return [](std::uint32_t i) { return double_word(small_number(i / 2), i % 2 != 0); };
  if (input == "matrix_fp8")
    return [](std::uint32_t i) {
      return fp8_bits(small_number(4 * i)) | fp8_bits(small_number(4 * i + 1)) << 8 |
             fp8_bits(small_number(4 * i + 2)) << 16 | fp8_bits(small_number(4 * i + 3)) << 24;
    };
  if (input == "matrix_int8")  // +1 and -1: one exclusive or turns either into the other
    return [](std::uint32_t i) {
      std::uint32_t word = 0;
      for (unsigned k = 0; k < 4; ++k) word |= (pattern(4 * i + k) >> 31 ? 0x01U : 0xffU) << 8 * k;
      return word;
    };
  return pattern;
}

// ---- What has to come out ----------------------------------------------------------------------

static bool begins(const std::string& text, const char* with) {
  return text.rfind(with, 0) == 0;
}

// The word at `place` of the output.
static std::uint32_t wanted(const Line& line, const std::vector<std::uint32_t>& in,
                            std::uint32_t place) {
  const std::uint32_t threads = line.threads();
  if (line.input == "copied") return in[place];
  if (line.input == "counted") return line.rounds;
  if (begins(line.input, "matrix_")) return 1;
  if (line.input == "written") {  // four stores of a round have the same number
    const std::uint32_t element = place / 4, round = element / (4 * threads);
    return element % threads + round * 4 * threads;
  }
  std::uint32_t value = 0;
  if (line.input == "xored") {
    for (std::uint32_t k = 0; k < 4 * line.rounds; ++k)
      if (line.stride > 0)
        value ^= in[(place + k * threads) * line.stride];
      else
        for (std::uint32_t w = 0; w < 4; ++w)
          value ^= in[((place + k * threads) & line.mask) * 4 + w];
    return value;
  }
  if (line.input == "lds") return 8 * line.rounds * in[place & line.mask];
  if (line.input == "scalar")
    return line.function == "calibrate_smem" ? 8 * line.rounds * in[0] : 8 * line.group;
  const std::uint32_t words = line.input == "fp64" || line.input == "fp32x2" ? 16 : 8;
  std::uint64_t sum = 0;
  for (std::uint32_t k = 0; k < words; k += words / 8) {
    const std::size_t at = static_cast<std::size_t>(place & line.mask) * words + k;
    sum += words == 8 ? in[at] : in[at] | static_cast<std::uint64_t>(in[at + 1]) << 32;
  }
  return static_cast<std::uint32_t>(sum) + static_cast<std::uint32_t>(sum >> 32);
}

static std::string verdict(const Line& line, const std::vector<std::uint32_t>& in,
                           const std::vector<std::uint32_t>& out) {
  // All words, or some thousands of them where each takes long to compute.
  const std::size_t step = line.input == "xored" ? out.size() / 4096 + 1 : 1;
  for (std::size_t i = 0; i < out.size(); i += step) {
    const std::uint32_t want = wanted(line, in, static_cast<std::uint32_t>(i));
    if (out[i] == want) continue;
    std::ostringstream text;
    text << "word " << i << " is " << out[i] << " and not " << want;
    return text.str();
  }
  return "right";
}

int main(int count, char** arguments) {
  if (count != 4) return 64;
  std::ifstream plan(arguments[2]);
  std::vector<Line> lines;
  std::uint64_t in_bytes = 4, out_bytes = 4;
  for (Line line; plan >> line.function >> line.input >> line.groups >> line.group >> line.rounds >>
                  line.mask >> line.in_bytes >> line.out_bytes >> line.stride >> line.minus >>
                  line.one >> line.repetitions;) {
    in_bytes = line.in_bytes > in_bytes ? line.in_bytes : in_bytes;
    out_bytes = line.out_bytes > out_bytes ? line.out_bytes : out_bytes;
    lines.push_back(line);
  }
  start();
  const Module module = load(arguments[1]);
  const Pointer in = allocate(in_bytes), out = allocate(out_bytes);
  std::vector<std::uint32_t> words;
  std::string filled;
  std::ofstream results(arguments[3]);
  for (const Line& line : lines) {
    const std::string kind = line.input == "copied" ? "xored" : line.input;
    if (kind != filled || words.size() < line.in_bytes / 4) {
      const auto word = words_of(line.input);
      words.resize(line.in_bytes / 4);
      for (std::size_t i = 0; i < words.size(); ++i) words[i] = word(static_cast<std::uint32_t>(i));
      upload(in, words);
      filled = kind;
    }
    const Function function = find(module, line.function);
    clear(out, line.input == "counted" ? 0 : 0xa5, line.out_bytes);
    Arguments work{in,        out,        line.rounds, line.group, line.threads(),
                   line.mask, line.minus, line.one};
    launch(function, line, work);
    std::vector<std::uint32_t> got(line.out_bytes / 4);
    download(got, out);
    results << line.function << ' ' << verdict(line, words, got) << '\n';
    for (int i = 1; i < line.repetitions; ++i) launch(function, line, work);
  }
  return results.flush() ? 0 : 3;
}
