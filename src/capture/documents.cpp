// Writers and readers of dispatch.json, memory_regions.json, module_variables.json and the marker.
#include "capture/documents.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "base/enum_names.h"
#include "base/text/json_fields.h"
#include "base/text/numbers.h"
#include "capture/blob.h"
#include "capture/remedies.h"

namespace perflab::capture {
namespace {

/// Addresses of today's GPUs have at most 57 bits; a region is at most as large as 48 of them.
constexpr std::uint64_t kMostAddress = std::uint64_t{1} << 57,
                        kMostRegionBytes = std::uint64_t{1} << 48;
constexpr std::size_t kMostRegions = std::size_t{1} << 20;
constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view kFormatName = "rocm-perf capture";

std::uint64_t number(JsonFields& fields, std::string_view key, std::uint64_t most) {
  std::uint64_t out = 0;
  fields.read(key, out, 0, most);
  return out;
}

std::uint64_t address(JsonFields& fields, std::string_view key, std::uint64_t most = kAny) {
  const auto value = hex_number(fields.get<std::string>(key));
  if (!value || *value > most) fields.wrong(key, "is not an address");
  return fields.good() ? *value : 0;
}

Json format_json() {
  return {{"name", kFormatName}, {"major", kFormatMajor}, {"minor", kFormatMinor}};
}

Json blob_json(const Blob& blob) {
  if (blob.pages == 0) return nullptr;
  return {{"number", blob.number},
          {"file", or_null(blob.file)},
          {"pages", blob.pages},
          {"zero_pages", blob.zero_pages},
          {"shared_pages", blob.shared_pages},
          {"stored_pages", blob.stored_pages},
          {"file_bytes", blob.file_bytes},
          {"hash", or_null(blob.hash)}};
}

Json region_json(const MemoryRegion& region) {
  Json out = {{"base", hex_text(region.base)},
              {"bytes", region.bytes},
              {"origin", to_string(region.origin)},
              {"on_gpu", region.on_gpu},
              {"agent_index", region.agent_index},
              {"pool_flags", region.pool_flags},
              {"allocation_flags", region.allocation_flags},
              {"granule", region.granule},
              {"recommended_granule", region.recommended_granule}};
  if (region.origin == Origin::vmem)
    out["reservation"] = {{"base", hex_text(region.reservation_base)},
                          {"bytes", region.reservation_bytes}};
  if (region.origin == Origin::variable) {
    out["symbol"] = region.symbol;
    out["code_object_hash"] = region.code_object_hash;
  }
  out["not_captured"] = or_null(region.not_captured);
  out["image"] = blob_json(region.image);
  out["writes"] = blob_json(region.writes);
  return out;
}

Blob read_blob(JsonFields&& fields, const std::string& expected_file) {
  Blob blob{.number = static_cast<std::uint32_t>(number(fields, "number", kMostBlobs - 1)),
            .file = fields.text_or_null("file"),
            .pages = number(fields, "pages", kMostPages - 1),
            .zero_pages = number(fields, "zero_pages", kMostPages),
            .shared_pages = number(fields, "shared_pages", kMostPages),
            .stored_pages = number(fields, "stored_pages", kMostPages),
            .file_bytes = number(fields, "file_bytes", kAny / 2),
            .hash = fields.text_or_null("hash")};
  if (blob.zero_pages + blob.shared_pages + blob.stored_pages != blob.pages || blob.pages == 0)
    fields.wrong("pages", "is not the sum of its kinds");
  if (!blob.file.empty() && blob.file != expected_file)
    fields.wrong("file", fmt::format("is not {}", expected_file));
  if (blob.file.empty() != blob.hash.empty() ||
      (blob.file.empty() && (blob.zero_pages != blob.pages || blob.file_bytes != 0)))
    fields.wrong("file", "does not go with the pages");
  return blob;
}

void check_blobs(JsonFields& fields, const MemoryRegion& region) {
  if (!region.captured()) {
    if (region.image.pages != 0 || region.writes.pages != 0)
      fields.wrong("not_captured", "is given, but there are contents");
    return;
  }
  if (region.image.pages != region.pages())
    fields.wrong("image", "has another number of pages than the region");
  if (region.writes.pages > region.pages())
    fields.wrong("writes", "has more pages than the region");
  if (region.writes.pages > 0 && region.writes.file.empty())
    fields.wrong("writes", "has pages but no file");
}

MemoryRegion read_region(JsonFields& fields, bool variables) {
  MemoryRegion region;
  region.base = address(fields, "base", kMostAddress);
  region.bytes = number(fields, "bytes", kMostRegionBytes);
  const auto origin = from_name<Origin>(fields.get<std::string>("origin"));
  if (!origin || (*origin == Origin::variable) != variables)
    fields.wrong("origin", "is not one that is possible here");
  region.origin = origin.value_or(Origin::pool);
  fields.read("on_gpu", region.on_gpu);
  fields.read("agent_index", region.agent_index);
  fields.read("pool_flags", region.pool_flags);
  fields.read("allocation_flags", region.allocation_flags);
  region.granule = number(fields, "granule", kMostRegionBytes);
  region.recommended_granule = number(fields, "recommended_granule", kMostRegionBytes);
  if (region.origin == Origin::vmem) {
    JsonFields reservation = fields.object("reservation");
    region.reservation_base = address(reservation, "base", kMostAddress);
    region.reservation_bytes = number(reservation, "bytes", kMostRegionBytes);
  }
  if (region.origin == Origin::variable) {
    fields.read("symbol", region.symbol);
    fields.read("code_object_hash", region.code_object_hash);
  }
  region.not_captured = fields.text_or_null("not_captured");
  if (!fields.is_null("image"))
    region.image = read_blob(fields.object("image"), blob_file(kImageFolder, region.base));
  if (!fields.is_null("writes"))
    region.writes = read_blob(fields.object("writes"), blob_file(kWritesFolder, region.base));
  check_blobs(fields, region);
  return region;
}

/// Captures of format 2.0 and older do not say it: they are of HIP programs.
Platform read_platform(JsonFields& machine) {
  if (!machine.has("platform")) return Platform::hip;
  const auto platform = from_name<Platform>(machine.get<std::string>("platform"));
  if (!platform) machine.wrong("platform", "is neither hip nor cuda");
  return platform.value_or(Platform::hip);
}

Machine read_machine(JsonFields&& machine) {
  return {
      .platform = read_platform(machine),
      .isa = machine.get<std::string>("isa"),
      .agent_name = machine.get<std::string>("agent_name"),
      .product_name = machine.text_or_null("product_name"),
      .compute_units = machine.get<std::uint32_t>("compute_units"),
      .gpu_index = machine.get<std::uint32_t>("gpu_index"),
      .gpu_count = machine.get<std::uint32_t>("gpu_count"),
      .runtime_version = machine.get<std::string>("runtime_version"),
      .driver_version = machine.has("driver_version") ? machine.text_or_null("driver_version") : "",
      .rocm_version = machine.text_or_null("rocm_version"),
      .address_mode = machine.text_or_null("address_mode")};
}

Json cuda_json(const std::optional<CudaLaunch>& launch) {
  if (!launch) return nullptr;
  Json parameters = Json::array();
  for (const Parameter& one : launch->parameters)
    parameters.push_back({{"offset", one.offset}, {"bytes", one.size}});
  return {{"cluster", launch->cluster},
          {"cooperative", launch->cooperative},
          {"max_dynamic_shared_bytes", launch->max_dynamic_shared_bytes},
          {"shared_carveout_percent", launch->shared_carveout},
          {"registers", launch->registers},
          {"parameters", std::move(parameters)}};
}

CudaLaunch read_cuda(JsonFields&& fields, std::uint32_t kernarg_bytes) {
  CudaLaunch launch;
  fields.read("cluster", launch.cluster);
  fields.read("cooperative", launch.cooperative);
  fields.read("max_dynamic_shared_bytes", launch.max_dynamic_shared_bytes);
  fields.read("shared_carveout_percent", launch.shared_carveout, -1, 100);
  fields.read("registers", launch.registers);
  fields.each("parameters", [&](JsonFields& parameter) {
    launch.parameters.push_back({.offset = parameter.get<std::uint32_t>("offset"),
                                 .size = parameter.get<std::uint32_t>("bytes")});
    const Parameter& read = launch.parameters.back();
    if (std::uint64_t{read.offset} + read.size > kernarg_bytes)
      parameter.wrong("offset", "is behind the end of the arguments");
  });
  return launch;
}

/// What only an HSA packet has is null on CUDA.
Json hsa_only(const Description& description, Json&& value) {
  return description.machine.platform == Platform::hip ? std::move(value) : Json(nullptr);
}

void read_packet(JsonFields&& packet, Platform platform, Dispatch& dispatch) {
  packet.read("grid", dispatch.grid);
  packet.read("workgroup", dispatch.workgroup);
  packet.read("private_segment_bytes", dispatch.private_segment_bytes);
  packet.read("group_segment_bytes", dispatch.group_segment_bytes);
  if (platform != Platform::hip) return;
  packet.read("header", dispatch.header);
  packet.read("setup", dispatch.setup);
  dispatch.kernarg_address = address(packet, "kernarg_address");
  packet.read("had_completion_signal", dispatch.had_completion_signal);
  packet.read("bytes", dispatch.packet);
}

/// Arguments and what is of the platform: the captured launch of CUDA, and of HSA the alignment.
void read_symbol(JsonFields& document, Platform platform, Dispatch& dispatch) {
  JsonFields symbol = document.object("symbol");
  symbol.read("group_segment_bytes", dispatch.static_group_segment_bytes);
  symbol.read("private_segment_bytes", dispatch.static_private_segment_bytes);
  symbol.read("kernarg_bytes", dispatch.kernarg_bytes);
  if (platform == Platform::hip)
    symbol.read("kernarg_align", dispatch.kernarg_align);
  else
    dispatch.cuda = read_cuda(document.object("cuda"), dispatch.kernarg_bytes);
}

Result<void> read_format(JsonFields& document, const std::string& what) {
  JsonFields format = document.object("format");
  const auto name = format.get<std::string>("name");
  const auto major = format.get<std::uint32_t>("major"), minor = format.get<std::uint32_t>("minor");
  if (name != kFormatName) format.wrong("name", "is of something else");
  if (format.good() && (major < kOldestFormatMajor || major > kFormatMajor))
    return fail(ErrorCode::bad_input,
                fmt::format("{}: a capture of format {}.{}, and this program reads {}.x to {}.x",
                            what, major, minor, kOldestFormatMajor, kFormatMajor),
                "take the capture again, or use the version of rocm-perf that took it");
  return {};
}

}  // namespace

std::string_view code_object_file(Platform platform) {
  return platform == Platform::cuda ? "kernel.cubin" : "kernel.hsaco";
}

std::string hex_text(std::uint64_t address) {
  return fmt::format("{:#x}", address);
}

std::string blob_file(std::string_view folder, std::uint64_t base) {
  return fmt::format("{}/region_{:x}.bin", folder, base);
}

Json dispatch_json(const Description& description) {
  const Dispatch& dispatch = description.dispatch;
  const Machine& machine = description.machine;
  return {{"format", format_json()},
          {"kernel",
           {{"name", dispatch.kernel},
            {"demangled", dispatch.demangled},
            {"ordinal", dispatch.ordinal},
            {"object", hsa_only(description, hex_text(dispatch.kernel_object))},
            {"dynamic_callstack", hsa_only(description, dispatch.dynamic_callstack)}}},
          {"packet",
           {{"grid", dispatch.grid},
            {"workgroup", dispatch.workgroup},
            {"header", hsa_only(description, dispatch.header)},
            {"setup", hsa_only(description, dispatch.setup)},
            {"private_segment_bytes", dispatch.private_segment_bytes},
            {"group_segment_bytes", dispatch.group_segment_bytes},
            {"kernarg_address", hsa_only(description, hex_text(dispatch.kernarg_address))},
            {"had_completion_signal", hsa_only(description, dispatch.had_completion_signal)},
            {"bytes", hsa_only(description, dispatch.packet)}}},
          {"symbol",
           {{"group_segment_bytes", dispatch.static_group_segment_bytes},
            {"private_segment_bytes", dispatch.static_private_segment_bytes},
            {"kernarg_bytes", dispatch.kernarg_bytes},
            {"kernarg_align", hsa_only(description, dispatch.kernarg_align)}}},
          {"cuda", cuda_json(dispatch.cuda)},
          {"captured_ns", or_null(dispatch.captured_ns)},
          {"machine",
           {{"platform", to_string(machine.platform)},
            {"isa", machine.isa},
            {"agent_name", machine.agent_name},
            {"product_name", or_null(machine.product_name)},
            {"compute_units", machine.compute_units},
            {"gpu_index", machine.gpu_index},
            {"gpu_count", machine.gpu_count},
            {"runtime_version", machine.runtime_version},
            {"driver_version", or_null(machine.driver_version)},
            {"rocm_version", or_null(machine.rocm_version)},
            {"address_mode", or_null(machine.address_mode)}}},
          {"code_object",
           {{"bytes", description.code_object_bytes}, {"hash", description.code_object_hash}}},
          {"kernarg_hash", description.kernarg_hash},
          {"limits", description.limits}};
}

Json regions_json(const std::vector<MemoryRegion>& regions, bool variables) {
  Json list = Json::array();
  for (const MemoryRegion& region : regions)
    if ((region.origin == Origin::variable) == variables) list.push_back(region_json(region));
  return {{"format", format_json()}, {"regions", std::move(list)}};
}

Json marker_json(const std::vector<FileRecord>& files) {
  Json list = Json::array();
  for (const FileRecord& file : files)
    list.push_back({{"name", file.name}, {"bytes", file.bytes}, {"hash", file.hash}});
  return {{"format", format_json()}, {"files", std::move(list)}};
}

Result<void> read_dispatch(const Json& json, const std::string& what, Description& out) {
  JsonFields document(json, what);
  PERFLAB_TRY_VOID(read_format(document, what));
  out.machine = read_machine(document.object("machine"));
  const Platform platform = out.machine.platform;
  Dispatch& dispatch = out.dispatch;
  JsonFields kernel = document.object("kernel");
  kernel.read("name", dispatch.kernel);
  kernel.read("demangled", dispatch.demangled);
  kernel.read("ordinal", dispatch.ordinal);
  if (platform == Platform::hip) {
    dispatch.kernel_object = address(kernel, "object");
    kernel.read("dynamic_callstack", dispatch.dynamic_callstack);
  }
  read_packet(document.object("packet"), platform, dispatch);
  read_symbol(document, platform, dispatch);
  document.read("captured_ns", dispatch.captured_ns);
  JsonFields object = document.object("code_object");
  object.read("bytes", out.code_object_bytes);
  object.read("hash", out.code_object_hash);
  document.read("kernarg_hash", out.kernarg_hash);
  document.read("limits", out.limits);
  return document.result(kTakeAgain);
}

Result<void> read_regions(const Json& json, const std::string& what, bool variables,
                          std::vector<MemoryRegion>& out) {
  JsonFields document(json, what);
  PERFLAB_TRY_VOID(read_format(document, what));
  const std::size_t count = document.list("regions").size();
  if (count > kMostRegions) document.wrong("regions", "are too many");
  const MemoryRegion* last = nullptr;
  if (document.good()) out.reserve(out.size() + count);
  document.each("regions", [&](JsonFields& fields) {
    MemoryRegion region = read_region(fields, variables);
    if (last != nullptr && region.base < last->base)
      fields.wrong("base", "is below that of the region before it");
    if (last != nullptr && region.base == last->base && region.captured() && last->captured())
      fields.wrong("base", "is that of the region before it");
    if (!fields.good()) return;
    // Zero-sized or uncaptured regions may share a base with a captured one, not hide a second one.
    out.push_back(std::move(region));
    if (last == nullptr || out.back().base != last->base || out.back().captured())
      last = &out.back();
  });
  return document.result(kTakeAgain);
}

Result<std::vector<FileRecord>> read_marker(const Json& json, const std::string& what) {
  JsonFields document(json, what);
  PERFLAB_TRY_VOID(read_format(document, what));
  std::vector<FileRecord> files;
  std::set<std::string> names;
  document.each("files", [&](JsonFields& fields) {
    files.push_back({.name = fields.get<std::string>("name"),
                     .bytes = number(fields, "bytes", kAny / 2),
                     .hash = fields.get<std::string>("hash")});
    if (!names.insert(files.back().name).second) fields.wrong("name", "is listed twice");
  });
  PERFLAB_TRY_VOID(document.result(kTakeAgain));
  return files;
}

}  // namespace perflab::capture
