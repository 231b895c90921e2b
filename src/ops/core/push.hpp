// Push structs that know the names and types of their members, in order: a test compares them with the block that each
// kernel declares (tests/ops/reflection_test.cpp).
//
//   struct Push {
//     LAPILLI_PUSH(uint32_t groups, rows; float scale;)
//   };
#pragma once

namespace lapilli {

struct PushMembers {
  const PushMembers* before;  // of the struct that this one starts with, or null
  const char* text;           // declarations as written: "uint32_t groups, rows; float scale;"
};

}  // namespace lapilli

// Takes the members as they would appear in the struct: uint32_t, int32_t and float.
#define LAPILLI_PUSH(...) \
  __VA_ARGS__             \
  static constexpr ::lapilli::PushMembers members{nullptr, #__VA_ARGS__};
// Likewise, following another push struct, which becomes the member NAME.
#define LAPILLI_PUSH_BEHIND(STRUCT, NAME, ...) \
  STRUCT NAME;                                 \
  __VA_ARGS__                                  \
  static constexpr ::lapilli::PushMembers members{&STRUCT::members, #__VA_ARGS__};
