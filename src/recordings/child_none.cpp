// For systems on which a program may start no other one: Android, iOS.
#include "recordings/child.hpp"

namespace lapilli::recordings {

Result<std::unique_ptr<Child>> start_child(const std::string& program, const std::vector<std::string>&, std::FILE*) {
  return fail(ErrorCode::unsupported, "%s: no other program is started on this system", program);
}

}  // namespace lapilli::recordings
