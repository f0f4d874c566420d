#include "input/model_source.h"

#include "data/error.h"
#include "data/model_address.h"
#include "input/last_model.h"
#include "input/model_input.h"
#include "input/opened_model.h"
#include "model/encoded_source.h"

namespace fovea {
namespace {

Source open_own_model(const ModelAddress& address, const OpenOptions& options) {
  if (address.decoder_text)
    throw UsageError(address.folder +
                     " has no decoder beside an encoder; expected one text (no --decoder-text)");
  const auto opened = open_model_folder(address.folder, options);
  const OpenedModel& model = *opened;
  const bool texts = model.tokenizer != nullptr;
  ModelInput input = read_model_input(address, texts, !texts, options.stop);
  Source source = texts ? source_of_text(model.encoder, *model.tokenizer, input.text,
                                         address.most_tokens, model.backend, options.stop)
                        : source_of_image(model.encoder, *model.image_input, *input.picture,
                                          model.backend, options.stop);
  source.files = std::move(input.files);
  source.files.insert(source.files.end(), model.files.begin(), model.files.end());
  source.notes.insert(source.notes.end(), input.notes.begin(), input.notes.end());
  return source;
}

Source open_hosted_model(const ModelAddress& address, const ModelPlace& place,
                         const std::string& title, const std::string& path,
                         const OpenOptions& options) {
  const auto model = process_of_model(place);
  const HostedDescription& its = model->description(options.stop);
  ModelInput input = read_model_input(address, its.reads_texts, its.reads_images, options.stop);
  const HostedInput asked{.text = std::move(input.text),
                          .picture = std::move(input.picture),
                          .most_tokens = address.most_tokens,
                          .decoder_text = address.decoder_text};
  SourceFiles files = std::move(input.files);
  const SourceFiles of_model = files_of_model(place);
  files.insert(files.end(), of_model.begin(), of_model.end());
  const auto finished = [files, title, path, notes = std::move(input.notes),
                         computed_by = its.computed_by](Source source) {
    source.files = files;
    source.notes.insert(source.notes.end(), notes.begin(), notes.end());
    source.metadata["computed by"] = computed_by;
    source.name = title;
    source.path = path;
    return source;
  };
  if (!options.enough) return finished(model->read(asked, options.stop, options.reached));
  struct Reading {  // ends before its model
    std::shared_ptr<HostedModel> model;
    HostedReading layers;
  };
  const std::shared_ptr<Reading> reading(new Reading{model, {*model, asked, options.stop}});
  const auto grown = [reading, finished](const std::stop_token& stop) {
    return GrownSource{finished(reading->layers.source(stop)), reading->layers.expected(),
                       reading->layers.is_complete()};
  };
  const MoreLayers more = [reading, grown](const std::stop_token& stop) {
    reading->layers.advance(stop);
    return grown(stop);
  };
  GrownSource now;
  do {
    reading->layers.advance(options.stop, options.reached);
    now = grown(options.stop);
    options.reached_layers(std::ssize(now.source.layers), now.expected);
  } while (!now.complete && std::ssize(now.source.layers) <= *options.enough);
  if (!now.complete) options.take_rest(now.expected, more);
  return std::move(now.source);
}

}  // namespace

Source open_model(const std::string& what, const OpenOptions& options) {
  ModelAddress address = parse_model_address(what);
  const ModelPlace place = find_model(address.folder);
  const std::string title = title_of(address, place.name);
  address.folder = place.path;
  if (!is_own_model(place, options.stop))
    return open_hosted_model(address, place, title, what, options);
  Source source = open_own_model(address, options);
  source.name = title;
  source.path = what;
  return source;
}

}  // namespace fovea
