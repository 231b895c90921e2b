#include "documents/plurals.hpp"

#include <algorithm>
#include <array>

#include "documents/characters.hpp"

namespace lapilli::documents {

namespace {

constexpr std::array<std::string_view, 6> kCategories = {"zero", "one", "two", "few", "many", "other"};

// A letter for each category: z o t f m; all languages have "other". Categories of fractions alone (Czech's "many") are
// left out, as are those of millions.
struct PluralRow {
  std::string_view categories;
  std::string_view languages;  // between blanks
};
constexpr std::array kRows = {
    PluralRow{"",
              " bm bo dz hnj id ig ii ja jbo jv kde kea km ko lkt lo ms my nqo osa root sah ses sg su th to tpi vi "
              "wo yo yue zh "},
    PluralRow{"o",
              " af ak am an as asa ast az bal bem bez bg bho bn brx ca ce ceb cgg chr ckb csw da de doi dv ee el en eo "
              "es et eu fa ff fi fil fo fr fur fy gl gsw gu guw ha haw hi hu hy ia io is it jgo jmc ka kab kaj "
              "kcg kk kkj kl kn kok ks ksb ku ky lb lg lij ln mas mg mgo mk ml mn mr nah nb nd ne nl nn nnh no nr nso "
              "ny nyn om or os pa pap pcm ps pt rm rof rwk saq sc scn sd sdh seh si sn so sq ss ssy st sv sw syr "
              "ta te teo tg ti tig tk tl tn tr ts tzm ug ur uz ve vec vo vun wa wae xh xog yi zu "},
    PluralRow{"zo", " ksh lag lv prg "},
    PluralRow{"ot", " he iu iw naq sat se sma smi smj smn sms "},
    PluralRow{"of", " bs cs hr lt mo ro sh shi sk sr "},
    PluralRow{"ofm", " be pl ru uk "},
    PluralRow{"otf", " br dsb gd gv hsb sl "},
    PluralRow{"otfm", " ga mt "},
    PluralRow{"ztofm", " ar ars cy kw "},
};

std::string between_blanks(std::string_view language) {
  return " " + ascii_lower(language.substr(0, language.find_first_of("-_."))) + " ";
}

}  // namespace

std::span<const std::string_view> all_plural_categories() { return kCategories; }

std::vector<std::string_view> plural_categories(std::string_view language) {
  const std::string name = between_blanks(language);
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [&](const PluralRow& r) { return r.languages.find(name) != std::string_view::npos; });
  if (row == kRows.end() || name.size() < 4) return {};
  std::vector<std::string_view> categories;
  for (const std::string_view category : kCategories) {
    if (category == "other" || row->categories.find(category[0]) != std::string_view::npos)
      categories.push_back(category);
  }
  return categories;
}

std::string lacking_categories(std::string_view language, std::span<const std::string_view> has) {
  std::string lacking;
  for (const std::string_view category : plural_categories(language)) {
    if (std::find(has.begin(), has.end(), category) != has.end()) continue;
    lacking += lacking.empty() ? "" : ", ";
    lacking += category;
  }
  return lacking;
}

}  // namespace lapilli::documents
