#include "analysis/other_heads.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>

#include "analysis/missing_keys.h"
#include "backend/operator.h"
#include "data/attended_row.h"
#include "data/error.h"
#include "data/layer_conditions.h"
#include "data/number_text.h"
#include "data/text.h"

namespace fovea {
namespace {

/// A head with another rule.
template <class Change>
Problem with_rule(const Problem& head, Change change) {
  Problem out = head;
  LogitRule rule{.soft_cap = head.rule->soft_cap,
                 .by_distance = head.rule->by_distance,
                 .by_key = head.rule->by_key,
                 .bias = Matrix::copy_of(head.rule->bias),
                 .sink = head.rule->sink};
  change(rule);
  out.rule = rule.empty() ? nullptr : std::make_shared<const LogitRule>(std::move(rule));
  return out;
}

/// Keys and values of another head.
Problem with_keys(const Problem& head, Matrix k, Matrix v) {
  Problem out = make_problem(Matrix::copy_of(head.q), std::move(k), std::move(v), head.scale,
                             head.causal, head.head);
  out.window = head.window;
  out.mask = head.mask;
  out.rule = head.rule;
  return out;
}

/// A head, and its exact attention in words: "exact attention over all pairs".
struct OtherHead {
  Problem head;
  std::string words;
};

/// The pairs of a head without some keys of some rows.
class PairsWithoutKeys final : public BitRows::Maker {
 public:
  /// `rows` ascend.
  PairsWithoutKeys(const Problem& head, std::span<const Index> rows, const MissingKeys& missing)
      : lengths_(head.lengths()),
        mask_(head.mask),
        rows_(rows.begin(), rows.end()),
        missing_(missing) {}

  void make(Index query, std::uint32_t* bits) const override {
    const bool has_all = !std::ranges::binary_search(rows_, query);
    const IndexRange keys = has_all ? IndexRange{0, 0} : missing_.of(lengths_, query);
    set_bits(bits, {0, keys.begin});
    set_bits(bits, {keys.end, lengths_.keys});
    if (mask_ && mask_->has_pairs()) mask_->pairs().keep_row(query, bits);
  }

 private:
  Lengths lengths_;
  std::shared_ptr<const PairMask> mask_;
  std::vector<Index> rows_;
  MissingKeys missing_;
};

using Maker = std::function<std::optional<OtherHead>()>;

class OtherHeads {
 public:
  OtherHeads(const Problem& head, const ImportedTensors& tensors, const ImportedResult& result,
             std::span<const Index> wrong, Run& run)
      : head_(head), tensors_(tensors), result_(result), wrong_(wrong), run_(run), own_(head) {
    own_.imported = nullptr;
    if (kept_) own_.mask = kept_mask(head_.mask, head_.imported->head);
  }

  /// Each is made when it is tried, so that no two masks of all pairs are held at a time. One that
  /// does not fit into memory is left out.
  std::optional<std::string> first(const std::function<bool(const Problem&)>& fits) {
    for (const Maker& make : makers()) {
      run_.check();
      try {
        const std::optional<OtherHead> other = make();
        if (other && fits(other->head)) return other->words;
      } catch (const UnavailableError&) {
      }
    }
    return {};
  }

 private:
  std::shared_ptr<const PairMask> kept_mask(const std::shared_ptr<const PairMask>& mask,
                                            Index head) const {
    return pairs_of(read_selection(tensors_.kept, head, head_.lengths(), run_.stop), mask);
  }

  /// Whether a mask of the head's pairs takes little memory and time: 128 MiB at most.
  bool few_pairs() const {
    return static_cast<double>(head_.queries()) * static_cast<double>(head_.keys()) <= 0x1p30;
  }

  std::string conditions_words() const {
    std::vector<std::string> names;
    if (head_.is_causal()) names.push_back("causal mask");
    if (*conditions_of(head_).window > 0) names.push_back("sliding window");
    if (head_.compressed ? head_.compressed->mask : head_.mask) names.push_back("mask of pairs");
    if (head_.compressed && head_.compressed->chosen) names.push_back("choice of entries");
    return join(names, {}, " and ");
  }

  /// The likely ones first.
  std::vector<Maker> makers() {
    std::vector<Maker> all;
    add_other_pairs(all);
    if (head_.compressed) add_other_entries(all);
    if (kept_) add_other_masks(all);
    add_other_rules(all);
    add_other_keys(all);
    all.push_back([this] { return without_missing_keys(); });
    return all;
  }

  /// The head after a change.
  template <class Change>
  Maker changed(std::string words, Change change) {
    return [this, words = std::move(words), change] {
      OtherHead other{own_, words};
      change(other.head);
      return std::optional(std::move(other));
    };
  }

