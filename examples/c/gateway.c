// SPDX-License-Identifier: Apache-2.0

// A gateway with one thread and one poll loop. It signs in, and provisions the lights of its command line at the same time. Then it watches
// them, switches them off, and ends when all of them have reported that they are off. (New lights are on.)
//
//   cc gateway.c -o gateway $(pkg-config --cflags --libs rainkit json-c)
//   EXAMPLE_… ./gateway serial:/dev/ttyUSB0 softap:192.168.4.1
//
// It ends with the number of the first error, which is also the exit code of rainctl.
#include <json-c/json.h>
#include <poll.h>
#include <rainkit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAXIMUM_BOARDS = 16, TIME_FOR_VALUES_MS = 60000 };

struct board {
    const char *address;
    rainkit_operation *operation; // NULL once it has ended
    char node[128];
    int is_off;
};

static rainkit_string setting(const char *name) { return rainkit_text(getenv(name)); }

// Prints the last event of an operation that failed, and ends the program.
static void fail(const char *subject, const rainkit_event *event) {
    fprintf(stderr, "%s: %s\n", subject, event->message.data);
    if (event->step.length) fprintf(stderr, "It failed at the step %s.\n", event->step.data);
    if (event->remedy.length) fprintf(stderr, "%s\n", event->remedy.data);
    exit(event->code);
}

// Ends the program if the call itself was wrong.
static void check(const char *call, int32_t code) {
    if (code == RAINKIT_OK) return;
    fprintf(stderr, "%s: %s\n", call, rainkit_code_name(code).data);
    exit(code);
}

static void copy_member(const rainkit_event *event, const char *name, char *text, size_t capacity) {
    json_object *document = json_tokener_parse(event->document.data), *member;
    text[0] = 0;
    if (json_object_object_get_ex(document, name, &member)) snprintf(text, capacity, "%s", json_object_get_string(member));
    json_object_put(document);
}

// Reads the waiting events of a board that is being provisioned. Returns 1 if it ended.
static int take_events(struct board *board) {
    rainkit_event event = RAINKIT_EVENT_INIT;
    for (;;) {
        check("rainkit_next_event", rainkit_next_event(board->operation, &event));
        switch (event.kind) {
        case RAINKIT_EVENT_NONE: return 0;
        case RAINKIT_EVENT_PROGRESS: {
            char step[32];
            copy_member(&event, "step", step, sizeof step);
            printf("%s: %s %s\n", board->address, step, event.name.data);
            break;
        }
        case RAINKIT_EVENT_ERROR: fail(board->address, &event); break;
        case RAINKIT_EVENT_RESULT:
            copy_member(&event, "node_id", board->node, sizeof board->node);
            printf("%s: is node %s\n", board->address, board->node);
            rainkit_operation_free(board->operation);
            board->operation = NULL;
            return 1;
        }
    }
}

static void provision_all(rainkit_client *client, struct board *boards, int count) {
    rainkit_provision_options options = RAINKIT_PROVISION_OPTIONS;
    options.proof = setting("EXAMPLE_PROOF");
    options.ssid = setting("EXAMPLE_NETWORK");
    options.passphrase = setting("EXAMPLE_PASSPHRASE");
    for (int i = 0; i < count; i++) {
        options.board = rainkit_text(boards[i].address);
        check("rainkit_provision", rainkit_provision(client, &options, &boards[i].operation));
    }
    for (int running = count; running > 0;) {
        struct pollfd entries[MAXIMUM_BOARDS];
        for (int i = 0; i < count; i++) {
            // poll ignores negative descriptors.
            entries[i].fd = boards[i].operation ? rainkit_operation_descriptor(boards[i].operation) : -1;
            entries[i].events = POLLIN;
        }
        poll(entries, count, -1);
        for (int i = 0; i < count; i++)
            if (boards[i].operation && entries[i].revents) running -= take_events(&boards[i]);
    }
}

// Notes whether an event reports that one of our boards is off.
static void note(const rainkit_event *event, struct board *boards, int count) {
    json_object *document = json_tokener_parse(event->document.data), *node, *path, *value;
    if (json_object_object_get_ex(document, "node_id", &node) && json_object_object_get_ex(document, "path", &path) &&
        json_object_object_get_ex(document, "value", &value) && strcmp(json_object_get_string(path), "Light.Power") == 0) {
        printf("%s: Light.Power is %s\n", json_object_get_string(node), json_object_to_json_string(value));
        for (int i = 0; i < count; i++)
            if (strcmp(boards[i].node, json_object_get_string(node)) == 0) boards[i].is_off = !json_object_get_boolean(value);
    }
    json_object_put(document);
}

