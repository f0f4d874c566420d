#include "products.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <map>

#include "async.h"
#include "truncated_sum.h"
#include "unseen.h"

namespace fovea::emulation {
namespace {

constexpr int depth = 16, piece_values = 8;
float sum_of_products(float c, const float (&left)[depth], const float (&right)[depth]) {
#ifdef FOVEA_LIKE_HARDWARE
  float products[depth];
  for (int k = 0; k < depth; ++k) products[k] = left[k] * right[k];
  return truncated_sum(c, products);
#else
  for (int k = 0; k < depth; ++k) c += left[k] * right[k];
  return c;
#endif
}

using Registers = std::array<std::uint32_t, 4>;

struct Started {
  Product product;
  Registers registers{};  // as they were when it started
};

}  // namespace

struct Products {
  bool fenced = false;
  std::vector<Started> open;
  std::deque<std::vector<Started>> groups;
  std::map<float (*)[4], std::vector<std::array<float, 4>>> sums;  // of those under way
};

namespace {

Products& its_products() {
  if (!self->products) self->products = std::make_shared<Products>();
  return *self->products;
}

// A descriptor of a matrix in rows of 128 bytes, whose pieces are permuted.
struct Matrix {
  std::uint32_t start, leading, stride;

  explicit Matrix(std::uint64_t bits)
      : start(static_cast<std::uint32_t>(bits & 0x3fff) << 4),
        leading(static_cast<std::uint32_t>(bits >> 16 & 0x3fff) << 4),
        stride(static_cast<std::uint32_t>(bits >> 32 & 0x3fff) << 4) {
    if (bits >> 62 != 1 || (bits >> 49 & 7) != 0)
      fault("a matrix that is not in rows of 128 bytes with permuted pieces");
  }
  /// Eight values on from depth 8 half of a row or column of the product.
  const char* along_depth(int index, int half) const {
    return swizzled_piece(start + static_cast<unsigned>(index / 8) * stride +
                          static_cast<unsigned>(index % 8 * 128 + half * 16));
  }
  /// Eight columns from `column`, a multiple of 8, on.
  const char* across(int row, int column) const {
    return swizzled_piece(start + static_cast<unsigned>(column / 64) * leading +
                          static_cast<unsigned>(row / 8) * stride +
                          static_cast<unsigned>(row % 8 * 128 + column % 64 * 2));
  }
};

std::uint16_t value_at(const char* piece, int i) {
  std::uint16_t value;
  std::memcpy(&value, piece + 2 * i, 2);
  return value;
}

void require_operands(const Product& p) {
  const Matrix b(p.b);
  for (int i = 0; i < 8 * p.count; ++i)
    for (int half = 0; half < 2 && !p.transposed; ++half) require_visible(b.along_depth(i, half));
  for (int row = 0; row < depth && p.transposed; ++row)
    for (int column = 0; column < 8 * p.count; column += piece_values)
      require_visible(b.across(row, column));
  if (p.registers) return;
  const Matrix a(p.a);
  for (int row = 0; row < 64; ++row)
    for (int half = 0; half < 2; ++half) require_visible(a.along_depth(row, half));
}

// Rows lane / 4 and lane / 4 + 8 of this warp's 16 rows of a.
void read_left(const Product& p, float (&left)[2][depth]) {
  const int g = lane() / 4;
  if (!p.registers) {
    const Matrix a(p.a);
    const int first = static_cast<int>(self->index.x) / 32 % 4 * 16 + g;
    for (int h = 0; h < 2; ++h)
      for (int k = 0; k < depth; ++k)
        left[h][k] = p.widen(value_at(a.along_depth(first + 8 * h, k / 8), k % 8));
    return;
  }
  for (int half = 0; half < 2; ++half) {
    const Lanes rows =
        gather(p.registers[2 * half] | static_cast<std::uint64_t>(p.registers[2 * half + 1]) << 32);
    for (int k = 0; k < 8; ++k) {
      const std::uint64_t bits = rows.value[4 * g + k / 2] >> (16 * (k % 2));
      for (int h = 0; h < 2; ++h)
        left[h][8 * half + k] = p.widen(static_cast<std::uint16_t>(bits >> (32 * h)));
    }
  }
}

void read_right(const Product& p, const Matrix& b, int column, float (&right)[depth]) {
  for (int k = 0; k < depth; ++k)
    right[k] = p.widen(p.transposed ? value_at(b.across(k, column / 8 * 8), column % 8)
                                    : value_at(b.along_depth(column, k / 8), k % 8));
}

void compute(const Started& started, std::vector<std::array<float, 4>>& sums) {
  const Product& p = started.product;
  if (p.registers && !std::equal(started.registers.begin(), started.registers.end(), p.registers))
    fault("the factors of a product were changed while it was under way");
  const Matrix b(p.b);
  float left[2][depth], right[depth];
  read_left(p, left);
  for (int j = 0; j < p.count; ++j)
    for (int e = 0; e < 2; ++e) {
      read_right(p, b, 8 * j + 2 * (lane() % 4) + e, right);
      for (int h = 0; h < 2; ++h) {
        float& sum = sums[static_cast<std::size_t>(j)][static_cast<std::size_t>(2 * h + e)];
        sum = sum_of_products(p.add ? sum : 0, left[h], right);
      }
    }
}

bool poisoned(const float (*sums)[4], std::size_t count) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(sums);
  return std::all_of(bytes, bytes + count * sizeof *sums,
                     [](unsigned char b) { return b == 0xFF; });
}

std::atomic<long> started = 0;

}  // namespace

