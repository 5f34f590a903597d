// SPDX-License-Identifier: Apache-2.0

// A small gateway: signs in once, watches the front door, and switches a lamp when somebody switches the front door's light. Ctrl-C ends it.
// Build: cc lamp.c -o lamp $(pkg-config --cflags --libs rainkit)
#define _POSIX_C_SOURCE 200809L // for sigprocmask(2)
#include <poll.h>
#include <rainkit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

static void print_error(const rainkit_event *event) { fprintf(stderr, "%s %s\n", event->message.data, event->remedy.data); }

// Waits for an operation, and frees it. Prints its error, but not one with the expected code.
static int32_t wait_for(rainkit_operation *operation, int32_t expected) {
    rainkit_event event = RAINKIT_EVENT_INIT;
    int32_t code = rainkit_wait(operation, &event);
    if (code != RAINKIT_OK && code != expected) print_error(&event);
    rainkit_operation_free(operation); // Ends the strings of its last event.
    return code;
}

int main(void) {
    const char *names[] = {"EXAMPLE_STATE", "EXAMPLE_CLOUD", "EXAMPLE_USER", "EXAMPLE_PASSWORD", "EXAMPLE_DOOR", "EXAMPLE_LAMP"};
    rainkit_string values[6];
    for (int i = 0; i < 6; i++) {
        values[i] = rainkit_text(getenv(names[i]));
        if (values[i].length == 0) return fprintf(stderr, "%s is not set\n", names[i]), RAINKIT_USAGE;
    }
    sigset_t signals;
    sigemptyset(&signals), sigaddset(&signals, SIGINT), sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    rainkit_client_options options = RAINKIT_CLIENT_OPTIONS;
    options.state = values[0];
    options.store = RAINKIT_STORE_FILE;
    options.base_url = values[1];
    rainkit_client *client;
    rainkit_operation *operation, *watch;
    rainkit_event event = RAINKIT_EVENT_INIT;
    char message[256];
    int32_t code = rainkit_client_new(&options, &client, message, sizeof message);
    if (code) return fprintf(stderr, "%s\n", message), code;
    if (!(code = rainkit_profile(client, 0, &operation))) code = wait_for(operation, RAINKIT_AUTH);
    if (code == RAINKIT_TEMPORARY) code = RAINKIT_OK; // The watch waits for the network.
    if (code == RAINKIT_AUTH) { // Nobody is signed in yet, or the session has ended.
        code = rainkit_sign_in_password(client, values[2], values[3], 0, &operation);
        if (!code) code = wait_for(operation, RAINKIT_OK);
    }
    if (!code && !(code = rainkit_node_watch(client, values[4], 0, &watch))) {
        struct pollfd waits[] = {{rainkit_operation_descriptor(watch), POLLIN, 0}, {signalfd(-1, &signals, SFD_CLOEXEC), POLLIN, 0}};
        while (event.kind != RAINKIT_EVENT_RESULT && event.kind != RAINKIT_EVENT_ERROR) {
            poll(waits, 2, -1);
            if (waits[1].revents) rainkit_operation_cancel(watch), waits[1].fd = -1;
            while (rainkit_next_event(watch, &event) == RAINKIT_OK && event.kind == RAINKIT_EVENT_PROGRESS) {
                puts(event.document.data);
                fflush(stdout);
                if (strcmp(event.name.data, "value") != 0 || !strstr(event.document.data, "\"path\":\"Light.Power\"")) continue;
                int on = strstr(event.document.data, "\"value\":true") != NULL;
                rainkit_string wanted = rainkit_text(on ? "{\"Light\": {\"Power\": true}}" : "{\"Light\": {\"Power\": false}}");
                if (rainkit_node_set(client, values[5], wanted, 0, 0, &operation) == RAINKIT_OK) wait_for(operation, RAINKIT_OK);
            }
        }
        code = event.code;
        if (code != RAINKIT_OK && code != RAINKIT_CANCELLED) print_error(&event);
        rainkit_operation_free(watch);
    }
    rainkit_client_free(client);
    return code == RAINKIT_CANCELLED ? 0 : code;
}
