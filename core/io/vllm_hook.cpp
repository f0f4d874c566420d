#include "io/vllm_hook.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <utility>

#include "data/error.h"
#include "data/number_text.h"
#include "data/stop.h"
#include "io/file_bytes.h"
#include "io/folder.h"
#include "io/json_place.h"

namespace fovea {
namespace {

std::string sidecar_of(const TensorFile& file) {
  return std::filesystem::path(file.path).replace_extension(".json").string();
}

std::string shape_of(const NamedTensor& tensor) {
  return fovea::quoted(tensor.name) + " has shape " + shape_text(tensor.shape);
}

constexpr const char* positive = "a whole number above 0";

Index count_in(const JsonPlace& object, const char* key) {
  return object.at(key, positive).whole(1, positive);
}

std::vector<Index> counts_of(const JsonPlace& list) {
  std::vector<Index> out;
  for (const JsonPlace& item : list.items("a list of lengths"))
    out.push_back(item.whole(1, positive));
  return out;
}

/// Empty if it is absent.
std::vector<Index> counts_in(const JsonPlace& object, const char* key) {
  const auto list = object.find(key);
  return list ? counts_of(*list) : std::vector<Index>();
}

/// Rows of one member of the batch. A query is the last of the keys that it sees.
struct Piece {
  Index member = 0, run = 0;  // run: number of the piece's run, if a member has several that do not
                              // follow each other
  IndexRange queries, keys;   // rows of the member; of the whole tensor in the compact form
};

class HookReader {
 public:
  HookReader(const TensorFile& file, Source& source, const std::stop_token& stop)
      : file_(file), path_(sidecar_of(file)), source_(source), stop_(stop) {
    for (const NamedTensor& tensor : file.tensors) tensors_.try_emplace(tensor.name, &tensor);
  }

  void read() {
    if (!is_there(path_))
      throw InputError(file_.path, "tensors are called as vLLM-Hook calls them, as " +
                                       fovea::quoted(file_.tensors.front().name) + ", but " +
                                       path_ +
                                       " is not there; expected this file, which says "
                                       "their heads and lengths");
    const auto sidecar = std::make_shared<const FileBytes>(path_);
    const Json document = parse_json(path_, sidecar->text(stop_), stop_);
    source_.files.push_back(sidecar);
    const JsonPlace root(path_, document);
    constexpr const char* layers = "a list of layers";
    const JsonPlace order = root.at("layer_order", layers), config = root.at("config", "an object");
    const std::vector<JsonPlace> items = order.items(layers);
    if (items.empty()) throw order.refusal(layers);
    std::map<std::string, Index> numbered;  // layers of one number
    for (const JsonPlace& item : items) ++numbered[number_of(item.value())];
    for (const JsonPlace& item : items) {
      check_stop(stop_);
      const std::string number = number_of(item.value());
      const bool known = !number.empty() && numbered[number] == 1;
      add(root, config, item,
          known ? "layer" + number : printable(item.at("module_name").as<std::string>()));
    }
    source_.layout = "as " + std::filesystem::path(path_).filename().string() + " says";
    source_.causal = true;
  }

 private:
  struct Heads {
    Index queries = 0, keys = 0, d = 0;
  };

  static std::string number_of(const Json& item) {
    const auto number = item.is_object() ? item.find("layer_num") : item.end();
    return item.is_object() && number != item.end() && number->is_number_unsigned() ? number->dump()
                                                                                    : std::string();
  }

  const NamedTensor& tensor(const JsonPlace& name) const {
    const auto found = tensors_.find(name.as<std::string>());
    if (found == tensors_.end()) throw name.refusal("a tensor of " + file_.path);
    require_float(file_, *found->second);
    return *found->second;
  }

  void add(const JsonPlace& root, const JsonPlace& config, const JsonPlace& item,
           const std::string& name) {
    const NamedTensor &q = tensor(item.at("key_q")), &k = tensor(item.at("key_k"));
    const auto own = item.find("hookq_mode"), mode = own ? own : root.find("hookq_mode");
    const bool last = mode && mode->as<std::string>() == "last_token";
    if (mode && !last && mode->value() != "all_tokens")
      throw mode->refusal("all_tokens or last_token");
    const auto compact = root.find("compact_all_tokens");
    const bool joined = !last && compact && compact->value() == true;
    require_rank(q, last || joined ? 2 : 3);
    require_rank(k, joined ? 2 : 3);
    const std::vector<Piece> pieces = joined ? joined_pieces(root, q, k) : padded(root, q, k, last);
    const Heads heads = heads_of(config, root, q, k);
    const bool batch = pieces.back().member > 0;
    const bool runs = std::ranges::any_of(pieces, [](const Piece& p) { return p.run > 0; });
    for (const Piece& piece : pieces) {
      Layer layer{.name = name};
      if (batch) layer.name += " batch" + std::to_string(piece.member);
      if (runs) layer.name += " part" + std::to_string(piece.run);
      layer.q = rows_of(q, joined ? 0 : piece.member, piece.queries, heads.queries, heads.d);
      layer.k = rows_of(k, joined ? 0 : piece.member, piece.keys, heads.keys, heads.d);
      source_.layers.push_back(std::move(layer));
    }
  }

