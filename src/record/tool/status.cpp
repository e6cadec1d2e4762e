// Written to a temporary name and renamed: who polls sees all of it or nothing.
#include "record/tool/status.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "record/database/machine.h"
#include "record/json_text.h"
#include "record/protocol.h"

namespace perflab::record {

std::string file_of_process(const std::string& folder, std::string_view suffix) {
  return folder + "/" + host_name() + "/" + std::to_string(getpid()) + std::string(suffix);
}

void say_not_recorded(const std::string& folder, const Error& why,
                      const std::string& second_client) {
  std::fprintf(stderr, "rocm-perf: process %ld is not recorded: %s\n", static_cast<long>(getpid()),
               describe(why).c_str());
  if (folder.empty()) return;
  const std::string path = file_of_process(folder, kStatusSuffix);
  const std::string temporary = path + std::string(kPartialSuffix);
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::ofstream file(temporary);
  file << "{\"pid\": " << getpid() << ", \"reason\": " << json_text(why.message)
       << ", \"remedy\": " << (why.remedy.empty() ? "null" : json_text(why.remedy))
       << ", \"second_client\": " << (second_client.empty() ? "null" : json_text(second_client))
       << "}\n";
  file.close();
  if (file) std::rename(temporary.c_str(), path.c_str());
}

}  // namespace perflab::record
