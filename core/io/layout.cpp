#include "io/layout.h"

#include <algorithm>
#include <cctype>

namespace fovea {

Index Layout::count(char axis) const {
  return std::ranges::count(axes, axis);
}

bool Layout::of_features() const {
  return count('n') == 1 && count('d') == 1 && count('B') <= 1 && count('H') <= 1 &&
         count('3') <= 1;
}

bool Layout::of_attention() const {
  return count('n') == 2 && count('d') == 0 && count('B') <= 1 && count('H') <= 1 &&
         count('3') == 0;
}

std::string Layout::text() const {
  std::string out = "[";
  for (const char axis : axes) {
    if (out.size() > 1) out += ',';
    out += axis;
  }
  return out + "]";
}

std::optional<Layout> parse_layout(const std::string& text) {
  std::string bare;
  for (const char c : text)
    if (c != ' ') bare += c;
  if (bare.starts_with('[') != bare.ends_with(']')) return std::nullopt;
  if (bare.starts_with('[')) bare = bare.substr(1, bare.size() - 2);
  Layout layout;
  for (std::size_t i = 0; i < bare.size(); ++i) {
    if (i % 2 == 1) {
      if (bare[i] != ',') return std::nullopt;
      continue;
    }
    switch (bare[i]) {
      case 'B':
      case 'b':
        layout.axes += 'B';
        break;
      case 'H':
      case 'h':
        layout.axes += 'H';
        break;
      case 'N':
      case 'n':
        layout.axes += 'n';
        break;
      case 'D':
      case 'd':
        layout.axes += 'd';
        break;
      case '3':
        layout.axes += '3';
        break;
      default:
        return std::nullopt;
    }
  }
  if (bare.size() % 2 == 0 || (!layout.of_features() && !layout.of_attention()))
    return std::nullopt;
  return layout;
}

AxisExtent extent_of(const NamedTensor& tensor, const Layout& layout, char axis, Index occurrence) {
  for (std::size_t a = 0; a < layout.axes.size(); ++a)
    if (layout.axes[a] == axis && occurrence-- == 0) return {tensor.shape[a], tensor.strides[a]};
  return {};
}

}  // namespace fovea
