// Translates the texts given on the command line. All that a program needs: one header, one library.
#include <cstdio>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"

int main(int argc, char** argv) {
  std::vector<std::string> texts(argv + 1, argv + argc);
  if (texts.empty()) texts = {"Where is the station?", "What time is it?"};

  auto model = lapilli::Model::load();  // the bundled model on the best device
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().what());
    return 1;
  }
  lapilli::Options options;
  options.num_beams = 4;
  auto results = model->translate(texts, options);
  if (!results) {
    std::fprintf(stderr, "%s\n", results.error().what());
    return 1;
  }
  int failed = 0;
  for (const lapilli::Output& output : *results) {
    if (!output.ok()) std::fprintf(stderr, "%s\n", output.error->what()), ++failed;
    std::printf("%s\n", output.text().c_str());
  }
  return failed ? 1 : 0;
}
