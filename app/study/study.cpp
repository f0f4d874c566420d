#include "study/study.h"

#include <algorithm>
#include <utility>

#include "input/assets.h"
#include "study/polite_backend.h"

namespace fovea {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto together = 80ms;            // results that arrive within it are shown together
constexpr auto progress_interval = 100ms;  // between two reports of progress in the cells

}  // namespace

Study::Study(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background,
             QObject* parent)
    : QObject(parent),
      background_(background ? std::move(background) : std::make_shared<Background>()),
      requests_(std::move(backend), background_) {
  for (QTimer* timer : {&update_timer_, &fill_timer_}) {
    timer->setSingleShot(true);
    connect(timer, &QTimer::timeout, this, &Study::update);
  }
  connect(&requests_, &Requests::arrived, this, &Study::result_arrived);
  connect(&requests_, &Requests::device_lost, this, [this](const QString& message) {
    use_backend(BackendChoice{.backend = "cpu"});
    emit reported(message + "\n\nThe device is lost. Everything is computed again on the CPU.");
  });
  connect(&requests_, &Requests::failed, this, &Study::reported);
  connect(&opening_, &SourceOpening::opened, this, &Study::take_up);
  connect(&opening_, &SourceOpening::reported, this, [this](const QString& message) {
    emit reported(message);
    update_later();
  });
}

void Study::open(const std::string& what, std::optional<Session> session,
                 const std::string& expected_hash) {
  opening_.open({what, std::move(session), expected_hash, true});
}

void Study::use_backend(std::unique_ptr<Backend> backend) {
  requests_.use_backend(std::move(backend));
  forget_results();
  opening_.restart();
  resume();
  emit columns_changed();
}

void Study::use_backend(const BackendChoice& choice) {
  const auto made = std::make_shared<std::unique_ptr<Backend>>();
  background_->run([made, choice] { *made = make_polite_backend(choice); }, this,
                   [this, made](const std::string& error) {
                     if (error.empty()) return use_backend(std::move(*made));
                     emit reported(QString::fromStdString(error));
                   });
}

// Nothing of the opened source stays but what the session says.
void Study::forget_results() {
  results_.clear();
  maps_.clear();
  cells_.clear();
  timings_.clear();
  cards_.clear();
  probe_.clear();
}

void Study::take_up(std::shared_ptr<const Source> source, const SourceOpening::Order& order) {
  if (subject_.source) requests_.discard(std::move(subject_.source));
  const std::optional<Session>& session = order.session;
  const auto [layer, head] =
      session ? std::pair{session->layer, session->head} : first_head(*source);
  const Index n = source->layers[static_cast<std::size_t>(layer)].n();
  Session next = session ? *session : standard_session(source->path, n);
  if (!session && !source->layers.front().has_qkv()) {
    std::erase_if(next.columns, [](const Column& c) { return !is_reference(c.variant); });
    next.views = {View::heatmap, View::rank};
  }
  std::tie(next.layer, next.head) = std::pair{layer, head};
  if (next.viewport == Viewport{}) next.viewport = {0, double(n), 0, double(n)};

  subject_.source = std::move(source);
  ++subject_.source_number;
  subject_.session = {};
  subject_.pointed = {};
  subject_.selection.reset();
  if (order.new_source) subject_.selected_column = 1;  // the first beside exact
  results_.continue_columns({}, {});
  cells_.clear_cells();
  forget_results();
  results_.set_capacity(n);
  cards_.want({});
  choose_leaves(0, {0, 0});
  requests_.resume();
  set_session(std::move(next));
  if (!shows_matrix()) results_.update_problem();  // while the window shows what was opened
  emit opened(order.new_source);
  update_later();
}

void Study::set_session(Session next) {
  const Session& session = subject_.session;
  if (next.viewport == Viewport{} && next.patch == session.patch)
    next.viewport = {0, double(length()), 0, double(length())};
  if (next == session) {
    if (opening() && !opening_.order()->new_source) opening_.cancel();  // back to the shown patch
    return update_later();
  }
  const bool same_source = subject_.source && next.source == session.source;
  if (same_source && subject_.source->kind == "image" && next.patch != session.patch) {
    const std::string source = next.source;
    return opening_.open({source, std::move(next), opening_.expected_hash(), false});
  }
  const Index length_before = length();
  const std::vector<int> from = continued_columns(session.columns, next.columns);
  cells_.continue_cells(next, from);
  results_.continue_columns(next.columns, from);
  if (marks_.chosen()) {
    marks_.continue_columns(from);
    emit leaves_chosen();
  }
  // While the view moves the cores are for what is seen, and for drawing it.
  if (!(next.viewport == session.viewport))
    requests_.hold_back(priority_of(RequestKind::column), 150ms);
  subject_.session = std::move(next);
  subject_.selected_column =
      std::clamp(subject_.selected_column, 0, std::max(0, int(columns().size()) - 1));
  if (length() != length_before) select({0, 0}, {0, 0});  // a layer of other tokens
  if (paused()) resume();
  emit session_changed();
  update_later();
}

