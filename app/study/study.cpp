#include "study/study.h"

#include <algorithm>
#include <utility>

#include "analysis/worst_queries.h"
#include "data/address.h"
#include "data/number_text.h"
#include "data/text.h"
#include "input/assets.h"
#include "input/open_source.h"
#include "study/continued_session.h"
#include "study/fitting_session.h"

namespace fovea {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto together = 80ms;       // results that arrive within it are shown together
constexpr auto longest_hold = 400ms;  // of a step that is shown as a whole
constexpr auto head_hold = 100ms;     // of pictures of the head before: shorter than is noticed
constexpr auto progress_interval = 100ms;  // between two reports of progress in the cells

/// Names the columns that wait now, with a source of `n` tokens, and did not before; empty if there
/// are none.
std::string words_on_left_out(const std::vector<WaitingColumn>& before,
                              const std::vector<WaitingColumn>& now, Index n) {
  std::string names;
  int count = 0;
  bool too_long = n > long_head;
  for (const WaitingColumn& one : now) {
    const auto same = [&](const WaitingColumn& other) { return other.column == one.column; };
    if (std::ranges::any_of(before, same)) continue;
    add_item(names, one.title);
    ++count;
    too_long &= one.n <= long_head && !one.column.held;
  }
  if (count == 0) return {};
  const std::string why = too_long ? (count == 1 ? ", which takes" : ", which take") +
                                         std::string(" long with ") + std::to_string(n) + " tokens"
                                   : "";
  return "This source cannot show " + names + why + ". " +
         (count == 1 ? "The column returns" : "The columns return") +
         " with a source that can. Undo opens the source before, with all columns.";
}

constexpr auto between_sittings = 200ms;  // of timing, so that the machine may change its state

}  // namespace

Study::Study(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background,
             QObject* parent)
    : QObject(parent),
      background_(background ? std::move(background) : std::make_shared<Background>()),
      requests_(std::move(backend), background_) {
  for (QTimer* timer : {&update_timer_, &refine_timer_, &sitting_timer_}) {
    timer->setSingleShot(true);
    connect(timer, &QTimer::timeout, this, &Study::update);
  }
  connect(&requests_, &Requests::arrived, this, &Study::result_arrived);
  connect(&requests_, &Requests::device_lost, this, [this](const QString& message) {
    use_backend(BackendChoice{.backend = "cpu"});
    emit reported(message +
                  "\n\nEverything is computed again on the CPU. Compute > Back end starts the GPU "
                  "again. If that is refused, restart Fovea.");
  });
  connect(&opening_, &SourceOpening::about_to_open, this, [this](const SourceToOpen& as) {
    if (subject_.source && as.new_source) emit leaving();
  });
  connect(&opening_, &SourceOpening::opened, this, &Study::show);
  connect(&opening_.growth(), &SourceGrowth::grown, this, &Study::grow);
  connect(&opening_.growth(), &SourceGrowth::ended, this, [this](const QString& error) {
    if (!error.isEmpty()) return end_growth(error.toStdString());
    partial_ = false;
    update_later();
  });
  connect(&opening_, &SourceOpening::failed, this,
          [this](const SourceToOpen& what, const QString& message) {
            report_not_opened();
            // The model of what is shown cannot be read again either.
            if (partial_ && what.what == session().source && !growing())
              return end_growth(message.toStdString());
            read_again_if_partial();
            if (message.isEmpty()) return;
            const auto report = [this, message] { emit reported(message); };
            report();
            // What is opened now, as it waited for this, hides messages.
            if (opening()) connect(this, &Study::opened, this, report, Qt::SingleShotConnection);
          });
  connect(&opening_, &SourceOpening::reported, this, [this](const QString& message) {
    emit reported(message);
    update_later();
  });
}

void Study::open(const std::string& what, std::optional<Session> session,
                 const std::string& expected_hash, std::function<void()> ask_for_other_content,
                 std::vector<ColumnTree> trees) {
  auto known = find_source ? find_source(what) : nullptr;
  opening_.open({what, std::move(session), expected_hash, true, std::move(known),
                 std::move(ask_for_other_content), std::move(trees)});
  if (!source()) update_later();  // to say so
}

