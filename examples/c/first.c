// SPDX-License-Identifier: Apache-2.0
// Signs in, and prints the session as JSON. Build: cc first.c -o first $(pkg-config --cflags --libs rainkit)
#include <rainkit.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    rainkit_client_options options = RAINKIT_CLIENT_OPTIONS;
    options.store = RAINKIT_STORE_MEMORY;
    options.base_url = rainkit_text(getenv("EXAMPLE_CLOUD"));
    rainkit_string user = rainkit_text(getenv("EXAMPLE_USER")), password = rainkit_text(getenv("EXAMPLE_PASSWORD"));
    rainkit_client *client; rainkit_operation *operation;
    rainkit_event event = RAINKIT_EVENT_INIT; char why[256];
    if (rainkit_client_new(&options, &client, why, sizeof why)) return fprintf(stderr, "%s\n", why), RAINKIT_USAGE;
    if (rainkit_sign_in_password(client, user, password, 0, &operation))
        return fputs("EXAMPLE_USER and EXAMPLE_PASSWORD must be set\n", stderr), RAINKIT_USAGE;
    // The end of the process frees everything: see rainkit_operation_free() and rainkit_client_free().
    return puts(rainkit_wait(operation, &event) == RAINKIT_OK ? event.document.data : event.message.data), event.code;
}
