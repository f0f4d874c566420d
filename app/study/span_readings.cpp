#include "study/span_readings.h"

#include <algorithm>

#include "data/error.h"

namespace fovea {
namespace {

constexpr std::size_t most_groups = 128;  // rows and columns that a person can look at

std::vector<TokenGroup> groups_of(const Grouping& grouping) {
  std::vector<TokenGroup> groups;
  for (const std::string& name : grouping.names) groups.push_back({.name = name});
  std::vector<IndexRange> reach(groups.size(), {grouping.n(), 0});
  for (Index i = 0; i < grouping.n(); ++i) {
    const auto g = static_cast<std::size_t>(grouping.group[i]);
    ++groups[g].count;
    reach[g] = {std::min(reach[g].begin, i), i + 1};
  }
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (reach[g].size() == groups[g].count) groups[g].tokens = reach[g];
  return groups;
}

std::vector<Span> spans_of(const Sequence& sequence, SpanChoice choice,
                           const std::vector<Span>& named, Index n) {
  if (choice == SpanChoice::named && named.empty())
    throw InputError("",
                     "No span is named yet: select some tokens in a panel, or type their range");
  if (choice != SpanChoice::parts && !named.empty()) {
    if (std::string fault = fault_of(named, n); !fault.empty()) throw InputError("", fault);
    return named;
  }
  std::vector<Span> parts = marked_spans(sequence);
  if (!parts.empty()) return parts;
  if (choice == SpanChoice::sinks) return {{.name = "all tokens", .tokens = {0, n}}};
  throw InputError("",
                   "Nothing marks the parts of this sequence: name spans by hand, or look at "
                   "its sinks");
}

}  // namespace

SpanReading read_spans(const Sequence& sequence, SpanChoice choice, const std::vector<Span>& named,
                       const Operator& approximate, const Operator& exact, Run& run) {
  const Lengths lengths = exact.plan().lengths;
  if (!lengths.equal())
    throw InputError("", "Spans are of one sequence; this head has " + lengths.text());
  const Index n = lengths.n();
  const std::vector<Span> spans = spans_of(sequence, choice, named, n);
  if (spans.size() > most_groups)
    throw InputError("", "There are " + std::to_string(spans.size()) +
                             " spans, and a table shows at most " + std::to_string(most_groups) +
                             ": name the important ones by hand");
  const Grouping queries = grouping_of_spans(n, spans);
  const Grouping keys = choice == SpanChoice::sinks ? standard_sinks(n, sequence) : queries;
  return {groups_of(queries), groups_of(keys), span_mass(approximate, exact, queries, keys, run)};
}

bool SpanReadings::update() {
  if (!wanted_) return false;
  State now = present();
  if (now == state_) return false;
  state_ = std::move(now);
  return true;
}

SpanReadings::State SpanReadings::present() {
  const auto nothing = [](const std::string& status) { return State{.status = status}; };
  if (!subject_.source) return nothing("Nothing is open.");
  if (subject_.shows_matrix())
    return nothing("This source holds only an attention matrix: there is nothing to compare.");
  if (!results_.opened().error.empty()) return nothing(results_.opened().error);
  const auto selected = static_cast<std::size_t>(std::max(0, subject_.selected_column));
  if (selected >= results_.columns().size()) return nothing("There is no column.");
  const ColumnState& column = results_.columns()[selected];
  if (!column.error.empty()) return nothing(column.error);
  const ColumnState& exact = results_.exact_of(column);
  if (!exact.error.empty()) return nothing(exact.error);
  if (!column.computation || !exact.computation)
    return nothing(results_.title_of(subject_.selected_column) + " is not computed yet.");
  return reading_of(column);
}

SpanReadings::State SpanReadings::reading_of(const ColumnState& column) {
  const Session& session = subject_.session;
  const ColumnState& exact = results_.exact_of(column);
  Key key{.of = {column.key, exact.key}, .choice = session.span_choice, .named = {}};
  if (key.choice != SpanChoice::parts)
    for (const Span& span : session.spans) key.named.push_back(span.tokens);
  const auto* answer = readings_.ask(
      {RequestKind::spans}, key,
      [source = subject_.source, layer = session.layer, choice = key.choice, named = session.spans,
       approximate = column.computation, exact = exact.computation](const Backend&, Run& run) {
        return read_spans(sequence_of(*source, layer), choice, named, *approximate->op, *exact->op,
                          run);
      });
  if (answer && !answer->result) return {.status = answer->error + "."};
  if (answer) {
    shown_ = std::move(key);
    return {.reading = with_present_names(answer->result),
            .title = results_.title_of(subject_.selected_column),
            .reference = is_reference(column.column.variant),
            .stale = column.stale};
  }
  State waiting{.status = requests_.paused() ? "Cancelled."
                                             : "Measuring the attention between the spans…"};
  if (state_.reading && shown_.same_table(key)) {
    waiting = {state_.reading, state_.title, state_.reference, true, std::move(waiting.status)};
  }
  return waiting;
}

// A new name changes no mass.
std::shared_ptr<const SpanReading> SpanReadings::with_present_names(
    std::shared_ptr<const SpanReading> reading) {
  const std::vector<Span>& named = subject_.session.spans;
  const auto for_names = [&](auto& in, auto use) {
    if (shown_.choice == SpanChoice::parts) return;
    for (std::size_t s = 0; s < named.size(); ++s) {
      use(in.queries[s].name, named[s].name);
      if (shown_.choice == SpanChoice::named) use(in.keys[s].name, named[s].name);
    }
  };
  const auto has_names = [&](const SpanReading& one) {
    bool same = true;
    for_names(one, [&](const std::string& a, const std::string& b) { same = same && a == b; });
    return same;
  };
  if (has_names(*reading)) return reading;
  if (renamed_of_ == reading && has_names(*renamed_)) return renamed_;
  auto copy = std::make_shared<SpanReading>(*reading);
  for_names(*copy, [](std::string& name, const std::string& by) { name = by; });
  renamed_of_ = std::move(reading);
  return renamed_ = std::move(copy);
}

}  // namespace fovea
