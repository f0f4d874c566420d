#include <QComboBox>
#include <QFileInfo>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScreen>
#include <QSignalBlocker>
#include <QSpinBox>
#include <algorithm>
#include <span>

#include "data/address.h"
#include "data/error.h"
#include "input/model_place.h"
#include "input/text_file.h"
#include "io/file_bytes.h"
#include "window/docks/docks.h"
#include "window/docks/head_chooser.h"
#include "window/docks/sequence_view.h"
#include "window/docks/source_facts.h"
#include "window/widgets/fold.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

/// While nobody has said what the mask is.
QString mask_warning(const Source& source, const Session& session, const HeadCard* card) {
  if (session.conditions.causal || !mask_is_assumed(source, session.layer)) return {};
  QString text = "⚠ The file does not state a mask: bidirectional is assumed.";
  constexpr double little = 0.05;
  constexpr Index enough = 16;  // tokens for a share to mean anything
  if (card && card->future_mass < little && source.layers[session.layer].queries() >= enough)
    text += " Only " + to_qt(format_percent(card->future_mass, 2)) +
            " of this head's attention falls on later keys, as if it were causal.";
  return text + " <a href=\"causal\">Set causal</a> or <a href=\"both\">bidirectional</a>.";
}

QString warnings_of(const Source& source) {
  QStringList warnings;
  if (source.layout_guessed)
    warnings << "⚠ The layout " + to_qt(source.layout) +
                    " is a guess: check it before you trust anything.";
  for (const auto& note : source.notes) warnings << to_qt(note);
  return warnings.join("\n");
}

void set_text_or_hide(QLabel& label, const QString& text) {
  label.setText(text);
  label.setVisible(!text.isEmpty());
}

constexpr int most_text = 100000;  // characters of a text that is typed: more than models read
const QString too_long =
    "⚠ The model reads the first 100,000 characters, and no more of the text is saved. Put a "
    "longer text into a .txt file and drop it on the window.";

/// The text that a model reads, of a file its beginning.
QString text_read(const Source& source, const ModelAddress& address) {
  if (address.text) return to_qt(*address.text);
  if (!address.input || source.files.empty()) return {};
  const FileBytes& file = *source.files.front();
  std::string bytes(std::size_t(std::min<Index>(file.size(), most_text)), '\0');
  try {
    file.read(0, std::as_writable_bytes(std::span(bytes)));
  } catch (const Error&) {  // it was changed, or is gone: its tokens are still shown
    return {};
  }
  bytes.resize(valid_utf8_prefix(bytes));  // the last character may be cut off
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.erase(0, 3);
  return to_qt(bytes);
}

class InputDock : public QWidget {
 public:
  InputDock(Study& study, SessionEditor& editor) : study_(study), editor_(editor) {
    QVBoxLayout* page = make_page(*this);
    page->addWidget(name_ = new QLabel("Nothing is open."));
    name_->setTextFormat(Qt::PlainText);
    name_->setProperty("style", "link");
    name_->setWordWrap(true);
    contents_ = new QWidget;
    contents_->hide();  // until there is something to show
    page->addWidget(contents_);
    page->addStretch(1);
    auto* column = make_inner<QVBoxLayout>(contents_);
    auto* facts = new QWidget;
    auto* facts_column = make_inner<QVBoxLayout>(facts);
    facts_column->addWidget(facts_ = make_note());
    facts_column->addWidget(conditions_ = make_note());
    column->addWidget(facts_fold_ = new Fold("facts", "Facts", facts, false));
    facts_fold_->make_light();
    column->addWidget(mask_warning_ = make_note());
    mask_warning_->setObjectName("mask_warning");
    mask_warning_->setProperty("style", "warning");
    mask_warning_->setTextFormat(Qt::RichText);
    mask_warning_->setTextInteractionFlags(Qt::TextBrowserInteraction);
    mask_warning_->hide();
    connect(mask_warning_, &QLabel::linkActivated, this, [this](const QString& link) {
      editor_.change("causal", [&](Session& s) { s.conditions.causal = link == "causal"; });
    });
    column->addWidget(warning_ = make_note());
    warning_->setProperty("style", "warning");
    warning_->hide();
    column->addWidget(content_ = make_note());
    content_->setObjectName("content");
    content_->setProperty("style", "warning");
    content_->hide();
    column->addWidget(text_ = make_text_field());
    column->addWidget(text_note_ = make_note());
    text_note_->setObjectName("model_text_note");
    text_note_->setProperty("style", "warning");
    text_note_->hide();
    column->addWidget(decoder_row_ = make_decoder_field());
    column->addWidget(patch_chooser_ = make_patch_chooser());
    column->addWidget(head_chooser_ = new HeadChooser(study_, editor_));
    column->addWidget(sequence_heading_ = make_heading("Tokens"));
    auto* shading = make_inner<QHBoxLayout>();
    add_field(*shading, "Shade &by", shade_ = new QComboBox, 0, 1);
    shade_->setObjectName("shade");
    shade_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    shade_->setMinimumContentsLength(8);
    shade_->addItems({"attention", "output error"});
    shade_->setItemData(0, "The weights of the shown query, in the selected column",
                        Qt::ToolTipRole);
    shade_->setItemData(1,
                        "|z̃ − z| of each token as a query, in the selected column: where this "
                        "variant fails. Q goes to the next worst query.",
                        Qt::ToolTipRole);
    connect(shade_, &QComboBox::currentIndexChanged, this, &InputDock::show_shading);
    column->addLayout(shading);
    column->addWidget(query_note_ = make_note());
    query_note_->setObjectName("query_note");
    column->addWidget(sequence_ = new SequenceView(study, editor, SequenceView::Side::queries));
    sequence_->setObjectName("tokens");
    column->addWidget(keys_heading_ = make_heading("Keys"));
    column->addWidget(keys_ = new SequenceView(study, editor, SequenceView::Side::keys));
    keys_->setObjectName("key_tokens");
    for (QLabel* text : {name_, facts_, conditions_, warning_, content_, query_note_})
      make_selectable(*text);
    connect(&study, &Study::opened, this, &InputDock::source_opened);
    connect(&study, &Study::session_changed, this, &InputDock::refresh);
    connect(&study, &Study::source_continued, this, [this] {
      for (SequenceView* view : {sequence_, keys_}) view->continue_source(study_.source());
      set_text_or_hide(*warning_, warnings_of(*study_.source()));
    });
    connect(&study, &Study::source_grew, this, [this] {
      for (SequenceView* view : {sequence_, keys_}) view->continue_source(study_.source());
      head_chooser_->set_source(*study_.source());
      set_text_or_hide(*warning_, warnings_of(*study_.source()));
    });
    connect(&study, &Study::cards_changed, this, &InputDock::show_conditions);
    connect(&study, &Study::row_read, this, [this](const auto& row) {
      row_ = row;
      show_shading();
    });
    connect(&study, &Study::columns_changed, this, &InputDock::show_shading);
  }

