#include <QComboBox>
#include <QHeaderView>
#include <QMenu>
#include <QSignalBlocker>
#include <QTableView>
#include <QToolButton>
#include <numeric>

#include "window/docks/docks.h"
#include "window/docks/named_spans.h"
#include "window/docks/span_table.h"
#include "window/widgets/copying.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

class SpanDock : public QWidget {
 public:
  SpanDock(Study& study, SessionEditor& editor) : study_(study), editor_(editor) {
    setObjectName("dock_page");
    auto* column = make_inner<QVBoxLayout>(this);
    column->setSpacing(rhythm / 2);
    column->addLayout(make_line());
    column->addWidget(note_ = make_note());
    note_->setObjectName("span_note");
    note_->setContentsMargins(12, 0, 12, 0);
    auto* row = make_inner<QHBoxLayout>();
    row->addWidget(view_ = make_view(), 1);
    row->addWidget(named_ = new NamedSpans(study, editor));
    named_->setFixedWidth(500);
    column->addLayout(row, 1);
    connect(&study, &Study::session_changed, this, &SpanDock::refresh);
    connect(&study, &Study::spans_read, this, &SpanDock::refresh);
    refresh();
  }
  QSize sizeHint() const override { return {900, 190}; }
  QSize minimumSizeHint() const override { return {360, 96}; }

 private:
  QHBoxLayout* make_line() {
    auto* line = make_inner<QHBoxLayout>();
    line->setContentsMargins(12, 0, 12, 0);
    add_field(*line, "&Between", choice_ = new QComboBox);
    choice_->setObjectName("span_choice");
    for (const SpanChoice choice : all_span_choices()) choice_->addItem(to_qt(label_of(choice)));
    choice_->setItemData(0, "Segments, lines or sentences: what the tokens mark first",
                         Qt::ToolTipRole);
    choice_->setItemData(1,
                         "The keys are the first token, special tokens and punctuation; the "
                         "queries are the named spans, or else the parts of the text",
                         Qt::ToolTipRole);
    choice_->setItemData(2, "Ranges of tokens that you name", Qt::ToolTipRole);
    connect(choice_, &QComboBox::activated, this,
            [this](int choice) { editor_.choose_spans(all_span_choices()[choice]); });
    add_field(*line, "Sho&w", numbers_ = new QComboBox);
    numbers_->setObjectName("span_numbers");
    numbers_->addItems({"exact → column", "exact", "column", "difference"});
    connect(numbers_, &QComboBox::activated, this, &SpanDock::refresh);
    line->addStretch(1);
    line->addWidget(make_name_button());
    line->addWidget(
        make_copy_button([this](TableFormat format) { return to_text(table_.to_copy(), format); }));
    return line;
  }

