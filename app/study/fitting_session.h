// A fitting Session shows only what its source has: a layer, a head, and tokens of that layer.
#pragma once

#include "data/source.h"
#include "session/session.h"

namespace fovea {

/// The Session as far as it fits `source`. Instead of a layer or head beyond the last one it has
/// the last one, and instead of a visible part beyond the tokens all of them. A query that it does
/// not have is not pinned. Spans stay, since a person named them: their table says what is wrong.
Session fitting_session(Session session, const Source& source);

}  // namespace fovea
