// A Shelf keeps the results of one kind of question, each under the struct of everything it depends
// on; the least recently used go first. An answer may also be an error.
#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace fovea {

template <class Key, class Result>
class Shelf {
 public:
  struct Answer {
    std::shared_ptr<const Result> result;  // null: `error` says why
    std::string error;
  };

  /// Takes results that are no longer kept, to free them where that disturbs nobody.
  using LetGo = std::function<void(std::shared_ptr<const void>)>;

  explicit Shelf(std::size_t capacity) : capacity_(capacity) {}

  void set_let_go(LetGo let_go) { let_go_ = std::move(let_go); }
  void set_capacity(std::size_t capacity) {
    capacity_ = capacity;
    while (entries_.size() > capacity_) drop_last();
  }

  /// nullptr: not known. Valid until the next put.
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

  /// The newest result whose key is so.
  template <class Wanted>
  std::shared_ptr<const Result> result_where(Wanted wanted) const {
    for (const Entry& entry : entries_)
      if (entry.second.result && wanted(entry.first)) return entry.second.result;
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
  /// Results stay; what failed is asked for again.
  void forget_errors() {
    std::erase_if(entries_, [](const Entry& e) { return !e.second.result; });
  }

  /// What a tag was last asked for and has not answered yet.
  const Key* asked(const std::string& tag) const {
    const auto it = asked_.find(tag);
    return it == asked_.end() ? nullptr : &it->second;
  }
  /// Whether anything is asked for.
  bool waits() const { return !asked_.empty(); }
  void ask(const std::string& tag, const Key& key) { asked_.insert_or_assign(tag, key); }
  void answered(const std::string& tag, const Key& key) {
    if (const Key* last = asked(tag); last && *last == key) asked_.erase(tag);
  }
  void withdraw(const std::string& tag) { asked_.erase(tag); }
  void withdraw_all() { asked_.clear(); }

 private:
  using Entry = std::pair<Key, Answer>;

  void drop_last() {
    if (let_go_ && entries_.back().second.result) let_go_(std::move(entries_.back().second.result));
    entries_.pop_back();
  }

  LetGo let_go_;
  std::size_t capacity_;
  std::list<Entry> entries_;
  std::map<std::string, Key> asked_;
};

}  // namespace fovea
