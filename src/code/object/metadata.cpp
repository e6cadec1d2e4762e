// See metadata.h. nlohmann's MessagePack reader sends its events to a handler that fills the
// kernels directly: no tree is built, and depth and sizes are held here.
#include "code/object/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "code/elf/hostile_text.h"

namespace perflab::code {
namespace {

using Sax = nlohmann::json_sax<nlohmann::json>;

// Compilers nest 6 deep. The reader recurses, so this also bounds its stack.
constexpr std::size_t kMostDepth = 64;
// No size, count or offset of a kernel is larger; what is calculated from them cannot overflow.
constexpr std::uint64_t kMostNumber = std::numeric_limits<std::uint32_t>::max();

/// A value that is neither map nor array; monostate stands for nil, floats and binary.
using Scalar = std::variant<std::monostate, bool, std::int64_t, std::string>;

/// A key of a kernel or an argument, and where its value goes.
template <class Owner>
struct Field {
  std::string_view key;
  std::variant<std::string Owner::*, std::int64_t Owner::*, std::optional<std::int64_t> Owner::*,
               bool Owner::*, std::optional<bool> Owner::*>
      member;
  bool required = false;
};

constexpr Field<KernelMetadata> kKernelFields[] = {
    {".name", &KernelMetadata::name, true},
    {".symbol", &KernelMetadata::symbol, true},
    {".kernarg_segment_size", &KernelMetadata::kernarg_bytes, true},
    {".kernarg_segment_align", &KernelMetadata::kernarg_align, true},
    {".group_segment_fixed_size", &KernelMetadata::lds_bytes, true},
    {".private_segment_fixed_size", &KernelMetadata::scratch_bytes, true},
    {".wavefront_size", &KernelMetadata::wave_size, true},
    {".vgpr_count", &KernelMetadata::vgpr_count},
    {".agpr_count", &KernelMetadata::agpr_count},
    {".sgpr_count", &KernelMetadata::sgpr_count},
    {".sgpr_spill_count", &KernelMetadata::sgpr_spills},
    {".vgpr_spill_count", &KernelMetadata::vgpr_spills},
    {".max_flat_workgroup_size", &KernelMetadata::max_workgroup_size},
    {".workgroup_processor_mode", &KernelMetadata::wgp_mode},
    {".uniform_work_group_size", &KernelMetadata::uniform_workgroups},
    {".uses_dynamic_stack", &KernelMetadata::dynamic_stack},
    {".language", &KernelMetadata::language},
    {".kind", &KernelMetadata::kind},
};

constexpr Field<KernelArgument> kArgumentFields[] = {
    {".offset", &KernelArgument::offset, true},
    {".size", &KernelArgument::size, true},
    {".value_kind", &KernelArgument::value_kind, true},
    {".address_space", &KernelArgument::address_space},
    {".name", &KernelArgument::name},
    {".type_name", &KernelArgument::type_name},
    {".access", &KernelArgument::access},
    {".actual_access", &KernelArgument::actual_access},
    {".is_const", &KernelArgument::is_const},
    {".is_restrict", &KernelArgument::is_restrict},
    {".is_volatile", &KernelArgument::is_volatile},
};

/// Puts a value where the field says; else what it should have been.
template <class Owner>
std::string_view assign(Owner& owner, const Field<Owner>& field, Scalar& value) {
  return std::visit(
      [&]<class Member>(Member Owner::* member) -> std::string_view {
        if constexpr (std::is_same_v<Member, std::string>) {
          auto* text = std::get_if<std::string>(&value);
          if (text == nullptr) return "must be a text";
          owner.*member = std::move(*text);
        } else if constexpr (std::is_same_v<Member, bool> ||
                             std::is_same_v<Member, std::optional<bool>>) {
          // Flags are booleans or 0 and 1, by key and compiler.
          const auto* number = std::get_if<std::int64_t>(&value);
          const auto* flag = std::get_if<bool>(&value);
          if (flag == nullptr && (number == nullptr || *number > 1)) return "must be true or false";
          owner.*member = flag != nullptr ? *flag : *number == 1;
        } else {
          const auto* number = std::get_if<std::int64_t>(&value);
          if (number == nullptr) return "must be a whole number below 2^32, not negative";
          owner.*member = *number;
        }
        return {};
      },
      field.member);
}

/// Takes the events of the MessagePack reader. A callback that returns false ends the reading.
class Handler final : public Sax {
 public:
  explicit Handler(Metadata& out) : out_(out) {}

  /// Why the reading ended early; empty: it did not, or the bytes are no MessagePack.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Where the bytes are no MessagePack.
  [[nodiscard]] std::size_t broken_at() const { return broken_at_; }

