// Identifiers and literals after ISO C++17: [lex.name], [lex.key], [lex.string], [lex.icon].
#include "report/tuning/dispatch_table_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/version.h"
#include "report/kit/text_parts.h"

namespace perflab::report {
namespace {

using tune::Value;

/// Keywords and alternative tokens up to C++23, and what the header itself is made of.
constexpr auto kTaken =
    std::to_array<std::string_view>({"alignas",       "alignof",      "and",
                                     "and_eq",        "asm",          "auto",
                                     "bitand",        "bitor",        "bool",
                                     "break",         "case",         "catch",
                                     "char",          "char8_t",      "char16_t",
                                     "char32_t",      "class",        "compl",
                                     "concept",       "const",        "consteval",
                                     "constexpr",     "constinit",    "const_cast",
                                     "continue",      "co_await",     "co_return",
                                     "co_yield",      "decltype",     "default",
                                     "delete",        "do",           "double",
                                     "dynamic_cast",  "else",         "enum",
                                     "explicit",      "export",       "extern",
                                     "false",         "float",        "for",
                                     "friend",        "goto",         "if",
                                     "inline",        "int",          "long",
                                     "mutable",       "namespace",    "new",
                                     "noexcept",      "not",          "not_eq",
                                     "nullptr",       "operator",     "or",
                                     "or_eq",         "private",      "protected",
                                     "public",        "register",     "reinterpret_cast",
                                     "requires",      "return",       "short",
                                     "signed",        "sizeof",       "static",
                                     "static_assert", "static_cast",  "std",
                                     "struct",        "switch",       "template",
                                     "this",          "thread_local", "throw",
                                     "true",          "try",          "typedef",
                                     "typeid",        "typename",     "union",
                                     "unsigned",      "using",        "virtual",
                                     "void",          "volatile",     "wchar_t",
                                     "while",         "xor",          "xor_eq",
                                     "Configuration", "choose"});

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A string literal; what is no printable ASCII as three octal digits, which end where they end.
std::string text_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c < ' ' || c > '~' || c == '?')  // "??/" was a trigraph
      out += fmt::format("\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out + '"';
}

std::string real_literal(double value) {
  std::string text = fmt::format("{}", value);  // the shortest that reads back
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string whole_literal(std::int64_t value) {
  // There are no negative literals: the least number would be minus one that is too large.
  if (value == INT64_MIN) return fmt::format("{} - 1", whole_literal(value + 1));
  return fmt::format("{}{}", value, value > INT32_MAX || value < INT32_MIN ? "LL" : "");
}

/// How the values of a parameter are declared.
enum class Type { truth, whole, real, text };

Type type_of(const Value& value) {
  if (std::holds_alternative<bool>(value)) return Type::truth;
  if (std::holds_alternative<std::int64_t>(value)) return Type::whole;
  return std::holds_alternative<double>(value) ? Type::real : Type::text;
}

std::string literal(const Value& value, Type type) {
  if (type == Type::text) return text_literal(tune::to_text(value));
  if (type == Type::real) return real_literal(*tune::number_of(value));
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) return whole_literal(*whole);
  const bool truth = std::get<bool>(value);
  return type == Type::whole ? (truth ? "1" : "0") : truth ? "true" : "false";
}

/// Identifiers of these names. Error (bad_input): two are the same.
Result<std::vector<std::string>> identifiers(const std::vector<std::string>& names,
                                             std::string_view what) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string one = cpp_identifier(names[i]);
    if (const auto same = std::ranges::find(out, one); same != out.end())
      return fail(ErrorCode::bad_input,
                  fmt::format("--header: the {} '{}' and '{}' would both be called {} in C++", what,
                              names[static_cast<std::size_t>(same - out.begin())], names[i], one),
                  "leave --header out: --json has the table under any names");
    out.push_back(std::move(one));
  }
  return out;
}

class HeaderWriter {
 public:
  HeaderWriter(const DispatchTableData& data, std::vector<std::string> sizes,
               std::vector<std::string> parameters)
      : data_(data), sizes_(std::move(sizes)), parameters_(std::move(parameters)) {
    // bool among whole numbers is one, whole numbers among reals are reals, and so on.
    types_.assign(parameters_.size(), Type::truth);
    for (const tune::RuleNode& node : data_.table.rule.nodes)
      for (std::size_t i = 0; !node.question && i < types_.size(); ++i)
        types_[i] = std::max(types_[i], type_of(values(node)[i]));
  }

