// How a Study opens a source: read on the engine's thread, then taken up in place of the last one.
#include <utility>

#include "input/assets.h"
#include "input/open_source.h"
#include "input/session_file.h"
#include "study/polite_backend.h"
#include "study/study_ask.h"

namespace fovea {

void Study::open(const std::string& what, std::optional<Session> session,
                 const std::string& expected_hash) {
  read_source({what, std::move(session), expected_hash, true});
}

void Study::read_source(Opening opening) {
  withdraw_everything();
  opening.number = ++opening_number_;
  opening_ = opening;
  engine_->submit("open", 100,
                  [this, opening = std::move(opening)](const Backend&, std::stop_token, Progress&) {
                    make_way();  // the engine's thread, from now on
                    const auto& [what, session, expected_hash, anew, number] = opening;
                    std::shared_ptr<const Source> source;
                    std::string error;
                    OpenOptions options;
                    if (session) options.patch = session->patch;
                    try {
                      source = std::make_shared<const Source>(open_source(what, options));
                      if (source->layers.empty())
                        throw InputError(what, "no layer in it: at least one expected");
                      if (session) check_session(*session, *source);
                    } catch (const std::exception& problem) {
                      source.reset();
                      error = problem.what();
                    }
                    const auto arrive = [this, opening, source, error] {
                      if (!opening_ || opening_->number != opening.number)
                        return;  // a newer one was asked for
                      opening_.reset();
                      if (source) {
                        take_up(source, opening.session, opening.anew);
                        content_hash_.clear();
                        expected_hash_ = opening.expected_hash;
                      } else {
                        emit trouble(QString::fromStdString(error));
                      }
                      update_later();
                    };
                    QMetaObject::invokeMethod(this, arrive, Qt::QueuedConnection);
                  });
}

// Again where all work was withdrawn before it was known; also while cancelled: a session that is
// saved then has it too.
void Study::ask_hash() {
  if (!content_hash_.empty() || hash_asked_ || opening_) return;
  hash_asked_ = true;
  engine_->submit("hash", priority::hash,
                  [this, path = source_->path, number = source_number_](
                      const Backend&, std::stop_token, Progress&) {
                    const auto arrive = [this, path, number, hash = content_hash_of(path)] {
                      if (number == source_number_ && content_hash_.empty()) take_hash(path, hash);
                    };
                    QMetaObject::invokeMethod(this, arrive, Qt::QueuedConnection);
                  });
}

void Study::take_hash(const std::string& path, const std::string& hash) {
  content_hash_ = hash;
  const std::string expected = std::exchange(expected_hash_, {});
  if (expected.empty() || hash == expected) return;
  emit trouble(QString::fromStdString(path) +
               ": its content has changed since the session was saved (found SHA-256 " +
               QString::fromStdString(hash).left(12) + "…, expected " +
               QString::fromStdString(expected).left(12) + "…)");
}

void Study::take_up(std::shared_ptr<const Source> source, std::optional<Session> session,
                    bool anew) {
  if (source_) engine_->discard(std::move(source_));
  source_ = std::move(source);
  ++source_number_;
  problem_.reset();
  columns_.clear();
  column_keys_.clear();
  exact_ = {};
  cells_.clear();
  timings_.clear();
  cards_.clear();
  newest_.clear();
  forget_maps();
  problems_.clear();  // nothing of the old source can be asked for again
  computations_.clear();
  wanted_cards_.clear();
  selection_.reset();
  choose_leaves(0, {0, 0});
  hovered_query_ = hovered_key_ = -1;
  paused_ = false;
  const auto [layer, head] =
      session ? std::pair{session->layer, session->head} : first_head(*source_);
  const Index n = source_->layers[static_cast<std::size_t>(layer)].n();
  // Long heads are large: keep only what is on screen and a little more.
  computations_.set_capacity(n > 16384 ? 10 : 24);
  session_ = {};
  Session next = session ? std::move(*session) : standard_session(source_->path, n);
  if (!session && !source_->layers.front().has_qkv()) {
    std::erase_if(next.columns, [](const Column& c) { return !is_reference(c.variant); });
    next.views = {View::heatmap, View::rank};
  }
  std::tie(next.layer, next.head) = std::pair{layer, head};
  if (next.viewport == Viewport{}) next.viewport = {0, double(n), 0, double(n)};
  if (anew) selected_column_ = 1;  // the first beside exact
  set_session(std::move(next));
  if (!shows_matrix()) update_problem();  // while the window shows what was opened
  emit opened(anew);
}

}  // namespace fovea
