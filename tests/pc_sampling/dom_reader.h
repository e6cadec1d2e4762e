// A second reader of rocprofv3's PC samples: slow, over a DOM of nlohmann's, and with nothing of
// the one it is compared with but the model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pc_sampling/model.h"

namespace perflab::test {

/// Every figure of each sample of a JSON text as a line, in the order of the file.
std::vector<std::string> dom_lines(std::string_view json);

/// The same of what was read.
std::vector<std::string> lines_of(const pc_sampling::PcSamples& samples);

/// The same with what a CSV has alone, sorted.
std::vector<std::string> csv_lines_of(const pc_sampling::PcSamples& samples);

}  // namespace perflab::test