  void add_other_pairs(std::vector<Maker>& all) {
    if (kept_)
      all.push_back(changed("exact attention over all pairs",
                            [this](Problem& head) { head.mask = head_.mask; }));
    if (head_.causal || head_.window > 0 || head_.mask) {
      const auto open = [](Problem& head) {
        head.causal = false;
        head.window = 0;
        head.mask = nullptr;
      };
      const std::string without = " without the " + conditions_words() + " of the head";
      all.push_back(changed(pairs_ + without, [this, open](Problem& head) {
        open(head);
        if (kept_) head.mask = kept_mask(nullptr, head_.imported->head);
      }));
      if (kept_) all.push_back(changed("attention over all pairs," + without, open));
    }
    if (head_.window > 0 && head_.causal)
      all.push_back(
          changed(pairs_ + " without the sliding window", [](Problem& head) { head.window = 0; }));
    if (!head_.is_causal() && !head_.compressed && head_.queries() <= head_.keys())
      all.push_back(
          changed(pairs_ + " under a causal mask", [](Problem& head) { head.causal = true; }));
  }

  /// Heads that see other tokens or other compressed entries.
  void add_other_entries(std::vector<Maker>& all) {
    using Entries = CompressedEntries;
    const Entries& own = *head_.compressed;
    const auto add = [&](bool differs, const char* words, auto change) {
      if (!differs) return;
      all.push_back(changed(pairs_ + words, [this, change](Problem& head) {
        auto entries = std::make_shared<Entries>(*head_.compressed);
        change(*entries);
        if (kept_) entries->mask = kept_mask(entries->mask, head_.imported->head);
        head.mask = pairs_of(entries, head.queries());
        head.compressed = std::move(entries);
      }));
    };
    add(!own.causal, " under a causal mask", [](Entries& e) { e.causal = true; });
    add(own.causal, " without the causal mask", [](Entries& e) { e.causal = false; });
    add(own.window > 0, " without the sliding window", [](Entries& e) { e.window = 0; });
    add(true, " without the compressed entries", [](Entries& e) { e.seen = Entries::Seen::none; });
    add(own.causal, " without the causal mask of its compressed entries",
        [](Entries& e) { e.seen = Entries::Seen::all; });
    add(own.chosen != nullptr, " without the choice of compressed entries",
        [](Entries& e) { e.chosen.reset(); });
  }

  void add_other_masks(std::vector<Maker>& all) {
    if (head_.queries() == head_.keys() && few_pairs())
      all.push_back(changed(
          "the softmax over the kept pairs with queries and keys exchanged, a mask along the wrong "
          "axis",
          [this](Problem& head) { head.mask = turned_mask(); }));
    const auto& kept = tensors_.kept;
    const Index lists =
        std::max({kept.mask.heads, kept.lists.entries.heads, kept.partial.entries.heads});
    if (lists == 1 || head_.imported->head == 0) return;
    all.push_back(changed("the softmax over the kept pairs of head 0: one mask for all heads",
                          [this](Problem& head) { head.mask = kept_mask(head_.mask, 0); }));
  }

  std::shared_ptr<const PairMask> turned_mask() {
    const auto plain = kept_mask(nullptr, head_.imported->head);
    const BitRows& pairs = plain->pairs();
    BitMatrix turned(pairs.cols(), pairs.rows());
    for (Index j = 0; j < pairs.rows(); ++j) {
      run_.check();
      for (Index i = 0; i < pairs.cols(); ++i)
        if (pairs(j, i) && (!head_.mask || head_.mask->admits(i, j))) turned.set(i, j);
    }
    return std::make_shared<const PairMask>(std::vector<std::int32_t>(),
                                            std::vector<std::int32_t>(), std::move(turned));
  }

  void add_other_rules(std::vector<Maker>& all) {
    const double standard = 1 / std::sqrt(head_.d());
    for (const auto& [scale, words] :
         {std::pair{1.0, " with scale 1"}, std::pair{standard, " with scale 1/sqrt(d)"},
          std::pair{head_.scale * std::numbers::ln2, " by powers of 2 in place of e"}})
      if (std::abs(scale / head_.scale - 1) >= 1e-6)
        all.push_back(changed(pairs_ + words, [to = scale](Problem& head) { head.scale = to; }));
    if (!head_.rule) return;
    const auto add = [&](bool there, const char* words, auto change) {
      if (there)
        all.push_back(
            changed(pairs_ + words, [change](Problem& head) { head = with_rule(head, change); }));
    };
    add(head_.rule->sink.has_value(), " without the sink",
        [](LogitRule& rule) { rule.sink.reset(); });
    add(head_.rule->soft_cap > 0, " without the soft cap",
        [](LogitRule& rule) { rule.soft_cap = 0; });
    add(head_.rule->has_bias(), " without the biases", [](LogitRule& rule) {
      rule.by_distance.clear();
      rule.by_key.clear();
      rule.bias = Matrix();
    });
  }

