// A TokenSearch marks the tokens that contain the text of the find bar, and steps through them.
#pragma once

#include <optional>
#include <vector>

#include "window/window_parts.h"

namespace fovea {

class TokenSearch {
 public:
  explicit TokenSearch(WindowParts& parts);
  /// Shows the next match, or the previous one; opens the find bar when it is closed.
  void step(int by);

 private:
  void mark(const QString& text);   // the view stays where it is
  void start(const QString& text);  // and shows the first match from the pinned query on
  void show_match();

  WindowParts& parts_;
  std::vector<Index> found_;       // tokens that match
  std::optional<std::size_t> at_;  // the match that was shown last
};

}  // namespace fovea
