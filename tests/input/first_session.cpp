// The first look at a source of recurrences.
#include <doctest/doctest.h>

#include "input/assets.h"

using namespace fovea;

namespace {

std::vector<std::string> first_columns(const RecurrenceTensors& recurrence,
                                       std::shared_ptr<const CompressedEntries> compressed = {}) {
  const auto tensor = [] { return make_head_tensor({Matrix(8, 2, 0.5f)}); };
  Layer layer{
      .name = {}, .q = tensor(), .k = tensor(), .v = tensor(), .attention = {}, .conditions = {}};
  layer.conditions.causal = true;
  layer.conditions.recurrence = recurrence;
  layer.conditions.compressed = std::move(compressed);
  Source source;
  source.layers.push_back(std::move(layer));
  std::vector<std::string> ids;
  for (const Column& column : first_session(source).columns) ids.push_back(column.variant);
  return ids;
}

}  // namespace

TEST_CASE("a recurrence is first shown beside SSD, unless it is SSD") {
  using Ids = std::vector<std::string>;
  const HeadTensor gates = make_head_tensor({Matrix(8, 4, 0.5f)});
  CHECK(first_columns({.erases = true}) == Ids{"exact", "ssd"});
  CHECK(first_columns({.beta = gates}) == Ids{"exact", "ssd"});
  CHECK(first_columns({.level_weights = gates}) == Ids{"exact", "ssd"});
  CHECK(first_columns({.log_decay = gates}) == Ids{"exact"});
  CHECK(first_columns({}).size() > 2);
}

TEST_CASE("a head with compressed entries is first shown beside a selection that takes such keys") {
  const auto entries = std::make_shared<const CompressedEntries>(
      CompressedEntries{.tokens = 6, .stands_for = {{0, 3}, {3, 6}}});
  CHECK(first_columns({}, entries) == std::vector<std::string>{"exact", "dsa"});
}
