// What the commands say, as JSON. JSON has no infinity: it is the text "infinite" (or "-infinite");
// what is not a number is null.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "analysis/diagnostics.h"
#include "analysis/metrics.h"
#include "session/computation.h"

namespace fovea {

using Document = nlohmann::ordered_json;

Document number_json(double value);
Document value_json(const Value& value);
Document parameters_json(const Variant& variant, const Values& values);
Document cost_json(const Cost& cost);
/// {"plan": {median, p10, p90, samples}, "plan/hash": ..., "upload": ..., "apply": ...}
Document timing_json(const Timing& timing);
Document metrics_json(const Metrics& metrics, const std::vector<Diagnostic>& diagnostics);
Document field_json(const Field& field);

/// In UTF-8, whatever the names of files in it are: bytes that are not become U+FFFD. `indent` -1:
/// on one line.
std::string text_of(const Document& document, int indent = -1);

/// The document and a line's end, and nothing else.
void print(std::ostream& out, const Document& document);

}  // namespace fovea
