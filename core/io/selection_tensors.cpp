#include "io/selection_tensors.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "data/blocks.h"
#include "data/error.h"
#include "data/number_text.h"
#include "data/shape.h"
#include "data/text.h"

namespace fovea {
namespace {

constexpr bool is_side(Index tokens) {
  return tokens >= 1 && tokens <= Index{1} << 24;
}

/// The side of blocks of which `count` cover the tokens: a power of two if one fits.
std::optional<Index> side_of(Index tokens, Index count) {
  for (Index side = 1; side < 2 * tokens; side *= 2)
    if (number_of_blocks(tokens, side) == count) return side;
  for (Index side = 1; side <= tokens; ++side)
    if (number_of_blocks(tokens, side) == count) return side;
  return {};
}

/// Blocks of which `down` x `across` cover the pairs: square ones if they fit.
std::optional<Lengths> block_of(Lengths lengths, Index down, Index across) {
  const auto covers = [&](Index side) {
    return number_of_blocks(lengths.queries, side) == down &&
           number_of_blocks(lengths.keys, side) == across;
  };
  const Index longest = std::max(lengths.queries, lengths.keys);
  for (Index side = 1; side < 2 * longest; side *= 2)
    if (covers(side)) return Lengths{side, side};
  for (Index side = 1; side <= longest; ++side)
    if (covers(side)) return Lengths{side, side};
  const auto queries = side_of(lengths.queries, down), keys = side_of(lengths.keys, across);
  if (!queries || !keys) return {};
  return Lengths{*queries, *keys};
}

/// Square blocks of a power of two of which `down` x `across` cover the pairs.
std::optional<Lengths> common_block_of(Lengths lengths, Index down, Index across) {
  for (Index side = 1; side < 2 * std::max(lengths.queries, lengths.keys); side *= 2)
    if (number_of_blocks(lengths.queries, side) == down &&
        number_of_blocks(lengths.keys, side) == across)
      return Lengths{side, side};
  return {};
}

constexpr std::string_view lists_and_masks[] = {"kept", "kv_indices", "full_kv_indices",
                                                "block_indices", "indices"};

class SelectionReader {
 public:
  SelectionReader(const TensorsByWord& found, const LayerTensors& tensors, const Layer& layer,
                  const std::vector<std::string>& prefixes)
      : found_(found), tensors_(tensors), layer_(layer), stated_(stated_block(prefixes)) {
    out_.heads = layer.heads();
  }

  SelectionTensors read() {
    const NamedTensor* first = nullptr;
    const auto use = [&](std::string_view word, auto read_form) {
      const NamedTensor* tensor = find(word);
      if (!tensor) return;
      if (first)
        throw InputError(tensors_.file().path,
                         fovea::quoted(first->name) + " and " + fovea::quoted(tensor->name) +
                             " both say which pairs are kept; expected one of them");
      first = tensor;
      read_form(*tensor);
    };
    use("kept", [&](const NamedTensor& mask) { read_mask(mask); });
    use(find("kv_indices") ? "kv_indices" : "full_kv_indices", [&](const NamedTensor&) {
      read_blocks("kv_num_blocks", "kv_indices", out_.partial);
      read_blocks("full_kv_num_blocks", "full_kv_indices", out_.lists);
    });
    use("block_indices", [&](const NamedTensor& lists) { read_block_lists(lists); });
    use("indices", [&](const NamedTensor& lists) {
      if (const NamedTensor* begins = find("indptr"))
        read_compressed(*begins, lists);
      else
        read_keys(lists);
    });
    for (const auto& [word, beside] : {std::pair{"kv_num_blocks", "kv_indices"},
                                       {"full_kv_num_blocks", "full_kv_indices"},
                                       {"indptr", "indices"}})
      if (const NamedTensor* tensor = find(word); tensor && !find(beside))
        throw InputError(tensors_.file().path,
                         fovea::quoted(tensor->name) + " without " + beside + "; expected both");
    return std::move(out_);
  }

 private:
  const NamedTensor* find(std::string_view word) const {
    const auto found = found_.find(word);
    return found == found_.end() ? nullptr : &found->second;
  }

