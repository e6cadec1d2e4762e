// Rows go one by one and are counted, so that the summary always says how many there were.
#include "report/summary/shorten.h"

#include <cstddef>

namespace perflab::report {

void shorten(Json& summary, const std::function<bool(const Json&)>& fits) {
  while (!fits(summary)) {
    Json* longest = nullptr;
    // First where the rest is a section of --details away.
    for (const bool elsewhere : {true, false}) {
      if (longest != nullptr) break;
      for (Json& part : summary["parts"])
        if (part["details"].is_null() != elsewhere && part["part"] != "recorded" &&
            part["rows"].size() > 1 &&
            (longest == nullptr || part["rows"].size() > (*longest)["rows"].size()))
          longest = &part;
    }
    if (longest != nullptr) {
      (*longest)["rows"].erase((*longest)["rows"].size() - 1);
      (*longest)["left_out"] = (*longest)["left_out"].get<std::size_t>() + 1;
      continue;
    }
    Json& texts = summary["warnings"]["texts"];
    if (texts.empty()) return;
    texts.erase(texts.size() - 1);
    summary["warnings"]["left_out"] = summary["warnings"]["left_out"].get<std::size_t>() + 1;
  }
}

}  // namespace perflab::report
