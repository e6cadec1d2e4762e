// Advice by tables: which tool takes a file of which kind, and how a tool is called at all.
#include "cli/program/mcp_advice.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/packed.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLookedAt = 1000;  // entries of a folder
constexpr std::size_t kMostFound = 2;

enum class FileKind { recording, code, capture, thread_trace };

/// Which tool takes a file of a kind, and as which argument.
struct Taker {
  FileKind kind;
  const char* tool;
  const char* argument;
  bool many;
  const char* why;
};
constexpr std::array<Taker, 4> kTakers{{
    {FileKind::recording, "analyze", "TRACE", true, "this is a recording"},
    {FileKind::code, "inspect", "FILE", false, "this is compiled code"},
    {FileKind::capture, "capture_check", "DIR", false, "this is a capture"},
    {FileKind::thread_trace, "analyze", "att", true, "this is a thread trace"},
}};

/// How a tool is called whose arguments were wrong.
struct Form {
  const char* tool;
  const char* arguments;
};
constexpr Form kReadRecording{"analyze", R"({"TRACE": ["run_results.db"]})"};
constexpr std::array<Form, 12> kForms{{
    kReadRecording,
    {"capture_check", R"({"DIR": "capture"})"},
    {"capture_info", R"({"DIR": "capture"})"},
    {"compare", R"({"A": "before.db", "B": "after.db"})"},
    {"critical_path", R"({"TRACE": ["run_results.db"], "what_if": ["NAME=2x"]})"},
    {"doctor", "{}"},
    {"inspect", R"({"FILE": "kernels.hsaco"})"},
    {"isolate", R"({"command": ["./app"], "kernel": "NAME"})"},
    {"occupancy", R"({"arch": "gfx942", "vgpr": 72, "block": 256})"},
    {"profile", R"({"command": ["./app"]})"},
    {"roofline", R"({"FILE": ["pass_1_results.db", "pass_2_results.db"]})"},
    {"schema", R"({"NAME": "analysis"})"},
}};

bool has_file(const fs::path& folder, const char* name) {
  std::error_code ignored;
  return fs::is_regular_file(folder / name, ignored);
}

/// What a file or folder is, by its first bytes or by the files in it.
std::optional<FileKind> kind_at(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (has_file(path, "capture_complete.json")) return FileKind::capture;
    if (has_file(path, "code.json") || has_file(path, "filenames.json"))
      return FileKind::thread_trace;
    return std::nullopt;
  }
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  constexpr std::size_t kBegin = 24;
  const std::string bytes = start_of_maybe_packed(path, kBegin);
  if (bytes.starts_with("SQLite format 3")) return FileKind::recording;
  if (bytes.starts_with("\x7f"
                        "ELF") ||
      bytes.starts_with("__CLANG_OFFLOAD_BUNDLE__") || bytes.starts_with("CCOB"))
    return FileKind::code;
  return std::nullopt;
}

/// The call with a file that is of a kind some tool takes. `failed`: the tool that did not.
std::optional<mcp::Advice> taker_of(const fs::path& path, const std::string& failed) {
  const auto kind = kind_at(path);
  if (!kind) return std::nullopt;
  const auto taker = std::ranges::find(kTakers, *kind, &Taker::kind);
  if (failed == taker->tool) return std::nullopt;
  return mcp::Advice{
      .tool = taker->tool,
      .arguments = {{taker->argument, taker->many ? Json::array({path.string()}) : Json(path)}},
      .why = taker->why};
}

/// Files beside one that is not there, or in a folder, that the same tool takes.
std::vector<mcp::Advice> neighbours(const fs::path& path, const std::string& tool) {
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  const fs::path parent = folder ? path : path.has_parent_path() ? path.parent_path() : ".";
  std::vector<fs::path> found;
  int looked_at = 0;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    if (++looked_at > kMostLookedAt) break;
    const auto kind = kind_at(at->path());
    if (kind && std::ranges::any_of(kTakers, [&](const Taker& one) {
          return one.kind == *kind && (tool == one.tool || folder);
        }))
      found.push_back(at->path());
  }
  std::ranges::sort(found);
  std::vector<mcp::Advice> out;
  for (const fs::path& one : found) {
    if (out.size() == kMostFound) break;
    if (auto advice = taker_of(one.lexically_normal(), "")) {
      advice->why = folder ? "it is in that folder" : "that file is not there, this one is";
      out.push_back(std::move(*advice));
    }
  }
  return out;
}

/// Texts among the arguments, those in arrays too.
std::vector<std::string> texts_in(const Json& arguments) {
  std::vector<std::string> out;
  for (const auto& [name, value] : arguments.items()) {
    if (value.is_string()) out.push_back(value.get<std::string>());
    if (!value.is_array()) continue;
    for (const Json& one : value)
      if (one.is_string()) out.push_back(one.get<std::string>());
  }
  return out;
}

std::vector<mcp::Advice> for_bad_input(const std::string& tool, const Json& arguments) {
  std::vector<mcp::Advice> out;
  for (const std::string& text : texts_in(arguments)) {
    if (auto advice = taker_of(text, tool)) out.push_back(std::move(*advice));
    std::error_code error;
    if (out.empty() && !kind_at(text) &&
        (!fs::exists(text, error) || fs::is_directory(text, error)))
      std::ranges::move(neighbours(text, tool), std::back_inserter(out));
  }
  return out;
}

std::vector<mcp::Advice> for_usage(const std::string& tool, bool allow_run) {
  const auto form = std::ranges::find(kForms, tool, &Form::tool);
  constexpr std::array<std::string_view, 2> kRunning{"isolate", "profile"};
  const bool runs = std::ranges::find(kRunning, tool) != kRunning.end();
  if (runs && !allow_run)
    return {{.tool = kReadRecording.tool,
             .arguments = Json::parse(kReadRecording.arguments),
             .why = "what was recorded before can be read"}};
  if (form == kForms.end()) return {};
  return {{.tool = tool, .arguments = Json::parse(form->arguments), .why = "its form"}};
}

}  // namespace

std::vector<mcp::Advice> mcp_advice(const std::string& tool, const Json& arguments, ErrorCode kind,
                                    bool allow_run) {
  switch (kind) {
    case ErrorCode::usage:
      return for_usage(tool, allow_run);
    case ErrorCode::bad_input:
      return for_bad_input(tool, arguments);
    case ErrorCode::missing_tool:
    case ErrorCode::internal:
      if (tool == "doctor") return {};
      return {{.tool = "doctor", .why = "it says what this machine lacks"}};
    case ErrorCode::target_failed:
      if (tool != "replay_full_vm" && tool != "replay_verify") return {};
      return {{.tool = "replay_reserve_check",
               .arguments =
                   arguments.contains("DIR") ? Json{{"DIR", arguments["DIR"]}} : Json::object(),
               .why = "it says whether the addresses can be had"}};
    case ErrorCode::interrupted:
      return {{.tool = tool, .arguments = arguments, .why = "again"}};
    case ErrorCode::refused:
      return {};
  }
  return {};
}

}  // namespace perflab::cli
