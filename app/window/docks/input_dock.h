// The InputDock says what is open, how it was understood, and chooses layer, head and query.
#pragma once

#include <QWidget>

#include "window/docks/head_gallery.h"
#include "window/docks/sequence_view.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QSpinBox;
class QVBoxLayout;

namespace fovea {

class InputDock : public QWidget {
  Q_OBJECT

 public:
  explicit InputDock(Study& study, QWidget* parent = nullptr);
  void source_opened();
  void refresh();
  void show_row(std::shared_ptr<const RowReading> row);
  HeadGallery* gallery() { return gallery_; }
  SequenceView* sequence() { return sequence_; }

 signals:
  void head_requested(fovea::Index layer, fovea::Index head);
  void patch_requested(int patch);
  void query_hovered(fovea::Index query);
  void query_chosen(fovea::Index query);
  void query_stepped(fovea::Index query);

 private:
  void make_head_chooser(QVBoxLayout* column);
  void make_patch_chooser(QVBoxLayout* column);

  Study& study_;
  QLabel *name_, *facts_, *warning_, *content_, *sequence_heading_, *query_note_;
  QWidget *chooser_, *patch_row_;
  QComboBox *layer_, *order_;
  QCheckBox* all_layers_;
  QSpinBox *head_, *patch_;
  HeadGallery* gallery_;
  SequenceView* sequence_;
};

}  // namespace fovea
