/* Linked into sanitizer builds only: drivers stay mapped until the end, so that reports can name their functions and
   the suppressions in this folder match. */
int dlclose(void* handle) {
  (void)handle;
  return 0;
}
