#include "study/pair_drawing.h"

#include <algorithm>
#include <utility>

#include "input/session_file.h"
#include "study/session_editor.h"
#include "variants/drawn.h"

namespace fovea {
namespace {

std::string full_text() {
  return "A session has at most " + std::to_string(most_session_columns) +
         " columns: remove one first";
}

}  // namespace

std::string PairDrawing::draw(bool includes) {
  const auto at = static_cast<std::size_t>(study_.selected_column());
  const auto& chosen = study_.selection();
  if (!chosen) return "Drag a rectangle on a panel first";
  if (at >= study_.columns().size()) return "This source has no columns";
  const ColumnState& state = study_.columns()[at];
  const Variant& variant = drawn_variant();
  const bool is_drawn = state.column.variant == variant.id;
  if (!is_drawn && editor_.is_full()) return full_text();
  Values values = is_drawn ? state.column.values : values_for_length(variant, study_.length());
  const Lengths lengths = study_.lengths();
  const Index block = drawn_block(values);
  const DrawnRectangle added = in_blocks({chosen->first, chosen->second, includes}, block, lengths);
  if (!is_drawn && !is_reference(state.column.variant)) {
    if (!state.computation || state.stale) return "The pairs of this column are not known yet";
    read_pairs(state.computation, block, added);
    study_.select(added.queries, added.keys);
    return {};
  }
  try {
    DrawnPairs pairs = is_drawn ? drawn_pairs(values) : DrawnPairs(!includes);
    pairs.add(added);
    set_drawn_pairs(values, pairs);
  } catch (const UsageError& error) {
    return error.what();
  }
  if (is_drawn)
    editor_.change({}, [&](Session& s) { s.columns[at].values = values; });
  else
    editor_.insert_copy(study_.selected_column(), [&](Column& column) {
      column.variant = variant.id;
      column.values = values;
    });
  study_.select(added.queries, added.keys);
  emit drawn();
  return {};
}

void PairDrawing::read_pairs(const std::shared_ptr<const Computation>& computation, Index block,
                             const DrawnRectangle& added) {
  const RequestId id{RequestKind::drawn_pairs};
  if (study_.reads_drawn_pairs() && waiting_.computation.lock() != computation)
    emit study_.reported(
        "The pairs of another column were still being read: draw the rectangle on it again");
  if (waiting_.computation.lock() != computation || !study_.requests().is_pending(id, computation))
    waiting_ = {computation, {}};
  waiting_.added.push_back(added);
  study_.requests().start(
      id, computation,
      [computation, block](const Backend&, Run& run) {
        return drawn_from(computation->op->plan(), {block, block}, run.stop);
      },
      [this, computation](const auto& pairs, const std::string& error) {
        if (waiting_.computation.lock() == computation) finish(pairs, error);
      });
}

void PairDrawing::finish(std::optional<DrawnPairs> pairs, const std::string& error) {
  const Waiting waiting = std::exchange(waiting_, {});
  const auto report = [&](const std::string& why) {
    emit study_.reported(QString::fromStdString(why));
  };
  if (!pairs) return report(error);
  const auto of = waiting.computation.lock();
  const auto column = std::ranges::find_if(study_.columns(), [&](const ColumnState& state) {
    return of && state.computation == of && !state.stale;
  });
  if (column == study_.columns().end())
    return report("The column that was drawn on has changed: draw the rectangle again");
  if (editor_.is_full()) return report(full_text());
  const Variant& variant = drawn_variant();
  Values values = values_for_length(variant, study_.length());
  try {
    for (const DrawnRectangle& added : waiting.added) pairs->add(added);
    set_drawn_pairs(values, *pairs);
  } catch (const UsageError& fault) {
    return report(fault.what());
  }
  editor_.insert_copy(static_cast<int>(column - study_.columns().begin()), [&](Column& its) {
    its.variant = variant.id;
    its.values = values;
  });
  const DrawnRectangle& last = waiting.added.back();
  study_.select(last.queries, last.keys);
  emit drawn();
}

}  // namespace fovea

#include "moc_pair_drawing.cpp"
