/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Uses librainkit in the ways that its header permits, and prints "ok" and some figures if all of them work.
 *
 *   exercise MODE BASE_URL STATE_FOLDER USER PASSWORD COUNT [BOARD POP SSID PASSPHRASE]
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rainkit.h"

static const char *base, *state, *user, *password, *board, *proof = "abcd1234", *ssid = "Home", *passphrase = "correct horse";
static int count;

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

#define CHECK(condition) \
    do { \
        if (!(condition)) fail("%s:%d: %s", __FILE__, __LINE__, #condition); \
    } while (0)

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    int number = 0;
    while (readdir(folder)) number++;
    closedir(folder);
    return number;
}

static int threads_of_process(void) {
    DIR *folder = opendir("/proc/self/task");
    int number = 0;
    while (readdir(folder)) number++;
    closedir(folder);
    return number;
}

static long resident(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    long size = 0, pages = 0;
    CHECK(fscanf(file, "%ld %ld", &size, &pages) == 2);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static rainkit_client_options settings(int store) {
    rainkit_client_options options = RAINKIT_CLIENT_OPTIONS;
    options.state = rainkit_text(state);
    options.deployment = rainkit_text("sim");
    options.base_url = rainkit_text(base);
    options.store = store;
    return options;
}

static rainkit_client *open_client(int store) {
    rainkit_client_options options = settings(store);
    rainkit_client *client = NULL;
    char message[256];
    int32_t code = rainkit_client_new(&options, &client, message, sizeof message);
    if (code) fail("rainkit_client_new: %d %s", code, message);
    return client;
}

/* Waits for an operation, frees it, and returns its code. */
static int32_t finish(int32_t started, rainkit_operation **started_operation, const char *what) {
    if (started) fail("%s did not start: %d", what, started);
    rainkit_operation *operation = *started_operation;
    rainkit_event event = RAINKIT_EVENT_INIT;
    int32_t code = rainkit_wait(operation, &event);
    if (code) fprintf(stderr, "%s: %d %s: %s\n", what, code, event.reason.data, event.message.data);
    CHECK(rainkit_operation_free(operation) == 0);
    return code;
}

static void sign_in(rainkit_client *client) {
    rainkit_operation *operation = NULL;
    int32_t started = rainkit_sign_in_password(client, rainkit_text(user), rainkit_text(password), 0, &operation);
    CHECK(finish(started, &operation, "sign-in") == 0);
}

/* The process ends while operations run, and the library is not told. */
static void left(void) {
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            rainkit_client *client = open_client(RAINKIT_STORE_MEMORY);
            sign_in(client);
            rainkit_operation *operation = NULL;
            for (int j = 0; j < 20; j++) CHECK(rainkit_profile(client, 0, &operation) == 0);
            if (i % 2) CHECK(rainkit_client_free(client) == 0);
            exit(0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* ---- Threads: each uses the client in turn in every way; tokens are renewed meanwhile. ---- */

static atomic_long calls, tokens;
static double end_time;

static void *use_client(void *given) {
    rainkit_client *client = given;
    unsigned seed = (unsigned)(size_t)&client;
    char buffer[8192];
    while (now() < end_time) {
        rainkit_operation *operation = NULL;
        size_t length = 0;
        switch (rand_r(&seed) % 5) {
        case 0: CHECK(finish(rainkit_session(client, 0, &operation), &operation, "session") == 0); break;
        case 1: CHECK(finish(rainkit_renew(client, 1, 0, &operation), &operation, "renew") == 0); break;
        case 2: CHECK(finish(rainkit_profile(client, 0, &operation), &operation, "profile") == 0); break;
        case 3: CHECK(finish(rainkit_node_list(client, 0, &operation), &operation, "list") == 0); break;
        default:
            CHECK(rainkit_user_id(client, buffer, sizeof buffer, &length) == 0 && length == strlen(buffer));
            if (rainkit_access_token(client, buffer, sizeof buffer, &length) == 0) {
                CHECK(length > 0 && length == strlen(buffer));
                atomic_fetch_add(&tokens, 1);
            }
        }
        atomic_fetch_add(&calls, 1);
        /* As gateways do: not all the time. */
        usleep((useconds_t)(rand_r(&seed) % 200000));
    }
    return NULL;
}

static void threads_on(rainkit_client *clients[], int number) {
    pthread_t threads[64];
    end_time = now() + count;
    for (int i = 0; i < 64; i++) CHECK(pthread_create(&threads[i], NULL, use_client, clients[i % number]) == 0);
    for (int i = 0; i < 64; i++) pthread_join(threads[i], NULL);
    printf("calls %ld tokens %ld\n", atomic_load(&calls), atomic_load(&tokens));
}

static void threads(void) {
    rainkit_client *client = open_client(RAINKIT_STORE_FILE);
    sign_in(client);
    threads_on(&client, 1);
    CHECK(rainkit_client_free(client) == 0);
}

/* 64 clients that share one session in a folder, as 64 programs would. */
static void clients(void) {
    rainkit_client *all[64];
    for (int i = 0; i < 64; i++) all[i] = open_client(RAINKIT_STORE_FILE);
    sign_in(all[0]);
    for (int i = 1; i < 64; i++) {
        rainkit_operation *operation = NULL;
        CHECK(finish(rainkit_session(all[i], 0, &operation), &operation, "session") == 0);
    }
    threads_on(all, 64);
    for (int i = 0; i < 64; i++) CHECK(rainkit_client_free(all[i]) == 0);
}

/* ---- Memory and descriptors stay as they are. ---- */

static void flat(void) {
    rainkit_client *client = open_client(RAINKIT_STORE_FILE);
    sign_in(client);
    long before = 0;
    int open_before = 0;
    for (int i = 0; i < count; i++) {
        rainkit_operation *operation = NULL;
        CHECK(finish(rainkit_session(client, 0, &operation), &operation, "session") == 0);
        if (i % 10 == 0) {
            rainkit_client *other = open_client(RAINKIT_STORE_MEMORY);
            operation = NULL;
            /* Nobody is signed in to it. */
            CHECK(rainkit_session(other, 0, &operation) == 0);
            CHECK(rainkit_wait(operation, NULL) == RAINKIT_AUTH);
            CHECK(rainkit_operation_free(operation) == 0 && rainkit_client_free(other) == 0);
        }
        if (i == count / 5) before = resident(), open_before = descriptors();
    }
    long after = resident();
    int open_after = descriptors();
    CHECK(rainkit_client_free(client) == 0);
    printf("kilobytes %ld %ld descriptors %d %d\n", before, after, open_before, open_after);
    /* A host that runs for years must not notice: a hundred bytes for each operation would be a megabyte here. */
    CHECK(after - before < 2048 + count / 10);
    CHECK(open_after <= open_before + 2);
}

/* ---- The same work again and again, for valgrind. ---- */

static void repeat(void) {
    for (int i = 0; i < count; i++) {
        rainkit_client *client = open_client(RAINKIT_STORE_MEMORY);
        sign_in(client);
        rainkit_operation *operation = NULL;
        if (board) {
            rainkit_provision_options options = RAINKIT_PROVISION_OPTIONS;
            options.board = rainkit_text(board);
            options.proof = rainkit_text(proof);
            options.ssid = rainkit_text(ssid);
            options.passphrase = rainkit_text(passphrase);
            CHECK(finish(rainkit_provision(client, &options, &operation), &operation, "provision") == 0);
        }
        CHECK(rainkit_node_watch(client, rainkit_text(""), 0, &operation) == 0);
        rainkit_event event = RAINKIT_EVENT_INIT;
        CHECK(rainkit_wait_event(operation, 60000, &event) == 0 && event.kind == RAINKIT_EVENT_PROGRESS);
        CHECK(rainkit_operation_cancel(operation) == 0);
        CHECK(rainkit_wait(operation, &event) == RAINKIT_CANCELLED);
        CHECK(rainkit_operation_free(operation) == 0 && rainkit_client_free(client) == 0);
    }
}

/* ---- Cancelling and freeing after each number of events. ---- */

static void cancel(void) {
    rainkit_client *client = open_client(RAINKIT_STORE_FILE);
    sign_in(client);
    int longest = 0;
    for (int way = 0; way < 3; way++) {
        for (int events = 0; events < count; events++) {
            rainkit_operation *operation = NULL;
            rainkit_provision_options options = RAINKIT_PROVISION_OPTIONS;
            options.board = rainkit_text(board);
            options.proof = rainkit_text(proof);
            options.ssid = rainkit_text(ssid);
            options.passphrase = rainkit_text(passphrase);
            options.timeout_ms = 30000;
            CHECK(rainkit_provision(client, &options, &operation) == 0);
            rainkit_event event = RAINKIT_EVENT_INIT;
            int seen = 0;
            while (seen < events) {
                CHECK(rainkit_wait_event(operation, 60000, &event) == 0 && event.kind != RAINKIT_EVENT_NONE);
                seen++;
                if (event.kind >= RAINKIT_EVENT_RESULT) break;
            }
            if (seen > longest) longest = seen;
            if (way == 0) {
                CHECK(rainkit_operation_cancel(operation) == 0 && rainkit_operation_cancel(operation) == 0);
                int32_t code = rainkit_wait(operation, &event);
                /* A board that was left at any moment may refuse the next session for a while. */
                CHECK(event.kind == RAINKIT_EVENT_RESULT || event.kind == RAINKIT_EVENT_ERROR);
                CHECK(code == event.code);
                CHECK(rainkit_operation_free(operation) == 0);
            } else if (way == 1) {
                CHECK(rainkit_operation_free(operation) == 0);
                CHECK(rainkit_next_event(operation, &event) == RAINKIT_USAGE);
            } else {
                /* The client first, while its operation runs. */
                CHECK(rainkit_client_free(client) == 0);
                rainkit_wait(operation, &event);
                CHECK(event.kind == RAINKIT_EVENT_RESULT || event.kind == RAINKIT_EVENT_ERROR);
                CHECK(rainkit_operation_free(operation) == 0);
                client = open_client(RAINKIT_STORE_FILE);
            }
        }
    }
    printf("events %d\n", longest);
    CHECK(rainkit_client_free(client) == 0);
}

/* A thread waits for an operation that another thread frees. */
static void *wait_for(void *operation) {
    rainkit_event event = RAINKIT_EVENT_INIT;
    int32_t code = rainkit_wait(operation, &event);
    CHECK(event.kind == RAINKIT_EVENT_NONE && event.code == code);
    return (void *)(size_t)code;
}

static void freed_while_waiting(void) {
    rainkit_client *client = open_client(RAINKIT_STORE_FILE);
    sign_in(client);
    for (int i = 0; i < count; i++) {
        rainkit_operation *operation = NULL;
        CHECK(rainkit_node_watch(client, rainkit_text(""), 0, &operation) == 0);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, wait_for, operation) == 0);
        if (i % 2) sched_yield();
        CHECK(rainkit_operation_free(operation) == 0);
        void *code = NULL;
        pthread_join(thread, &code);
        /* RAINKIT_USAGE if the thread began to wait after that. */
        CHECK((size_t)code == RAINKIT_USAGE || (size_t)code == RAINKIT_CANCELLED);
    }
    CHECK(rainkit_client_free(client) == 0);
}

/* ---- rainkit_wait() cannot ask a person for a code. ---- */

static void unanswered(void) {
    rainkit_client *client = open_client(RAINKIT_STORE_MEMORY);
    rainkit_operation *operation = NULL;
    rainkit_event event = RAINKIT_EVENT_INIT;
    CHECK(rainkit_sign_in_password(client, rainkit_text(user), rainkit_text(password), 0, &operation) == 0);
    CHECK(rainkit_wait(operation, &event) == RAINKIT_USAGE);
    CHECK(strcmp(event.reason.data, "unanswered") == 0 && event.kind == RAINKIT_EVENT_ERROR);
    CHECK(rainkit_operation_free(operation) == 0);
    /* A required text that is empty starts nothing. */
    CHECK(rainkit_sign_in_password(client, rainkit_text(user), rainkit_text(""), 0, &operation) == RAINKIT_USAGE);
    CHECK(rainkit_node_set(client, rainkit_text("x"), rainkit_text(""), 0, 0, &operation) == RAINKIT_USAGE);
    CHECK(rainkit_client_free(client) == 0);
}

/* ---- fork, dlclose, SIGPIPE ---- */

static void forked(void) {
    rainkit_client *client = open_client(RAINKIT_STORE_FILE);
    sign_in(client);
    for (int i = 0; i < count; i++) {
        rainkit_operation *operation = NULL;
        CHECK(rainkit_profile(client, 0, &operation) == 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            rainkit_event event = RAINKIT_EVENT_INIT;
            rainkit_operation *another = NULL;
            rainkit_client *new_client = NULL;
            rainkit_client_options options = settings(RAINKIT_STORE_MEMORY);
            size_t length;
            alarm(20);
            _exit(
                rainkit_next_event(operation, &event) == RAINKIT_UNAVAILABLE
                        && rainkit_wait(operation, &event) == RAINKIT_UNAVAILABLE
                        && rainkit_profile(client, 0, &another) == RAINKIT_UNAVAILABLE && another == NULL
                        && rainkit_client_new(&options, &new_client, NULL, 0) == RAINKIT_UNAVAILABLE
                        && rainkit_access_token(client, NULL, 0, &length) == RAINKIT_UNAVAILABLE
                        && rainkit_operation_free(operation) == RAINKIT_UNAVAILABLE
                        && rainkit_client_free(client) == RAINKIT_UNAVAILABLE
                    ? 0
                    : 1);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        CHECK(finish(0, &operation, "profile beside a child") == 0);
        /* A child that becomes another program is not affected. */
        CHECK(system("true") == 0);
    }
    CHECK(rainkit_client_free(client) == 0);
}

static void unloaded(void) {
    void *library = dlopen("librainkit-c.so", RTLD_NOW | RTLD_NOLOAD);
    if (!library) library = dlopen("librainkit.so.1", RTLD_NOW | RTLD_NOLOAD);
    CHECK(library != NULL);
    rainkit_client *client = open_client(RAINKIT_STORE_FILE);
    sign_in(client);
    rainkit_operation *operation = NULL;
    CHECK(rainkit_node_watch(client, rainkit_text(""), 0, &operation) == 0);
    for (int i = 0; i < 4; i++) dlclose(library);
    rainkit_event event = RAINKIT_EVENT_INIT;
    CHECK(rainkit_wait_event(operation, 60000, &event) == 0 && event.kind == RAINKIT_EVENT_PROGRESS);
    CHECK(rainkit_operation_free(operation) == 0 && rainkit_client_free(client) == 0);
}

static atomic_int pipes;
static void count_pipe(int number) {
    (void)number;
    atomic_fetch_add(&pipes, 1);
}

/* The server closes connections in every state (see the test). No signal arrives, and handlers stay the host's. */
static void broken(void) {
    struct sigaction action, found;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_pipe;
    CHECK(sigaction(SIGPIPE, &action, NULL) == 0);
    rainkit_client *client = open_client(RAINKIT_STORE_MEMORY);
    int failed = 0;
    for (int i = 0; i < count; i++) {
        rainkit_operation *operation = NULL;
        CHECK(rainkit_sign_in_password(client, rainkit_text(user), rainkit_text(password), 2000, &operation) == 0);
        if (rainkit_wait(operation, NULL) != 0) failed++;
        CHECK(rainkit_operation_free(operation) == 0);
    }
    CHECK(rainkit_client_free(client) == 0);
    CHECK(sigaction(SIGPIPE, NULL, &found) == 0 && found.sa_handler == count_pipe);
    CHECK(sigaction(SIGINT, NULL, &found) == 0 && found.sa_handler == SIG_DFL);
    CHECK(sigaction(SIGTERM, NULL, &found) == 0 && found.sa_handler == SIG_DFL);
    CHECK(sigaction(SIGCHLD, NULL, &found) == 0 && found.sa_handler == SIG_DFL);
    CHECK(atomic_load(&pipes) == 0);
    printf("failed %d\n", failed);
}

/* ---- A logger that blocks, and calls the library. ---- */

static atomic_int lines;
static void slow_logger(void *context, int32_t level, rainkit_string line) {
    CHECK(level >= RAINKIT_LOG_WARNING && line.data[line.length] == 0);
    CHECK(strstr(line.data, password) == NULL);
    rainkit_client **client = context;
    char buffer[256];
    size_t length;
    if (*client) rainkit_user_id(*client, buffer, sizeof buffer, &length);
    if (atomic_fetch_add(&lines, 1) < 2) sleep(2);
}

static int by_value(const void *a, const void *b) {
    double first = *(const double *)a, second = *(const double *)b;
    return first < second ? -1 : first > second;
}

static void logged(void) {
    static rainkit_client *noisy;
    rainkit_client_options options = settings(RAINKIT_STORE_MEMORY);
    options.log_level = RAINKIT_LOG_TRACE;
    options.logger = slow_logger;
    options.logger_context = &noisy;
    CHECK(rainkit_client_new(&options, &noisy, NULL, 0) == 0);
    rainkit_client *quiet = open_client(RAINKIT_STORE_FILE);
    sign_in(quiet);
    double before[200], during[200];
    rainkit_operation *operation = NULL;
    for (int i = 0; i < 200; i++) {
        double start = now();
        CHECK(finish(rainkit_session(quiet, 0, &operation), &operation, "session") == 0);
        before[i] = now() - start;
    }
    double signed_in = now();
    sign_in(noisy);
    signed_in = now() - signed_in;
    int logged_at_sign_in = atomic_load(&lines);
    for (int i = 0; i < 200; i++) {
        double start = now();
        CHECK(finish(rainkit_session(quiet, 0, &operation), &operation, "session") == 0);
        during[i] = now() - start;
    }
    CHECK(atomic_load(&lines) > 0);
    qsort(before, 200, sizeof *before, by_value);
    qsort(during, 200, sizeof *during, by_value);
    printf(
        "median_ms %.2f %.2f longest_ms %.2f %.2f sign_in_ms %.0f lines %d\n", before[100] * 1e3, during[100] * 1e3,
        before[199] * 1e3, during[199] * 1e3, signed_in * 1e3, atomic_load(&lines));
    /* The sign-in has logged some twenty lines, and would have waited four seconds for the logger. */
    CHECK(signed_in > 4 || logged_at_sign_in <= 2);
    rainkit_client *freed = noisy;
    CHECK(rainkit_client_free(quiet) == 0);
    noisy = NULL;
    CHECK(rainkit_client_free(freed) == 0);
    /* The context may be freed now. */
    int called = atomic_load(&lines);
    usleep(100000);
    CHECK(atomic_load(&lines) == called);
}

/* ---- Wrong arguments ---- */

static void no_logger(void *context, int32_t level, rainkit_string line) { (void)context, (void)level, (void)line; }

static void arguments(void) {
    rainkit_event event = RAINKIT_EVENT_INIT;
    rainkit_operation *operation = (rainkit_operation *)1;
    rainkit_client *client = (rainkit_client *)1;
    rainkit_client_options options = settings(RAINKIT_STORE_MEMORY);
    char message[8];
    size_t length = 99;

    CHECK(rainkit_abi_version() == RAINKIT_ABI_VERSION && rainkit_version().length > 0);
    CHECK(strcmp(rainkit_code_name(RAINKIT_WRONG_POP).data, "wrong_pop") == 0 && rainkit_code_name(999).length == 0);

    CHECK(rainkit_client_new(NULL, &client, message, sizeof message) == RAINKIT_USAGE && client == NULL);
    CHECK(strlen(message) == sizeof message - 1);
    message[0] = 0;
    CHECK(rainkit_client_new(&options, NULL, message, sizeof message) == RAINKIT_USAGE);
    CHECK(strlen(message) == sizeof message - 1);
    options.size = 0;
    CHECK(rainkit_client_new(&options, &client, message, sizeof message) == RAINKIT_USAGE);
    options.size = 1u << 20;
    CHECK(rainkit_client_new(&options, &client, message, sizeof message) == RAINKIT_USAGE);
    options = settings(77);
    CHECK(rainkit_client_new(&options, &client, message, sizeof message) == RAINKIT_USAGE);
    CHECK(strlen(message) == sizeof message - 1);
    options = settings(RAINKIT_STORE_FILE);
    options.state = rainkit_text("relative");
    CHECK(rainkit_client_new(&options, &client, NULL, 0) == RAINKIT_CONFIG);
    options.state = rainkit_text("");
    CHECK(rainkit_client_new(&options, &client, NULL, 100) == RAINKIT_CONFIG);
    options = settings(RAINKIT_STORE_MEMORY);
    options.base_url = rainkit_text("ftp://x");
    CHECK(rainkit_client_new(&options, &client, message, 1) == RAINKIT_CONFIG && message[0] == 0);
    CHECK(rainkit_client_new(&options, &client, message, sizeof message) == RAINKIT_CONFIG);
    CHECK(strcmp(message, "base_ur") == 0);
    options = settings(RAINKIT_STORE_MEMORY);
    options.base_url.data = NULL;
    CHECK(rainkit_client_new(&options, &client, message, sizeof message) == RAINKIT_USAGE);
    options = settings(RAINKIT_STORE_MEMORY);
    options.base_url.length = (size_t)1 << 40;
    CHECK(rainkit_client_new(&options, &client, message, sizeof message) == RAINKIT_USAGE);
    options = settings(RAINKIT_STORE_MEMORY);
    options.account = rainkit_text("\xff\xfe");
    CHECK(rainkit_client_new(&options, &client, message, sizeof message) == RAINKIT_USAGE);
    options = settings(RAINKIT_STORE_MEMORY);
    options.provider_settings = rainkit_text("{\"mode\": \"x\"}");
    CHECK(rainkit_client_new(&options, &client, message, sizeof message) == RAINKIT_USAGE);
    options.provider = rainkit_text("spid");
    options.provider_settings = rainkit_text("[1]");
    CHECK(rainkit_client_new(&options, &client, message, sizeof message) == RAINKIT_BAD_DATA);
    /* Options that are refused leave no thread of a logger behind. */
    int running = threads_of_process();
    for (int i = 0; i < 50; i++) {
        options = settings(RAINKIT_STORE_FILE);
        options.state = rainkit_text("relative");
        options.log_level = RAINKIT_LOG_TRACE;
        options.logger = no_logger;
        CHECK(rainkit_client_new(&options, &client, NULL, 0) == RAINKIT_CONFIG && client == NULL);
    }
    CHECK(threads_of_process() < running + 25);
    /* The structure of an older header is shorter. */
    options = settings(RAINKIT_STORE_MEMORY);
    options.size = offsetof(rainkit_client_options, provider);
    options.provider.length = (size_t)-1;
    CHECK(rainkit_client_new(&options, &client, message, sizeof message) == 0 && client != NULL);

    CHECK(rainkit_session(NULL, 0, &operation) == RAINKIT_USAGE && operation == NULL);
    CHECK(rainkit_session(client, 0, NULL) == RAINKIT_USAGE);
    CHECK(rainkit_session((rainkit_client *)(size_t)0xdeadbeef, 0, &operation) == RAINKIT_USAGE);
    CHECK(rainkit_sign_in_password(client, rainkit_text(NULL), rainkit_text("x"), 0, &operation) == RAINKIT_USAGE);
    rainkit_string odd = {"a\0b", 3};
    CHECK(rainkit_sign_in_password(client, odd, rainkit_text("x"), 0, &operation) == RAINKIT_USAGE);
    CHECK(rainkit_provision(client, NULL, &operation) == RAINKIT_USAGE);
    rainkit_provision_options board_options = RAINKIT_PROVISION_OPTIONS;
    board_options.board = rainkit_text("softap:?host=127.0.0.1:1");
    CHECK(rainkit_provision(client, &board_options, &operation) == 0 && rainkit_wait(operation, NULL) == RAINKIT_USAGE);
    CHECK(rainkit_operation_free(operation) == 0);
    board_options.security = 4;
    CHECK(rainkit_provision(client, &board_options, &operation) == RAINKIT_USAGE);
    CHECK(rainkit_schedule_change(client, rainkit_text("a"), rainkit_text("b"), 9, 0, &operation) == RAINKIT_USAGE);
    CHECK(rainkit_access_token(client, NULL, 0, &length) == RAINKIT_AUTH && length == 0);
    CHECK(rainkit_user_id(client, message, sizeof message, NULL) == RAINKIT_AUTH);

    CHECK(rainkit_session(client, 0, &operation) == 0);
    CHECK(rainkit_next_event(operation, NULL) == RAINKIT_USAGE);
    CHECK(rainkit_wait_event(operation, INT64_MAX, &event) == 0 && event.kind == RAINKIT_EVENT_ERROR);
    event.size = 8;
    CHECK(rainkit_next_event(operation, &event) == RAINKIT_USAGE);
    CHECK(rainkit_next_event((rainkit_operation *)client, &event) == RAINKIT_USAGE);
    CHECK(rainkit_session((rainkit_client *)operation, 0, NULL) == RAINKIT_USAGE);
    CHECK(rainkit_operation_descriptor(NULL) == -1 && rainkit_operation_descriptor((rainkit_operation *)client) == -1);
    event.size = sizeof event;
    CHECK(rainkit_wait(operation, &event) == RAINKIT_AUTH);
    CHECK(strcmp(event.reason.data, "not_signed_in") == 0 && event.message.length > 0 && event.document.length == 0);
    CHECK(rainkit_next_event(operation, &event) == 0 && event.kind == RAINKIT_EVENT_NONE);
    CHECK(rainkit_wait_event(operation, 0, &event) == 0 && event.kind == RAINKIT_EVENT_ERROR);
    struct pollfd entry = {rainkit_operation_descriptor(operation), POLLIN, 0};
    CHECK(poll(&entry, 1, 0) == 0);
    CHECK(rainkit_operation_answer(operation, rainkit_text("late")) == RAINKIT_USAGE);
    CHECK(rainkit_operation_free(operation) == 0 && rainkit_operation_free(operation) == RAINKIT_USAGE);
    CHECK(rainkit_wait(operation, &event) == RAINKIT_USAGE && event.kind == RAINKIT_EVENT_NONE);
    CHECK(event.code == RAINKIT_USAGE && event.message.data != NULL && event.message.length == 0);
    CHECK(rainkit_operation_cancel(operation) == RAINKIT_USAGE && rainkit_operation_free(NULL) == 0);
    CHECK(rainkit_client_free(client) == 0 && rainkit_client_free(client) == RAINKIT_USAGE && rainkit_client_free(NULL) == 0);
    CHECK(rainkit_session(client, 0, &operation) == RAINKIT_USAGE);
}

/* Random arguments: whatever comes back, nothing crashes and each operation ends. */
static void fuzz(void) {
    unsigned seed = 1;
    double end = now() + count;
    long number = 0;
    static char bytes[1 << 16];
    rainkit_client *client = open_client(RAINKIT_STORE_MEMORY);
    while (now() < end) {
        for (size_t i = 0; i < sizeof bytes; i += 7) bytes[i] = (char)rand_r(&seed);
        rainkit_string text[6];
        for (int i = 0; i < 6; i++) {
            int kind = rand_r(&seed) % 8;
            text[i].data = kind == 0 ? NULL : bytes + rand_r(&seed) % 4096;
            text[i].length = kind == 1 ? (size_t)-1 : kind == 2 ? 0 : (size_t)(rand_r(&seed) % (kind == 3 ? 60000 : 40));
            if (kind > 5) text[i] = rainkit_text(kind == 6 ? "{\"Light\": {\"Power\": true}}" : "Light");
        }
        rainkit_operation *operation = NULL;
        rainkit_client *used = rand_r(&seed) % 16 ? client : (rainkit_client *)(size_t)rand_r(&seed);
        uint32_t limit = 1 + (uint32_t)rand_r(&seed) % 20;
        switch (rand_r(&seed) % 20) {
        case 0: rainkit_sign_in_password(used, text[0], text[1], limit, &operation); break;
        case 1: rainkit_sign_in_browser(used, text[0], limit, &operation); break;
        case 2: rainkit_sign_in_device(used, limit, &operation); break;
        case 3: rainkit_discover(used, text[0], limit, &operation); break;
        case 4: {
            rainkit_provision_options options = RAINKIT_PROVISION_OPTIONS;
            options.board = text[0], options.qr_payload = text[1], options.proof = text[2], options.ssid = text[3];
            options.passphrase = text[4], options.metadata = text[5], options.tags = text[1];
            options.security = rand_r(&seed) % 6 - 1, options.without_account = rand_r(&seed) % 2;
            options.keeps_network = rand_r(&seed) % 2, options.timeout_ms = limit;
            options.size = rand_r(&seed) % 4 ? sizeof options : (size_t)rand_r(&seed) % 400;
            rainkit_provision(used, &options, &operation);
            break;
        }
        case 5: {
            rainkit_claim_options options = RAINKIT_CLAIM_OPTIONS;
            options.board = text[0], options.proof = text[1], options.timeout_ms = limit;
            rainkit_claim(used, &options, &operation);
            break;
        }
        case 6: rainkit_node_show(used, text[0], limit, &operation); break;
        case 7: rainkit_node_set(used, text[0], text[1], limit, limit, &operation); break;
        case 8: rainkit_node_watch(used, text[0], limit, &operation); break;
        case 9: rainkit_schedule_add(used, text[0], text[1], text[2], text[3], text[4], limit, &operation); break;
        case 10: rainkit_share_add(used, text[0], text[1], limit, &operation); break;
        case 11: rainkit_share_answer(used, text[0], 1, limit, &operation); break;
        case 12: rainkit_update(used, text[0], text[1], limit, &operation); break;
        case 13: rainkit_node_rename(used, text[0], text[1], limit, &operation); break;
        case 14: {
            rainkit_client_options options = settings(rand_r(&seed) % 6 - 1);
            options.base_url = text[0], options.account = text[1], options.provider = text[2];
            options.provider_settings = text[3], options.ca_file = text[4], options.deployment = text[5];
            options.state = rainkit_text(state);
            options.size = rand_r(&seed) % 4 ? sizeof options : (size_t)rand_r(&seed) % 400;
            rainkit_client *other = NULL;
            char message[100];
            rainkit_client_new(&options, &other, message, (size_t)rand_r(&seed) % sizeof message);
            if (other) rainkit_session(other, limit, &operation);
            rainkit_client_free(other);
            break;
        }
        case 15: {
            char buffer[16];
            size_t length;
            rainkit_access_token(used, rand_r(&seed) % 2 ? buffer : NULL, (size_t)rand_r(&seed) % 16, &length);
            break;
        }
        case 16: rainkit_schedule_change(used, text[0], text[1], rand_r(&seed) % 6 - 1, limit, &operation); break;
        case 17: rainkit_node_get(used, text[0], limit, &operation); break;
        case 18: rainkit_renew(used, limit, limit, &operation); break;
        default: rainkit_share_list(used, text[0], limit, &operation); break;
        }
        if (operation) {
            rainkit_event event = RAINKIT_EVENT_INIT;
            if (rand_r(&seed) % 2) rainkit_operation_answer(operation, text[rand_r(&seed) % 6]);
            double limit_of_wait = now() + 30;
            while (rand_r(&seed) % 8) {
                CHECK(rainkit_wait_event(operation, 30000, &event) == 0);
                CHECK(now() < limit_of_wait);
                if (event.kind == RAINKIT_EVENT_QUESTION || event.kind == RAINKIT_EVENT_PAGE) rainkit_operation_cancel(operation);
                if (event.kind >= RAINKIT_EVENT_RESULT || event.kind == RAINKIT_EVENT_NONE) break;
            }
            CHECK(rainkit_operation_free(operation) == 0);
        }
        number++;
    }
    CHECK(rainkit_client_free(client) == 0);
    printf("calls %ld\n", number);
}

/* ---- The time of rainkit_access_token ---- */

static void token(void) {
    rainkit_client *client = open_client(RAINKIT_STORE_FILE);
    sign_in(client);
    char buffer[8192];
    size_t length;
    double start = now();
    for (int i = 0; i < count; i++) CHECK(rainkit_access_token(client, buffer, sizeof buffer, &length) == 0);
    printf("microseconds %.3f\n", (now() - start) / count * 1e6);
    CHECK(rainkit_access_token(client, buffer, 4, &length) == RAINKIT_BAD_DATA && length > 4 && buffer[0] == 0);
    rainkit_operation *operation = NULL;
    CHECK(finish(rainkit_sign_out(client, 0, 0, &operation), &operation, "sign-out") == 0);
    CHECK(rainkit_access_token(client, buffer, sizeof buffer, &length) == RAINKIT_AUTH);
    CHECK(rainkit_client_free(client) == 0);
}

int main(int number, char **given) {
    if (number < 7) fail("exercise MODE BASE_URL STATE_FOLDER USER PASSWORD COUNT [BOARD POP SSID PASSPHRASE]");
    base = given[2], state = given[3], user = given[4], password = given[5], count = atoi(given[6]);
    board = number > 7 ? given[7] : NULL;
    if (number > 10) proof = given[8], ssid = given[9], passphrase = given[10];
    struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        {"threads", threads}, {"clients", clients}, {"flat", flat}, {"repeat", repeat}, {"cancel", cancel},
        {"freed", freed_while_waiting}, {"fork", forked}, {"dlclose", unloaded}, {"broken", broken}, {"logged", logged},
        {"arguments", arguments}, {"left", left}, {"unanswered", unanswered}, {"fuzz", fuzz}, {"token", token},
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(modes[i].name, given[1]) != 0) continue;
        modes[i].run();
        puts("ok");
        return 0;
    }
    fail("there is no mode %s", given[1]);
}
