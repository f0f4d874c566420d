// SingularValues plots a block's singular values, largest first, on a logarithmic scale; those
// within the numerical rank are filled.
#pragma once

#include <QWidget>
#include <vector>

namespace fovea {

class SingularValues : public QWidget {
  Q_OBJECT

 public:
  explicit SingularValues(QWidget* parent = nullptr);
  void show_values(const std::vector<float>& values, int rank);
  int count() const { return static_cast<int>(values_.size()); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<float> values_;
  int rank_ = 0;
};

}  // namespace fovea
