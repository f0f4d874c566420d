// A held head is read as the head of the Session is, so that the two can be compared.
#pragma once

#include "data/source.h"
#include "session/session.h"

namespace fovea {

/// Whether a head is causal: as chosen by hand, else as the source states, else not.
bool is_causal(const Session& session, const Source& source);

/// Which head of `its` a column holds. In the Session's own source, `opened`, mask and scale are
/// those of the Session; another source has its own, and where it states no mask that of the
/// Session.
HeadChoice choice_of(const HeldHead& held, const Session& session, const Source& opened,
                     const Source& its);

/// Throws InputError when the problem of this head of `source` is not of `n` tokens.
void require_tokens(const Problem& problem, const Source& source, const HeldHead& held, Index n);

/// "layer 5, head 2", with the name of its source where that is not the Session's. `its`: null
/// while it is not read yet.
std::string label_of(const HeldHead& held, const Source* its);

}  // namespace fovea
