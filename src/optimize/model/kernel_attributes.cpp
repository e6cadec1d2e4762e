// __launch_bounds__ and the attributes of clang's AMDGPU target: where they stand is told by the
// tokens, what they say by clang's print of the declaration, in which macros are expanded (it
// leaves them out for templates: there macros are looked up).
#include <algorithm>
#include <array>
#include <functional>

#include "base/text/numbers.h"
#include "base/text/text.h"
#include "optimize/model/modelled_source.h"

namespace perflab::optimize {
namespace {

constexpr int kMostNesting = 32;

/// The value of a constant expression of +, -, *, /, %, shifts, parentheses, numbers and names.
class ConstantReader {
 public:
  using Lookup = std::function<std::optional<std::int64_t>(std::string_view)>;
  ConstantReader(std::string_view text, const Lookup& lookup) : text_(text), lookup_(lookup) {}

  std::optional<std::int64_t> read() {
    const auto value = shifted();
    skip();
    return text_.empty() ? value : std::nullopt;
  }

 private:
  using Value = std::optional<std::int64_t>;

  void skip() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n' ||
                              text_.front() == '\t' || text_.front() == '\r'))
      text_.remove_prefix(1);
  }
  bool take(std::string_view symbol) {
    skip();
    if (!text_.starts_with(symbol)) return false;
    text_.remove_prefix(symbol.size());
    return true;
  }
  Value shifted() {
    Value left = sum();
    while (left) {
      const bool up = take("<<");
      if (!up && !take(">>")) return left;
      const Value right = sum();
      if (!right || *right < 0 || *right > 31 || *left < 0 || *left > (std::int64_t{1} << 31))
        return std::nullopt;
      left = up ? *left << *right : *left >> *right;
    }
    return left;
  }
  Value sum() {
    Value left = product();
    while (left) {
      const bool plus = take("+");
      if (!plus && !take("-")) return left;
      const Value right = product();
      std::int64_t result = 0;
      if (!right || (plus ? __builtin_add_overflow(*left, *right, &result)
                          : __builtin_sub_overflow(*left, *right, &result)))
        return std::nullopt;
      left = result;
    }
    return left;
  }
  Value product() {
    Value left = unary();
    while (left) {
      const bool times = take("*");
      const bool over = !times && take("/");
      if (!times && !over && !take("%")) return left;
      const Value right = unary();
      std::int64_t result = 0;
      if (!right || (!times && (*right == 0 || *right == -1))) return std::nullopt;
      if (times && __builtin_mul_overflow(*left, *right, &result)) return std::nullopt;
      left = times ? result : over ? *left / *right : *left % *right;
    }
    return left;
  }
  Value unary() {
    if (++depth_ > kMostNesting) return std::nullopt;
    skip();
    if (take("(")) {
      const Value inner = shifted();
      return take(")") ? inner : std::nullopt;
    }
    std::size_t length = 0;
    while (length < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[length])) != 0 || text_[length] == '_' ||
            text_[length] == '\'' || text_.substr(length, 2) == "::" ||
            (length > 0 && text_.substr(length - 1, 2) == "::")))
      ++length;
    const std::string_view word = text_.substr(0, length);
    if (word.empty()) return std::nullopt;
    text_.remove_prefix(length);
    return word.front() >= '0' && word.front() <= '9' ? number(word) : lookup_(word);
  }
  static Value number(std::string_view word) {
    std::string digits;
    for (const char c : word)
      if (c != '\'') digits.push_back(lower(c));
    while (!digits.empty() && (digits.back() == 'u' || digits.back() == 'l')) digits.pop_back();
    const bool hex = digits.starts_with("0x");
    const bool octal = !hex && digits.size() > 1 && digits.front() == '0';
    return whole_number<std::int64_t>(std::string_view(digits).substr(hex ? 2 : 0), hex     ? 16
                                                                                    : octal ? 8
                                                                                            : 10);
  }

  std::string_view text_;
  const Lookup& lookup_;
  int depth_ = 0;
};

/// Values of names: constants and macros of the source, and -D.
class ConstantNames {
 public:
  explicit ConstantNames(const ParsedSource& source) : source_(source) {}

