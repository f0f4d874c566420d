#include "analysis/other_heads.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>

#include "backend/operator.h"
#include "data/attended_row.h"
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

class OtherHeads {
 public:
  OtherHeads(const Problem& head, const ImportedTensors& tensors, const ImportedResult& result,
             Run& run)
      : head_(head), tensors_(tensors), result_(result), run_(run), own_(head) {
    own_.imported = nullptr;
    if (tensors_.kept.present()) own_.mask = kept_mask(head_.mask, head_.imported->head);
  }

  std::vector<OtherHead> all() {
    std::vector<OtherHead> all;
    const bool kept = tensors_.kept.present();
    const std::string pairs = kept ? "the softmax over the kept pairs" : "exact attention";
    if (kept) {
      Problem dense = head_;
      dense.imported = nullptr;
      all.push_back({std::move(dense), "exact attention over all pairs"});
    }
    if (head_.causal || head_.window > 0 || head_.mask) {
      Problem open = own_;
      open.causal = false;
      open.window = 0;
      open.mask = kept ? kept_mask(nullptr, head_.imported->head) : nullptr;
      all.push_back({open, pairs + " without the " + conditions_words() + " of the head"});
      open.mask = nullptr;
      if (kept)
        all.push_back(
            {open, "attention over all pairs, without the " + conditions_words() + " of the head"});
    }
    if (head_.window > 0 && head_.causal) {
      Problem causal = own_;
      causal.window = 0;
      all.push_back({std::move(causal), pairs + " without the sliding window"});
    }
    if (!head_.causal && head_.queries() <= head_.keys()) {
      Problem causal = own_;
      causal.causal = true;
      all.push_back({std::move(causal), pairs + " under a causal mask"});
    }
    if (kept) add_other_masks(all);
    add_other_rules(all, pairs);
    add_other_keys(all, pairs);
    return all;
  }

 private:
  std::shared_ptr<const PairMask> kept_mask(const std::shared_ptr<const PairMask>& mask,
                                            Index head) const {
    return pairs_of(read_selection(tensors_.kept, head, head_.lengths(), run_.stop), mask,
                    run_.stop);
  }

  /// Whether a mask of the head's pairs takes little memory and time: 128 MiB at most.
  bool few_pairs() const {
    return static_cast<double>(head_.queries()) * static_cast<double>(head_.keys()) <= 0x1p30;
  }

  std::string conditions_words() const {
    std::vector<std::string> names;
    if (head_.causal) names.push_back("causal mask");
    if (head_.window > 0) names.push_back("sliding window");
    if (head_.mask) names.push_back("mask of pairs");
    return join(names, {}, " and ");
  }

  void add_other_masks(std::vector<OtherHead>& all) {
    const BitMatrix& pairs = own_.mask->pairs();
    if (pairs.rows() == pairs.cols() && few_pairs()) {
      const auto plain = kept_mask(nullptr, head_.imported->head);
      BitMatrix turned(pairs.rows(), pairs.cols());
      for (Index i = 0; i < pairs.rows(); ++i) {
        run_.check();
        for (Index j = 0; j < pairs.cols(); ++j)
          if (plain->pairs()(j, i) && (!head_.mask || head_.mask->admits(i, j))) turned.set(i, j);
      }
      Problem head = own_;
      head.mask = std::make_shared<const PairMask>(std::vector<std::int32_t>(),
                                                   std::vector<std::int32_t>(), std::move(turned));
      all.push_back({std::move(head),
                     "the softmax over the kept pairs with queries and keys "
                     "exchanged, a mask along the wrong axis"});
    }
    const auto& kept = tensors_.kept;
    const Index lists =
        std::max({kept.mask.heads, kept.lists.entries.heads, kept.partial.entries.heads});
    if (lists == 1 || head_.imported->head == 0) return;
    Problem head = own_;
    head.mask = kept_mask(head_.mask, 0);
    all.push_back({std::move(head),
                   "the softmax over the kept pairs of head 0: one mask for all "
                   "heads"});
  }

  void add_other_rules(std::vector<OtherHead>& all, const std::string& pairs) {
    const double standard = 1 / std::sqrt(static_cast<double>(head_.d()));
    for (const auto& [scale, words] :
         {std::pair{1.0, " with scale 1"}, std::pair{standard, " with scale 1/sqrt(d)"},
          std::pair{head_.scale * std::numbers::ln2, " by powers of 2 in place of e"}}) {
      if (std::abs(scale / head_.scale - 1) < 1e-6) continue;
      Problem scaled = own_;
      scaled.scale = scale;
      all.push_back({std::move(scaled), pairs + words});
    }
    if (!head_.rule) return;
    if (head_.rule->sink)
      all.push_back({with_rule(own_, [](LogitRule& rule) { rule.sink.reset(); }),
                     pairs + " without the sink"});
    if (head_.rule->soft_cap > 0)
      all.push_back({with_rule(own_, [](LogitRule& rule) { rule.soft_cap = 0; }),
                     pairs + " without the soft cap"});
    if (head_.rule->has_bias())
      all.push_back({with_rule(own_,
                               [](LogitRule& rule) {
                                 rule.by_distance.clear();
                                 rule.by_key.clear();
                                 rule.bias = Matrix();
                               }),
                     pairs + " without the biases"});
  }

  void add_other_keys(std::vector<OtherHead>& all, const std::string& pairs) {
    const ImportedResults& layer = *head_.imported;
    const Index shared = layer.k.heads;
    if (shared > 1 && shared < layer.heads) {
      const Index tiled = layer.head % shared, own = layer.head / (layer.heads / shared);
      if (tiled != own)
        all.push_back(
            {with_keys(own_, layer.k.read(tiled, run_.stop), layer.v.read(tiled, run_.stop)),
             pairs + " with key head " + std::to_string(tiled) + " in place of " +
                 std::to_string(own) +
                 ": query heads that share keys are taken as tiled, not as neighbours"});
    }
    if (auto padded = with_padded_keys()) all.push_back(std::move(*padded));
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
  Run& run_;
  Problem own_;  // with the kept pairs as its mask
};

}  // namespace

std::vector<OtherHead> other_heads(const Problem& head, const ImportedTensors& tensors,
                                   const ImportedResult& result, Run& run) {
  return OtherHeads(head, tensors, result, run).all();
}

}  // namespace fovea
