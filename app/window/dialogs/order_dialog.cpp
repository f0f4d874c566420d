#include "window/dialogs/order_dialog.h"

#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QPushButton>

#include "data/address.h"
#include "input/ordered_source.h"
#include "window/widgets/field_editor.h"
#include "window/widgets/form.h"
#include "window/workspace.h"

namespace fovea {
namespace {

enum Choice { as_in_the_source, hilbert, tiles };

/// Edits the values of an order.
class OrderForm : public QWidget {
 public:
  OrderForm(Values values, const Values& standard, Index n) : values_(std::move(values)) {
    auto* column = make_inner<QVBoxLayout>(this);
    column->setSpacing(rhythm / 2);
    for (std::size_t f = 0; f < order_schema().size(); ++f) {
      auto* editor = editors_.emplace_back(new FieldEditor(order_schema()[f], n, this));
      column->addWidget(editor);
      connect(editor, &FieldEditor::changed, this,
              [this, f](const Value& value) { set(f, value); });
      connect(editor, &FieldEditor::reset_requested, this,
              [this, f, standard] { set(f, standard[f]); });
    }
    show();
  }

  const Values& values() const { return values_; }
  /// The first field is the path.
  void set_path(const char* path) { set(0, std::string(path)); }

 private:
  void set(std::size_t f, const Value& value) {
    values_[f] = value;
    show();
  }
  void show() {
    for (std::size_t f = 0; f < editors_.size(); ++f) {
      editors_[f]->set_value(values_[f]);
      editors_[f]->setVisible(f > 0 && is_used(order_schema()[f], order_schema(), values_));
    }
  }

  Values values_;
  std::vector<FieldEditor*> editors_;
};

}  // namespace

std::string why_order_stays(const Workspace& workspace) {
  const auto source = workspace.study.source();
  if (!source || source->layers.empty()) return "Nothing is open";
  if (is_live(innermost(source->path))) return "A stream keeps the order of the program";
  return "";
}

std::optional<std::string> ask_order(Workspace& workspace) {
  const auto source = workspace.study.source();
  const std::string& shown = source->path;
  const Values standard = standard_order(*source);
  const std::string order(order_in(shown));
  QDialog dialog(&workspace.window);
  dialog.setWindowTitle("Order of tokens");
  dialog.setObjectName("order_dialog");
  auto* column = new QVBoxLayout(&dialog);
  auto* choice = new QComboBox;
  choice->setObjectName("order");
  choice->addItems({"As in the source", "Along a Hilbert curve", "Tile by tile"});
  auto* form = new OrderForm(order.empty() ? standard : parse_order(order, standard), standard,
                             workspace.study.length());
  QLabel* note = make_note(
      "Tokens that are neighbours in a picture or a video become neighbours in the order, so that "
      "fewer blocks hold the attention. To compare orders, keep the head (Variant > Keep this "
      "head) before you change it.");
  note->setWordWrap(true);
  auto* row = make_inner<QHBoxLayout>();
  column->addLayout(row);
  add_field(*row, "&Order", choice, 0, 1);
  column->addWidget(form);
  column->addWidget(note);
  column->addStretch(1);
  const auto show = [=] {
    form->setVisible(choice->currentIndex() != as_in_the_source);
    if (choice->currentIndex() != as_in_the_source)
      form->set_path(choice->currentIndex() == hilbert ? "hilbert" : "tiles");
  };
  QObject::connect(choice, &QComboBox::currentIndexChanged, &dialog, show);
  choice->setCurrentIndex(order.empty()                ? as_in_the_source
                          : order.starts_with("tiles") ? tiles
                                                       : hilbert);
  show();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  column->addWidget(buttons);
  dialog.setMinimumWidth(360);
  if (dialog.exec() != QDialog::Accepted) return {};
  const std::string inner(in_own_order(shown));
  if (choice->currentIndex() == as_in_the_source) return inner;
  return std::string(ordered_prefix) + order_text(form->values(), standard) + ":" + inner;
}

}  // namespace fovea
