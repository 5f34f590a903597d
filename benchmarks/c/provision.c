/* SPDX-License-Identifier: Apache-2.0 */

/* Provisions one board with the session that rainctl has stored: provision STATE BASE_URL BOARD POP SSID PASSPHRASE
 * With one more argument, COUNT, it first measures the time of rainkit_access_token and prints it in microseconds. */
#include <rainkit.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

int main(int count, char **given) {
    if (count < 7) return RAINKIT_USAGE;
    rainkit_client_options options = RAINKIT_CLIENT_OPTIONS;
    options.state = rainkit_text(given[1]);
    options.store = RAINKIT_STORE_FILE;
    options.deployment = rainkit_text("bench");
    options.base_url = rainkit_text(given[2]);
    rainkit_client *client = NULL;
    rainkit_operation *operation = NULL;
    rainkit_event event = RAINKIT_EVENT_INIT;
    char message[256], token[8192];
    int32_t code = rainkit_client_new(&options, &client, message, sizeof message);
    if (code) return fprintf(stderr, "%s\n", message), code;
    if (count > 7) {
        size_t length;
        int calls = atoi(given[7]);
        rainkit_renew(client, 0, 0, &operation);
        code = rainkit_wait(operation, &event);
        if (code) return fprintf(stderr, "%s\n", event.message.data), code;
        double start = now();
        for (int i = 0; i < calls && code == RAINKIT_OK; i++)
            code = rainkit_access_token(client, token, sizeof token, &length);
        printf("%.3f\n", (now() - start) / calls);
        return code;
    }
    rainkit_provision_options board = RAINKIT_PROVISION_OPTIONS;
    board.board = rainkit_text(given[3]);
    board.proof = rainkit_text(given[4]);
    board.ssid = rainkit_text(given[5]);
    board.passphrase = rainkit_text(given[6]);
    code = rainkit_provision(client, &board, &operation);
    if (code == RAINKIT_OK) code = rainkit_wait(operation, &event);
    if (code) fprintf(stderr, "%d %s\n", code, event.message.data);
    rainkit_operation_free(operation);
    rainkit_client_free(client);
    return code;
}
