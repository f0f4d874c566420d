#include "cli/options/source_options.h"

#include <filesystem>
#include <system_error>

#include "cli/options/checks.h"
#include "data/address.h"
#include "data/error.h"
#include "data/text.h"
#include "input/model_place.h"
#include "io/file_bytes.h"
#include "io/folder.h"
#include "worker/interpreter.h"

namespace fovea {

void SourceOptions::add_model_to(CLI::App& command) {
  const std::string of_model = "What a model reads";
  auto* text =
      command.add_option("--text", model_text, "A text for a model of texts")->group(of_model);
  command
      .add_option("--input", model_input,
                  "A file for the model: a text, or an image for a model "
                  "of images")
      ->check(refuse_empty)
      ->excludes(text)
      ->group(of_model);
  command
      .add_option("--decoder-text", decoder_text,
                  "A text for the decoder of a model with an encoder and a decoder (default: what "
                  "the model writes)")
      ->group(of_model);
  max_tokens_ = command
                    .add_option("--max-tokens", model_tokens,
                                "At most this many tokens of the text; a note says what is cut off")
                    ->check(CLI::Range(Index{1}, most_tokens))
                    ->capture_default_str()
                    ->group(of_model);
  command
      .add_option_function<std::string>(
          "--python",
          [](const std::string& path) {
            choose_interpreter({path, "--python"});
          },
          "The Python that computes models which Fovea does not compute itself, with torch and "
          "transformers (default: $FOVEA_PYTHON, the active environment, or python3)")
      ->check(refuse_empty)
      ->type_name("PROGRAM")
      ->group(of_model);
  command
      .add_flag("--trust-remote-code", trust_remote_code,
                "Code that comes with the model may run in Python")
      ->group(of_model);
}

void SourceOptions::add_to(CLI::App& command, bool required) {
  auto* source = command.add_option(
      "SOURCE", what,
      "A .safetensors or .npz file, a directory of .npy files, a text, a tokenizer's .json, an "
      "image, a model (its folder, a .gguf file, its name in the local cache of Hugging Face's "
      "hub, bundled:text or bundled:image) with --text or --input, or "
      "synthetic:NAME?n=...&d=...&seed=... (hmatrix, gaussian, clusters, smooth, needle, golden)");
  source->check(refuse_empty);
  if (required) source->required();
  add_model_to(command);
  of_content_ = {command.add_flag("--one-token-per-line", open.one_token_per_line,
                                  "In a .txt file each line is a token, with --content or "
                                  "--tensors"),
                 command
                     .add_option("--patch", open.patch,
                                 "With --content, the side of an image patch in pixels; 1: every "
                                 "pixel is a token")
                     ->check(CLI::Range(1, 4096))
                     ->capture_default_str(),
                 command
                     .add_option("--max-side", open.max_side,
                                 "With --content, scale an image down to at most this many pixels "
                                 "a side")
                     ->check(CLI::Range(1, 65536))};
  command
      .add_option("--mask", open.kept,
                  "Pairs that are kept, from this file: a mask of pairs or blocks, or lists "
                  "of keys or blocks, as the column of the variant imported")
      ->check(refuse_empty)
      ->type_name("FILE")
      ->group("How SOURCE is read");
  command
      .add_option("--order", order,
                  "Puts the tokens of a picture or a video in another order: hilbert, along a "
                  "Hilbert curve, or tiles, tile by tile; with height=30,width=45 and others as in "
                  "the variant sta, such as tiles,tile_rows=4; as SOURCE: ordered:ORDER:SOURCE")
      ->check(refuse_empty)
      ->group("How SOURCE is read");
  how_it_is_read_ = {
      command.add_option("--layout", layout, "Axes of its tensors, such as [B,n,H,d] or [n,3,H,d]")
          ->check(refuse_empty),
      command
          .add_option("--tensors", open.tensors,
                      "Read Q, K and V of a text or of tokens from this file")
          ->check(refuse_empty),
      command.add_flag("--content", content,
                       "Content similarity of a text or an image instead of a model: a toy "
                       "embedding, not for choosing an attention; as SOURCE: content:FILE"),
      command.add_flag("--bf16", open.as_bfloat16,
                       "16-bit integers in .npy and .npz files are bfloat16")};
  how_it_is_read_.insert(how_it_is_read_.end(), of_content_.begin(), of_content_.end());
  for (CLI::Option* option : how_it_is_read_) option->group("How SOURCE is read");
}

void refuse_to_replace(const std::string& option, const std::string& output, const Source& source,
                       const std::vector<std::string>& others) {
  std::vector<std::string> read = others;
  for (const auto& file : source.files) read.push_back(file->path());
  for (const std::string& file : read)
    if (std::error_code none; std::filesystem::equivalent(output, innermost(file), none))
      throw UsageError(option + " " + fovea::quoted(output) +
                       ": this command reads the file, and would replace it; name another one");
}

std::string SourceOptions::address() const {
  const std::string from = source_address();
  refuse_ignored(is_model_address(innermost(from)));
  if (order.find(':') != order.npos)
    throw UsageError("--order " + fovea::quoted(order) +
                     ": expected hilbert or tiles, with parameters behind commas");
  return order.empty() ? from : std::string(ordered_prefix) + order + ":" + from;
}

std::string SourceOptions::source_address() const {
  if (!model_text && !model_input) {
    if (decoder_text)
      throw UsageError(
          "--decoder-text goes with --text or --input; in the address of a model, expected "
          "decoder_text=TEXT");
    return with_absolute_paths(file_address());
  }
  const std::string option = model_text ? "--text" : "--input";
  if (is_address(what) || (is_there(what) && !names_model(what)))
    throw UsageError(option + " goes with a model: " + fovea::quoted(what) +
                     " found; expected a folder with config.json and model.safetensors, a .gguf "
                     "file, ORG/NAME of the local cache, bundled:text or bundled:image");
  const ModelPlace place = find_model(what);  // throws if something is missing
  if (trust_remote_code) trust_code_of(place.path);
  return with_absolute_paths(to_text({.folder = what,
                                      .text = model_text,
                                      .input = model_input,
                                      .decoder_text = decoder_text,
                                      .most_tokens = model_tokens}));
}

std::string SourceOptions::file_address() const {
  if (content) return is_content(what) ? what : std::string(content_prefix) + what;
  if (is_address(what) || !open.tensors.empty()) return what;
  const std::string address = address_of(what);
  if (!is_model_address(address)) return what;
  for (const CLI::Option* option : of_content_)
    if (option->count() > 0)
      throw UsageError(option->get_name() + " goes with --content: a bundled model reads " + what);
  ModelAddress its = parse_model_address(address);
  its.most_tokens = model_tokens;
  return to_text(its);
}

void SourceOptions::refuse_ignored(bool model) const {
  if (max_tokens_ && max_tokens_->count() > 0 && (!model || is_model_address(innermost(what))))
    throw UsageError(
        "--max-tokens goes with a model; in the address of a model, expected max_tokens=N");
  for (const CLI::Option* option : how_it_is_read_)
    if (model && option->count() > 0)
      throw UsageError(option->get_name() +
                       " does not go with a model: its own files say how it "
                       "reads a text or an image");
}

Source SourceOptions::load(const std::stop_token& stop, int threads) const {
  return load_from(address(), stop, threads);
}

Source SourceOptions::load_from(const std::string& from, const std::stop_token& stop,
                                int threads) const {
  OpenOptions options = open;
  options.stop = stop;
  options.threads = threads;
  if (!layout.empty()) options.layout = layout;
  return open_source(from, options);
}

}  // namespace fovea
