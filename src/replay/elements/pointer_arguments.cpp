// The addresses among a kernel's arguments and what they point to: from the metadata's argument
// list (docs/facts/code_object.md "Metadata") and from the parameters in the demangled name, which
// is where HIP's compiler leaves the types. Modules of CUDA say offsets and sizes alone.
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/enum_names.h"
#include "base/text/text.h"
#include "code/object/code_object.h"
#include "replay/elements/element_type.h"

namespace perflab::replay {
namespace {

struct NamedType {
  std::string_view name;
  ElementType type;
};

/// C and C++ names, those of HIP's headers (hip_fp16.h, hip_bf16.h, hip_fp8.h) and OpenCL's.
constexpr NamedType kNames[] = {
    {"float", ElementType::f32},
    {"double", ElementType::f64},
    {"half", ElementType::f16},
    {"__half", ElementType::f16},
    {"_Float16", ElementType::f16},
    {"__fp16", ElementType::f16},
    {"__bf16", ElementType::bf16},
    {"bfloat16", ElementType::bf16},
    {"std::bfloat16_t", ElementType::bf16},
    {"hip_bfloat16", ElementType::bf16},
    {"__hip_bfloat16", ElementType::bf16},
    {"__hip_fp8_e4m3", ElementType::f8_e4m3},
    {"__hip_fp8_e5m2", ElementType::f8_e5m2},
    {"__hip_fp8_e4m3_fnuz", ElementType::f8_e4m3fnuz},
    {"__hip_fp8_e5m2_fnuz", ElementType::f8_e5m2fnuz},
    {"__nv_bfloat16", ElementType::bf16},
    {"__nv_fp8_e4m3", ElementType::f8_e4m3},
    {"__nv_fp8_e5m2", ElementType::f8_e5m2},
    {"char", ElementType::i8},
    {"signed char", ElementType::i8},
    {"unsigned char", ElementType::u8},
    {"uchar", ElementType::u8},
    {"short", ElementType::i16},
    {"unsigned short", ElementType::u16},
    {"ushort", ElementType::u16},
    {"int", ElementType::i32},
    {"unsigned int", ElementType::u32},
    {"unsigned", ElementType::u32},
    {"uint", ElementType::u32},
    {"long", ElementType::i64},
    {"long long", ElementType::i64},
    {"unsigned long", ElementType::u64},
    {"unsigned long long", ElementType::u64},
    {"ulong", ElementType::u64},
    {"size_t", ElementType::u64},
};

std::optional<ElementType> exact_name(std::string_view name) {
  const auto* const row = std::ranges::find(kNames, name, &NamedType::name);
  if (row != std::end(kNames)) return row->type;
  // int8_t ... uint64_t: the numbers of bits say it.
  if (!name.ends_with("_t")) return std::nullopt;
  const bool is_unsigned = name.starts_with('u');
  name.remove_prefix(is_unsigned ? 1 : 0);
  if (!name.starts_with("int")) return std::nullopt;
  const std::string_view bits = name.substr(3, name.size() - 5);
  const std::string short_name = fmt::format("{}{}", is_unsigned ? 'u' : 'i', bits);
  return from_name<ElementType>(short_name);
}

/// Removes a word wherever it stands between blanks.
void drop_word(std::string& text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const std::size_t end = at + word.size();
    const bool alone = (at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ');
    if (!alone) {
      at = end;
      continue;
    }
    text.erase(at, word.size());
  }
  text = std::string(trimmed(text));
}

/// "float const* __restrict__" -> "float const"; missing when it is no pointer.
std::optional<std::string> pointee_of(std::string_view parameter) {
  std::string text(parameter);
  std::size_t star = text.rfind('*');
  if (star == std::string::npos) star = text.rfind('&');
  if (star == std::string::npos || text.find('>', star) != std::string::npos ||
      text.find(')', star) != std::string::npos)
    return std::nullopt;
  return std::string(trimmed(std::string_view(text).substr(0, star)));
}

bool is_const(std::string_view pointee) {
  return pointee.starts_with("const ") || pointee.ends_with(" const") ||
         (pointee.ends_with("const") && pointee.find('*') != std::string_view::npos);
}

/// Parameters of a demangled name: those of the last list in round brackets at the outermost level.
/// Empty when the name has no list.
std::vector<std::string> parameters_of(std::string_view demangled) {
  const std::size_t close = demangled.rfind(')');
  if (close == std::string_view::npos) return {};
  int depth = 0;
  std::size_t end = close;
  std::vector<std::string> out;
  for (std::size_t at = close + 1; at-- > 0;) {
    const char c = demangled[at];
    if (c == ')' || c == '>' || c == ']' || c == '}') ++depth;
    if (c == '(' || c == '<' || c == '[' || c == '{') --depth;
    if ((depth == 0 && c == '(') || (depth == 1 && c == ',')) {
      out.emplace_back(trimmed(demangled.substr(at + 1, end - at - 1)));
      end = at;
    }
    if (depth == 0) {
      std::ranges::reverse(out);
      if (out.size() == 1 && out.front().empty()) out.clear();
      return out;
    }
  }
  return {};
}

std::string demangled_name(const capture::Dispatch& dispatch) {
  if (dispatch.demangled.find('(') != std::string::npos) return dispatch.demangled;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(dispatch.kernel.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : dispatch.demangled;
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof(word));
  return word;
}

/// Every aligned word of [first, last) that is an address of captured memory.
void add_words(std::vector<PointerArgument>& out, const capture::Capture& capture,
               std::uint64_t first, std::uint64_t last) {
  const auto kernarg = capture.kernarg();
  last = std::min<std::uint64_t>(last, kernarg.size());
  for (std::uint64_t at = (first + 7) / 8 * 8; at + 8 <= last; at += 8) {
    const std::uint64_t word = word_at(kernarg, at);
    if (region_at(capture.description(), word))
      out.push_back({.kernarg_offset = at, .address = word, .writable = true, .pointee = {}});
  }
}

PointerArgument pointer_of(const code::KernelArgument& argument, const std::string& parameter,
                           std::uint64_t address) {
  PointerArgument out;
  out.kernarg_offset = static_cast<std::uint64_t>(argument.offset);
  out.address = address;
  out.writable =
      !argument.is_const && argument.access != "read_only" && argument.actual_access != "read_only";
  for (const std::string& text : {argument.type_name, parameter}) {
    const auto pointee = pointee_of(text);
    if (!pointee) continue;
    if (is_const(*pointee)) out.writable = false;
    if (!out.pointee) out.pointee = type_of_name(*pointee);
  }
  return out;
}

/// Of a launch of CUDA: what the signature calls a pointer is one, the rest may hold some.
std::vector<PointerArgument> cuda_pointers(const capture::Capture& capture) {
  const capture::Dispatch& dispatch = capture.description().dispatch;
  std::vector<PointerArgument> out;
  if (!dispatch.cuda || dispatch.cuda->parameters.empty()) {
    add_words(out, capture, 0, capture.kernarg().size());
    return out;
  }
  const std::vector<capture::Parameter>& captured = dispatch.cuda->parameters;
  std::vector<std::string> parameters = parameters_of(demangled_name(dispatch));
  if (parameters.size() != captured.size()) parameters.clear();
  for (std::size_t i = 0; i < captured.size(); ++i) {
    const std::uint64_t first = captured[i].offset, last = first + captured[i].size;
    const auto pointee =
        i < parameters.size() ? pointee_of(parameters[i]) : std::optional<std::string>{};
    if (pointee && captured[i].size == 8 && last <= capture.kernarg().size())
      out.push_back({.kernarg_offset = first,
                     .address = word_at(capture.kernarg(), first),
                     .writable = !is_const(*pointee),
                     .pointee = type_of_name(*pointee)});
    else
      add_words(out, capture, first, last);
  }
  return out;
}

}  // namespace

std::optional<ElementType> type_of_name(std::string_view name) {
  std::string text(name);
  for (const std::string_view word : {"const", "volatile", "__restrict__", "restrict", "struct"})
    drop_word(text, word);
  constexpr std::string_view kVector = "HIP_vector_type<";
  if (text.starts_with(kVector))
    text = text.substr(kVector.size(), text.find(',') - kVector.size());
  if (const auto type = exact_name(text)) return type;
  // float4, uint2, __half2: a vector of the same elements.
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.back())) == 0) return {};
  while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.back())) != 0)
    text.pop_back();
  // "__hip_bfloat162" has lost the 16 of its element too.
  if (text.ends_with("bfloat")) text += "16";
  return exact_name(text);
}

