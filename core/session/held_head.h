// A held head is read in the same way as the head of the Session, so that the two can be compared.
#pragma once

#include "data/source.h"
#include "session/session.h"

namespace fovea {

/// The opened head with the conditions set by hand.
HeadChoice choice_of(const Session& session);

/// Whether the opened head is causal: as chosen by hand, else as the source states, else not.
bool is_causal(const Session& session, const Source& source);

/// Whether a held head is the opened one.
bool is_opened(const HeldHead& held, const Session& session);

/// Which head of its source a column holds. In the Session's own source, mask and scale are those
/// of the Session; a head of another source keeps those with which it was opened.
HeadChoice choice_of(const HeldHead& held, const Session& session);

/// Throws InputError if the problem of this head of `source` has other lengths.
void require_tokens(const Problem& problem, const Source& source, const HeldHead& held,
                    Lengths lengths);

/// "layer 5, head 2", with the name of its source if that is not the Session's. `its` is null until
/// the source is read.
std::string label_of(const HeldHead& held, const Source* its);

}  // namespace fovea