 private:
  /// What a model reads. Each key stroke is a change of the session, so that no text is in the
  /// field alone; reading it replaces the reading before.
  QPlainTextEdit* make_text_field() {
    auto* field = new QPlainTextEdit;
    field->setObjectName("model_text");
    field->setAccessibleName("Text for the model");
    field->setPlaceholderText("Type or paste a text for the model");
    field->setTabChangesFocus(true);
    field->setAcceptDrops(false);  // the window takes files
    // More lines on a high screen.
    const int lines = std::clamp(screen()->availableSize().height() / 120, 6, 12);
    field->setFixedHeight(lines * fontMetrics().lineSpacing());
    field->hide();
    connect(field, &QPlainTextEdit::textChanged, this, [this] {
      const auto source = study_.source();
      QString text = text_->toPlainText();
      set_text_or_hide(*text_note_, text.size() > most_text ? too_long : QString());
      text.truncate(most_text);
      if (!source || !is_model_address(source->path) || text.trimmed().isEmpty()) return;
      ModelAddress address = wanted_address(*source);
      address.input.reset();
      address.text = text.toStdString();
      editor_.choose_input(to_text(address));
    });
    return field;
  }

  /// What the model reads, or will read next.
  ModelAddress wanted_address(const Source& source) const {
    const std::string& wanted = study_.wanted_session().source;
    return parse_model_address(is_model_address(wanted) ? wanted : source.path);
  }

  /// What the decoder of a model reads that has an encoder, too.
  QWidget* make_decoder_field() {
    auto* row = new QWidget;
    add_field(*make_inner<QHBoxLayout>(row), "&Decoder", decoder_ = new QLineEdit, 0, 1);
    decoder_->setObjectName("decoder_text");
    decoder_->setPlaceholderText("reads what the model writes");
    decoder_->setToolTip("A text for the decoder in place of what the model writes");
    row->hide();
    connect(decoder_, &QLineEdit::textEdited, this, [this](const QString& text) {
      const auto source = study_.source();
      if (!source || !is_model_address(source->path)) return;
      ModelAddress address = wanted_address(*source);
      address.decoder_text.reset();
      if (!text.trimmed().isEmpty()) address.decoder_text = text.toStdString();
      editor_.choose_input(to_text(address));
    });
    return row;
  }

  /// Shows the text of the session if it is another one than before, and none is being read. A
  /// typed text that could not be read stays.
  void show_text(const Source& source) {
    const bool reads_text = is_model_address(source.path) && !source.picture;
    text_->setVisible(reads_text);
    if (!reads_text) text_note_->hide();
    decoder_row_->setVisible(reads_text &&
                             std::ranges::any_of(source.layers, [](const Layer& layer) {
                               return layer.name.starts_with("decoder.");
                             }));
    if (!reads_text || study_.opening() || study_.session().source == text_of_) return;
    text_of_ = study_.session().source;
    if (!is_model_address(text_of_)) return;
    const ModelAddress address = parse_model_address(text_of_);
    if (const QString decoder = to_qt(address.decoder_text.value_or(""));
        decoder_->text() != decoder)
      decoder_->setText(decoder);
    const QString text = text_read(source, address);
    if (text == text_->toPlainText().left(most_text)) return;
    const QSignalBlocker quiet(text_);
    text_->setPlainText(text);
    text_note_->hide();
  }

