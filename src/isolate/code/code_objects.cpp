// The registry of code. Symbols are listed after a freeze, when the runtime holds no lock of its
// own; asking inside a query of the program would wait for the loader's lock in some runtimes
// (docs/facts/hsa_runtime.md "Code of HIP"). Listing gives the symbols that are visible, kernels
// always are.
#include "isolate/code/code_objects.h"

#include <algorithm>

#include "base/hash.h"
#include "code/elf/elf.h"
#include "code/object/code_object.h"
#include "isolate/code/loaded_code.h"
#include "isolate/machine/topology.h"

namespace perflab::isolate {
namespace {

constexpr std::string_view kDescriptorSuffix = ".kd";
constexpr std::size_t kLongestName = std::size_t{1} << 20;

hsa::Status keep_symbol(hsa::Executable /*executable*/, hsa::Agent /*agent*/,
                        hsa::ExecutableSymbol symbol, void* data) noexcept try {
  static_cast<std::vector<hsa::ExecutableSymbol>*>(data)->push_back(symbol);
  return hsa::Status::success;
} catch (...) {
  return hsa::Status::out_of_resources;
}

// One attribute of a symbol.
template <class T>
Result<T> symbol_attribute(const hsa::Api& api, hsa::ExecutableSymbol symbol,
                           std::uint32_t attribute) {
  T value{};
  PERFLAB_TRY_VOID(checked("hsa_executable_symbol_get_info",
                           api.core.executable_symbol_get_info(symbol, attribute, &value)));
  return value;
}

Result<std::string> symbol_name(const hsa::Api& api, hsa::ExecutableSymbol symbol) {
  PERFLAB_TRY(const auto length,
              symbol_attribute<std::uint32_t>(api, symbol, hsa::symbol_info::name_length));
  if (length > kLongestName) return fail(ErrorCode::target_failed, "a symbol's name is too long");
  std::string name(std::size_t{length} + 1, '\0');
  PERFLAB_TRY_VOID(
      checked("hsa_executable_symbol_get_info (name)",
              api.core.executable_symbol_get_info(symbol, hsa::symbol_info::name, name.data())));
  name.resize(length);
  return name;
}

Result<std::vector<hsa::ExecutableSymbol>> symbols_of(const hsa::Api& api,
                                                      hsa::Executable executable,
                                                      hsa::Agent agent) {
  std::vector<hsa::ExecutableSymbol> symbols;
  PERFLAB_TRY_VOID(
      checked("hsa_executable_iterate_agent_symbols",
              api.core.executable_iterate_agent_symbols(executable, agent, keep_symbol, &symbols)));
  return symbols;
}

// A kernel and its kernel object.
struct FoundKernel {
  std::uint64_t object = 0;
  LoadedKernel kernel;
};

Result<std::vector<FoundKernel>> kernels_of(const hsa::Api& api, Kernels& names,
                                            hsa::Executable executable, hsa::Agent agent) {
  std::vector<FoundKernel> found;
  PERFLAB_TRY(const auto symbols, symbols_of(api, executable, agent));
  for (const hsa::ExecutableSymbol symbol : symbols) {
    PERFLAB_TRY(const auto kind,
                symbol_attribute<hsa::SymbolKind>(api, symbol, hsa::symbol_info::type));
    if (kind != hsa::SymbolKind::kernel) continue;
    PERFLAB_TRY(std::string name, symbol_name(api, symbol));
    if (name.ends_with(kDescriptorSuffix)) name.resize(name.size() - kDescriptorSuffix.size());
    PERFLAB_TRY(const auto object,
                symbol_attribute<std::uint64_t>(api, symbol, hsa::symbol_info::kernel_object));
    found.push_back({.object = object,
                     .kernel = {.executable = executable,
                                .agent = agent,
                                .symbol = symbol,
                                .name = names.named(name)}});
  }
  return found;
}

// Whether a code object defines a symbol.
bool defines(const CodeBytes& code, std::string_view name) {
  const auto elf = code::Elf::read(code.bytes, "the code object");
  if (!elf) return false;
  bool found = false;
  const auto visited = elf->visit_symbols(
      kLongestName, [&](const code::ElfSymbol& symbol) { found = found || symbol.name == name; });
  return visited.has_value() && found;
}

// Which of an executable's objects on an agent defines a symbol; the only one does. Null: none.
const LoadedObject* object_with(const std::vector<LoadedObject>& objects, std::string_view name) {
  if (objects.size() == 1) return &objects.front();
  for (const LoadedObject& object : objects)
    if (object.code != nullptr && defines(*object.code, name)) return &object;
  return nullptr;
}

std::vector<LoadedObject> objects_on(const CodeObjects::Loaded& loaded, hsa::Agent agent) {
  std::vector<LoadedObject> out;
  for (const LoadedObject& object : loaded.objects)
    if (object.agent == agent) out.push_back(object);
  return out;
}

hsa::Status keep_object_handle(hsa::Executable /*executable*/, hsa::LoadedCodeObject object,
                               void* data) noexcept try {
  static_cast<std::vector<hsa::LoadedCodeObject>*>(data)->push_back(object);
  return hsa::Status::success;
} catch (...) {
  return hsa::Status::out_of_resources;
}

constexpr std::string_view kNoMemoryForCode = "There was no memory for the bytes of a code object.";

}  // namespace

void CodeObjects::limit(std::string_view sentence) noexcept try {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(limits_, sentence) == limits_.end()) limits_.emplace_back(sentence);
} catch (...) {
  return;  // no memory for a sentence
}

