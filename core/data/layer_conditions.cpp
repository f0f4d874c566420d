#include "data/layer_conditions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/error.h"
#include "data/layer_recurrence.h"
#include "data/number_text.h"
#include "data/stop.h"
#include "data/text.h"

namespace fovea {
namespace {

constexpr auto most_bias = static_cast<float>(logit_limit);

/// Whether a bias excludes its pair: it is -Inf, or so far below 0 that it swamps every logit in
/// fp32, such as the lowest float, with which models write a mask.
bool excludes(float bias) {
  return bias < -most_bias;
}

/// The matrix of a head, or the one that all heads share.
Matrix matrix_of(const HeadTensor& tensor, Index head, const std::stop_token& stop) {
  return tensor.read(tensor.heads == 1 ? 0 : head, stop);
}

std::string number_or_name(float x) {
  return std::isnan(x) ? "NaN" : std::isinf(x) ? (x > 0 ? "Inf" : "-Inf") : format_plain(double{x});
}

void check_bias(const Matrix& bias, const std::string& where, const std::stop_token& stop) {
  for_each_row(bias.rows(), stop, [&](Index i) {
    for (Index j = 0; j < bias.cols(); ++j)
      if (!(bias(i, j) <= most_bias))
        throw InputError(where, "bias at [" + std::to_string(i) + "," + std::to_string(j) +
                                    "] is " + number_or_name(bias(i, j)) +
                                    "; expected numbers up to 1e30, or -Inf where a pair does not "
                                    "count");
  });
}

/// Whether entries depend on i - j alone, as relative positions do.
bool depends_on_distance(const Matrix& bias, const std::stop_token& stop) {
  for (Index i = 1; i < bias.rows(); ++i) {
    check_stop(stop);
    for (Index j = 1; j < bias.cols(); ++j)
      if (bias(i, j) != bias(i - 1, j - 1)) return false;
  }
  return bias.rows() > 1;
}

void add_bias(const Matrix& bias, const Problem& problem, LogitRule& rule,
              const std::stop_token& stop) {
  const Index queries = problem.queries(), keys = problem.keys();
  if (bias.rows() == 1) {
    rule.by_key.assign(bias.row(0), bias.row(0) + keys);
    return;
  }
  if (depends_on_distance(bias, stop)) {
    rule.by_distance.resize(queries + keys - 1);
    for (Index j = 0; j < keys; ++j) rule.by_distance[keys - 1 - j] = bias(0, j);
    for (Index i = 1; i < queries; ++i) rule.by_distance[i + keys - 1] = bias(i, 0);
    return;
  }
  rule.bias = Matrix::unwritten(keys, queries);
  for_each_row(keys, stop, [&](Index j) {
    for (Index i = 0; i < queries; ++i) rule.bias(j, i) = bias(i, j);
  });
}

void add_slope(float slope, const Problem& problem, LogitRule& rule, const std::string& where) {
  const Index queries = problem.queries(), keys = problem.keys();
  const float most_slope = most_bias / static_cast<float>(queries + keys);
  if (!(std::abs(slope) <= most_slope))
    throw InputError(where, "the ALiBi slope of head " + std::to_string(problem.head) + " is " +
                                number_or_name(slope) + "; expected a magnitude up to " +
                                number_or_name(most_slope) + ", for biases up to 1e30");
  rule.by_distance.resize(queries + keys - 1);
  for (Index x = 0; x < queries + keys - 1; ++x)
    rule.by_distance[x] -= slope * static_cast<float>(x - (keys - 1) + keys - queries);
}

double sink_of(float sink, const Problem& problem, const std::string& where) {
  if (!(std::abs(sink) <= most_bias))
    throw InputError(where, "the sink of head " + std::to_string(problem.head) + " is " +
                                number_or_name(sink) + "; expected a magnitude up to 1e30");
  return double{sink};
}

Selection chosen_of(const LayerConditions& conditions, const Problem& problem,
                    const std::stop_token& stop) {
  const SelectionTensors& tensors = conditions.chosen_entries;
  const Index count = conditions.compressed->count();
  Selection chosen = read_selection(tensors, problem.head, {problem.queries(), count}, stop);
  if (const ListFaults faults = list_faults(chosen, stop); faults.outside > 0)
    throw InputError(tensors.lists.where, "row " + std::to_string(faults.row_of_first) +
                                              " lists the entry " +
                                              std::to_string(faults.first_outside) +
                                              "; expected -1 to " + std::to_string(count - 1));
  return chosen;
}

/// The causal mask and the window count tokens: as conditions of the head they would count entries,
/// too, and so they become pairs of its mask.
void add_entries(Problem& problem, const LayerConditions& conditions, const std::string& where,
                 const std::stop_token& stop) {
  for (const auto& [found, what] : {std::pair{!conditions.documents.empty(), "documents"},
                                    std::pair{!conditions.alibi.empty(), "ALiBi slopes"},
                                    std::pair{conditions.recurrence.present(), "a recurrence"}})
    if (found)
      throw InputError(where, conditions.compressed->count_text() + " beside " + what +
                                  "; expected one of them");
  auto entries = std::make_shared<CompressedEntries>(*conditions.compressed);
  entries->causal = std::exchange(problem.causal, false);
  entries->window = std::exchange(problem.window, 0);
  entries->mask = std::exchange(problem.mask, nullptr);
  if (conditions.chosen_entries.present())
    entries->chosen = std::make_shared<const Selection>(chosen_of(conditions, problem, stop));
  problem.mask = pairs_of(entries, problem.queries());
  problem.compressed = std::move(entries);
}

/// Collects what excludes pairs and makes the mask of a head.
class MaskMaker {
 public:
  MaskMaker(const Problem& problem, const std::stop_token& stop)
      : queries_(problem.queries()), keys_(problem.keys()), stop_(stop) {}

