#include "support/golden.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "base/hash.h"
#include "support/lines.h"

namespace perflab::test {
namespace {

constexpr int kDepth = 4;
constexpr std::size_t kLongest = 80;

/// The values of each field, in the order of their first appearance.
struct Columns {
  std::vector<std::string> paths;
  std::map<std::string, std::vector<std::string>> values;

  std::vector<std::string>& at(const std::string& path) {
    const auto [place, is_new] = values.try_emplace(path);
    if (is_new) paths.push_back(path);
    return place->second;
  }

  void add(const std::string& path, const Json& value, int depth) {
    if (value.is_array()) {
      if (value.empty()) at(path + "[]");
      for (const Json& element : value) add(path + "[]", element, depth);
    } else if (value.is_object() && !value.empty() && depth < kDepth) {
      for (const auto& [key, member] : value.items())
        add(path.empty() ? key : path + "." + key, member, depth + 1);
    } else {
      at(path).push_back(value.dump());
    }
  }
};

/// The values in a line: once when all are the same, as a hash when they are long.
std::string said(const std::vector<std::string>& values) {
  if (values.empty()) return "-";
  const bool same = std::ranges::all_of(values, [&](const auto& v) { return v == values[0]; });
  const std::string text = same ? values[0] : fmt::format("{}", fmt::join(values, ", "));
  return text.size() <= kLongest ? text : key_text(text);
}

/// What was found stays in the build, whole.
std::filesystem::path keep(const std::string& name, const std::string& text) {
  const auto file = std::filesystem::path(PERFLAB_BINARY_DIR) / "test-results/golden" /
                    std::filesystem::path(name).filename();
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

/// Compares `now` with a golden file; `whole` is the output that it was made from.
void expect_same(const std::string& name, const std::string& now, const std::string& kept_name,
                 const std::string& whole) {
  const auto path = std::filesystem::path(PERFLAB_SOURCE_DIR) / "tests" / name;
  if (std::getenv("PERFLAB_UPDATE_GOLDENS") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << now;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.good()) << path << " is not there: make goldens writes it";
  const std::string golden((std::istreambuf_iterator<char>(file)), {});
  if (golden == now) return;
  ADD_FAILURE()
      << name << " is another one now:\n"
      << changed_lines(golden, now) << "The whole output: " << keep(kept_name, whole)
      << ".\nscripts/compare-outputs OLD_BUILD NEW_BUILD compares it with that of another "
      << "build; make goldens takes it as the golden one.";
}

}  // namespace

std::string fields_of(std::string_view document) {
  Columns columns;
  columns.add("", Json::parse(document), 0);
  std::string out;
  for (const std::string& path : columns.paths)
    out += fmt::format("{} {} {}\n", path, columns.values[path].size(), said(columns.values[path]));
  return out + fmt::format("(whole) {} lines {}\n", std::ranges::count(document, '\n'),
                           key_text(document));
}

std::string changed_lines(const std::string& golden, const std::string& now) {
  std::string out;
  const auto only = [&](const std::string& here, const std::string& there, const char* mark) {
    const auto others = lines_of(there);
    const std::set<std::string> known(others.begin(), others.end());
    int shown = 0;
    for (const std::string& line : lines_of(here))
      if (!known.contains(line) && ++shown <= 10) out += mark + line + "\n";
    if (shown > 10) out += fmt::format("{}... and {} more lines\n", mark, shown - 10);
  };
  only(golden, now, "- ");
  only(now, golden, "+ ");
  return out.empty() ? "the same lines in another order, or as often as they were not\n" : out;
}

void expect_golden(const std::string& name, const std::string& text) {
  expect_same(name, text, name, text);
}

void expect_fields(const std::string& name, const std::string& document) {
  expect_same(name + ".fields", fields_of(document), name + ".json", document);
}

}  // namespace perflab::test