void Study::select_column(int column) {
  if (column == selected_column() || column < 0 || column >= int(columns().size())) return;
  subject_.selected_column = column;
  emit columns_changed();
  emit session_changed();
  update_later();
}

void Study::set_dark(bool dark) {
  subject_.dark = dark;
  update_later();
}

void Study::set_panel_pixels(int side) {
  side = std::clamp((side + 63) / 64 * 64, 128, 1024);  // in steps: a resize is not a new picture
  if (std::exchange(subject_.panel_pixels, side) != side) update_later();
}

void Study::choose_leaves(int column, IndexRange leaves) {
  marks_.choose({column, leaves});
  update_later();
  emit leaves_chosen();
}

Index Study::leaf_count(int column) const {
  const auto c = static_cast<std::size_t>(column);
  if (column < 0 || c >= columns().size() || !columns()[c].computation) return 0;
  return fovea::leaf_count(columns()[c].computation->op->plan());
}

void Study::want_cards(HeadCards::Heads heads) {
  if (cards_.want(std::move(heads))) update_later();
}

void Study::hover(Index query, Index key, int column) {
  const PointedPair pointed{query, key, column};
  if (pointed == subject_.pointed) return;
  subject_.pointed = pointed;
  if (query < 0 || key < 0) emit pair_read(nullptr);
  update_later();
}

void Study::select(IndexRange rows, IndexRange cols) {
  subject_.selection.reset();
  if (rows.size() > 0 && cols.size() > 0) subject_.selection = {rows, cols};
  if (!subject_.selection) emit selection_read(nullptr);
  update_later();
}

void Study::cancel() {
  opening_.cancel();
  requests_.pause();
  update_later();
}

void Study::resume() {
  requests_.resume();
  results_.forget_errors();
  cells_.forget_errors();
  maps_.forget_errors();
  probe_.forget_errors();
  cards_.forget_errors();
  update_later();
}

void Study::start_sweep(Requests::Step step, Requests::Done done) {
  requests_.start({RequestKind::sweep}, 0, std::move(step), std::move(done));
}

bool Study::drawn() const {
  if (opening()) return false;
  if (!problem() && !shows_matrix()) return !results_.problem_error().empty();
  return cells_.complete();
}

void Study::update() {
  updated_ = Clock::now();
  if (!subject_.source) return update_model();  // an empty canvas, in the window's look
  opening_.find_hash(subject_);
  requests_.begin_round();
  maps_.begin_round();
  if (!opening() && !shows_matrix()) update_results();
  marks_.update();
  cells_.update();
  update_model();
  if (problem() && !opening()) {
    update_readings();
    if (cards_.update(settled())) emit cards_changed();
  }
  if ((problem() || shows_matrix()) && !opening()) requests_.end_round();
  emit columns_changed();
  if (!paused() && settled() && status().waiting == 0)
    timings_.measure_next(columns(), [this] { update_later(); });
  if (!drawn() && !paused() && !update_timer_.isActive())
    update_timer_.start(150ms);  // to show progress
  if (filling()) fill_timer_.start(250ms);
}

void Study::update_results() {
  results_.update_problem();
  if (!problem()) return;
  results_.update_exact();
  maps_.update_exact();
  results_.update_columns(maps_.waits_for_first_look());
  results_.update_comparisons();
  timings_.annotate(results_.exact());
  for (ColumnState& state : results_.columns()) timings_.annotate(state);
}

void Study::update_readings() {
  const Probe::Readings readings = probe_.update();
  if (readings.pair) emit pair_read(readings.pair);
  if (readings.row) emit row_read(readings.row);
  if (readings.exact_row) emit exact_row_read(readings.exact_row);
  if (readings.selection) emit selection_read(readings.selection);
}

void Study::update_model() {
  auto model = make_canvas_model(subject_, columns(), cells_.cells(), marks_);
  if (model_ && same_pictures(*model, *model_)) {
    // A frame takes the cores that compute: not every step of progress is shown.
    if (same_statuses(*model, *model_)) return;
    if (Clock::now() - model_shown_ < progress_interval) {
      if (!update_timer_.isActive()) update_timer_.start(progress_interval);
      return;
    }
  }
  model_shown_ = Clock::now();
  model_ = std::move(model);
  emit model_changed(model_);
}

// Where more of the view is on its way the results are shown together: drawing each would take the
// cores that compute the next.
void Study::result_arrived() {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - updated_);
  const bool more = std::ranges::any_of(
      std::initializer_list<RequestKind>{RequestKind::map, RequestKind::panel, RequestKind::curve,
                                         RequestKind::ranks},
      [this](RequestKind kind) { return requests_.any_pending(kind); });
  if (requests_.take_asks_again() || !more || since >= together) return update_later();
  if (!update_timer_.isActive() || update_timer_.remainingTimeAsDuration() > together)
    update_timer_.start(together - since);
}

void Study::update_later() {
  if (!update_timer_.isActive() || update_timer_.remainingTime() > 0) update_timer_.start(0);
}

}  // namespace fovea
