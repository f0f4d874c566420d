// A View is what a row of the canvas shows of each column: a row of the table in views/views.h.
#pragma once

namespace fovea {

struct ViewKind;
/// What a panel that shows no view has, such as a Pareto plot: it has no id and does nothing.
extern const ViewKind no_view;

/// A small value. Two are equal if they are the same row of the table.
class View {
 public:
  View() = default;  // no_view
  View(const ViewKind& kind) : kind_(&kind) {}
  View(const ViewKind&&) = delete;  // a row of the table outlives its Views

  explicit operator bool() const { return kind_ != &no_view; }
  const ViewKind* operator->() const { return kind_; }
  friend bool operator==(View, View) = default;

 private:
  const ViewKind* kind_ = &no_view;
};

}  // namespace fovea
