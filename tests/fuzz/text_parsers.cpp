#include "fuzz/text_parsers.h"

#include <QByteArray>
#include <algorithm>
#include <cstring>
#include <sstream>

#include "batch/batch_plan.h"
#include "batch/results_table.h"
#include "batch/results_trials.h"
#include "data/error.h"
#include "data/model_address.h"
#include "data/synthetic.h"
#include "figure/recipe.h"
#include "fuzz/rules.h"
#include "input/session_file.h"
#include "io/json.h"
#include "io/layout.h"
#include "io/tensor_names.h"
#include "live/live_step.h"
#include "live/wire_reader.h"

namespace fovea::test {

void parse_figure(const std::string& bytes) {
  const auto recipe = recipe_in(QByteArray::fromStdString(bytes));
  if (!recipe) throw InputError("", "no figure");
  if (!recipe->session.empty()) parse_session(recipe->session);
}

void parse_session(const std::string& bytes) {
  const SessionFile file = session_from("s.fovea.json", bytes);
  // What is written of it is read as the same.
  const std::string written = text_of(file);
  require(text_of(session_from("again", written)) == written, "a session changes when it is saved");
}

void parse_sweep_plan(const std::string& bytes) {
  const BatchPlan plan = batch_plan_from("p.json", parse_json("p.json", bytes));
  require(!plan.sources.empty() && !plan.variants.empty() && !plan.seeds.empty(),
          "a plan is empty");
  for (const PlannedVariant& variant : plan.variants) {
    double settings = 1;
    for (const auto& [id, values] : variant.set) settings *= static_cast<double>(values.size());
    if (settings < 1000)
      require(std::ssize(crossed_settings(variant, 64)) == static_cast<Index>(settings),
              "a plan has other settings than the product of its lists");
  }
}

void parse_sweep_results(const std::string& bytes) {
  ResultsTable table("p", 8);
  std::istringstream lines(bytes);
  for (std::string line; std::getline(lines, line);)
    require(table.add("r.jsonl", line) < 8, "a row is of an item that there is not");
  require(table.failed() + table.missing() <= 8, "more rows failed or are missing than there are");
  std::ostringstream out;
  table.write_lines(out);
  table.write_csv(out);
  (void)trials_of(table);
}

namespace {

/// What the window does with bytes that come in pieces of at most so many. Returns the frames.
std::vector<std::string> frames_in(const std::string& bytes, std::size_t piece) {
  WireReader reader(1 << 16);
  std::vector<std::string> frames;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::span<std::byte> room = reader.room();
    require(!room.empty(), "there is no room for what a program sends");
    const std::size_t count = std::min({piece, room.size(), bytes.size() - at});
    std::memcpy(room.data(), bytes.data() + at, count);
    at += count;
    reader.filled(count);
    if (const auto token = reader.take_token())
      require(token->size() <= longest_token, "a token is too long");
    if (const auto frame = reader.take_frame()) {
      frames.emplace_back(reinterpret_cast<const char*>(frame->data()), frame->size());
      const LiveStep step = read_live_step(frame);
      require_printable(step.stream, "a stream's name");
      require(!step.stream.empty() && step.step >= -1, "a step is of no stream");
    }
  }
  return frames;
}

/// Whether the text has a number from 100 to 999999, which may be a size of a large head. (A larger
/// one can only be a seed.)
bool may_be_large(const std::string& text) {
  std::size_t digits = 0;
  for (const char c : text + ' ') {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && digits >= 3 && digits <= 6) return true;
    if (!digit) digits = 0;
    if (digit && (digits > 0 || c != '0')) ++digits;
  }
  return false;
}

}  // namespace

void parse_wire(const std::string& bytes) {
  const auto refusal = [&](std::size_t piece, std::vector<std::string>& frames) -> std::string {
    try {
      frames = frames_in(bytes, piece);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  std::vector<std::string> at_once, one_by_one;
  const std::string first = refusal(bytes.size() + 1, at_once);
  require(first == refusal(1, one_by_one) && at_once == one_by_one,
          "bytes in pieces are read otherwise than at once");
  if (!first.empty()) throw InputError("", first);
}

void parse_synthetic(const std::string& bytes) {
  if (may_be_large(bytes)) throw UsageError("not tried");
  std::string spec = std::string(synthetic_prefix) + bytes;
  if (bytes.find("n=") == bytes.npos &&
      !bytes.starts_with("golden"))  // a thousand tokens take long
    spec += bytes.find('?') == bytes.npos ? "?n=8" : "&n=8";
  const Source source = make_synthetic(spec);
  require(source.layers.size() == 1, "a synthetic source has more than a layer");
}

void parse_model_address(const std::string& bytes) {
  const ModelAddress address = fovea::parse_model_address(std::string(model_prefix) + bytes);
  const std::string text = to_text(address);
  require_printable(text, "an address");
  require(fovea::parse_model_address(text) == address, "an address is another when it is written");
}

void parse_setting(const std::string& bytes) {
  (void)parse_tensor_name(bytes);
  if (const auto layout = parse_layout(bytes)) {
    require(parse_layout(layout->text()) == layout, "a layout is another when it is written");
    return;
  }
  const std::size_t dot = std::min(bytes.find('.'), bytes.size());
  const std::size_t equals = std::min(bytes.find('=', dot), bytes.size());
  if (equals == bytes.size()) throw UsageError("expected VARIANT.PARAMETER=VALUE");
  const Variant& variant = find_variant(bytes.substr(0, dot));
  Values values = defaults(variant.schema);
  const std::string id = bytes.substr(dot + 1, equals - dot - 1);
  set_value(variant.schema, values, id, bytes.substr(equals + 1));
  // What is written of the value is taken as the same.
  const auto place = std::ranges::find(variant.schema, id, &Field::id) - variant.schema.begin();
  Values again = defaults(variant.schema);
  set_value(variant.schema, again, id, to_text(values[static_cast<std::size_t>(place)]));
  require(again == values, "a value is another when it is written and read");
}

}  // namespace fovea::test
