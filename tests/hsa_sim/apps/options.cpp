// See options.h.
#include "hsa_sim/apps/options.h"

#include <charconv>
#include <functional>
#include <string_view>
#include <vector>

#include "hsa_sim/apps/gpu.h"

namespace perflab::test {
namespace {

template <class T>
T number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || (!unit.empty() && unit != "M" && unit != "G"))
    fail("not a number: " + std::string(text));
  const int shift = unit.empty() ? 0 : unit == "M" ? 20 : 30;
  return static_cast<T>(static_cast<std::uint64_t>(value) << shift);
}

/// One option: its name, and what it does with its value (options without one get none).
struct Option {
  const char* name;
  bool takes_value;
  std::function<void(Options&, std::string_view)> apply;
};

template <class T>
Option with_number(const char* name, T Options::* member) {
  return {name, true, [member](Options& options, std::string_view value) {
            options.*member = number_of<T>(value);
          }};
}
Option with_text(const char* name, std::string Options::* member) {
  return {name, true,
          [member](Options& options, std::string_view value) { options.*member = value; }};
}
Option flag(const char* name, bool Options::* member) {
  return {name, false, [member](Options& options, std::string_view) { options.*member = true; }};
}
Option place_flag(const char* name) {
  return {name, false, [name](Options& options, std::string_view) { options.place = name + 2; }};
}

std::vector<Option> all_options() {
  return {with_text("--kernel", &Options::kernel),
          with_number("--n", &Options::n),
          with_number("--workgroup", &Options::workgroup),
          with_number("--launches", &Options::launches),
          with_number("--batch", &Options::batch),
          with_number("--target-at", &Options::target_at),
          flag("--wrap", &Options::wrap),
          with_number("--streams", &Options::streams),
          flag("--cooperative", &Options::cooperative),
          flag("--back-to-back", &Options::back_to_back),
          with_number("--slow-ms", &Options::slow_ms),
          {"--adjacent", false,
           [](Options& options, std::string_view) {
             options.kernel = "vadd";
             options.n = 1024;
           }},
          flag("--several-kernels", &Options::several_kernels),
          with_text("--place", &Options::place),
          place_flag("--vmem"),
          place_flag("--managed"),
          place_flag("--lock"),
          place_flag("--host"),
          place_flag("--region"),
          with_number("--regions", &Options::regions),
          with_number("--sparse", &Options::sparse_bytes),
          flag("--free-some", &Options::free_some),
          flag("--ipc", &Options::ipc),
          flag("--interop", &Options::interop),
          with_text("--from-file", &Options::from_file),
          with_text("--door", &Options::door),
          flag("--replace-file", &Options::replace_file),
          with_text("--code-object", &Options::code_object),
          flag("--no-signal", &Options::no_signal),
          with_number("--signal-value", &Options::signal_value),
          flag("--exit-without-shutdown", &Options::exit_without_shutdown),
          flag("--shutdown-at-exit", &Options::shutdown_at_exit),
          with_number("--threads", &Options::threads),
          flag("--uneven", &Options::uneven),
          with_number("--queue-size", &Options::queue_size)};
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  const std::vector<Option> all = all_options();
  for (int i = 1; i < argc; ++i) {
    const std::string_view given = argv[i];
    const Option* found = nullptr;
    for (const Option& option : all)
      if (given == option.name) found = &option;
    if (found == nullptr) {
      for (const Option& option : all)
        std::fprintf(stderr, "%s%s\n", option.name, option.takes_value ? " VALUE" : "");
      fail("options are those above, not " + std::string(given));
    }
    if (found->takes_value && i + 1 == argc) fail("no value for " + std::string(given));
    found->apply(options, found->takes_value ? argv[++i] : "");
  }
  if (options.n == 0 || options.workgroup == 0) fail("nothing to launch");
  return options;
}

}  // namespace perflab::test
