// Holds a push struct of an op against the block that a kernel declares, member by member.
#pragma once

#include <string>
#include <vector>

#include "ops/core/push.hpp"
#include "spirv_reader.hpp"

namespace lapilli {

// The members of a push struct as a kernel would declare them.
std::vector<SpirvMember> members_of(const PushMembers& push);
// The first difference; empty: none.
std::string difference(const std::vector<SpirvMember>& host, const std::vector<SpirvMember>& kernel);

}  // namespace lapilli
