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
#include "io/json.h"

namespace fovea {
namespace {

std::string sidecar_of(const TensorFile& file) {
  return std::filesystem::path(file.path).replace_extension(".json").string();
}

std::string shape_of(const NamedTensor& tensor) {
  return fovea::quoted(tensor.name) + " has shape " + shape_text(tensor.shape);
}

/// Members of an object of the sidecar. Messages call it `name`, "config" or "layer_order[2]".
class Entry {
 public:
  Entry(const std::string& path, std::string name, const Json& object)
      : path_(path), name_(std::move(name)), object_(object) {
    if (!object.is_object())
      throw InputError(path_, (name_.empty() ? "the document" : name_) + " is " + kind_of(object) +
                                  "; expected an object");
  }

  /// Null if it is absent.
  const Json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  const Json& at(const char* key, const char* expected) const {
    if (const Json* value = find(key)) return *value;
    throw InputError(path_, place(key) + " is missing; expected " + expected);
  }
  Index count(const char* key) const { return whole(path(key), at(key, number_)); }
  std::string text(const char* key) const {
    const Json& value = at(key, "a string");
    if (!value.is_string()) refuse(path(key), value, "a string");
    return value.get<std::string>();
  }
  /// Empty if it is absent.
  std::vector<Index> lengths(const char* key) const {
    const Json* value = find(key);
    return value ? whole_numbers(path(key), *value) : std::vector<Index>();
  }
  std::vector<std::vector<Index>> lists(const char* key) const {
    constexpr const char* expected = "a list of lists of lengths";
    const Json& all = at(key, expected);
    if (!all.is_array()) refuse(path(key), all, expected);
    std::vector<std::vector<Index>> out;
    for (const Json& list : all)
      out.push_back(whole_numbers(path(key) + "[" + std::to_string(out.size()) + "]", list));
    return out;
  }
  [[noreturn]] void refuse(const std::string& what, const Json& found, const char* expected) const {
    throw InputError(path_, "'" + what + "' is " + excerpt(found) + "; expected " + expected);
  }
  std::string path(const char* key) const { return name_.empty() ? key : name_ + "." + key; }
  std::string place(const char* key) const { return "'" + path(key) + "'"; }

 private:
  static constexpr const char* number_ = "a whole number above 0";

  Index whole(const std::string& what, const Json& value) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT32_MAX ||
        value.get<Index>() < 1)
      refuse(what, value, number_);
    return value.get<Index>();
  }
  std::vector<Index> whole_numbers(const std::string& what, const Json& list) const {
    if (!list.is_array()) refuse(what, list, "a list of lengths");
    std::vector<Index> out;
    for (const Json& value : list)
      out.push_back(whole(what + "[" + std::to_string(out.size()) + "]", value));
    return out;
  }

