// A VariantChoice is a button with a check list of what is tried: all variants and learned trees.
// What was left out is remembered.
#pragma once

#include <QToolButton>
#include <vector>

#include "variants/variant.h"

class QCheckBox;
class QComboBox;

namespace fovea {

class VariantChoice : public QToolButton {
  Q_OBJECT

 public:
  VariantChoice();

  std::vector<const Variant*> left_out() const;
  /// The steps in which trees are learned; 0 if none are learned.
  Index learned_steps() const;

 signals:
  /// The list was closed with another choice than it had when it was opened.
  void changed();

 private:
  QWidget* make_list();
  void check_all(bool checked);
  void keep();
  void restore();
  void show_count();

  std::vector<std::pair<const Variant*, QCheckBox*>> boxes_;
  QCheckBox* learned_;
  QComboBox* steps_;
};

}  // namespace fovea
