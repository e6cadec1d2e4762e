// Walks over the outermost object and the recordings in it; lists are read in batches, so that
// memory is bounded whatever the file's size (docs/facts/pc_sampling.md "JSON").
#include "pc_sampling/read_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text/numbers.h"
#include "pc_sampling/builder.h"
#include "pc_sampling/json_samples.h"
#include "pc_sampling/read_pc_samples.h"

namespace perflab::pc_sampling {
namespace {

constexpr std::string_view kRootKey = "rocprofiler-sdk-tool";

std::string_view without_kd(std::string_view name) {
  return name.ends_with(".kd") ? name.substr(0, name.size() - 3) : name;
}

/// One recording of the file.
class RecordingReader {
 public:
  RecordingReader(JsonWindow& window, std::uint64_t bytes, PcSamples& samples, std::size_t element,
                  const TellProgress& progress)
      : window_(window),
        bytes_(bytes),
        progress_(progress),
        builder_(samples, {.file = window.name(), .element = element}) {}

  Result<void> read() {
    PERFLAB_TRY_VOID(fields_here([this](std::string_view key) -> Result<void> {
      if (key == "metadata") return read_metadata();
      if (key == "agents") return read_agents();
      if (key == "strings") return read_strings();
      if (key == "code_objects")
        return objects_here([this](od::object& object) { take_code_object(object); });
      if (key == "kernel_symbols")
        return objects_here([this](od::object& object) { take_kernel(object); });
      if (key == "buffer_records") return read_records();
      return window_.skip();
    }));
    builder_.finish();
    return {};
  }

  /// Whether the recording has a list for PC samples, if only an empty one.
  [[nodiscard]] bool has_lists() const { return has_lists_; }

 private:
  /// Visits the fields of the next value; one that is no object is passed and counted.
  template <class Visit>
  Result<void> fields_here(const Visit& visit) {
    PERFLAB_TRY(const char first, window_.peek());
    if (first == '{') return window_.each_field(visit);
    builder_.malformed();
    return window_.skip();
  }
  template <class Visit>
  Result<void> batches_here(const Visit& visit) {
    PERFLAB_TRY(const char first, window_.peek());
    if (first == '[') return window_.batches(visit);
    builder_.malformed();
    return window_.skip();
  }
  /// Visits the objects of the next value, which is a list.
  template <class Visit>
  Result<void> objects_here(const Visit& visit) {
    return batches_here([&](std::string_view elements) -> Result<void> {
      builder_.malformed(each_object(parser_, elements, cursor_, visit));
      return unless_damaged();
    });
  }
  [[nodiscard]] Result<void> unless_damaged() const {
    if (cursor_.damaged()) return window_.damaged();
    return {};
  }

  Result<void> read_metadata() {
    return fields_here([this](std::string_view key) -> Result<void> {
      if (key != "pid") return window_.skip();
      PERFLAB_TRY(const std::string_view text, window_.value());
      builder_.source().pid = whole_number<std::int64_t>(text).value_or(0);
      return {};
    });
  }

  Result<void> read_agents() {
    PERFLAB_TRY(const char first, window_.peek());
    if (first != '[') return window_.skip();
    // One by one: with the caches of every CU one can be of a megabyte.
    return window_.each_element([this]() -> Result<void> {
      PERFLAB_TRY(const std::string_view text, window_.value());
      if (!text.starts_with('{')) {
        builder_.malformed();
        return {};
      }
      od::document document;
      od::object object;
      const simdjson::padded_string_view padded(text.data(), text.size(),
                                                text.size() + simdjson::SIMDJSON_PADDING);
      if (cursor_.good(parser_.iterate(padded).get(document)) &&
          cursor_.good(document.get_object().get(object)))
        take_agent(object);
      return unless_damaged();
    });
  }

