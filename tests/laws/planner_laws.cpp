// What holds for the plans of every variant: structures, seeds, degenerate settings, given
// structures.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "data/error.h"
#include "laws/operator_cases.h"
#include "variants/tree_tensors.h"

using namespace fovea;
using namespace fovea::test;

namespace {

bool is_permutation_of_tokens(const std::int32_t* order, Index n) {
  std::vector<std::int32_t> sorted(order, order + n);
  std::ranges::sort(sorted);
  for (Index i = 0; i < n; ++i)
    if (sorted[static_cast<std::size_t>(i)] != i) return false;
  return true;
}

// Pairs of positions that a tile plan covers, at level 0 of the tokens.
std::vector<bool> covered_pairs(const Plan& plan) {
  std::vector<bool> covered(static_cast<std::size_t>(plan.lengths.n() * plan.lengths.n()));
  const auto at = [](const std::vector<std::int32_t>& order, Index p) {
    return order.empty() ? p : Index{order[static_cast<std::size_t>(p)]};
  };
  for (const Pass& pass : std::get<TilePlan>(plan.form).passes)
    for (const Tile& tile : pass.tiles)
      for (Index r = tile.rows.begin; r < tile.rows.end; ++r)
        for (Index c = tile.cols.begin; c < tile.cols.end; ++c) {
          const IndexRange rows =
              cluster_tokens(at(pass.rows, r), pass.query_level, plan.lengths.n());
          const IndexRange cols =
              cluster_tokens(at(pass.cols, c), pass.key_level, plan.lengths.n());
          for (Index i = rows.begin; i < rows.end; ++i)
            for (Index j = cols.begin; j < cols.end; ++j)
              if (tile.band.contains(i, j) && !pass.leaves_out(i, j))
                covered[static_cast<std::size_t>(i * plan.lengths.n() + j)] = true;
        }
  return covered;
}

template <class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return std::to_string(error.status()) + ": " + error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("law: every variant has an independent formula, and cases for it") {
  CHECK(std::ranges::count(variants(), true, &Variant::reference) == 1);
  CHECK(variants().front().reference);
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    const VariantLaws* laws = laws_of(variant.id);
    REQUIRE(laws);
    CHECK(laws->truth);
    CHECK(laws->plain);
    CHECK_FALSE(laws->cases.empty());
    CHECK((variant.reference || laws->never_exact) == laws->exact_settings.empty());
    const bool other_sums = !variant.rows_sum_to_one ||
                            (!variant.other_sums_with.empty() && !laws->other_sums_elsewhere);
    CHECK(other_sums != std::ranges::all_of(laws->cases, &Case::rows_sum_to_one));
  }
}

TEST_CASE("law: what a plan holds is what its variant declares: names, types and shapes") {
  std::set<std::pair<std::string, std::string>> held;  // variant, tensor
  for (const Case& c : cases())
    for (const bool causal : masks_of(c)) {
      CAPTURE(describe(c));
      const Variant& variant = find_variant(c.id);
      const Problem problem = make_data(Data::gaussian, 97, 6, 3, causal, c.head);
      const auto plan = make_plan(*backends().front(), problem, c.id, c.settings);
      for (const StructureTensor& tensor : plan->structure.tensors()) {
        CAPTURE(tensor.name);
        const auto field = std::ranges::find(variant.structure, tensor.name, &TensorField::name);
        REQUIRE(field != variant.structure.end());
        CHECK_FALSE(field->meaning.empty());
        CHECK(std::ranges::any_of(field->shapes, [&](const SymbolicShape& shape) {
          return shape.size() == tensor.shape.size();
        }));
        CHECK_NOTHROW(check_given(plan->structure, variant.structure, {{"n", 97}, {"d", 6}}));
        held.emplace(variant.id, tensor.name);
      }
      for (const std::string& groups : {plan->groups.queries, plan->groups.keys})
        for (const std::int32_t group : plan->structure.integers(groups))
          REQUIRE((group >= 0 && group < plan->groups.count));
    }
  for (const Variant& variant : variants())
    for (const TensorField& field : variant.structure) {
      CAPTURE(variant.id);
      CAPTURE(field.name);
      CHECK(held.contains({variant.id, field.name}));
    }
}

TEST_CASE("law: what a variant declares is consistent") {
  std::map<std::string, Element> types;
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    for (const TensorField& field : variant.structure)  // one name, one type: files are read by it
      CHECK(types.try_emplace(field.name, field.element).first->second == field.element);
    for (const Field& field : variant.schema)
      for (const std::string& follower : field.followers)
        CHECK(std::ranges::count(variant.schema, follower, &Field::id) == 1);
    for (Index n : {1, 16, 341, 4095}) {
      Values values = defaults(variant.schema);
      for (std::size_t f = 0; f < values.size(); ++f)
        if (variant.schema[f].for_short_head) values[f] = variant.schema[f].for_short_head(n);
      CHECK_NOTHROW(check_values(variant.schema, values));
    }
  }
}

