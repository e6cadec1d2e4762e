// What a journal's measurements must have in common, from the words of the templates.
#include <fmt/format.h>

#include <filesystem>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/command_line.h"
#include "measure/tuning/autotune.h"

namespace perflab::measure {
namespace {

namespace fs = std::filesystem;

/// "FILE xxh3:…"; empty when it is no file that can be read.
std::string hashed(const fs::path& file) {
  const Result<std::string> bytes = read_file(file);
  return bytes ? fmt::format("{} {}", file.filename().string(), key_text(*bytes)) : "";
}

/// The words of a template; those with braces are of the configuration, and empty here.
std::vector<std::string> fixed_words(const std::string& text) {
  Result<std::vector<std::string>> words = split_command_line(text);
  if (!words) return {};
  for (std::string& word : *words)
    if (word.find_first_of("{}") != std::string::npos) word.clear();
  return std::move(*words);
}

bool is_file(const std::string& word) {
  std::error_code ignored;
  return !word.empty() && fs::is_regular_file(word, ignored);
}

bool is_executable(const std::string& word) {
  std::error_code ignored;
  const auto any_x = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  return is_file(word) && (fs::status(word, ignored).permissions() & any_x) != fs::perms::none;
}

void append(std::string& out, const std::string& hash, std::string_view between) {
  if (hash.empty()) return;
  if (!out.empty()) out += between;
  out += hash;
}

}  // namespace

std::string hash_of_programs(const std::string& command_template) {
  const std::vector<std::string> words = fixed_words(command_template);
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].empty()) continue;
    if (i == 0) {
      if (const auto program = find_program(words[i])) append(out, hashed(*program), ", ");
    } else if ((i == 1 && is_file(words[i])) || is_executable(words[i])) {
      append(out, hashed(words[i]), ", ");
    }
  }
  return out;
}

std::string build_key(const std::string& build_template) {
  const std::vector<std::string> words = fixed_words(build_template);
  std::string out = build_template;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i - 1] != "-o" && is_file(words[i])) append(out, hashed(words[i]), " | ");
  return out;
}

}  // namespace perflab::measure
