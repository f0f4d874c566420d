// A View is what a row of the canvas shows of each column: a row of the table in views/views.h.
#pragma once

namespace fovea {

struct ViewKind;

/// A small value. Two are equal if they are the same row of the table.
class View {
 public:
  View() = default;  // of a panel that shows no view, such as a Pareto plot
  View(const ViewKind& kind) : kind_(&kind) {}

  explicit operator bool() const { return kind_ != nullptr; }
  const ViewKind* operator->() const { return kind_; }
  friend bool operator==(View, View) = default;

 private:
  const ViewKind* kind_ = nullptr;
};

}  // namespace fovea
