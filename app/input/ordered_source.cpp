#include "input/ordered_source.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "data/error.h"

namespace fovea {
namespace {

using Order = std::shared_ptr<const std::vector<std::int32_t>>;

/// Whether all of n tokens behind the prefix are patches, and all patches are there.
bool holds_the_rest(const ImageGrid& grid, Index n) {
  return n > grid.prefix && grid.contains(n - 1) && !grid.contains(n);
}

/// Why the attention of the layer is that of its order; empty if it is not.
std::string order_dependence(const Source& source, Index layer) {
  const Layer& its = source.layers[layer];
  if (!its.lengths().equal())
    return std::to_string(its.queries()) + " queries and " + std::to_string(its.keys()) + " keys";
  if (has_own_keys(source, layer)) return "other tokens as keys than as queries";
  if (stated_causal(source, layer).value_or(false)) return "a causal mask";
  if (stated_conditions(source, layer).window.value_or(0) > 0) return "a sliding window";
  if (its.conditions.recurrence.present()) return "the gates of a recurrence";
  if (!its.conditions.alibi.empty()) return "slopes of ALiBi, which depend on distances";
  return "";
}

void reorder_rows(HeadTensor& tensor, const Order& order) {
  if (tensor.rows > 1) tensor.row_order = order;
}

void reorder_pairs(HeadTensor& tensor, const Order& order) {
  reorder_rows(tensor, order);
  if (tensor.present()) tensor.col_order = order;
}

template <class T>
void reorder_list(std::vector<T>& list, const Order& order) {
  std::vector<T> before = std::exchange(list, {});
  if (before.size() != order->size()) return;  // it is of other tokens
  for (const std::int32_t token : *order) list.push_back(std::move(before[token]));
}

/// False if something of it had to be left out.
bool reorder_result(ImportedTensors& result, const Order& order) {
  for (HeadTensor* tensor : {&result.z, &result.lse, &result.gradients.dz, &result.gradients.dq,
                             &result.gradients.dk, &result.gradients.dv})
    reorder_rows(*tensor, order);
  for (HeadTensor& tensor : result.z_runs) reorder_rows(tensor, order);
  reorder_pairs(result.p, order);
  return !std::exchange(result.kept, {}).present();
}

/// The names of places that have none: "frame 2 (3, 4)".
std::string name_of_place(const TokenGrid& grid, Index token) {
  if (!grid.cells().contains(token)) return std::to_string(token);
  const auto [frame, row, column] = grid.place(token);
  return (grid.frames() > 1 ? "frame " + std::to_string(frame) + " " : "") + "(" +
         std::to_string(row) + ", " + std::to_string(column) + ")";
}

/// Null if the patches are not all tokens behind the prefix, or do not stay there.
std::shared_ptr<const PatchOrder> order_of_patches(const ImageGrid& grid,
                                                   const std::vector<std::int32_t>& order) {
  const Index n = std::ssize(order), prefix = grid.prefix;
  if (!holds_the_rest(grid, n)) return nullptr;
  auto patches = std::make_shared<PatchOrder>();
  patches->place.resize(n - prefix);
  for (Index i = prefix; i < n; ++i) {
    const Index patch = order[i] - prefix;
    if (patch < 0) return nullptr;
    patches->patch.push_back(static_cast<std::int32_t>(patch));
    patches->place[patch] = static_cast<std::int32_t>(i - prefix);
  }
  return patches;
}

Sequence reordered(Sequence sequence, const TokenGrid& grid, const Order& order) {
  const auto n = static_cast<Index>(order->size());
  if (sequence.grid) sequence.grid->order = order_of_patches(*sequence.grid, *order);
  if (sequence.grid && !sequence.grid->order) sequence.grid.reset();
  reorder_list(sequence.tokens, order);
  if (!sequence.grid && sequence.tokens.empty())
    for (Index i = 0; i < n; ++i) sequence.position_names.push_back(name_of_place(grid, i));
  reorder_list(sequence.position_names, order);
  return sequence;
}

void reorder_layer(Layer& layer, const Order& order, bool& left_out) {
  for (HeadTensor* tensor : {&layer.q, &layer.k, &layer.v}) reorder_rows(*tensor, order);
  for (HeadTensor* tensor : {&layer.attention, &layer.conditions.mask, &layer.conditions.bias})
    reorder_pairs(*tensor, order);
  reorder_list(layer.conditions.documents, order);
  for (ImportedTensors& result : layer.imported) left_out |= !reorder_result(result, order);
  std::erase_if(layer.imported, [](const ImportedTensors& result) { return !result.present(); });
}

std::string words_of(const TokenOrder& order, const TokenGrid& grid) {
  const std::string frame =
      std::to_string(grid.height()) + " × " + std::to_string(grid.width()) + " tokens";
  const std::string frames = grid.frames() == 1
                                 ? "a frame of " + frame
                                 : std::to_string(grid.frames()) + " frames of " + frame;
  return (order.path == TokenOrder::Path::hilbert ? "tokens along a Hilbert curve through "
                                                  : "tokens tile by tile in ") +
         frames;
}

/// What an order of n tokens begins with.
Values standard_order(const Source& source, Index n) {
  Values values;
  for (const Field& field : order_schema()) values.push_back(value_for_length(field, n));
  const std::optional<ImageGrid>& grid = source.sequence.grid;
  if (!grid || !holds_the_rest(*grid, n)) return values;
  for (const auto& [id, value] : {std::pair{"height", grid->rows}, std::pair{"width", grid->cols},
                                  std::pair{"text", grid->prefix}})
    set_value(order_schema(), values, id, std::to_string(value));
  return values;
}

/// How layers of one length are put in order.
struct LengthOrder {
  TokenOrder order;
  TokenGrid grid;
  Order tokens;

