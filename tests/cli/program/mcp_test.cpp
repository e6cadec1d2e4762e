// rocm-perf mcp as a client sees it: the real program, spoken to over pipes.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>

#include "base/version.h"
#include "cli/program.h"

namespace perflab::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kPatience = 120'000;  // ms; everything here takes far less

/// A client and its server.
class McpClient {
 public:
  McpClient(const std::filesystem::path& folder, std::vector<std::string> arguments) {
    std::array<int, 2> to{}, from{};
    EXPECT_EQ(::pipe2(to.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from.data(), O_CLOEXEC), 0);
    arguments.insert(arguments.begin(), {PERFLAB_PROGRAM, "mcp"});
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    ::posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    EXPECT_EQ(::posix_spawn(&pid_, PERFLAB_PROGRAM, &actions, nullptr, argv.data(), environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }
  McpClient(const McpClient&) = delete;
  McpClient& operator=(const McpClient&) = delete;
  ~McpClient() {
    if (to_ >= 0) end();
    ::close(from_);
  }

  void say(const std::string& line) const {
    const std::string bytes = line + "\n";
    EXPECT_EQ(::write(to_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  /// The next message; null when none comes.
  Json message() {
    while (unread_.find('\n') == std::string::npos) {
      pollfd wait{from_, POLLIN, 0};
      if (::poll(&wait, 1, kPatience) <= 0) return nullptr;
      std::array<char, 65536> buffer{};
      const ssize_t got = ::read(from_, buffer.data(), buffer.size());
      if (got <= 0) return nullptr;
      unread_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    const std::size_t end = unread_.find('\n');
    const auto parsed = parse_json(std::string_view(unread_).substr(0, end), "the server's line");
    EXPECT_TRUE(parsed.has_value()) << unread_.substr(0, end);
    unread_.erase(0, end + 1);
    return parsed.value_or(nullptr);
  }
  /// Sends a request of the era that was chosen and returns its answer.
  Json ask(const std::string& method, Json params = Json::object()) {
    const int id = send(method, std::move(params));
    Json answer = message();
    EXPECT_EQ(answer["id"], id) << answer;
    return answer;
  }
  int send(const std::string& method, Json params) {
    if (modern_)
      params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                         {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
    const int id = ++last_id_;
    say(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump());
    return id;
  }
  Json call(const std::string& tool, const Json& arguments) {
    return ask("tools/call", {{"name", tool}, {"arguments", arguments}})["result"];
  }
  void notify(const std::string& method, const Json& params) const {
    say(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
  }
  void initialize() {
    modern_ = false;
    const Json answer = ask("initialize", {{"protocolVersion", "2025-11-25"},
                                           {"capabilities", Json::object()},
                                           {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
    EXPECT_EQ(answer["result"]["protocolVersion"], "2025-11-25");
    notify("notifications/initialized", Json::object());
  }
  /// Closes the server's stdin and waits for it; its exit code.
  int end() {
    ::close(to_);
    to_ = -1;
    return wait();
  }
  /// Sends the server a signal and waits for it; its exit code.
  int end_with(int signal) {
    EXPECT_EQ(::kill(pid_, signal), 0);
    const int code = wait();
    ::close(to_);
    to_ = -1;
    return code;
  }

 private:
  int wait() const {
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  int last_id_ = 0;
  bool modern_ = true;
  std::string unread_;
};

std::string texts_of(const Json& result) {
  std::string out;
  for (const Json& block : result["content"]) out += block["text"].get<std::string>() + "\n";
  return out;
}

std::set<std::string> property_names(const Json& tool) {
  std::set<std::string> out;
  for (const auto& [name, schema] : tool["inputSchema"]["properties"].items()) out.insert(name);
  return out;
}

/// The commands in the program's help.
std::vector<std::string> commands_of_the_help(const std::filesystem::path& folder) {
  const std::string help = rocm_perf(folder, {"--help"}).out;
  std::vector<std::string> out;
  std::size_t at = std::min(help.find("SUBCOMMANDS:"), help.find("Subcommands:"));
  if (at == std::string::npos) return out;
  for (at = help.find('\n', at) + 1; at < help.size(); at = help.find('\n', at) + 1)
    if (help.find_first_not_of(' ', at) == at + 2)
      out.push_back(help.substr(at + 2, help.find_first_of(" \n", at + 2) - at - 2));
  return out;
}

/// Waits for a file with a process id in it.
pid_t pid_in(const std::filesystem::path& file) {
  for (int i = 0; i < kPatience / 10; ++i) {
    const std::string text = test::text_of(file);
    if (text.ends_with('\n')) return static_cast<pid_t>(std::stol(text));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "no " << file;
  return -1;
}

bool lives(pid_t pid) {
  for (int i = 0; i < kPatience / 10 && ::kill(pid, 0) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return ::kill(pid, 0) == 0;
}

struct McpCommand : testing::Test {
  const test::TempFolder folder_;
  /// A program that says its process id in a file and then waits.
  const std::filesystem::path waiting_ =
      folder_.script("waiting", "echo $$ > pid.part; mv pid.part pid; exec sleep 600");
  const Json wait_ = {{"command", {waiting_.string()}}, {"no_rocprof", true}, {"out", "report"}};
};

TEST_F(McpCommand, GivesTheNumbersOfTheCommandLineInBothEras) {
  const Outcome direct = rocm_perf(folder_.path(), {"analyze", PERFLAB_SAMPLE, "--json"});
  ASSERT_EQ(direct.exit_code, 0) << direct.err;
  const Json expected = document("analysis", direct.out);
  for (const bool legacy : {true, false}) {
    McpClient client(folder_.path(), {});
    if (legacy) client.initialize();
    const Json tools = client.ask("tools/list")["result"]["tools"];
    EXPECT_EQ(std::ranges::count(tools, "analyze", [](const Json& tool) { return tool["name"]; }),
              1);
    const Json result = client.call("analyze", {{"TRACE", {PERFLAB_SAMPLE}}});
    EXPECT_EQ(result["isError"], false);
    EXPECT_EQ(result["structuredContent"], expected);
    EXPECT_EQ(Json::parse(result["content"][0]["text"].get<std::string>()), expected);
    EXPECT_EQ(result.contains("resultType"), !legacy);
    EXPECT_EQ(client.end(), 0);
  }
}

TEST_F(McpCommand, DiscoverNamesTheRevisionsAndResourcesAreTheSchemas) {
  McpClient client(folder_.path(), {});
  const Json found = client.ask("server/discover")["result"];
  EXPECT_EQ(found["supportedVersions"][0], "2026-07-28");
  EXPECT_EQ(found["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], kProgramVersion);
  const Json resources = client.ask("resources/list")["result"]["resources"];
  EXPECT_EQ(resources.size(), report::schema_names().size());
  for (const Json& resource : resources) {
    const Json read = client.ask("resources/read", {{"uri", resource["uri"]}})["result"];
    EXPECT_EQ(read["contents"][0]["text"].get<std::string>(),
              report::schema_text(resource["name"].get<std::string>()));
  }
}

TEST_F(McpCommand, EveryCommandOfTheHelpIsAToolOrMeantForPeople) {
  McpClient client(folder_.path(), {"--allow-run"});
  std::set<std::string> tools;
  const Json listed = client.ask("tools/list")["result"]["tools"];
  for (const Json& tool : listed) {
    const auto name = tool["name"].get<std::string>();
    EXPECT_TRUE(tools.insert(name).second) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << name;
    EXPECT_EQ(tool["annotations"]["readOnlyHint"], false) << name;
    // What its description promises is there.
    const auto description = tool["description"].get<std::string>();
    if (const std::size_t at = description.find("schema/"); at != std::string::npos) {
      const std::string rest = description.substr(at + 7);
      EXPECT_TRUE(report::schema_text(rest.substr(0, rest.find('.'))).has_value()) << description;
    }
  }
  const std::vector<std::string> commands = commands_of_the_help(folder_.path());
  EXPECT_GT(commands.size(), 10U);
  for (std::string name : commands) {
    if (name == "mcp" || name == "completion") continue;
    std::ranges::replace(name, '-', '_');
    EXPECT_TRUE(std::ranges::any_of(tools, [&](const std::string& tool) {
      return tool == name || tool.starts_with(name + "_");
    })) << name;
  }
}

TEST_F(McpCommand, OffersOnlyWhatReadsUnlessToldOtherwise) {
  McpClient reading(folder_.path(), {}), running(folder_.path(), {"--allow-run"});
  const Json all = running.ask("tools/list")["result"]["tools"];
  std::vector<std::string> names;
  const Json offered = reading.ask("tools/list")["result"]["tools"];
  for (const Json& tool : offered) {
    names.push_back(tool["name"]);
    EXPECT_EQ(tool["annotations"]["readOnlyHint"], true);
    const auto whole =
        std::ranges::find(all, tool["name"], [](const Json& one) { return one["name"]; });
    ASSERT_NE(whole, all.end());
    std::set<std::string> withheld = property_names(*whole);
    for (const auto& [name, schema] : tool["inputSchema"]["properties"].items()) {
      EXPECT_EQ(withheld.erase(name), 1U) << name;
      EXPECT_FALSE(schema["description"].get<std::string>().starts_with("Write")) << name;
    }
    // An option that is new is to stand in the table of src/cli/program/mcp_tools.cpp, and here if
    // it acts.
    const std::set<std::string> act = {"out",         "html", "perfetto",          "junit",
                                       "markdown",    "arch", "self_test",         "only",
                                       "time_budget", "keep", "compiler_arguments"};
    for (const std::string& name : withheld) EXPECT_TRUE(act.contains(name)) << name;
    EXPECT_EQ(withheld.contains("arch"), tool["name"] == "inspect");
  }
  EXPECT_THAT(names,
              ElementsAre("analyze", "capture_check", "capture_info", "compare", "critical_path",
                          "doctor", "inspect", "occupancy", "roofline", "schema"));
}

TEST_F(McpCommand, RefusesToRunAndToWriteWithoutAllowRun) {
  McpClient client(folder_.path(), {});
  const auto source = folder_.write("k.hip", "#include \"secret\"\n__global__ void k() {}\n");
  const std::vector<std::pair<std::string, Json>> refused = {
      {"profile", wait_},
      {"isolate", {{"command", {waiting_.string()}}, {"kernel", "k"}}},
      {"optimize", {{"SOURCE", "k.hip"}}},
      {"analyze", {{"TRACE", {PERFLAB_SAMPLE}}, {"out", "report"}}},
      {"analyze", {{"TRACE", {PERFLAB_SAMPLE}}, {"--out", "report"}}},
      {"analyze", {{"TRACE", {PERFLAB_SAMPLE, "--out=report"}}}},
      {"critical_path", {{"TRACE", {PERFLAB_SAMPLE}}, {"perfetto", "t.json"}}},
      {"inspect", {{"FILE", source.string()}}},
      {"inspect", {{"FILE", source.string()}, {"arch", {"gfx942"}}}},
      {"inspect", {{"FILE", source.string()}, {"compiler_arguments", {"-I."}}}},
      {"inspect", {{"FILE", PERFLAB_PROGRAM}, {"against", source.string()}}}};
  for (const auto& [tool, arguments] : refused) {
    const Json result = client.call(tool, arguments);
    EXPECT_EQ(result["isError"], true) << tool << arguments;
    EXPECT_THAT(texts_of(result), testing::Not(HasSubstr("secret"))) << "it was compiled";
  }
  EXPECT_THAT(names_in(folder_.path()), ElementsAre("k.hip", "waiting"));
}

TEST_F(McpCommand, RunsProgramsWithAllowRun) {
  McpClient client(folder_.path(), {"--allow-run"});
  const Json result = client.call(
      "profile",
      {{"command", {"sh", "-c", "exit 0", "--json"}}, {"no_rocprof", true}, {"out", "report"}});
  EXPECT_EQ(result["isError"], false) << result;
  EXPECT_EQ(report::validate("profile", result["structuredContent"]).has_value(), true);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "report/profile.json"));
}

TEST_F(McpCommand, ACancelledCallEndsAndIsNotAnswered) {
  McpClient client(folder_.path(), {"--allow-run"});
  const int id = client.send("tools/call", {{"name", "profile"}, {"arguments", wait_}});
  const pid_t pid = pid_in(folder_ / "pid");
  client.notify("notifications/cancelled", {{"requestId", id}, {"reason", "changed my mind"}});
  EXPECT_EQ(client.call("schema", {{"NAME", "profile"}})["isError"], false) << "the next answer";
  EXPECT_FALSE(lives(pid));
}

TEST_F(McpCommand, TheEndOfItsInputEndsACallThatRuns) {
  McpClient client(folder_.path(), {"--allow-run"});
  client.send("tools/call", {{"name", "profile"}, {"arguments", wait_}});
  const pid_t pid = pid_in(folder_ / "pid");
  EXPECT_EQ(client.end(), 0);
  EXPECT_FALSE(lives(pid));
  EXPECT_EQ(client.message(), nullptr);
}

TEST_F(McpCommand, ASignalEndsItAndTheCallThatRuns) {
  McpClient client(folder_.path(), {"--allow-run"});
  client.send("tools/call", {{"name", "profile"}, {"arguments", wait_}});
  const pid_t pid = pid_in(folder_ / "pid");
  EXPECT_EQ(client.end_with(SIGTERM), 130);
  EXPECT_FALSE(lives(pid));
}

TEST_F(McpCommand, SaysWhatWentWrongAndWhatIsANo) {
  McpClient client(folder_.path(), {});
  const Json missing = client.call("analyze", {{"TRACE", {"nowhere.db"}}});
  EXPECT_EQ(missing["isError"], true);
  EXPECT_THAT(texts_of(missing), HasSubstr("Exit code 3"));
  EXPECT_THAT(texts_of(missing), HasSubstr("nowhere.db"));

  std::string fast, slow;
  for (int i = 0; i < 40; ++i) {
    fast += fmt::format("{}\n", 100 + i % 5);
    slow += fmt::format("{}\n", 200 + i % 5);
  }
  std::ignore = folder_.write("-fast.txt", fast);
  std::ignore = folder_.write("slow.txt", slow);
  const Json no = client.call("compare", {{"A", "-fast.txt"}, {"B", "slow.txt"}, {"unit", "ns"}});
  EXPECT_EQ(no["isError"], false) << no;
  EXPECT_THAT(texts_of(no), HasSubstr("Exit code 1: it was done, and the answer is no"));
  EXPECT_TRUE(report::validate("comparison", no["structuredContent"]).has_value());
}

TEST_F(McpCommand, ShortensALongDocumentAndSaysSo) {
  McpClient client(folder_.path(), {"--max-answer", "20000"});
  const Json result = client.call("analyze", {{"TRACE", {PERFLAB_SAMPLE}}});
  EXPECT_EQ(result["isError"], false);
  EXPECT_LE(result["structuredContent"].dump().size(), 20'000U);
  EXPECT_FALSE(result["structuredContent"]["cut"].empty());
  EXPECT_THAT(texts_of(result), HasSubstr("more than the 20000 of an answer"));
}

TEST_F(McpCommand, LivesThroughHostileLines) {
  McpClient client(folder_.path(), {});
  const std::vector<std::string> lines = {"nonsense",
                                          "[]",
                                          std::string(50'000, '['),
                                          std::string(3'000'000, 'x'),
                                          R"({"jsonrpc":"2.0","id":[1],"method":"tools/call"})",
                                          std::string("\0\xff", 2)};
  for (const std::string& line : lines) {
    std::thread writer([&] { client.say(line); });
    EXPECT_TRUE(client.message().contains("error"));
    writer.join();
  }
  EXPECT_EQ(client.call("schema", {{"NAME", "analysis"}})["isError"], false);
}

TEST_F(McpCommand, WrongOptionsOfItsOwnAreExit2) {
  EXPECT_EQ(rocm_perf(folder_.path(), {"mcp", "--max-answer", "1"}).exit_code, 2);
  EXPECT_EQ(rocm_perf(folder_.path(), {"mcp", "--", "x"}).exit_code, 2);
  EXPECT_EQ(rocm_perf(folder_.path(), {"mcp"}).out, "") << "the end of its input at once";
}

}  // namespace
}  // namespace perflab::cli
