// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>
#include <stdint.h>

// Functions of libmicrohttpd with their types, as in microhttpd.h 0.9.75. The library is opened when it is needed, so nothing needs its header.

// MHD_AccessHandlerCallback
typedef int (*rk_mhd_handler)(
    void *context, void *connection, const char *url, const char *method, const char *version, const char *body, size_t *size,
    void **state);
// MHD_RequestCompletedCallback
typedef void (*rk_mhd_completed)(void *context, void *connection, void **state, unsigned int code);

// Calls MHD_start_daemon, which has variable arguments, on a listening socket. The daemon has a thread of its own, and closes the socket.
static inline void *rk_mhd_start(
    void *start_daemon, int listener, unsigned int connections, unsigned int seconds, size_t memory, rk_mhd_handler handler,
    rk_mhd_completed completed, void *context) {
    typedef void *(*start)(unsigned int flags, uint16_t port, void *accept, void *accept_context, rk_mhd_handler, void *context, ...);
    // MHD_USE_AUTO, MHD_USE_INTERNAL_POLLING_THREAD, MHD_ALLOW_SUSPEND_RESUME
    const unsigned int flags = 65536 | 8 | 8192 | 1024;
    // MHD_OPTION_LISTEN_SOCKET, _CONNECTION_LIMIT, _CONNECTION_TIMEOUT, _CONNECTION_MEMORY_LIMIT, _NOTIFY_COMPLETED, _END
    return ((start)start_daemon)(
        flags, 0, NULL, NULL, handler, context, 12, listener, 2, connections, 3, seconds, 1, memory, 4, completed, context, 0);
}
