// One of twenty translation units of a library, each with a code object of its own, as math
// libraries have them. It needs no header of HIP, so that twenty compile in no time. PART is its
// number, PASTE(part_, PART) its kernel.
#define PASTE_INNER(a, b) a##b
#define PASTE(a, b) PASTE_INNER(a, b)
#define GLOBAL __attribute__((global))
#define DEVICE __attribute__((device))

struct dim3 {
  unsigned x, y, z;
};
extern "C" int hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                               unsigned long lds, void* stream);

extern "C" GLOBAL void PASTE(part_, PART)(float* values) {
  values[__builtin_amdgcn_workitem_id_x()] += static_cast<float>(PART);
}

extern "C" int PASTE(launch_part_, PART)(float* values) {
  void* arguments[] = {&values};
  return hipLaunchKernel(reinterpret_cast<const void*>(PASTE(part_, PART)), dim3{1, 1, 1},
                         dim3{64, 1, 1}, arguments, 0, nullptr);
}
