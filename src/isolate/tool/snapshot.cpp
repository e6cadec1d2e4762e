// Taking a capture. The order is the writer's: every region's pre-image, the dispatch, every
// region's post-image, the documents. Facts: docs/facts/hsa_runtime.md "Variables and symbols",
// "Kernel arguments", "Copies", "Pointer queries", "Mappings".
#include "isolate/tool/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "base/enum_names.h"
#include "code/elf/elf.h"
#include "code/object/code_object.h"
#include "isolate/code/loaded_code.h"

namespace perflab::isolate {
namespace {

// Most bytes of kernel arguments that are believed; the format has no bound of its own.
constexpr std::uint64_t kMostKernarg = std::uint64_t{16} << 20;

std::string hex(const void* bytes, std::size_t size) {
  std::string out;
  for (std::size_t i = 0; i < size; ++i)
    out +=
        fmt::format("{:02x}", std::to_integer<unsigned>(static_cast<const std::byte*>(bytes)[i]));
  return out;
}

std::string_view reason(Unreadable unreadable) {
  using enum Unreadable;
  static constexpr auto kNames = enum_names<Unreadable>(
      {{no, ""},
       {host_memory, "host memory of the program that was locked for the GPU"},
       {other_process, "memory of another process"},
       {driver_memory, "a buffer of another driver"},
       {not_reserved, "managed memory whose end the program need not announce"}});
  return kNames[unreadable];
}

// Whether an address lies in initialised or zeroed data: the section that starts last before it.
bool in_data(const code::Elf& elf, std::uint64_t address) {
  const code::ElfSection* holder = nullptr;
  for (const code::ElfSection& section : elf.sections())
    if (section.address != 0 && section.address <= address &&
        (holder == nullptr || section.address >= holder->address))
      holder = &section;
  return holder != nullptr &&
         (holder->name.starts_with(".data") || holder->name.starts_with(".bss"));
}

}  // namespace

Result<void> Snapshot::describe_dispatch() {
  const hsa::KernelDispatchPacket& packet = target_.packet;
  const auto kernel = tool_.code.kernel(packet.kernel_object);
  if (!kernel) return fail(ErrorCode::refused, "the kernel's code was unloaded meanwhile");
  PERFLAB_TRY(object_, tool_.code.code_of(*kernel));
  capture::Dispatch& out = description_.dispatch;
  out.kernel = target_.name->symbol;
  out.demangled = demangled(out.kernel);
  out.ordinal = tool_.process.settings.dispatch;
  out.grid = {packet.grid_size_x, packet.grid_size_y, packet.grid_size_z};
  out.workgroup = {packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z};
  out.header = packet.header;
  out.setup = packet.setup;
  out.private_segment_bytes = packet.private_segment_size;
  out.group_segment_bytes = packet.group_segment_size;
  out.kernel_object = packet.kernel_object;
  out.kernarg_address = reinterpret_cast<std::uint64_t>(packet.kernarg_address);
  out.had_completion_signal = packet.completion_signal.handle != 0;
  out.packet = hex(&packet, sizeof(packet));
  using namespace hsa::symbol_info;
  for (const auto& [attribute, value] : std::initializer_list<std::pair<std::uint32_t, void*>>{
           {kernarg_segment_size, &out.kernarg_bytes},
           {kernarg_segment_alignment, &out.kernarg_align},
           {group_segment_size, &out.static_group_segment_bytes},
           {private_segment_size, &out.static_private_segment_bytes},
           {dynamic_callstack, &out.dynamic_callstack}})
    PERFLAB_TRY_VOID(
        checked("hsa_executable_symbol_get_info",
                tool_.api.core.executable_symbol_get_info(kernel->symbol, attribute, value)));
  if (out.kernarg_bytes != 0) return {};
  // Some producers leave the size out of the descriptor, where the runtime takes it from.
  const auto object = code::read_code_object(object_.code->bytes, "the code object of the kernel");
  if (!object) return {};
  const auto described =
      std::ranges::find(object->kernels, out.kernel, &code::KernelMetadata::name);
  if (described != object->kernels.end() && described->kernarg_bytes > 0)
    out.kernarg_bytes = static_cast<std::uint32_t>(described->kernarg_bytes);
  return {};
}

// Bytes that were seen on their way in are what was loaded; those that were found later need not
// be.
Result<void> Snapshot::check_code() {
  if (object_.place.empty()) return {};
  const CodeReader read = [&](std::uint64_t base, std::uint64_t bytes, const ByteSink& sink) {
    return reader_->from_gpu(target_.agent, base, bytes, sink);
  };
  return check_loaded_code(tool_.loader, object_.loaded, object_.code->bytes, object_.place,
                           target_.name->symbol + ".kd", target_.packet.kernel_object, read);
}

Result<void> Snapshot::take_kernarg() {
  const capture::Dispatch& dispatch = description_.dispatch;
  if (dispatch.kernarg_bytes == 0) return {};
  const std::uint64_t base = dispatch.kernarg_address, bytes = dispatch.kernarg_bytes;
  if (base == 0 || bytes > kMostKernarg)
    return fail(ErrorCode::refused,
                fmt::format("{} bytes of kernel arguments at {:#x} make no sense", bytes, base));
  const ByteSink keep = [&](std::span<const std::byte> piece) -> Result<void> {
    kernarg_.insert(kernarg_.end(), piece.begin(), piece.end());
    return {};
  };
  const auto holder = std::ranges::find_if(parts_, [&](const Part& part) {
    return base >= part.region.base && base - part.region.base < part.region.bytes;
  });
  if (holder == parts_.end()) return reader_->from_process(base, bytes, keep);
  if (bytes > holder->region.bytes - (base - holder->region.base))
    return fail(ErrorCode::refused,
                fmt::format("the kernel arguments at {:#x} go past their allocation", base));
  return holder->reader == Part::Reader::gpu ? reader_->from_gpu(holder->owner, base, bytes, keep)
                                             : reader_->from_host(base, bytes, keep);
}

bool Snapshot::accessible(std::uint64_t base, hsa::Agent agent) const {
  hsa::Access access = hsa::Access::none;
  return tool_.api.amd.vmem_get_access != nullptr &&
         tool_.api.amd.vmem_get_access(reinterpret_cast<void*>(base), &access, agent) ==
             hsa::Status::success &&
         access != hsa::Access::none;
}

// Who can read a range: a mapping is read by the agents that were given access to it.
void Snapshot::choose_reader(Part& part, const Pool& pool) const {
  using Reader = Part::Reader;
  capture::MemoryRegion& region = part.region;
  part.owner = pool.agent;
  part.reader = pool.on_gpu ? Reader::gpu : Reader::host;
  if (region.origin == capture::Origin::managed) part.reader = Reader::process;
  if (region.origin != capture::Origin::vmem) return;
  if (pool.on_gpu && accessible(region.base, pool.agent)) return;
  part.owner = target_.agent;
  part.reader = Reader::gpu;
  if (accessible(region.base, target_.agent)) return;
  part.reader = Reader::none;
  region.not_captured = "a mapping that the GPU of the dispatch may not access";
}

void Snapshot::add_allocation(const Allocation& allocation) {
  Part part;
  capture::MemoryRegion& region = part.region;
  region.base = allocation.base;
  region.bytes = allocation.bytes;
  region.origin = allocation.origin;
  region.allocation_flags = allocation.flags;
  region.reservation_base = allocation.reservation_base;
  region.reservation_bytes = allocation.reservation_bytes;
  region.not_captured = reason(allocation.unreadable);
  part.added = allocation.added;
  const Pool* const pool = allocation.origin == capture::Origin::region
                               ? tool_.machine.region(allocation.pool)
                               : tool_.machine.pool(allocation.pool);
  if (pool != nullptr) {
    region.on_gpu = pool->on_gpu;
    region.agent_index = pool->agent_index;
    region.pool_flags = pool->flags;
    region.granule = pool->granule;
    region.recommended_granule = pool->recommended_granule;
  } else {
    region.on_gpu = false;
  }
  if (region.captured()) {
    if (pool != nullptr || region.origin == capture::Origin::managed)
      choose_reader(part, pool != nullptr ? *pool : Pool{});
    else
      region.not_captured = "memory of a pool that is not known";
  }
  parts_.push_back(std::move(part));
}

Result<void> Snapshot::list_regions() {
  for (const Allocation& allocation : tool_.memory.all()) {
    if (allocation.bytes == 0) continue;
    // What is only noted may lie in what is captured: the latter says more.
    if (!parts_.empty() && allocation.unreadable != Unreadable::no) {
      const capture::MemoryRegion& last = parts_.back().region;
      if (allocation.base - last.base < last.bytes) continue;
    }
    add_allocation(allocation);
  }
  return list_variables();
}

// Where memory of the GPU lies tells the modes apart (docs/facts/hsa_runtime.md "Occupied
// addresses"): the reserved range ends below 1 TiB, ordinary mappings lie far above.
void Snapshot::find_address_mode() {
  if (!description_.machine.address_mode.empty()) return;
  for (const Part& part : parts_) {
    if (!part.region.on_gpu || part.region.origin != capture::Origin::pool) continue;
    description_.machine.address_mode = part.region.base >> 40U == 0 ? "reserved" : "mmap";
    return;
  }
}

Result<void> Snapshot::list_variables() {
  PERFLAB_TRY(const auto variables, tool_.code.variables(target_.agent));
  for (const LoadedVariable& variable : variables) {
    // Two symbols can name one place.
    if (!parts_.empty() && parts_.back().region.base == variable.address) continue;
    Part part;
    part.region.base = variable.address;
    part.region.bytes = variable.bytes;
    part.region.origin = capture::Origin::variable;
    part.region.agent_index = static_cast<std::uint32_t>(
        std::ranges::find(tool_.machine.gpus, target_.agent) - tool_.machine.gpus.begin());
    part.region.symbol = variable.name;
    if (variable.code != nullptr) part.region.code_object_hash = variable.code->hash;
    part.reader = Part::Reader::gpu;
    part.owner = target_.agent;
    parts_.push_back(std::move(part));
  }
  note_hidden_variables();
  return {};
}

// Data of the kernel's object that no visible symbol covers: `static __device__`, as a rule. The
// runtime cannot say where it lies, at replay neither.
void Snapshot::note_hidden_variables() {
  const auto elf = code::Elf::read(object_.code->bytes, "the code object of the kernel");
  if (!elf) return;
  std::set<std::string_view> hidden;
  const auto visited = elf->visit_symbols(kLongestSymbol, [&](const code::ElfSymbol& symbol) {
    if (symbol.size == 0 || !in_data(*elf, symbol.value)) return;
    if (std::ranges::none_of(parts_, [&](const Part& part) {
          return part.region.origin == capture::Origin::variable &&
                 part.region.symbol == symbol.name;
        }))
      hidden.insert(symbol.name);
  });
  if (!visited || hidden.empty()) return;
  description_.limits.push_back(fmt::format(
      "{} variables of the kernel's code object are not visible to the runtime and are not in the "
      "capture; one is {}.",
      hidden.size(), *hidden.begin()));
}

Result<void> Snapshot::read(const Part& part, const ByteSink& sink) {
  const capture::MemoryRegion& region = part.region;
  switch (part.reader) {
    case Part::Reader::none:
      return {};
    case Part::Reader::gpu:
      return reader_->from_gpu(part.owner, region.base, region.bytes, sink);
    case Part::Reader::host:
      return reader_->from_host(region.base, region.bytes, sink);
    case Part::Reader::process:
      return reader_->from_process(region.base, region.bytes, sink);
  }
  return {};
}

Result<void> Snapshot::before() {
  PERFLAB_TRY_VOID(describe_dispatch());
  PERFLAB_TRY(description_.machine, describe_machine(tool_.api, tool_.machine, target_.agent));
  PERFLAB_TRY(reader_,
              MemoryReader::create(tool_.api, tool_.machine,
                                   std::chrono::milliseconds(tool_.process.settings.patience_ms)));
  PERFLAB_TRY_VOID(check_code());
  PERFLAB_TRY_VOID(list_regions());
  find_address_mode();
  PERFLAB_TRY_VOID(take_kernarg());
  PERFLAB_TRY(capture::Writer writer, capture::Writer::create(tool_.process.settings.folder));
  writer_.emplace(std::move(writer));
  const ByteSink append = [this](std::span<const std::byte> bytes) {
    return writer_->append(bytes);
  };
  for (Part& part : parts_) {
    PERFLAB_TRY(part.number, writer_->add_region(part.region));
    PERFLAB_TRY_VOID(read(part, append));
  }
  return {};
}

// Memory may be freed while the dispatch runs: it has no post-image.
Result<void> Snapshot::drop_what_is_gone() {
  std::set<std::pair<std::uint64_t, std::uint64_t>> live;
  for (const Allocation& allocation : tool_.memory.all())
    live.emplace(allocation.base, allocation.added);
  PERFLAB_TRY(const auto variables, tool_.code.variables(target_.agent));
  for (const LoadedVariable& variable : variables) live.emplace(variable.address, 0);
  const auto gone = std::erase_if(parts_, [&](const Part& part) {
    return part.region.captured() && !live.contains({part.region.base, part.added});
  });
  if (gone != 0)
    description_.limits.push_back(fmt::format(
        "{} ranges of memory were freed while the dispatch ran; what it changed in them is not "
        "known.",
        gone));
  return {};
}

Result<capture::Description> Snapshot::after(std::optional<std::uint64_t> nanoseconds) {
  PERFLAB_TRY_VOID(drop_what_is_gone());
  const ByteSink append = [this](std::span<const std::byte> bytes) {
    return writer_->append(bytes);
  };
  for (const Part& part : parts_) {
    if (part.reader == Part::Reader::none) continue;
    PERFLAB_TRY_VOID(writer_->changed(part.number));
    PERFLAB_TRY_VOID(read(part, append));
  }
  description_.dispatch.captured_ns = nanoseconds;
  for (std::string& sentence : tool_.limits()) description_.limits.push_back(std::move(sentence));
  for (std::string& sentence : tool_.queues.not_drained(target_.agent))
    description_.limits.push_back(std::move(sentence));
  for (std::string& sentence : tool_.code.limits())
    description_.limits.push_back(std::move(sentence));
  if (const std::uint64_t lost = tool_.memory.overflows(); lost != 0)
    description_.limits.push_back(fmt::format(
        "{} ranges of memory are not in the capture: there were more than the table holds.", lost));
  std::ranges::sort(description_.limits);
  return writer_->finish(std::move(description_), object_.code->bytes, kernarg_);
}

}  // namespace perflab::isolate