  [[noreturn]] void refuse_block_size(const std::string& found) const {
    throw InputError(tensors_.file().path,
                     "block_size is " + found +
                         "; expected one or two whole numbers from 1 to 2^24: "
                         "queries and keys a side of a block");
  }

  std::optional<Lengths> stated_block(const std::vector<std::string>& prefixes) const {
    std::vector<Index> sides;
    const bool alone = std::ranges::all_of(found_, [](const auto& word) {
      return std::ranges::find(lists_and_masks, word.first) == std::end(lists_and_masks);
    });
    if (alone) return {};
    if (const NamedTensor* tensor = find("block_size")) {
      Index size = 1;
      for (const Index extent : tensor->shape) size *= extent;
      if (!tensor->type || !tensor->bytes || tensor->shape.size() > 1 || size < 1 || size > 2)
        refuse_block_size("of shape " + shape_text(tensor->shape));
      const Matrix read =
          HeadTensor{.type = *tensor->type,
                     .big_endian = tensor->big_endian,
                     .bytes = tensor->bytes,
                     .begin = tensor->begin,
                     .heads = 1,
                     .rows = 1,
                     .cols = size,
                     .col_stride = tensor->strides.empty() ? Index{0} : tensor->strides[0]}
              .read(0);
      for (Index c = 0; c < size; ++c) {
        sides.push_back(static_cast<Index>(std::clamp(read(0, c), 0.0F, 0x1p25F)));
        if (!is_side(sides.back()) || static_cast<float>(sides.back()) != read(0, c))
          refuse_block_size(format_number(static_cast<double>(read(0, c))));
      }
    } else {
      for (const std::string& prefix : prefixes)
        for (const char* key : {"block_size", "BLOCK_SIZE"})
          if (const auto said = tensors_.file().metadata.find(prefix + key);
              sides.empty() && said != tensors_.file().metadata.end())
            sides = numbers_in(said->second);
    }
    if (sides.empty()) return {};
    return Lengths{sides.front(), sides.back()};
  }

  /// The numbers of "128", "[128, 64]" or "(128, 64)".
  std::vector<Index> numbers_in(const std::string& text) const {
    std::vector<Index> numbers;
    for (const char* at = text.data(); at != text.data() + text.size();) {
      Index number = 0;
      const auto [end, error] = std::from_chars(at, text.data() + text.size(), number);
      if (error == std::errc{} && is_side(number))
        numbers.push_back(number);
      else if (error != std::errc::invalid_argument ||
               std::string_view("[](), ").find(*at) == std::string_view::npos)
        refuse_block_size(fovea::quoted(text));
      at = error == std::errc{} ? end : at + 1;
    }
    if (numbers.empty() || numbers.size() > 2) refuse_block_size(fovea::quoted(text));
    return numbers;
  }

  std::string where(const NamedTensor& tensor) const {
    return tensors_.file().path + ", " + fovea::quoted(tensor.name);
  }
  bool shares_heads(Index heads) const {
    return heads == 1 || heads == layer_.k.heads || heads == layer_.heads();
  }
  Index rows_of(const Lengths& block) const {
    return number_of_blocks(layer_.queries(), block.queries);
  }
  Index cols_of(const Lengths& block) const { return number_of_blocks(layer_.keys(), block.keys); }

  /// [rows, cols] or [heads, rows, cols], without the axis of the batch.
  HeadTensor matrices(const NamedTensor& tensor) const {
    const std::size_t rank = tensor.shape.size();
    const bool of_heads = rank == 3;
    return {.type = *tensor.type,
            .big_endian = tensor.big_endian,
            .bytes = tensor.bytes,
            .begin = tensor.begin,
            .heads = of_heads ? tensor.shape[0] : 1,
            .rows = tensor.shape[rank - 2],
            .cols = tensor.shape[rank - 1],
            .head_stride = of_heads ? tensor.strides[0] : 0,
            .row_stride = tensor.strides[rank - 2],
            .col_stride = tensor.strides[rank - 1]};
  }

