// Push structs that know the names and types of their members, in order: a test holds them against the block that each
// kernel declares (tests/ops/reflection_test.cpp).
//
//   struct Push {
//     LAPILLI_PUSH(uint32_t groups, rows; float scale;)
//   };
#pragma once

namespace lapilli {

struct PushMembers {
  const PushMembers* before;  // of the struct that this one begins with, or null
  const char* text;           // declarations as they are written: "uint32_t groups, rows; float scale;"
};

}  // namespace lapilli

// The members as they would stand in the struct: uint32_t, int32_t and float.
#define LAPILLI_PUSH(...) \
  __VA_ARGS__             \
  static constexpr ::lapilli::PushMembers members{nullptr, #__VA_ARGS__};
// Likewise, behind those of another push struct, which is the member NAME.
#define LAPILLI_PUSH_BEHIND(STRUCT, NAME, ...) \
  STRUCT NAME;                                 \
  __VA_ARGS__                                  \
  static constexpr ::lapilli::PushMembers members{&STRUCT::members, #__VA_ARGS__};
