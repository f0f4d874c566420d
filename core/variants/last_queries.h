// A plan over the positions of one sequence becomes that of a head: it is cut down to the queries
// that a model computes when it keeps the keys of the tokens before, and gets the head's masks.
#pragma once

#include "data/problem.h"
#include "plan/plan.h"

namespace fovea {

/// The same head with a query for every key, of which planners of positions read nothing.
Problem with_all_queries(const Problem& problem);

/// The rows of the last `queries` queries. `plan` is of as many queries as keys, and of tiles of
/// single tokens.
void keep_last_queries(Plan& plan, Index queries);

/// Gives the plan the window and the mask of the head, which are common to all variants. Tiles have
/// the bands of their own sets and the causal mask already.
void set_conditions(Plan& plan, const Problem& head);

}  // namespace fovea
