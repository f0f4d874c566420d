// A plan over the positions of one sequence, cut down to the queries that a model computes when it
// keeps the keys of the tokens before.
#pragma once

#include "data/problem.h"
#include "plan/plan.h"

namespace fovea {

/// The same head with a query for every key, of which planners of positions read nothing.
Problem with_all_queries(const Problem& problem);

/// The rows of the last `queries` queries. `plan` is of as many queries as keys, and of tiles of
/// single tokens.
void keep_last_queries(Plan& plan, Index queries);

}  // namespace fovea