  void add_other_keys(std::vector<Maker>& all) {
    const ImportedResults& layer = *head_.imported;
    const Index shared = layer.k.heads;
    if (shared > 1 && shared < layer.heads) {
      const Index tiled = layer.head % shared, own = layer.head / (layer.heads / shared);
      if (tiled != own)
        all.push_back(changed(
            pairs_ + " with key head " + std::to_string(tiled) + " in place of " +
                std::to_string(own) +
                ": query heads that share keys are taken as tiled, not as neighbours",
            [this, &layer, tiled](Problem& head) {
              head =
                  with_keys(head, layer.k.read(tiled, run_.stop), layer.v.read(tiled, run_.stop));
            }));
    }
    all.push_back([this] { return with_padded_keys(); });
  }

  std::optional<OtherHead> without_missing_keys() {
    const auto missing = missing_keys(own_, result_.z, result_.type, wrong_, run_);
    if (!missing) return {};
    OtherHead other{own_, pairs_ + " without " + missing->text(head_.lengths()) + " in these rows"};
    const auto none = std::vector<std::int32_t>();
    const PairMask* mask = own_.mask.get();
    other.head.mask = std::make_shared<const PairMask>(
        mask ? mask->query_document() : none, mask ? mask->key_document() : none,
        BitRows(head_.queries(), head_.keys(),
                std::make_shared<const PairsWithoutKeys>(own_, wrong_, *missing)));
    return other;
  }

  /// Keys of zeros have the logit 0 and the value 0: z is scaled by 1 / (1 + m exp(-lse)).
  std::optional<OtherHead> with_padded_keys() {
    const Problem& head = own_;
    if (!few_pairs() || (head.rule && (head.rule->has_bias() || head.rule->sink))) return {};
    std::vector<double> counts;
    for (const Index i : spread_rows(result_.z.rows(), 64)) {
      const AttendedRow row = attend(head, i);
      double along = 0, square = 0;
      for (std::size_t c = 0; c < row.z.size(); ++c) {
        along += row.z[c] * static_cast<double>(result_.z(i, static_cast<Index>(c)));
        square += row.z[c] * row.z[c];
      }
      if (row.any && along > 0) counts.push_back((square / along - 1) * std::exp(row.lse));
    }
    if (counts.empty()) return {};
    std::ranges::nth_element(counts, counts.begin() + std::ssize(counts) / 2);
    const double median = counts[counts.size() / 2];
    if (!(median >= 0.5 && median < 8 * static_cast<double>(head.keys()))) return {};
    const auto more = static_cast<Index>(std::llround(median));
    const Index keys = head.keys() + more;
    const auto longer = [&](MatrixView m) {
      Matrix out(keys, m.cols);
      for (Index j = 0; j < m.rows; ++j) std::copy_n(m.row(j), m.cols, out.row(j));
      return out;
    };
    BitMatrix admitted(head.queries(), keys);
    for (Index i = 0; i < head.queries(); ++i) {
      run_.check();
      for (Index j = 0; j < keys; ++j)
        if (j >= head.keys() || head.admits(i, j)) admitted.set(i, j);
    }
    Problem padded = with_keys(head, longer(head.k), longer(head.v));
    padded.causal = false;
    padded.window = 0;
    padded.mask = std::make_shared<const PairMask>(
        std::vector<std::int32_t>(), std::vector<std::int32_t>(), std::move(admitted));
    return OtherHead{std::move(padded), "attention with " + plural(more, "more key") +
                                            " of zeros, as padding that no mask leaves out"};
  }

  const Problem& head_;
  const ImportedTensors& tensors_;
  const ImportedResult& result_;
  std::span<const Index> wrong_;
  Run& run_;
  Problem own_;  // with the kept pairs as its mask
  const bool kept_ = tensors_.kept.present();
  const std::string pairs_ = kept_ ? "the softmax over the kept pairs" : "exact attention";
};

}  // namespace

std::optional<std::string> first_of_other_heads(const Problem& head, const ImportedTensors& tensors,
                                                const ImportedResult& result,
                                                std::span<const Index> wrong,
                                                const std::function<bool(const Problem&)>& fits,
                                                Run& run) {
  return OtherHeads(head, tensors, result, wrong, run).first(fits);
}

}  // namespace fovea
