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
#include <functional>
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
  for (const Json& block : result["content"]) out += block.value("text", "") + "\n";
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
  const Outcome brief = rocm_perf(folder_.path(), {"analyze", PERFLAB_SAMPLE, "--json", "--brief"});
  ASSERT_EQ(brief.exit_code, 0) << brief.err;
  const Json expected = document("summary", brief.out);
  const Outcome full = rocm_perf(folder_.path(), {"analyze", PERFLAB_SAMPLE, "--json"});
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
    EXPECT_LE(result.dump().size(), std::size_t{16} << 10);
    // The whole document is a resource, byte for byte, and every document of the summary is one.
    std::set<std::string> linked;
    for (const Json& block : result["content"]) {
      if (block["type"] != "resource_link") continue;
      linked.insert(block["name"]);
      const Json read = client.ask("resources/read", {{"uri", block["uri"]}})["result"];
      const auto text = read["contents"][0]["text"].get<std::string>();
      EXPECT_EQ(text.size(), block["size"]);
      EXPECT_TRUE(report::validate(block["name"].get<std::string>(), Json::parse(text)));
      if (block["name"] == "analysis") {
        EXPECT_EQ(text, full.out);
      }
    }
    for (const Json& name : expected["made_from"])
      EXPECT_TRUE(linked.contains(name.get<std::string>())) << name;
    EXPECT_EQ(client.end(), 0);
  }
}

/// Every excerpt in a summary.
void for_each_excerpt(const Json& value, const std::function<void(const Json&)>& use) {
  if (value.is_object() && value.contains("from") && value["from"].is_string()) use(value);
  if (value.is_structured())
    for (const Json& item : value) for_each_excerpt(item, use);
}

TEST_F(McpCommand, WhereAFigureIsFromIsASection) {
  McpClient client(folder_.path(), {});
  const Json summary = client.call("analyze", {{"TRACE", {PERFLAB_SAMPLE}}});
  std::string uri;
  for (const Json& block : summary["content"])
    if (uri.empty() && block["type"] == "resource_link") uri = block["uri"];
  int followed = 0;
  for_each_excerpt(summary["structuredContent"]["parts"], [&](const Json& excerpt) {
    const Json read = client.call("read_document", {{"uri", uri}, {"section", excerpt["from"]}});
    EXPECT_EQ(read["isError"], false) << excerpt;
    const Json& value = read["structuredContent"]["value"];
    for (const auto& [name, figure] : excerpt.items())
      if (figure.is_number()) {
        EXPECT_EQ(value[name], figure) << excerpt;
      }
    ++followed;
  });
  EXPECT_GT(followed, 5);
  const Json direct = client.call(
      "analyze",
      {{"TRACE", {PERFLAB_SAMPLE}}, {"section", "dag.json#/kernels"}, {"kernel", "attention"}});
  EXPECT_GT(direct["structuredContent"]["value"].size(), 0U);
}

TEST_F(McpCommand, ThePagesOfASectionAreTheSection) {
  McpClient client(folder_.path(), {});
  const Json whole =
      document("analysis", rocm_perf(folder_.path(), {"analyze", PERFLAB_SAMPLE, "--json"}).out);
  Json joined = Json::array();
  Json answer = client.call("analyze", {{"TRACE", {PERFLAB_SAMPLE}}, {"section", "kernels"}});
  int pages = 1;
  for (;; ++pages) {
    const Json& content = answer["structuredContent"];
    EXPECT_LE(answer.dump().size(), std::size_t{16} << 10);
    EXPECT_FALSE(content.contains("cut"));
    joined.insert(joined.end(), content["value"].begin(), content["value"].end());
    if (!content.contains("next")) break;
    const Json next = content["next"];
    answer = client.call(next["tool"], next["arguments"]);
    ASSERT_EQ(answer["isError"], false) << next;
  }
  EXPECT_EQ(joined, whole["kernels"]);
  EXPECT_GT(pages, 1);
}

TEST_F(McpCommand, ItsListOfToolsIsShort) {
  for (const char* option : {"", "--allow-run"}) {
    McpClient client(folder_.path(), *option == '\0' ? std::vector<std::string>{}
                                                     : std::vector<std::string>{option});
    const Json list = client.ask("tools/list");
    EXPECT_LE(list.dump().size(), std::size_t{26} << 10) << option;
    for (const Json& tool : list["result"]["tools"]) {
      const auto sentences = tool["description"].get<std::string>();
      EXPECT_GT(sentences.size(), 20U) << tool["name"];
      EXPECT_LE(sentences.size(), 400U) << tool["name"];
    }
  }
}

