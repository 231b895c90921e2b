#include <algorithm>
#include <array>
#include <utility>

#include "documents/kind.hpp"
#include "documents/office/xml_tokens.hpp"

namespace lapilli::documents {

namespace {

constexpr std::array<std::pair<std::string_view, Kind>, 3> kRoots = {
    {{"xliff", Kind::xliff}, {"tt", Kind::ttml}, {"TS", Kind::ts}}};
constexpr std::array<std::string_view, 3> kAndroidTexts = {"string", "plurals", "string-array"};

std::optional<Kind> kind_of_root(std::string_view name) {
  const auto root = std::find_if(kRoots.begin(), kRoots.end(), [&](const auto& r) { return r.first == name; });
  return root == kRoots.end() ? std::nullopt : std::optional(root->second);
}

bool is_android_text(const XmlToken& token) {
  return std::find(kAndroidTexts.begin(), kAndroidTexts.end(), token.name) != kAndroidTexts.end();
}

}  // namespace

// The head may end within a token, which reads as an error.
std::optional<Kind> kind_of_xml(std::string_view head) {
  XmlTokens tokens(head, head.starts_with("\xef\xbb\xbf") ? 3 : 0);
  XmlToken token;
  bool resources = false;
  for (auto more = tokens.next(token); more.ok() && *more; more = tokens.next(token)) {
    if (token.type != XmlToken::start_tag) continue;
    const size_t depth = tokens.depth() - (token.closed ? 0 : 1);
    if (depth == 0 && token.name != "resources") return kind_of_root(local_name(token.name));
    resources |= depth == 0;
    if (resources && depth == 1 && is_android_text(token)) return Kind::android;
  }
  return std::nullopt;
}

}  // namespace lapilli::documents
