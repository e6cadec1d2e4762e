// Demangled names as LLVM and libstdc++ write them; nothing is parsed but brackets.
#include "report/kit/kernel_name.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

constexpr std::string_view kUnnamed = "(anonymous namespace)";

/// A name in pieces: its text up to the parameters, and where that is outside of "<…>".
class Declaration {
 public:
  explicit Declaration(std::string_view name) {
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const char c = name[i];
      if (depth == 0 && name.substr(i).starts_with(kUnnamed)) {
        add(name.substr(i, kUnnamed.size()), false);
        i += kUnnamed.size() - 1;
        continue;
      }
      if (depth == 0 && c == '(') break;
      if (c == '<') ++depth;
      add(name.substr(i, 1), depth == 0);
      if (c == '>') depth = std::max(depth - 1, 0);
    }
  }

  [[nodiscard]] std::string whole() const { return text_; }

  /// From behind the last blank outside of brackets.
  [[nodiscard]] std::size_t name_begin() const {
    for (std::size_t i = text_.size(); i > 0; --i)
      if (outside_[i - 1] && text_[i - 1] == ' ') return i;
    return 0;
  }

  /// From behind the last "::" outside of brackets.
  [[nodiscard]] std::size_t last_part() const {
    for (std::size_t i = text_.size(); i > name_begin(); --i)
      if (outside_[i - 1] && text_[i - 1] == ':') return i;
    return name_begin();
  }

  /// From there on, with this for each pair of brackets.
  [[nodiscard]] std::string from(std::size_t begin, std::string_view brackets) const {
    std::string out;
    for (std::size_t i = begin; i < text_.size(); ++i) {
      if (outside_[i])
        out += text_[i];
      else if (text_.substr(i).starts_with(kUnnamed))
        out += kUnnamed, i += kUnnamed.size() - 1;
      else if (i == begin || outside_[i - 1])
        out += brackets;
    }
    return out;
  }

 private:
  void add(std::string_view piece, bool outside) {
    text_ += piece;
    outside_.insert(outside_.end(), piece.size(), outside);
  }

  std::string text_;
  std::vector<bool> outside_;
};

}  // namespace

std::string short_kernel_name(std::string_view name, std::size_t width) {
  if (display_width(name) <= width) return std::string(name);
  const Declaration declaration(name);
  if (declaration.whole().empty()) return std::string(name);
  std::string out;
  for (std::string shorter :
       {declaration.whole(), declaration.whole().substr(declaration.name_begin()),
        declaration.from(declaration.name_begin(), "<…>"),
        declaration.from(declaration.last_part(), "<…>")}) {
    out = std::move(shorter);
    if (display_width(out) <= width) return out;
  }
  return out;
}

std::string kernel_instance(std::string_view name) {
  const Declaration declaration(name);
  return declaration.whole().substr(declaration.name_begin());
}

std::string kernel_function(std::string_view name) {
  const Declaration declaration(name);
  std::string out = declaration.from(declaration.last_part(), "");
  const bool identifier = out != "operator" && std::ranges::all_of(out, [](char c) {
                            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
                          });
  return identifier ? out : std::string();
}

}  // namespace perflab::report
