/* The same as samples/minimal, in C. */
#include <stdio.h>

#include "lapilli/lapilli.h"

int main(int argc, char** argv) {
  lapilli_device* device = NULL;
  lapilli_model* model = NULL;
  lapilli_result* result = NULL;
  lapilli_input input = lapilli_text(argc > 1 ? argv[1] : "Where is the station?");
  int failed = 1;

  if (lapilli_device_open(NULL, &device) == LAPILLI_OK && lapilli_model_load(device, NULL, &model) == LAPILLI_OK &&
      lapilli_generate(model, &input, 1, NULL, &result) == LAPILLI_OK) {
    lapilli_sequence best;
    best.struct_size = sizeof best;
    if (lapilli_result_get(result, 0, 0, &best) == LAPILLI_OK) {
      printf("%s\n", best.text);
      failed = 0;
    }
  }
  if (failed) fprintf(stderr, "%s\n", lapilli_last_error());
  lapilli_result_free(result);
  lapilli_model_free(model);
  lapilli_device_close(device);
  return failed;
}
