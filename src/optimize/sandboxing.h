// Whether what others wrote runs in a sandbox (base/system/sandbox.h): candidates with their builds
// and checks, and exec: proposers; what of the user's it is shown, and what the document says of
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/system/sandbox.h"
#include "base/text/json.h"

namespace perflab::optimize {

/// Why there is none.
enum class NoSandbox : std::uint8_t {
  not_needed,     ///< all proposals are made by this program's rules
  turned_off,     ///< the user said so
  not_installed,  ///< no bubblewrap
  does_not_work,  ///< it cannot make a sandbox here
};
std::string_view to_string(NoSandbox why);

/// For the document, the ledger's key and messages.
struct SandboxRecord {
  std::optional<NoSandbox> why_not = NoSandbox::not_needed;  ///< missing: there is one
  std::string version{};                                     ///< of bubblewrap; empty: not known
  std::string sentence = "there is no sandbox: the rules of this program make all proposals";
  bool proposer_network = false;  ///< the exec: program has the network and the keys
};
/// {"used", "tool", "version", "reason", "sentence", "proposer_network"}.
Json to_json(const SandboxRecord& record);
/// What steps must have in common to stand in one ledger: "bubblewrap", or null.
Json sandbox_kind(const SandboxRecord& record);

struct SandboxRequest {
  bool needed = false;                         ///< others make proposals
  bool turned_off = false;                     ///< by --no-sandbox
  bool proposer_network = false;               ///< --proposer-network
  std::vector<std::filesystem::path> shown{};  ///< --sandbox-show
  std::filesystem::path source{}, folder{};    ///< the user's file; where everything is kept
  std::filesystem::path capture{};             ///< empty: none
  std::vector<std::string> commands{};         ///< templates and the exec: command line
  std::vector<std::string> arguments{};        ///< of the compiler
};

struct SandboxChoice {
  std::shared_ptr<const Sandbox> candidates{}, proposer{};  ///< null: none
  SandboxRecord record{};
  std::string warning{};  ///< there should be one and is none; empty: nothing to warn of
};

/// Looks for a sandbox where one is wanted. Shown are: the folders of the source, of the work and
/// the current one, the capture, this program, what the commands name, and what the tool chain's
/// variables name. Errors: usage (a path of `shown` that is not there or holds a whole hidden
/// place), interrupted.
Result<SandboxChoice> choose_sandbox(const SandboxRequest& request);

/// The paths that choose_sandbox() shows, those in hidden places alone.
std::vector<std::filesystem::path> shown_paths(const SandboxRequest& request);

}  // namespace perflab::optimize
