// The work of `fovea heads --measures`: what each head does, over one input or a folder of them.
#pragma once

#include "cli/commands/commands.h"
#include "cli/exploration.h"

namespace fovea {

/// A folder as `--input` stands for all texts or images in it, by name; one that cannot be read is
/// named, and left out. Throws InputError where none is left.
void measure_heads(const ExplorationOptions& options, bool json, bool csv, const Console& console);

}  // namespace fovea
