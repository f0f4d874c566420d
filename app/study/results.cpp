#include "study/results.h"

#include <algorithm>
#include <utility>

#include "data/error.h"
#include "input/open_source.h"
#include "session/held_head.h"
#include "study/source_opening.h"
#include "study/tree_learning.h"
#include "variants/learned_tree.h"
#include "views/views.h"

namespace fovea {
namespace {

Computation computed(const Problem& problem, const ComputeRequest& request, const Backend& backend,
                     Run& run) {
  if (request.variant->reference && is_long(problem.lengths()))
    if (Computation prepared = prepare(problem, request, backend, run); prepared.op->has_rows())
      return prepared;  // its output is computed piece by piece
  return compute(problem, request, backend, run);
}

}  // namespace

std::optional<int> Results::exact_column(std::size_t head) const {
  const auto exact = std::ranges::find_if(columns_, [head](const ColumnState& state) {
    return is_reference(state.column.variant) && state.head == head;
  });
  if (exact == columns_.end()) return {};
  return static_cast<int>(exact - columns_.begin());
}

std::string Results::title_of(int column) const {
  const auto& columns = subject_.session.columns;
  if (column < 0 || column >= std::ssize(columns)) return "";
  if (subject_.shows_matrix()) return "Attention matrix";
  const auto c = static_cast<std::size_t>(column);
  std::string title = label_of(columns, c);
  const auto& held = columns[c].held;
  if (!held) return title;
  const auto source = columns_[c].head < heads_.size() ? head_of(columns_[c]).source : nullptr;
  return title + ", " + label_of(*held, source.get());
}

void Results::update_heads() {
  choose_heads();
  if (subject_.shows_matrix()) return update_matrix();
  matrix_.reset();
  for (std::size_t h = 0; h < heads_.size(); ++h) update_head(h);
  sources_.set_capacity(0);  // those that no column needs any more are dropped
}

// A head that was there already keeps what is known of it.
void Results::choose_heads() {
  std::vector<HeadState> before = std::exchange(heads_, {});
  const auto choose = [&](const std::optional<HeldHead>& held) {
    const auto chosen = std::ranges::find(heads_, held, &HeadState::held);
    if (chosen != heads_.end()) return static_cast<std::size_t>(chosen - heads_.begin());
    const auto known = std::ranges::find(before, held, &HeadState::held);
    heads_.push_back(known == before.end() ? HeadState{.held = held} : std::move(*known));
    heads_.back().exact.head = heads_.size() - 1;
    return heads_.size() - 1;
  };
  choose({});
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto& held = subject_.session.columns[i].held;
    columns_[i].head = held && is_opened(*held, subject_.session) ? 0 : choose(held);
  }
}

// Once for all heads of a file.
const Results::SourceCache::Answer* Results::other_source(const std::string& path) {
  const auto first = std::ranges::find_if(
      heads_, [&](const HeadState& head) { return head.held && head.held->source == path; });
  const RequestId id{RequestKind::problem, 1, static_cast<int>(first - heads_.begin())};
  const int patch = subject_.session.patch;
  return sources_.ask(id, {path, patch}, [path, patch](const Backend& backend, Run& run) {
    OpenOptions options{.threads = backend.threads(), .stop = run.stop};
    options.patch = patch;
    return OtherSource{std::make_shared<const Source>(open_source(path, options)),
                       next_source_number()};
  });
}

void Results::keep_source(const std::string& path, int patch, OtherSource source) {
  sources_.put({{path, patch}, std::make_shared<const OtherSource>(std::move(source))});
}

void Results::update_head(std::size_t h) {
  HeadState& head = heads_[h];
  const int place = static_cast<int>(h);
  head.problem.reset();
  head.error.clear();
  head.source = subject_.source;
  head.key = subject_.head();
  if (head.held && !head.held->source.empty()) {
    const auto* other = other_source(head.held->source);
    head.source.reset();
    if (other) head.error = other->error;
    if (!other || !other->result) return;
    head.source = other->result->source;
    head.key.source = other->result->number;
  }
  if (head.held) head.key.choice = choice_of(*head.held, subject_.session);
  const auto* answer =
      problems_.ask({RequestKind::problem, 0, place}, head.key,
                    [source = head.source, choice = head.key.choice](const Backend&, Run& run) {
                      compute_layers(*source, choice.layer, run);
                      return problem_of(*source, choice, run.stop);
                    });
  if (!answer) return;
  head.problem = answer->result;
  head.error = answer->error;
  if (!head.problem || !head.held) return;
  try {
    require_tokens(*head.problem, *head.source, *head.held, subject_.lengths());
  } catch (const InputError& error) {
    head.problem.reset();
    head.error = error.what();
  }
}

