// Drawn: pairs that somebody keeps by hand. It is not in the table of variants, so that no list of
// variants to try has it: columns of it are drawn on the canvas, or named on the command line.
#pragma once

#include <stop_token>

#include "data/drawn_pairs.h"
#include "plan/plan.h"
#include "variants/variant.h"

namespace fovea {

/// Its parameters are the text of DrawnPairs, and the side of the blocks that are drawn, which
/// changes no pair.
const Variant& drawn_variant();

Index drawn_block(const Values& values);
/// Throws UsageError for a text that is none.
DrawnPairs drawn_pairs(const Values& values);
void set_drawn_pairs(Values& values, const DrawnPairs& pairs);

/// The rectangle with its edges at the nearest ones of blocks, at least one block wide and high,
/// within the head.
DrawnRectangle in_blocks(const DrawnRectangle& rectangle, Index block, Lengths lengths);

/// The pairs of the plan in whole blocks: those blocks in which the plan has a pair, each once in
/// rectangles that do not overlap. Blocks beyond the causal mask or the window are included if
/// that makes fewer rectangles, since the head excludes their pairs anyway. Throws UsageError for
/// more rectangles than DrawnPairs hold, Cancelled.
DrawnPairs drawn_from(const Plan& plan, Lengths block, const std::stop_token& stop = {});

}  // namespace fovea
