#include "window/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <algorithm>

#include "canvas/viewport.h"
#include "window/docks/docks.h"
#include "window/navigation.h"
#include "window/token_search.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"
#include "window/workspace.h"

namespace fovea {

FindBar::FindBar(Workspace& workspace, Docks& docks, Navigation& navigation)
    : QFrame(&workspace.window),
      workspace_(workspace),
      docks_(docks),
      navigation_(navigation),
      line_(new QLineEdit),
      result_(make_note()) {
  setObjectName("find_bar");
  setAccessibleName("Find a token");
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, rhythm / 2, rhythm, rhythm / 2);
  add_field(*row, "Token", line_, 0, 1);
  line_->setObjectName("find_text");
  line_->setAccessibleName("Text in the tokens");
  line_->setPlaceholderText("Enter: next, Shift+Enter: previous, Esc: close");
  line_->setMaximumWidth(420);
  line_->installEventFilter(this);
  connect(line_, &QLineEdit::textChanged, this, &FindBar::start);
  const auto add_button = [&](const QString& sign, const QString& name, auto slot) {
    QToolButton* button = make_sign_button(sign, name, name);
    button->setFocusPolicy(Qt::TabFocus);
    connect(button, &QToolButton::clicked, this, slot);
    row->addWidget(button);
  };
  add_button("▲", "Previous match", [this] { step(-1); });
  add_button("▼", "Next match", [this] { step(1); });
  result_->setWordWrap(false);
  row->addWidget(result_, 1);
  add_button("✕", "Close the search", &FindBar::close_bar);
  hide();
  const auto search_again = [this] { mark(isVisible() ? line_->text() : QString()); };
  connect(&workspace.study, &Study::opened, this, search_again);
  connect(&workspace.study, &Study::source_continued, this, search_again);
  connect(&workspace.study, &Study::session_changed, this, [this, search_again] {
    if (workspace_.study.lengths() != lengths_) search_again();  // a layer of other tokens
  });
}

void FindBar::open_bar() {
  show();
  line_->setFocus(Qt::ShortcutFocusReason);
  line_->selectAll();
  mark(line_->text());
}

void FindBar::close_bar() {
  hide();
  mark({});
  workspace_.canvas.setFocus();
}

void FindBar::mark(const QString& text) {
  found_.clear();
  at_.reset();
  lengths_ = workspace_.study.lengths();
  FoundTokens tokens;
  if (workspace_.study.source() && !text.isEmpty()) {
    const auto search = [&](const Sequence& sequence, Index count, bool is_key) {
      std::vector<Index> marked;
      for (const IndexRange& match : find_text(sequence, count, text)) {
        found_.push_back({is_key, match});
        for (Index i = std::max(match.begin, marked.empty() ? 0 : marked.back() + 1); i < match.end;
             ++i)
          marked.push_back(i);
      }
      return marked;
    };
    tokens.queries = search(workspace_.study.sequence(), lengths_.queries, false);
    tokens.keys = workspace_.study.has_own_keys()
                      ? search(workspace_.study.key_sequence(), lengths_.keys, true)
                      : tokens.queries;
  }
  docks_.sequence->set_found(tokens.queries);
  docks_.key_sequence->set_found(tokens.keys);
  workspace_.canvas.set_found(std::move(tokens));
  const auto count = std::ssize(found_);
  show_result(text.isEmpty() ? QString()
              : count == 0   ? "No matches"
              : count == 1   ? "1 match"
                             : QString("%1 matches").arg(count));
}

void FindBar::start(const QString& text) {
  mark(text);
  if (found_.empty()) return;
  at_ = first_match();
  show_match();
}

std::size_t FindBar::first_match() const {
  const Index from = workspace_.study.session().pinned_query.value_or(0);
  const auto next = std::ranges::find_if(
      found_, [from](const Match& match) { return !match.is_key && match.tokens.begin >= from; });
  return next == found_.end() ? 0 : next - found_.begin();
}

void FindBar::step(int by) {
  if (!isVisible()) return open_bar();
  if (found_.empty()) return;
  const std::size_t count = found_.size();
  const std::size_t from = at_ ? *at_ + by : first_match() - (by < 0);
  at_ = (from + count) % count;
  show_match();
}

// Moves the match into view, and pins the row of a query.
void FindBar::show_match() {
  const bool is_key = found_[*at_].is_key;
  const IndexRange tokens = found_[*at_].tokens;
  const Index token = tokens.begin;
  workspace_.editor.change("find", [&](Session& s) {
    Viewport& v = s.viewport;
    const double place = double(token) + 0.5;
    const double rows = is_key || (place >= v.row_begin && place < v.row_end)
                            ? 0
                            : place - (v.row_begin + v.row_end) / 2;
    const double cols = !is_key || (place >= v.col_begin && place < v.col_end)
                            ? 0
                            : place - (v.col_begin + v.col_end) / 2;
    if (!is_key) s.pinned_query = token;
    v = canvas::panned(v, rows, cols, workspace_.study.lengths());
  });
  // A crosshair elsewhere would keep the match from being read.
  if (is_key)
    navigation_.drop_hidden_crosshair();
  else
    navigation_.point_to(-1, -1);
  (is_key ? docks_.key_sequence : docks_.sequence)->show_token(token);
  show_result(
      QString("Match %1 of %2: ").arg(*at_ + 1).arg(found_.size()) +
      (tokens.size() == 1
           ? QString("%1 %2").arg(is_key ? "key" : "query").arg(token)
           : QString("%1 %2–%3").arg(is_key ? "keys" : "queries").arg(token).arg(tokens.end - 1)));
}

void FindBar::show_result(const QString& result) {
  result_->setText(result);
  line_->setAccessibleDescription(result);
}

// Handles Enter and Esc before any shortcut of the window does.
bool FindBar::eventFilter(QObject* watched, QEvent* event) {
  const bool pressed = event->type() == QEvent::KeyPress;
  if (!pressed && event->type() != QEvent::ShortcutOverride)
    return QFrame::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
  if (!enter && key->key() != Qt::Key_Escape) return QFrame::eventFilter(watched, event);
  event->accept();
  if (pressed && enter) step(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
  if (pressed && !enter) close_bar();
  return true;
}

}  // namespace fovea

#include "moc_find_bar.cpp"
