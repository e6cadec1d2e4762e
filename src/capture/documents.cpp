// Writers and readers of dispatch.json, memory_regions.json, module_variables.json and the marker.
#include "capture/documents.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <set>

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
constexpr std::uint64_t kAny32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kAny16 = std::numeric_limits<std::uint16_t>::max();
constexpr std::string_view kFormatName = "rocm-perf capture";

/// Fields of an object, by name. The first thing that is wrong is kept; what is read after it is
/// empty.
class Fields {
 public:
  Fields(const Json& json, std::string what, std::optional<Error>& error)
      : json_(json), what_(std::move(what)), error_(error) {
    if (!json.is_object()) wrong("", "is no object");
  }

  void wrong(std::string_view key, std::string_view how) {
    if (error_) return;
    const std::string name = key.empty() ? "" : fmt::format(" \"{}\"", key);
    error_ =
        fail(ErrorCode::bad_input, fmt::format("{}:{} {}", what_, name, how), kTakeAgain).error();
  }
  [[nodiscard]] bool good() const { return !error_; }

  const Json& at(const char* key) {
    static const Json nothing;
    const auto found = good() ? json_.find(key) : json_.end();
    if (!good() || found == json_.end()) {
      wrong(key, "is missing");
      return nothing;
    }
    return *found;
  }
  Fields object(const char* key) {
    const Json& value = at(key);
    return Fields(value, fmt::format("{}: \"{}\"", what_, key), error_);
  }
  std::uint64_t number(const char* key, std::uint64_t most = kAny) {
    return number_of(key, at(key), most);
  }
  std::uint64_t number_of(const char* key, const Json& value, std::uint64_t most) {
    if (good() && (!value.is_number_unsigned() || value.get<std::uint64_t>() > most))
      wrong(key, "is not a number that can stand there");
    return good() ? value.get<std::uint64_t>() : 0;
  }
  std::uint32_t number32(const char* key) {
    return static_cast<std::uint32_t>(number(key, kAny32));
  }
  std::uint16_t number16(const char* key) {
    return static_cast<std::uint16_t>(number(key, kAny16));
  }
  std::string text(const char* key, bool or_null = false) {
    const Json& value = at(key);
    if (!good() || (or_null && value.is_null())) return {};
    if (!value.is_string()) wrong(key, "is no text");
    return good() ? value.get<std::string>() : std::string();
  }
  bool truth(const char* key) {
    const Json& value = at(key);
    if (good() && !value.is_boolean()) wrong(key, "is neither true nor false");
    return good() && value.get<bool>();
  }
  std::uint64_t address(const char* key, std::uint64_t most = kAny) {
    const auto value = hex_number(text(key));
    if (good() && (!value || *value > most)) wrong(key, "is no address");
    return good() ? value.value_or(0) : 0;
  }
  std::array<std::uint32_t, 3> three(const char* key) {
    const Json& value = at(key);
    std::array<std::uint32_t, 3> out{};
    if (good() && (!value.is_array() || value.size() != 3)) wrong(key, "are not three numbers");
    for (std::size_t i = 0; good() && i < 3; ++i)
      out[i] = static_cast<std::uint32_t>(number_of(key, value[i], kAny32));
    return out;
  }
  const Json& list(const char* key) {
    const Json& value = at(key);
    if (good() && !value.is_array()) wrong(key, "is no list");
    return value;
  }

 private:
  const Json& json_;
  std::string what_;
  std::optional<Error>& error_;
};

Result<void> answer(std::optional<Error>& error) {
  if (error) return std::unexpected(std::move(*error));
  return {};
}

