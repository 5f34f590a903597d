/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RAINKIT_H
#define RAINKIT_H

/*
 * librainkit: accounts, provisioning and control of ESP RainMaker boards, for C and every language that can call C.
 *
 * OPERATIONS
 *   A function that waits for a cloud, a board or a person starts an operation and returns at once. The operation has a
 *   descriptor that is readable while an event waits: put it into poll(2), select(2) or an event loop, and then call
 *   rainkit_next_event(). An operation has any number of progress events, and exactly one last event: its result or its
 *   error. Programs without an event loop call rainkit_wait(), which returns the last event. Every operation has a time
 *   limit.
 *
 * ERRORS
 *   Functions return 0 (RAINKIT_OK) or the number of an error. The numbers are the exit codes of rainctl. A function that
 *   starts an operation only fails if its call is wrong: a NULL pointer, a handle that was freed, text that is not UTF-8, a
 *   required text that is empty, an unknown number, or a process that was forked. Then *operation is NULL: there is no
 *   operation, and no event. RAINKIT_USAGE does not say which argument is wrong.
 *   Everything else is the operation's error: its last event, with a reason for programs, a message for people,
 *   and the step and remedy if they are known.
 *
 * STRINGS
 *   Strings are UTF-8 with a length. A string that you pass is copied before the function returns; it may have a NULL
 *   pointer if its length is 0, and at most 1 MiB. A string that you receive is followed by a NUL byte. It belongs to the
 *   library: the strings of an event are valid until the next call for that operation, and you never free them. Also
 *   rainkit_operation_free() ends them: copy what you need later, such as reason and node_id.
 *
 * DOCUMENTS
 *   Results and progress are JSON documents. They are those of rainctl: a result is what the command prints with --json,
 *   and a progress event is a line of its --events or watch. docs/schema describes each. Documents only gain members.
 *
 * THREADS
 *   Any thread may call any function at any time. Only one thread at a time should read the events of one operation.
 *   Clients and operations may be freed in any order, also while operations run and while other threads use them. A handle
 *   that was freed is detected: functions return RAINKIT_USAGE. A thread that already waits for an operation when another
 *   thread frees it gets RAINKIT_CANCELLED, and an event whose kind is RAINKIT_EVENT_NONE.
 *
 * PROCESSES
 *   The library installs no signal handlers and changes no signal dispositions, and its threads never raise SIGPIPE. If you
 *   handle a signal with signalfd(2), block it before you create the first client. A few threads and descriptors of the
 *   library, such as idle connections, stay until the process ends; their number does not grow with that of clients. After
 *   fork(2) a child cannot use the library: every function returns RAINKIT_UNAVAILABLE. A child that calls exec(3) is fine.
 *   dlclose(3) leaves the library in memory.
 *
 * CALLBACKS
 *   There is one: the logger. It is called on a thread of the library, one line at a time, and may call any function. It
 *   must not throw a C++ exception. A logger that blocks delays log lines and nothing else.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It only grows: a program that was compiled for an older one still works. */
#define RAINKIT_ABI_VERSION 1

/* The numbers of errors: the exit codes of rainctl, see docs/exit-codes.md. */
enum {
    RAINKIT_OK = 0,                 /* no error */
    RAINKIT_OTHER = 1,              /* a failure that none of the others describes */
    RAINKIT_WRONG_POP = 10,         /* the board refused the proof of possession */
    RAINKIT_WIFI_AUTH_FAILED = 11,  /* the access point refused the board */
    RAINKIT_WIFI_AP_NOT_FOUND = 12, /* the board cannot find that network */
    RAINKIT_MAPPING_FAILED = 13,    /* the cloud did not confirm that the board belongs to the user */
    RAINKIT_DEVICE_LOST = 14,       /* the board answered before, and no longer does */
    RAINKIT_SECURITY_MISMATCH = 15, /* the board does not have the expected security */
    RAINKIT_DEADLINE = 16,          /* the time limit is over */
    RAINKIT_CLAIM_NEEDED = 17,      /* the board has no cloud certificate and could not get one */
    RAINKIT_BATCH_PARTIAL = 20,     /* some of several boards failed, or did not report in time */
    RAINKIT_USAGE = 64,             /* the call is wrong: an argument, a name, a handle that was freed */
    RAINKIT_BAD_DATA = 65,          /* data cannot be used: a file, a value, an answer */
    RAINKIT_UNAVAILABLE = 69,       /* a board, a service or a device of this machine is missing */
    RAINKIT_CANNOT_WRITE = 73,      /* something could not be written */
    RAINKIT_TEMPORARY = 75,         /* a failure that may be gone at the next attempt */
    RAINKIT_AUTH = 77,              /* the user has to sign in, or may not do this */
    RAINKIT_CONFIG = 78,            /* a setting that cannot work */
    RAINKIT_CANCELLED = 130         /* the operation was cancelled */
};

