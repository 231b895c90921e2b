#include "text/kinds/languages.hpp"

#include <algorithm>

#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

// mBART-50 appends languages to mBART's.
constexpr std::string_view kMBart50[] = {
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN", "hi_IN", "it_IT",
    "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP", "nl_XX", "ro_RO", "ru_RU", "si_LK",
    "tr_TR", "vi_VN", "zh_CN", "af_ZA", "az_AZ", "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE",
    "km_KH", "mk_MK", "ml_IN", "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN",
    "te_IN", "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"};
constexpr size_t kMBartCount = 25;

constexpr std::string_view kM2M100[] = {
    "af", "am", "ar", "ast", "az", "ba",  "be", "bg", "bn", "br", "bs", "ca", "ceb", "cs", "cy", "da", "de",
    "el", "en", "es", "et",  "fa", "ff",  "fi", "fr", "fy", "ga", "gd", "gl", "gu",  "ha", "he", "hi", "hr",
    "ht", "hu", "hy", "id",  "ig", "ilo", "is", "it", "ja", "jv", "ka", "kk", "km",  "kn", "ko", "lb", "lg",
    "ln", "lo", "lt", "lv",  "mg", "mk",  "ml", "mn", "mr", "ms", "my", "ne", "nl",  "no", "ns", "oc", "or",
    "pa", "pl", "ps", "pt",  "ro", "ru",  "sd", "si", "sk", "sl", "so", "sq", "sr",  "ss", "su", "sv", "sw",
    "ta", "th", "tl", "tn",  "tr", "uk",  "ur", "uz", "vi", "wo", "xh", "yi", "yo",  "zh", "zu"};

constexpr std::string_view kWmt21[] = {"en", "ha", "is", "ja", "cs", "ru", "zh", "de"};

constexpr std::string_view kMustC[] = {"pt", "fr", "ru", "nl", "ro", "it", "es", "de"};

constexpr std::string_view kNllb[] = {
    "ace_Arab", "ace_Latn", "acm_Arab", "acq_Arab", "aeb_Arab", "afr_Latn", "ajp_Arab", "aka_Latn", "amh_Ethi",
    "apc_Arab", "arb_Arab", "ars_Arab", "ary_Arab", "arz_Arab", "asm_Beng", "ast_Latn", "awa_Deva", "ayr_Latn",
    "azb_Arab", "azj_Latn", "bak_Cyrl", "bam_Latn", "ban_Latn", "bel_Cyrl", "bem_Latn", "ben_Beng", "bho_Deva",
    "bjn_Arab", "bjn_Latn", "bod_Tibt", "bos_Latn", "bug_Latn", "bul_Cyrl", "cat_Latn", "ceb_Latn", "ces_Latn",
    "cjk_Latn", "ckb_Arab", "crh_Latn", "cym_Latn", "dan_Latn", "deu_Latn", "dik_Latn", "dyu_Latn", "dzo_Tibt",
    "ell_Grek", "eng_Latn", "epo_Latn", "est_Latn", "eus_Latn", "ewe_Latn", "fao_Latn", "pes_Arab", "fij_Latn",
    "fin_Latn", "fon_Latn", "fra_Latn", "fur_Latn", "fuv_Latn", "gla_Latn", "gle_Latn", "glg_Latn", "grn_Latn",
    "guj_Gujr", "hat_Latn", "hau_Latn", "heb_Hebr", "hin_Deva", "hne_Deva", "hrv_Latn", "hun_Latn", "hye_Armn",
    "ibo_Latn", "ilo_Latn", "ind_Latn", "isl_Latn", "ita_Latn", "jav_Latn", "jpn_Jpan", "kab_Latn", "kac_Latn",
    "kam_Latn", "kan_Knda", "kas_Arab", "kas_Deva", "kat_Geor", "knc_Arab", "knc_Latn", "kaz_Cyrl", "kbp_Latn",
    "kea_Latn", "khm_Khmr", "kik_Latn", "kin_Latn", "kir_Cyrl", "kmb_Latn", "kon_Latn", "kor_Hang", "kmr_Latn",
    "lao_Laoo", "lvs_Latn", "lij_Latn", "lim_Latn", "lin_Latn", "lit_Latn", "lmo_Latn", "ltg_Latn", "ltz_Latn",
    "lua_Latn", "lug_Latn", "luo_Latn", "lus_Latn", "mag_Deva", "mai_Deva", "mal_Mlym", "mar_Deva", "min_Latn",
    "mkd_Cyrl", "plt_Latn", "mlt_Latn", "mni_Beng", "khk_Cyrl", "mos_Latn", "mri_Latn", "zsm_Latn", "mya_Mymr",
    "nld_Latn", "nno_Latn", "nob_Latn", "npi_Deva", "nso_Latn", "nus_Latn", "nya_Latn", "oci_Latn", "gaz_Latn",
    "ory_Orya", "pag_Latn", "pan_Guru", "pap_Latn", "pol_Latn", "por_Latn", "prs_Arab", "pbt_Arab", "quy_Latn",
    "ron_Latn", "run_Latn", "rus_Cyrl", "sag_Latn", "san_Deva", "sat_Beng", "scn_Latn", "shn_Mymr", "sin_Sinh",
    "slk_Latn", "slv_Latn", "smo_Latn", "sna_Latn", "snd_Arab", "som_Latn", "sot_Latn", "spa_Latn", "als_Latn",
    "srd_Latn", "srp_Cyrl", "ssw_Latn", "sun_Latn", "swe_Latn", "swh_Latn", "szl_Latn", "tam_Taml", "tat_Cyrl",
    "tel_Telu", "tgk_Cyrl", "tgl_Latn", "tha_Thai", "tir_Ethi", "taq_Latn", "taq_Tfng", "tpi_Latn", "tsn_Latn",
    "tso_Latn", "tuk_Latn", "tum_Latn", "tur_Latn", "twi_Latn", "tzm_Tfng", "uig_Arab", "ukr_Cyrl", "umb_Latn",
    "urd_Arab", "uzn_Latn", "vec_Latn", "vie_Latn", "war_Latn", "wol_Latn", "xho_Latn", "ydd_Hebr", "yor_Latn",
    "yue_Hant", "zho_Hans", "zho_Hant", "zul_Latn"};

