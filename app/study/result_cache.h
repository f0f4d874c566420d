// A ResultCache keeps the results of one kind of request, each under the struct of everything it
// depends on. The least recently used are dropped first. A result may also be an error.
#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>

namespace fovea {

template <class Key, class Result>
class ResultCache {
 public:
  struct Answer {
    std::shared_ptr<const Result> result;  // null: `error` says why
    std::string error = {};
  };
  /// Takes the results that are dropped.
  using OnDrop = std::function<void(std::shared_ptr<const void>)>;

  explicit ResultCache(std::size_t capacity, OnDrop on_drop = {})
      : capacity_(capacity), on_drop_(std::move(on_drop)) {}

  void set_capacity(std::size_t capacity) {
    capacity_ = capacity;
    while (entries_.size() > capacity_) drop_last();
  }

  /// nullptr: not known. Valid until the next change of the cache.
  const Answer* find(const Key& key) {
    const auto it = std::ranges::find(entries_, key, &Entry::first);
    if (it == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it);
    return &entries_.front().second;
  }
  std::shared_ptr<const Result> result(const Key& key) {
    const Answer* answer = find(key);
    return answer ? answer->result : nullptr;
  }
  /// The most recently used result whose key `matches`.
  template <class Matches>
  std::shared_ptr<const Result> result_where(Matches matches) const {
    for (const Entry& entry : entries_)
      if (entry.second.result && matches(entry.first)) return entry.second.result;
    return nullptr;
  }

  void put(const Key& key, Answer answer) {
    std::erase_if(entries_, [&](const Entry& e) { return e.first == key; });
    entries_.emplace_front(key, std::move(answer));
    if (entries_.size() > capacity_) drop_last();
  }
  void clear() {
    while (!entries_.empty()) drop_last();
  }
  /// Results stay; what failed can be requested again.
  void forget_errors() {
    std::erase_if(entries_, [](const Entry& e) { return !e.second.result; });
  }

 private:
  using Entry = std::pair<Key, Answer>;

  void drop_last() {
    if (on_drop_ && entries_.back().second.result)
      on_drop_(std::move(entries_.back().second.result));
    entries_.pop_back();
  }

  std::size_t capacity_;
  OnDrop on_drop_;
  std::list<Entry> entries_;
};

}  // namespace fovea
