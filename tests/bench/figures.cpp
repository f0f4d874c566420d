#include "bench/figures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace fovea::bench {
namespace {

std::string number(double x) {
  if (!std::isfinite(x)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

std::string json(const Spread& s) {
  return "{\"median\": " + number(s.median) + ", \"p10\": " + number(s.p10) +
         ", \"p90\": " + number(s.p90) + ", \"samples\": " + std::to_string(s.samples) + "}";
}

std::string json(double x) {
  return number(x);
}

template <class Value>
std::string json(const std::map<std::string, Value>& all) {
  std::string out;
  for (const auto& [name, value] : all)
    out += (out.empty() ? "" : ", ") + quoted(name) + ": " + json(value);
  return "{" + out + "}";
}

std::string json(const RowErrors& e) {
  return "{\"relative\": " + number(e.ours) + ", \"plain\": " + number(e.plain) +
         ", \"largest\": " + number(e.largest) + ", \"rows\": " + std::to_string(e.rows) + "}";
}

std::string json(const Refused& r) {
  return "{\"what\": " + quoted(r.what) + ", \"precision\": " + quoted(r.precision) +
         ", \"n\": " + std::to_string(r.n) + ", \"heads\": " + std::to_string(r.heads) +
         ", \"causal\": " + (r.causal ? "true" : "false") + ", \"reason\": " + quoted(r.reason) +
         "}";
}

std::string json(const Figure& f) {
  std::string out = "{\"what\": " + quoted(f.what) + ", \"precision\": " + quoted(f.precision) +
                    ", \"settings\": " + quoted(f.settings) + ", \"kernel\": " + quoted(f.kernel) +
                    ", \"n\": " + std::to_string(f.n) + ", \"heads\": " + std::to_string(f.heads) +
                    ", \"d\": " + std::to_string(f.d) +
                    ", \"causal\": " + (f.causal ? "true" : "false") +
                    ", \"kernel_ms\": " + json(f.kernel_ms);
  if (f.end_to_end_ms.samples > 0)
    out += ", \"end_to_end_ms\": " + json(f.end_to_end_ms) +
           ", \"end_to_end_stages_ms\": " + json(f.end_to_end_stages);
  out += ", \"stages_ms\": " + json(f.stages);
  if (f.multiply_adds > 0) out += ", \"multiply_adds\": " + number(f.multiply_adds);
  if (f.speed_up.samples > 0) out += ", \"speed_up_over_exact\": " + json(f.speed_up);
  if (f.floor_ms > 0)
    out += ", \"h200_floor_ms\": " + number(f.floor_ms) +
           ", \"times_h200_floor\": " + number(f.kernel_ms.median / f.floor_ms);
  if (f.error.rows > 0) out += ", \"error_against_float64\": " + json(f.error);
  if (f.error_peaked.rows > 0) out += ", \"error_on_peaked_logits\": " + json(f.error_peaked);
  if (!f.note.empty()) out += ", \"note\": " + quoted(f.note);
  return out + "}";
}

double nearest_rank(const std::vector<double>& ascending, double share) {
  return ascending[static_cast<std::size_t>(
      std::lround(share * static_cast<double>(ascending.size() - 1)))];
}

template <class Row>
std::string rows(const std::vector<Row>& all) {
  std::string out = "[\n";
  for (std::size_t i = 0; i < all.size(); ++i)
    out += json(all[i]) + (i + 1 < all.size() ? ",\n" : "\n");
  return out + "]";
}

}  // namespace

Spread spread_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  const auto at = [&](double share) { return nearest_rank(samples, share); };
  return {at(0.5), at(0.1), at(0.9), static_cast<int>(samples.size())};
}

double relative_spread(std::vector<double> samples) {
  std::ranges::sort(samples);
  const auto at = [&](double share) { return nearest_rank(samples, share); };
  return (at(0.75) - at(0.25)) / at(0.5);
}

std::string to_json(const About& about, const std::vector<Figure>& figures,
                    const std::vector<Refused>& refused) {
  return "{\n\"commit\": " + quoted(about.commit) + ",\n\"date\": " + quoted(about.date) +
         ",\n\"device\": " + quoted(about.device) + ",\n\"driver\": " + quoted(about.driver) +
         ",\n\"gigabytes_per_second\": " + json(about.bandwidths) +
         ",\n\"refused\": " + rows(refused) + ",\n\"figures\": " + rows(figures) + "\n}\n";
}

std::string to_table(const std::vector<Figure>& figures) {
  std::string out =
      "what          precision       n heads mask   kernels ms     p10     p90 samples end to end  "
      "x "
      "exact TFLOP/s H200 floor  error  peaked\n";
  for (const Figure& f : figures) {
    char line[256];
    std::snprintf(line, sizeof line,
                  "%-13s %-9s %7lld %5lld %-6s %10.4g %7.4g %7.4g %7d %10.4g %8.4g %7.4g %10.4g "
                  "%6.2g %7.2g\n",
                  f.what.c_str(), f.precision.c_str(), static_cast<long long>(f.n),
                  static_cast<long long>(f.heads), f.causal ? "causal" : "", f.kernel_ms.median,
                  f.kernel_ms.p10, f.kernel_ms.p90, f.kernel_ms.samples, f.end_to_end_ms.median,
                  f.speed_up.median, 2e-9 * f.multiply_adds / std::max(f.kernel_ms.median, 1e-9),
                  f.floor_ms, f.error.ours, f.error_peaked.ours);
    out += line;
    if (!f.note.empty()) out += "    " + f.note + "\n";
  }
  return out;
}

}  // namespace fovea::bench
