// The elements of each kind of office file, and the files of its archive that have words.
#pragma once

#include <span>
#include <string_view>

#include "documents/kind.hpp"
#include "documents/office/flow_reader.hpp"
#include "documents/office/nested_texts.hpp"
#include "documents/office/run_reader.hpp"

namespace lapilli::documents {

enum class MemberSort { runs, flow, page };

struct MemberRules {
  std::string_view name;  // '*' stands for any characters but a slash, and at its beginning for folders, too
  MemberSort sort = MemberSort::runs;
  const RunRules* runs = nullptr;
  const FlowRules* flow = nullptr;
  const NestingRules* nesting = nullptr;
  const Style* style = nullptr;
};

// In no order.
std::span<const MemberRules> member_rules(Kind kind);
// Null: the file has no words.
const MemberRules* rules_of(Kind kind, std::string_view member);

}  // namespace lapilli::documents
