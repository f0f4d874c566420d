// Measures of the heads of a source: which tokens, places and masks they are found with.
#include "session/measured_source.h"

#include <doctest/doctest.h>

#include <cmath>

#include "data/synthetic.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

MeasuredHead measured(const Source& source, Index head = 0) {
  Profile profile;
  Run run{profile};
  return measure_head(source, {.layer = 0, .head = head}, *backends().front(), run);
}

const HeadValue& value_of(const MeasuredHead& head, const std::string& id) {
  return head.values[*head_measure_with(id)];
}

/// Two query heads that share one head of keys and values.
Source grouped(Index queries = 6, Index keys = 6) {
  Source source{.path = "grouped"};
  Layer& layer = source.layers.emplace_back();
  layer.q = make_head_tensor([&] {
    std::vector<Matrix> heads;
    heads.push_back(gaussian(queries, 4, 1));
    heads.push_back(gaussian(queries, 4, 2));
    return heads;
  }());
  std::vector<Matrix> shared;
  shared.push_back(gaussian(keys, 4, 3));
  layer.k = make_head_tensor(std::move(shared));
  return source;
}

}  // namespace

TEST_CASE("each query head of a group is measured by itself, under the mask of the source") {
  Source source = grouped();
  source.sequence.tokens = {"a", "b", "a", "b", "a", "c"};
  const auto entropy = [&](Index head) { return value_of(measured(source, head), "entropy"); };
  CHECK(entropy(0).estimate.value != entropy(1).estimate.value);
  CHECK(entropy(0).queries == 6);
  CHECK(value_of(measured(source), "same_token").queries == 3);
  const double both_ways = value_of(measured(source), "previous_token").estimate.value;
  source.causal = true;
  CHECK(value_of(measured(source), "previous_token").estimate.value > both_ways);
}

TEST_CASE("beside compressed entries no key is at a distance, and weights are of all keys") {
  Source source = grouped(4, 6);
  Layer& layer = source.layers.front();
  layer.conditions.causal = true;
  layer.conditions.compressed = std::make_shared<const CompressedEntries>(
      CompressedEntries{.tokens = 4, .stands_for = {{0, 2}, {2, 4}}});
  layer.key_sequence = Sequence{.compressed = layer.conditions.compressed};
  source.sequence.tokens = {"a", "b", "a", "b"};
  name_keys_of_compressed(source);
  CHECK(key_sequence_of(source, 0).label(3) == "b");
  const MeasuredHead head = measured(source);
  for (const char* id : {"previous_token", "within_16", "distance", "induction"})
    CHECK(value_of(head, id).missing == "The keys are not the tokens of the queries.");
  CHECK(value_of(head, "entropy").queries == 4);
  CHECK(value_of(head, "effective_rank").missing == "");
}

TEST_CASE("keys are the tokens of the queries unless a source says otherwise") {
  const auto missing = [](const Source& source) {
    return value_of(measured(source), "previous_token").missing;
  };
  CHECK(missing(grouped(2, 6)) == "");  // the last tokens of kept keys
  CHECK(missing(grouped(6, 2)) != "");  // cross attention
  Source across = grouped();
  across.sequence.tokens = {"a", "b", "c", "d", "e", "f"};
  CHECK(missing(across) == "");
  across.layers[0].key_sequence = Sequence{.tokens = {"u", "v", "w", "x", "y", "z"}};
  CHECK(missing(across) == "The keys are not the tokens of the queries.");
  Source step = grouped(2, 6);
  step.sequence.tokens = {"y", "z"};
  step.layers[0].key_sequence = Sequence{.tokens = {"u", "v", "w", "x", "y", "z"}};
  CHECK(missing(step) == "");
}

TEST_CASE("an attention matrix that a source holds is measured as it is") {
  const Source source = make_synthetic("synthetic:hmatrix");
  const MeasuredHead head = measured(source);
  CHECK(head.lengths == Lengths{16, 16});
  CHECK(value_of(head, "effective_rank").missing == "");
  CHECK(value_of(head, "induction").missing == "The source does not name its tokens.");
}
