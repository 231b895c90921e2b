#include "server/work/languages.hpp"

#include <algorithm>
#include <cctype>

#include "tools/tools.hpp"

namespace lapilli::server {

namespace {

struct Named {
  const char *code, *name;
};

// ISO 639-1, else 639-3, with the names of ISO in the short form of clients.
constexpr Named kNames[] = {
    {"af", "Afrikaans"},
    {"am", "Amharic"},
    {"ar", "Arabic"},
    {"as", "Assamese"},
    {"ast", "Asturian"},
    {"ay", "Aymara"},
    {"az", "Azerbaijani"},
    {"ba", "Bashkir"},
    {"be", "Belarusian"},
    {"bg", "Bulgarian"},
    {"bm", "Bambara"},
    {"bn", "Bengali"},
    {"bo", "Tibetan"},
    {"br", "Breton"},
    {"bs", "Bosnian"},
    {"ca", "Catalan"},
    {"ceb", "Cebuano"},
    {"cs", "Czech"},
    {"cy", "Welsh"},
    {"da", "Danish"},
    {"de", "German"},
    {"dz", "Dzongkha"},
    {"ee", "Ewe"},
    {"el", "Greek"},
    {"en", "English"},
    {"eo", "Esperanto"},
    {"es", "Spanish"},
    {"et", "Estonian"},
    {"eu", "Basque"},
    {"fa", "Persian"},
    {"ff", "Fulah"},
    {"fi", "Finnish"},
    {"fj", "Fijian"},
    {"fo", "Faroese"},
    {"fr", "French"},
    {"fy", "Frisian"},
    {"ga", "Irish"},
    {"gd", "Gaelic"},
    {"gl", "Galician"},
    {"gn", "Guarani"},
    {"gu", "Gujarati"},
    {"ha", "Hausa"},
    {"haw", "Hawaiian"},
    {"he", "Hebrew"},
    {"hi", "Hindi"},
    {"hr", "Croatian"},
    {"ht", "Haitian"},
    {"hu", "Hungarian"},
    {"hy", "Armenian"},
    {"id", "Indonesian"},
    {"ig", "Igbo"},
    {"ilo", "Iloko"},
    {"is", "Icelandic"},
    {"it", "Italian"},
    {"ja", "Japanese"},
    {"jv", "Javanese"},
    {"ka", "Georgian"},
    {"kg", "Kongo"},
    {"ki", "Kikuyu"},
    {"kk", "Kazakh"},
    {"km", "Khmer"},
    {"kn", "Kannada"},
    {"ko", "Korean"},
    {"ks", "Kashmiri"},
    {"ku", "Kurdish"},
    {"ky", "Kyrgyz"},
    {"la", "Latin"},
    {"lb", "Luxembourgish"},
    {"lg", "Ganda"},
    {"li", "Limburgish"},
    {"ln", "Lingala"},
    {"lo", "Lao"},
    {"lt", "Lithuanian"},
    {"lv", "Latvian"},
    {"mg", "Malagasy"},
    {"mi", "Maori"},
    {"mk", "Macedonian"},
    {"ml", "Malayalam"},
    {"mn", "Mongolian"},
    {"mr", "Marathi"},
    {"ms", "Malay"},
    {"mt", "Maltese"},
    {"my", "Burmese"},
    {"nb", "Norwegian"},
    {"ne", "Nepali"},
    {"nl", "Dutch"},
    {"nn", "Nynorsk"},
    {"no", "Norwegian"},
    {"nso", "Northern Sotho"},
    {"ny", "Chichewa"},
    {"oc", "Occitan"},
    {"om", "Oromo"},
    {"or", "Odia"},
    {"pa", "Punjabi"},
    {"pl", "Polish"},
    {"ps", "Pashto"},
    {"pt", "Portuguese"},
    {"qu", "Quechua"},
    {"rn", "Rundi"},
    {"ro", "Romanian"},
    {"ru", "Russian"},
    {"rw", "Kinyarwanda"},
    {"sa", "Sanskrit"},
    {"sc", "Sardinian"},
    {"sd", "Sindhi"},
    {"sg", "Sango"},
    {"si", "Sinhala"},
    {"sk", "Slovak"},
    {"sl", "Slovenian"},
    {"sm", "Samoan"},
    {"sn", "Shona"},
    {"so", "Somali"},
    {"sq", "Albanian"},
    {"sr", "Serbian"},
    {"ss", "Swati"},
    {"st", "Sotho"},
    {"su", "Sundanese"},
    {"sv", "Swedish"},
    {"sw", "Swahili"},
    {"ta", "Tamil"},
    {"te", "Telugu"},
    {"tg", "Tajik"},
    {"th", "Thai"},
    {"ti", "Tigrinya"},
    {"tk", "Turkmen"},
    {"tl", "Tagalog"},
    {"tn", "Tswana"},
    {"tr", "Turkish"},
    {"ts", "Tsonga"},
    {"tt", "Tatar"},
    {"tw", "Twi"},
    {"ug", "Uyghur"},
    {"uk", "Ukrainian"},
    {"ur", "Urdu"},
    {"uz", "Uzbek"},
    {"vi", "Vietnamese"},
    {"wo", "Wolof"},
    {"xh", "Xhosa"},
    {"yi", "Yiddish"},
    {"yo", "Yoruba"},
    {"yue", "Cantonese"},
    {"zh-Hant", "Chinese (traditional)"},
    {"zh", "Chinese"},
    {"zu", "Zulu"},
};

std::string lower(std::string_view text) {
  std::string all(text);
  for (char& c : all) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return all;
}

// Most codes begin with that of their row. The others, such as "fra_Latn", are compared with each row.
const Named* row_of(std::string_view code) {
  const std::string asked = lower(code), base = asked.substr(0, asked.find_first_of("-_"));
  const bool traditional = asked.find("hant") != std::string::npos;
  const auto of_script = [&](const Named& row) { return (std::string_view(row.code) == "zh-Hant") == traditional; };
  for (const Named& row : kNames)
    if (of_script(row) && base == std::string_view(row.code).substr(0, traditional ? 2 : std::string_view::npos))
      return &row;
  for (const Named& row : kNames)
    if (of_script(row) && tools::same_language(row.code, asked)) return &row;
  const auto any = std::ranges::find_if(kNames, [&](const Named& row) { return base == row.code; });
  return any == std::end(kNames) ? nullptr : any;
}

}  // namespace

bool same_language(std::string_view a, std::string_view b) {
  return tools::same_language(std::string(a), std::string(b));
}

std::string short_language(std::string_view code) {
  const Named* row = row_of(code);
  if (row == nullptr) return std::string(code);
  const bool brazilian = std::string_view(row->code) == "pt" && lower(code).find("br") != std::string::npos;
  return brazilian ? "pt-BR" : row->code;
}

std::string language_name(std::string_view code) {
  const Named* row = row_of(code);
  return row == nullptr ? std::string(code) : row->name;
}

std::string find_language(const std::vector<std::string>& among, std::string_view asked) {
  for (const std::string& one : among)
    if (lower(one) == lower(asked) || short_language(one) == asked) return one;
  for (const std::string& one : among)
    if (same_language(one, asked)) return one;
  return "";
}

}  // namespace lapilli::server
