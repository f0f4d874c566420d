// Turns words and numbers into Qt's text.
#pragma once

#include <QString>
#include <QTextDocument>

#include "data/number_text.h"

namespace fovea {

inline QString to_qt(const std::string& text) {
  return QString::fromStdString(text);
}

/// For menus, in which a single & marks a key.
inline QString escaped(QString name) {
  return name.replace("&", "&&");
}

/// For tooltips, which take text that looks like HTML for HTML.
inline QString plain_tip(const QString& text) {
  return Qt::mightBeRichText(text) ? Qt::convertFromPlainText(text) : text;
}

/// As in captions of figures.
inline QString number_text(double value, int digits = 4) {
  return to_qt(format_number(value, digits));
}

}  // namespace fovea
