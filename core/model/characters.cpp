#include "model/characters.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>

#include <array>
#include <cstdint>
#include <stdexcept>

namespace fovea {
namespace {

// The versions of Unicode of the tables in `tokenizers`.
constexpr int version_of_categories = 8, version_of_normal_forms = 9;

bool is_ascii(char32_t code) {
  return code < 0x80;
}

bool is_of(int version, char32_t code) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(code), age);
  return age[0] <= version && age[0] > 0;
}

std::uint32_t category_mask(char32_t code) {
  return U_MASK(u_charType(static_cast<UChar32>(code)));
}

/// The category in Unicode 8, as a mask; 0 if the character was added later. The characters listed
/// have had another category since.
std::uint32_t category_mask_8(char32_t code) {
  switch (code) {
    case 0x1734:
      return U_GC_MN_MASK;
    case 0x1885:
    case 0x1886:
      return U_GC_LO_MASK;
    case 0x166d:
    case 0x111c9:
      return U_GC_PO_MASK;
    case 0xa9bd:
      return U_GC_MC_MASK;
    default:
      return is_of(version_of_categories, code) ? category_mask(code) : 0;
  }
}

const UNormalizer2& canonical() {
  static const UNormalizer2& instance = []() -> const UNormalizer2& {
    UErrorCode error = U_ZERO_ERROR;
    const UNormalizer2* found = unorm2_getNFCInstance(&error);
    if (U_FAILURE(error)) throw std::runtime_error(std::string("ICU: ") + u_errorName(error));
    return *found;
  }();
  return instance;
}

}  // namespace

bool is_white_space(char32_t code) {
  return u_isUWhiteSpace(static_cast<UChar32>(code));
}

bool is_letter(char32_t code) {
  return category_mask(code) & U_GC_L_MASK;
}

bool is_number(char32_t code) {
  return category_mask(code) & U_GC_N_MASK;
}

bool is_word_character(char32_t code) {
  const auto c = static_cast<UChar32>(code);
  return u_hasBinaryProperty(c, UCHAR_ALPHABETIC) || u_hasBinaryProperty(c, UCHAR_JOIN_CONTROL) ||
         category_mask(code) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK);
}

bool is_bert_punctuation(char32_t code) {
  if (is_ascii(code))
    return u_isgraph(static_cast<UChar32>(code)) && !u_isalnum(static_cast<UChar32>(code));
  return category_mask_8(code) & U_GC_P_MASK;
}

bool is_bert_control(char32_t code) {
  if (code == '\t' || code == '\n' || code == '\r') return false;
  if (code == 0xfffd) return true;
  return category_mask_8(code) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK);
}

bool is_bert_chinese(char32_t code) {
  const auto within = [code](char32_t first, char32_t last) {
    return first <= code && code <= last;
  };
  return within(0x3400, 0x4dbf) || within(0x4e00, 0x9fff) || within(0xf900, 0xfaff) ||
         within(0x20000, 0x2a6df) || within(0x2a700, 0x2b73f) || within(0x2b740, 0x2b81f) ||
         within(0x2b920, 0x2ceaf) || within(0x2f800, 0x2fa1f);
}

bool is_nonspacing_mark(char32_t code) {
  return !is_ascii(code) && category_mask_8(code) & U_GC_MN_MASK;
}

bool is_mark(char32_t code) {
  if (is_ascii(code) || code == 0x111c9) return false;
  if (code == 0x1cf2 || code == 0x1cf3) return true;
  return category_mask(code) & U_GC_M_MASK && is_of(version_of_normal_forms, code);
}

std::u32string decomposition(char32_t code) {
  if (is_ascii(code)) return {};
  std::array<UChar, 16> units;
  UErrorCode error = U_ZERO_ERROR;
  const int length = unorm2_getDecomposition(&canonical(), static_cast<UChar32>(code), units.data(),
                                             static_cast<int>(units.size()), &error);
  if (U_FAILURE(error) || length <= 0 || !is_of(version_of_normal_forms, code)) return {};
  std::u32string out;
  for (int i = 0; i < length;) {
    UChar32 next;
    U16_NEXT(units.data(), i, length, next);
    out += static_cast<char32_t>(next);
  }
  return out;
}

char32_t composition(char32_t first, char32_t second) {
  if (is_ascii(second)) return 0;
  const UChar32 composed =
      unorm2_composePair(&canonical(), static_cast<UChar32>(first), static_cast<UChar32>(second));
  const auto code = static_cast<char32_t>(composed);
  return composed > 0 && is_of(version_of_normal_forms, code) ? code : 0;
}

int combining_class(char32_t code) {
  if (is_ascii(code)) return 0;
  const int found = u_getCombiningClass(static_cast<UChar32>(code));
  return found != 0 && is_of(version_of_normal_forms, code) ? found : 0;
}

std::u32string lower_case(char32_t code) {
  if (code == 0x130) return U"i\u0307";
  return {static_cast<char32_t>(u_tolower(static_cast<UChar32>(code)))};
}

}  // namespace fovea
