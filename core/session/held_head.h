// A held head is read as the head of the Session is, so that the two can be compared.
#pragma once

#include "data/source.h"
#include "session/session.h"

namespace fovea {

/// What was set by hand for the opened head.
HeadChoice choice_of(const Session& session);

/// Whether the opened head is causal: as chosen by hand, else as the source states, else not.
bool is_causal(const Session& session, const Source& source);

/// Whether it is the head that is opened.
bool is_opened(const HeldHead& held, const Session& session);

/// Which head of its source a column holds. In the Session's own source mask and scale are those of
/// the Session; a head of another one keeps those with which it was opened.
HeadChoice choice_of(const HeldHead& held, const Session& session);

/// Throws InputError when the problem of this head of `source` has other numbers of
/// queries and keys.
void require_tokens(const Problem& problem, const Source& source, const HeldHead& held,
                    Lengths lengths);

/// "layer 5, head 2", with the name of its source where that is not the Session's. `its`: null
/// while it is not read yet.
std::string label_of(const HeldHead& held, const Source* its);

}  // namespace fovea