  LengthOrder(const Source& source, const std::string& text, Index n)
      : order(order_of(parse_order(text, standard_order(source, n)))),
        grid(order, n),
        tokens(std::make_shared<const std::vector<std::int32_t>>(tokens_in_order(order, n))) {}
};

}  // namespace

Values standard_order(const Source& source) {
  return standard_order(source, source.layers.front().queries());
}

Source in_order(Source source, const std::string& text) {
  std::map<Index, LengthOrder> orders;
  for (Index l = 0; l < std::ssize(source.layers); ++l) {
    if (const std::string why = order_dependence(source, l); !why.empty())
      throw InputError(source.path, layer_label(source, l) + " has " + why +
                                        "; expected heads that have the same attention whatever "
                                        "the order of their tokens is");
    const Index n = source.layers[l].queries();
    if (!orders.contains(n)) orders.emplace(n, LengthOrder(source, text, n));
  }
  bool left_out = false;
  for (Layer& layer : source.layers) {
    const LengthOrder& its = orders.at(layer.queries());
    // Layers of one length share the names of the source.
    if (layer.sequence || orders.size() > 1)
      layer.sequence = reordered(layer.sequence.value_or(source.sequence), its.grid, its.tokens);
    if (layer.key_sequence)
      layer.key_sequence = reordered(std::move(*layer.key_sequence), its.grid, its.tokens);
    reorder_layer(layer, its.tokens, left_out);
  }
  const LengthOrder& first = orders.at(source.layers.front().queries());
  source.sequence = reordered(std::move(source.sequence), first.grid, first.tokens);
  source.order = words_of(first.order, first.grid);
  for (const auto& [n, its] : orders)
    for (const std::string& note : its.grid.notes()) source.notes.push_back(note);
  if (left_out)
    source.notes.push_back(
        "pairs that the file keeps are left out, as they are in the order of the file");
  source.name +=
      first.order.path == TokenOrder::Path::hilbert ? ", along a Hilbert curve" : ", tile by tile";
  return source;
}

}  // namespace fovea
