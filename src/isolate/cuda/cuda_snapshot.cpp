// Taking a capture. The order is the writer's: every region's pre-image, the launch, every region's
// post-image, the documents. Facts: docs/facts/cuda_cupti.md "Capture".
#include "isolate/cuda/cuda_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "base/system/files.h"
#include "capture/capture_reader.h"
#include "code/cubin/cubin.h"

namespace perflab::isolate {
namespace {

using capture::Origin;
using cuda::DeviceAttribute;
using cuda::DriverResult;
using cuda::FunctionAttribute;

constexpr const char* kDriverVersionFile = "/proc/driver/nvidia/version";
constexpr std::uint64_t kMostVersionText = 4096;

/// "580.159.04" of the kernel module's line "NVRM version: ... 580.159.04  Release ..."; empty: it
/// is not there.
std::string driver_version() {
  const auto text = read_file(kDriverVersionFile, kMostVersionText);
  if (!text) return {};
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t first = text->find_first_not_of(" \t\n", at);
    if (first == std::string::npos) break;
    const std::size_t end = std::min(text->find_first_of(" \t\n", first), text->size());
    const std::string word = text->substr(first, end - first);
    if (word.find_first_not_of("0123456789.") == std::string::npos && word.contains('.'))
      return word;
    at = end;
  }
  return {};
}

std::uint32_t not_negative(int value) {
  return static_cast<std::uint32_t>(std::max(value, 0));
}

}  // namespace

Result<void> CudaSnapshot::describe_machine() {
  PERFLAB_TRY_VOID(checked(driver_, "cuCtxGetDevice", driver_.context_get_device(&device_)));
  capture::Machine& out = description_.machine;
  out.platform = capture::Platform::cuda;
  std::array<char, 256> name{};
  if (driver_.device_get_name(name.data(), static_cast<int>(name.size()), device_) ==
      DriverResult::success)
    out.product_name = name.data();
  const auto number = [&](DeviceAttribute attribute) {
    int value = 0;
    return driver_.device_get_attribute(&value, attribute, device_) == DriverResult::success ? value
                                                                                             : 0;
  };
  out.agent_name = fmt::format("sm_{}{}", number(DeviceAttribute::compute_capability_major),
                               number(DeviceAttribute::compute_capability_minor));
  out.isa = out.agent_name;
  out.compute_units = not_negative(number(DeviceAttribute::multiprocessor_count));
  out.gpu_index = not_negative(device_);
  int count = 0, version = 0;
  driver_.device_get_count(&count);
  out.gpu_count = not_negative(count);
  driver_.driver_get_version(&version);
  out.runtime_version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  out.driver_version = driver_version();
  return {};
}

Result<int> CudaSnapshot::attribute(FunctionAttribute attribute) const {
  int value = 0;
  PERFLAB_TRY_VOID(
      checked(driver_, "cuFuncGetAttribute",
              driver_.function_get_attribute(&value, attribute, target_.function.function)));
  return value;
}

Result<void> CudaSnapshot::describe_launch() {
  PERFLAB_TRY(image_,
              modules_.image_of(target_.context, target_.function.module, target_.name->symbol));
  const LaunchCall& call = target_.call;
  capture::Dispatch& out = description_.dispatch;
  out.kernel = target_.name->symbol;
  out.demangled = demangled(out.kernel);
  out.ordinal = process_.settings.dispatch;
  for (std::size_t i = 0; i < call.grid.size(); ++i)
    out.grid[i] = std::uint64_t{call.grid[i]} * call.block[i];
  out.workgroup = call.block;
  PERFLAB_TRY(const int shared, attribute(FunctionAttribute::shared_bytes));
  PERFLAB_TRY(const int local, attribute(FunctionAttribute::local_bytes));
  PERFLAB_TRY(const int registers, attribute(FunctionAttribute::registers));
  PERFLAB_TRY(const int most_shared, attribute(FunctionAttribute::max_dynamic_shared_bytes));
  PERFLAB_TRY(const int carveout, attribute(FunctionAttribute::preferred_shared_carveout));
  out.static_group_segment_bytes = not_negative(shared);
  out.group_segment_bytes = out.static_group_segment_bytes + call.shared_bytes;
  out.static_private_segment_bytes = out.private_segment_bytes = not_negative(local);
  out.kernarg_bytes = static_cast<std::uint32_t>(target_.arguments.bytes.size());
  out.cuda = {.cluster = call.cluster,
              .cooperative = call.cooperative,
              .max_dynamic_shared_bytes = not_negative(most_shared),
              .shared_carveout = carveout,
              .registers = not_negative(registers),
              .parameters = target_.arguments.parameters};
  return {};
}

// A mapping can be read by the GPUs that were given access to it.
bool CudaSnapshot::accessible(std::uint64_t base) const {
  const cuda::MemoryLocation location{.type = cuda::LocationType::device, .id = device_};
  unsigned long long flags = 0;
  return driver_.memory_get_access != nullptr &&
         driver_.memory_get_access(&flags, &location, base) == DriverResult::success && flags != 0;
}