void Study::open(std::shared_ptr<const Source> source) {
  const std::string what = source->path;
  opening_.open({.what = what, .session = {}, .expected_hash = {}, .source = std::move(source)});
}

// As when another head is chosen: results are asked for by the source's number.
void Study::continue_source(std::shared_ptr<const Source> source) {
  if (source == subject_.source) return;
  if (!same_shape(*source, *subject_.source)) {
    const std::string what = source->path;
    Session next = session_going_on(session(), length(), *source);
    return opening_.open({what, std::move(next), {}, false, std::move(source)});
  }
  const auto before = std::exchange(subject_.source, source);
  subject_.session.spans =
      continued_spans(subject_.session, *before, subject_.session, *subject_.source);
  requests_.discard(before);
  subject_.source_number = numbers_.of(source);
  held_since_ = Clock::now();
  if (paused()) resume();
  emit source_continued();
  emit session_changed();
  update_later();
}

// Results are of heads that stay: nothing is computed again.
void Study::grow(std::shared_ptr<const Source> source) {
  if (!begins_with(*source, *subject_.source)) {  // layers that came last are before the others
    Session next = session();
    const auto& before = subject_.source->layers;
    const auto follow = [&](Index& layer) {
      if (layer >= std::ssize(before)) return;
      const auto place = std::ranges::find(source->layers, before[layer].name, &Layer::name);
      if (place != source->layers.end()) layer = place - source->layers.begin();
    };
    follow(next.layer);
    for (Column& column : next.columns)
      if (column.held && column.held->source.empty()) follow(column.held->layer);
    const std::string what = source->path;
    return opening_.open({what, std::move(next), {}, false, std::move(source)});
  }
  numbers_.follow(subject_.source, source);
  requests_.discard(std::exchange(subject_.source, std::move(source)));
  emit source_grew();
  emit session_changed();
  resume();  // heads that were not there yet are asked for again
}

void Study::end_growth(const std::string& why) {
  opening_.growth().stop();
  partial_ = false;
  Source marked = *subject_.source;
  const std::string words = "Only the first " + plural(std::ssize(marked.layers), "layer") +
                            " of the model " + (marked.layers.size() == 1 ? "is" : "are") +
                            " here: " + why;
  marked.notes.push_back(words);
  grow(std::make_shared<const Source>(std::move(marked)));
  emit reported(QString::fromStdString(words));
}

// What was asked for instead is not shown: the other layers of what is shown are wanted again.
void Study::read_again_if_partial() {
  if (!partial_ || growing() || opening()) return;
  opening_.open({session().source, session(), opening_.content_hash(), false});
}

Index Study::layers_to_come() const {
  if (!growing()) return 0;
  return std::max<Index>(0, opening_.growth().expected() - std::ssize(subject_.source->layers));
}

std::string Study::layers_text() const {
  const auto text = [](Index there, Index expected) {
    if (there == 0 || expected <= there) return std::string();
    return "layer " + std::to_string(there) + " of " + std::to_string(expected);
  };
  if (opening()) return text(opening_.layers().there, opening_.layers().expected);
  if (!growing()) return {};
  return text(std::ssize(subject_.source->layers), opening_.growth().expected());
}

void Study::use_backend(std::unique_ptr<Backend> backend) {
  requests_.use_backend(std::move(backend));
  forget_results();
  opening_.restart();
  resume();
  emit columns_changed();
}

void Study::use_backend(const BackendChoice& choice) {
  struct Made {
    std::unique_ptr<Backend> backend;
    std::vector<std::string> notes;
  };
  const auto made = std::make_shared<Made>();
  background_->devices.run(
      [made, choice] { made->backend = make_low_priority_backend(choice, &made->notes); }, this,
      [this, made](const std::string& error) {
        if (!error.empty()) return void(emit reported(QString::fromStdString(error)));
        use_backend(std::move(made->backend));
        QStringList notes;
        for (const std::string& note : made->notes) notes << QString::fromStdString(note);
        if (!notes.isEmpty()) emit reported(notes.join(' '));
      });
}

