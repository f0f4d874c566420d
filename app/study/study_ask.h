// How a Study asks its engine: what is known or on its way is not asked again, and what a person
// looks at goes before what is done in the background. For the Study's own files only.
#pragma once

#include "study/study.h"

namespace fovea {

/// Higher runs first.
namespace priority {
inline constexpr int problem = 90, reading = 60, first_look = 52, panel = 50, tiles = 49,
                     exact = 45, column = 40, sweep = 36, long_exact = 35, metrics = 30, bands = 28,
                     diagnostics = 25, ranks = 20, card = 10, hash = 5, timing = 0;
}

inline const std::string gradual_tag = "gradual";  // the long way to exact attention
inline const std::string bands_tag = "bands ";     // and that of the map of a row and column
inline const std::string panel_tag = "panel ";     // of a row and column

inline constexpr double let_finish_seconds =
    0.25;  // while a slider moves: rather a picture a little late than none
inline constexpr double yield_seconds = 0.03;  // background work that takes longer makes way

inline bool in_background(const std::string& tag) {
  return tag == "timing" || tag == sweep_tag || tag.starts_with("card") ||
         tag.starts_with("metrics") || tag.starts_with("ranks") || tag.starts_with("diagnostics");
}

/// Does the work of a job; the message of its error, or nothing. That it was cancelled or that the
/// device is lost is the engine's to know.
template <class Work>
std::string error_of(Work&& work) {
  try {
    work();
  } catch (const Cancelled&) {
    throw;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const std::bad_alloc&) {
    return "not enough memory";
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

template <class Key, class Result, class Make>
void Study::ask(Shelf<Key, Result>& shelf, const std::string& tag, int its_priority, const Key& key,
                Make make) {
  wanted_tags_.insert(tag);
  if (paused_ || shelf.find(key)) return;
  const Engine::Status status = engine_->status();
  if (const Key* asked = shelf.asked(tag)) {
    if (*asked == key) return;
    if (status.tag == tag && status.seconds < let_finish_seconds) {
      asks_again_ = true;
      return;
    }
  }
  if (status.busy && in_background(status.tag) && !in_background(tag) &&
      status.seconds > yield_seconds)
    withdraw(status.tag);
  if (tag.starts_with(panel_tag)) interrupt_long_work();
  shelf.ask(tag, key);
  tags_.insert(tag);
  engine_->submit(tag, its_priority,
                  [this, &shelf, tag, key, make = std::move(make)](
                      const Backend& backend, std::stop_token stop, Progress& progress) {
                    typename Shelf<Key, Result>::Answer answer;
                    answer.error = error_of([&] {
                      Profile profile;
                      Run run{profile, stop, &progress};
                      answer.result = std::make_shared<const Result>(make(backend, run));
                    });
                    const auto arrive = [this, &shelf, tag, key, answer = std::move(answer)] {
                      shelf.put(key, answer);
                      shelf.answered(tag, key);
                      if constexpr (std::is_same_v<Result, Computation>)
                        if (answer.result) newest_.insert_or_assign(tag, key);
                      arrived();
                    };
                    QMetaObject::invokeMethod(this, arrive, Qt::QueuedConnection);
                  });
}

}  // namespace fovea
