// Small instances of every variant, for brute force.
#pragma once

#include "laws/cases.h"

namespace fovea::test {

inline std::vector<Case> small_cases() {
  return {{"exact", {}},
          {"h1d", {{"block", "4"}}},
          {"h1d", {{"block", "2"}, {"structure", "nested"}}},
          {"h1d", {{"block", "4"}, {"causal_query", "fine"}}},
          {"fixed", {{"stride", "8"}, {"summary", "2"}}},
          {"fixed", {{"stride", "8"}, {"summary", "2"}, {"heads", "second"}}},
          {"strided", {{"stride", "6"}}},
          {"tf", {{"height", "2"}}},
          {"tc", {{"height", "3"}}},
          {"hyper", {{"block", "5"}, {"samples", "6"}, {"min_length", "8"}}},
          {.id = "hyper",
           .settings = {{"block", "5"},
                        {"samples", "6"},
                        {"min_length", "8"},
                        {"mode", "theory"},
                        {"epsilon", "2"}},
           .rows_sum_to_one = false,
           .has_causal_form = false},
          {"longformer", {{"width", "3"}}},
          {"bigbird", {{"block", "3"}, {"random", "2"}}},
          {"kde", {{"block", "5"}, {"samples", "6"}}},
          {"linformer", {{"rank", "5"}}},
          {"sinkhorn", {{"block", "6"}}},
          {"synthesizer", {{"rank", "3"}}},
          {"linear", {}},
          {"performer", {{"features", "7"}}},
          {"moba", {{"block", "4"}, {"blocks", "2"}}},
          {"vertical_slash",
           {{"vertical", "3"}, {"slash", "4"}, {"last", "6"}, {"first", "1"}, {"nearest", "1"}}},
          {"dsa", {{"tokens", "5"}}},
          {"sparge", {{"query_block", "5"}, {"key_block", "4"}, {"theta", "-1"}, {"tau", "0.5"}}}};
}

/// Every case, with and without a causal mask, at a few lengths.
template <class Use>
void for_small_instances(Use use) {
  const Backend& backend = *backends().front();
  for (const Case& c : small_cases())
    for (const bool causal : masks_of(c))
      for (const Index n : {1, 16, 37}) {
        const Problem problem = make_data(Data::gaussian, n, 3, 4, causal);
        use(make_instance(backend, problem, c.id, c.settings));
      }
}

}  // namespace fovea::test