void Results::update_matrix() {
  clear();
  const Session& session = subject_.session;
  const HeadKey key{subject_.source_number, {.layer = session.layer, .head = session.head}};
  const auto* answer = matrices_.ask(
      {RequestKind::problem}, key, [source = subject_.source, key](const Backend&, Run& run) {
        const auto layer = static_cast<std::size_t>(key.choice.layer);
        return source->layers[layer].attention.read(key.choice.head, run.stop);
      });
  matrix_ = answer ? answer->result : nullptr;
  heads_.front().error = answer ? answer->error : "";
}

void Results::update_exact() {
  // What is requested last runs first: the opened head.
  for (auto head = heads_.rbegin(); head != heads_.rend(); ++head)
    if (head->problem)
      update_column({.variant = reference_variant().id, .values = {}, .seed = 0},
                    static_cast<int>(head->exact.head), head->exact);
}

void Results::update_columns(bool exact_only) {
  // What is requested last runs first: the left column.
  for (std::size_t i = columns_.size(); i-- > 0;) {
    const Column& column = subject_.session.columns[i];
    ColumnState& state = columns_[i];
    const HeadState& head = head_of(state);
    if (!head.problem) {
      if (!head.error.empty()) state = {.column = column, .head = state.head};
      state.error = head.error;
    } else if (is_reference(column.variant)) {
      state = head.exact;
      state.column = column;
    } else if (!exact_only) {
      take_given_tree(column, head);
      update_column(column, static_cast<int>(i), state);
      keep_tree(state);
    } else if (state.computation && !(state.key.head == head.key)) {
      state.computation.reset();
    }
  }
}

void Results::update_column(const Column& column, int place, ColumnState& state) {
  const HeadState& head = head_of(state);
  ComputeKey key{head.key, without_head(column)};
  if (state.computation && !(state.key.head == key.head)) state.computation.reset();
  state.tree_learned_on.clear();
  const KeptTree* tree = computations_.find(key) ? nullptr : kept_tree(key, *head.problem);
  if (tree && !(tree->key.head == head.key)) {
    key.tree_of = tree->key.head;
    const bool same_source = tree->key.head.source == head.key.source;
    state.tree_learned_on =
        (same_source || tree->source.empty() ? "" : tree->source + ", ") + tree->title;
  }
  const auto* answer = ask_for(key, head, place, state);
  state.column = column;
  state.error = answer ? answer->error : "";
  if (!answer || !answer->result) {
    const RequestId& id = state.request;
    // While a slider moves, what arrived last is shown although it is no longer requested.
    const auto& known = computations_.answers();
    const auto newest = std::ranges::find_if(known, [&](const auto& other) {
      return other.result && other.id == id && other.key.head == key.head &&
             other.key.column.variant == column.variant;
    });
    answer = newest == known.end() ? nullptr : &*newest;
  }
  if (answer) {
    state.computation = answer->result;
    state.key = answer->key;
  }
  state.stale = state.computation && !(state.key == key);
}

const Results::ComputationCache::Answer* Results::ask_for(const ComputeKey& key,
                                                          const HeadState& head, int place,
                                                          ColumnState& state) {
  const KeptTree* tree = kept_tree(key, *head.problem);
  const bool is_exact = is_reference(key.column.variant), learns = learns_tree(key.column) && !tree;
  state.request = {is_exact ? RequestKind::exact
                   : learns ? RequestKind::learned
                            : RequestKind::column,
                   0, place};
  if (learns) {
    requests_.need(state.request);
    if (const auto* answer = computations_.find(key)) return answer;
    const auto learning = std::make_shared<TreeLearning>(head.problem, key.column);
    requests_.start_pieces(
        state.request, key,
        [learning](const Backend& backend, Run& run) { return learning->advance(backend, run); },
        [this, key, learning, id = state.request](const std::string& error) {
          computations_.put({key, learning->result(), error, id});
        });
    return nullptr;
  }
  ComputeRequest request = request_of(key.column);
  if (tree) give_tree(request, {0, state.tree_learned_on, tree->tensors});
  return computations_.ask(
      state.request, key,
      [problem = head.problem, request = std::move(request)](const Backend& backend, Run& run) {
        return computed(*problem, request, backend, run);
      });
}

bool Results::learns(std::size_t column) const {
  return column < columns_.size() && columns_[column].request.is_of(RequestKind::learned) &&
         requests_.is_pending(columns_[column].request);
}

void Results::cancel_learning(std::size_t column) {
  if (!learns(column)) return;
  const ColumnState& state = columns_[column];
  requests_.cancel(state.request);
  computations_.put({{head_of(state).key, without_head(state.column)},
                     nullptr,
                     "Its tree is not learned yet: learn it under Parameters.",
                     state.request});
}

std::vector<ColumnTree> Results::shown_trees() const {
  std::vector<ColumnTree> trees;
  const std::vector<Column>& columns = subject_.session.columns;
  for (std::size_t i = 0; i < std::min(columns_.size(), columns.size()); ++i) {
    const ColumnState& state = columns_[i];
    if (!state.computation || state.stale || !(state.column == columns[i])) continue;
    if (auto tree = shown_tree(i, *state.computation, state.tree_learned_on))
      trees.push_back(*std::move(tree));
  }
  return trees;
}

