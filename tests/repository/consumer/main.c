/* A C program against the installed library: asks it things that need no device, and one that fails with a message. */
#include <lapilli/lapilli.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  lapilli_model* model = NULL;
  printf("from C: lapilli %s\n", lapilli_version());
  if (strcmp(lapilli_status_name(LAPILLI_OK), "ok") != 0) return 1;
  if (lapilli_model_load(NULL, "no/such/model", &model) == LAPILLI_OK || model != NULL) return 2;
  return lapilli_last_error()[0] == '\0' ? 3 : 0;
}