  std::string text(std::string_view name) {
    out_ = head();
    out_ += fmt::format("#pragma once\n\nnamespace {} {{\n\nstruct Configuration {{\n", name);
    static constexpr std::array<std::string_view, 4> kTypes = {"bool ", "long long ", "double ",
                                                               "const char* "};
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      out_ += fmt::format("  {}{};{}\n", kTypes.at(static_cast<std::size_t>(types_[i])),
                          parameters_[i], called(parameters_[i], data_.measured.parameters[i]));
    out_ += "};\n\n/// The configuration for a problem of these sizes";
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      if (const std::string note = called(sizes_[i], data_.measured.sizes[i]); !note.empty())
        out_ += fmt::format("; {}:{}", sizes_[i], note.substr(4));
    std::string arguments;
    for (const std::string& size : sizes_)
      arguments += fmt::format("{}double {}", arguments.empty() ? "" : ", ", size);
    out_ += fmt::format(".\ninline Configuration choose({}) {{\n", arguments);
    unused_sizes();
    node(0, 2);
    out_ += fmt::format("}}\n\n}}  // namespace {}\n", name);
    return std::move(out_);
  }

 private:
  [[nodiscard]] const std::vector<Value>& values(const tune::RuleNode& node) const {
    return data_.measured.configurations[node.configuration];
  }

  /// A comment with the name in the recordings, where it is another one.
  static std::string called(const std::string& identifier, const std::string& name) {
    return identifier == name ? "" : "  // " + text_literal(name);
  }

  [[nodiscard]] std::string head() const {
    const tune::DispatchTable& table = data_.table;
    std::string out = fmt::format(
        "// Which configuration for which problem size: do not edit.\n"
        "// Written by rocm-perf {}, dispatch-table.\n//\n",
        kProgramVersion);
    out +=
        "// What is lost against the best measured configuration of each problem, as a geometric\n"
        "// mean, and at worst:\n";
    out += losses("by this table", table.by_rule.losses);
    out += losses("by one configuration for all", table.single.losses);
    out += losses("by tables learned without the problem (to expect of other sizes)",
                  table.by_rule.unseen_losses);
    out += "//\n// Learned from:\n";
    for (const tune::TunedProblem& problem : data_.measured.problems) {
      std::vector<std::string> size;
      for (std::size_t i = 0; i < sizes_.size(); ++i)
        size.push_back(fmt::format("{} = {}", sizes_[i], problem.size[i]));
      out += fmt::format("//   {}: {}\n", fmt::join(size, ", "), text_literal(problem.file));
    }
    return out;
  }

  static std::string losses(std::string_view what, const tune::LossFigures& losses) {
    std::string text = !losses.mean ? "not known"
                                    : fmt::format("{}, at worst {}", percent(*losses.mean),
                                                  percent(*losses.worst));
    if (const std::size_t unknown = losses.not_measured + losses.failed; unknown > 0)
      text += fmt::format(" ({} failed or not measured there)", counted(unknown, "problem"));
    return fmt::format("//   {}: {}\n", what, text);
  }

  /// Sizes that no question is about: compilers warn of them otherwise.
  void unused_sizes() {
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      if (std::ranges::none_of(data_.table.rule.nodes, [&](const tune::RuleNode& one) {
            return one.question && (one.question->feature.first == i ||
                                    (one.question->feature.kind != tune::Feature::Kind::size &&
                                     one.question->feature.second == i));
          }))
        out_ += fmt::format("  static_cast<void>({});\n", sizes_[i]);
  }

  void node(std::size_t at, std::size_t margin) {
    const tune::RuleNode& one = data_.table.rule.nodes[at];
    const std::string blanks(margin, ' ');
    if (!one.question) {
      std::vector<std::string> literals;
      for (std::size_t i = 0; i < types_.size(); ++i)
        literals.push_back(literal(values(one)[i], types_[i]));
      out_ += fmt::format("{}return Configuration{{{}}};\n", blanks, fmt::join(literals, ", "));
      return;
    }
    const tune::Feature& feature = one.question->feature;
    std::string asked = sizes_[feature.first];
    if (feature.kind != tune::Feature::Kind::size)
      asked += fmt::format(" {} {}", feature.kind == tune::Feature::Kind::product ? '*' : '/',
                           sizes_[feature.second]);
    out_ += fmt::format("{}if ({} < {}) {{\n", blanks, asked, real_literal(one.question->below));
    node(one.question->yes, margin + 2);
    out_ += blanks + "}\n";
    node(one.question->no, margin);
  }

  const DispatchTableData& data_;
  std::vector<std::string> sizes_, parameters_;
  std::vector<Type> types_;
  std::string out_;
};

}  // namespace

std::string cpp_identifier(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const char kept = is_letter(c) || is_digit(c) ? c : '_';
    if (kept != '_' || !out.ends_with('_')) out += kept;  // two of them are reserved
  }
  if (out.empty() || !is_letter(out.front())) out.insert(0, out.starts_with('_') ? "p" : "p_");
  if (std::ranges::find(kTaken, out) != kTaken.end()) out += '_';
  return out;
}

Result<std::string> dispatch_table_header(const DispatchTableData& data, std::string_view name) {
  PERFLAB_TRY(std::vector<std::string> sizes, identifiers(data.measured.sizes, "sizes"));
  PERFLAB_TRY(std::vector<std::string> parameters,
              identifiers(data.measured.parameters, "parameters"));
  return HeaderWriter(data, std::move(sizes), std::move(parameters)).text(cpp_identifier(name));
}

}  // namespace perflab::report
