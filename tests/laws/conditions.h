// What models do to a head beside a causal mask: windows, documents, masks, biases, caps, sinks.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "data/random.h"
#include "laws/operator_cases.h"

namespace fovea::test {

struct ConditionCase {
  std::string name;
  std::function<void(Problem&)> apply;
};

/// A mask of pairs in which about one of three is excluded, and all of one query's.
inline BitMatrix random_pairs(Index queries, Index keys) {
  BitMatrix bits(queries, keys);
  Random random(5, 0);
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j)
      if (random.uniform() < 0.66 && i != queries / 2) bits.set(i, j);
  return bits;
}

/// Documents of 1, 2, 3, ... tokens.
inline std::vector<std::int32_t> growing_documents(Index tokens) {
  std::vector<std::int32_t> out;
  for (std::int32_t document = 0; std::ssize(out) < tokens; ++document)
    for (std::int32_t t = 0; t <= document && std::ssize(out) < tokens; ++t)
      out.push_back(document);
  return out;
}

inline std::vector<std::int32_t> padded_at_both_ends(Index keys) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(keys));
  for (Index j = 0; j < keys; ++j)
    if (j < keys / 4 || j >= keys - keys / 5) out[static_cast<std::size_t>(j)] = PairMask::padding;
  return out;
}

inline void set_mask(Problem& p, std::vector<std::int32_t> queries, std::vector<std::int32_t> keys,
                     BitMatrix pairs = {}) {
  p.mask = std::make_shared<const PairMask>(std::move(queries), std::move(keys), std::move(pairs));
}

template <class Change>
void change_rule(Problem& p, Change change) {
  LogitRule rule = p.rule ? *p.rule : LogitRule{};
  change(rule);
  p.rule = std::make_shared<const LogitRule>(std::move(rule));
}

inline void set_distances(Problem& p) {
  change_rule(p, [&](LogitRule& rule) {
    for (Index x = 0; x < p.q.rows + p.k.rows - 1; ++x)
      rule.by_distance.push_back(static_cast<float>(std::sin(static_cast<double>(x))));
  });
}

inline void set_bias(Problem& p) {
  change_rule(p, [&](LogitRule& rule) { rule.bias = gaussian(p.k.rows, p.q.rows, 9); });
}

/// Each alone, then all together.
inline std::vector<ConditionCase> condition_cases() {
  const auto zeros = [](Index n) { return std::vector<std::int32_t>(static_cast<std::size_t>(n)); };
  return {
      {"window of 1", [](Problem& p) { p.window = 1; }},
      {"window of 9", [](Problem& p) { p.window = 9; }},
      {"documents",
       [](Problem& p) { set_mask(p, growing_documents(p.q.rows), growing_documents(p.k.rows)); }},
      {"documents in turns",
       [](Problem& p) {
         std::vector<std::int32_t> queries, keys;
         for (std::int32_t i = 0; i < p.q.rows; ++i) queries.push_back(7 * (i % 3));
         for (std::int32_t j = 0; j < p.k.rows; ++j) keys.push_back(7 * (j % 3));
         set_mask(p, queries, keys);
       }},
      {"padding",
       [zeros](Problem& p) { set_mask(p, zeros(p.q.rows), padded_at_both_ends(p.k.rows)); }},
      {"padding of queries and keys",
       [](Problem& p) {
         std::vector<std::int32_t> queries(static_cast<std::size_t>(p.q.rows));
         for (std::size_t i = queries.size() / 2; i < queries.size(); ++i)
           queries[i] = PairMask::padding;
         set_mask(p, queries, padded_at_both_ends(p.k.rows));
       }},
      {"pairs", [](Problem& p) { set_mask(p, {}, {}, random_pairs(p.q.rows, p.k.rows)); }},
      {"distances", set_distances},
      {"biases", set_bias},
      {"biases of keys",
       [](Problem& p) {
         change_rule(p, [&](LogitRule& rule) {
           for (Index j = 0; j < p.k.rows; ++j)
             rule.by_key.push_back(static_cast<float>(j % 5) - 2.0f);
         });
       }},
      {"soft cap", [](Problem& p) { change_rule(p, [](LogitRule& r) { r.soft_cap = 1.5; }); }},
      {"sink", [](Problem& p) { change_rule(p, [](LogitRule& r) { r.sink = 1.25; }); }},
      {"all of them", [](Problem& p) {
         p.window = 40;
         set_mask(p, growing_documents(p.q.rows), padded_at_both_ends(p.k.rows),
                  random_pairs(p.q.rows, p.k.rows));
         set_distances(p);
         set_bias(p);
         change_rule(p, [](LogitRule& r) {
           r.soft_cap = 3;
           r.sink = -0.5;
         });
       }}};
}

inline bool takes(const Case& c, const Problem& problem) {
  if (!find_variant(c.id).refusal(problem).empty()) return false;
  for (const auto& [name, value] : c.settings)
    if (value == "theory" || value == "learned") return false;
  return true;
}

/// Every case, of a few lengths, under every condition that it takes, with and without a causal
/// mask.
template <class Law>
void for_all_conditions(Law law) {
  int turn = 0;
  const auto& all = cases();
  const std::vector<ConditionCase> conditions = condition_cases();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t place = 0; place < conditions.size(); ++place)
      for (const bool causal : masks_of(all[i])) {
        if (!tried(i, place, causal)) continue;
        const Case& c = all[i];
        const ConditionCase& condition = conditions[place];
        const Index n = std::vector<Index>{17, 1, 64, 97}[static_cast<std::size_t>(turn++ % 4)];
        Problem problem =
            make_data(turn % 5 == 0 ? Data::spike : Data::gaussian, n, 6, 3, causal, c.head);
        condition.apply(problem);
        if (!takes(c, problem)) continue;
        for (const auto& backend : backends()) {
          const std::string where = describe(c) + ", n = " + std::to_string(n) +
                                    (causal ? ", causal, " : ", ") + condition.name + ", " +
                                    backend->device();
          CAPTURE(where);
          law(make_instance(*backend, problem, c.id, c.settings));
        }
      }
}

}  // namespace fovea::test