static int all_off(const struct board *boards, int count) {
    for (int i = 0; i < count; i++)
        if (!boards[i].is_off) return 0;
    return 1;
}

// Switches all boards off, and waits until the watch has seen it.
static void switch_off(rainkit_client *client, struct board *boards, int count) {
    char nodes[MAXIMUM_BOARDS * sizeof boards->node] = "";
    for (int i = 0; i < count; i++) {
        if (i) strcat(nodes, ",");
        strcat(nodes, boards[i].node);
    }
    rainkit_operation *watch, *set = NULL;
    rainkit_event event = RAINKIT_EVENT_INIT;
    int is_listening = 0;
    check("rainkit_node_watch", rainkit_node_watch(client, rainkit_text(nodes), TIME_FOR_VALUES_MS, &watch));
    while (!all_off(boards, count)) {
        struct pollfd entries[] = {
            {rainkit_operation_descriptor(watch), POLLIN, 0}, {set ? rainkit_operation_descriptor(set) : -1, POLLIN, 0}};
        int starts = poll(entries, 2, 1000) == 0 && is_listening;
        check("rainkit_next_event", rainkit_next_event(watch, &event));
        if (event.kind == RAINKIT_EVENT_ERROR) fail("watching", &event);
        if (event.kind == RAINKIT_EVENT_RESULT) {
            fprintf(stderr, "Not all boards reported in time.\n");
            exit(RAINKIT_DEADLINE);
        }
        if (event.kind == RAINKIT_EVENT_PROGRESS) {
            // The first event is named listening: from now on the watch misses nothing.
            if (!is_listening) is_listening = starts = 1;
            note(&event, boards, count);
        }
        if (set) {
            check("rainkit_next_event", rainkit_next_event(set, &event));
            if (event.kind != RAINKIT_EVENT_ERROR) continue;
            // A new board needs a moment to tell the cloud what it is. Then this is tried again after a second without an event.
            if (strcmp(event.reason.data, "no_configuration") != 0) fail("setting", &event);
            rainkit_operation_free(set);
            set = NULL;
        } else if (starts) {
            rainkit_string off = rainkit_text("{\"Light\": {\"Power\": false}}");
            check("rainkit_node_set", rainkit_node_set(client, rainkit_text(nodes), off, 0, 0, &set));
        }
    }
    rainkit_operation_cancel(watch);
    if (rainkit_wait(watch, &event) == RAINKIT_CANCELLED) puts("done");
    rainkit_operation_free(watch);
    rainkit_operation_free(set);
}

int main(int count, char **arguments) {
    struct board boards[MAXIMUM_BOARDS] = {0};
    if (--count < 1 || count > MAXIMUM_BOARDS) return fprintf(stderr, "usage: gateway BOARD…\n"), RAINKIT_USAGE;
    for (int i = 0; i < count; i++) boards[i].address = arguments[i + 1];
    setvbuf(stdout, NULL, _IOLBF, 0);

    rainkit_client_options options = RAINKIT_CLIENT_OPTIONS;
    options.state = setting("EXAMPLE_STATE");
    options.store = RAINKIT_STORE_FILE;
    options.base_url = setting("EXAMPLE_CLOUD");
    rainkit_client *client;
    char message[512];
    int32_t code = rainkit_client_new(&options, &client, message, sizeof message);
    if (code != RAINKIT_OK) return fprintf(stderr, "%s\n", message), code;

    rainkit_operation *operation;
    rainkit_event event = RAINKIT_EVENT_INIT;
    check("rainkit_sign_in_password",
        rainkit_sign_in_password(client, setting("EXAMPLE_USER"), setting("EXAMPLE_PASSWORD"), 0, &operation));
    if (rainkit_wait(operation, &event) != RAINKIT_OK) fail("signing in", &event);
    rainkit_operation_free(operation);

    provision_all(client, boards, count);
    switch_off(client, boards, count);
    rainkit_client_free(client);
    return 0;
}
