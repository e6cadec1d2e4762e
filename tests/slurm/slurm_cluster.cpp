// Options of slurm.conf(5): no cgroups, no accounting, no ports that others use; linear selection
// gives an allocation its whole node, so that two workers have two nodes.
#include "slurm/slurm_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "base/system/subprocess.h"
#include "base/text/text.h"
#include "support/prng.h"

namespace perflab::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

const std::vector<fs::path> kSbin{"/usr/sbin", "/sbin"};
constexpr int kStarts = 3;  // a port may be taken between the look and the start

std::string program(const std::string& name) {
  const auto found = find_program(name, kSbin);
  return found ? found->string() : std::string();
}

/// A port that nobody listens on.
int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(descriptor);
  return ntohs(address.sin_port);
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string full(name.data());
  return full.substr(0, full.find('.'));
}

bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(50ms);
  }
  return true;
}

std::string configuration(const fs::path& folder, int nodes) {
  const std::string host = host_name();
  std::string text = fmt::format(
      "ClusterName=perflab\n"
      "SlurmctldHost={}(127.0.0.1)\n"
      "SlurmctldPort={}\n"
      "SlurmUser=root\n"
      "SlurmdUser=root\n"
      "AuthType=auth/munge\n"
      "CredType=cred/munge\n"
      "AuthInfo=socket={}/munge.socket\n",
      host, free_port(), folder.string());
  for (const auto& [key, name] :
       {std::pair{"StateSaveLocation", "state"}, std::pair{"SlurmdSpoolDir", "spool-%n"},
        std::pair{"SlurmctldPidFile", "slurmctld.pid"}, std::pair{"SlurmdPidFile", "%n.pid"}})
    text += fmt::format("{}={}/{}\n", key, folder.string(), name);
  text +=
      "ProctrackType=proctrack/linuxproc\n"
      "TaskPlugin=task/none\n"
      "SwitchType=switch/none\n"
      "MpiDefault=none\n"
      "SelectType=select/linear\n"
      "SchedulerType=sched/builtin\n"
      "ReturnToService=2\n"
      "KillWait=2\n"
      "MessageTimeout=10\n";
  std::string names;
  for (int i = 1; i <= nodes; ++i) {
    text += fmt::format("NodeName=node{} NodeHostname={} NodeAddr=127.0.0.1 Port={} CPUs=1\n", i,
                        host, free_port());
    names += fmt::format("{}node{}", i > 1 ? "," : "", i);
  }
  return text + fmt::format("PartitionName=main Nodes={} Default=YES MaxTime=10 State=UP\n", names);
}

}  // namespace

std::string SlurmCluster::why_not() {
  if (::geteuid() != 0) return "skipped: only root can run a Slurm cluster";
  for (const char* name : {"munged", "slurmctld", "slurmd", "salloc", "srun", "squeue", "scancel",
                           "sinfo", "scontrol"})
    if (program(name).empty())
      return fmt::format("skipped: {} is not installed (scripts/bootstrap)", name);
  return {};
}

SlurmCluster::SlurmCluster(int nodes) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // slurmstepd leaves its parent; someone must reap it
  configuration_.emplace("SLURM_CONF", (folder_ / "slurm.conf").string());
  for (int i = 0; i < kStarts; ++i) {
    if (start(nodes)) return;
    problem_ = fmt::format("the cluster does not start:\n{}", logs());
    kill_all(folder_.path().string());
  }
}