Json format_json() {
  return {{"name", kFormatName}, {"major", kFormatMajor}, {"minor", kFormatMinor}};
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json blob_json(const Blob& blob) {
  if (blob.pages == 0) return nullptr;
  return {{"number", blob.number},
          {"file", text_or_null(blob.file)},
          {"pages", blob.pages},
          {"zero_pages", blob.zero_pages},
          {"shared_pages", blob.shared_pages},
          {"stored_pages", blob.stored_pages},
          {"file_bytes", blob.file_bytes},
          {"hash", text_or_null(blob.hash)}};
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
  out["not_captured"] = text_or_null(region.not_captured);
  out["image"] = blob_json(region.image);
  out["writes"] = blob_json(region.writes);
  return out;
}

Blob read_blob(Fields&& fields, const std::string& expected_file) {
  Blob blob{.number = static_cast<std::uint32_t>(fields.number("number", kMostBlobs - 1)),
            .file = fields.text("file", true),
            .pages = fields.number("pages", kMostPages - 1),
            .zero_pages = fields.number("zero_pages", kMostPages),
            .shared_pages = fields.number("shared_pages", kMostPages),
            .stored_pages = fields.number("stored_pages", kMostPages),
            .file_bytes = fields.number("file_bytes", kAny >> 1U),
            .hash = fields.text("hash", true)};
  if (blob.zero_pages + blob.shared_pages + blob.stored_pages != blob.pages || blob.pages == 0)
    fields.wrong("pages", "is not the sum of its kinds");
  if (!blob.file.empty() && blob.file != expected_file)
    fields.wrong("file", fmt::format("is not {}", expected_file));
  if (blob.file.empty() != blob.hash.empty() ||
      (blob.file.empty() && (blob.zero_pages != blob.pages || blob.file_bytes != 0)))
    fields.wrong("file", "does not go with the pages");
  return blob;
}

void check_blobs(Fields& fields, const MemoryRegion& region) {
  if (!region.captured()) {
    if (region.image.pages != 0 || region.writes.pages != 0)
      fields.wrong("not_captured", "stands beside contents");
    return;
  }
  if (region.image.pages != region.pages())
    fields.wrong("image", "has another number of pages than the region");
  if (region.writes.pages > region.pages())
    fields.wrong("writes", "has more pages than the region");
  if (region.writes.pages > 0 && region.writes.file.empty())
    fields.wrong("writes", "has pages but no file");
}

MemoryRegion read_region(Fields& fields, bool variables) {
  MemoryRegion region;
  region.base = fields.address("base", kMostAddress);
  region.bytes = fields.number("bytes", kMostRegionBytes);
  const auto origin = origin_from(fields.text("origin"));
  if (!origin || (*origin == Origin::variable) != variables)
    fields.wrong("origin", "is none that can stand there");
  region.origin = origin.value_or(Origin::pool);
  region.on_gpu = fields.truth("on_gpu");
  region.agent_index = fields.number32("agent_index");
  region.pool_flags = fields.number32("pool_flags");
  region.allocation_flags = fields.number32("allocation_flags");
  region.granule = fields.number("granule", kMostRegionBytes);
  region.recommended_granule = fields.number("recommended_granule", kMostRegionBytes);
  if (region.origin == Origin::vmem) {
    Fields reservation = fields.object("reservation");
    region.reservation_base = reservation.address("base", kMostAddress);
    region.reservation_bytes = reservation.number("bytes", kMostRegionBytes);
  }
  if (region.origin == Origin::variable) {
    region.symbol = fields.text("symbol");
    region.code_object_hash = fields.text("code_object_hash");
  }
  region.not_captured = fields.text("not_captured", true);
  if (!fields.at("image").is_null())
    region.image = read_blob(fields.object("image"), blob_file(kImageFolder, region.base));
  if (!fields.at("writes").is_null())
    region.writes = read_blob(fields.object("writes"), blob_file(kWritesFolder, region.base));
  check_blobs(fields, region);
  return region;
}

Machine read_machine(Fields&& machine) {
  return {.isa = machine.text("isa"),
          .agent_name = machine.text("agent_name"),
          .product_name = machine.text("product_name", true),
          .compute_units = machine.number32("compute_units"),
          .gpu_index = machine.number32("gpu_index"),
          .gpu_count = machine.number32("gpu_count"),
          .runtime_version = machine.text("runtime_version"),
          .rocm_version = machine.text("rocm_version", true),
          .address_mode = machine.text("address_mode", true)};
}

void read_format(Fields& document, const std::string& what, std::optional<Error>& error) {
  Fields format = document.object("format");
  const std::string name = format.text("name");
  const std::uint64_t major = format.number("major", kAny32),
                      minor = format.number("minor", kAny32);
  if (!error && name != kFormatName) format.wrong("name", "is of something else");
  if (!error && (major < kOldestFormatMajor || major > kFormatMajor))
    error = fail(ErrorCode::bad_input,
                 fmt::format("{}: a capture of format {}.{}, and this program reads {}.x to {}.x",
                             what, major, minor, kOldestFormatMajor, kFormatMajor),
                 "take the capture again, or use the version of rocm-perf that took it")
                .error();
}

}  // namespace

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
            {"object", hex_text(dispatch.kernel_object)},
            {"dynamic_callstack", dispatch.dynamic_callstack}}},
          {"packet",
           {{"grid", dispatch.grid},
            {"workgroup", dispatch.workgroup},
            {"header", dispatch.header},
            {"setup", dispatch.setup},
            {"private_segment_bytes", dispatch.private_segment_bytes},
            {"group_segment_bytes", dispatch.group_segment_bytes},
            {"kernarg_address", hex_text(dispatch.kernarg_address)},
            {"had_completion_signal", dispatch.had_completion_signal},
            {"bytes", dispatch.packet}}},
          {"symbol",
           {{"group_segment_bytes", dispatch.static_group_segment_bytes},
            {"private_segment_bytes", dispatch.static_private_segment_bytes},
            {"kernarg_bytes", dispatch.kernarg_bytes},
            {"kernarg_align", dispatch.kernarg_align}}},
          {"captured_ns", dispatch.captured_ns ? Json(*dispatch.captured_ns) : Json(nullptr)},
          {"machine",
           {{"isa", machine.isa},
            {"agent_name", machine.agent_name},
            {"product_name", text_or_null(machine.product_name)},
            {"compute_units", machine.compute_units},
            {"gpu_index", machine.gpu_index},
            {"gpu_count", machine.gpu_count},
            {"runtime_version", machine.runtime_version},
            {"rocm_version", text_or_null(machine.rocm_version)},
            {"address_mode", text_or_null(machine.address_mode)}}},
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
  std::optional<Error> error;
  Fields document(json, what, error);
  read_format(document, what, error);
  Dispatch& dispatch = out.dispatch;
  Fields kernel = document.object("kernel");
  dispatch.kernel = kernel.text("name");
  dispatch.demangled = kernel.text("demangled");
  dispatch.ordinal = kernel.number("ordinal");
  dispatch.kernel_object = kernel.address("object");
  dispatch.dynamic_callstack = kernel.truth("dynamic_callstack");
  Fields packet = document.object("packet");
  dispatch.grid = packet.three("grid");
  dispatch.workgroup = packet.three("workgroup");
  dispatch.header = packet.number16("header");
  dispatch.setup = packet.number16("setup");
  dispatch.private_segment_bytes = packet.number32("private_segment_bytes");
  dispatch.group_segment_bytes = packet.number32("group_segment_bytes");
  dispatch.kernarg_address = packet.address("kernarg_address");
  dispatch.had_completion_signal = packet.truth("had_completion_signal");
  dispatch.packet = packet.text("bytes");
  Fields symbol = document.object("symbol");
  dispatch.static_group_segment_bytes = symbol.number32("group_segment_bytes");
  dispatch.static_private_segment_bytes = symbol.number32("private_segment_bytes");
  dispatch.kernarg_bytes = symbol.number32("kernarg_bytes");
  dispatch.kernarg_align = symbol.number32("kernarg_align");
  if (!document.at("captured_ns").is_null()) dispatch.captured_ns = document.number("captured_ns");
  out.machine = read_machine(document.object("machine"));
  Fields object = document.object("code_object");
  out.code_object_bytes = object.number("bytes");
  out.code_object_hash = object.text("hash");
  out.kernarg_hash = document.text("kernarg_hash");
  for (const Json& limit : document.list("limits")) {
    if (!limit.is_string()) document.wrong("limits", "are not sentences");
    if (error) break;
    out.limits.push_back(limit.get<std::string>());
  }
  return answer(error);
}