/* Initialises a structure: its size is set, and everything else is zero. */
#ifdef __cplusplus
#define RAINKIT_SIZED(type) {sizeof(type)}
#else
#define RAINKIT_SIZED(type) {.size = sizeof(type)}
#endif

/* UTF-8 text with its length in bytes. */
typedef struct rainkit_string {
    const char *data;
    size_t length;
} rainkit_string;

/* Returns a string for a C string, which may be NULL. */
static inline rainkit_string rainkit_text(const char *text) {
    rainkit_string string = {text, 0};
    if (text) while (text[string.length]) string.length++;
    return string;
}

/* A user's account at one cloud, and what it takes to find boards. */
typedef struct rainkit_client rainkit_client;

/* A call that waits. */
typedef struct rainkit_operation rainkit_operation;

/* The version of the library: RAINKIT_ABI_VERSION of its header. */
uint32_t rainkit_abi_version(void);

/* The version of RainKit, such as 0.3.0. Valid for ever. */
rainkit_string rainkit_version(void);

/* The name of an error's number in JSON documents, such as wrong_pop; empty for other numbers. Valid for ever. */
rainkit_string rainkit_code_name(int32_t code);

/* ---- Clients -------------------------------------------------------------------------------------------------------- */

/* The place of a session. */
enum {
    RAINKIT_STORE_AUTOMATIC = 0, /* the desktop's Secret Service if it answers, otherwise a file */
    RAINKIT_STORE_FILE = 1,      /* a private file in the state folder */
    RAINKIT_STORE_SECRET_SERVICE = 2,
    RAINKIT_STORE_MEMORY = 3     /* nothing is written: the session ends with the client */
};

/* The levels of log lines. A logger gets the lines of its level and of the levels above. */
enum {
    RAINKIT_LOG_OFF = 0,
    RAINKIT_LOG_WARNING = 1,
    RAINKIT_LOG_DEBUG = 2, /* also each request, connection and step of a board */
    RAINKIT_LOG_TRACE = 3  /* also the headers of requests */
};

/* Receives a log line, without a line end. No line has a secret. The string is valid during the call. */
typedef void (*rainkit_logger)(void *context, int32_t level, rainkit_string line);

/* Options of a client. Everything that is zero has its default. */
typedef struct rainkit_client_options {
    size_t size;                   /* sizeof(rainkit_client_options), which RAINKIT_CLIENT_OPTIONS sets */
    rainkit_string state;          /* absolute path of a folder for the session and unfinished mappings, which is created
                                      with mode 0700; may only be empty with RAINKIT_STORE_MEMORY */
    int32_t store;                 /* RAINKIT_STORE_… */
    int32_t log_level;             /* RAINKIT_LOG_… */
    rainkit_string account;        /* name of the account, if the folder has several; default: the one in use */
    rainkit_string deployment;     /* name of the RainMaker deployment, for base_url; default: Espressif's own */
    rainkit_string base_url;       /* https address of the deployment's API, without the version; http only for this
                                      machine, such as http://127.0.0.1:8080 */
    rainkit_string ca_file;        /* PEM file of authorities to trust instead of the system's */
    rainkit_string provider;       /* id of another identity provider, such as spid; default: RainMaker */
    rainkit_string provider_settings; /* JSON object of the provider's settings, such as {"base_url": "https://…"};
                                         default: those of its last sign-in */
    rainkit_string definitions;    /* folder with definitions of more providers (docs/adding-an-identity-provider.md) */
    rainkit_logger logger;         /* may be NULL */
    void *logger_context;          /* passed to the logger */
    rainkit_string claim_url;      /* with base_url: https address of the deployment's claim service, if it has one */
    rainkit_string sign_in_url;    /* with base_url: https address of the deployment's sign-in page, if it has one */
    rainkit_string client_id;      /* with sign_in_url: the id of this program at that page */
} rainkit_client_options;

#define RAINKIT_CLIENT_OPTIONS RAINKIT_SIZED(rainkit_client_options)