  QToolButton* make_name_button() {
    auto* button = new QToolButton;
    button->setObjectName("name_selection");
    button->setText("Name tokens…");
    button->setToolTip(
        "Name the queries or keys of the rectangle that is selected in a panel, or cut all other "
        "tokens into the frames of a video");
    button->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(button);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
      offer_selection(*menu);
      offer_frames(*menu);
    });
    button->setMenu(menu);
    return button;
  }

  void offer_selection(QMenu& menu) {
    menu.clear();
    const auto& selection = study_.selection();
    if (!selection) return menu.addAction("Select a rectangle in a panel first")->setEnabled(false);
    const auto offer = [&](const char* of, IndexRange tokens) {
      menu.addAction(of + tokens_text(tokens), this, [this, tokens] {
        editor_.choose_spans(SpanChoice::named);
        refresh();
        named_->propose(tokens);
      });
    };
    const auto& [queries, keys] = *selection;
    if (queries == keys) return offer("&Tokens ", keys);
    offer("&Keys ", keys);
    offer("&Queries ", queries);
  }

  void offer_frames(QMenu& menu) {
    menu.addAction("&Frames of a video…", this, [this] {
      named_->add_frames();
      refresh();
    });
  }

  QTableView* make_view() {
    auto* view = new QTableView;
    view->setObjectName("spans");
    view->setAccessibleName("Attention between spans");
    view->setModel(&table_);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setTabKeyNavigation(false);  // Tab goes on to the next widget
    view->setShowGrid(false);
    view->setFrameShape(QFrame::NoFrame);
    view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    constexpr int longest_name = 220;
    for (QHeaderView* header : {view->horizontalHeader(), view->verticalHeader()}) {
      header->setSectionsClickable(true);
      header->setHighlightSections(false);
      header->setTextElideMode(Qt::ElideRight);
    }
    view->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    view->horizontalHeader()->setMaximumSectionSize(longest_name);
    view->verticalHeader()->setMaximumWidth(longest_name);
    view->verticalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    view->verticalHeader()->setMinimumSectionSize(1);
    view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    const auto select_cell = [this](const QModelIndex& at) { select(at.row(), at.column()); };
    connect(view, &QTableView::clicked, this, select_cell);
    connect(view, &QTableView::activated, this, select_cell);  // by Enter
    connect(view->verticalHeader(), &QHeaderView::sectionClicked, this,
            [this](int row) { select(row, {}); });
    connect(view->horizontalHeader(), &QHeaderView::sectionClicked, this,
            [this](int column) { select({}, column); });
    return view;
  }

  /// The tokens of both groups on the canvas; nothing means all tokens.
  void select(std::optional<int> row, std::optional<int> column) {
    const auto reading = table_.reading();
    if (!reading) return;
    const Index n = study_.length();
    const TokenGroup all{.name = {}, .count = n, .tokens = {{0, n}}};
    const TokenGroup& queries = row ? reading->queries[*row] : all;
    const TokenGroup& keys = column ? reading->keys[*column] : all;
    if (queries.tokens && keys.tokens) return study_.select(*queries.tokens, *keys.tokens);
    const TokenGroup& scattered = queries.tokens ? keys : queries;
    show_note("The tokens of “" + to_qt(scattered.name) +
              "” are not adjacent: no rectangle selects them.");
  }

  void refresh() {
    const SpanReadings::State& state = study_.spans();
    {
      const QSignalBlocker quiet(choice_);
      choice_->setCurrentIndex(int(study_.session().span_choice));
    }
    named_->setVisible(study_.session().span_choice == SpanChoice::named);
    named_->refresh();
    // Exact attention has nothing beside it.
    numbers_->setEnabled(!state.reference);
    table_.show(state.reading, to_qt(state.title),
                state.reference ? SpanNumbers::exact : SpanNumbers(numbers_->currentIndex()));
    show_note(note_of(state));
  }

  void show_note(const QString& note) {
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
  }

  QString note_of(const SpanReadings::State& state) const {
    if (!state.reading) return to_qt(state.status);
    if (state.stale)
      return state.status.empty()
                 ? "These are of the previous parameters, until the new ones are computed."
                 : to_qt(state.status) + " Until then the numbers of before stay.";
    QString text = "Mean attention from the queries of a row to the keys of a column: exact";
    text += state.reference ? "." : " → " + to_qt(state.title) + ".";
    const SpanMass& mass = state.reading->mass;
    if (mass.sampled)
      text += QString(" Estimated from %1 of %2 queries.")
                  .arg(std::accumulate(mass.rows.begin(), mass.rows.end(), Index{0}))
                  .arg(study_.length());
    return text;
  }

  Study& study_;
  SessionEditor& editor_;
  SpanTable table_;
  QComboBox *choice_, *numbers_;
  QLabel* note_;
  QTableView* view_;
  NamedSpans* named_;
};

}  // namespace

QWidget* make_span_dock(Study& study, SessionEditor& editor) {
  return new SpanDock(study, editor);
}

}  // namespace fovea