CodePointer CodeObjects::intern(std::string bytes) {
  const std::uint64_t hash = content_hash(bytes);
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const CodeBytes>& known = by_hash_[hash];
  if (CodePointer same = known.lock(); same != nullptr && same->bytes == bytes) return same;
  auto made = std::make_shared<CodeBytes>();
  made->hash = content_hash_text(bytes);
  made->bytes = std::move(bytes);
  known = made;
  return made;
}

void CodeObjects::keep_reader(hsa::CodeObjectReader reader, CodePointer code) {
  const std::lock_guard lock(mutex_);
  readers_[reader.handle] = std::move(code);
}

void CodeObjects::reader_from_memory(hsa::CodeObjectReader reader, const void* bytes,
                                     std::size_t size) try {
  keep_reader(reader, intern(std::string(static_cast<const char*>(bytes), size)));
} catch (...) {
  limit(kNoMemoryForCode);
}

// What cannot be read is looked for when it is loaded.
void CodeObjects::reader_from_file(hsa::CodeObjectReader reader, int file, std::uint64_t offset,
                                   std::uint64_t most) try {
  std::string bytes = file_bytes(file, offset, most);
  if (!bytes.empty()) keep_reader(reader, intern(std::move(bytes)));
} catch (...) {
  limit(kNoMemoryForCode);
}

void CodeObjects::deserialized(hsa::LegacyCodeObject object, const void* bytes,
                               std::size_t size) try {
  CodePointer code = intern(std::string(static_cast<const char*>(bytes), size));
  const std::lock_guard lock(mutex_);
  deserialized_[object.handle] = std::move(code);
} catch (...) {
  limit(kNoMemoryForCode);
}

void CodeObjects::forget_deserialized(hsa::LegacyCodeObject object) {
  const std::lock_guard lock(mutex_);
  deserialized_.erase(object.handle);
}

void CodeObjects::keep_object(hsa::Executable executable, LoadedObject object) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Loaded>& entry = executables_[executable.handle];
  if (entry == nullptr) entry = std::make_unique<Loaded>();
  entry->objects.push_back(std::move(object));
  entry->searched = false;
}

std::vector<hsa::LoadedCodeObject> CodeObjects::unknown_objects(hsa::Executable executable) const {
  std::vector<hsa::LoadedCodeObject> handles;
  if (loader_.executable_iterate_loaded_code_objects == nullptr ||
      loader_.executable_iterate_loaded_code_objects(executable, keep_object_handle, &handles) !=
          hsa::Status::success)
    return {};
  const std::lock_guard lock(mutex_);
  const auto entry = executables_.find(executable.handle);
  if (entry != executables_.end())
    std::erase_if(handles, [&](hsa::LoadedCodeObject handle) {
      return std::ranges::any_of(entry->second->objects, [&](const LoadedObject& known) {
        return known.loaded.handle == handle.handle;
      });
    });
  return handles;
}