void Results::give_trees(std::vector<ColumnTree> trees) {
  given_trees_.clear();
  const std::vector<Column>& columns = subject_.session.columns;
  for (ColumnTree& tree : trees)
    if (tree.column < columns.size())
      given_trees_.push_back({columns[tree.column], subject_.head(), std::move(tree)});
}

void Results::take_given_tree(const Column& column, const HeadState& head) {
  const auto given = std::ranges::find(given_trees_, column, &GivenTree::column);
  if (given == given_trees_.end()) return;
  const auto [its, opened, tree] = std::move(*given);
  given_trees_.erase(given);
  HeadKey of = column.held ? head.key : opened;
  std::string source, title = tree.learned_on;
  if (title.empty()) {
    source = subject_.source->name;
    title = label_of({.source = "", .layer = of.choice.layer, .head = of.choice.head},
                     subject_.source.get());
  } else {
    of.source = 0;  // no source has it, so that the tree is never taken for the head's own
  }
  keep({{of, without_head(column)}, source, title, head.problem->d(), tree.tensors});
}

void Results::keep(KeptTree tree) {
  constexpr std::size_t most_trees = 16;
  trees_.push_front(std::move(tree));
  if (trees_.size() > most_trees) trees_.pop_back();
}

void Results::keep_tree(const ColumnState& state) {
  if (!state.computation || state.stale || state.key.tree_of || !learns_tree(state.key.column))
    return;
  if (std::ranges::count(trees_, state.key, [](const KeptTree& tree) { return tree.key; })) return;
  const Computation& its = *state.computation;
  Structure tensors = learned_tensors(*its.variant, its.values, its.op->plan());
  if (tensors.empty()) return;
  const HeadState& head = head_of(state);
  const HeldHead of{.source = "", .layer = head.key.choice.layer, .head = head.key.choice.head};
  keep({state.key, head.source->name, label_of(of, head.source.get()), head.problem->d(),
        std::move(tensors)});
}

// That of the head itself before that of another one.
const Results::KeptTree* Results::kept_tree(const ComputeKey& key, const Problem& problem) const {
  const KeptTree* other = nullptr;
  for (const KeptTree& tree : trees_) {
    if (!(tree.key.column == key.column) || tree.d != problem.d()) continue;
    if (tree.key.head == key.head) return &tree;
    if (!other) other = &tree;
  }
  return other;
}

void Results::update_comparisons() {
  // What is requested last runs first: the left column.
  for (std::size_t i = columns_.size(); i-- > 0;) {
    ColumnState& state = columns_[i];
    state.metrics.reset();
    state.diagnostics.reset();
    const ColumnState& reference = exact_of(state);
    if (!state.computation || !reference.computation) continue;
    if (!state.computation->applied() || !reference.computation->applied()) continue;
    const ComparisonKey key{state.key, reference.key};
    const auto approximate = state.computation, exact = reference.computation;
    const int column = static_cast<int>(i);
    const auto* metrics = metrics_.ask({RequestKind::metrics, 0, column}, key,
                                       [approximate, exact](const Backend&, Run& run) {
                                         return compare(*approximate, *exact, run);
                                       });
    if (metrics) state.metrics = metrics->result;
    const auto* diagnostics =
        diagnostics_.ask({RequestKind::diagnostics, 0, column}, key,
                         [approximate, exact](const Backend& backend, Run& run) {
                           return diagnose(*approximate, *exact, backend, run);
                         });
    if (diagnostics) state.diagnostics = diagnostics->result;
  }
}

void Results::put(const ComputeKey& key, std::shared_ptr<const Computation> computation,
                  const std::string& error) {
  computations_.put({key, std::move(computation), error, {RequestKind::exact}});
}

PanelSources Results::sources_of(const PanelKey& panel, const ColumnState& column) const {
  return {PanelPart(panel),
          matrix_ ? subject_.source : head_of(column).source,
          matrix_ ? subject_.session.layer : head_of(column).key.choice.layer,
          matrix_,
          column.computation,
          panel.view->needs_exact ? exact_of(column).computation : column.computation,
          panel.with_metrics ? column.metrics : nullptr,
          panel.with_diagnostics ? column.diagnostics : nullptr,
          nullptr,
          nullptr};
}

void Results::continue_columns(const std::vector<Column>& columns, const std::vector<int>& from) {
  std::vector<ColumnState> next(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (from[i] >= 0 && static_cast<std::size_t>(from[i]) < columns_.size())
      next[i] = columns_[from[i]];
    next[i].column = columns[i];
  }
  columns_ = std::move(next);
}

void Results::clear() {
  for (ColumnState& state : columns_) state = {.column = state.column};
  heads_.assign(1, {});
  matrix_.reset();
}

}  // namespace fovea
