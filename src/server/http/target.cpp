#include "server/http/target.hpp"

#include <algorithm>

#include "server/http/forms.hpp"

namespace lapilli::server {

namespace {

// Takes "http://host" off the front of an absolute target.
std::string take_authority(std::string_view& target) {
  const size_t scheme = target.find("://");
  const bool absolute = scheme != target.npos && target.find_first_of("/?#") > scheme;
  if (!absolute) return "";
  target.remove_prefix(scheme + 3);
  const size_t end = std::min(target.find_first_of("/?#"), target.size());
  std::string authority(target.substr(0, end));
  target.remove_prefix(end);
  return authority;
}

}  // namespace

Target split_target(std::string_view target) {
  Target split;
  split.authority = take_authority(target);
  target = target.substr(0, target.find('#'));
  const size_t question = std::min(target.find('?'), target.size());
  split.path = decode_percent(target.substr(0, question), false);
  if (split.path.empty()) split.path = "/";
  if (question < target.size()) split.query = target.substr(question + 1);
  return split;
}

}  // namespace lapilli::server
