// The shaders of rasters: a rectangle without vertices, and numbers to colours.
#pragma once

namespace fovea::canvas {

inline constexpr const char* raster_vertex_shader = R"(#version 330 core
uniform vec4 placed;  // left, top, right, bottom in clip coordinates
out vec2 at;          // 0..1 over the raster
void main() {
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(mix(placed.xy, placed.zw, at), 0.0, 1.0);
}
)";

inline constexpr const char* raster_fragment_shader = R"(#version 330 core
uniform sampler2D values;
uniform sampler2D steps;    // 256 x 1
uniform vec2 texels;        // of the raster
uniform vec2 footprint;     // texels a screen pixel covers
uniform int palette;        // 0 sequential, 1 diverging, 2 categories, 3 ranks
uniform bool averaged;      // mean-pooled: pool on by the mean
uniform bool logarithmic, signed_log;
uniform float bottom, top;  // of the range
uniform float unit;         // of a signed logarithm
uniform vec3 under, over, masked, not_a_number;
in vec2 at;
out vec4 colour;

// By bits: compilers may take isnan away.
bool is_nan(float v) { return (floatBitsToUint(v) & 0x7fffffffu) > 0x7f800000u; }
bool is_masked(float v) { return floatBitsToUint(v) == 0xff800000u; }

vec3 colour_of(float v) {
  if (is_nan(v)) return not_a_number;
  if (is_masked(v)) return masked;
  if (palette == 2) {  // beyond the table its hues repeat, as category_colour says
    int category = int(v + 0.5);
    return texelFetch(steps, ivec2(clamp(category, 0, 255), 0), 0).rgb;
  }
  float t;
  if (signed_log) {
    t = 0.5 + 0.5 * sign(v) * log(1.0 + abs(v) / unit) / log(1.0 + top / unit);
  } else if (logarithmic) {
    if (v <= 0.0) return under;
    t = log(v / bottom) / log(top / bottom);
  } else if (top > bottom) {
    t = (v - bottom) / (top - bottom);
  } else {
    t = v < top ? -1.0 : v > top ? 2.0 : 0.0;
  }
  if (t < -1e-4) return under;
  if (t > 1.0001) return over;
  return texelFetch(steps, ivec2(clamp(int(t * 256.0), 0, 255), 0), 0).rgb;
}

// A pixel over several texels shows their maximum (or mean, or largest deviation) among the
// numbers, as pooling does; of categories it mixes the colours.
void main() {
  ivec2 last = ivec2(texels) - 1;
  ivec2 first = clamp(ivec2(floor(at * texels - 0.5 * (footprint - 1.0))), ivec2(0), last);
  ivec2 count = min(ivec2(ceil(max(footprint, vec2(1.0)) - 0.01)), ivec2(16));
  vec2 stride = max(footprint / vec2(count), vec2(1.0));
  if (count == ivec2(1)) first = clamp(ivec2(floor(at * texels)), ivec2(0), last);
  float kept = texelFetch(values, first, 0).r, sum = 0.0, numbers = 0.0;
  vec3 mixed = vec3(0.0);
  for (int y = 0; y < count.y; ++y)
    for (int x = 0; x < count.x; ++x) {
      float v = texelFetch(values, min(first + ivec2(vec2(x, y) * stride), last), 0).r;
      if (palette >= 2) mixed += colour_of(v);
      if (is_nan(v)) kept = v;
      if (is_nan(v) || is_masked(v)) continue;
      sum += v;
      numbers += 1.0;
      bool more = palette == 1 ? abs(v) > abs(kept) : v > kept;
      if (!is_nan(kept) && (is_masked(kept) || more)) kept = v;
    }
  if (averaged && numbers > 0.0 && !is_nan(kept)) kept = sum / numbers;
  vec3 c = palette >= 2 ? mixed / float(count.x * count.y) : colour_of(kept);
  colour = vec4(c, 1.0);
}
)";

}  // namespace fovea::canvas