Result<std::vector<PointerArgument>> pointer_arguments(const capture::Capture& capture) {
  if (capture.description().machine.platform == capture::Platform::cuda)
    return cuda_pointers(capture);
  const capture::Dispatch& dispatch = capture.description().dispatch;
  const auto bytes = capture.code_object();
  PERFLAB_TRY(const code::CodeObject object,
              code::read_code_object({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                     capture.code_object_path().string()));
  const auto kernel =
      std::ranges::find(object.kernels, dispatch.kernel, &code::KernelMetadata::name);
  std::vector<PointerArgument> out;
  if (kernel == object.kernels.end() || kernel->arguments.empty()) {
    add_words(out, capture, 0, capture.kernarg().size());
    return out;
  }
  const auto explicit_ones =
      std::ranges::count_if(kernel->arguments, [](const auto& a) { return !a.hidden(); });
  std::vector<std::string> parameters = parameters_of(demangled_name(dispatch));
  // Another number of parameters: the name is not this kernel's signature.
  if (static_cast<std::ptrdiff_t>(parameters.size()) != explicit_ones) parameters.clear();
  std::size_t number = 0;
  for (const code::KernelArgument& argument : kernel->arguments) {
    if (argument.hidden()) continue;
    const std::string parameter = number < parameters.size() ? parameters[number] : "";
    ++number;
    if (argument.offset < 0 || argument.size < 0) continue;
    const auto first = static_cast<std::uint64_t>(argument.offset);
    const auto size = static_cast<std::uint64_t>(argument.size);
    if (argument.value_kind == "global_buffer" && size == 8 &&
        first + 8 <= capture.kernarg().size())
      out.push_back(pointer_of(argument, parameter, word_at(capture.kernarg(), first)));
    else if (argument.value_kind == "by_value")
      add_words(out, capture, first, first + size);
  }
  return out;
}

std::optional<std::size_t> region_at(const capture::Description& description,
                                     std::uint64_t address) {
  for (std::size_t i = 0; i < description.regions.size(); ++i) {
    const capture::MemoryRegion& region = description.regions[i];
    if (region.captured() && address >= region.base && address - region.base < region.bytes)
      return i;
  }
  return std::nullopt;
}

std::optional<ElementType> type_from_arguments(const capture::Description& description,
                                               const std::vector<PointerArgument>& arguments,
                                               std::size_t region) {
  std::optional<ElementType> type;
  for (const PointerArgument& argument : arguments) {
    if (!argument.pointee || region_at(description, argument.address) != region) continue;
    if (type && type != argument.pointee) return std::nullopt;
    type = argument.pointee;
  }
  return type;
}

}  // namespace perflab::replay
