// A C++ program against the installed library.
#include <cstdio>
#include <lapilli/lapilli.hpp>

int main() {
  std::printf("from C++: lapilli %s\n", lapilli_version());
  const auto model = lapilli::Model::load("no/such/model");
  if (model) return 1;
  return model.error().message().empty() ? 2 : 0;
}
