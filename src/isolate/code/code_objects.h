// Which code the program has loaded: the bytes behind readers and executables, held once by
// content, and the kernels and variables in them (docs/facts/hsa_runtime.md "Code of HIP",
// "Variables and symbols", "Dispatch").
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
#include "hsa/loader_table.h"
#include "isolate/protocol/kernels.h"

namespace perflab::isolate {

/// The bytes of one code object.
struct CodeBytes {
  std::string bytes;
  std::string hash;  ///< base/hash.h's form
};
using CodePointer = std::shared_ptr<const CodeBytes>;

/// A code object in an executable.
struct LoadedObject {
  hsa::Agent agent{};
  CodePointer code;                ///< null: not known
  hsa::LoadedCodeObject loaded{};  ///< handle 0: the runtime does not show it
  /// Where bytes that came in unseen were found, in words; empty: they were seen on their way in.
  std::string place;
  std::string problem;  ///< why the bytes are not known
};

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
  CodeObjects(const hsa::Api& api, const hsa::LoaderTable& loader, Kernels& kernels)
      : api_(api), loader_(loader), kernels_(kernels) {}

  /// After the calls of these names succeeded. All allocate, none throws: out of memory is a limit.
  void reader_from_memory(hsa::CodeObjectReader reader, const void* bytes, std::size_t size);
  /// `most` bytes from `offset` on, or to the end of the file.
  void reader_from_file(hsa::CodeObjectReader reader, int file, std::uint64_t offset,
                        std::uint64_t most);
  void deserialized(hsa::LegacyCodeObject object, const void* bytes, std::size_t size);
  void forget_deserialized(hsa::LegacyCodeObject object);
  /// `loaded`: as the runtime names it; 0: it did not say. What no known reader or object has is
  /// looked for at once, where the runtime says that it came from.
  void loaded(hsa::Executable executable, hsa::Agent agent, hsa::CodeObjectReader reader,
              hsa::LoadedCodeObject loaded);
  void loaded(hsa::Executable executable, hsa::Agent agent, hsa::LegacyCodeObject object);
  /// Finds the kernels of an executable, and code objects that came in through no known door.
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
  /// The code object with this kernel. Error (refused): its bytes are not known, and why.
  Result<LoadedObject> code_of(const LoadedKernel& kernel) const;
  /// The visible variables of all executables on an agent, by address. Error: a call fails.
  Result<std::vector<LoadedVariable>> variables(hsa::Agent agent) const;

  /// What went wrong in the calls above, a sentence each.
  std::vector<std::string> limits() const;

  /// Code objects of one executable.
  struct Loaded {
    std::vector<LoadedObject> objects;
    std::vector<std::uint64_t> kernels;  ///< their kernel objects
    bool searched = false;
  };

 private:
  CodePointer intern(std::string bytes);
  void keep_reader(hsa::CodeObjectReader reader, CodePointer code);
  void keep_object(hsa::Executable executable, LoadedObject object);
  /// What the runtime has in an executable and we have not.
  std::vector<hsa::LoadedCodeObject> unknown_objects(hsa::Executable executable) const;
  void find_bytes(LoadedObject& object);
  void note_unseen(hsa::Executable executable);
  void limit(std::string_view sentence) noexcept;

  const hsa::Api& api_;
  const hsa::LoaderTable& loader_;
  Kernels& kernels_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<const CodeBytes>> by_hash_;
  std::unordered_map<std::uint64_t, CodePointer> readers_;
  std::unordered_map<std::uint64_t, CodePointer> deserialized_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Loaded>> executables_;
  std::unordered_map<std::uint64_t, LoadedKernel> loaded_kernels_;
  std::vector<std::string> limits_;
};

}  // namespace perflab::isolate
