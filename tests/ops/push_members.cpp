#include "push_members.hpp"

#include <algorithm>
#include <sstream>

namespace lapilli {
namespace {

std::string glsl_type(const std::string& type) {
  if (type == "uint32_t") return "uint";
  if (type == "int32_t") return "int";
  return type == "float" ? "float" : "? " + type;
}

// "uint32_t groups, rows" behind what is there.
void add_declaration(const std::string& text, std::vector<SpirvMember>& members) {
  std::string words = text;
  std::replace(words.begin(), words.end(), ',', ' ');
  std::istringstream in(words);
  std::string type, name;
  in >> type;
  while (in >> name) members.push_back({name, glsl_type(type), static_cast<uint32_t>(4 * members.size())});
}

std::string described(const std::vector<SpirvMember>& members, size_t i) {
  if (i >= members.size()) return "nothing";
  return members[i].type + " " + members[i].name + " at byte " + std::to_string(members[i].offset);
}

}  // namespace

std::vector<SpirvMember> members_of(const PushMembers& push) {
  std::vector<SpirvMember> members;
  if (push.before) members = members_of(*push.before);
  std::istringstream text(push.text);
  for (std::string declaration; std::getline(text, declaration, ';');) add_declaration(declaration, members);
  return members;
}

std::string difference(const std::vector<SpirvMember>& host, const std::vector<SpirvMember>& kernel) {
  for (size_t i = 0; i < std::max(host.size(), kernel.size()); ++i)
    if (i >= host.size() || i >= kernel.size() || host[i] != kernel[i])
      return "member " + std::to_string(i) + ": the op has " + described(host, i) + ", the kernel " +
             described(kernel, i);
  return {};
}

}  // namespace lapilli
