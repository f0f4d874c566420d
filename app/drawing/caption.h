// A caption below a panel is short: on the canvas the rest of it is on the card at the pointer.
#pragma once

namespace fovea::drawing {

inline constexpr int most_caption_lines = 2;

}  // namespace fovea::drawing
