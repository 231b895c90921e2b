// Registries of other programs: the index of Argos Translate, and Mozilla's of Firefox's models. Their addresses are in
// models/registries.json; what they answer is untrusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hub/catalogue.hpp"

namespace lapilli::hub {

struct Registry {
  enum class Form { argos_index, remote_settings };
  std::string name;     // "argos"; its models are argos/FROM_TO
  std::string program;  // "Argos Translate"
  Form form = Form::argos_index;
  std::string index;    // the address of its list
  std::string files;    // where addresses of files begin; "": the list has them whole
  std::string licence;  // of all models; "" if each states its own
};

struct OfferedFile {
  std::string name;               // is_plain_name()
  std::vector<std::string> urls;  // to be tried in this order
  std::optional<uint64_t> size;   // not all lists state it
  std::string sha256;             // "": not stated
};

struct OfferedModel {
  std::string from, to, version;
  std::vector<OfferedFile> files;
};

// Errors name the file and the entry.
Result<std::vector<Registry>> read_registries(const std::string& path);

// The models of a list, by their languages; of several versions the newest that is whole. Entries that cannot be used
// are left out.
Result<std::vector<OfferedModel>> read_offers(const Registry& registry, std::string_view text);

// The two codes of "en_de"; nothing if it is no such name.
struct LanguageCodes {
  std::string from, to;
};
std::optional<LanguageCodes> parse_pair(std::string_view name);

// The one for a pair; null if there is none.
const OfferedModel* find_offer(const std::vector<OfferedModel>& offers, const LanguageCodes& pair,
                               const SameLanguage& same);

}  // namespace lapilli::hub
