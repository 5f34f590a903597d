// SPDX-License-Identifier: Apache-2.0
#include "CurlLoop.h"

#include <curl/curl.h>
#include <time.h>

static size_t drop(char *data, size_t size, size_t count, void *context) {
    (void)data;
    (void)context;
    return size * count;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double curl_loop(const char *url, const char *const *headers, int header_count, int count) {
    CURL *handle = curl_easy_init();
    struct curl_slist *lines = NULL;
    for (int index = 0; index < header_count; index++) lines = curl_slist_append(lines, headers[index]);
    curl_easy_setopt(handle, CURLOPT_URL, url);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, lines);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(handle, CURLOPT_TCP_NODELAY, 1L);
    double began = now(), took = -1;
    int done = 0;
    for (; done < count; done++) {
        long status = 0;
        if (curl_easy_perform(handle) != CURLE_OK) break;
        curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
        if (status != 200) break;
    }
    if (done == count) took = now() - began;
    curl_slist_free_all(lines);
    curl_easy_cleanup(handle);
    return took;
}