  void take_agent(od::object& object) {
    Agent agent;
    std::optional<std::uint64_t> handle;
    std::uint64_t type = 0;
    const auto small = [&](od::value& value, std::uint32_t& to) {
      std::uint64_t wide = 0;
      if (cursor_.good(value.get_uint64().get(wide)) && wide <= UINT32_MAX)
        to = static_cast<std::uint32_t>(wide);
    };
    const auto text = [&](od::value& value, std::string& to) {
      std::string_view found;
      if (cursor_.good(value.get_string().get(found))) to = found;
    };
    cursor_.each_field(object, [&](std::string_view key, od::value& value) {
      if (key == "id") {
        od::object id;
        if (cursor_.good(value.get_object().get(id))) handle = cursor_.whole(id, "handle");
      }
      if (key == "type") cursor_.good(value.get_uint64().get(type));
      if (key == "name") text(value, agent.arch);
      if (key == "product_name") text(value, agent.product);
      if (key == "wave_front_size") small(value, agent.wave_size);
      if (key == "num_xcc") small(value, agent.xccs);
      if (key == "cu_count") small(value, agent.cus);
      if (key == "num_shader_banks") small(value, agent.shader_engines);
      if (key == "simd_per_cu") small(value, agent.simds_per_cu);
      if (key == "max_waves_per_simd") small(value, agent.waves_per_simd);
      if (key == "max_engine_clk_fcompute") small(value, agent.max_clock_mhz);
    });
    constexpr std::uint64_t kCpu = 1;  // rocprofiler_agent_type_t
    if (!handle) return builder_.malformed();
    agent.handle = *handle;
    if (type != kCpu) builder_.agent_facts(std::move(agent));
  }

  Result<void> read_strings() {
    return fields_here([this](std::string_view key) -> Result<void> {
      if (key == "pc_sample_instructions")
        return texts_here([this](std::string_view text) { builder_.instruction(text); });
      if (key == "pc_sample_comments")
        return texts_here([this](std::string_view text) { builder_.source_line(text); });
      return window_.skip();
    });
  }

  /// Texts of a list; what is none counts as an empty one, so that the others keep their places.
  template <class Visit>
  Result<void> texts_here(const Visit& visit) {
    return batches_here([&](std::string_view elements) -> Result<void> {
      od::document document;
      od::array array;
      const simdjson::padded_string_view padded(elements.data(), elements.size(),
                                                elements.size() + simdjson::SIMDJSON_PADDING);
      if (!cursor_.good(parser_.iterate(padded).get(document)) ||
          !cursor_.good(document.get_array().get(array)))
        return unless_damaged();
      for (auto element : array) {
        std::string_view text;
        if (!cursor_.good(element.get_string().get(text))) {
          if (cursor_.damaged()) break;
          builder_.malformed();
          text = {};
        }
        visit(text);
      }
      return unless_damaged();
    });
  }

  void take_code_object(od::object& object) {
    CodeObject code;
    const auto id = cursor_.whole(object, "code_object_id");
    const std::uint64_t agent = cursor_.handle(object, "agent_id").value_or(0);
    code.uri = cursor_.text(object, "uri").value_or("");
    const auto base = cursor_.whole(object, "load_base");
    code.load_size = cursor_.whole(object, "load_size").value_or(0);
    if (cursor_.damaged()) return;
    if (!id || !base) return builder_.malformed();
    if (*id == 0) return;  // the list is indexed by id: its first element stands for none
    code.id = *id;
    code.load_base = *base;
    builder_.code_object(std::move(code), agent);
  }

  void take_kernel(od::object& object) {
    Kernel kernel;
    const auto id = cursor_.whole(object, "kernel_id");
    const auto code_object = cursor_.whole(object, "code_object_id");
    kernel.mangled_name = without_kd(cursor_.text(object, "kernel_name").value_or(""));
    const auto count = [&](std::string_view key) {
      return static_cast<std::uint32_t>(
          std::min<std::uint64_t>(cursor_.whole(object, key).value_or(0), UINT32_MAX));
    };
    kernel.sgprs = count("sgpr_count");
    kernel.vgprs = count("arch_vgpr_count");
    kernel.agprs = count("accum_vgpr_count");
    const auto address = cursor_.handle(object, "kernel_address");
    kernel.name = cursor_.text(object, "formatted_kernel_name").value_or("");
    if (cursor_.damaged()) return;
    if (!id || !code_object) return builder_.malformed();
    if (*id == 0) return;
    if (kernel.name.empty()) kernel.name = kernel.mangled_name;
    kernel.id = *id;
    builder_.kernel(std::move(kernel), *code_object, address);
  }

  Result<void> read_records() {
    return fields_here([this](std::string_view key) -> Result<void> {
      if (key == "kernel_dispatch")
        return objects_here([this](od::object& object) { take_dispatch(object); });
      if (key == "pc_sample_stochastic") return read_samples(Method::stochastic);
      if (key == "pc_sample_host_trap") return read_samples(Method::host_trap);
      return window_.skip();
    });
  }