  /// [rows] or [heads, rows] as matrices of one column, or, `across`, of one row.
  HeadTensor vectors(const NamedTensor& tensor, bool across) const {
    NamedTensor whole = tensor;
    const auto at = across ? whole.shape.end() - 1 : whole.shape.end();
    const auto place = at - whole.shape.begin();
    whole.shape.insert(at, 1);
    whole.strides.insert(whole.strides.begin() + place, 0);
    return matrices(whole);
  }

  bool of_rank(const NamedTensor& tensor, std::size_t least, std::size_t most) const {
    return tensor.shape.size() >= least && tensor.shape.size() <= most;
  }

  void require_whole_numbers(const NamedTensor& tensor) const {
    if (tensor.type != ElementType::i32 && tensor.type != ElementType::i64)
      throw InputError(tensors_.file().path, fovea::quoted(tensor.name) + " has dtype " +
                                                 tensor.dtype + "; expected I32 or I64");
  }

  std::string heads_text() const {
    const std::string all = std::to_string(layer_.heads());
    return layer_.k.heads == layer_.heads() ? all : std::to_string(layer_.k.heads) + " or " + all;
  }

  std::string shapes_text(const std::vector<std::string>& axes) const {
    const std::string own = join(axes, std::identity(), ",");
    return "[" + own + "], or as many for each of " + heads_text() + " heads";
  }

  void read_mask(const NamedTensor& whole) {
    const NamedTensor tensor = tensors_.of_batch(whole, 3);
    const Index queries = layer_.queries(), keys = layer_.keys();
    const bool of_pairs = of_rank(tensor, 2, 3);
    const Index down = of_pairs ? tensor.shape[tensor.shape.size() - 2] : 0,
                across = of_pairs ? tensor.shape.back() : 0;
    const auto block = !of_pairs ? std::nullopt
                       : stated_ && !(down == queries && across == keys)
                           ? fitting(*stated_, down, across)
                           : block_of(layer_.lengths(), down, across);
    if (!block || (tensor.shape.size() == 3 && !shares_heads(tensor.shape[0])))
      tensors_.refuse(whole,
                      shape_text({queries, keys}) + " or " +
                          shape_text({layer_.heads(), queries, keys}) +
                          ", or as many blocks as cover them" +
                          (stated_ ? ": " + shape_text({rows_of(*stated_), cols_of(*stated_)}) +
                                         " of the stated block_size"
                                   : ""));
    out_.block = *block;
    out_.mask = matrices(tensor);
  }

  std::optional<Lengths> fitting(Lengths block, Index down, Index across) const {
    if (rows_of(block) != down || cols_of(block) != across) return {};
    return block;
  }

  void read_blocks(std::string_view counts_word, std::string_view indices_word, ListTensors& to) {
    const NamedTensor *all_counts = find(counts_word), *all = find(indices_word);
    if (!all) return;
    if (!all_counts)
      throw InputError(tensors_.file().path, fovea::quoted(all->name) + " without " +
                                                 std::string(counts_word) + "; expected both");
    require_whole_numbers(*all);
    require_whole_numbers(*all_counts);
    const NamedTensor lists = tensors_.of_batch(*all, 3),
                      counts = tensors_.of_batch(*all_counts, 2);
    if (!of_rank(lists, 2, 3)) refuse_blocks(*all);
    const Index down = lists.shape[lists.shape.size() - 2], most = lists.shape.back();
    // Lists may be shorter than all blocks of keys, so that other blocks would be guessed.
    const auto block = stated_ ? stated_ : common_block_of(layer_.lengths(), down, most);
    if (!block || rows_of(*block) != down ||
        (lists.shape.size() == 3 && !shares_heads(lists.shape[0])))
      refuse_blocks(*all);
    if (out_.partial.present() && *block != out_.block) refuse_blocks(*all);
    std::vector<Index> expected(lists.shape.begin(), lists.shape.end() - 1);
    if (counts.shape != expected) tensors_.refuse(*all_counts, shape_text(expected));
    out_.block = *block;
    to = {
        .where = where(*all_counts), .entries = matrices(lists), .counts = vectors(counts, false)};
  }

  [[noreturn]] void refuse_blocks(const NamedTensor& tensor) const {
    if (!stated_)
      tensors_.refuse(tensor,
                      "[queries / b,keys / b] with a power of two b, or with heads before them, or "
                      "block_size beside it");
    tensors_.refuse(tensor, shapes_text({std::to_string(rows_of(*stated_)), "most blocks"}));
  }

