// libcurl, where the program is not linked with it.
#pragma once

namespace lapilli::hub {

// True if this system has it.
bool is_curl_there();

}  // namespace lapilli::hub
