// Look-ups in the counter tables, which are parsed once, at the first question.
#include "hal/counter_catalogue.h"

#include <algorithm>
#include <iterator>

#include "counter_table_files.h"
#include "hal/arch_table.h"
#include "hal/counter_catalogue_parse.h"
#include "hal/table_files.h"

namespace perflab::hal {
namespace {

struct CounterCatalog {
  std::vector<CounterTable> tables;
  SourceTable sources;
};

CounterCatalog load_counters() {
  CounterCatalog catalog;
  for (const EmbeddedFile& file : counter_table_files()) {
    if (file.name == kSourcesFile)
      catalog.sources = must(parse_sources(file.text, file.name));
    else
      std::ranges::move(must(parse_counter_tables(file.text, file.name)),
                        std::back_inserter(catalog.tables));
  }
  std::ranges::sort(catalog.tables, {}, &CounterTable::gfx);
  return catalog;
}

const CounterCatalog& counter_catalog() {
  static const CounterCatalog kLoaded = load_counters();
  return kLoaded;
}

}  // namespace

std::span<const CounterTable> all_counter_tables() {
  return counter_catalog().tables;
}

const CounterTable* find_counter_table(std::string_view target_id) {
  const std::string_view gfx = gfx_of(target_id);
  for (const CounterTable& table : all_counter_tables())
    if (table.gfx == gfx) return &table;
  return nullptr;
}

std::optional<std::string_view> counter_source(std::string_view key) {
  return meaning_of(counter_catalog().sources, key);
}

}  // namespace perflab::hal
