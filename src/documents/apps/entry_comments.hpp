// Comments that say which entries stay: "i18n-ignore" the next one, "l10n:off" all up to "l10n:on".
#pragma once

#include <string_view>

namespace lapilli::documents {

class EntryComments {
 public:
  void comment(std::string_view text) {
    const size_t off = text.rfind("l10n:off"), on = text.rfind("l10n:on");
    if (off != kNone || on != kNone) off_ = on == kNone || (off != kNone && off > on);
    next_ |= text.find("i18n-ignore") != kNone;
  }
  // True if the entry that begins here stays.
  bool take() {
    const bool stays = off_ || next_;
    next_ = false;
    return stays;
  }

 private:
  static constexpr size_t kNone = std::string_view::npos;
  bool off_ = false, next_ = false;
};

}  // namespace lapilli::documents