  void read_keys(const NamedTensor& whole) {
    require_whole_numbers(whole);
    const NamedTensor tensor = tensors_.of_batch(whole, 3);
    if (!of_rank(tensor, 2, 3) || tensor.shape[tensor.shape.size() - 2] != layer_.queries() ||
        (tensor.shape.size() == 3 && !shares_heads(tensor.shape[0])))
      tensors_.refuse(whole, shapes_text({std::to_string(layer_.queries()), "most keys"}));
    out_.lists = {.where = where(whole), .entries = matrices(tensor)};
  }

  void read_block_lists(const NamedTensor& whole) {
    require_whole_numbers(whole);
    if (!stated_)
      throw InputError(tensors_.file().path,
                       fovea::quoted(whole.name) + " without block_size; expected both");
    NamedTensor tensor = tensors_.of_batch(whole, 3);
    const Index by_query = layer_.queries(), by_block = rows_of(*stated_);
    const auto fits = [&](Index heads, Index rows) {
      return shares_heads(heads) && (rows == by_query || rows == by_block);
    };
    const bool of_heads = tensor.shape.size() == 3;
    if (of_heads && !fits(tensor.shape[0], tensor.shape[1]) &&
        fits(tensor.shape[1], tensor.shape[0])) {
      std::swap(tensor.shape[0], tensor.shape[1]);
      std::swap(tensor.strides[0], tensor.strides[1]);
    }
    if (!of_rank(tensor, 2, 3) ||
        !fits(of_heads ? tensor.shape[0] : 1, tensor.shape[tensor.shape.size() - 2]))
      tensors_.refuse(whole,
                      shapes_text({std::to_string(by_query) + " or " + std::to_string(by_block),
                                   "most blocks"}));
    out_.lists = {.where = where(whole), .entries = matrices(tensor)};
    out_.block = {out_.lists.entries.rows == by_block ? stated_->queries : 1, stated_->keys};
  }

  void read_compressed(const NamedTensor& all_begins, const NamedTensor& all) {
    require_whole_numbers(all_begins);
    require_whole_numbers(all);
    const NamedTensor begins = tensors_.of_batch(all_begins, 2), lists = tensors_.of_batch(all, 2);
    const Lengths pairs{1, 1};
    const auto has_rows_of = [&](const Lengths& block) {
      return of_rank(begins, 1, 2) && begins.shape.back() == rows_of(block) + 1;
    };
    if (!has_rows_of(pairs) && !(stated_ && has_rows_of(*stated_)))
      tensors_.refuse(all_begins, shapes_text({std::to_string(rows_of(pairs) + 1)}) +
                                      (stated_ ? "; or " + std::to_string(rows_of(*stated_) + 1) +
                                                     " of the stated block_size"
                                               : ""));
    const bool of_heads = begins.shape.size() == 2;
    if (of_heads && !shares_heads(begins.shape[0]))
      tensors_.refuse(all_begins, "one for each of " + heads_text() + " heads");
    if (lists.shape.size() != begins.shape.size() || lists.shape.back() < 1 ||
        (of_heads && lists.shape[0] != begins.shape[0]))
      tensors_.refuse(all, (of_heads ? "[" + std::to_string(begins.shape[0]) + ",entries]"
                                     : std::string("[entries]")));
    out_.block = has_rows_of(pairs) ? pairs : *stated_;
    out_.lists = {.where = where(all_begins),
                  .entries = vectors(lists, true),
                  .begins = vectors(begins, true)};
  }

  const TensorsByWord& found_;
  const LayerTensors& tensors_;
  const Layer& layer_;
  const std::optional<Lengths> stated_;
  SelectionTensors out_;
};

}  // namespace

bool may_be_selection(const std::string& name) {
  return ends_in(name, selection_words);
}

SelectionTensors selection_of(const TensorsByWord& found, const LayerTensors& tensors,
                              const Layer& layer, const std::vector<std::string>& prefixes) {
  return SelectionReader(found, tensors, layer, prefixes).read();
}

}  // namespace fovea