SlurmCluster::~SlurmCluster() {
  kill_all(folder_.path().string());
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

bool SlurmCluster::start(int nodes) {
  daemons_.clear();
  fs::create_directories(folder_ / "state");
  static_cast<void>(folder_.write("slurm.conf", configuration(folder_.path(), nodes)));
  Prng random(static_cast<std::uint64_t>(::getpid()));  // no secret: the socket is only ours
  std::string key;
  for (int i = 0; i < 1024; ++i) key += static_cast<char>(random.below(256));
  const fs::path key_file = folder_.write("munge.key", key);
  fs::permissions(key_file, fs::perms::owner_read | fs::perms::owner_write);
  const auto in_folder = [&](const char* option, const char* name) {
    return fmt::format("--{}={}", option, (folder_ / name).string());
  };
  spawn("munged", {program("munged"), "--foreground", "--force", in_folder("key-file", "munge.key"),
                   in_folder("socket", "munge.socket"), in_folder("pid-file", "munged.pid"),
                   in_folder("seed-file", "munge.seed"), in_folder("log-file", "munged-own.log")});
  if (!wait_until([&] { return fs::exists(folder_ / "munge.socket"); }, 120s)) return false;
  spawn("slurmctld", {program("slurmctld"), "-D"});
  for (int i = 1; i <= nodes; ++i) start_node(fmt::format("node{}", i));
  if (!wait_idle()) return false;
  problem_.clear();
  return true;
}

void SlurmCluster::start_node(const std::string& node) {
  spawn(node, {program("slurmd"), "-D", "-N", node});
}

void SlurmCluster::spawn(const std::string& name, const std::vector<std::string>& argv) {
  // The node's name marks its processes: slurmstepd and the steps inherit it.
  const std::string marker = fmt::format("PERFLAB_NODE={}/{}", folder_.path().string(), name);
  const std::string log = (folder_ / (name + ".log")).string();
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.push_back(*entry);
  variables.push_back(const_cast<char*>(marker.c_str()));
  variables.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execve(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
  daemons_[name] = pid;
}

void SlurmCluster::kill_all(const std::string& marker) const {
  // Twice: what a process started while the first look went on.
  for (int round = 0; round < 2; ++round) {
    std::error_code error;
    for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      pid_t pid = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
      if (pid == ::getpid()) continue;
      const std::string variables = text_of(it->path() / "environ");
      const std::size_t at = variables.find("PERFLAB_NODE=" + marker);
      if (at == std::string::npos) continue;
      const char after = variables[at + 13 + marker.size()];  // "node1" is not "node12"
      if (after == '\0' || after == '/') ::kill(pid, SIGKILL);
    }
  }
  for (const auto& [name, pid] : daemons_)
    if (marker == folder_.path() || marker == folder_.path() / name) ::waitpid(pid, nullptr, 0);
}

void SlurmCluster::kill_node(const std::string& node) {
  kill_all((folder_.path() / node).string());
  daemons_.erase(node);
  ask({"scontrol", "update", "nodename=" + node, "state=down", "reason=test"});
}

bool SlurmCluster::revive_node(const std::string& node) {
  start_node(node);
  ask({"scontrol", "update", "nodename=" + node, "state=resume"});
  return wait_until(
      [&] {
        const std::string state =
            ask({"sinfo", "--noheader", "--Node", "--nodes=" + node, "--format=%T"});
        return state.starts_with("idle\n") || state.starts_with("allocated\n");
      },
      120s);
}

bool SlurmCluster::wait_idle() {
  return wait_until(
      [] {
        std::istringstream states(ask({"sinfo", "--noheader", "--Node", "--format=%T"}));
        std::string state;
        int idle = 0;
        while (states >> state) {
          if (state != "idle") return false;
          ++idle;
        }
        return idle > 0;
      },
      120s);
}

std::string SlurmCluster::ask(const std::vector<std::string>& argv) {
  ProcessOptions options;
  options.empty_input = true;
  options.standard_output = StreamMode::capture;
  options.standard_error = StreamMode::discard;
  options.timeout = 120s;
  options.heed_interrupts = false;
  const auto result = run_program(argv, options);
  return result ? result->output.tail : std::string();
}

std::vector<std::string> SlurmCluster::allocations() {
  // Ended ones are listed as completing until their nodes have confirmed it.
  std::istringstream lines(
      ask({"squeue", "--noheader", "--states=PENDING,RUNNING,SUSPENDED", "--format=%i"}));
  std::vector<std::string> numbers;
  for (std::string number; lines >> number;) numbers.push_back(number);
  return numbers;
}

std::string SlurmCluster::logs() const {
  std::string text;
  std::error_code error;
  for (fs::directory_iterator it(folder_.path(), error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != ".log") continue;
    const std::string log = text_of(it->path());
    constexpr std::size_t kEnd = 1500;
    text += fmt::format("-- {}\n{}\n", it->path().filename().string(),
                        log.substr(log.size() > kEnd ? log.size() - kEnd : 0));
  }
  return text;
}

}  // namespace perflab::test