TEST_CASE("law: tiles are disjoint, orders are permutations, and future keys are in no tile") {
  int turn = 0;
  for (const Case& c : cases())
    for (Index n : {1, 2, 3, 15, 16, 17, 63, 64, 65, 97, 127, 200, 257})
      for (const bool causal : masks_of(c)) {
        CAPTURE(describe(c));
        CAPTURE(n);
        CAPTURE(causal);
        const Problem problem = make_data(static_cast<Data>(turn++ % 4), n, 5, 2, causal, c.head);
        const auto plan = make_plan(*backends().back(), problem, c.id, c.settings);
        CHECK(plan->lengths.n() == n);
        CHECK(plan->causal == causal);
        CHECK_NOTHROW(check_disjoint(*plan));
        for (const char* name : {"query_order", "key_order"}) {
          const auto& order = plan->structure.integers(name);
          REQUIRE(static_cast<Index>(order.size()) % n == 0);
          for (std::size_t at = 0; at < order.size(); at += static_cast<std::size_t>(n))
            CHECK(is_permutation_of_tokens(order.data() + at, n));
        }
        if (!causal || !std::holds_alternative<TilePlan>(plan->form)) continue;
        const auto covered = covered_pairs(*plan);
        bool future = false;
        for (Index i = 0; i < n; ++i)
          for (Index j = i + 1; j < n; ++j)
            future = future || covered[static_cast<std::size_t>(i * n + j)];
        CHECK(!future);
      }
}

TEST_CASE("law: the levels of h1d tile the matrix exactly once, whatever n") {
  for (const std::string structure : {"banded", "nested"})
    for (const std::string query : {"first", "fine", "mean"})
      for (Index block : {2, 6, 16})
        for (Index n = 1; n <= 130; n += n < 40 ? 1 : 9)
          for (bool causal : {false, true}) {
            CAPTURE(structure);
            CAPTURE(n);
            CAPTURE(block);
            CAPTURE(causal);
            const auto plan =
                make_plan(*backends().front(), make_data(Data::gaussian, n, 2, 1, causal), "h1d",
                          {{"block", std::to_string(block)},
                           {"structure", structure},
                           {"causal_query", query}});
            check_disjoint(*plan);
            const auto covered = covered_pairs(*plan);
            CHECK(std::ranges::count(covered, true) == (causal ? n * (n + 1) / 2 : n * n));
          }
}

TEST_CASE("law: one seed gives one structure, on every back end, another seed another") {
  for (const Case& c : cases()) {
    CAPTURE(describe(c));
    const Problem problem = make_data(Data::gaussian, 200, 8, 2, masks_of(c).back(), c.head);
    const auto first = make_plan(*backends().front(), problem, c.id, c.settings, {}, 11);
    for (const auto& backend : backends())
      CHECK(first->structure == make_plan(*backend, problem, c.id, c.settings, {}, 11)->structure);
    const auto other = make_plan(*backends().front(), problem, c.id, c.settings, {}, 12);
    CHECK((first->structure != other->structure) == c.random);
  }
}

TEST_CASE("law: heads of one seed draw numbers of their own, for every random tensor") {
  for (const Case& c : cases()) {
    if (!c.random) continue;
    CAPTURE(describe(c));
    const Problem problem = make_data(Data::gaussian, 200, 8, 2, masks_of(c).back(), c.head);
    Problem next = problem;
    ++next.head;
    const auto structure_of = [&](const Problem& of, std::uint64_t seed) {
      return make_plan(*backends().front(), of, c.id, c.settings, {}, seed)->structure;
    };
    const Structure first = structure_of(problem, 11), reseeded = structure_of(problem, 12),
                    other_head = structure_of(next, 11);
    for (const StructureTensor& tensor : first.tensors()) {
      CAPTURE(tensor.name);
      REQUIRE(reseeded.has(tensor.name));
      REQUIRE(other_head.has(tensor.name));
      if (tensor != *reseeded.find(tensor.name)) CHECK(tensor != *other_head.find(tensor.name));
    }
  }
}

