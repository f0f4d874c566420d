#include "input/model_source.h"

#include "data/model_address.h"
#include "input/last_model.h"
#include "input/model_input.h"
#include "input/opened_model.h"
#include "model/encoded_source.h"

namespace fovea {
namespace {

Source open_own_model(const ModelAddress& address, const OpenOptions& options) {
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
                         const OpenOptions& options) {
  const auto model = process_of_model(place);
  const HostedDescription& its = model->description(options.stop);
  ModelInput input = read_model_input(address, its.reads_texts, its.reads_images, options.stop);
  Source source = model->read({.text = std::move(input.text),
                               .picture = std::move(input.picture),
                               .most_tokens = address.most_tokens},
                              options.stop, options.reached);
  source.files = std::move(input.files);
  const SourceFiles files = files_of_model(place);
  source.files.insert(source.files.end(), files.begin(), files.end());
  source.notes.insert(source.notes.end(), input.notes.begin(), input.notes.end());
  source.metadata["computed by"] = its.computed_by;
  return source;
}

}  // namespace

Source open_model(const std::string& what, const OpenOptions& options) {
  ModelAddress address = parse_model_address(what);
  const ModelPlace place = find_model(address.folder);
  const std::string title = title_of(address, place.name);
  address.folder = place.path;
  Source source = is_own_model(place, options.stop) ? open_own_model(address, options)
                                                    : open_hosted_model(address, place, options);
  source.name = title;
  source.path = what;
  return source;
}

}  // namespace fovea
