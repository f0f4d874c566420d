// A Source is what a person opened: the heads of one or more layers, an attention matrix, or a text
// or image whose Q, K and V are made from its content; with its sequence and its metadata.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/bytes.h"
#include "data/problem.h"
#include "data/sequence.h"

namespace fovea {

enum class ElementType { f64, f32, f16, bf16 };
std::string to_text(ElementType type);
Index size_of(ElementType type);

/// A [heads, rows, cols] array in the type and layout of its file. It is read head by head.
struct HeadTensor {
  ElementType type = ElementType::f32;
  bool big_endian = false;
  std::shared_ptr<const Bytes> bytes;  // the file or buffer that holds it
  Index begin = 0;                     // byte of element [0, 0, 0]; may be unaligned
  Index heads = 0, rows = 0, cols = 0;
  Index head_stride = 0, row_stride = 0, col_stride = 0;  // bytes, not negative

  bool present() const { return heads > 0; }
  /// [rows, cols] in float32. Throws UsageError for a head that does not exist, UnavailableError
  /// for one that does not fit into memory, and what Bytes::read throws.
  Matrix read(Index head) const;
};

/// A HeadTensor over owned float32 matrices of the same shape, one a head.
HeadTensor make_head_tensor(std::vector<Matrix> heads);

/// One layer: either q, k, v (key/value heads may be fewer: grouped) or attention alone.
struct Layer {
  std::string name;      // "layer3", or "" when the file has one
  HeadTensor q, k, v;    // [H, n, d], [Hkv, n, d], [Hkv, n, dv]
  HeadTensor attention;  // [H, n, n]

  bool has_qkv() const { return q.present(); }
  Index heads() const { return has_qkv() ? q.heads : attention.heads; }
  Index n() const { return has_qkv() ? q.rows : attention.rows; }
  Index d() const { return has_qkv() ? q.cols : 0; }
  Index dv() const { return has_qkv() ? v.cols : 0; }
};

/// The pixels of an opened image, 8 bits per channel, for the overlay and the output view.
struct Picture {
  Index width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // [height, width, 3]
};

struct Source {
  std::string name;             // a short name for titles: "minilm-l6"
  std::string path;             // as opened; "synthetic:..." for generated ones
  std::string kind;             // "safetensors", "npz", "npy directory", "text", "image", ...
  std::string content;          // how Q, K and V were made when the file does not hold them; shown
  std::string layout;           // how shapes were read: "[H,n,d]"
  bool layout_guessed = false;  // shown before computing
  std::vector<Layer> layers;    // at least one
  Sequence sequence;
  std::optional<double> scale;
  std::optional<bool> causal;
  std::map<std::string, std::string> metadata;  // the file's own, as text
  std::vector<std::string> notes;               // what the user must know, e.g. tokens trimmed
  std::shared_ptr<const Picture> picture;
};

/// Whether the mask of a captured head is not known: then it is taken as bidirectional. Q, K and V
/// that are made from content or by a formula have no other mask.
bool mask_is_assumed(const Source& source);

/// "layer4", as the file calls it; "layer 4" where that is a number, or the file does not name
/// them.
std::string layer_label(const Source& source, Index layer);

/// The head as a Problem. A grouped key/value head is shared by its query heads, not repeated.
/// `scale` and `causal` are the caller's if given, else the source's, else 1/sqrt(d) and not
/// causal. Throws InputError when the layer holds only an attention matrix, UsageError for an index
/// out of range or a given scale that is not a number above 0. NaN and Inf are refused by position
/// unless `allow_non_finite`.
struct HeadChoice {
  Index layer = 0, head = 0;
  std::optional<double> scale;
  std::optional<bool> causal;
  bool allow_non_finite = false;
  friend bool operator==(const HeadChoice&, const HeadChoice&) = default;
};
Problem problem_of(const Source& source, const HeadChoice& choice);

}  // namespace fovea
