// Asks in which order the tokens of the open source stand.
#pragma once

#include <optional>
#include <string>

namespace fovea {

struct Workspace;

/// Why the tokens of the open source keep their order; empty if they can have another one.
std::string why_order_stays(const Workspace& workspace);

/// The address of the open source with its tokens in the order that was chosen, or as they are in
/// the file. Nothing if the user cancels.
std::optional<std::string> ask_order(Workspace& workspace);

}  // namespace fovea
