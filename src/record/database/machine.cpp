// uname(2), /etc/machine-id (machine-id(5)), /proc/cpuinfo (proc(5)), getrandom(2).
#include "record/database/machine.h"

#include <sys/random.h>
#include <sys/utsname.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string_view>

namespace perflab::record {
namespace {

/// FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/): the same in every process.
std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

Machine this_machine() {
  Machine machine;
  utsname names{};
  if (uname(&names) == 0) {
    machine.system = names.sysname;
    machine.host = names.nodename;
    machine.release = names.release;
    machine.version = names.version;
    machine.hardware = names.machine;
    machine.domain = names.domainname;
  }
  machine.name = first_line("/etc/machine-id");
  if (machine.name.empty()) machine.name = machine.host.empty() ? "unknown" : machine.host;
  const std::uint64_t hash = stable_hash(machine.name);
  machine.hash = static_cast<std::int64_t>(hash >> 1);
  machine.id = static_cast<std::int64_t>(hash & 0x7fff'ffff) | 1;
  return machine;
}

std::string host_name() {
  utsname names{};
  return uname(&names) == 0 && names.nodename[0] != '\0' ? names.nodename : "localhost";
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

std::string new_guid(std::int64_t start) {
  std::array<std::uint16_t, 5> random{};
  if (getrandom(random.data(), sizeof random, GRND_NONBLOCK) < 0)
    random = {static_cast<std::uint16_t>(start), static_cast<std::uint16_t>(start >> 16), 0, 0, 0};
  const auto time = static_cast<std::uint64_t>(start / 1'000'000);  // ms, 48 bits
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%08" PRIx64 "-%04" PRIx64 "-7%03x-%04x-%04x%04x%04x",
                (time >> 16) & 0xffff'ffff, time & 0xffff, random[0] & 0xfffU,
                0x8000U | (random[1] & 0x3fffU), static_cast<unsigned>(random[2]),
                static_cast<unsigned>(random[3]), static_cast<unsigned>(random[4]));
  return text.data();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  gmtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return text.data();
}

}  // namespace perflab::record
