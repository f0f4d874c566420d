#include "study/study.h"

#include <algorithm>
#include <utility>

#include "study/polite_backend.h"
#include "study/study_ask.h"

namespace fovea {
namespace {

// For each new column the index of the old one it continues, or -1: the same column, else the same
// variant at the same place (its parameters changed), so that its last picture stays, marked stale.
std::vector<int> continued(const std::vector<Column>& before, const std::vector<Column>& after) {
  std::vector<int> from(after.size(), -1);
  std::vector<bool> taken(before.size(), false);
  for (std::size_t i = 0; i < after.size(); ++i)
    for (std::size_t k = 0; k < before.size(); ++k)
      if (from[i] < 0 && !taken[k] && before[k] == after[i]) {
        from[i] = static_cast<int>(k);
        taken[k] = true;
      }
  for (std::size_t i = 0; i < std::min(after.size(), before.size()); ++i)
    if (from[i] < 0 && !taken[i] && before[i].variant == after[i].variant)
      from[i] = static_cast<int>(i);
  return from;
}

}  // namespace

Study::Study(std::unique_ptr<Backend> backend, QObject* parent) : QObject(parent) {
  update_timer_.setSingleShot(true);
  connect(&update_timer_, &QTimer::timeout, this, &Study::update);
  fill_timer_.setSingleShot(true);
  connect(&fill_timer_, &QTimer::timeout, this, &Study::update);
  start_engine(std::move(backend));
  const auto let_go = [this](std::shared_ptr<const void> old) { engine_->discard(std::move(old)); };
  problems_.set_let_go(let_go);
  computations_.set_let_go(let_go);
}

Study::~Study() = default;

void Study::start_engine(std::unique_ptr<Backend> backend) {
  engine_ = std::make_unique<Engine>(std::move(backend), [this](const std::string&,
                                                                const std::string& message) {
    const auto tell = [this, text = QString::fromStdString(message)] {
      const bool lost = engine_->status().device_lost;
      if (lost) use_backend(make_polite_backend({.backend = "cpu"}));
      emit trouble(lost ? text + "\n\nThe device is lost; everything is computed on the CPU now."
                        : text);
    };
    QMetaObject::invokeMethod(this, tell, Qt::QueuedConnection);
  });
}

void Study::use_backend(std::unique_ptr<Backend> backend) {
  withdraw_everything();
  ++source_number_;  // what is still on its way here is of the old one
  forget_results();
  start_engine(std::move(backend));  // what the old one still held goes with it
  if (opening_) read_source(*std::exchange(opening_, {}));
  resume();
  emit columns_changed();
}

// Of the source that is open: nothing of it stays but what the session says.
void Study::forget_results() {
  for (ColumnState& state : columns_) state = {.column = state.column};
  column_keys_.assign(columns_.size(), {});
  exact_ = {};
  exact_key_ = {};
  timings_.clear();
  newest_.clear();
  problem_.reset();
  problems_.clear();
  computations_.clear();
  metrics_.clear();
  diagnostics_.clear();
  panels_.clear();
  forget_maps();
  cards_.clear();
  pairs_.clear();
  rows_.clear();
  selections_.clear();
}

void Study::forget_maps() {
  for (auto& [key, map] : maps_) engine_->discard(std::move(map));
  maps_.clear();
  map_panels_.clear();
  engine_->discard(std::move(gradual_));
  gradual_.reset();
}

void Study::set_session(Session next) {
  if (next.viewport == Viewport{} && next.patch == session_.patch)
    next.viewport = {0, double(length()), 0, double(length())};
  if (next == session_) {
    if (opening_ && !opening_->anew) opening_.reset();  // a patch that was wished for in between
    return update_later();
  }
  const Index length_before = length();
  const bool same_source = source_ && next.source == session_.source;
  if (same_source && source_->kind == "image" && next.patch != session_.patch) {
    const std::string source = next.source;
    const std::string expected = content_hash_.empty() ? expected_hash_ : content_hash_;
    return read_source({source, std::move(next), expected, false});
  }
  const std::vector<int> from = continued(session_.columns, next.columns);
  std::vector<ColumnState> columns(next.columns.size());
  std::vector<ComputeKey> keys(next.columns.size());
  std::vector<std::vector<CanvasCell>> cells(next.views.size(),
                                             std::vector<CanvasCell>(next.columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (from[i] >= 0 && static_cast<std::size_t>(from[i]) < columns_.size()) {
      columns[i] = columns_[static_cast<std::size_t>(from[i])];
      keys[i] = column_keys_[static_cast<std::size_t>(from[i])];
      for (std::size_t r = 0; r < next.views.size(); ++r) {
        const auto old = std::ranges::find(session_.views, next.views[r]) - session_.views.begin();
        if (static_cast<std::size_t>(old) < cells_.size())
          cells[r][i] = cells_[static_cast<std::size_t>(old)][static_cast<std::size_t>(from[i])];
      }
    }
    columns[i].column = next.columns[i];
  }
  if (chosen_leaves_) {  // they move with their column
    const auto it = std::ranges::find(from, chosen_leaves_->column);
    if (it == from.end())
      choose_leaves(0, {0, 0});
    else
      chosen_leaves_->column = static_cast<int>(it - from.begin());
    emit leaves_chosen();
  }
  columns_ = std::move(columns);
  column_keys_ = std::move(keys);
  cells_ = std::move(cells);
  // While the view moves the cores are for what is seen, and for drawing it.
  if (!(next.viewport == session_.viewport))
    engine_->hold_back(priority::column, std::chrono::milliseconds(150));
  session_ = std::move(next);
  selected_column_ = std::clamp(selected_column_, 0, std::max(0, int(columns_.size()) - 1));
  if (length() != length_before) select({0, 0}, {0, 0});  // a layer of other tokens
  if (paused_) resume();
  emit session_changed();
  update_later();
}

void Study::select_column(int column) {
  if (column == selected_column_ || column < 0 || column >= int(columns_.size())) return;
  selected_column_ = column;
  emit columns_changed();
  emit session_changed();
  update_later();
}

void Study::set_dark(bool dark) {
  dark_ = dark;
  update_later();
}

void Study::set_panel_pixels(int side) {
  side = std::clamp((side + 63) / 64 * 64, 128, 1024);  // in steps: a resize is not a new picture
  if (side == panel_pixels_) return;
  panel_pixels_ = side;
  update_later();
}

void Study::choose_leaves(int column, IndexRange leaves) {
  const ChosenLeaves wished{column, leaves};
  const bool none = leaves.size() <= 0 || chosen_leaves_ == wished;
  chosen_leaves_.reset();
  if (!none) chosen_leaves_ = wished;
  marked_of_.reset();
  update_marks();
  update_later();
  emit leaves_chosen();
}

void Study::want_cards(std::vector<std::pair<Index, Index>> layer_and_head) {
  if (layer_and_head == wanted_cards_) return;
  wanted_cards_ = std::move(layer_and_head);
  update_later();
}

void Study::hover(Index query, Index key, int column) {
  if (query == hovered_query_ && key == hovered_key_ && column == hovered_column_) return;
  hovered_query_ = query;
  hovered_key_ = key;
  hovered_column_ = column;
  if (query < 0 || key < 0) emit pair_read(nullptr);
  update_later();
}

void Study::select(IndexRange rows, IndexRange cols) {
  selection_.reset();
  if (rows.size() > 0 && cols.size() > 0) selection_ = {rows, cols};
  if (!selection_) emit selection_read(nullptr);
  update_later();
}

Index Study::shown_query() const {
  const Index n = problem_ ? problem_->n() : 0;
  if (hovered_query_ >= 0 && hovered_query_ < n) return hovered_query_;
  if (session_.pinned_query)
    return std::clamp<Index>(*session_.pinned_query, 0, std::max<Index>(n - 1, 0));
  return n / 2;
}

void Study::cancel() {
  paused_ = true;
  opening_.reset();
  withdraw_everything();
  update_later();
}

void Study::resume() {
  paused_ = false;
  problems_.forget_errors();
  computations_.forget_errors();
  panels_.forget_errors();
  std::erase_if(map_panels_, [](const auto& shown) { return !shown.second.error.empty(); });
  update_later();
}

bool Study::shows_matrix() const {
  return source_ && !source_->layers[static_cast<std::size_t>(session_.layer)].has_qkv();
}

Index Study::length() const {
  return source_ ? source_->layers[static_cast<std::size_t>(session_.layer)].n() : 0;
}

bool Study::drawn() const {
  if (opening_) return false;
  if (!problem_ && !shows_matrix()) return !problem_error_.empty();
  for (const auto& row : cells_)
    for (const CanvasCell& cell : row)
      if ((!cell.panel && cell.status.rfind("error", 0) != 0) || cell.stale) return false;
  return true;
}

std::shared_ptr<const HeadCard> Study::card(Index layer, Index head) {
  Column column;
  if (selected_column_ < int(columns_.size()))
    column = columns_[std::size_t(selected_column_)].column;
  const HeadCardKey key{source_number_, layer, head, session_.causal, session_.scale, column};
  return cards_.result(key);
}

void Study::withdraw_everything() {
  engine_->cancel_all();
  problems_.withdraw_all();
  computations_.withdraw_all();
  metrics_.withdraw_all();
  diagnostics_.withdraw_all();
  panels_.withdraw_all();
  cards_.withdraw_all();
  pairs_.withdraw_all();
  rows_.withdraw_all();
  selections_.withdraw_all();
  asked_pictures_.clear();
  asked_bands_.clear();
  gradual_runs_ = false;
  tags_.clear();
  timing_runs_ = false;
  hash_asked_ = false;
}

void Study::withdraw(const std::string& tag) {
  engine_->cancel(tag);
  problems_.withdraw(tag);
  computations_.withdraw(tag);
  metrics_.withdraw(tag);
  diagnostics_.withdraw(tag);
  panels_.withdraw(tag);
  cards_.withdraw(tag);
  pairs_.withdraw(tag);
  rows_.withdraw(tag);
  selections_.withdraw(tag);
  asked_pictures_.erase(tag);
  asked_bands_.erase(tag);
  if (tag == gradual_tag) gradual_runs_ = false;
  if (tag == "timing") timing_runs_ = false;
}

HeadKey Study::head_key() const {
  return {source_number_, session_.layer, session_.head, session_.causal, session_.scale};
}

// A result. Where more of the view is on its way they are shown together: drawing each would take
// the cores that compute the next.
void Study::arrived() {
  using namespace std::chrono;
  constexpr auto together = milliseconds(80);
  const auto since = duration_cast<milliseconds>(steady_clock::now() - updated_);
  const bool more = !asked_pictures_.empty() || panels_.waits();
  if (std::exchange(asks_again_, false) || !more || since >= together) return update_later();
  if (!update_timer_.isActive() || update_timer_.remainingTime() > together.count())
    update_timer_.start(together - since);
}

void Study::update_later() {
  if (!update_timer_.isActive() || update_timer_.remainingTime() > 0) update_timer_.start(0);
}

}  // namespace fovea