/*
 * Creates a client. Nothing is sent, and no file is opened. A process may have any number of clients.
 *
 * A session is only valid for the address that it was made for: with another base_url, operations fail with RAINKIT_AUTH
 * (wrong_context) until the user signs in there.
 *
 * On failure *client is NULL, and the message says what is wrong with the options: message may be NULL; otherwise it gets
 * at most capacity bytes, which end with NUL.
 */
int32_t rainkit_client_new(const rainkit_client_options *options, rainkit_client **client, char *message,
                           size_t capacity);

/*
 * Frees a client. Its operations end with RAINKIT_CANCELLED; their handles stay valid until you free them. Waits at most
 * 5 s for a renewal of tokens that is under way, since losing the cloud's answer may lose the session. Then it waits until
 * the logger has returned from its last call, at most 5 s; not if the logger itself frees the client. NULL is ignored.
 */
int32_t rainkit_client_free(rainkit_client *client);

/* ---- Operations and their events ------------------------------------------------------------------------------------ */

enum {
    RAINKIT_EVENT_NONE = 0,     /* no event waits at the moment */
    RAINKIT_EVENT_PROGRESS = 1, /* something happened: see name and document */
    RAINKIT_EVENT_PAGE = 2,     /* the user signs in at a page: document has url; for another device also user_code, and
                                   complete_url, which contains the code, if the page has one */
    RAINKIT_EVENT_QUESTION = 3, /* answer with rainkit_operation_answer(): name is what is asked for, such as one_time_code */
    RAINKIT_EVENT_RESULT = 4,   /* the last event of an operation that succeeded: document is its result */
    RAINKIT_EVENT_ERROR = 5     /* the last event of one that failed: code, reason, message, remedy and step are set;
                                   document is the result so far, if several boards were asked and some have failed */
};

/* An event. Strings that do not apply are empty. */
typedef struct rainkit_event {
    size_t size;             /* sizeof(rainkit_event), which RAINKIT_EVENT_INIT sets */
    int32_t kind;            /* RAINKIT_EVENT_… */
    int32_t code;            /* RAINKIT_OK, or the error's number */
    uint64_t dropped;        /* how many progress events before this one were dropped, because more than 1,024 waited */
    rainkit_string name;     /* of progress: its state, such as found, started or value */
    rainkit_string document; /* one JSON object */
    rainkit_string reason;   /* the cause in snake case, more exact than code, such as invalid_credentials */
    rainkit_string message;  /* one or two sentences for people; many already say what to try */
    rainkit_string remedy;   /* what else to try; often empty */
    rainkit_string step;     /* of provisioning: the step that failed, such as connect */
} rainkit_event;

#define RAINKIT_EVENT_INIT RAINKIT_SIZED(rainkit_event)

/* Returns a descriptor that is readable while an event waits, or -1. Never read, write or close it. It is closed by
 * rainkit_operation_free(). */
int rainkit_operation_descriptor(rainkit_operation *operation);

/* Takes the next event without waiting. Without one, event->kind is RAINKIT_EVENT_NONE. After the last event it is always
 * that again. */
int32_t rainkit_next_event(rainkit_operation *operation, rainkit_event *event);

/* Waits at most timeout_ms for the next event; with a negative time until there is one. Without one in time, event->kind is
 * RAINKIT_EVENT_NONE. After the last event it returns at once with the last event again. */
int32_t rainkit_wait_event(rainkit_operation *operation, int64_t timeout_ms, rainkit_event *event);

/* Waits for the last event, drops the others, and returns the event's code: RAINKIT_OK for a result. event may be NULL; then
 * you get no message of an error. If the operation shows a page or asks a question, it ends with RAINKIT_USAGE
 * (unanswered). */
int32_t rainkit_wait(rainkit_operation *operation, rainkit_event *event);

/* Answers the question of an operation, or passes it the address at which the browser ended. An empty answer cancels. */
int32_t rainkit_operation_answer(rainkit_operation *operation, rainkit_string answer);

/* Asks the operation to end. Its last event is then RAINKIT_CANCELLED, unless it ended before. May be called again, but not
 * by a signal handler: use signalfd(2), or a pipe that your handler writes to, in your poll loop. */
int32_t rainkit_operation_cancel(rainkit_operation *operation);

/* Cancels the operation if it still runs, and frees it. NULL is ignored. */
int32_t rainkit_operation_free(rainkit_operation *operation);

/* ---- The account ---------------------------------------------------------------------------------------------------- */

/* Times in all functions are in milliseconds; 0 is the default, which each function names. */

/*
 * Signs in with a user name and a password, and keeps the session (default limit: 60 s). A user with a second step gets a
 * question named one_time_code. Result: the session, as rainctl account status --json.
 */
