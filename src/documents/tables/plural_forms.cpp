#include "documents/tables/plural_forms.hpp"

#include <algorithm>
#include <array>

#include "documents/characters.hpp"

namespace lapilli::documents {

namespace {

struct PluralRow {
  std::string_view languages;  // each between blanks
  PluralForms forms;
};

constexpr const char* kSlavic = "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2)";

constexpr std::array kPluralRows = {
    PluralRow{" ay bo cgg dz fa id ja jbo ka kk km ko ky lo ms my sah su th tt ug vi wo zh zu yue ",
              {1, "0", 0, false}},
    PluralRow{" ach ak am arn br fil fr gun ln mfe mg mi oc pt-br tg ti tl tr uz wa hy ", {2, "(n > 1)", 0, false}},
    PluralRow{
        " af an as ast az bg bn brx ca da de doi el en eo es et eu ff fi fo fur fy gl gu ha he hi hne hu ia it kl "
        "kn ku lb mai ml mn mni mr nah nap nb ne nl nn no nso or pa pap pms ps pt rm rw sat sc sco sd se si so "
        "son sq sv sw ta te tk ur yo ",
        {2, "(n != 1)", 0, true}},
    PluralRow{" is ", {2, "(n%10!=1 || n%100==11)", 0, false}},
    PluralRow{" mk ", {2, "(n%10==1 && n%100!=11 ? 0 : 1)", 0, false}},
    PluralRow{" jv ", {2, "(n != 0)", 1, false}},
    PluralRow{" ru uk be sr hr bs ", {3, kSlavic, 0, false}},
    PluralRow{" pl szl ", {3, "(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2)", 0, true}},
    PluralRow{" csb ", {3, "(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2)", 0, true}},
    PluralRow{" cs sk ", {3, "(n==1 ? 0 : n>=2 && n<=4 ? 1 : 2)", 0, true}},
    PluralRow{" lt ", {3, "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2)", 0, false}},
    PluralRow{" lv ", {3, "(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2)", 0, false}},
    PluralRow{" ro mo ", {3, "(n==1 ? 0 : n==0 || (n%100>0 && n%100<20) ? 1 : 2)", 0, true}},
    PluralRow{" me ", {3, kSlavic, 0, false}},
    PluralRow{" sl ", {4, "(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3)", 0, false}},
    PluralRow{" hsb dsb ", {4, "(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3)", 0, false}},
    PluralRow{" mt ", {4, "(n==1 ? 0 : n==0 || (n%100>1 && n%100<11) ? 1 : n%100>10 && n%100<20 ? 2 : 3)", 0, true}},
    PluralRow{" gd ", {4, "(n==1 || n==11 ? 0 : n==2 || n==12 ? 1 : n>2 && n<20 ? 2 : 3)", 0, false}},
    PluralRow{" kw ", {4, "(n==1 ? 0 : n==2 ? 1 : n == 3 ? 2 : 3)", 0, true}},
    PluralRow{" cy ", {4, "(n==1 ? 0 : n==2 ? 1 : n != 8 && n != 11 ? 2 : 3)", 0, true}},
    PluralRow{" ga ", {5, "(n==1 ? 0 : n==2 ? 1 : n<7 ? 2 : n<11 ? 3 : 4)", 0, true}},
    PluralRow{" ar ", {6, "(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5)", 1, true}},
};

const PluralForms* row_called(const std::string& language) {
  const auto has = [&](const PluralRow& row) { return row.languages.find(" " + language + " ") != std::string::npos; };
  const auto* row = std::find_if(kPluralRows.begin(), kPluralRows.end(), has);
  return row == kPluralRows.end() ? nullptr : &row->forms;
}

}  // namespace

const PluralForms* plural_forms_of(std::string_view language) {
  std::string code = ascii_lower(language);
  std::replace(code.begin(), code.end(), '_', '-');
  if (code.empty() || code.find(' ') != std::string::npos) return nullptr;
  if (const PluralForms* whole = row_called(code)) return whole;
  return row_called(code.substr(0, code.find('-')));
}

}  // namespace lapilli::documents