// Pictures stay until there are newer ones.
void Study::forget_results() {
  requests_.clear_caches();
  results_.clear();
  maps_.clear();
  cells_.forget_maps();
}

void Study::show(std::shared_ptr<const Source> source, const SourceToOpen& as) {
  continued_ = subject_.source && !as.session;
  const Index length_before = length();
  const auto waited = as.new_source ? std::exchange(waiting_, {}) : waiting_;
  if (continued_) waiting_ = waited;
  Session next = as.session   ? *as.session
                 : continued_ ? continued_session(subject_.session, length(), *source, waiting_)
                              : first_session(*source);
  if (continued_) next.spans = continued_spans(subject_.session, *subject_.source, next, *source);
  OtherSource before{std::move(subject_.source), subject_.source_number};
  const std::string path_before = session().source;
  const int patch_before = session().patch;
  next = fitting_session(std::move(next), *source);
  const Lengths lengths = source->layers[next.layer].lengths();
  if (!as.new_source) follow_length(next, session(), length_before, lengths.keys);

  subject_.source = std::move(source);
  subject_.source_number = numbers_.of(subject_.source);
  partial_ = growing();
  held_since_.reset();
  subject_.session = {};
  subject_.pointed = {};
  subject_.selection.reset();
  subject_.worst_query.reset();
  worst_of_.reset();
  if (as.new_source && !continued_) subject_.selected_column = 1;  // the first beside exact
  results_.continue_columns({}, {});
  cells_.clear();
  forget_results();
  const bool held = std::ranges::any_of(next.columns, [&](const Column& column) {
    return column.held && column.held->source == path_before;
  });
  if (held && before.source)
    results_.keep_source(path_before, patch_before, std::move(before));
  else if (before.source)
    requests_.discard(std::move(before.source));
  results_.set_length(lengths.keys);
  cards_.choose({}, 0);
  choose_leaves(0, {0, 0});
  choose_block({});
  forget_readings();
  requests_.resume();
  apply(std::move(next));
  results_.give_trees(as.trees);
  results_.update_heads();  // while the window shows what was opened
  emit opened(as.new_source);
  // Whatever was marked again by then: the pictures before stay until there are others.
  if (!as.new_source) held_since_ = Clock::now();
  emit session_changed();
  if (const std::string words = words_on_left_out(waited, waiting_, lengths.keys);
      continued_ && !words.empty())
    emit reported(QString::fromStdString(words));
  update();  // asks for results before the window is drawn
}

// Some of the window may show the Session already that was to be opened.
void Study::report_not_opened() {
  emit not_opened();
  emit session_changed();
  update_later();
}

Session Study::when_reopened(const Session& session) const {
  const bool keeps = opening_.content() && same_content(session, subject_.session);
  return keeps ? with_content_of(wanted_session(), session) : session;
}

void Study::cancel_opening() {
  if (!opening_.opens_source()) return;
  opening_.cancel_source();
  read_again_if_partial();
  update_later();
}

void Study::keep_content() {
  if (!opening_.content()) return;
  opening_.cancel_content();
  read_again_if_partial();
  emit session_changed();  // some of the window may show the other content already
  update_later();
}

bool Study::opens_content(const Session& next) const {
  if (!subject_.source) return false;
  const bool other_order = next.source != session().source &&
                           in_own_order(next.source) == in_own_order(session().source);
  return other_order || same_model(next.source, session().source) ||
         (next.source == session().source && subject_.source->kind == "image" &&
          next.patch != session().patch);
}

Session Study::fitting(Session session) const {
  if (!source() || opens_content(session)) return session;
  return fitting_session(std::move(session), *source());
}

void Study::set_session(Session next) {
  next = fitting(std::move(next));
  if (next == session()) return update_later();
  if (opens_content(next)) {
    const std::string source = next.source;
    const std::string hash = source == session().source ? opening_.content_hash() : "";
    return opening_.open({source, std::move(next), hash, false});
  }
  if (opening_.content()) opening_.change_session(next);
  const bool other_head = next.layer != session().layer || next.head != session().head;
  apply(std::move(next));
  if (paused()) resume();
  emit session_changed();
  if (!other_head) return;
  head_chosen_ = Clock::now();
  update_at_once();
}

