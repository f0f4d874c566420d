#include "study/head_cards.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "session/measured_source.h"
#include "variants/learned_tree.h"

namespace fovea {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_cards = 4096;  // some 10 KB each; more only of more heads

constexpr std::size_t most_together = 64;
constexpr auto time_together = 20ms;  // less than background work may take before it makes way

template <class Key>  // a HeadKey, or a ComputeKey
auto& subject_of(Key& key) {
  if constexpr (requires { key.head; })
    return key.head;
  else
    return key;
}

/// The result of a key, else the last one of the same head in an earlier step.
template <class Key, class Result, class Same>
std::shared_ptr<Result> newest(ResultCache<Key, Result>& cache, const Key& key, Same same) {
  if (auto known = cache.result(key)) return known;
  for (const auto& answer : cache.answers())  // the last used first
    if (answer.result && same(answer.key)) return answer.result;
  return nullptr;
}

}  // namespace

bool HeadCards::choose(Heads heads, std::size_t cards_first) {
  std::size_t all = 0;
  for (const Layer& layer : subject_.source->layers) all += std::size_t(layer.heads());
  of_each_ = std::max<std::size_t>(1, most_cards / std::max<std::size_t>(1, all));
  cards_first = std::min(cards_first, heads.size());
  const bool other_cards = std::exchange(cards_first_, cards_first) != cards_first;
  return std::exchange(chosen_, std::move(heads)) != chosen_ || other_cards;
}

HeadCards::Known& HeadCards::known(const Head& head) {
  Known& known = known_.try_emplace(head, requests_).first->second;
  known.cards.set_capacity(of_each_);
  return known;
}

HeadKey HeadCards::key_of(const Head& head) const {
  HeadKey key = subject_.head();
  std::tie(key.choice.layer, key.choice.head) = head;
  return key;
}

std::optional<Column> HeadCards::column() const {
  const auto& columns = subject_.session.columns;
  const auto selected = static_cast<std::size_t>(subject_.selected_column);
  if (selected >= columns.size()) return {};
  const Column column = without_head(columns[selected]);
  if (is_reference(column.variant) || learned_steps(find_variant(column.variant), column.values))
    return {};
  return column;
}

std::shared_ptr<const HeadCard> HeadCards::card(Index layer, Index head) {
  const HeadKey key = key_of({layer, head});
  return newest(known({layer, head}).cards, key,
                [&](const HeadKey& other) { return other.choice == key.choice; });
}

std::shared_ptr<const void> HeadCards::measure_heads() {
  auto wanted = measuring_.lock();
  if (!wanted) measuring_ = wanted = std::make_shared<const int>();
  return wanted;
}

std::shared_ptr<const MeasuredHead> HeadCards::measured(Index layer, Index head) {
  const HeadKey key = key_of({layer, head});
  return newest(known({layer, head}).measures, key,
                [&](const HeadKey& other) { return other.choice == key.choice; });
}

std::string HeadCards::why_not_measured(Index layer, Index head) {
  const auto* answer = known({layer, head}).measures.find(key_of({layer, head}));
  return answer && !answer->result ? answer->error : std::string();
}

std::optional<double> HeadCards::error(Index layer, Index head) {
  const std::optional<Column> of = column();
  if (!of) return {};
  const ComputeKey key{key_of({layer, head}), *of};
  const auto error = newest(known({layer, head}).errors, key, [&](const ComputeKey& other) {
    return other.head.choice == key.head.choice && other.column == key.column;
  });
  return error ? *error : std::nullopt;
}

std::size_t HeadCards::missing_cards() {
  return std::ranges::count_if(
      chosen_, [this](const Head& head) { return !known(head).cards.find(key_of(head)); });
}

std::size_t HeadCards::missing_errors() {
  const std::optional<Column> of = column();
  if (!of) return 0;
  ComputeKey key{{}, *of};
  return std::ranges::count_if(chosen_, [&](const Head& head) {
    key.head = key_of(head);
    return !known(head).errors.find(key);
  });
}

// Small heads come several at a time: an update of the study for each would take longer than they.
// What is under way ends, also if other heads have become more urgent.
template <class Key, class Result, class Make>
bool HeadCards::request(std::span<const Head> of, Key key, ResultCache<Key, Result> Known::*cache,
                        Make make, bool idle) {
  std::vector<Key> missing;
  for (const Head& head : of) {
    subject_of(key) = key_of(head);
    if (!(known(head).*cache).find(key)) missing.push_back(key);
    if (missing.size() == most_together) break;
  }
  if (missing.empty() || !idle) return !missing.empty();
  subject_of(key) = key_of({0, 0});  // the same for all heads
  const RequestId id{RequestKind::card};
  requests_.start(
      id, key,
      [missing, make, source = subject_.source](const Backend& backend, Run& run) {
        std::vector<std::shared_ptr<Result>> made;
        const auto start = std::chrono::steady_clock::now();
        for (const Key& each : missing) try {
            if (!made.empty() && std::chrono::steady_clock::now() - start > time_together) break;
            made.push_back(std::make_shared<Result>(make(*source, each, backend, run)));
          } catch (...) {
            if (made.empty()) throw;
            break;  // it is the first of the next ones
          }
        return made;
      },
      [this, missing, cache, id](const auto& made, const std::string& error) {
        const auto put = [&](const Key& each, std::shared_ptr<Result> result) {
          const HeadChoice& choice = subject_of(each).choice;
          (known({choice.layer, choice.head}).*cache).put({each, std::move(result), error, id});
        };
        if (!made) return put(missing.front(), nullptr);
        for (std::size_t i = 0; i < made->size(); ++i) put(missing[i], (*made)[i]);
      });
  return true;
}

bool HeadCards::request_card(std::span<const Head> of, bool idle) {
  return request(
      of, key_of({0, 0}), &Known::cards,
      [](const Source& source, const HeadKey& key, const Backend& backend, Run& run) {
        return make_head_card(source, key.choice, backend, run);
      },
      idle);
}

bool HeadCards::request_error(bool idle) {
  const std::optional<Column> of = column();
  if (!of) return false;
  return request(
      std::span<const Head>(chosen_), ComputeKey{key_of({0, 0}), *of}, &Known::errors,
      [](const Source& source, const ComputeKey& key, const Backend& backend, Run& run) {
        return head_error(source, key.head.choice, key.column, backend, run);
      },
      idle);
}

bool HeadCards::request_measures(bool idle) {
  if (measuring_.expired()) return false;
  Heads heads;
  const auto& layers = subject_.source->layers;
  for (Index l = 0; l < std::ssize(layers); ++l)
    for (Index h = 0; h < layers[l].heads(); ++h) heads.push_back({l, h});
  return request(
      heads, key_of({0, 0}), &Known::measures,
      [](const Source& source, const HeadKey& key, const Backend& backend, Run& run) {
        return measure_head(source, key.choice, backend, run);
      },
      idle);
}

bool HeadCards::update(bool idle) {
  const std::span<const Head> all(chosen_);
  const bool missing = (!subject_.shows_matrix() &&
                        (request_card(all.first(cards_first_), idle) || request_error(idle) ||
                         request_card(all.subspan(cards_first_), idle))) ||
                       request_measures(idle);
  const bool before = std::exchange(complete_, !missing);
  return !before || !complete_;
}

}  // namespace fovea
