// Stands in for libcurl in programs that are not linked with it: opens it when a model is fetched. The library of this
// name has had the same interface since 2006, and most systems have it.
#include "hub/curl_at_run_time.hpp"

#include <curl/curl.h>
#include <dlfcn.h>

#include <cstdarg>

namespace {

void* library() {
  static void* const opened = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  return opened;
}

template <class Function>
Function* function(const char* name) {
  return library() ? reinterpret_cast<Function*>(dlsym(library(), name)) : nullptr;
}

// The argument of libcurl's variadic functions behind the option: a long, a pointer or a curl_off_t.
static_assert(sizeof(long) == sizeof(void*) && sizeof(curl_off_t) == sizeof(void*), "arguments have one size");

}  // namespace

namespace lapilli::hub {

bool is_curl_there() { return library() != nullptr; }

}  // namespace lapilli::hub

extern "C" {

CURLcode curl_global_init(long flags) {
  const auto call = function<decltype(curl_global_init)>("curl_global_init");
  return call ? call(flags) : CURLE_FAILED_INIT;
}

CURL* curl_easy_init() {
  const auto call = function<decltype(curl_easy_init)>("curl_easy_init");
  return call ? call() : nullptr;
}

// The others are given a handle, so the library is there.
void curl_easy_cleanup(CURL* curl) {
  if (const auto call = function<decltype(curl_easy_cleanup)>("curl_easy_cleanup")) call(curl);
}

void curl_easy_reset(CURL* curl) {
  if (const auto call = function<decltype(curl_easy_reset)>("curl_easy_reset")) call(curl);
}

CURLcode curl_easy_perform(CURL* curl) {
  const auto call = function<decltype(curl_easy_perform)>("curl_easy_perform");
  return call ? call(curl) : CURLE_FAILED_INIT;
}

const char* curl_easy_strerror(CURLcode code) {
  const auto call = function<decltype(curl_easy_strerror)>("curl_easy_strerror");
  return call ? call(code) : "libcurl is not there";
}

CURLcode curl_easy_setopt(CURL* curl, CURLoption option, ...) {
  const auto call = function<CURLcode(CURL*, CURLoption, ...)>("curl_easy_setopt");
  va_list values;
  va_start(values, option);
  void* const value = va_arg(values, void*);
  va_end(values);
  return call ? call(curl, option, value) : CURLE_FAILED_INIT;
}

CURLcode curl_easy_getinfo(CURL* curl, CURLINFO info, ...) {
  const auto call = function<CURLcode(CURL*, CURLINFO, ...)>("curl_easy_getinfo");
  va_list values;
  va_start(values, info);
  void* const value = va_arg(values, void*);
  va_end(values);
  return call ? call(curl, info, value) : CURLE_FAILED_INIT;
}

curl_slist* curl_slist_append(curl_slist* list, const char* text) {
  const auto call = function<decltype(curl_slist_append)>("curl_slist_append");
  return call ? call(list, text) : nullptr;
}

void curl_slist_free_all(curl_slist* list) {
  if (const auto call = function<decltype(curl_slist_free_all)>("curl_slist_free_all")) call(list);
}

}  // extern "C"
