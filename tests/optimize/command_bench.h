// A workshop of commands over one small file of the user's: shell scripts as sources where only the
// process matters.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/temp_folder.h"
#include "optimize/workshop/workshop.h"

namespace perflab::optimize {

inline std::string failure_of(const Correctness& proof) {
  return proof.reason ? std::string(to_string(*proof.reason)) : "";
}

/// A workshop over one user's file; variants are written beside it, each with a folder of its own.
class CommandBench {
 public:
  explicit CommandBench(std::string_view source = "", std::string_view name = "kernel.sh") {
    options.source = folder.write(name, source);
    extension_ = options.source.extension().string();
    if (extension_ == ".sh") {
      options.build = "cp {source} {build_dir}/app";
      options.run = "sh {build_dir}/app {seed} {build_dir}/out";
      options.outputs = {"{build_dir}/out"};
    }
    options.time_limit = std::chrono::milliseconds(300'000);
  }

  Workshop& workshop() {
    if (!workshop_) {
      auto opened = open_command_workshop(options);
      EXPECT_TRUE(opened.has_value()) << describe(opened.error());
      workshop_ = *std::move(opened);
    }
    return *workshop_;
  }
  /// Error of open_command_workshop().
  [[nodiscard]] std::string refusal() const {
    const auto opened = open_command_workshop(options);
    EXPECT_FALSE(opened.has_value());
    if (opened) return "";
    EXPECT_EQ(opened.error().code, ErrorCode::usage);
    return describe(opened.error());
  }
  BuildOutcome outcome(const std::string& name, std::string_view text) {
    std::filesystem::create_directories(folder / "work");
    const std::filesystem::path source = folder.write("work/" + name + extension_, text);
    auto built = workshop().build(source, folder / ("work/" + name));
    EXPECT_TRUE(built.has_value()) << describe(built.error());
    return std::move(built).value_or(BuildOutcome{});
  }
  Built build(const std::string& name, std::string_view text) {
    BuildOutcome built = outcome(name, text);
    EXPECT_TRUE(built.built.has_value()) << built.compiler_text;
    return std::move(built.built).value_or(Built{});
  }
  const Built& original() {
    if (!original_) original_ = build("original", test::text_of(options.source));
    return *original_;
  }
  Result<Correctness> try_to_prove(const std::string& name, std::string_view text) {
    return workshop().prove(original(), build(name, text));
  }
  Correctness prove(const std::string& name, std::string_view text) {
    auto proof = try_to_prove(name, text);
    EXPECT_TRUE(proof.has_value()) << describe(proof.error());
    return std::move(proof).value_or(Correctness{});
  }
  /// The message of an error that is not the candidate's fault.
  std::string error(ErrorCode code) {
    const auto proof = try_to_prove("same", test::text_of(options.source));
    EXPECT_FALSE(proof.has_value());
    if (proof) return "";
    EXPECT_EQ(proof.error().code, code);
    return describe(proof.error());
  }

  test::TempFolder folder;
  CommandWorkshopOptions options;

  /// What timed runs of the original and of this one have to compute is known from here on.
  void prepare(const Built& candidate) {
    const auto prepared = workshop().prepare_timing(original(), original(), candidate);
    EXPECT_TRUE(prepared.has_value()) << describe(prepared.error());
  }
  /// One timed run.
  measure::Measured timed(const Built& built) {
    auto measured = workshop().backend().measure(built.variant);
    EXPECT_TRUE(measured.has_value()) << describe(measured.error());
    return std::move(measured).value_or(measure::Measured{});
  }
  /// A later process: nothing is known that an earlier one proved.
  void begin_again() {
    workshop_.reset();
    original_.reset();
  }

 private:
  std::string extension_;
  std::unique_ptr<Workshop> workshop_;
  std::optional<Built> original_;
};

}  // namespace perflab::optimize