int32_t rainkit_sign_in_password(rainkit_client *client, rainkit_string user, rainkit_string password, uint32_t timeout_ms,
                                 rainkit_operation **operation);

/*
 * Signs in with a browser (default limit: 300 s). The first event is RAINKIT_EVENT_PAGE: open its url in the user's browser
 * on this machine. If the browser runs elsewhere, pass the address at which it ends with rainkit_operation_answer().
 * identity_provider is the provider behind RainMaker's page, such as github; it may be empty.
 */
int32_t rainkit_sign_in_browser(rainkit_client *client, rainkit_string identity_provider, uint32_t timeout_ms,
                                rainkit_operation **operation);

/* Signs in on another device (RFC 8628), at a provider that offers this (default limit: 600 s). The first event is
 * RAINKIT_EVENT_PAGE: show its url and user_code. */
int32_t rainkit_sign_in_device(rainkit_client *client, uint32_t timeout_ms, rainkit_operation **operation);

/* Ends the session here and at the cloud; with everywhere other than 0, all sessions of the user (default limit: 60 s).
 * Result: as rainctl logout --json. */
int32_t rainkit_sign_out(rainkit_client *client, int32_t everywhere, uint32_t timeout_ms, rainkit_operation **operation);

/* Reads the stored session; nothing is sent (default limit: 60 s). Result: as rainctl account status --json. Fails with
 * RAINKIT_AUTH (not_signed_in) if there is none. */
int32_t rainkit_session(rainkit_client *client, uint32_t timeout_ms, rainkit_operation **operation);

/* Fetches the user's profile from the cloud (default limit: 60 s). Result: as rainctl whoami --json, with user_id. */
int32_t rainkit_profile(rainkit_client *client, uint32_t timeout_ms, rainkit_operation **operation);

/*
 * Makes sure that the access token is valid for at least min_valid_ms, and renews it if not (default limit: 60 s; 0 for
 * min_valid_ms: one minute). Then rainkit_access_token() has it. Any number of clients and processes may do this at once:
 * one of them renews. Result: the session, as rainctl account status --json; never the token.
 */
int32_t rainkit_renew(rainkit_client *client, uint32_t min_valid_ms, uint32_t timeout_ms, rainkit_operation **operation);

/*
 * Copies the access token of the client's session, with a NUL at its end, and sets *length to its bytes without the NUL.
 * It takes microseconds and sends nothing. Fails with RAINKIT_AUTH if no token is known or the known one is expired: call
 * rainkit_renew(), which also loads a stored session. Fails with RAINKIT_BAD_DATA if capacity is too small: *length then
 * says how many bytes it needs. The caller wipes the buffer.
 */
int32_t rainkit_access_token(rainkit_client *client, char *buffer, size_t capacity, size_t *length);

/* Copies the id of the signed-in user in the same way. Known after a sign-in, rainkit_session() or rainkit_renew(). */
int32_t rainkit_user_id(rainkit_client *client, char *buffer, size_t capacity, size_t *length);

/* ---- Boards --------------------------------------------------------------------------------------------------------- */

/*
 * Searches for boards until the time is over or the operation is cancelled (default: 20 s). Each board is a progress event
 * named found, as a line of rainctl device discover --events ndjson; a transport that cannot search is one named warning.
 * transports is a list such as "serial,ble,softap,on-network"; empty for all. Result: all boards, as
 * rainctl device discover --json. Pass a board's "transport:location" to rainkit_provision(), such as ble:PROV_a1b2c3.
 */
int32_t rainkit_discover(rainkit_client *client, rainkit_string transports, uint32_t timeout_ms,
                         rainkit_operation **operation);

