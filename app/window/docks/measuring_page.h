// A MeasuringPage is a table of all heads of the source. The heads are measured while the page is
// seen.
#pragma once

#include <QWidget>
#include <string>
#include <utility>

#include "data/matrix.h"
#include "window/widgets/measuring_footer.h"

class QTableView;

namespace fovea {

class MeasuringPage : public QWidget {
  Q_OBJECT

 public:
  virtual QTableView& table() = 0;
  /// All heads are measured, in the background, while it is on.
  virtual void measure(bool on) = 0;
  /// How far it is.
  virtual MeasuringFooter::State state() const = 0;
  /// The heads that are measured, as files.
  virtual std::string csv() const = 0;
  virtual std::string json() const = 0;
  /// What an export asks for: "Export what each head does", and the name of the file.
  virtual std::pair<QString, QString> words_of_export() const = 0;

 signals:
  void changed();
  void head_chosen(const std::pair<fovea::Index, fovea::Index>& head);  // layer, head
};

}  // namespace fovea
