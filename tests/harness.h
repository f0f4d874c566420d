// The harness makes problems, plans them and binds the plans: what every test of a variant starts
// with.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "larger_error.h"
#include "thorough.h"
#include "variants/variant.h"

namespace fovea::test {

/// Whether a law is tried on case `i` with variation `j`, causal or not: always if tests are
/// thorough, else for every other combination.
bool tried(std::size_t i, std::size_t j, bool causal);

using Settings = std::vector<std::pair<std::string, std::string>>;  // parameter id, text

enum class Data {
  gaussian,  // standard normal
  equal,     // all queries equal, all keys equal: all logits equal, every split degenerate
  huge,      // logits of about +-80
  spike      // one key that one query meets with a logit of 60
};

/// q, k [n, d] and v [n, dv]; the same for the same arguments.
Problem make_data(Data data, Index n, Index d, Index dv, bool causal, Index head = 0,
                  std::uint64_t seed = 1);

Matrix gaussian(Index rows, Index cols, std::uint64_t seed);

/// Q, K, V of section "Numbers to check against" of the variants reference.
Problem golden_problem(bool causal = false);

struct Instance {
  const Variant* variant = nullptr;
  Values values;
  Problem problem;
  std::shared_ptr<const Plan> plan;
  std::unique_ptr<Operator> bound;

  Output apply(MatrixView v, Profile* profile = nullptr) const;
  RowsOutput apply_rows(IndexRange rows, Index pixel, Profile* profile = nullptr) const;  // own v
  Matrix tile(IndexRange rows, IndexRange cols, Pool pool = {}) const;
  Matrix all() const { return tile({0, plan->queries()}, {0, plan->keys()}); }
};

Values values_of(const Variant& variant, const Settings& settings);

std::shared_ptr<const Plan> make_plan(const Backend& backend, const Problem& problem,
                                      const std::string& id, const Settings& settings,
                                      const Structure& given = {}, std::uint64_t seed = 7);

Instance make_instance(const Backend& backend, const Problem& problem, const std::string& id,
                       const Settings& settings, const Structure& given = {},
                       std::uint64_t seed = 7);

/// The back ends that the program tests: the CPU's, one per instruction set of this machine, two
/// threads each (cpu_backends.cpp); or CUDA's (kernels/cuda_backend.cpp).
const std::vector<std::unique_ptr<Backend>>& backends();

}  // namespace fovea::test