/* Options of provisioning. Everything that is zero has its default. */
typedef struct rainkit_provision_options {
    size_t size;                /* sizeof(rainkit_provision_options), which RAINKIT_PROVISION_OPTIONS sets */
    rainkit_string board;       /* address: serial:/dev/ttyUSB0, ble:PROV_a1b2c3, softap: (joins the board's
                                   own network), softap:?device-name=PROV_a1b2c3, softap:192.168.4.1:80
                                   (already joined); empty: the one in qr_payload, else the only board in reach */
    rainkit_string qr_payload;  /* content of the board's QR code, which has its name and proof */
    rainkit_string proof;       /* proof of possession; empty for a board that needs none */
    rainkit_string user_name;   /* for Security 2; default: wifiprov */
    int32_t security;           /* required security scheme plus 1 (1: Security 0, 2: Security 1, 3: Security 2); 0: the
                                   board's, but not Security 0 if there is a proof */
    int32_t keeps_network;      /* other than 0: the board keeps its Wi-Fi, and ssid is ignored */
    rainkit_string ssid;        /* name of the network, 1 to 32 bytes, which need not be UTF-8 */
    rainkit_string passphrase;  /* 8 to 63 bytes, or a WEP key of 5; a board that accepts a key itself: 64 hexadecimal
                                   digits; empty for an open network */
    int32_t without_account;    /* other than 0: the board is not put into the account */
    int32_t resets_first;       /* other than 0: the board first forgets Wi-Fi settings that failed */
    rainkit_string name;        /* name of the board in the account. If it cannot be set, the operation still succeeds, and
                                   warnings of the result has the reason not_named: use node_id from then on */
    rainkit_string tags;        /* key:value,… */
    rainkit_string metadata;    /* JSON object */
    rainkit_string custom_endpoint; /* endpoint of the board's application; default: custom-data */
    rainkit_string custom_data; /* bytes for that endpoint, sent before the Wi-Fi settings */
    uint32_t timeout_ms;        /* default: 120 s */
} rainkit_provision_options;

#define RAINKIT_PROVISION_OPTIONS RAINKIT_SIZED(rainkit_provision_options)

/*
 * Puts a board on Wi-Fi and into the account. Progress events are those of rainctl provision --events ndjson; the name is
 * the state. Their documents have node_id as soon as it is known: store it, because the board may be in the account even if
 * the operation fails or is cancelled later. Result: as rainctl provision --json, with node_id. resumed is true if the board
 * is set up already and online in the account, and the library finds that out: from the log of a board on a cable that
 * prints it, or from a mapping that an earlier call left unfinished. The library does not remember a board by its address.
 * Any other board that is set up already is an error, in most cases RAINKIT_UNAVAILABLE.
 */
int32_t rainkit_provision(rainkit_client *client, const rainkit_provision_options *options, rainkit_operation **operation);

/* Options of a claim. Everything that is zero has its default. */
typedef struct rainkit_claim_options {
    size_t size;          /* sizeof(rainkit_claim_options), which RAINKIT_CLAIM_OPTIONS sets */
    rainkit_string board; /* address of a board that claims by itself; empty: the only board on a cable */
    rainkit_string proof;
    uint32_t timeout_ms;  /* default: 120 s */
} rainkit_claim_options;

#define RAINKIT_CLAIM_OPTIONS RAINKIT_SIZED(rainkit_claim_options)

/* Gets a board its cloud certificate, and changes nothing else. Result: as rainctl device claim --json. */
int32_t rainkit_claim(rainkit_client *client, const rainkit_claim_options *options, rainkit_operation **operation);

/* ---- Nodes: the boards of the account ------------------------------------------------------------------------------- */

/* Nodes are given by their node id or their name; several are separated by commas. Use the id if a name has a comma. The
 * default limit is 30 s. */

/* Lists the boards of the account. Result: as rainctl node list --json. */
int32_t rainkit_node_list(rainkit_client *client, uint32_t timeout_ms, rainkit_operation **operation);

/* Finds a board. Result: as rainctl node show --json, with whether it is online and its values. */
int32_t rainkit_node_show(rainkit_client *client, rainkit_string node, uint32_t timeout_ms, rainkit_operation **operation);

/* Reads the values that a board has reported. Result: as rainctl node params get --json. */
int32_t rainkit_node_get(rainkit_client *client, rainkit_string node, uint32_t timeout_ms, rainkit_operation **operation);

/*
 * Sets values: a JSON object such as {"Light": {"Power": true}}. Names, types and bounds are checked before anything is
 * sent. With wait_ms it then waits that long for the boards to report the values, in addition to timeout_ms, and fails with
 * RAINKIT_DEADLINE or RAINKIT_BATCH_PARTIAL if they do not; 0 does not wait. A board that was just provisioned reports its
 * devices within seconds; until then this fails with RAINKIT_BAD_DATA (no_configuration): try again, for a minute at most.
 * A board that was never online since it came into the account fails in the same way for ever. Result: as
 * rainctl node params set --json.
 */
int32_t rainkit_node_set(rainkit_client *client, rainkit_string nodes, rainkit_string values, uint32_t wait_ms,
                         uint32_t timeout_ms, rainkit_operation **operation);

