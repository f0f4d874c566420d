#include "report/triaged_heads.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "data/csv_text.h"
#include "data/number_text.h"
#include "data/text.h"

namespace fovea {
namespace {

constexpr HeadPattern all_patterns[] = {HeadPattern::streaming, HeadPattern::vertical_slash,
                                        HeadPattern::block, HeadPattern::full};

/// "vertical_slash".
std::string id_of(HeadPattern pattern) {
  std::string id = pattern_name(pattern);
  std::ranges::replace(id, '-', '_');
  return id;
}

Index count_of(const std::vector<TriagedHeadRow>& heads, HeadPattern pattern) {
  return std::ranges::count_if(
      heads, [&](const TriagedHeadRow& head) { return head.triage.pattern == pattern; });
}

Document pattern_json(HeadPattern pattern, const PatternRecall& its) {
  Document out = pattern == HeadPattern::block
                     ? Document{{"block", its.sizes.block}, {"blocks", its.sizes.blocks}}
                     : Document{{"columns", its.sizes.columns}, {"diagonals", its.sizes.diagonals}};
  out["pairs"] = number_json(its.pairs);
  out["recall"] = number_json(its.recall.value);
  if (its.recall.standard_error > 0)
    out["recall_standard_error"] = number_json(its.recall.standard_error);
  return out;
}

Document row_json(const TriagedHeadRow& head) {
  const TriagedHead& triage = head.triage;
  Document as_good = Document::array(), patterns;
  for (const HeadPattern pattern : triage.as_good) as_good.push_back(id_of(pattern));
  for (const HeadPattern pattern : sparse_patterns)
    patterns[id_of(pattern)] = pattern_json(pattern, triage.of(pattern));
  return {{"layer", head.layer},
          {"layer_label", head.layer_label},
          {"head", head.head},
          {"n", triage.n},
          {"rows", triage.rows},
          {"causal", triage.causal},
          {"pattern", id_of(triage.pattern)},
          {"recall", number_json(triage.recall())},
          {"pairs", number_json(triage.pairs())},
          {"as_good", std::move(as_good)},
          {"near_keep", triage.near_keep},
          {"patterns", std::move(patterns)}};
}

/// The only number in the name of a layer, "layer3".
std::optional<Index> number_in(const std::string& name) {
  constexpr const char* digits = "0123456789";
  const std::size_t first = name.find_first_of(digits);
  if (first == std::string::npos) return {};
  const std::size_t end = std::min(name.find_first_not_of(digits, first), name.size());
  Index number = 0;
  const auto read = std::from_chars(name.data() + first, name.data() + end, number);
  const bool is_layer = read.ec == std::errc() && number < 10000;  // no model has as many
  if (!is_layer || name.find_first_of(digits, end) != std::string::npos) return {};
  return number;
}

/// The number of each layer of a source in its model: that in its name if the triaged layers have
/// different ones, else its place in the source.
std::vector<Index> layer_numbers(const std::vector<TriagedHeadRow>& heads, const Source& source) {
  std::vector<Index> named, places;
  for (const Layer& layer : source.layers) {
    places.push_back(std::ssize(places));
    named.push_back(number_in(layer.name).value_or(-1));
  }
  std::set<Index> triaged, numbers;
  for (const TriagedHeadRow& head : heads) {
    triaged.insert(head.layer);
    numbers.insert(named[head.layer]);
  }
  return numbers.size() == triaged.size() && !numbers.contains(-1) ? named : places;
}

/// MInference needs at least one column and one diagonal.
Document minference_entry(const TriagedHead& head) {
  constexpr Index least = 30, all = Index{1} << 24;  // more diagonals than a prompt has
  if (head.pattern == HeadPattern::full) return {"vertical_and_slash", least, all, 1.0};
  const PatternSizes& sizes = head.of(head.pattern).sizes;
  if (head.pattern == HeadPattern::block) return {"block_sparse", sizes.blocks, 1, head.recall()};
  return {head.pattern == HeadPattern::streaming ? "stream_llm" : "vertical_and_slash",
          std::max<Index>(1, sizes.columns), std::max<Index>(1, sizes.diagonals), head.recall()};
}

}  // namespace

std::string counts_text(const std::vector<TriagedHeadRow>& heads) {
  std::string text;
  for (const HeadPattern pattern : all_patterns)
    add_item(text, std::to_string(count_of(heads, pattern)) + ' ' + pattern_name(pattern));
  return text;
}

std::string short_note(const std::vector<TriagedHeadRow>& heads) {
  constexpr Index long_enough = 2048;
  const auto n_of = [](const TriagedHeadRow& head) { return head.triage.n; };
  const Index n = n_of(*std::ranges::min_element(heads, {}, n_of));
  if (n >= long_enough) return "";
  return "sparse prefill is for thousands of tokens: with " + plural(n, "token") +
         " the budget leaves few keys for each query";
}

std::string recall_text(const Estimate& recall) {
  constexpr double shown = 0.0005;  // by three decimals
  const std::string text = format_fixed(recall.value, 3);
  if (!(recall.standard_error > 0)) return text;
  if (recall.standard_error < shown) return "≈ " + text;
  return "≈ " + text + " ± " + format_fixed(recall.standard_error, 3);
}

std::string remark_of(const TriagedHead& head, const TriageRule& rule) {
  std::string remark, others;
  for (const HeadPattern pattern : head.as_good) add_item(others, pattern_name(pattern));
  if (!others.empty()) remark = others + (head.as_good.size() > 1 ? " are" : " is") + " as good";
  if (head.near_keep)
    add_item(remark, "the error leaves open whether it keeps " + format_plain(rule.keep));
  return remark;
}

Document to_json(const std::vector<TriagedHeadRow>& heads, const TriageRule& rule) {
  Document counts, rows = Document::array();
  for (const HeadPattern pattern : all_patterns) counts[id_of(pattern)] = count_of(heads, pattern);
  for (const TriagedHeadRow& head : heads) rows.push_back(row_json(head));
  return {{"budget", rule.budget},
          {"keep", rule.keep},
          {"counts", std::move(counts)},
          {"heads", std::move(rows)}};
}

std::string to_csv(const std::vector<TriagedHeadRow>& heads) {
  std::string text = "layer,layer_label,head,n,rows,pattern,recall,pairs";
  for (const HeadPattern pattern : sparse_patterns)
    text += ',' + id_of(pattern) + ',' + id_of(pattern) + "_standard_error," + id_of(pattern) +
            (pattern == HeadPattern::block ? "_tokens," : "_columns,") + id_of(pattern) +
            (pattern == HeadPattern::block ? "_blocks" : "_diagonals");
  text += '\n';
  for (const TriagedHeadRow& head : heads) {
    const TriagedHead& triage = head.triage;
    text += std::to_string(head.layer) + ',' + csv_cell(head.layer_label) + ',' +
            std::to_string(head.head) + ',' + std::to_string(triage.n) + ',' +
            std::to_string(triage.rows) + ',' + id_of(triage.pattern) + ',' +
            format_exactly(triage.recall()) + ',' + format_exactly(triage.pairs());
    for (const HeadPattern pattern : sparse_patterns) {
      const Estimate& recall = triage.of(pattern).recall;
      const PatternSizes& sizes = triage.of(pattern).sizes;
      const bool blocks = pattern == HeadPattern::block;
      text += ',' + format_exactly(recall.value) + ',' + format_exactly(recall.standard_error) +
              ',' + std::to_string(blocks ? sizes.block : sizes.columns) + ',' +
              std::to_string(blocks ? sizes.blocks : sizes.diagonals);
    }
    text += '\n';
  }
  return text;
}

MInferenceConfig minference_config(const std::vector<TriagedHeadRow>& heads, const Source& source) {
  const std::vector<Index> numbers = layer_numbers(heads, source);
  MInferenceConfig out;
  const auto layers = static_cast<std::size_t>(*std::ranges::max_element(numbers) + 1);
  for (std::size_t layer = 0; layer < layers; ++layer) out.layers.push_back(Document::object());
  // Heads of each layer that are not named; -1 if the layer has no triaged head.
  std::vector<Index> missing(layers, -1);
  for (const TriagedHeadRow& head : heads) {
    const auto number = static_cast<std::size_t>(numbers[head.layer]);
    if (missing[number] < 0) missing[number] = source.layers[head.layer].heads();
    --missing[number];
    out.layers[number][std::to_string(head.head)] = minference_entry(head.triage);
  }
  for (std::size_t number = 0; number < missing.size(); ++number)
    if (missing[number] != 0) out.incomplete.push_back(number);
  return out;
}

std::string note_of(const MInferenceConfig& config, const std::string& file) {
  if (config.incomplete.empty()) return "";
  return "MInference takes 1000 columns and 6096 diagonals in heads that " + file +
         " does not name, which are in " + (config.incomplete.size() == 1 ? "layer " : "layers ") +
         join(config.incomplete, [](Index layer) { return std::to_string(layer); });
}

}  // namespace fovea
