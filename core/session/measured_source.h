// The heads of a source, measured: what each of them does with its own exact attention.
#pragma once

#include "analysis/head_measures.h"
#include "backend/backend.h"
#include "data/source.h"

namespace fovea {

/// P is that of exact attention, or the attention matrix that the source holds. `seed`: of the rows
/// that are drawn of a long head. Throws what problem_of does.
MeasuredHead measure_head(const Source& source, const HeadChoice& head, const Backend& backend,
                          Run& run, std::uint64_t seed = 0);

}  // namespace fovea