  void add_documents(const std::vector<std::int32_t>& documents) {
    if (documents.empty()) return;
    key_document_ = documents;
    query_document_.assign(documents.end() - queries_, documents.end());
  }
  /// excluded(i, j) of a matrix with one row for all queries, or one for each.
  template <class Excluded>
  void exclude(Index rows, Excluded excluded) {
    if (rows == 1) {
      for (Index j = 0; j < keys_; ++j)
        if (excluded(Index{0}, j)) pad(j);
      return;
    }
    if (pairs_.empty()) {
      pairs_ = BitMatrix(queries_, keys_);
      for_each_row(queries_, stop_, [&](Index i) {
        for (Index j = 0; j < keys_; ++j) pairs_.set(i, j);
      });
    }
    for_each_row(queries_, stop_, [&](Index i) {
      for (Index j = 0; j < keys_; ++j)
        if (excluded(i, j)) pairs_.clear(i, j);
    });
  }
  std::shared_ptr<const PairMask> mask() {
    if (query_document_.empty() && pairs_.empty()) return nullptr;
    return std::make_shared<const PairMask>(std::move(query_document_), std::move(key_document_),
                                            std::move(pairs_));
  }

 private:
  void pad(Index key) {
    if (key_document_.empty()) {
      query_document_.assign(queries_, 0);
      key_document_.assign(keys_, 0);
    }
    key_document_[key] = PairMask::padding;
  }

  Index queries_, keys_;
  const std::stop_token& stop_;
  std::vector<std::int32_t> query_document_, key_document_;
  BitMatrix pairs_;
};

}  // namespace

std::string LayerConditions::text() const {
  std::string text;
  const auto add = [&](bool present, const std::string& words) {
    if (present) add_item(text, words);
  };
  add(window.has_value(), "a sliding window of " + std::to_string(window.value_or(0)));
  add(soft_cap.has_value(), "a soft cap of " + format_plain(soft_cap.value_or(0)));
  add(!documents.empty(), "documents");
  add(mask.present() && mask.rows == 1, "padding");
  add(mask.present() && mask.rows > 1, "a mask of pairs");
  add(bias.present(), bias.rows == 1 ? "a bias of keys" : "a bias of pairs");
  add(!alibi.empty(), "ALiBi slopes");
  add(!sinks.empty(), "sinks");
  add(recurrence.present(), "a recurrence in place of a softmax");
  if (compressed)
    add(true,
        compressed->count_text() + (chosen_entries.present() ? ", chosen for each query" : ""));
  return text;
}

HeadConditions conditions_of(const Problem& problem) {
  return {.causal = problem.is_causal(),
          .scale = problem.scale,
          .window = problem.compressed ? problem.compressed->window : problem.window,
          .soft_cap = problem.rule ? problem.rule->soft_cap : 0};
}

std::string conditions_text(const Problem& problem) {
  std::string text;
  if (const Index window = *conditions_of(problem).window; window > 0)
    text += ", sliding window " + std::to_string(window);
  if (problem.compressed) text += ", " + problem.compressed->count_text();
  if (problem.mask) {
    const auto& keys = problem.mask->key_document();
    const bool padded = std::ranges::find(keys, PairMask::padding) != keys.end();
    const bool documents =
        std::ranges::any_of(keys, [](std::int32_t document) { return document > 0; });
    if (documents) text += ", documents";
    if (padded) text += ", padding";
    if (problem.mask->has_pairs() && !problem.compressed) text += ", mask of pairs";
  }
  if (problem.recurrence) text += ", " + problem.recurrence->name();
  if (!problem.rule) return text;
  if (problem.rule->soft_cap > 0) text += ", soft cap " + format_plain(problem.rule->soft_cap);
  if (problem.rule->has_bias()) text += ", biases";
  if (problem.rule->sink) text += ", sink";
  return text;
}

void add_conditions(Problem& problem, const LayerConditions& conditions, double soft_cap,
                    const std::string& where, const std::stop_token& stop) {
  const auto head = static_cast<std::size_t>(problem.head);
  LogitRule rule;
  MaskMaker mask(problem, stop);
  rule.soft_cap = soft_cap;
  mask.add_documents(conditions.documents);
  if (conditions.mask.present()) {
    const Matrix pairs = matrix_of(conditions.mask, problem.head, stop);
    mask.exclude(pairs.rows(), [&](Index i, Index j) { return pairs(i, j) == 0; });
  }
  if (conditions.bias.present()) {
    Matrix bias = matrix_of(conditions.bias, problem.head, stop);
    check_bias(bias, where, stop);
    bool masked = false;
    for_each_row(bias.rows(), stop, [&](Index i) {
      masked |= std::any_of(bias.row(i), bias.row(i) + bias.cols(), excludes);
    });
    if (masked) {
      mask.exclude(bias.rows(), [&](Index i, Index j) { return excludes(bias(i, j)); });
      for_each_row(bias.rows(), stop, [&](Index i) {
        std::replace_if(bias.row(i), bias.row(i) + bias.cols(), excludes, 0.0f);
      });
    }
    add_bias(bias, problem, rule, stop);
  }
  if (!conditions.alibi.empty()) add_slope(conditions.alibi[head], problem, rule, where);
  if (!conditions.sinks.empty()) rule.sink = sink_of(conditions.sinks[head], problem, where);
  problem.mask = mask.mask();
  if (conditions.compressed) add_entries(problem, conditions, where, stop);
  if (!rule.empty()) problem.rule = std::make_shared<const LogitRule>(std::move(rule));
  if (conditions.recurrence.present())
    problem.recurrence = recurrence_of(conditions.recurrence, problem, where, stop);
}

}  // namespace fovea
