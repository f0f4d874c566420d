// A Variant is one efficient attention of a paper: a planner, the schema of its parameters, and all
// that the rest of the program must know about it. Nothing else names a variant or a parameter.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/diagnostics.h"
#include "backend/backend.h"
#include "data/problem.h"
#include "plan/plan.h"
#include "variants/schema.h"
#include "variants/structure_fields.h"

namespace fovea {

/// What a planner may use beside the problem and its own parameters.
struct Planning {
  const Backend& backend;  // does the heavy steps
  Run& run;                // stages: "hash", "sort", "tree", "route", "sample"
  std::uint64_t seed = 0;  // of every random choice
  const Structure& given;  // from --structure: tensors to use instead of deriving them
  Sizes sizes = {};        // of the head, for the shapes of what is given; set by Variant::plan
  /// Set by a planner that has more to say of its plan once that has the queries and masks of the
  /// head.
  std::function<void(Plan&)> finish = {};

  /// A given tensor; empty if it is to be derived. Throws InputError unless it has the shape, in
  /// which `more` says what symbols beside "n", "nq", "nk" and "d" stand for.
  const std::vector<std::int32_t>& integers(std::string_view name, const SymbolicShape& shape,
                                            const Sizes& more = {}) const;
  const std::vector<float>& reals(std::string_view name, const SymbolicShape& shape,
                                  const Sizes& more = {}) const;
};

/// Which masks the paper defines. Where it is one of two, the other is offered and labelled, except
/// where there is no such form: then planning under the other mask is refused.
enum class Mask {
  either,
  causal_in_paper,
  bidirectional_in_paper,
  causal_only,
  bidirectional_only
};

/// What a head may have beside a causal mask for the variant to have a form. Single pairs have no
/// place where keys meet queries as clusters, mixtures or features.
enum class Conditions {
  all,           // a sliding window, documents, a mask of pairs, biases, a soft cap, a sink
  cap_and_sink,  // no pairs
  none
};

/// Which heads it has a form for that have other numbers of queries than of keys: none, since its
/// structure pairs the positions of one sequence; those whose queries are the last tokens of their
/// keys, under a causal mask, as in the steps of a model that keeps its keys; or all, cross
/// attention too.
enum class UnequalLengths { none, last_queries, all };

/// A group of variants. `papers` are what commands and the window take unless asked for others.
enum class Group { papers, baselines, selectors, grids, recurrences, precisions };

struct GroupKind {
  Group group;
  const char* id;       // on the command line: "selectors"
  const char* title;    // as a heading: "Selectors"
  const char* meaning;  // what its variants are
};

/// All groups, in the order in which they are shown.
std::span<const GroupKind> groups();
const GroupKind& kind_of(Group group);
/// What stands for several variants where ids are expected: "papers, baselines, ..., all".
std::string words_for_groups();

/// Which attention a tree of the variant is learned for (core/learning).
enum class TreeAttention { none, fine, coarse };

struct Variant {
  std::string id, label, paper;
  std::string formula;  // as shown in the form, Unicode mathematics
  std::string summary;  // one sentence: what it keeps
  Mask mask = Mask::either;
  Conditions conditions = Conditions::all;
  std::string why_not_all = {};  // clause: "its coarse levels attend clusters of keys"
  UnequalLengths unequal_lengths = UnequalLengths::none;
  bool any_keys = false;  // keys need no place in a sequence: heads with entries, too
  Group group = Group::papers;
  bool reference = false;       // exact attention, with which all others are compared
  bool bound = false;           // no attention to use: its plan takes what exact attention takes
  bool quick = false;           // long heads take moments: the first start shows it for them too
  bool rows_sum_to_one = true;  // rows of P, where a key is attended at all
  /// With these parameters rows need not sum to 1 though they do otherwise, and a note of the plan
  /// says so; empty if there are none.
  std::string other_sums_with = {};
  bool signed_entries = false;      // entries of P may be negative
  bool has_recurrent_form = false;  // for heads that are a recurrence themselves
  /// Not computed, but read from the source: for heads beside which it holds results. Nothing of it
  /// is timed.
  bool imported = false;
  /// Tensors that its plans hold, all of which may be given instead of being derived.
  std::vector<TensorField> structure = {};
  /// Stages of planning that are learning, which the paper does once and beforehand: the benchmark
  /// leaves them out of the time of a run.
  std::vector<std::string> learning_stages = {};
  TreeAttention tree_attention = TreeAttention::none;  // has the fields of tree_fields() if any
  std::vector<DiagnosticSource> diagnostics = {};      // the figures of its own paper
  Schema schema = {};
  /// Whether these values leave nothing of a head of n keys out, so that they are not worth trying.
  std::function<bool(const Values&, Index n)> is_exact = {};
  std::function<Plan(const Problem&, const Values&, Planning&)> planner = {};

