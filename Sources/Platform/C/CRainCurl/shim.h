// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdbool.h>

// The functions of libcurl, with the names and types of its headers. libcurl is opened when it is first needed: with its three dozen
// libraries, it takes longer to load than many a command to run.
typedef struct {
    CURLcode (*_Nonnull global_init)(long flags);
    CURL *_Nullable (*_Nonnull easy_init)(void);
    void (*_Nonnull easy_cleanup)(CURL *_Nonnull);
    CURLcode (*_Nonnull easy_setopt)(CURL *_Nonnull, CURLoption, ...);
    CURLcode (*_Nonnull easy_getinfo)(CURL *_Nonnull, CURLINFO, ...);
    CURLcode (*_Nonnull easy_perform)(CURL *_Nonnull);
    CURLcode (*_Nonnull easy_recv)(CURL *_Nonnull, void *_Nullable, size_t, size_t *_Nonnull count);
    CURLcode (*_Nonnull easy_send)(CURL *_Nonnull, const void *_Nullable, size_t, size_t *_Nonnull count);
    const char *_Nonnull (*_Nonnull easy_strerror)(CURLcode);
    void (*_Nonnull free)(void *_Nullable);
    struct curl_slist *_Nullable (*_Nonnull slist_append)(struct curl_slist *_Nullable, const char *_Nonnull);
    void (*_Nonnull slist_free_all)(struct curl_slist *_Nullable);
    CURLM *_Nullable (*_Nonnull multi_init)(void);
    CURLMcode (*_Nonnull multi_setopt)(CURLM *_Nonnull, CURLMoption, ...);
    CURLMcode (*_Nonnull multi_cleanup)(CURLM *_Nonnull);
    CURLMcode (*_Nonnull multi_add_handle)(CURLM *_Nonnull, CURL *_Nonnull);
    CURLMcode (*_Nonnull multi_remove_handle)(CURLM *_Nonnull, CURL *_Nonnull);
    CURLMcode (*_Nonnull multi_perform)(CURLM *_Nonnull, int *_Nonnull running);
    CURLMcode (*_Nonnull multi_poll)(CURLM *_Nonnull, struct curl_waitfd *_Nullable, unsigned count, int milliseconds, int *_Nullable ready);
    CURLMsg *_Nullable (*_Nonnull multi_info_read)(CURLM *_Nonnull, int *_Nonnull left);
    CURLSH *_Nullable (*_Nonnull share_init)(void);
    CURLSHcode (*_Nonnull share_cleanup)(CURLSH *_Nonnull);
    CURLSHcode (*_Nonnull share_setopt)(CURLSH *_Nonnull, CURLSHoption, ...);
    CURLU *_Nullable (*_Nonnull url)(void);
    void (*_Nonnull url_cleanup)(CURLU *_Nonnull);
    CURLUcode (*_Nonnull url_get)(CURLU *_Nonnull, CURLUPart, char *_Nullable *_Nonnull part, unsigned flags);
    CURLUcode (*_Nonnull url_set)(CURLU *_Nonnull, CURLUPart, const char *_Nullable part, unsigned flags);
} rk_curl_library;

static inline bool rk_curl_find(void *library, const char *name, void *function) {
    return (*(void **)function = dlsym(library, name)) != NULL;
}

// Returns false if the library is missing, or lacks one of the functions.
static inline bool rk_curl_open(rk_curl_library *_Nonnull curl) {
    void *library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return false;
#define RK_FIND(name) rk_curl_find(library, "curl_" #name, &curl->name)
    return RK_FIND(global_init) && RK_FIND(easy_init) && RK_FIND(easy_cleanup) && RK_FIND(easy_setopt)
        && RK_FIND(easy_getinfo) && RK_FIND(easy_perform) && RK_FIND(easy_recv) && RK_FIND(easy_send) && RK_FIND(easy_strerror) && RK_FIND(free) && RK_FIND(slist_append)
        && RK_FIND(slist_free_all) && RK_FIND(multi_init) && RK_FIND(multi_setopt) && RK_FIND(multi_cleanup) && RK_FIND(multi_add_handle)
        && RK_FIND(multi_remove_handle) && RK_FIND(multi_perform) && RK_FIND(multi_poll) && RK_FIND(multi_info_read)
        && RK_FIND(share_init) && RK_FIND(share_cleanup) && RK_FIND(share_setopt) && RK_FIND(url) && RK_FIND(url_cleanup)
        && RK_FIND(url_get) && RK_FIND(url_set);
#undef RK_FIND
}

// setopt and getinfo are variadic, which Swift does not import. So there is one typed wrapper for each argument type.

typedef const rk_curl_library *_Nonnull rk_curl;

static inline CURLcode rk_curl_setopt_long(rk_curl curl, CURL *handle, CURLoption option, long value) {
    return curl->easy_setopt(handle, option, value);
}
static inline CURLcode rk_curl_setopt_offset(rk_curl curl, CURL *handle, CURLoption option, curl_off_t value) {
    return curl->easy_setopt(handle, option, value);
}
static inline CURLcode rk_curl_setopt_string(rk_curl curl, CURL *handle, CURLoption option, const char *value) {
    return curl->easy_setopt(handle, option, value);
}
static inline CURLcode rk_curl_setopt_pointer(rk_curl curl, CURL *handle, CURLoption option, void *value) {
    return curl->easy_setopt(handle, option, value);
}
typedef size_t (*rk_curl_transfer)(char *, size_t, size_t, void *);
static inline CURLcode rk_curl_setopt_transfer(rk_curl curl, CURL *handle, CURLoption option, rk_curl_transfer value) {
    return curl->easy_setopt(handle, option, value);
}
static inline CURLcode rk_curl_getinfo_long(rk_curl curl, CURL *handle, CURLINFO info, long *value) {
    return curl->easy_getinfo(handle, info, value);
}
static inline CURLcode rk_curl_getinfo_socket(rk_curl curl, CURL *handle, curl_socket_t *value) {
    return curl->easy_getinfo(handle, CURLINFO_ACTIVESOCKET, value);
}
typedef int (*rk_curl_prerequest)(void *, char *, char *, int, int);
static inline CURLcode rk_curl_setopt_prerequest(rk_curl curl, CURL *handle, CURLoption option, rk_curl_prerequest value) {
    return curl->easy_setopt(handle, option, value);
}
static inline CURLcode rk_curl_setopt_progress(rk_curl curl, CURL *handle, curl_xferinfo_callback value) {
    return curl->easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
}
static inline CURLMcode rk_curl_limit_connections(rk_curl curl, CURLM *multi, long number) {
    return curl->multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, number);
}
static inline CURLSHcode rk_curl_share_connections(rk_curl curl, CURLSH *share) {
    return curl->share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
}
static inline CURLcode rk_curl_setopt_open_socket(rk_curl curl, CURL *handle, curl_opensocket_callback value) {
    return curl->easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode rk_curl_setopt_close_socket(rk_curl curl, CURL *handle, curl_closesocket_callback value) {
    return curl->easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}
