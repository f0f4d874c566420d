// An address names a source that no file holds: a head made by a formula, the stream of a running
// program, a model with what it reads, the content similarity of a text or an image, or another
// source whose tokens are put in another order.
#pragma once

#include <algorithm>
#include <string_view>

#include "data/model_address.h"
#include "data/synthetic.h"

namespace fovea {

/// The prefix of the stream of a running program: "live:NAME".
inline constexpr std::string_view live_prefix = "live:";

inline bool is_live(std::string_view source) {
  return source.starts_with(live_prefix);
}

/// Content similarity (content_features.h): "content:cat.jpg".
inline constexpr std::string_view content_prefix = "content:";

inline bool is_content(std::string_view source) {
  return source.starts_with(content_prefix);
}

/// The file of such an address.
inline std::string_view content_path(std::string_view source) {
  return source.substr(content_prefix.size());
}

/// Another source with its tokens in another order (variants/token_order.h):
/// "ordered:hilbert:video.npz".
inline constexpr std::string_view ordered_prefix = "ordered:";

inline bool is_ordered(std::string_view source) {
  return source.starts_with(ordered_prefix);
}

/// An address that says how another source is read: "ordered:hilbert:" and "video.npz".
struct WrappedAddress {
  std::string_view prefix, inner;  // no prefix, and the source itself, if it is no such address
};

/// A nested order, or content of content, is no such address. It has no prefix, which ends every
/// recursion, and it does not open.
inline WrappedAddress unwrap(std::string_view source) {
  std::size_t size = 0;
  if (is_content(source)) size = content_prefix.size();
  if (is_ordered(source))
    size = std::min(source.find(':', ordered_prefix.size()), source.size() - 1) + 1;
  const std::string_view inner = source.substr(size);
  if (is_ordered(inner) || (is_content(source) && is_content(inner))) return {{}, source};
  return {source.substr(0, size), inner};
}

/// "hilbert" of "ordered:hilbert:video.npz"; empty if the source has no such order.
inline std::string_view order_in(std::string_view source) {
  std::string_view prefix = unwrap(source).prefix;
  if (!is_ordered(prefix)) return {};
  prefix.remove_prefix(ordered_prefix.size());
  return prefix.substr(0, prefix.find(':'));
}

/// The source without another order of its tokens.
inline std::string_view in_own_order(std::string_view source) {
  return is_ordered(source) ? unwrap(source).inner : source;
}

/// The source within all addresses that say how it is read.
inline std::string_view innermost(std::string_view source) {
  while (true) {
    const WrappedAddress wrapped = unwrap(source);
    if (wrapped.prefix.empty()) return source;
    source = wrapped.inner;
  }
}

/// Whether the source needs a program that sends it or offers its model, and is gone when the
/// program ends.
inline bool is_of_a_program(std::string_view source) {
  source = innermost(source);
  return is_live(source) ||
         (is_model_address(source) && is_offered_model(source.substr(model_prefix.size())));
}

inline bool is_address(std::string_view source) {
  return source.starts_with(synthetic_prefix) || is_live(source) || is_model_address(source) ||
         is_content(source) || is_ordered(source);
}

}  // namespace fovea
