// A Slurm cluster on this machine for one test program: munged, slurmctld and one slurmd per node
// from Debian's packages, with everything they write in a temporary folder. They die with us.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/temp_folder.h"

namespace perflab::test {

class SlurmCluster {
 public:
  /// Why there can be none on this machine; empty: there can.
  static std::string why_not();

  /// Starts node1, node2, ... and waits until all are idle. Sets SLURM_CONF.
  explicit SlurmCluster(int nodes);
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;
  /// Kills every process of the cluster.
  ~SlurmCluster();

  /// What went wrong at the start, with the ends of the logs; empty: it runs.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// kill -9 of a node's slurmd and what it runs; slurmctld is told that the node is down (by
  /// itself it would notice after SlurmdTimeout).
  void kill_node(const std::string& node);
  /// Starts it again and waits until it can be used.
  bool revive_node(const std::string& node);
  /// Waits until no node has work, as left by a test.
  bool wait_idle();

  /// Stdout of a Slurm command.
  static std::string ask(const std::vector<std::string>& argv);
  /// Allocations that are queued or run: their numbers.
  [[nodiscard]] static std::vector<std::string> allocations();

 private:
  bool start(int nodes);
  void start_node(const std::string& node);
  void spawn(const std::string& name, const std::vector<std::string>& argv);
  void kill_all(const std::string& marker) const;
  [[nodiscard]] std::string logs() const;

  TempFolder folder_;
  std::optional<ScopedVariable> configuration_;
  std::map<std::string, pid_t> daemons_;
  std::string problem_;
};

}  // namespace perflab::test
