// Content features replace a trained model for a text or an image that comes without Q, K and V:
// attention by similarity of content and distance of position. This file is their definition;
// nothing in them is random or learned.
//
// Both kinds. Q = K, every row of length 1, put together from a content part of length sqrt(1 - w)
// and a place part of length sqrt(w); so q_i.k_j lies in [-1, 1] and is 1 on the diagonal. The
// scale grows with the number of tokens, scale = ln n + c: a token unlike all others then gives
// itself e^c times the weight of all others together, at any n, so attention is neither uniform nor
// one-hot.
//
// Text: w = 1/5, c = 2. Content, 3/4 of the d columns: the character n-grams, n = 1..4, of the
// token between "<" and ">" with ASCII letters in lower case; the n-gram's 64-bit FNV-1a hash h
// (over its UTF-8 bytes) adds +1 or -1 (the top bit of h) to column h mod columns. Place, the other
// d/4: pairs (cos a, sin a) with a = 10000^(-p/pairs) i, the rotary embedding of a constant. V = Q.
//
// Images: w = 3/10, c = 3. Every patch becomes pixels of s x s cells, s = min(patch, 8), averaged,
// sRGB values in [0, 1]. Content: principal components of these pixels minus their mean over the
// image, component k divided by sqrt(lambda_k + lambda_0 / 50): whitened, but with noise held down;
// at most d - place columns, and no more than have lambda_k > 1e-6 lambda_0. A patch equal to the
// mean has no content part. Place: for frequencies f = 0 .. place/4 - 1 the pairs (cos a, sin a) of
// a = pi 2^f (x + 1/2) / (2 side) and of y, side = the longer side of the grid in patches; place is
// 16, or the multiple of 4 at or below d/2 when that is less. d may therefore be smaller than asked
// for. V = the mean colour of the patch (3 columns), then, when s > 1, its s x s x 3 pixels by row,
// column and channel: Z is a picture, the non-local mean of the one put in.
#pragma once

#include <span>
#include <stop_token>
#include <string>

#include "data/source.h"

namespace fovea {

struct ContentHead {
  Matrix q;  // [n, d], also the keys
  Matrix v;  // [n, dv]; empty means the same as q
  double scale = 0;
};

inline constexpr Index fewest_features = 8;

/// Throws UsageError when d < fewest_features.
ContentHead text_features(std::span<const std::string> tokens, Index d,
                          const std::stop_token& stop = {});

/// The sides of the picture are multiples of `patch`. Patches in row-major order.
ContentHead image_features(const Picture& picture, Index patch, Index d,
                           const std::stop_token& stop = {});

/// The side s of a patch as V holds it.
constexpr Index patch_cells(Index patch) {
  return std::min<Index>(patch, 8);
}

/// The layer and scale of a content head, with the note that explains it.
void put_content(Source& source, ContentHead head, const std::string& what);

}  // namespace fovea