Result<void> read_regions(const Json& json, const std::string& what, bool variables,
                          std::vector<MemoryRegion>& out) {
  std::optional<Error> error;
  Fields document(json, what, error);
  read_format(document, what, error);
  const Json& list = document.list("regions");
  if (!error && list.size() > kMostRegions) document.wrong("regions", "are too many");
  if (error) return answer(error);
  const MemoryRegion* last = nullptr;
  out.reserve(out.size() + list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    Fields fields(list[i], fmt::format("{}: region {}", what, i), error);
    MemoryRegion region = read_region(fields, variables);
    if (last != nullptr && region.base < last->base)
      fields.wrong("base", "is below the one of the region in front of it");
    if (last != nullptr && region.base == last->base && region.captured() && last->captured())
      fields.wrong("base", "is that of the region in front of it");
    if (error) return answer(error);
    // Zero-sized or uncaptured regions may share a base with a captured one, not hide a second one.
    out.push_back(std::move(region));
    if (last == nullptr || out.back().base != last->base || out.back().captured())
      last = &out.back();
  }
  return {};
}

Result<std::vector<FileRecord>> read_marker(const Json& json, const std::string& what) {
  std::optional<Error> error;
  Fields document(json, what, error);
  read_format(document, what, error);
  std::vector<FileRecord> files;
  std::set<std::string> names;
  for (const Json& entry : document.list("files")) {
    if (error) break;
    Fields fields(entry, fmt::format("{}: file {}", what, files.size()), error);
    files.push_back({.name = fields.text("name"),
                     .bytes = fields.number("bytes", kAny >> 1U),
                     .hash = fields.text("hash")});
    if (!names.insert(files.back().name).second) fields.wrong("name", "is listed twice");
  }
  PERFLAB_TRY_VOID(answer(error));
  return files;
}

}  // namespace perflab::capture