void Study::apply(Session next) {
  held_since_.reset();  // what a person changes is shown at once
  head_chosen_.reset();
  const Session& session = subject_.session;
  const Lengths lengths_before = lengths();
  const std::vector<int> from = continued_columns(session.columns, next.columns);
  cells_.continue_cells(next, from);
  results_.continue_columns(next.columns, from);
  if (marks_.chosen()) {
    marks_.continue_columns(from);
    emit leaves_chosen();
  }
  if (auto& block = subject_.chosen_block) {  // shown with the next model
    block->column = static_cast<int>(std::ranges::find(from, block->column) - from.begin());
    if (block->column == std::ssize(from)) block.reset();
  }
  subject_.comparison = continued_comparison(subject_.comparison, from);
  if (!(next.viewport == session.viewport)) requests_.hold_back_for_view();
  subject_.session = std::move(next);
  subject_.selected_column =
      std::clamp(subject_.selected_column, 0, std::max(0, int(columns().size()) - 1));
  if (lengths() != lengths_before) {  // a layer of other tokens
    hover(-1, -1, 0);
    select({0, 0}, {0, 0});
    choose_block({});
  }
  if (shows_matrix()) forget_readings();
  update_later();
}

void Study::select_column(int column) {
  if (column == selected_column() || column < 0 || column >= int(columns().size())) return;
  subject_.selected_column = column;
  attend();
  find_worst_query();
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

void Study::set_sight(IndexRange rows, IndexRange columns) {
  subject_.rows_in_sight = rows;
  subject_.columns_in_sight = columns;
  attend();
}

/// What a person looks at has priority from now on.
void Study::attend() {
  requests_.attend({subject_.selected_column, subject_.rows_in_sight, subject_.columns_in_sight});
}

void Study::cancel_learning(std::size_t column) {
  results_.cancel_learning(column);
  update_later();
}

void Study::choose_leaves(int column, IndexRange leaves) {
  marks_.choose({column, leaves});
  update_later();
  emit leaves_chosen();
}

void Study::compare(const std::optional<Comparison>& comparison) {
  if (comparison == subject_.comparison) return;
  subject_.comparison = comparison;
  emit session_changed();
  update_later();
}

void Study::choose_block(std::optional<PointedPair> pair) {
  subject_.chosen_block = pair;
  emit block_chosen();
}

void Study::want_spans(bool on) {
  spans_.want(on);
  if (on) update_later();
}

void Study::choose_cards(HeadCards::Heads heads, std::size_t cards_first) {
  if (cards_.choose(std::move(heads), cards_first)) update_later();
}

std::shared_ptr<const void> Study::measure_heads() {
  update_later();
  return cards_.measure_heads();
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
  if (reads_drawn_pairs()) return requests_.cancel({RequestKind::drawn_pairs}), update_later();
  const bool was_opening = opening();
  opening_.cancel();
  if (partial_ && !was_opening)
    end_growth("the others were cancelled, and come when it is read again");
  requests_.pause();
  if (was_opening) read_again_if_partial();
  if (was_opening) report_not_opened();
  update_later();
}

void Study::resume() {
  requests_.resume();
  cells_.forget_errors();
  update_later();
}

void Study::measure_again() {
  timings_.forget();
  resume();
}

void Study::update() {
  updated_ = Clock::now();
  if (!subject_.source) return update_model();  // an empty canvas, in the window's look
  const auto problem_before = problem();
  opening_.find_hash(subject_);
  attend();
  requests_.begin_update();
  if (!opening()) update_results();
  marks_.update();
  cells_.update();
  update_model();
  if (problem() && !opening()) update_readings();
  if ((problem() || shows_matrix()) && !opening() && cards_.update(settled())) emit cards_changed();
  if (!opening() && spans_.update()) emit spans_read();
  requests_.end_update();
  if (problem() != problem_before) emit session_changed();
  emit columns_changed();
  // Beside a model that computes, times would be those of fewer cores.
  if (!paused() && !growing() && settled() && status().waiting == 0 && !sitting_timer_.isActive())
    timings_.measure_next(results_, [this] {
      sitting_timer_.start(between_sittings);
      update_later();
    });
  if (!panels_ready() && !paused()) update_within(150ms);  // to show progress
  if (refining()) refine_timer_.start(250ms);
}

void Study::update_results() {
  results_.update_heads();
  results_.update_exact();
  maps_.update_exact();
  if (shows_matrix()) return;
  results_.update_columns(maps_.waits_for_first_estimate());
  results_.update_comparisons();
  find_worst_query();
  for (HeadState& head : results_.heads()) timings_.annotate(head.exact);
  for (ColumnState& state : results_.columns()) timings_.annotate(state);
}

// Until the errors of a column are known, the worst query of the one before stays.
void Study::find_worst_query() {
  const ColumnState* column = selected();
  if (!column || !column->metrics || column->stale) return;
  if (std::exchange(worst_of_, column->metrics) == column->metrics) return;
  const std::vector<float>& errors = column->metrics->token_error;
  subject_.worst_query =
      errors.empty() ? std::nullopt : std::optional(worst_queries(errors).front());
}

void Study::update_readings() {
  const Probe::Readings readings = probe_.update();
  const auto is_read = [](const auto& pair) { return pair != nullptr; };
  if (std::ranges::any_of(readings.pairs, is_read)) emit pairs_read(readings.pairs);
  if (readings.pair) emit pair_read(readings.pair);
  if (readings.row) emit row_read(readings.row);
  if (readings.exact_row) emit exact_row_read(readings.exact_row);
  if (readings.selection) emit selection_read(readings.selection);
}

void Study::forget_readings() {
  emit pairs_read({});
  emit pair_read(nullptr);
  emit row_read(nullptr);
  emit exact_row_read(nullptr);
  emit selection_read(nullptr);
}

// Pictures of one step beside those of another, and lines of text that come and go, would flicker.
bool Study::step_is_whole() const {
  return pictures_ready() && std::ranges::all_of(columns(), [this](const ColumnState& column) {
           return column.metrics || !column.error.empty() || is_reference(column.column.variant) ||
                  shows_matrix();
         });
}

void Study::update_model() {
  const auto left = [&](const std::optional<Clock::time_point>& since, auto longest) {
    return !since || paused()
               ? 0ms
               : std::chrono::ceil<std::chrono::milliseconds>(*since + longest - Clock::now());
  };
  if (const auto time = left(held_since_, longest_hold); time > 0ms && !step_is_whole())
    return update_within(time);
  // Each frame in between would take the cores that compute the pictures.
  if (const auto time = left(head_chosen_, head_hold); time > 0ms && !pictures_ready())
    return update_within(time);
  held_since_.reset();
  head_chosen_.reset();
  auto model = make_canvas_model(subject_, results_, cells_.cells(), marks_);
  if (!source() && opening()) model->opening = short_name(opening_.pending()->what);
  if (model_ && *model == *model_) return;
  // A frame takes the cores that compute: not every step of progress is shown.
  if (model_ && Clock::now() - model_shown_ < progress_interval && same_pictures(*model, *model_))
    return update_within(progress_interval);
  model_shown_ = Clock::now();
  model_ = std::move(model);
  emit model_changed(model_);
}

// Where more of the view is on its way the results are shown together: drawing each would take the
// cores that compute the next.
void Study::result_arrived(bool ask_again) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - updated_);
  const bool more = requests_.any_pending(
      {RequestKind::map, RequestKind::panel, RequestKind::curve, RequestKind::slow_panel});
  if (ask_again) return update_at_once();
  update_within(!more || since >= together ? 0ms : together - since);
}

// A timer would let the window paint before the engine knows what is needed next.
void Study::update_at_once() {
  update_timer_.stop();
  update();
}

void Study::update_within(std::chrono::milliseconds time) {
  if (!update_timer_.isActive() || update_timer_.remainingTimeAsDuration() > time)
    update_timer_.start(time);
}

}  // namespace fovea

#include "moc_study.cpp"