// One language per entry, with all its codes: ISO 639-1, 639-2 and -3, older ones, and NLLB's where that stands for
// part of a group (standard Arabic, Iranian Persian); also the English name if T5's prefixes use one.
constexpr std::string_view kSynonyms[] = {"af afr",
                                          "am amh",
                                          "ar ara arb arabic",
                                          "as asm",
                                          "ay aym ayr",
                                          "az aze azj",
                                          "ba bak",
                                          "be bel",
                                          "bg bul bulgarian",
                                          "bm bam",
                                          "bn ben bengali",
                                          "bo bod tib",
                                          "bs bos",
                                          "ca cat catalan",
                                          "cs ces cze czech",
                                          "cy cym wel",
                                          "da dan danish",
                                          "de deu ger german",
                                          "dz dzo",
                                          "ee ewe",
                                          "el ell gre greek",
                                          "en eng english",
                                          "eo epo",
                                          "es spa spanish",
                                          "et est estonian",
                                          "eu eus baq basque",
                                          "fa fas per pes persian",
                                          "ff ful fuv",
                                          "fi fin finnish",
                                          "fj fij",
                                          "fo fao",
                                          "fr fra fre french",
                                          "fy fry",
                                          "ga gle irish",
                                          "gd gla",
                                          "gl glg galician",
                                          "gn grn",
                                          "gu guj gujarati",
                                          "ha hau",
                                          "he heb iw hebrew",
                                          "hi hin hindi",
                                          "hr hrv croatian",
                                          "ht hat",
                                          "hu hun hungarian",
                                          "hy hye arm armenian",
                                          "id ind in indonesian",
                                          "ig ibo",
                                          "is isl ice icelandic",
                                          "it ita italian",
                                          "ja jpn japanese",
                                          "jv jav jw",
                                          "ka kat geo georgian",
                                          "kg kon",
                                          "ki kik",
                                          "kk kaz kazakh",
                                          "km khm",
                                          "kn kan",
                                          "ko kor korean",
                                          "ks kas",
                                          "ku kur kmr",
                                          "ky kir",
                                          "lb ltz",
                                          "lg lug",
                                          "li lim",
                                          "ln lin",
                                          "lo lao",
                                          "lt lit lithuanian",
                                          "lv lav lvs latvian",
                                          "mg mlg plt",
                                          "mi mri mao",
                                          "mk mkd mac macedonian",
                                          "ml mal",
                                          "mn mon khk",
                                          "mr mar",
                                          "ms msa may zsm malay",
                                          "mt mlt",
                                          "my mya bur",
                                          "nb nob",
                                          "ne nep npi",
                                          "nl nld dut dutch",
                                          "nn nno",
                                          "no nor norwegian",
                                          "nso ns",
                                          "ny nya",
                                          "oc oci",
                                          "om orm gaz",
                                          "or ori ory",
                                          "pa pan",
                                          "pl pol polish",
                                          "ps pus pbt",
                                          "pt por portuguese",
                                          "qu que quy",
                                          "rn run",
                                          "ro ron rum romanian",
                                          "ru rus russian",
                                          "rw kin",
                                          "sa san",
                                          "sc srd",
                                          "sd snd",
                                          "sg sag",
                                          "si sin",
                                          "sk slk slo slovak",
                                          "sl slv slovenian",
                                          "sm smo",
                                          "sn sna",
                                          "so som",
                                          "sq sqi alb als albanian",
                                          "sr srp serbian",
                                          "ss ssw",
                                          "st sot",
                                          "su sun",
                                          "sv swe swedish",
                                          "sw swa swh swahili",
                                          "ta tam tamil",
                                          "te tel telugu",
                                          "tg tgk",
                                          "th tha thai",
                                          "ti tir",
                                          "tk tuk",
                                          "tl tgl fil",
                                          "tn tsn",
                                          "tr tur turkish",
                                          "ts tso",
                                          "tt tat",
                                          "tw twi",
                                          "ug uig",
                                          "uk ukr ukrainian",
                                          "ur urd urdu",
                                          "uz uzb uzn",
                                          "vi vie vietnamese",
                                          "wo wol",
                                          "xh xho",
                                          "yi yid ydd",
                                          "yo yor",
                                          "zh zho chi cmn chinese",
                                          "zu zul"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// "zh-Hans" -> language zh, script hans; "pt_BR" -> language pt, region br; all in lower case.
struct CodeParts {
  std::string language, script, region;
};

// Argos' own codes of two forms of languages, which no standard has.
void read_own_code(CodeParts& parts) {
  if (parts.language == "zt") parts = {"zh", "hant", parts.region};
  if (parts.language == "pb") parts = {"pt", parts.script, "br"};
}

CodeParts split(std::string_view code) {
  CodeParts parts;
  std::string part;
  bool first = true;
  const auto take = [&] {
    if (first)
      parts.language = part;
    else if (part.size() == 4)
      parts.script = part;
    else if (part != "xx")
      parts.region = part;  // XX: no particular region
    part.clear();
    first = false;
  };
  for (const char c : code) {
    if (c == '_' || c == '-')
      take();
    else
      part.push_back(lower(c));
  }
  take();
  read_own_code(parts);
  return parts;
}

bool contains(std::string_view words, std::string_view word) {
  for (size_t at = 0; at <= words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

bool same_language(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (a.empty() || b.empty()) return false;
  return std::any_of(std::begin(kSynonyms), std::end(kSynonyms),
                     [&](std::string_view words) { return contains(words, a) && contains(words, b); });
}

// Parts given in both codes must agree; a part missing in one matches anything.
bool compatible(const CodeParts& a, const CodeParts& b) {
  const auto agree = [](const std::string& x, const std::string& y) { return x.empty() || y.empty() || x == y; };
  return same_language(a.language, b.language) && agree(a.script, b.script) && agree(a.region, b.region);
}

}  // namespace

std::span<const std::string_view> mbart_languages() { return std::span(kMBart50).first(kMBartCount); }
std::span<const std::string_view> mbart50_languages() { return kMBart50; }
std::span<const std::string_view> m2m100_languages() { return kM2M100; }
std::span<const std::string_view> wmt21_languages() { return kWmt21; }
std::span<const std::string_view> nllb_languages() { return kNllb; }
std::span<const std::string_view> mustc_languages() { return kMustC; }

bool is_known_language(std::string_view code) {
  const std::string language = split(code).language;
  const auto has = [&](std::span<const std::string_view> codes) {
    return std::any_of(codes.begin(), codes.end(), [&](auto one) { return split(one).language == language; });
  };
  return std::any_of(std::begin(kSynonyms), std::end(kSynonyms), [&](auto all) { return contains(all, language); }) ||
         has(kMBart50) || has(kM2M100) || has(kNllb);
}

void LanguageTable::add(std::string_view code, int32_t id) { entries_.push_back({std::string(code), id}); }

const LanguageTable::Entry* LanguageTable::find(std::string_view code) const {
  for (const Entry& e : entries_) {
    if (e.code == code) return &e;
  }
  const CodeParts wanted = split(code);
  const Entry* found = nullptr;
  for (const Entry& e : entries_) {
    if (!compatible(wanted, split(e.code))) continue;
    if (found != nullptr) return nullptr;
    found = &e;
  }
  return found;
}

Result<const LanguageTable::Entry*> LanguageTable::require(std::string_view code) const {
  if (const Entry* entry = find(code)) return entry;
  constexpr size_t kShown = 12;
  std::string some;
  const CodeParts wanted = split(code);
  for (const Entry& e : entries_) {  // lists possible meanings of the code, if any
    if (same_language(wanted.language, split(e.code).language)) some += (some.empty() ? "" : ", ") + e.code;
  }
  if (!some.empty())
    return fail(ErrorCode::invalid_argument, "language %s is not clear: this model has %s", quote_text(code), some);
  for (size_t i = 0; i < entries_.size() && i < kShown; ++i) some += (i == 0 ? "" : ", ") + entries_[i].code;
  if (entries_.size() > kShown) some += format(" and %u more", entries_.size() - kShown);
  return fail(ErrorCode::invalid_argument, "language %s is not one of this model's: %s", quote_text(code),
              some.empty() ? "it has none" : some.c_str());
}

std::vector<std::string> LanguageTable::codes() const {
  std::vector<std::string> codes;
  codes.reserve(entries_.size());
  for (const Entry& e : entries_) codes.push_back(e.code);
  return codes;
}

}  // namespace lapilli
