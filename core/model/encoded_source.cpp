#include "model/encoded_source.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "data/error.h"
#include "data/number_text.h"
#include "io/token_marks.h"
#include "model/encoded_layers.h"

namespace fovea {
namespace {

Source begin_source(const Encoder& encoder) {
  Source source;
  source.kind = "model";
  source.layout = "[n, H d]";
  source.scale = 1 / std::sqrt(encoder.shape().head_width());
  source.causal = false;
  return source;
}

/// A token as it is written in the text; one that the model adds by its name.
std::string label_of(const TextToken& token, const Tokenizer& tokenizer, std::string_view text) {
  if (token.bytes.size() == 0) return with_signs(tokenizer.name_of(token.id));
  const std::string_view written = text.substr(token.bytes.begin, token.bytes.size());
  return with_signs(is_utf8(written) ? std::string(written) : printable(written));
}

Picture part_of(const Picture& picture, const ImagePlanes& planes) {
  const auto pixel = [](double at, Index side) {
    return std::clamp<Index>(static_cast<Index>(std::lround(at)), 0, side);
  };
  const Index left = pixel(planes.left, picture.width), right = pixel(planes.right, picture.width);
  const Index top = pixel(planes.top, picture.height),
              bottom = pixel(planes.bottom, picture.height);
  if (left >= right || top >= bottom) return picture;
  Picture part{.width = right - left, .height = bottom - top, .rgb = {}};
  for (Index row = top; row < bottom; ++row) {
    const auto begin = picture.rgb.begin() + 3 * (row * picture.width + left);
    part.rgb.insert(part.rgb.end(), begin, begin + 3 * part.width);
  }
  return part;
}

}  // namespace

TextTokens tokens_of(const Encoder& encoder, const Tokenizer& tokenizer, std::string_view text,
                     Index most, const std::stop_token& stop) {
  const Index positions = encoder.shape().most_tokens();
  const auto encoding = tokenizer.encode(text, std::min(most, positions), stop);
  const bool none = std::ranges::all_of(
      encoding.tokens, [](const TextToken& token) { return token.bytes.size() == 0; });
  if (none) throw InputError("the text", "has no token; expected at least one word");
  TextTokens out;
  for (const TextToken& token : encoding.tokens) {
    out.ids.push_back(token.id);
    out.labels.push_back(label_of(token, tokenizer, text));
  }
  if (encoding.left_out > 0)
    out.notes.push_back("the model reads the first " + plural(std::ssize(out.ids), "token") + ": " +
                        plural(encoding.left_out, "byte") + " of the text are left out" +
                        (most < positions
                             ? " (--max-tokens)"
                             : ", as it has " + std::to_string(positions) + " positions"));
  return out;
}

Source source_of_text(std::shared_ptr<const Encoder> encoder, const Tokenizer& tokenizer,
                      std::string_view text, Index most, std::shared_ptr<const Backend> backend,
                      const std::stop_token& stop) {
  TextTokens tokens = tokens_of(*encoder, tokenizer, text, most, stop);
  Source source = begin_source(*encoder);
  source.sequence.tokens = std::move(tokens.labels);
  source.notes = std::move(tokens.notes);
  Profile profile;
  Run run{profile, stop};
  Matrix hidden = encoder->embed(tokens.ids, {}, *backend, run);
  source.layers = layers_of(std::move(encoder), std::move(hidden), std::move(backend));
  return source;
}

Source source_of_image(std::shared_ptr<const Encoder> encoder, const ImageInput& input,
                       const Picture& picture, std::shared_ptr<const Backend> backend,
                       const std::stop_token& stop) {
  const ImagePlanes planes = input.prepare(picture, stop);
  const PatchGrid patches = encoder->patches_of(planes.height, planes.width);
  Source source = begin_source(*encoder);
  source.sequence.grid = {patches.rows, patches.cols, encoder->shape().tokens_before_patches()};
  source.picture = std::make_shared<const Picture>(part_of(picture, planes));
  Profile profile;
  Run run{profile, stop};
  Matrix hidden = encoder->embed(planes, *backend, run);
  source.layers = layers_of(std::move(encoder), std::move(hidden), std::move(backend));
  return source;
}

}  // namespace fovea