  void require_rank(const NamedTensor& tensor, std::size_t rank) const {
    if (tensor.shape.size() != rank || std::ranges::find(tensor.shape, 0) != tensor.shape.end())
      throw InputError(file_.path, shape_of(tensor) + "; expected " +
                                       (rank == 2 ? "[tokens,heads d]" : "[B,tokens,heads d]") +
                                       ", none of them 0, as " + path_ + " says");
  }

  // ---- Lengths ----------------------------------------------------------------------------------

  /// The length of each member of a padded tensor. All of it if none are stated.
  std::vector<Index> lengths(const JsonPlace& root, const char* key,
                             const NamedTensor& tensor) const {
    const Index members = tensor.shape[0], longest = tensor.shape[1];
    const char* stated = root.find(key) ? key : "seq_lens";  // as older files call them
    std::vector<Index> out = counts_in(root, stated);
    if (out.empty()) out.assign(members, longest);
    const bool fit = std::ranges::all_of(out, [&](Index n) { return n <= longest; });
    if (std::ssize(out) != members || !fit)
      throw InputError(
          path_, fovea::quoted(stated) + " lists " + plural(std::ssize(out), "length") +
                     ", the longest " + std::to_string(std::ranges::max(out)) + ", but " +
                     shape_of(tensor) + "; expected a length of at most " +
                     std::to_string(longest) + " for each of its " + plural(members, "member"));
    return out;
  }

  std::vector<Piece> padded(const JsonPlace& root, const NamedTensor& q, const NamedTensor& k,
                            bool last) const {
    if (q.shape[0] != k.shape[0])
      throw InputError(file_.path, shape_of(q) + ", " + shape_of(k) + "; expected the same batch");
    const std::vector<Index> keys = lengths(root, "k_seq_lens", k),
                             queries = last ? std::vector<Index>(keys.size(), 1)
                                            : lengths(root, "q_seq_lens", q);
    std::vector<Piece> pieces;
    for (Index b = 0; b < k.shape[0]; ++b) {
      const auto at = static_cast<std::size_t>(b);
      // If one query of each member was kept, q has no axis of queries.
      const Index first = last ? b : 0;
      pieces.push_back(
          {.member = b, .queries = {first, first + queries[at]}, .keys = {0, keys[at]}});
      require_last(pieces.back());
    }
    return pieces;
  }

  void require_last(const Piece& piece) const {
    if (piece.queries.size() > piece.keys.size())
      throw InputError(path_, "member " + std::to_string(piece.member) + " of the batch has " +
                                  Lengths{piece.queries.size(), piece.keys.size()}.text() +
                                  "; expected the queries to be the last of their keys");
  }

  void require_sum(const char* key, const std::vector<Index>& lengths,
                   const NamedTensor& tensor) const {
    const Index sum = std::accumulate(lengths.begin(), lengths.end(), Index{0});
    if (sum != tensor.shape[0])
      throw InputError(path_, fovea::quoted(key) + " adds up to " + std::to_string(sum) + ", but " +
                                  shape_of(tensor) + "; expected " +
                                  std::to_string(tensor.shape[0]));
  }

  /// One member after another, all of its query pieces together.
  std::vector<Piece> joined_pieces(const JsonPlace& root, const NamedTensor& q,
                                   const NamedTensor& k) const {
    constexpr const char* lists = "a list of lists of lengths";
    const std::vector<Index> queries = counts_in(root, "q_seq_lens"),
                             keys = counts_in(root, "k_full_lens");
    std::vector<std::vector<Index>> ends;
    for (const JsonPlace& list : root.at("k_prefix_ends", lists).items(lists))
      ends.push_back(counts_of(list));
    require_sum("q_seq_lens", queries, q);
    require_sum("k_full_lens", keys, k);
    const std::size_t steps = std::accumulate(
        ends.begin(), ends.end(), std::size_t{0},
        [](std::size_t sum, const std::vector<Index>& of) { return sum + of.size(); });
    if (ends.size() != keys.size() || steps != queries.size())
      throw InputError(path_, "'k_prefix_ends' lists " + std::to_string(steps) + " ends of " +
                                  plural(std::ssize(ends), "member") + "; expected " +
                                  std::to_string(queries.size()) + ", as 'q_seq_lens' has, of " +
                                  std::to_string(keys.size()) + ", as 'k_full_lens' has");
    std::vector<Piece> pieces;
    Index query = 0, key = 0;
    auto length = queries.begin();
    for (std::size_t m = 0; m < keys.size(); key += keys[m], ++m) {
      Index run = 0;
      for (const Index end : ends[m]) {
        if (end > keys[m])
          throw InputError(path_, "'k_prefix_ends[" + std::to_string(m) + "]' has " +
                                      std::to_string(end) + "; expected at most " +
                                      std::to_string(keys[m]) + ", as 'k_full_lens' has");
        const IndexRange now{query, query += *length++};
        const bool follows = run > 0 && end - now.size() == pieces.back().keys.size();
        if (follows) {
          pieces.back().queries.end = now.end;
          pieces.back().keys.end = key + end;
        } else {
          pieces.push_back({static_cast<Index>(m), run++, now, {key, key + end}});
        }
        require_last(pieces.back());
      }
    }
    return pieces;
  }

