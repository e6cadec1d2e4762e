// Which code the program has loaded: the bytes behind readers and executables, held once by
// content, and the kernels and variables in them (facts/hsa_observed.md 2.4, 2.7, 6.1).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "hsa/api.h"
#include "isolate/kernels.h"

namespace perflab::isolate {

/// The bytes of one code object.
struct CodeBytes {
  std::string bytes;
  std::string hash;  ///< base/hash.h's form
};
using CodePointer = std::shared_ptr<const CodeBytes>;

/// A kernel as it was loaded.
struct LoadedKernel {
  hsa::Executable executable{};
  hsa::Agent agent{};
  hsa::ExecutableSymbol symbol{};
  KernelName* name = nullptr;
};

/// A variable of a loaded code object.
struct LoadedVariable {
  std::string name;
  std::uint64_t address = 0, bytes = 0;
  CodePointer code;  ///< null: not known which object holds it
};

/// What is loaded. Any thread; the runtime is never called with the lock held.
class CodeObjects {
 public:
  CodeObjects(const hsa::Api& api, Kernels& kernels) : api_(api), kernels_(kernels) {}

  /// After the calls of these names succeeded. All allocate, none throws: out of memory is a limit.
  void reader_from_memory(hsa::CodeObjectReader reader, const void* bytes, std::size_t size);
  void reader_from_file(hsa::CodeObjectReader reader, int file);
  void loaded(hsa::Executable executable, hsa::Agent agent, hsa::CodeObjectReader reader);
  /// The object came another way than through a reader: its bytes are not known.
  void loaded_unknown(hsa::Executable executable, hsa::Agent agent);
  /// Finds the kernels of an executable.
  void frozen(hsa::Executable executable);

  /// Forgets before the call, and gives back what restores it when the call fails.
  CodePointer forget_reader(hsa::CodeObjectReader reader);
  void restore_reader(hsa::CodeObjectReader reader, CodePointer code);
  struct Loaded;
  std::unique_ptr<Loaded> forget_executable(hsa::Executable executable);
  void restore_executable(hsa::Executable executable, std::unique_ptr<Loaded> loaded);

  /// The name of a kernel object that the lock-free table does not know; looks through all
  /// executables for it once. Null: none of theirs.
  KernelName* find_name(std::uint64_t kernel_object);
  std::optional<LoadedKernel> kernel(std::uint64_t kernel_object) const;
  /// The code object with this kernel. Error (refused): its bytes are not known.
  Result<CodePointer> code_of(const LoadedKernel& kernel) const;
  /// The visible variables of all executables on an agent, by address. Error: a call fails.
  Result<std::vector<LoadedVariable>> variables(hsa::Agent agent) const;

  /// What went wrong in the calls above, a sentence each.
  std::vector<std::string> limits() const;

  /// Code objects of one executable.
  struct Loaded {
    struct Object {
      hsa::Agent agent;
      CodePointer code;  ///< null: not known
    };
    std::vector<Object> objects;
    std::vector<std::uint64_t> kernels;  ///< their kernel objects
    bool searched = false;
  };

 private:
  CodePointer intern(std::string bytes);
  void keep_reader(hsa::CodeObjectReader reader, CodePointer code);
  void limit(std::string_view sentence) noexcept;

  const hsa::Api& api_;
  Kernels& kernels_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<const CodeBytes>> by_hash_;
  std::unordered_map<std::uint64_t, CodePointer> readers_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Loaded>> executables_;
  std::unordered_map<std::uint64_t, LoadedKernel> loaded_kernels_;
  std::vector<std::string> limits_;
};

}  // namespace perflab::isolate