TEST_F(McpCommand, DiscoverNamesTheRevisionsAndResourcesAreTheSchemas) {
  McpClient client(folder_.path(), {});
  const Json found = client.ask("server/discover")["result"];
  EXPECT_EQ(found["supportedVersions"][0], "2026-07-28");
  EXPECT_EQ(found["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], kProgramVersion);
  const Json resources = client.ask("resources/list")["result"]["resources"];
  EXPECT_EQ(resources.size(), report::schema_names().size());
  const Json templates = client.ask("resources/templates/list")["result"]["resourceTemplates"];
  EXPECT_EQ(templates[0]["uriTemplate"],
            "rocm-perf://document/{run}/{document}{?section,kernel,top,offset}");
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
    EXPECT_EQ(tool.contains("annotations"), name == "read_document") << name;
  }
  const std::vector<std::string> commands = commands_of_the_help(folder_.path());
  EXPECT_GT(commands.size(), 10U);
  for (std::string name : commands) {
    if (name == "mcp" || name == "completion" || name == "autotune-app" || name == "dispatch-table")
      continue;
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
  EXPECT_THAT(names, ElementsAre("analyze", "capture_check", "capture_info", "compare",
                                 "critical_path", "doctor", "inspect", "occupancy", "ranks",
                                 "roofline", "schema", "read_document"));
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
  EXPECT_EQ(report::validate("summary", result["structuredContent"]).has_value(), true);
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
  const Json& compared = no["structuredContent"];
  EXPECT_TRUE(report::validate(compared["document"].get<std::string>(), compared).has_value());
}

TEST_F(McpCommand, ADocumentThatIsTooLongIsAnOutline) {
  McpClient client(folder_.path(), {"--max-answer", "12288"});
  const Json result = client.call("schema", {{"NAME", "analysis"}});
  EXPECT_EQ(result["isError"], false);
  EXPECT_LE(result.dump().size(), 12288U);
  EXPECT_FALSE(result["structuredContent"]["cut"].empty());
  const Json deeper =
      client.call("schema", {{"NAME", "analysis"}, {"section", "/properties/kernels/items"}});
  EXPECT_EQ(deeper["structuredContent"]["value"]["type"], "object");
}

TEST_F(McpCommand, SaysWhatToCallInstead) {
  McpClient client(folder_.path(), {});
  std::filesystem::create_directory(folder_ / "runs");
  std::filesystem::copy_file(PERFLAB_SAMPLE, folder_ / "runs/run_results.db");
  const auto instead = [&](const std::string& tool, const Json& arguments) {
    const Json result = client.call(tool, arguments);
    EXPECT_EQ(result["isError"], true) << tool << arguments;
    return result["structuredContent"];
  };
  const Json missing = instead("analyze", {{"TRACE", {"runs/run.db"}}});
  EXPECT_EQ(missing["error"], "bad_input");
  EXPECT_EQ(missing["exit_code"], 3);
  EXPECT_EQ(missing["instead"][0]["tool"], "analyze");
  EXPECT_EQ(missing["instead"][0]["arguments"],
            Json::parse(R"({"TRACE": ["runs/run_results.db"]})"));
  EXPECT_EQ(client.call("analyze", missing["instead"][0]["arguments"])["isError"], false);
  const Json code = instead("analyze", {{"TRACE", {PERFLAB_PROGRAM}}});
  EXPECT_EQ(code["instead"][0], Json({{"tool", "inspect"},
                                      {"arguments", {{"FILE", PERFLAB_PROGRAM}}},
                                      {"why", "this is compiled code"}}));
  EXPECT_EQ(instead("inspect", {{"FILE", PERFLAB_SAMPLE}})["instead"][0]["tool"], "analyze");
  EXPECT_EQ(instead("profile", wait_)["instead"][0]["tool"], "analyze");
  const Json form = instead("analyze", {{"trace", "x"}});
  EXPECT_EQ(form["error"], "usage");
  EXPECT_TRUE(form["instead"][0]["arguments"].contains("TRACE"));
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
