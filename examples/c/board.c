// SPDX-License-Identifier: Apache-2.0

// A gateway for one board: signs in once, provisions the board if that is necessary, switches its light on, and prints its changes until
// Ctrl-C. FILE keeps the board's node id.   Usage: board ADDRESS FILE
// Build: cc board.c -o board $(pkg-config --cflags --libs rainkit)
#define _POSIX_C_SOURCE 200809L // for sigprocmask(2)
#include <poll.h>
#include <rainkit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

enum { TRIES = 60 };

static struct pollfd waits[2] = {{-1, POLLIN, 0}, {-1, POLLIN, 0}}; // An operation, and Ctrl-C.
static char reason[64], problem[512], node[128];
static const char *file_name;
static int is_online;

// Keeps the id that a document names. The documents here have few members; use a JSON library for others.
static void remember(const char *document) {
    char id[sizeof node];
    const char *member = strstr(document, "\"node_id\":\"");
    if (!member || sscanf(member, "\"node_id\":\"%127[^\"]", id) != 1 || strcmp(id, node) == 0) return;
    strcpy(node, id);
    FILE *file = fopen(file_name, "w");
    if (!file || fputs(node, file) < 0 || fclose(file) != 0) perror(file_name);
}

// Prints the events of an operation, frees it, and returns its code. Ctrl-C cancels it.
static int32_t finish(int32_t code, rainkit_operation **operation) {
    rainkit_event event = RAINKIT_EVENT_INIT;
    snprintf(problem, sizeof problem, "The call is wrong: %s.", rainkit_code_name(code).data);
    if (code != RAINKIT_OK) return code;
    waits[0].fd = rainkit_operation_descriptor(*operation);
    while (event.kind != RAINKIT_EVENT_RESULT && event.kind != RAINKIT_EVENT_ERROR) {
        poll(waits, 2, -1);
        if (waits[1].revents) rainkit_operation_cancel(*operation), waits[1].fd = -1; // poll ignores it from now on.
        while (rainkit_next_event(*operation, &event) == RAINKIT_OK && event.kind == RAINKIT_EVENT_PROGRESS) {
            puts(event.document.data);
            remember(event.document.data); // Early: the board is in the account before it has joined its network.
        }
    }
    code = event.code == RAINKIT_OK && waits[1].fd < 0 ? RAINKIT_CANCELLED : event.code;
    if (event.kind == RAINKIT_EVENT_RESULT) remember(event.document.data);
    is_online = strstr(event.document.data, "\"connected\":true") != NULL;
    snprintf(reason, sizeof reason, "%s", event.reason.data);
    snprintf(problem, sizeof problem, "%s: %s %s", event.reason.data, event.message.data, event.remedy.data);
    rainkit_operation_free(*operation); // Ends the strings of the event.
    return code;
}

int main(int count, char **arguments) {
    if (count != 3) return fputs("usage: board ADDRESS FILE\n", stderr), RAINKIT_USAGE;
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigset_t signals; // Blocked before the client exists, so that no thread of the library receives them.
    sigemptyset(&signals), sigaddset(&signals, SIGINT), sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    waits[1].fd = signalfd(-1, &signals, SFD_CLOEXEC);
    FILE *file = fopen(file_name = arguments[2], "r");
    if (file && fscanf(file, "%127s", node) == 1) printf("known as %s\n", node);
    if (file) fclose(file);

    rainkit_client_options options = RAINKIT_CLIENT_OPTIONS;
    options.state = rainkit_text(getenv("EXAMPLE_STATE")), options.store = RAINKIT_STORE_FILE;
    options.base_url = rainkit_text(getenv("EXAMPLE_CLOUD"));
    rainkit_client *client;
    rainkit_operation *operation;
    int32_t code = rainkit_client_new(&options, &client, problem, sizeof problem);
    if (code) return fprintf(stderr, "%s\n", problem), code;

    code = finish(rainkit_profile(client, 0, &operation), &operation);
    if (code == RAINKIT_AUTH || (code == RAINKIT_BAD_DATA && strcmp(reason, "store_unreadable") == 0)) {
        rainkit_string user = rainkit_text(getenv("EXAMPLE_USER")), password = rainkit_text(getenv("EXAMPLE_PASSWORD"));
        code = finish(rainkit_sign_in_password(client, user, password, 0, &operation), &operation);
    }
    int is_ready = 0; // The board is in the account, and has joined its network.
    if (!code && node[0]) {
        code = finish(rainkit_node_show(client, rainkit_text(node), 0, &operation), &operation);
        is_ready = code == RAINKIT_OK && is_online;
        if (code == RAINKIT_OTHER && strcmp(reason, "no_such_node") == 0) code = RAINKIT_OK;
    }
    if (!code && !is_ready) {
        rainkit_provision_options board = RAINKIT_PROVISION_OPTIONS;
        board.board = rainkit_text(arguments[1]), board.proof = rainkit_text(getenv("EXAMPLE_PROOF"));
        board.ssid = rainkit_text(getenv("EXAMPLE_NETWORK")), board.passphrase = rainkit_text(getenv("EXAMPLE_PASSPHRASE"));
        code = finish(rainkit_provision(client, &board, &operation), &operation);
    }
    for (int tries = 1; !code; tries++) {
        rainkit_string on = rainkit_text("{\"Light\": {\"Power\": true}}"); // Waits 10 s for the board to report it.
        code = finish(rainkit_node_set(client, rainkit_text(node), on, 10000, 0, &operation), &operation);
        // A new board needs some seconds until the cloud knows its devices.
        if (code != RAINKIT_BAD_DATA || strcmp(reason, "no_configuration") != 0 || tries == TRIES) break;
        code = poll(&waits[1], 1, 1000) == 0 ? RAINKIT_OK : RAINKIT_CANCELLED;
    }
    if (!code) code = finish(rainkit_node_watch(client, rainkit_text(node), 0, &operation), &operation);
    rainkit_client_free(client);
    if (code == RAINKIT_CANCELLED) return 0; // Ctrl-C.
    return fprintf(stderr, "%s\n", problem), code;
}
