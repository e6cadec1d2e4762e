// What a database says about the machine it was recorded on, and the ids it gets.
#pragma once

#include <cstdint>
#include <string>

namespace perflab::record {

/// The row of info_node. The same in every process of a machine.
struct Machine {
  std::int64_t id = 0;    ///< 31 bits of the hash
  std::int64_t hash = 0;  ///< of the name
  std::string name;       ///< /etc/machine-id, or the host's name
  std::string system, host, release, version, hardware, domain;
};

Machine this_machine();

/// The host's name, as it stands in paths.
std::string host_name();

/// The processor's model, from /proc/cpuinfo; "CPU" where it does not say.
std::string processor_name();

/// A new id in the form of a UUID: time first, then random bits.
std::string new_guid(std::int64_t start);

/// The wall clock: "2026-11-23 19:20:00", UTC.
std::string utc_now();

}  // namespace perflab::record
