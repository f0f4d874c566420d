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

  /// A given tensor; empty: derive it. Throws InputError unless it has the shape, in which `more`
  /// says what symbols beside "n" and "d" stand for.
  const std::vector<std::int32_t>& integers(std::string_view name, const SymbolicShape& shape,
                                            const Sizes& more = {}) const;
  const std::vector<float>& reals(std::string_view name, const SymbolicShape& shape,
                                  const Sizes& more = {}) const;
};

enum class Mask { either, causal_in_paper, bidirectional_in_paper };

struct Variant {
  std::string id, label, paper;
  std::string formula;       // as shown in the form, Unicode mathematics
  std::string summary;       // one sentence: what it keeps
  Mask mask = Mask::either;  // what the paper defines; the other is offered and labelled
  bool reference = false;    // exact attention, with which all others are compared
  bool quick = false;        // long heads take moments: the first start shows it for them too
  /// Tensors that its plans hold, all of which may be given instead of being derived.
  std::vector<TensorField> structure = {};
  /// Stages of planning that are learning, which the paper does once and beforehand: the benchmark
  /// leaves them out of the time of a run.
  std::vector<std::string> learning_stages = {};
  std::vector<DiagnosticSource> diagnostics = {};  // the figures of its own paper
  Schema schema = {};
  std::function<Plan(const Problem&, const Values&, Planning&)> planner = {};

  /// Checks the values and plans; a note says what of a given structure it does not take. Throws
  /// UsageError for bad values, InputError for a given structure of the wrong shape, and for one of
  /// which it takes nothing.
  Plan plan(const Problem& problem, const Values& values, Planning& planning) const;
};

/// THE table, in the order in which variants are shown; the reference is first.
std::span<const Variant> variants();

/// Throws UsageError naming the known ids.
const Variant& find_variant(std::string_view id);

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
    P parameters;
    for (std::size_t f = 0; f < fields.size(); ++f) fields[f].write(parameters, values[f]);
    return planner(problem, parameters, planning);
  };
  return row;
}

// One function a file: the rows of the table.
Variant exact_variant();
Variant h1d_variant();
Variant fixed_variant();
Variant strided_variant();
Variant tf_variant();
Variant tc_variant();
Variant hyper_variant();

}  // namespace fovea
