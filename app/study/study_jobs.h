// The work behind each result of a Study. Pure functions: they run on the engine's thread and touch
// nothing but their arguments.
#pragma once

#include <memory>

#include "study/study_keys.h"

namespace fovea {

HeadCard look_at_head(const Source& source, const HeadCardKey& key, const Backend& backend,
                      Run& run);

/// What the program's memory rises to while this is planned, uploaded and applied once more.
std::optional<ResidentUse> measure_memory(const Computation& computation, std::uint64_t seed,
                                          const Backend& backend, Run& run);

/// One plan and upload, then runs of apply for about `budget_ms`; the first run is not counted when
/// `warm_up`. At the end the machine's pace.
TimingSamples take_timing(const Computation& computation, std::uint64_t seed,
                          const Backend& backend, double budget_ms, bool warm_up, Run& run);

PairReading read_pair(const Computation& approximate, const Computation& exact, Index query,
                      Index key, Run& run);
RowReading read_row(const Computation& computation, Index query, Run& run);
SelectionReading read_selection(const Computation& approximate, const Computation& exact,
                                IndexRange rows, IndexRange cols, Run& run);

/// Does the view show anything of the reference?
bool needs_exact(View view);
/// Settings that the view's data do not depend on are set to their defaults.
ViewSettings settings_for(View view, ViewSettings settings);

}  // namespace fovea