void multiply_in_warp(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                      float (*widen)(std::uint16_t)) {
  const Unseen unseen;
  const auto part = [&](std::uint32_t pair, int odd) {
    return widen(static_cast<std::uint16_t>(pair >> (16 * odd)));
  };
  Factors its;
  for (int half = 0; half < 2; ++half)
    for (int odd = 0; odd < 2; ++odd) {
      for (int h = 0; h < 2; ++h) its.a[h][2 * half + odd] = part(a[2 * half + h], odd);
      its.b[2 * half + odd] = part(b[half], odd);
    }
  const Factors* const all = gather(its);
  const Factors *rows = all + lane() / 4 * 4, *columns = all + lane() % 4 * 8;
  float left[2][depth], right[2][depth];
  for (int k = 0; k < depth; ++k) {
    const int quad = k % 8 / 2, place = k / 8 * 2 + k % 2;
    for (int h = 0; h < 2; ++h) {
      left[h][k] = rows[quad].a[h][place];
      right[h][k] = columns[4 * h + quad].b[place];
    }
  }
  for (int i = 0; i < 4; ++i) c[i] = sum_of_products(c[i], left[i / 2], right[i % 2]);
}

long products_so_far() {
  return started;
}

void fence_products() {
  its_products().fenced = true;
}

void start_product(const Product& product) {
  Products& its = its_products();
  if (!its.fenced) fault("a product without fence_products after its registers were used");
  if (lane() == 0) require_operands(product);
  const auto count = static_cast<std::size_t>(product.count);
  auto& saved = its.sums[product.sums];
  if (saved.empty()) {
    saved.resize(count);
    std::memcpy(saved.data(), product.sums, count * sizeof *product.sums);
    std::memset(product.sums, 0xFF, count * sizeof *product.sums);
  }
  its.open.push_back({product});
  if (product.registers) std::copy_n(product.registers, 4, its.open.back().registers.begin());
  ++started;
}

void commit_products() {
  Products& its = its_products();
  its.groups.push_back(std::move(its.open));
  its.open.clear();
}

void wait_products(int pending) {
  Products& its = its_products();
  its.fenced = false;
  while (static_cast<int>(its.groups.size()) > pending) {
    for (const Started& started : its.groups.front())
      compute(started, its.sums[started.product.sums]);
    its.groups.pop_front();
  }
  for (auto at = its.sums.begin(); at != its.sums.end();) {
    const auto is_its = [&](const Started& each) { return each.product.sums == at->first; };
    const bool under_way = std::ranges::any_of(its.open, is_its) ||
                           std::ranges::any_of(its.groups, [&](const auto& group) {
                             return std::ranges::any_of(group, is_its);
                           });
    if (under_way) {
      ++at;
      continue;
    }
    if (!poisoned(at->first, at->second.size()))
      fault("the sums of a product were changed while it was under way");
    std::memcpy(at->first, at->second.data(), at->second.size() * sizeof *at->first);
    at = its.sums.erase(at);
  }
}

void end_products() {
  if (self->products && !self->products->sums.empty())
    fault("a thread ended before its products were waited for");
  self->products.reset();
}

}  // namespace fovea::emulation