TEST_CASE("law: degenerate settings equal exact attention") {
  const Index n = exact_settings_n;
  for (const auto& backend : backends())
    for (const VariantLaws& laws : all_laws())
      for (const ExactSettings& c : laws.exact_settings)
        for (const bool causal : masks_of(laws.id))
          for (Data data : {Data::gaussian, Data::equal, Data::huge, Data::spike}) {
            CAPTURE(laws.id);
            CAPTURE(causal);
            const Problem problem = make_data(data, n, exact_settings_d, 4, causal);
            const Instance exact = make_instance(*backend, problem, "exact", {});
            const Instance x = make_instance(*backend, problem, laws.id, c.settings, c.given);
            const Matrix p = x.all(), expected = exact.all();
            double worst = 0;
            for (Index i = 0; i < n; ++i)
              for (Index j = 0; j < n; ++j)
                worst = larger_error(worst, std::abs(static_cast<double>(p(i, j)) -
                                                     static_cast<double>(expected(i, j))));
            // The same logits, bit for bit; the row sum may be added up in another order: n
            // roundings. Other sums round S once more where entries are divided by them.
            const double others = c.same_sums ? 0 : floor_of(problem);
            CHECK(worst <= static_cast<double>(n) * 0x1p-24 + others);
          }
}

TEST_CASE("law: a structure given back is used, and gives the same result bit for bit") {
  for (const Case& c : cases())
    for (const bool causal : masks_of(c)) {
      CAPTURE(describe(c));
      const Problem problem = make_data(Data::gaussian, 97, 6, 3, causal, c.head);
      const Instance x = make_instance(*backends().back(), problem, c.id, c.settings, {}, 1);
      const Instance y =
          make_instance(*backends().back(), problem, c.id, c.settings, x.plan->structure, 2);
      CHECK(x.plan->structure == y.plan->structure);
      const Matrix a = x.apply(problem.v).z, b = y.apply(problem.v).z;
      CHECK(std::equal(a.data(), a.data() + 97 * a.stride(), b.data()));
    }
}

TEST_CASE(
    "law: a given structure of the wrong shape or content is refused, with found and expected") {
  const Problem problem = make_data(Data::gaussian, 8, 2, 1, false),
                causal = make_data(Data::gaussian, 8, 2, 1, true);
  const auto refusal = [&](const char* id, const Problem& head, auto fill) {
    Structure given;
    fill(given);
    Settings settings;
    if (std::string(id) == "hyper")
      settings = {{"block", "2"}, {"min_length", "2"}, {"samples", "3"}};
    if (std::string(id) == "bigbird") settings = {{"block", "1"}, {"random", "2"}};
    return message_of([&] { make_plan(*backends().front(), head, id, settings, given); });
  };
  CHECK(refusal("hyper", problem, [](Structure& s) {
          s.set("query_order", std::vector{0, 1, 2});
        }) == "3: query_order: shape [3] found; expected [n] = [8] or [depths,n] = [depths,8]");
  CHECK(refusal("hyper", problem, [](Structure& s) {
          s.set("key_order", std::vector{0, 1, 2, 3, 4, 5, 6, 8});
        }) == "3: key_order: [7] is 8; expected a token in [0, 8)");
  CHECK(refusal("hyper", problem, [](Structure& s) {
          s.set("key_order", std::vector{0, 1, 2, 3, 4, 5, 6, 6});
        }) == "3: key_order: [7] is 6 for the second time; expected a permutation");
  CHECK(refusal("hyper", problem, [](Structure& s) {
          s.set("sampled_keys", std::vector{0, 8, 1});
        }) == "3: sampled_keys: 8 for sub-problem 0; expected a key in [0, 8)");
  CHECK(refusal("hyper", causal, [](Structure& s) {
          s.set("sampled_keys", std::vector{0, 1, 2, 3});
        }) == "3: sampled_keys: shape [4] found; expected [nodes,m] = [3,m]");
  CHECK(refusal("hyper", causal, [](Structure& s) {
          s.set("query_order", std::vector{7, 1, 2, 3, 4, 5, 6, 0, 0, 1, 2, 3, 4, 5, 6, 7});
        }) == "3: query_order: [7] is 0; expected a token of the segment [4, 8)");
  const auto blocks = [](std::vector<std::int32_t> of_three) {
    return [of_three](Structure& s) {
      std::vector<std::int32_t> all(16, -1);
      std::ranges::copy(of_three, all.begin() + 6);
      s.set({"random_blocks", {8, 2}, std::move(all)});
    };
  };
  CHECK(refusal("bigbird", problem, blocks({1, 5})) == "no error");
  CHECK(refusal("bigbird", problem, [](Structure& s) {
          s.set({"random_blocks", {2, 2}, std::vector<std::int32_t>(4, -1)});
        }) == "3: random_blocks: shape [2,2] found; expected [blocks,r] = [8,2]");
  const std::string expected =
      " for block 3; expected -1 or a block beyond its window that is not global, not twice";
  CHECK(refusal("bigbird", problem, blocks({5, 5})) == "3: random_blocks: 5" + expected);
  CHECK(refusal("bigbird", problem, blocks({2})) == "3: random_blocks: 2" + expected);
  CHECK(refusal("bigbird", problem, blocks({7})) == "3: random_blocks: 7" + expected);
  CHECK(refusal("bigbird", causal, blocks({5})) ==
        "3: random_blocks: 5" + expected + ", and not later");
  CHECK(refusal("linformer", problem, [](Structure& s) {
          s.set({"project_k", {2, 8}, std::vector<float>(16)});
          s.set({"project_v", {3, 8}, std::vector<float>(24)});
        }) == "3: project_v: k = 3 found; expected 2 as in project_k");
  CHECK(refusal("linformer", problem, [](Structure& s) {
          s.set({"project_k", {2, 9}, std::vector<float>(18)});
        }) == "3: project_k: shape [2,9] found; expected [k,n] = [k,8]");
  CHECK(refusal("performer", problem, [](Structure& s) {
          s.set({"features", {4, 3}, std::vector<float>(12)});
        }) == "3: features: shape [4,3] found; expected [m,d] = [m,2]");
  CHECK(refusal("tf", problem, [](Structure& s) { s.set("query_leaf", std::vector{0}); }) ==
        "3: query_leaf: shape [1] found; expected [nq] = [8]");
  CHECK(refusal("tf", problem, [](Structure& s) {
          s.set("key_leaf", std::vector{0, 0, 0, 0, 64, 0, 0, 0});
        }) == "3: key_leaf: [4] is 64; expected a leaf in [0, 64)");
  CHECK(refusal("tc", problem, [](Structure& s) {
          s.set("alpha", std::vector{1.0f, 2.0f});
        }) == "3: alpha: shape [2] found; expected [h+1] = [7]");
  CHECK(refusal("tf", problem,
                [](Structure& s) {
                  set_tree(s, {{{2, true, Matrix(1, 3), {0}}}});
                }) ==
        "3: tree_weight: shape [1,3] found; expected [nodes,d] = [nodes,2] or [nodes,b,d] = "
        "[nodes,b,2]");
  CHECK(refusal("tf", problem, [](Structure& s) { s.set("key_leaf", std::vector<float>(8)); }) ==
        "3: key_leaf: real numbers found; expected integers");
}

