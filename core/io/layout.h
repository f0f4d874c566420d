// A Layout says what each axis of a tensor is: B batch, H head, n token, d feature, and 3 where q,
// k and v are packed into one. An attention matrix has n twice: queries, then keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/matrix.h"
#include "io/tensor_file.h"

namespace fovea {

struct Layout {
  std::string axes;  // one letter for each axis: "BHnd"

  Index count(char axis) const;
  /// One n and one d; at most one B, H and 3.
  bool of_features() const;
  /// Two n; at most one B and H.
  bool of_attention() const;
  std::string text() const;  // "[B,H,n,d]"
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// "[B,n,H,d]" in upper or lower case, with or without brackets and spaces; nothing for any other
/// text.
std::optional<Layout> parse_layout(const std::string& text);

/// One axis of a tensor. An axis that does not exist has size 1.
struct AxisExtent {
  Index size = 1, stride = 0;  // bytes
};

/// The tensor's `occurrence`-th axis of this kind.
AxisExtent extent_of(const NamedTensor& tensor, const Layout& layout, char axis,
                     Index occurrence = 0);

}  // namespace fovea