void CodeObjects::find_bytes(LoadedObject& object) {
  auto found = find_loaded_code(loader_, object.loaded);
  if (!found) {
    object.problem = found.error().message;
    return;
  }
  object.code = intern(std::move(found->bytes));
  object.place = std::move(found->place);
}

void CodeObjects::loaded(hsa::Executable executable, hsa::Agent agent, hsa::CodeObjectReader reader,
                         hsa::LoadedCodeObject loaded) try {
  LoadedObject object{.agent = agent, .code = nullptr, .loaded = loaded, .place{}, .problem{}};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = readers_.find(reader.handle); known != readers_.end())
      object.code = known->second;
  }
  if (object.code == nullptr) find_bytes(object);
  keep_object(executable, std::move(object));
} catch (...) {
  limit("There was no memory to note that a code object was loaded.");
}

void CodeObjects::loaded(hsa::Executable executable, hsa::Agent agent,
                         hsa::LegacyCodeObject legacy) try {
  LoadedObject object{.agent = agent, .code = nullptr, .loaded{}, .place{}, .problem{}};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = deserialized_.find(legacy.handle); known != deserialized_.end())
      object.code = known->second;
  }
  // This call does not say what it made: the one that is new.
  if (const auto made = unknown_objects(executable); made.size() == 1) object.loaded = made.front();
  if (object.code == nullptr) find_bytes(object);
  keep_object(executable, std::move(object));
} catch (...) {
  limit("There was no memory to note that a code object was loaded.");
}

// The runtime knows all that is in an executable, also what came in through no door of ours.
void CodeObjects::note_unseen(hsa::Executable executable) {
  for (const hsa::LoadedCodeObject handle : unknown_objects(executable)) {
    LoadedObject object{.agent{}, .code = nullptr, .loaded = handle, .place{}, .problem{}};
    // A program's object, which no agent has, holds no kernels that an agent could run.
    if (loader_.loaded_code_object_get_info == nullptr ||
        loader_.loaded_code_object_get_info(handle, hsa::loaded_code_info::agent, &object.agent) !=
            hsa::Status::success)
      continue;
    find_bytes(object);
    keep_object(executable, std::move(object));
  }
}

void CodeObjects::frozen(hsa::Executable executable) try {
  note_unseen(executable);
  std::vector<hsa::Agent> agents;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = executables_.find(executable.handle);
    if (entry == executables_.end() || entry->second->searched) return;
    entry->second->searched = true;
    for (const LoadedObject& object : entry->second->objects)
      if (std::ranges::find(agents, object.agent) == agents.end()) agents.push_back(object.agent);
  }
  for (const hsa::Agent agent : agents) {
    const auto found = kernels_of(api_, kernels_, executable, agent);
    if (!found)
      return limit("Kernels of an executable are not known: " + found.error().message + ".");
    const std::lock_guard lock(mutex_);
    const auto entry = executables_.find(executable.handle);
    if (entry == executables_.end()) return;
    for (const auto& [object, kernel] : *found) {
      loaded_kernels_[object] = kernel;
      entry->second->kernels.push_back(object);
      kernels_.bind(object, kernel.name);
    }
  }
} catch (...) {
  limit("There was no memory for the kernels of an executable.");
}

CodePointer CodeObjects::forget_reader(hsa::CodeObjectReader reader) {
  const std::lock_guard lock(mutex_);
  auto node = readers_.extract(reader.handle);
  return node.empty() ? nullptr : std::move(node.mapped());
}

void CodeObjects::restore_reader(hsa::CodeObjectReader reader, CodePointer code) try {
  if (code != nullptr) keep_reader(reader, std::move(code));
} catch (...) {
  limit("There was no memory for the bytes of a code object.");
}

