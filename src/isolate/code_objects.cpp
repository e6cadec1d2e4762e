// The registry of code. Symbols are listed after a freeze, when the runtime holds no lock of its
// own; asking inside a query of the program would wait for the loader's lock in some runtimes
// (facts/peers.md section 2). Listing gives the symbols that are visible, kernels always are.
#include "isolate/code_objects.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/hash.h"
#include "code/code_object.h"
#include "code/elf.h"
#include "isolate/machine.h"

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

// Which of an executable's objects on an agent defines a symbol; the only one does.
CodePointer object_with(const std::vector<CodePointer>& objects, std::string_view name) {
  if (objects.size() == 1) return objects.front();
  for (const CodePointer& code : objects)
    if (code != nullptr && defines(*code, name)) return code;
  return nullptr;
}

std::vector<CodePointer> objects_on(const CodeObjects::Loaded& loaded, hsa::Agent agent) {
  std::vector<CodePointer> out;
  for (const auto& object : loaded.objects)
    if (object.agent == agent) out.push_back(object.code);
  return out;
}

std::string whole_file(int file) {
  struct stat about{};
  if (::fstat(file, &about) != 0 || about.st_size <= 0) return {};
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t got = ::pread(file, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

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
  limit("There was no memory for the bytes of a code object.");
}

void CodeObjects::reader_from_file(hsa::CodeObjectReader reader, int file) try {
  std::string bytes = whole_file(file);
  if (bytes.empty())
    limit("The file of a code object could not be read.");
  else
    keep_reader(reader, intern(std::move(bytes)));
} catch (...) {
  limit("There was no memory for the bytes of a code object.");
}

void CodeObjects::loaded(hsa::Executable executable, hsa::Agent agent,
                         hsa::CodeObjectReader reader) try {
  const std::lock_guard lock(mutex_);
  const auto code = readers_.find(reader.handle);
  std::unique_ptr<Loaded>& entry = executables_[executable.handle];
  if (entry == nullptr) entry = std::make_unique<Loaded>();
  entry->objects.push_back(
      {.agent = agent, .code = code == readers_.end() ? nullptr : code->second});
  entry->searched = false;
} catch (...) {
  limit("There was no memory to note that a code object was loaded.");
}

void CodeObjects::loaded_unknown(hsa::Executable executable, hsa::Agent agent) {
  loaded(executable, agent, {});
  limit("A code object was loaded through an interface that does not show its bytes.");
}

void CodeObjects::frozen(hsa::Executable executable) try {
  std::vector<hsa::Agent> agents;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = executables_.find(executable.handle);
    if (entry == executables_.end() || entry->second->searched) return;
    entry->second->searched = true;
    for (const Loaded::Object& object : entry->second->objects)
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

Result<CodePointer> CodeObjects::code_of(const LoadedKernel& kernel) const {
  std::vector<CodePointer> objects;
  {
    const std::lock_guard lock(mutex_);
    if (const auto entry = executables_.find(kernel.executable.handle); entry != executables_.end())
      objects = objects_on(*entry->second, kernel.agent);
  }
  CodePointer code = object_with(objects, kernel.name->symbol + std::string(kDescriptorSuffix));
  if (code != nullptr) return code;
  std::string message = "the bytes of the code object with this kernel are not known";
  for (const std::string& sentence : limits()) message += "; " + sentence;
  return fail(ErrorCode::refused, std::move(message));
}

Result<std::vector<LoadedVariable>> CodeObjects::variables(hsa::Agent agent) const {
  std::vector<std::pair<hsa::Executable, std::vector<CodePointer>>> executables;
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
      variable.code = object_with(objects, variable.name);
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
