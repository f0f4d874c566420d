// The JSON of commands and the window. JSON has no infinity: it is written as the text "infinite"
// or "-infinite", and NaN as null.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "analysis/diagnostics.h"
#include "analysis/metrics.h"
#include "evaluate/computation.h"

namespace fovea {

using Document = nlohmann::ordered_json;

Document number_json(double value);
Document value_json(const Value& value);
Document parameters_json(const Variant& variant, const Values& values);
Document cost_json(const Cost& cost);
/// {median, p10, p90, samples}, in milliseconds.
Document summary_json(const StageSummary& summary);
/// Puts the median under `id` and the interval, if there is one, under `id` + "_interval".
void put_speed_up(Document& out, const std::string& id, const SpeedUp& ratio);
/// {"plan": {median, p10, p90, samples}, "plan/hash": ..., "upload": ..., "apply": ..., "total":
/// ...}; stages learned beforehand are "learning" and in no total.
Document timing_json(const Timing& timing);
Document metrics_json(const Metrics& metrics, const std::vector<Diagnostic>& diagnostics);
/// A figure of a sample with its standard error: "evicted_mass", "evicted_mass_standard_error";
/// null if the figure has no standard error, such as a first query.
void put_diagnostic(Document& out, const Diagnostic& diagnostic);
Document field_json(const Field& field);

/// Always valid UTF-8: other bytes, such as in file names, become U+FFFD. With `indent` -1 it is
/// one line.
std::string text_of(const Document& document, int indent = -1);

/// Writes the document and a newline.
void print(std::ostream& out, const Document& document);

}  // namespace fovea
