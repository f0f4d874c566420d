// A HeadCard is a small look at one head of a source, for choosing among many.
#pragma once

#include <optional>

#include "data/source.h"
#include "session/session.h"

namespace fovea {

struct HeadCard {
  Index layer = 0, head = 0;
  Matrix picture;  // P, max-pooled over columns; rows pooled too, or sampled when long
  bool sampled = false;
  double entropy = 0;      // mean over rows, nats, relative to log n: 1 is uniform
  double density = 0;      // share of the entries above 1/n
  double future_mass = 0;  // mean over rows of the mass on later keys; 0 under a causal mask
};

/// Throws what problem_of does.
HeadCard make_head_card(const Source& source, const HeadChoice& head, const Backend& backend,
                        Run& run);

/// |Z~ - Z|_F / |Z|_F of a column; nothing for exact attention, for long heads and without values.
/// Throws what problem_of does.
std::optional<double> head_error(const Source& source, const HeadChoice& head, const Column& column,
                                 const Backend& backend, Run& run);

}  // namespace fovea
