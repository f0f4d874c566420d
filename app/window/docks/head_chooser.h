// The HeadChooser chooses the layer and the head, by number or by their pictures, which can be
// moved into a window of their own.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QSpinBox>

#include "window/docks/head_gallery.h"

class QBoxLayout;
class QToolButton;

namespace fovea {

class HeadChooser : public QWidget {
 public:
  HeadChooser(Study& study, SessionEditor& editor);
  ~HeadChooser() override;
  /// Hidden where there is nothing to choose.
  void set_source(const Source& source);
  void refresh();

 private:
  QWidget* make_pictures();
  void enlarge();
  void come_back();

  Study& study_;
  SessionEditor& editor_;
  QBoxLayout* fields_;
  QComboBox *layer_, *order_, *bars_;
  QSpinBox* head_;
  QWidget* pictures_;  // with how they are sorted
  QCheckBox* all_layers_;
  QToolButton* larger_;
  QLabel *share_, *elsewhere_;
  HeadGallery* gallery_;
  QDialog* window_ = nullptr;  // of the pictures
};

}  // namespace fovea
