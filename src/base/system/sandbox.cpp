// The command line of bwrap(1). Operations are made in the order given: the whole system first,
// then what is hidden, then what is shown of that, then what may be written. No --new-session:
// run_program() has made one without a terminal, and in ours it can wait until the last process of
// the sandbox is gone.
#include "base/system/sandbox.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/system/environment.h"
#include "base/text/text.h"

namespace perflab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHomes = "/home";  // each folder in it is somebody's
/// The real path of what is there; empty: nothing is.
fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? fs::path() : real;
}

/// Both real.
bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

/// The user's home folder, by the variable and by the user database.
const std::vector<fs::path>& home_folders() {
  static const std::vector<fs::path> kFolders = [] {
    std::vector<fs::path> homes{environment("HOME")};
    if (const passwd* const user = ::getpwuid(::getuid())) homes.emplace_back(user->pw_dir);
    return homes;
  }();
  return kFolders;
}

/// Real paths of what is to be hidden, a folder before what lies in it.
const std::set<fs::path>& wanted_places() {
  static const std::set<fs::path> kWanted = [] {
    std::vector<fs::path> named = home_folders();
    for (const char* place : {kHomes, "/root", "/tmp", "/var/tmp", "/run"})
      named.emplace_back(place);
    std::set<fs::path> wanted;
    for (const fs::path& place : named)
      if (fs::path found = real_path(place); !found.empty() && found != found.root_path())
        wanted.insert(std::move(found));
    return wanted;
  }();
  return kWanted;
}

std::vector<fs::path> outermost(const std::set<fs::path>& wanted) {
  std::vector<fs::path> places;
  for (const fs::path& place : wanted)
    if (std::ranges::none_of(places, [&](const fs::path& had) { return lies_in(place, had); }))
      places.push_back(place);
  return places;
}

void add(std::vector<std::string>& command, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) command.emplace_back(word);
}

/// Binds what is there under its real path. A link in a hidden place would be gone: under its own,
/// too, when it is the last part of the path.
void bind(std::vector<std::string>& command, const char* how, const fs::path& path) {
  const fs::path real = real_path(path);
  if (real.empty()) return;
  add(command, {how, real.native(), real.native()});
  std::error_code ignored;
  fs::path given = fs::absolute(path, ignored).lexically_normal();
  if (!given.has_filename()) given = given.parent_path();
  if (given != real && given.parent_path() == real_path(given.parent_path()) && is_hidden(given))
    add(command, {how, real.native(), given.native()});
}

}  // namespace

const std::vector<fs::path>& hidden_places() {
  static const std::vector<fs::path> kPlaces = outermost(wanted_places());
  return kPlaces;
}

bool is_hidden(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return !error && std::ranges::any_of(hidden_places(),
                                       [&](const fs::path& place) { return lies_in(real, place); });
}

bool holds_hidden(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  if (error || real.parent_path() == real_path(kHomes)) return !error;
  return std::ranges::any_of(wanted_places(),
                             [&](const fs::path& place) { return lies_in(place, real); });
}

std::vector<std::string> sandbox_command(const Confinement& confinement) {
  PERFLAB_CHECK(confinement.sandbox != nullptr);
  const Sandbox& sandbox = *confinement.sandbox;
  std::vector<std::string> command{sandbox.program.string(), "--unshare-all"};
  if (sandbox.network) command.emplace_back("--share-net");
  add(command, {"--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev"});
  for (const fs::path& device : sandbox.devices)
    add(command, {"--dev-bind-try", device.native(), device.native()});
  add(command, {"--proc", "/proc"});
  for (const fs::path& place : hidden_places()) add(command, {"--tmpfs", place.native()});
  // The home may lie in another hidden place; programs expect it to be there.
  for (const fs::path& home : home_folders())
    if (const fs::path real = real_path(home); !real.empty() && is_hidden(real))
      add(command, {"--dir", real.native()});
  if (sandbox.network) bind(command, "--ro-bind", "/etc/resolv.conf");  // often a link into /run
  std::vector<fs::path> shown = sandbox.shown;
  std::ranges::sort(shown);  // what lies in another comes behind it
  for (const fs::path& path : shown)
    if (is_hidden(path) && !holds_hidden(path)) bind(command, "--ro-bind", path);
  for (const fs::path& path : confinement.writable) bind(command, "--bind", path);
  add(command, {"--setenv", "TMPDIR", "/tmp", "--"});
  return command;
}

bool is_secret_variable(std::string_view name, std::string_view value) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS",
       "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "AUTH", "COOKIE", "PAT"});
  // Where the session's services listen, which are hidden as well.
  constexpr auto kSockets =
      std::to_array<std::string_view>({"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "GPG_AGENT_INFO",
                                       "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"});
  if (std::ranges::find(kSockets, name) != kSockets.end()) return true;
  for (std::string_view rest = name; !rest.empty();) {
    const std::size_t end = std::min(rest.find('_'), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (std::ranges::any_of(kWords, [&](auto other) { return equal_ignoring_case(word, other); }))
      return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  // "https://user:password@host/": RFC 3986, section 3.2.1.
  const std::size_t scheme = value.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view rest = value.substr(scheme + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t at = authority.rfind('@');
  return at != std::string_view::npos && authority.substr(0, at).contains(':');
}

}  // namespace perflab
