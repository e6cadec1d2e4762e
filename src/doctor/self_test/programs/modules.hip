// A kernel out of a code object that is loaded at run time: modules WAY [FILE]. The ways are file,
// data, data_ex, packed (arguments in one buffer, as Triton passes them) and compiled (by hiprtc,
// for the architecture that FILE names).
#include <dlfcn.h>
#include <hip/hiprtc.h>

#include "self_test.h"

using namespace self_test;

namespace {

constexpr int kCount = 1500;

std::vector<char> bytes_of(const char* path) {
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) stop(std::string("cannot read ") + path);
  std::vector<char> bytes;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
    bytes.insert(bytes.end(), buffer, buffer + got);
  std::fclose(file);
  return bytes;
}

/// hiprtc is not linked: its library has another name in each ROCm, and may be absent.
template <class Function>
Function* rtc_entry(const char* name) {
  static void* const library = [] {
    for (const char* file : {"libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5"})
      if (void* const opened = dlopen(file, RTLD_NOW)) return opened;
    return static_cast<void*>(RTLD_DEFAULT);  // before ROCm 6 the entries are HIP's own
  }();
  void* const entry = dlsym(library, name);
  if (entry == nullptr) skip(std::string("there is no hiprtc: ") + name + " is in no library");
  return reinterpret_cast<Function*>(entry);
}
#define RTC(name) rtc_entry<decltype(name)>(#name)

constexpr char kSource[] =
    "extern \"C\" __global__ void scale_add(const float* in, float* out, float factor, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = factor * in[i] + out[i];\n"
    "}\n";

std::vector<char> compiled(const std::string& architecture) {
  hiprtcProgram program = nullptr;
  if (RTC(hiprtcCreateProgram)(&program, kSource, "scale.hip", 0, nullptr, nullptr) !=
      HIPRTC_SUCCESS)
    stop("hiprtcCreateProgram");
  const std::string option = "--offload-arch=" + architecture;
  const char* options[] = {option.c_str()};
  if (RTC(hiprtcCompileProgram)(program, 1, options) != HIPRTC_SUCCESS) {
    std::size_t size = 0;
    RTC(hiprtcGetProgramLogSize)(program, &size);
    std::vector<char> log(size + 1, '\0');
    RTC(hiprtcGetProgramLog)(program, log.data());
    skip(std::string("hiprtc compiles nothing here: ") + log.data());
  }
  std::size_t size = 0;
  if (RTC(hiprtcGetCodeSize)(program, &size) != HIPRTC_SUCCESS) stop("hiprtcGetCodeSize");
  std::vector<char> code(size);
  if (RTC(hiprtcGetCode)(program, code.data()) != HIPRTC_SUCCESS) stop("hiprtcGetCode");
  return code;
}

hipModule_t load(const std::string& way, const char* file) {
  hipModule_t module = nullptr;
  if (way == "file") {
    CALL(hipModuleLoad(&module, file));
    return module;
  }
  const std::vector<char> code = way == "compiled" ? compiled(file) : bytes_of(file);
  if (way == "data_ex")
    CALL(hipModuleLoadDataEx(&module, code.data(), 0, nullptr, nullptr));
  else
    CALL(hipModuleLoadData(&module, code.data()));
  return module;
}

struct Arguments {
  const float* in;
  float* out;
  float factor;
  int n;
};

void launch(hipFunction_t kernel, Arguments arguments, bool packed) {
  constexpr unsigned kBlock = 256, kGroups = (kCount + kBlock - 1) / kBlock;
  std::size_t size = sizeof arguments;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  void* each[] = {&arguments.in, &arguments.out, &arguments.factor, &arguments.n};
  CALL(hipModuleLaunchKernel(kernel, kGroups, 1, 1, kBlock, 1, 1, 0, nullptr,
                             packed ? nullptr : each, packed ? extra : nullptr));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string way = argv[1];
  CALL(hipSetDevice(0));
  hipFunction_t kernel = nullptr;
  CALL(hipModuleGetFunction(&kernel, load(way, argv[2]), "scale_add"));
  const std::vector<float> in = numbers(kCount);
  const Arguments arguments{on_device(in), on_device(in), 2.0F, kCount};
  for (int i = 0; i < 2; ++i) launch(kernel, arguments, way == "packed");
  finish();
  const std::vector<float> out = on_host(arguments.out, kCount);
  for (int i = 0; i < kCount; ++i) EXPECT(out[i] == 5.0F * in[i]);
  std::printf("ok\n");
  return 0;
}