  std::optional<std::int64_t> operator()(std::string_view name) {
    if (++depth_ > kMostNesting) return std::nullopt;
    if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos)
      name.remove_prefix(colon + 1);
    const std::string text = macro(name);
    auto value = text.empty() ? variable(source_.root(), name) : value_in(text);
    --depth_;
    return value;
  }
  std::optional<std::int64_t> value_in(std::string_view text) {
    const ConstantReader::Lookup lookup = [this](std::string_view name) { return (*this)(name); };
    return ConstantReader(text, lookup).read();
  }
  /// What an object-like macro of the source stands for; empty: there is none.
  [[nodiscard]] std::string macro(std::string_view name) const {
    for (const std::string& argument : source_.options().arguments)
      if (argument.starts_with("-D" + std::string(name) + "="))
        return argument.substr(name.size() + 3);
    std::string text;
    for (const CXCursor cursor : source_.children(source_.root())) {
      if (source_.api().getCursorKind(cursor) != CXCursor_MacroDefinition ||
          !source_.in_main_file(cursor) || source_.spelling(cursor) != name)
        continue;
      const auto place = source_.name_place(cursor);
      const ParsedSource::Extent extent = source_.extent_of(cursor);
      if (place && *place + name.size() < extent.range.end)
        text = source_.at({static_cast<std::uint32_t>(*place + name.size()), extent.range.end});
    }
    return text;
  }

 private:
  [[nodiscard]] std::optional<std::int64_t> variable(CXCursor scope, std::string_view name) const {
    for (const CXCursor cursor : source_.children(scope)) {
      const CXCursorKind kind = source_.api().getCursorKind(cursor);
      if ((kind != CXCursor_VarDecl && kind != CXCursor_Namespace) ||
          source_.in_system_header(cursor))
        continue;
      if (kind == CXCursor_Namespace) {
        if (auto value = variable(cursor, name)) return value;
      } else if (source_.spelling(cursor) == name) {
        return source_.value_of(cursor);
      }
    }
    return std::nullopt;
  }

  const ParsedSource& source_;
  int depth_ = 0;
};

/// The text between the parentheses that begin a text; missing: they are not closed.
std::optional<std::string_view> in_parentheses(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return text.substr(1, i - 1);
  }
  return std::nullopt;
}

std::vector<std::int64_t> values_of(std::string_view arguments, ConstantNames& names) {
  std::vector<std::int64_t> values;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= arguments.size(); ++i) {
    if (i < arguments.size() && arguments[i] == '(') ++depth;
    if (i < arguments.size() && arguments[i] == ')') --depth;
    if (i < arguments.size() && (arguments[i] != ',' || depth != 0)) continue;
    const auto value = names.value_in(arguments.substr(begin, i - begin));
    if (!value) return values;
    values.push_back(*value);
    begin = i + 1;
  }
  return values;
}

constexpr auto kKernelAttributes = std::to_array<std::string_view>(
    {"launch_bounds", "amdgpu_waves_per_eu", "amdgpu_flat_work_group_size", "amdgpu_num_vgpr",
     "amdgpu_num_sgpr"});

}  // namespace

std::vector<KernelAttribute> kernel_attributes(const ParsedSource& source, CXCursor kernel,
                                               const TextRange& header) {
  ConstantNames names(source);
  const std::string printed = source.printed(kernel);
  std::vector<KernelAttribute> found;
  for (const std::string_view name : kKernelAttributes) {
    KernelAttribute attribute;
    attribute.name = name;
    std::optional<std::string_view> arguments;
    const std::size_t end = source.token_from(header.end);
    for (std::size_t i = source.token_from(header.begin); i < end; ++i) {
      std::string_view word = source.token(i);
      if (word == "__launch_bounds__") word = "launch_bounds";
      if (word != name || source.token(i + 1) != "(") continue;
      const std::size_t close = source.closing(i + 1, end);
      if (close >= end) continue;
      attribute.range = {source.tokens()[i].range.begin, source.tokens()[close].range.end};
      arguments = source.at({source.tokens()[i + 1].range.end, source.tokens()[close].range.begin});
      break;
    }
    if (const std::size_t at = printed.find(std::string(name) + "("); at != std::string::npos)
      arguments = in_parentheses(std::string_view(printed).substr(at + name.size()));
    std::string macro_text;
    for (std::size_t i = source.token_from(header.begin); !arguments && i < end; ++i) {
      if (!source.expansion_at(source.tokens()[i].range.begin)) continue;
      macro_text = names.macro(source.token(i));
      if (const std::size_t at = macro_text.find(name); at != std::string::npos)
        if (const std::size_t open = macro_text.find('(', at); open != std::string::npos)
          arguments = in_parentheses(std::string_view(macro_text).substr(open));
    }
    if (!arguments) continue;
    attribute.values = values_of(*arguments, names);
    found.push_back(std::move(attribute));
  }
  return found;
}

}  // namespace perflab::optimize