  QWidget* make_patch_chooser() {
    constexpr int largest = 64;
    auto* chooser = new QWidget;
    patch_ = new QSpinBox;
    patch_->setObjectName("patch");
    patch_->setToolTip("Side of the squares that are one token each; 1: every pixel is a token");
    patch_->setRange(1, largest);
    patch_->setSuffix(" px");
    patch_->setKeyboardTracking(false);
    add_field(*make_inner<QHBoxLayout>(chooser), "&Patch", patch_, 1);
    chooser->hide();
    connect(patch_, &QSpinBox::valueChanged, this,
            [this](int patch) { editor_.choose_patch(patch); });
    return chooser;
  }

  void source_opened() {
    const auto source = study_.source();
    const QString path = to_qt(source->path);
    name_->setText(is_model_address(source->path) || is_ordered(source->path) ? to_qt(source->name)
                   : is_address(source->path) && !is_content(source->path)
                       ? path
                       : QFileInfo(path).fileName());
    name_->setToolTip(plain_tip(to_qt(readable_source(source->path))));
    set_text_or_hide(*content_, to_qt(source->content));
    set_text_or_hide(*warning_, warnings_of(*source));
    head_chooser_->set_source(*source);
    patch_chooser_->setVisible(source->kind == "image");
    sequence_->set_source(source);
    keys_->set_source(source);
    contents_->show();
    refresh();
  }

  void refresh() {
    const auto source = study_.source();
    if (!source) return;
    const Session& session = study_.session();
    const QSignalBlocker quiet(patch_);
    show_text(*source);
    patch_->setValue(session.patch);
    head_chooser_->refresh();
    facts_->setText(facts_of(*source, session.layer));
    sequence_->set_layer(session.layer);
    keys_->set_layer(session.layer);
    const bool others = study_.has_own_keys();
    sequence_heading_->setText(sequence_->shows_image() ? "Image" : others ? "Queries" : "Tokens");
    for (QWidget* part : std::initializer_list<QWidget*>{keys_heading_, keys_})
      part->setVisible(others);
    show_conditions();
  }

  void show_conditions() {
    const auto source = study_.source();
    const Session& session = study_.session();
    const auto problem = study_.problem();
    set_text_or_hide(*conditions_,
                     source && problem ? conditions_of(*source, session, *problem) : QString());
    if (!source) return;
    facts_fold_->set_title(facts_in_short(*source, session.layer, is_causal(session, *source)));
    const auto card = study_.card(session.layer, session.head);
    set_text_or_hide(*mask_warning_, mask_warning(*source, session, card.get()));
  }

  void show_shading() {
    const bool errors = shade_->currentIndex() == 1;
    const auto c = std::size_t(std::max(0, study_.selected_column()));
    const ColumnState* column = c < study_.columns().size() ? &study_.columns()[c] : nullptr;
    const bool reference = column && is_reference(column->column.variant);
    const bool no_outputs = column && column->metrics && !column->metrics->of_outputs();
    const bool known =
        errors && column && !reference && column->metrics && !column->stale && !no_outputs;
    const bool own_keys = study_.has_own_keys();
    sequence_->set_row(own_keys || (errors && !known) ? nullptr : row_);
    keys_->set_row(row_);
    sequence_->set_numbers(known ? column->metrics->token_error : std::vector<float>());
    const QString title = to_qt(study_.title_of(int(c)));
    if (known)
      query_note_->setText((own_keys ? "Queries are shaded by the output error |z̃ − z| of "
                                     : "shaded by the output error |z̃ − z| of ") +
                           title);
    else if (errors && column)
      query_note_->setText(reference    ? "Exact attention makes no error: select another column"
                           : no_outputs ? QString("Output errors are not known: ") + no_values
                                        : "The output errors of " + title + " are not known yet");
    else if (row_ && study_.source())
      query_note_->setText(QString("%1haded by the attention of query %2, %3")
                               .arg(own_keys ? "Keys are s" : "s",
                                    to_qt(study_.sequence().numbered(row_->query)), title));
    else
      query_note_->clear();
  }

  Study& study_;
  SessionEditor& editor_;
  QPlainTextEdit* text_;
  QLineEdit* decoder_;
  QLabel* text_note_;
  std::string text_of_;  // the address of the text that the field was last given
  QLabel *name_, *facts_, *conditions_, *mask_warning_, *warning_, *content_, *sequence_heading_,
      *keys_heading_, *query_note_;
  Fold* facts_fold_;
  QWidget *contents_, *decoder_row_, *patch_chooser_;
  HeadChooser* head_chooser_;
  QComboBox* shade_;
  std::shared_ptr<const RowReading> row_;
  QSpinBox* patch_;
  SequenceView *sequence_, *keys_;
};

}  // namespace

QWidget* make_input_dock(Study& study, SessionEditor& editor) {
  return new InputDock(study, editor);
}

}  // namespace fovea
