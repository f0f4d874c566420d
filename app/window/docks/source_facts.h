// The facts of a source, and of how its heads are understood, in words.
#pragma once

#include <QString>

#include "session/session.h"

namespace fovea {

struct Problem;
struct Source;

/// Kind, layers, shapes and lengths, a line each.
QString facts_of(const Source& source, Index layer);
/// All facts in a few words.
QString facts_in_short(const Source& source, Index layer, bool causal);
/// Mask and scale, and how each is known.
QString conditions_of(const Source& source, const Session& session, const Problem& problem);

}  // namespace fovea
