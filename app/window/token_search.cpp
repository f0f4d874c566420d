#include "window/token_search.h"

#include <algorithm>

#include "canvas/viewport.h"

namespace fovea {

TokenSearch::TokenSearch(WindowParts& parts) : parts_(parts) {
  FindBar* bar = &parts.find_bar;
  QObject::connect(bar, &FindBar::searched, bar, [this](const QString& text) { start(text); });
  QObject::connect(bar, &FindBar::stepped, bar, [this](int by) { step(by); });
  QObject::connect(bar, &FindBar::closed, bar, [this] {
    start({});
    parts_.canvas.setFocus();
  });
  QObject::connect(&parts.study, &Study::opened, bar,
                   [this, bar] { mark(bar->isVisible() ? bar->text() : QString()); });
}

void TokenSearch::mark(const QString& text) {
  found_.clear();
  at_.reset();
  const auto source = parts_.study.source();
  if (source && !text.isEmpty()) {
    const Sequence& sequence = source->sequence;
    const bool named = !sequence.tokens.empty();
    for (Index i = 0; i < parts_.study.length(); ++i) {
      const QString label = named && i < Index(sequence.tokens.size())
                                ? QString::fromStdString(sequence.tokens[std::size_t(i)])
                                : QString::fromStdString(sequence.label(i));
      if (label.contains(text, Qt::CaseInsensitive)) found_.push_back(i);
    }
  }
  parts_.canvas.set_found(found_);
  parts_.docks.input->sequence()->set_found(found_);
  parts_.find_bar.show_result(text.isEmpty()   ? QString()
                              : found_.empty() ? "no matches"
                              : found_.size() == 1
                                  ? "1 token has it"
                                  : QString("%1 tokens have it").arg(found_.size()));
}

void TokenSearch::start(const QString& text) {
  mark(text);
  if (found_.empty()) return;
  const Index from = parts_.study.session().pinned_query.value_or(0);
  const auto next = std::ranges::lower_bound(found_, from);
  at_ = next == found_.end() ? 0 : std::size_t(next - found_.begin());
  show_match();
}

void TokenSearch::step(int by) {
  if (!parts_.find_bar.isVisible()) return parts_.find_bar.open_bar();
  if (found_.empty()) return;
  const auto count = int(found_.size());
  const int from = at_ ? int(*at_) : by > 0 ? -1 : count;
  at_ = std::size_t((from + by + count) % count);
  show_match();
}

// Its row is pinned and moved into sight.
void TokenSearch::show_match() {
  const Index token = found_[*at_];
  parts_.editor.change("find", [&](Session& s) {
    Viewport& v = s.viewport;
    const double row = double(token) + 0.5;
    s.pinned_query = token;
    if (row < v.row_begin || row >= v.row_end)
      v = canvas::panned(v, row - (v.row_begin + v.row_end) / 2, 0, parts_.study.length());
  });
  parts_.docks.input->sequence()->show_token(token);
  parts_.find_bar.show_result(
      QString("%1 of %2: query %3").arg(*at_ + 1).arg(found_.size()).arg(token));
}

}  // namespace fovea