TEST_CASE("law: a variant without a causal form says so") {
  const Problem problem = make_data(Data::gaussian, 8, 2, 1, true);
  int refused = 0;
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    const std::string message =
        message_of([&] { make_plan(*backends().front(), problem, variant.id, {}); });
    const std::string expected =
        "2: " + variant.label + " has no causal form; expected a head without a causal mask";
    CHECK((message == expected) == !variant.has_causal_form());
    refused += message == expected;
  }
  CHECK(refused > 0);
}

TEST_CASE("law: a variant without a form for all pairs of tokens says so") {
  const Problem problem = make_data(Data::gaussian, 8, 2, 1, false);
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    const std::string message =
        message_of([&] { make_plan(*backends().front(), problem, variant.id, {}); });
    CHECK((message.find("has no form without a causal mask") != std::string::npos) ==
          !variant.has_bidirectional_form());
    CHECK(variant.has_form_of({8, 8}, false) == variant.has_bidirectional_form());
  }
}

TEST_CASE("law: the papers' variants and the baselines are all variants") {
  std::string papers;
  for (const Variant* variant : variants_of(Group::papers)) papers += variant->id + " ";
  CHECK(papers.starts_with("exact h1d fixed strided tf tc hyper "));
  std::size_t all = 0;
  for (const GroupKind& kind : groups()) all += variants_of(kind.group).size();
  CHECK(all == variants().size());
  CHECK(variants_of(Group::papers).front()->reference);
}

