// What a person must know to read a SweepFigure.
#include <algorithm>
#include <sstream>

#include "figure/sweep_figure.h"

namespace fovea {
namespace {

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

std::string fitted_note(const Sweep& sweep) {
  std::vector<std::string> parts;
  for (std::size_t s = 0; s < sweep.series.size(); ++s) {
    Index longest = 0;
    for (const SweepPoint& point : sweep.series[s].points)
      if (!point.fitted.empty()) longest = std::max(longest, point.n);
    if (longest > 0) parts.push_back(label_of(sweep, s) + " up to n = " + std::to_string(longest));
  }
  if (parts.empty()) return {};
  return "Hollow: parameters fitted to a shorter n than they are made for (" + joined(parts, ", ") +
         ").";
}

std::string weak_note(const Sweep& sweep) {
  bool few = false, slow = false;
  for (const SweepSeries& series : sweep.series)
    for (const SweepPoint& point : series.points) {
      few = few || point.few_samples();
      slow = slow || throttled(sweep, point);
    }
  if (!few && !slow) return {};
  return std::string("Dotted: ") + (few ? "fewer than 5 runs" : "") + (few && slow ? ", or " : "") +
         (slow ? "the machine ran at less than two thirds of its best pace" : "") + ".";
}

std::string unmeasured_note(const Sweep& sweep) {
  if (!sweep.complete) return {};
  std::vector<std::string> parts;
  for (std::size_t s = 0; s < sweep.series.size(); ++s) {
    const SweepSeries& series = sweep.series[s];
    const auto last = series.points.empty() ? Index{0} : series.points.back().n;
    if (series.refusals.empty() && last < sweep.lengths.back())
      parts.push_back(label_of(sweep, s) + (last > 0 ? " beyond n = " + std::to_string(last) : ""));
  }
  if (parts.empty()) return {};
  return "Not measured, beyond the time allowed: " + joined(parts, ", ") + ".";
}

}  // namespace

std::vector<std::string> sweep_notes(const Sweep& sweep) {
  std::vector<std::string> notes;
  if (sweep.series.empty() || sweep.series.front().points.empty()) return notes;
  notes.push_back("Points: medians, bars p10 to p90, of prefixes of the head.");
  for (const std::string& note : {fitted_note(sweep), weak_note(sweep)})
    if (!note.empty()) notes.back() += " " + note;
  if (const std::string note = unmeasured_note(sweep); !note.empty()) notes.push_back(note);
  for (std::size_t s = 0; s < sweep.series.size(); ++s)
    if (const auto& refusals = sweep.series[s].refusals; !refusals.empty())
      notes.push_back(label_of(sweep, s) +
                      " cannot be at n = " + std::to_string(refusals.front().first) +
                      (refusals.size() > 1 ? " and others" : "") + ": " + refusals.front().second);
  return notes;
}

}  // namespace fovea