// Where a range lies as the driver knows it now. False: it is gone, with its context as a rule.
bool CudaSnapshot::find_place(const CudaAllocation& allocation,
                              capture::MemoryRegion& region) const {
  region.base = allocation.base;
  region.bytes = allocation.bytes;
  if (region.bytes == 0) {
    cuda::DevicePointer base = 0;
    std::size_t bytes = 0;
    if (driver_.memory_get_address_range(&base, &bytes, allocation.base) != DriverResult::success ||
        base != allocation.base)
      return false;
    region.bytes = bytes;
  }
  if (!region.on_gpu) {
    cuda::MemoryType type{};
    return driver_.pointer_get_attribute(&type, cuda::PointerAttribute::memory_type, region.base) ==
           DriverResult::success;
  }
  int ordinal = device_;
  if (region.origin != Origin::managed &&
      driver_.pointer_get_attribute(&ordinal, cuda::PointerAttribute::device_ordinal,
                                    region.base) != DriverResult::success)
    return region.origin == Origin::vmem;  // mapped, and nobody may access it
  region.agent_index = not_negative(ordinal);
  return true;
}

void CudaSnapshot::add_allocation(const CudaAllocation& allocation) {
  Part part;
  capture::MemoryRegion& region = part.region;
  region.origin = allocation.origin;
  region.on_gpu = allocation.origin != Origin::pinned;
  region.reservation_base = allocation.reservation_base;
  region.reservation_bytes = allocation.reservation_bytes;
  region.not_captured = allocation.not_captured;
  if (!find_place(allocation, region)) return;
  if (region.captured() && region.on_gpu && region.agent_index != not_negative(device_))
    region.not_captured = "memory of another GPU than the launch's";
  if (region.captured() && region.origin == Origin::vmem && !accessible(region.base))
    region.not_captured = "a mapping that the GPU of the launch may not access";
  if (region.captured()) part.reader = region.on_gpu ? Part::Reader::gpu : Part::Reader::host;
  parts_.push_back(std::move(part));
}

void CudaSnapshot::list_memory() {
  for (const CudaAllocation& allocation : memory_.all()) add_allocation(allocation);
}

void CudaSnapshot::list_variables() {
  const auto cubin = code::read_cubin(*image_, "the image of the kernel's module");
  if (!cubin) {
    description_.limits.push_back("Variables of the kernel's module are not in the capture: " +
                                  cubin.error().message);
    return;
  }
  const std::string hash = content_hash_text(*image_);
  for (const code::CubinVariable& variable : cubin->variables) {
    cuda::DevicePointer address = 0;
    std::size_t bytes = 0;
    const DriverResult answer =
        driver_.module_get_global(&address, &bytes, target_.function.module, variable.name.c_str());
    if (answer != DriverResult::success) {
      description_.limits.push_back(
          fmt::format("The variable {} of the kernel's module is not in the capture: {}.",
                      variable.name, failed_driver_call(driver_, "cuModuleGetGlobal", answer)));
      continue;
    }
    if (std::ranges::any_of(parts_, [&](const Part& one) { return one.region.base == address; }))
      continue;  // two names of one place
    Part part{.reader = Part::Reader::gpu};
    part.region.base = address;
    part.region.bytes = bytes;
    part.region.origin = Origin::variable;
    part.region.agent_index = not_negative(device_);
    part.region.symbol = variable.name;
    part.region.code_object_hash = hash;
    parts_.push_back(std::move(part));
  }
}

Result<void> CudaSnapshot::read(const Part& part) {
  const ByteSink append = [this](std::span<const std::byte> bytes) {
    hold_.progress();
    return writer_->append(bytes);
  };
  const capture::MemoryRegion& region = part.region;
  if (part.reader == Part::Reader::gpu) return reader_->from_gpu(region.base, region.bytes, append);
  if (part.reader == Part::Reader::host)
    return reader_->from_host(region.base, region.bytes, append);
  return {};
}

Result<void> CudaSnapshot::before() {
  PERFLAB_TRY_VOID(describe_machine());
  PERFLAB_TRY_VOID(describe_launch());
  list_memory();
  list_variables();
  PERFLAB_TRY(reader_, DeviceReader::create(driver_));
  PERFLAB_TRY(capture::Writer writer, capture::Writer::create(process_.settings.folder));
  writer_.emplace(std::move(writer));
  for (Part& part : parts_) {
    PERFLAB_TRY(part.number, writer_->add_region(part.region));
    PERFLAB_TRY_VOID(read(part));
  }
  return {};
}

Result<void> CudaSnapshot::after(std::optional<std::uint64_t> nanoseconds,
                                 std::vector<std::string> limits) {
  for (const Part& part : parts_) {
    if (part.reader == Part::Reader::none) continue;
    PERFLAB_TRY_VOID(writer_->changed(part.number));
    PERFLAB_TRY_VOID(read(part));
  }
  description_.dispatch.captured_ns = nanoseconds;
  std::ranges::move(limits, std::back_inserter(description_.limits));
  std::ranges::sort(description_.limits);
  PERFLAB_TRY_VOID(writer_->finish(std::move(description_), *image_, target_.arguments.bytes));
  return {};
}

Result<void> CudaSnapshot::take_back() {
  PERFLAB_TRY(const capture::Capture taken, capture::Capture::open(process_.settings.folder));
  const auto& regions = taken.description().regions;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (regions[i].written.empty()) continue;
    PERFLAB_TRY_VOID(
        taken.read(i, capture::Pages::written,
                   [&](std::uint64_t offset, std::span<const std::byte> bytes) -> Result<void> {
                     const std::uint64_t at = regions[i].base + offset;
                     if (regions[i].on_gpu)
                       return checked(driver_, "cuMemcpyHtoD",
                                      driver_.copy_to_device(at, bytes.data(), bytes.size()));
                     std::memcpy(reinterpret_cast<void*>(at), bytes.data(), bytes.size());
                     return {};
                   }));
  }
  return {};
}

void CudaSnapshot::leave_behind() {
  if (reader_ != nullptr) reader_->leave_behind();
}

}  // namespace perflab::isolate