TEST_CASE("law: parameters that contradict each other are refused") {
  const Problem problem = make_data(Data::gaussian, 8, 2, 1, true);
  const auto refusal = [&](const char* id, const Settings& settings) {
    return message_of([&] { make_plan(*backends().front(), problem, id, settings); });
  };
  CHECK(refusal("fixed", {{"stride", "4"}}) ==
        "2: summary is 8, stride is 4; expected summary <= stride");
  CHECK(refusal("fixed", {{"stride", "16"}, {"subblocks", "3"}}) ==
        "2: summary is 8, subblocks is 3, stride is 16; expected summary x subblocks <= stride");
  CHECK(refusal("tc", {{"height", "2"}, {"alpha", "1,2"}}) ==
        "2: alpha has 2 values; expected h + 1 = 3");
  CHECK(refusal("tc", {{"height", "1"}, {"alpha", "7"}}) ==
        "2: alpha has 1 value; expected h + 1 = 2");
  CHECK(refusal("tf", {{"branching", "2048,1024"}}) ==
        "2: branching is '2048,1024'; expected at most 2^20 leaves");
  CHECK(refusal("tf", {{"branching", "2.5"}}) == "2: branching has 2.5; expected integers");
  CHECK(refusal("bigbird", {{"window", "2"}}) ==
        "2: window is 2; expected an odd number of blocks");
  CHECK(refusal("h1d", {{"block", "3"}}).starts_with("2: block is '3'; expected an even integer"));
}

TEST_CASE("law: plans carry the notes that the user must see") {
  const auto notes = [](const char* id, const Settings& settings, bool causal) {
    const auto plan =
        make_plan(*backends().front(), make_data(Data::gaussian, 64, 4, 1, causal), id, settings);
    return plan->notes.empty() ? std::string() : plan->notes.front();
  };
  CHECK(notes("hyper", {}, false) == "not longer than “Exact below”: computed exactly");
  CHECK(notes("hyper", {}, true) == "not longer than “Exact below”: computed exactly");
  CHECK(notes("hyper", {{"block", "64"}, {"min_length", "2"}}, false) ==
        "one block holds all tokens: computed exactly");
  CHECK(notes("hyper", {{"block", "8"}, {"min_length", "2"}}, true) == "");
  CHECK(notes("h1d", {{"causal_query", "mean"}}, true).find("leaks the future") !=
        std::string::npos);
  CHECK(notes("h1d", {{"causal_query", "mean"}}, false) == "");
  CHECK(notes("linformer", {}, false).starts_with("random projections"));
  CHECK(notes("synthesizer", {}, true).starts_with("random factors"));
  CHECK(notes("kde", {{"block", "64"}}, false) == "one block holds all tokens: computed exactly");
  CHECK(notes("fixed", {{"stride", "16"}, {"summary", "2"}, {"heads", "second"}}, true) ==
        "14 of 64 queries have no summary column to attend: Z = 0");
}

TEST_CASE(
    "values are as they are in INT8 and in FP8 beside INT4, as in the papers, unless chosen") {
  const auto rounds_values = [](const char* id) {
    const auto plan =
        make_plan(*backends().front(), make_data(Data::gaussian, 64, 4, 4, false), id, {});
    return std::ranges::any_of(plan->rounded->tensors,
                               [](const TensorRounding& its) { return its.tensor == "v"; });
  };
  CHECK_FALSE(rounds_values("int8"));
  CHECK(rounds_values("int4"));
}

TEST_CASE("a note counts the queries without a summary column under all masks of the head") {
  const auto note = [](const Problem& problem, const char* sinks = "0") {
    const Settings settings{
        {"stride", "10"}, {"summary", "1"}, {"heads", "second"}, {"sinks", sinks}};
    const auto plan = make_plan(*backends().front(), problem, "fixed", settings);
    return plan->notes.empty() ? std::string() : plan->notes.front();
  };
  Problem problem = make_data(Data::gaussian, 30, 4, 1, true);
  // Columns 9, 19 and 29.
  CHECK(note(problem) == "9 of 30 queries have no summary column to attend: Z = 0");
  Problem last = problem;
  last.q = last.q.slice({0, 7});
  CHECK(note(last) == "");
  Problem near = problem;
  near.window = 3;  // a column, and two queries after it
  CHECK(note(near) == "23 of 30 queries have no summary column to attend: Z = 0");
  Problem documents = problem;  // of 15 tokens: the second has the columns 19 and 29
  std::vector<std::int32_t> document(30, 1);
  std::fill_n(document.begin(), 15, 0);
  documents.mask = std::make_shared<const PairMask>(document, document, BitMatrix());
  CHECK(note(documents) == "13 of 30 queries have no summary column to attend: Z = 0");
  Problem last_of_document = problem;  // queries 18 to 29, of which 18 has no column
  last_of_document.q = problem.q.slice({0, 12});
  last_of_document.mask =
      std::make_shared<const PairMask>(std::vector<std::int32_t>(12, 1), document, BitMatrix());
  CHECK(note(last_of_document) == "1 of 12 queries have no summary column to attend: Z = 0");
  CHECK(note(documents, "1") == "4 of 30 queries have no summary column or sink to attend: Z = 0");
}