std::unique_ptr<CodeObjects::Loaded> CodeObjects::forget_executable(hsa::Executable executable) {
  const std::lock_guard lock(mutex_);
  auto node = executables_.extract(executable.handle);
  if (node.empty()) return nullptr;
  for (const std::uint64_t object : node.mapped()->kernels) {
    const auto kernel = loaded_kernels_.find(object);
    if (kernel == loaded_kernels_.end() || kernel->second.executable.handle != executable.handle)
      continue;
    kernels_.unbind(object);
    loaded_kernels_.erase(kernel);
  }
  return std::move(node.mapped());
}

void CodeObjects::restore_executable(hsa::Executable executable,
                                     std::unique_ptr<Loaded> loaded) try {
  if (loaded == nullptr) return;
  loaded->kernels.clear();
  loaded->searched = false;
  {
    const std::lock_guard lock(mutex_);
    executables_[executable.handle] = std::move(loaded);
  }
  frozen(executable);
} catch (...) {
  limit("There was no memory for the code objects of an executable.");
}

KernelName* CodeObjects::find_name(std::uint64_t kernel_object) try {
  if (const auto known = kernel(kernel_object)) return known->name;
  std::vector<hsa::Executable> unsearched;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, loaded] : executables_)
      if (!loaded->searched) unsearched.push_back({handle});
  }
  for (const hsa::Executable executable : unsearched) frozen(executable);
  const auto known = kernel(kernel_object);
  return known ? known->name : nullptr;
} catch (...) {
  return nullptr;  // no memory to look for it
}

std::optional<LoadedKernel> CodeObjects::kernel(std::uint64_t kernel_object) const {
  const std::lock_guard lock(mutex_);
  const auto known = loaded_kernels_.find(kernel_object);
  if (known == loaded_kernels_.end()) return std::nullopt;
  return known->second;
}

Result<LoadedObject> CodeObjects::code_of(const LoadedKernel& kernel) const {
  std::vector<LoadedObject> objects;
  {
    const std::lock_guard lock(mutex_);
    if (const auto entry = executables_.find(kernel.executable.handle); entry != executables_.end())
      objects = objects_on(*entry->second, kernel.agent);
  }
  const LoadedObject* const object =
      object_with(objects, kernel.name->symbol + std::string(kDescriptorSuffix));
  if (object != nullptr && object->code != nullptr) return *object;
  std::string message = "the bytes of the code object with this kernel are not known";
  for (const LoadedObject& one : objects)
    if (!one.problem.empty()) message += "; it came in unseen: " + one.problem;
  for (const std::string& sentence : limits()) message += "; " + sentence;
  return fail(ErrorCode::refused, std::move(message));
}

Result<std::vector<LoadedVariable>> CodeObjects::variables(hsa::Agent agent) const {
  std::vector<std::pair<hsa::Executable, std::vector<LoadedObject>>> executables;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, loaded] : executables_)
      if (auto objects = objects_on(*loaded, agent); !objects.empty())
        executables.emplace_back(hsa::Executable{handle}, std::move(objects));
  }
  std::vector<LoadedVariable> out;
  for (const auto& [executable, objects] : executables) {
    PERFLAB_TRY(const auto symbols, symbols_of(api_, executable, agent));
    for (const hsa::ExecutableSymbol symbol : symbols) {
      PERFLAB_TRY(const auto kind,
                  symbol_attribute<hsa::SymbolKind>(api_, symbol, hsa::symbol_info::type));
      if (kind != hsa::SymbolKind::variable) continue;
      LoadedVariable variable;
      PERFLAB_TRY(variable.address, symbol_attribute<std::uint64_t>(
                                        api_, symbol, hsa::symbol_info::variable_address));
      PERFLAB_TRY(variable.bytes,
                  symbol_attribute<std::uint32_t>(api_, symbol, hsa::symbol_info::variable_size));
      PERFLAB_TRY(variable.name, symbol_name(api_, symbol));
      if (variable.bytes == 0) continue;
      if (const LoadedObject* const holder = object_with(objects, variable.name))
        variable.code = holder->code;
      out.push_back(std::move(variable));
    }
  }
  std::ranges::sort(out, {}, &LoadedVariable::address);
  return out;
}

std::vector<std::string> CodeObjects::limits() const {
  const std::lock_guard lock(mutex_);
  return limits_;
}

}  // namespace perflab::isolate