  // ---- Heads ------------------------------------------------------------------------------------

  /// The counts are those of the model. Under tensor parallelism the file holds the heads of one
  /// rank, as `tp_shard` says; in older files without it, heads are as wide as `head_dim`. Some
  /// versions state hidden_size / heads as `head_dim` for models whose heads are wider.
  Heads heads_of(const JsonPlace& config, const JsonPlace& root, const NamedTensor& q,
                 const NamedTensor& k) {
    const Index q_width = q.shape.back(), k_width = k.shape.back();
    Heads heads;
    if (const auto shard = root.find("tp_shard")) {
      heads = {count_in(*shard, "num_local_q_heads"), count_in(*shard, "num_local_kv_heads"),
               count_in(*shard, "head_dim")};
    } else {
      const Index all = count_in(config, "num_attention_heads");
      heads = {all,
               config.find("num_key_value_heads") ? count_in(config, "num_key_value_heads") : all,
               config.find("head_dim") ? count_in(config, "head_dim")
                                       : count_in(config, "hidden_size") / all};
      if (q_width > heads.queries * heads.d)
        heads.d = q_width / heads.queries;
      else if (q_width < heads.queries * heads.d)
        heads = {q_width / heads.d, k_width / heads.d, heads.d};
    }
    if (heads.queries * heads.d != q_width || heads.keys * heads.d != k_width || heads.keys == 0 ||
        heads.queries % heads.keys != 0)
      throw InputError(path_, "says " + plural(heads.queries, "query head") + " and " +
                                  plural(heads.keys, "key head") + " of width " +
                                  std::to_string(heads.d) + ", but " + shape_of(q) + " and " +
                                  shape_of(k) +
                                  "; expected these widths, and key heads that divide the query "
                                  "heads");
    state_scale(config, heads);
    state_share(config, heads);
    return heads;
  }

  /// If head_dim differs from the heads' width, 1/sqrt(head_dim) is not the model's scale.
  void state_scale(const JsonPlace& config, const Heads& heads) {
    const auto factor = config.find("attention_multiplier");
    if (!factor) return;
    const double scale = factor->value().is_number() ? factor->as<double>() : 0;
    if (!condition::scale.allows(scale)) throw factor->refusal("a number above 0");
    const double of_stated =
        config.find("head_dim") ? 1 / std::sqrt(count_in(config, "head_dim")) : 0;
    const bool derived = std::abs(scale - of_stated) < 1e-6 * scale;
    source_.scale = derived ? 1 / std::sqrt(heads.d) : scale;
  }

  void state_share(const JsonPlace& config, const Heads& heads) {
    const Index all = config.find("num_attention_heads") ? count_in(config, "num_attention_heads")
                                                         : heads.queries;
    if (all == heads.queries || told_) return;
    told_ = true;
    source_.notes.push_back("The file has " + std::to_string(heads.queries) + " of the model's " +
                            plural(all, "head") +
                            ": those of one rank of a tensor-parallel model, counted from 0.");
  }

  static HeadTensor rows_of(const NamedTensor& tensor, Index member, IndexRange rows, Index heads,
                            Index d) {
    const std::size_t rank = tensor.shape.size();
    const Index row = tensor.strides[rank - 2], element = tensor.strides[rank - 1];
    return {.type = *tensor.type,
            .big_endian = tensor.big_endian,
            .bytes = tensor.bytes,
            .begin = tensor.begin + (rank == 3 ? member * tensor.strides[0] : 0) + rows.begin * row,
            .heads = heads,
            .rows = rows.size(),
            .cols = d,
            .head_stride = d * element,
            .row_stride = row,
            .col_stride = element};
  }

  const TensorFile& file_;
  const std::string path_;  // of the sidecar
  std::map<std::string_view, const NamedTensor*> tensors_;
  Source& source_;
  const std::stop_token& stop_;
  bool told_ = false;
};

}  // namespace

bool is_vllm_hook(const TensorFile& file) {
  return file.kind == "safetensors" && !file.tensors.empty() &&
         std::ranges::all_of(file.tensors, [](const NamedTensor& tensor) {
           return tensor.name.ends_with("__q") || tensor.name.ends_with("__k");
         });
}

void add_vllm_hook_layers(const TensorFile& file, Source& source, const std::stop_token& stop) {
  HookReader(file, source, stop).read();
}

}  // namespace fovea
