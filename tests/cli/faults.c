/* A test preloads this into the program. It kills it before the KILL_AT-th time that it renames or removes a file whose
 * path holds KILL_IN, or lets every flock fail as on a file system without locks (NO_LOCKS). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

static void step(const char* path) {
  static int steps;
  const char *at = getenv("KILL_AT"), *in = getenv("KILL_IN");
  if (at && in && strstr(path, in) && ++steps == atoi(at)) raise(SIGKILL);
}

int rename(const char* from, const char* to) {
  step(from);
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char* path) {
  step(path);
  return unlinkat(AT_FDCWD, path, 0);
}

int remove(const char* path) {
  step(path);
  if (unlinkat(AT_FDCWD, path, 0) == 0) return 0;
  return errno == EISDIR || errno == EPERM ? rmdir(path) : -1;
}

int flock(int file, int operation) {
  if (!getenv("NO_LOCKS")) return (int)syscall(SYS_flock, file, operation);
  errno = ENOSYS;
  return -1;
}