  bool has_causal_form() const { return mask != Mask::bidirectional_only; }
  bool has_bidirectional_form() const { return mask != Mask::causal_only; }

  /// Whether it has a form for heads of these lengths, with or without a causal mask.
  bool has_form_of(Lengths lengths, bool causal) const;

  /// Why there is no form for such a head, in a sentence; empty if there is one.
  std::string refusal(const Problem& problem) const;

  /// Checks the values and plans; a note says what of a given structure it does not take. Throws
  /// UsageError for bad values and with the refusal, InputError for a given
  /// structure of the wrong shape, and for one of which it takes nothing.
  Plan plan(const Problem& problem, const Values& values, Planning& planning) const;
};

/// THE table, in the order in which variants are shown; the reference is first. Imported results
/// are not in it.
std::span<const Variant> variants();

/// Those of one group, in the order of the table.
std::vector<const Variant*> variants_of(Group group);

/// Throws UsageError naming the known ids.
const Variant& find_variant(std::string_view id);

/// What other programs computed, as the file holds it.
const Variant& imported_variant();

/// Exact attention.
const Variant& reference_variant();
inline bool is_reference(std::string_view id) {
  return id == reference_variant().id;
}

/// For test programs: one more row, at the end. Call it before anything uses the table.
void add_variant(Variant row);

/// All that the variant's paper says about the approximation; nothing for the reference.
std::vector<Diagnostic> diagnose(const Variant& variant, const Diagnosis& of, Run& run);

/// A table row from a typed parameter struct P with `static std::vector<TypedField<P>> fields()`.
template <class P>
Variant make_variant(Variant row, Plan (*planner)(const Problem&, const P&, Planning&)) {
  const auto fields = P::fields();
  for (const auto& f : fields) row.schema.push_back(f.field);
  row.planner = [fields, planner](const Problem& problem, const Values& values,
                                  Planning& planning) {
    return planner(problem, typed_values(fields, values), planning);
  };
  return row;
}

Variant make_imported_variant();
// One function a file: the rows of the table.
Variant exact_variant();
Variant h1d_variant();
Variant fixed_variant();
Variant strided_variant();
Variant tf_variant();
Variant tc_variant();
Variant hyper_variant();
Variant window_variant();
Variant longformer_variant();
Variant bigbird_variant();
Variant reformer_variant();
Variant kde_variant();
Variant linformer_variant();
Variant sinkhorn_variant();
Variant synthesizer_variant();
Variant linear_variant();
Variant performer_variant();
Variant moba_variant();
Variant vertical_slash_variant();
Variant msa_variant();
Variant nsa_variant();
Variant dsa_variant();
Variant xattention_variant();
Variant sparge_variant();
Variant quest_variant();
Variant h2o_variant();
Variant snapkv_variant();
Variant expected_variant();
Variant oracle_variant();
Variant sta_variant();
Variant svg_variant();
Variant radial_variant();
Variant svg2_variant();
Variant delta_variant();
Variant ssd_variant();
Variant loglinear_variant();
Variant int8_variant();
Variant int4_variant();
Variant fp8_variant();
Variant nvfp4_variant();

}  // namespace fovea