/*
 * Watches boards until the operation is cancelled or the time is over (0: no limit). Progress events:
 *   watching                 the watch has begun: no later change is missed
 *   online, offline, value   a change, as a line of rainctl node watch --json
 *   alert                    an alert of a board, as a line of rainctl node watch --json
 *   without_alerts           the cloud does not let this user listen to alerts
 *   listening, interrupted   the boards' own reports are heard from now on, or not any more; the cloud is asked in any case
 * nodes may be empty for all boards of the account, also those that are added later. Then there are also:
 *   added, removed           a board came into the account or left it; at the start, added comes once for each board. The
 *                            documents have node_id and name; that of added also has connected, if the cloud says so
 *   unreachable, reachable   the cloud does not answer, or answers again
 * Each document has ts and state. Those of changes and alerts have node_id and the members of docs/schema/watch-event.json.
 * Those about the watch itself or the cloud have no node_id, but message if there is a reason. The watch survives an outage
 * of the network and of the cloud; it ends when the session has ended (RAINKIT_AUTH). Changes that the board reports itself
 * arrive within a second, others within five. The document of the result is {}.
 */
int32_t rainkit_node_watch(rainkit_client *client, rainkit_string nodes, uint32_t timeout_ms, rainkit_operation **operation);

/* Renames a board. Result: as rainctl node rename --json. */
int32_t rainkit_node_rename(rainkit_client *client, rainkit_string node, rainkit_string name, uint32_t timeout_ms,
                            rainkit_operation **operation);

/* Removes a board from the account. Result: as rainctl node remove --json. */
int32_t rainkit_node_remove(rainkit_client *client, rainkit_string node, uint32_t timeout_ms, rainkit_operation **operation);

/* Lists a board's schedules. Result: as rainctl node schedule list --json. */
int32_t rainkit_schedule_list(rainkit_client *client, rainkit_string node, uint32_t timeout_ms,
                              rainkit_operation **operation);

/*
 * Adds a schedule: the board sets the values at a time of its own clock. time is HH:MM, +MINUTES or sunrise and the like,
 * as rainctl node schedule add --at; days is mon-fri, daily and the like, empty for once. Result: as
 * rainctl node schedule add --json.
 */
int32_t rainkit_schedule_add(rainkit_client *client, rainkit_string node, rainkit_string name, rainkit_string values,
                             rainkit_string time, rainkit_string days, uint32_t timeout_ms, rainkit_operation **operation);

enum { RAINKIT_SCHEDULE_REMOVE = 1, RAINKIT_SCHEDULE_ENABLE = 2, RAINKIT_SCHEDULE_DISABLE = 3 };

/* Removes, enables or disables a schedule, given by its id or name. Result: as rainctl node schedule remove --json. */
int32_t rainkit_schedule_change(rainkit_client *client, rainkit_string node, rainkit_string schedule, int32_t change,
                                uint32_t timeout_ms, rainkit_operation **operation);

/* Lists the users of boards; empty for all boards. Result: as rainctl node share list --json. */
int32_t rainkit_share_list(rainkit_client *client, rainkit_string node, uint32_t timeout_ms, rainkit_operation **operation);

/* Offers boards to another user, who has to accept. Result: as rainctl node share add --json, with request_id. */
int32_t rainkit_share_add(rainkit_client *client, rainkit_string nodes, rainkit_string user, uint32_t timeout_ms,
                          rainkit_operation **operation);

/* Stops sharing boards with a user. Result: as rainctl node share remove --json. */
int32_t rainkit_share_remove(rainkit_client *client, rainkit_string nodes, rainkit_string user, uint32_t timeout_ms,
                             rainkit_operation **operation);

/* Lists the offers that wait for this user's answer; with sent other than 0, those that this user made. Result: as
 * rainctl node share requests --json. */
int32_t rainkit_share_requests(rainkit_client *client, int32_t sent, uint32_t timeout_ms, rainkit_operation **operation);

/* Accepts an offer, or declines it if accept is 0. Result: as rainctl node share accept --json. */
int32_t rainkit_share_answer(rainkit_client *client, rainkit_string request_id, int32_t accept, uint32_t timeout_ms,
                             rainkit_operation **operation);

/*
 * Sends a board new firmware from a file, and waits until it runs (default limit: 300 s). Progress events are named
 * uploaded, retrying, news and sent. Result: as rainctl node ota --json.
 */
int32_t rainkit_update(rainkit_client *client, rainkit_string node, rainkit_string image_path, uint32_t timeout_ms,
                       rainkit_operation **operation);

#ifdef __cplusplus
}
#endif

#endif