  bool null() override { return scalar({}); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(number_integer_t value) override {
    return value < 0 ? scalar({}) : number_unsigned(static_cast<number_unsigned_t>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return value > kMostNumber ? scalar({}) : scalar(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t, const string_t&) override { return scalar({}); }
  bool string(string_t& value) override { return scalar(std::move(value)); }
  bool binary(binary_t&) override { return scalar({}); }
  bool key(string_t& value) override;
  bool start_object(std::size_t) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    broken_at_ = position;
    return false;
  }

 private:
  /// What the innermost open map or array is.
  enum class Place { root, top, kernels, kernel, arguments, argument, numbers, texts, skipped };

  [[nodiscard]] Place place() const { return open_.empty() ? Place::root : open_.back(); }
  bool open(Place place);
  bool scalar(Scalar value);
  template <class Owner>
  bool field(Owner& owner, std::span<const Field<Owner>> fields, Scalar& value);
  template <class Owner>
  bool complete(std::span<const Field<Owner>> fields, std::uint32_t seen);
  [[nodiscard]] Place list_of_key() const;
  bool store_numbers();
  bool end_kernel();
  bool wrong(std::string_view problem);
  bool fail_with(std::string text);

  Metadata& out_;
  std::vector<Place> open_;
  std::string key_;
  std::vector<std::int64_t> numbers_;
  std::uint32_t kernel_seen_ = 0;    ///< bit per entry of kKernelFields
  std::uint32_t argument_seen_ = 0;  ///< bit per entry of kArgumentFields
  std::string kernel_problem_;       ///< kept until the kernel's name is known
  bool kernels_seen_ = false;
  std::string problem_;
  std::size_t broken_at_ = 0;
};

bool Handler::fail_with(std::string text) {
  problem_ = std::move(text);
  return false;
}

/// Notes that the value of the current key is wrong. In a kernel the first such note waits for the
/// end of the kernel, because its name may come after.
bool Handler::wrong(std::string_view problem) {
  const bool in_kernel = std::ranges::find(open_, Place::kernel) != open_.end();
  std::string text = fmt::format("{} {}", in_quotes(key_), problem);
  if (!in_kernel) return fail_with(std::move(text));
  if (std::ranges::find(open_, Place::argument) != open_.end())
    text = fmt::format("argument {}: {}", out_.kernels.back().arguments.size(), text);
  if (kernel_problem_.empty()) kernel_problem_ = std::move(text);
  return true;
}

template <class Owner>
bool Handler::field(Owner& owner, std::span<const Field<Owner>> fields, Scalar& value) {
  const auto found = std::ranges::find(fields, key_, &Field<Owner>::key);
  if (found == fields.end()) {
    // A list or map was wanted where a scalar stands.
    return list_of_key() == Place::skipped || wrong("must be a list");
  }
  std::uint32_t& seen = std::is_same_v<Owner, KernelMetadata> ? kernel_seen_ : argument_seen_;
  seen |= 1U << static_cast<unsigned>(found - fields.begin());
  const std::string_view problem = assign(owner, *found, value);
  return problem.empty() || wrong(problem);
}

template <class Owner>
bool Handler::complete(std::span<const Field<Owner>> fields, std::uint32_t seen) {
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].required && (seen >> i & 1U) == 0) {
      key_ = fields[i].key;
      return wrong("is missing");
    }
  return true;
}

/// What a list under the current key is.
Handler::Place Handler::list_of_key() const {
  if (place() == Place::top) {
    if (key_ == "amdhsa.kernels") return Place::kernels;
    if (key_ == "amdhsa.version") return Place::numbers;
    if (key_ == "amdhsa.printf") return Place::texts;
  } else if (place() == Place::kernel) {
    if (key_ == ".args") return Place::arguments;
    if (key_ == ".reqd_workgroup_size" || key_ == ".language_version") return Place::numbers;
  }
  return Place::skipped;
}

bool Handler::scalar(Scalar value) {
  switch (place()) {
    case Place::root:
      return fail_with("it is not a map");
    case Place::top:
      if (key_ != "amdhsa.target")
        return list_of_key() == Place::skipped || wrong("must be a list");
      if (!std::holds_alternative<std::string>(value)) return wrong("must be a text");
      out_.target = std::get<std::string>(std::move(value));
      return true;
    case Place::kernel:
      return field<KernelMetadata>(out_.kernels.back(), kKernelFields, value);
    case Place::argument:
      return field<KernelArgument>(out_.kernels.back().arguments.back(), kArgumentFields, value);
    case Place::numbers:
      // More than any list of numbers has; the end of the list says so.
      if (numbers_.size() > 3) return true;
      if (!std::holds_alternative<std::int64_t>(value))
        return wrong("must be a list of whole numbers");
      numbers_.push_back(std::get<std::int64_t>(value));
      return true;
    case Place::texts:
      if (!std::holds_alternative<std::string>(value)) return wrong("must be a list of texts");
      out_.printf_formats.push_back(std::get<std::string>(std::move(value)));
      return true;
    case Place::kernels:
      key_ = "amdhsa.kernels";
      return wrong("must be a list of maps");
    case Place::arguments:
      key_ = ".args";
      return wrong("must be a list of maps");
    case Place::skipped:
      return true;
  }
  return true;
}

bool Handler::key(string_t& value) {
  if (place() != Place::skipped) key_.swap(value);
  return true;
}

bool Handler::open(Place place) {
  if (open_.size() >= kMostDepth) return fail_with("it is nested too deeply");
  open_.push_back(place);
  return true;
}

bool Handler::start_object(std::size_t) {
  switch (place()) {
    case Place::root:
      return open(Place::top);
    case Place::kernels:
      out_.kernels.emplace_back();
      kernel_seen_ = 0;
      return open(Place::kernel);
    case Place::arguments:
      // A kernel that will be refused takes no more: a byte of the note each, they would cost much.
      if (!kernel_problem_.empty()) return open(Place::skipped);
      out_.kernels.back().arguments.emplace_back();
      argument_seen_ = 0;
      return open(Place::argument);
    case Place::skipped:
      return open(Place::skipped);
    default:
      // Where something else is wanted, as if it were nil; under a key that is not known, skipped.
      return scalar({}) && open(Place::skipped);
  }
}

bool Handler::start_array(std::size_t) {
  const Place list = list_of_key();
  switch (list) {
    case Place::kernels:
      if (std::exchange(kernels_seen_, true)) return wrong("is there twice");
      break;
    case Place::arguments:
      if (!out_.kernels.back().arguments.empty() && !wrong("is there twice")) return false;
      break;
    case Place::numbers:
      numbers_.clear();
      break;
    case Place::texts:
      break;
    default:
      if (place() != Place::skipped && !scalar({})) return false;
  }
  return open(list);
}

bool Handler::end_array() {
  const Place closed = place();
  open_.pop_back();
  return closed != Place::numbers || store_numbers();
}

bool Handler::store_numbers() {
  const bool workgroup = key_ == ".reqd_workgroup_size";
  if (numbers_.size() != (workgroup ? 3U : 2U))
    return wrong(workgroup ? "must have three numbers" : "must have two numbers");
  if (workgroup)
    out_.kernels.back().required_workgroup_size = {numbers_[0], numbers_[1], numbers_[2]};
  else if (place() == Place::kernel)
    out_.kernels.back().language_version = {numbers_[0], numbers_[1]};
  else
    out_.version = {numbers_[0], numbers_[1]};
  return true;
}

bool Handler::end_object() {
  const Place closed = place();
  if (closed == Place::argument && !complete<KernelArgument>(kArgumentFields, argument_seen_))
    return false;
  if (closed == Place::kernel &&
      (!complete<KernelMetadata>(kKernelFields, kernel_seen_) || !end_kernel()))
    return false;
  open_.pop_back();
  if (closed == Place::top && !kernels_seen_) return fail_with("\"amdhsa.kernels\" is missing");
  return true;
}

/// Ends the reading if something was wrong with the kernel, now that its name is known.
bool Handler::end_kernel() {
  const KernelMetadata& kernel = out_.kernels.back();
  if (kernel_problem_.empty() && kernel.wave_size != 32 && kernel.wave_size != 64)
    kernel_problem_ = fmt::format("\".wavefront_size\" is {}, not 32 or 64", kernel.wave_size);
  if (kernel_problem_.empty()) return true;
  const std::string name = kernel.name.empty() ? "" : " " + in_quotes(kernel.name);
  return fail_with(fmt::format("kernel {}{}: {}", out_.kernels.size(), name, kernel_problem_));
}

}  // namespace

Result<Metadata> read_metadata(std::string_view note, std::string_view what) {
  Metadata metadata;
  Handler handler(metadata);
  // What follows the map is padding.
  const bool read = nlohmann::json::sax_parse(note.begin(), note.end(), &handler,
                                              nlohmann::json::input_format_t::msgpack, false);
  if (read) return metadata;
  if (!handler.problem().empty())
    return fail(ErrorCode::bad_input, fmt::format("{}: metadata: {}", what, handler.problem()));
  return fail(ErrorCode::bad_input, fmt::format("{}: the metadata is damaged at byte {} of its {}",
                                                what, handler.broken_at(), note.size()));
}

}  // namespace perflab::code