  bool take_extent(od::object& object, std::string_view key, Workgroup& to) {
    od::object extent;
    if (!cursor_.object_in(object, key, extent)) return false;
    const auto x = cursor_.whole(extent, "x"), y = cursor_.whole(extent, "y"),
               z = cursor_.whole(extent, "z");
    if (!x || !y || !z || std::max({*x, *y, *z}) > UINT32_MAX) return false;
    to = {static_cast<std::uint32_t>(*x), static_cast<std::uint32_t>(*y),
          static_cast<std::uint32_t>(*z)};
    return true;
  }

  void take_dispatch(od::object& object) {
    Dispatch dispatch;
    dispatch.start = cursor_.whole(object, "start_timestamp");
    dispatch.end = cursor_.whole(object, "end_timestamp");
    od::object about;
    if (!cursor_.object_in(object, "dispatch_info", about)) return builder_.malformed();
    const auto agent = cursor_.handle(about, "agent_id");
    const auto kernel = cursor_.whole(about, "kernel_id");
    const auto id = cursor_.whole(about, "dispatch_id");
    const bool sized = take_extent(about, "workgroup_size", dispatch.workgroup) &&
                       take_extent(about, "grid_size", dispatch.grid);
    if (cursor_.damaged()) return;
    if (!sized || !agent || !kernel || !id || !dispatch.start || !dispatch.end ||
        *dispatch.end < *dispatch.start)
      return builder_.malformed();
    dispatch.id = *id;
    dispatch.agent = builder_.agent(*agent);
    builder_.recorded_dispatch(dispatch, *kernel);
  }

  Result<void> read_samples(Method method) {
    PERFLAB_TRY(const char first, window_.peek());
    has_lists_ = has_lists_ || first == '[';
    bool fresh = true;
    return batches_here([&](std::string_view elements) -> Result<void> {
      if (std::exchange(fresh, false)) PERFLAB_TRY_VOID(start_samples(method, elements));
      add_samples(parser_, elements, method, builder_, cursor_);
      if (progress_ && bytes_ > 0)
        progress_("reading " + window_.name(),
                  static_cast<double>(window_.offset()) / static_cast<double>(bytes_));
      return unless_damaged();
    });
  }

  /// Makes room for as many samples as the rest of the file can hold, judged by the first of them:
  /// columns that grow by doubling would take half as much again.
  Result<void> start_samples(Method method, std::string_view elements) {
    PERFLAB_TRY_VOID(builder_.use(method, Form::rocprofv3_json));
    constexpr std::string_view kEach = "\"inst_index\"";
    std::uint64_t many = 0;
    for (std::size_t at = elements.find(kEach); at != elements.npos; ++many)
      at = elements.find(kEach, at + kEach.size());
    const std::uint64_t left = bytes_ > window_.offset() ? bytes_ - window_.offset() : 0;
    if (many > 0) builder_.reserve(left / (elements.size() / many) + many);
    return {};
  }

  JsonWindow& window_;
  std::uint64_t bytes_;
  const TellProgress& progress_;
  Builder builder_;
  JsonCursor cursor_;
  od::parser parser_;
  bool has_lists_ = false;
};

}  // namespace

Result<void> read_json(JsonWindow& window, std::uint64_t bytes, PcSamples& samples,
                       const TellProgress& progress) {
  PERFLAB_TRY(const char first, window.peek());
  const auto no_output = [&window] {
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is JSON, but no output of rocprofv3", window.name()),
                "give the *_results.json of rocprofv3 --pc-sampling-… --output-format json");
  };
  if (first != '{') return no_output();
  std::size_t element = 0;
  bool has_lists = false;
  // In a variable: the macro within the function would hide what this one declares.
  const Result<void> walked = window.each_field([&](std::string_view key) -> Result<void> {
    if (key != kRootKey) return window.skip();
    PERFLAB_TRY(const char bracket, window.peek());
    if (bracket != '[') return no_output();
    return window.each_element([&]() -> Result<void> {
      PERFLAB_TRY(const char brace, window.peek());
      if (brace != '{') return no_output();
      RecordingReader reader(window, bytes, samples, element++, progress);
      PERFLAB_TRY_VOID(reader.read());
      has_lists = has_lists || reader.has_lists();
      return {};
    });
  });
  PERFLAB_TRY_VOID(walked);
  PERFLAB_TRY_VOID(window.finish());
  if (element == 0) return no_output();
  if (!has_lists)
    return fail(ErrorCode::bad_input, fmt::format("{}: has no PC samples", window.name()),
                std::string(kRecordAgain));
  return {};
}

}  // namespace perflab::pc_sampling
