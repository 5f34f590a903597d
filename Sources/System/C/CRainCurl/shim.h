// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <curl/curl.h>
// Not part of Glibc as Swift imports it: what wakes a thread that sleeps in libcurl.
#include <sys/eventfd.h>

// libcurl's setopt and getinfo are variadic, which Swift does not import: one typed wrapper for each argument type.

static inline CURLcode rk_curl_setopt_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode rk_curl_setopt_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode rk_curl_setopt_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode rk_curl_setopt_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
typedef size_t (*rk_curl_transfer)(char *, size_t, size_t, void *);
static inline CURLcode rk_curl_setopt_transfer(CURL *handle, CURLoption option, rk_curl_transfer value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode rk_curl_getinfo_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode rk_curl_getinfo_pointer(CURL *handle, CURLINFO info, char **value) {
    return curl_easy_getinfo(handle, info, value);
}
typedef int (*rk_curl_prerequest)(void *, char *, char *, int, int);
static inline CURLcode rk_curl_setopt_prerequest(CURL *handle, CURLoption option, rk_curl_prerequest value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode rk_curl_setopt_progress(CURL *handle, curl_xferinfo_callback value) {
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
}
static inline CURLSHcode rk_curl_share_connections(CURLSH *share) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
}
static inline CURLcode rk_curl_setopt_open_socket(CURL *handle, curl_opensocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode rk_curl_setopt_close_socket(CURL *handle, curl_closesocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}
