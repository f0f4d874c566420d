// A Variant is one efficient attention of a paper: a planner and the schema of its parameters.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "data/problem.h"
#include "plan/plan.h"
#include "variants/schema.h"

namespace fovea {

/// What a planner may use beside the problem and its own parameters.
struct Planning {
  const Backend& backend;  // does the heavy steps
  Run& run;                // stages: "hash", "sort", "tree", "route", "sample"
  std::uint64_t seed = 0;  // of every random choice
  const Structure& given;  // from --structure: what is not empty is used instead of derived
};

enum class Mask { either, causal_in_paper, bidirectional_in_paper };

struct Variant {
  std::string id, label, paper;
  std::string formula;       // as shown in the form, Unicode mathematics
  std::string summary;       // one sentence: what it keeps
  Mask mask = Mask::either;  // what the paper defines; the other is offered and labelled
  /// Members of a given Structure that it uses, by their names (member_names).
  std::vector<std::string> takes = {};
  Schema schema;
  std::function<Plan(const Problem&, const Values&, Planning&)> planner;

  /// Checks the values and plans; a note says what of a given structure it does not take. Throws
  /// UsageError for bad values, InputError for a given structure of the wrong shape, and for one of
  /// which it takes nothing.
  Plan plan(const Problem& problem, const Values& values, Planning& planning) const;
};

/// THE table, in the order in which variants are shown; `exact` is first.
std::span<const Variant> variants();

/// Throws UsageError naming the known ids.
const Variant& find_variant(std::string_view id);

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
