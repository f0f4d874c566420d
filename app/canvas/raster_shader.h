// The shaders of rasters: a rectangle without vertices, and numbers to colours. Before a fragment
// shader stand the version and what it is for (renderers without a graphics card run both ways of
// an `if`, and what is not there costs nothing):
//   POOLING  what a pixel over several numbers shows: 0 the largest, 1 the one of largest
//            magnitude, 2 the mean, 3 the average of their areas under the pixel
//   PART     1: only what is within a half-plane
//   NORM     0 linear, 1 logarithmic, 2 logarithmic to both sides of 0, 3 `values` are colours
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

inline constexpr const char* raster_fragment_shader = R"(
uniform sampler2D values;
uniform vec2 texels;     // of the raster; the last may be cut off
uniform vec2 footprint;  // texels a screen pixel covers, less than 2 each way
in vec2 at;
out vec4 colour;

#if NORM != 3
uniform sampler2D steps;  // 256 x 1, then what is under, over, masked, and not a number
uniform float bottom;     // of the range
uniform float scale;      // of its norm: the top becomes 1
uniform float unit;       // of a signed logarithm

// By bits: compilers may take isnan away.
bool is_nan(float v) { return (floatBitsToUint(v) & 0x7fffffffu) > 0x7f800000u; }
bool is_masked(float v) { return floatBitsToUint(v) == 0xff800000u; }

vec3 colour_of(float v) {
#if NORM == 2
  float t = 0.5 + 0.5 * sign(v) * log(1.0 + abs(v) / unit) * scale;
#elif NORM == 1
  float t = v > 0.0 ? log(v / bottom) * scale : -1.0;
#else
  float t = (v - bottom) * scale;
#endif
  int step = clamp(int(t * 256.0), 0, 255);
  step = t < -1e-4 ? 256 : t > 1.0001 ? 257 : step;
  step = is_nan(v) ? 259 : is_masked(v) ? 258 : step;
  return texelFetch(steps, ivec2(step, 0), 0).rgb;
}

#if POOLING == 3
// The mean of at most 3 x 3 numbers, since a pixel covers less than 2 each way. An axis along which it
// covers one keeps hard edges. Masked numbers are left out, NaN stays.
float average(ivec2 last) {
  vec2 middle = at * texels, one = step(footprint, vec2(1.01));
  vec2 low = max(mix(middle - 0.5 * footprint, floor(middle), one), vec2(0.0));
  vec2 high = min(mix(middle + 0.5 * footprint, floor(middle) + 1.0, one), texels);
  vec2 begin = floor(low);
  float sum = 0.0, area = 0.0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      vec2 texel = begin + vec2(j, i);
      vec2 covered = min(high, texel + 1.0) - max(low, texel);
      float v = texelFetch(values, min(ivec2(texel), last), 0).r;
      bool counts = min(covered.x, covered.y) > 1e-3 && !is_masked(v);
      sum += counts ? covered.x * covered.y * v : 0.0;
      area += counts ? covered.x * covered.y : 0.0;
    }
  return area > 0.0 ? sum / area : uintBitsToFloat(0xff800000u);
}
#else
// Two numbers, or what was made of them; NaN and what is masked as pooled_values has it.
float pooled(float a, float b) {
#if POOLING == 2
  float both = is_masked(a) ? b : is_masked(b) ? a : 0.5 * (a + b);
#elif POOLING == 1
  float both = is_masked(a) || (!is_masked(b) && abs(b) > abs(a)) ? b : a;
#else
  float both = b > a ? b : a;
#endif
  return is_nan(a) ? a : is_nan(b) ? b : both;
}
#endif
#endif

#if PART
uniform vec3 part;  // a, b, c: pixels with a x + b y + c >= 0
#endif

void main() {
#if PART
  if (dot(part.xy, gl_FragCoord.xy) + part.z < 0.0) discard;
#endif
  ivec2 last = ivec2(ceil(texels)) - 1;
#if POOLING == 3 && NORM != 3
  colour = vec4(colour_of(average(last)), 1.0);
#else
  ivec2 first = clamp(ivec2(floor(at * texels - 0.5 * max(footprint - 1.0, 0.0))), ivec2(0), last);
  ivec2 next = min(first + ivec2(greaterThan(footprint, vec2(1.01))), last);
#if NORM == 3
  vec3 upper = texelFetch(values, first, 0).rgb + texelFetch(values, ivec2(next.x, first.y), 0).rgb;
  vec3 lower = texelFetch(values, ivec2(first.x, next.y), 0).rgb + texelFetch(values, next, 0).rgb;
  colour = vec4(0.25 * (upper + lower), 1.0);
#else
  float upper = pooled(texelFetch(values, first, 0).r,
                       texelFetch(values, ivec2(next.x, first.y), 0).r);
  float lower = pooled(texelFetch(values, ivec2(first.x, next.y), 0).r,
                       texelFetch(values, next, 0).r);
  colour = vec4(colour_of(pooled(upper, lower)), 1.0);
#endif
#endif
}
)";

}  // namespace fovea::canvas
