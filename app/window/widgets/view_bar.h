// The ViewBar holds how pictures are drawn: norm, range, error, pooling, mask blocks and ranks.
#pragma once

#include <QToolBar>
#include <functional>
#include <map>
#include <vector>

#include "canvas/canvas.h"

namespace fovea {

class ViewBar : public QToolBar {
  Q_OBJECT

 public:
  explicit ViewBar(QWidget* parent = nullptr);
  /// Shows settings without a signal.
  void show_settings(const ViewSettings& settings);
  /// What would change nothing of these pictures cannot be touched.
  void show_use(const CanvasModel& model);

 signals:
  void settings_requested(const fovea::ViewSettings& settings);

 private:
  template <class T>
  void add_choice(const QString& name, const QString& tip,
                  const std::vector<std::pair<QString, T>>& choices, T ViewSettings::*member);
  /// A power of ten whose exponent is one of these tenths.
  void add_power(const QString& name, const QString& tip, IndexRange tenths,
                 double ViewSettings::*member);
  void set_use(const char* name, bool used, const char* why_not);
  void add_switch(const QString& name, const QString& tip, const QString& on, const QString& off,
                  bool (*get)(const ViewSettings&), void (*set)(ViewSettings&, bool));
  void add_label(const QString& text, QWidget* field, const QString& tip);
  /// Without a label: the field says itself what it is.
  void add_field(const QString& name, QWidget* field, const QString& tip);
  void request_settings();

  ViewSettings settings_;
  std::vector<std::function<void()>> refreshers_;
  std::map<QString, QString> tips_;  // by name
};

}  // namespace fovea