  const std::string& path_;
  std::string name_;
  const Json& object_;
};

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
    const Entry root(path_, "", document);
    constexpr const char* layers = "a list of layers";
    const Json& order = root.at("layer_order", layers);
    if (!order.is_array() || order.empty()) root.refuse("layer_order", order, layers);
    const Entry config(path_, "config", root.at("config", "an object"));
    std::map<std::string, Index> numbered;  // layers of one number
    for (const Json& item : order) ++numbered[number_of(item)];
    for (std::size_t l = 0; l < order.size(); ++l) {
      check_stop(stop_);
      const Entry item(path_, "layer_order[" + std::to_string(l) + "]", order[l]);
      const std::string number = number_of(order[l]);
      const bool known = !number.empty() && numbered[number] == 1;
      add(root, config, item, known ? "layer" + number : printable(item.text("module_name")));
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

  const NamedTensor& tensor(const Entry& item, const char* key) const {
    const std::string name = item.text(key);
    const auto found = tensors_.find(name);
    if (found == tensors_.end())
      throw InputError(path_, item.place(key) + " is " + fovea::quoted(name) +
                                  "; expected a tensor of " + file_.path);
    require_float(file_, *found->second);
    return *found->second;
  }

  void add(const Entry& root, const Entry& config, const Entry& item, const std::string& name) {
    const NamedTensor &q = tensor(item, "key_q"), &k = tensor(item, "key_k");
    const Entry& states = item.find("hookq_mode") ? item : root;
    const std::string mode =
        states.find("hookq_mode") ? states.text("hookq_mode") : std::string("all_tokens");
    const bool last = mode == "last_token";
    if (!last && mode != "all_tokens")
      throw InputError(path_, states.place("hookq_mode") + " is " + fovea::quoted(mode) +
                                  "; expected all_tokens or last_token");
    const Json* compact = root.find("compact_all_tokens");
    const bool joined = !last && compact && *compact == true;
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
  std::vector<Index> lengths(const Entry& root, const char* key, const NamedTensor& tensor) const {
    const Index members = tensor.shape[0], longest = tensor.shape[1];
    const char* stated = root.find(key) ? key : "seq_lens";  // as older files call them
    std::vector<Index> out = root.lengths(stated);
    if (out.empty()) out.assign(static_cast<std::size_t>(members), longest);
    const bool fit = std::ranges::all_of(out, [&](Index n) { return n <= longest; });
    if (std::ssize(out) != members || !fit)
      throw InputError(path_, root.place(stated) + " lists " + plural(std::ssize(out), "length") +
                                  ", the longest " + std::to_string(std::ranges::max(out)) +
                                  ", but " + shape_of(tensor) + "; expected a length of at most " +
                                  std::to_string(longest) + " for each of its " +
                                  plural(members, "member"));
    return out;
  }

  std::vector<Piece> padded(const Entry& root, const NamedTensor& q, const NamedTensor& k,
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

  void require_sum(const Entry& root, const char* key, const std::vector<Index>& lengths,
                   const NamedTensor& tensor) const {
    const Index sum = std::accumulate(lengths.begin(), lengths.end(), Index{0});
    if (sum != tensor.shape[0])
      throw InputError(path_, root.place(key) + " adds up to " + std::to_string(sum) + ", but " +
                                  shape_of(tensor) + "; expected " +
                                  std::to_string(tensor.shape[0]));
  }

  /// One member after another, all of its query pieces together.
  std::vector<Piece> joined_pieces(const Entry& root, const NamedTensor& q,
                                   const NamedTensor& k) const {
    const std::vector<Index> queries = root.lengths("q_seq_lens"),
                             keys = root.lengths("k_full_lens");
    const std::vector<std::vector<Index>> ends = root.lists("k_prefix_ends");
    require_sum(root, "q_seq_lens", queries, q);
    require_sum(root, "k_full_lens", keys, k);
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
  Heads heads_of(const Entry& config, const Entry& root, const NamedTensor& q,
                 const NamedTensor& k) {
    const Index q_width = q.shape.back(), k_width = k.shape.back();
    Heads heads;
    if (const Json* shard = root.find("tp_shard")) {
      const Entry its(path_, "tp_shard", *shard);
      heads = {its.count("num_local_q_heads"), its.count("num_local_kv_heads"),
               its.count("head_dim")};
    } else {
      const Index all = config.count("num_attention_heads");
      heads = {
          all, config.find("num_key_value_heads") ? config.count("num_key_value_heads") : all,
          config.find("head_dim") ? config.count("head_dim") : config.count("hidden_size") / all};
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
  void state_scale(const Entry& config, const Heads& heads) {
    const Json* factor = config.find("attention_multiplier");
    if (!factor) return;
    if (!factor->is_number() || !(factor->get<double>() > 0) ||
        !std::isfinite(factor->get<double>()))
      config.refuse(config.path("attention_multiplier"), *factor, "a number above 0");
    const double scale = factor->get<double>();
    const double of_stated =
        config.find("head_dim") ? 1 / std::sqrt(static_cast<double>(config.count("head_dim"))) : 0;
    const bool derived = std::abs(scale - of_stated) < 1e-6 * scale;
    source_.scale = derived ? 1 / std::sqrt(static_cast<double>(heads.d)) : scale;
  }

  void state_share(const Entry& config, const Heads& heads) {
    const Index all =
        config.find("num_attention_heads") ? config.count("num_attention_heads") : heads.queries;
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
