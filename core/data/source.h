// A Source is what a person opened: the heads of one or more layers, an attention matrix, or a text
// or image whose Q, K and V are made from its content; with its sequence and its metadata.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/head_tensor.h"
#include "data/imported_result.h"
#include "data/layer_conditions.h"
#include "data/problem.h"
#include "data/sequence.h"

namespace fovea {

class FileBytes;

/// The files that a source was read from, as they were then: the one that was opened, or those of a
/// directory by name, before those beside it.
using SourceFiles = std::vector<std::shared_ptr<const FileBytes>>;

/// One layer: q and k, usually with v (key/value heads may be fewer: grouped), or attention alone.
struct Layer {
  std::string name;                            // "layer3", or "" when the file has one
  HeadTensor q, k, v;                          // [H, nq, d], [Hkv, nk, d], [Hkv, nk, dv] or none
  HeadTensor attention;                        // [H, nq, nk]
  std::vector<ImportedTensors> imported = {};  // what others computed from q, k and v
  LayerConditions conditions;
  std::optional<Sequence> sequence = {};      // of its queries, where it is not the source's
  std::optional<Sequence> key_sequence = {};  // of its keys, where it is not that of its queries

  bool has_qk() const { return q.present(); }
  bool has_values() const { return v.present(); }
  Index heads() const { return has_qk() ? q.heads : attention.heads; }
  Lengths lengths() const {
    return has_qk() ? Lengths{q.rows, k.rows} : Lengths{attention.rows, attention.cols};
  }
  Index queries() const { return lengths().queries; }
  Index keys() const { return lengths().keys; }
  /// The keys that are tokens.
  Index tokens() const { return conditions.compressed ? conditions.compressed->tokens : keys(); }
  Index d() const { return has_qk() ? q.cols : 0; }
  Index dv() const { return v.cols; }
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
  std::string order;            // of the tokens, in words; empty if it is that of the file
  std::string layout;           // how shapes were read: "[H,n,d]"
  bool layout_guessed = false;  // shown before computing
  std::vector<Layer> layers;    // at least one
  Sequence sequence;
  std::optional<double> scale;
  std::optional<bool> causal;
  std::map<std::string, std::string> metadata;  // the file's own, as text
  std::vector<std::string> notes;               // what the user must know, e.g. tokens trimmed
  std::shared_ptr<const Picture> picture;
  SourceFiles files;  // none: it was made by a formula, or sent by a program
};

/// What the queries of a layer are, and what its keys are.
const Sequence& sequence_of(const Source& source, Index layer);
const Sequence& key_sequence_of(const Source& source, Index layer);
/// Gives the keys that are tokens the names of the queries where the layer has entries and each
/// token is a query; keys with names of their own keep them.
void name_keys_of_compressed(Source& source);
/// Whether the keys are other tokens than the queries: there are not as many, or the file names
/// them apart, as in cross attention.
bool has_own_keys(const Source& source, Index layer);

/// What the layer, or else the source, states.
HeadConditions stated_conditions(const Source& source, Index layer);
inline std::optional<double> stated_scale(const Source& source, Index layer) {
  return stated_conditions(source, layer).scale;
}
inline std::optional<bool> stated_causal(const Source& source, Index layer) {
  return stated_conditions(source, layer).causal;
}

/// Where the statements of a source come from: "stated in the file", "stated by the model", "stated
/// by the program that sent it", or "chosen by Fovea" if Q, K and V are made here from content or
/// by a formula.
std::string statement_text(const Source& source);

/// Whether the mask of a captured head is not known and assumed to be bidirectional. Never for Q, K
/// and V that are made from content or by a formula, since their mask is known.
bool mask_is_assumed(const Source& source, Index layer);

/// "layer4", as the file calls it; "layer 4" if the name is a number, or the file does not name
/// layers.
std::string layer_label(const Source& source, Index layer);

/// The head as a Problem, with dv = 0 where the layer has no values. A grouped key/value head is
/// shared by its query heads, not repeated. Conditions are those of the choice if given, else those
/// of the layer or the source, else not causal, 1/sqrt(d), and none. Throws InputError when the
/// layer holds only an attention matrix and for a mask or bias that cannot be used, UsageError for
/// an index or a given number out of range, UnavailableError for a head that does not fit into
/// memory, Cancelled if the head is not wanted any more. NaN, Inf and numbers of a magnitude above
/// number_limit are refused by position; with `allow_non_finite` all of them count as NaN. A scale
/// that is too large for these numbers is refused in any case.
struct HeadChoice {
  Index layer = 0, head = 0;
  HeadConditions conditions = {};
  bool allow_non_finite = false;
  friend bool operator==(const HeadChoice&, const HeadChoice&) = default;
};
Problem problem_of(const Source& source, const HeadChoice& choice,
                   const std::stop_token& stop = {});

}  // namespace fovea
