// SPDX-License-Identifier: Apache-2.0
#ifndef RAINKIT_HPP
#define RAINKIT_HPP

// rainkit.h for C++17: handles that free themselves, exceptions, and events in a range-based for loop. It has no code of its own to link.
// The comments of rainkit.h are the documentation of each call; times are in milliseconds, and 0 is the default.
//
//   rainkit::ClientOptions options;
//   options.state = "/var/lib/gateway";
//   rainkit::Client client(options);
//   client.sign_in_password(user, password).wait();
//   rainkit::ProvisionOptions board;
//   board.board = "serial:/dev/ttyUSB0";
//   for (const rainkit::Event &event : client.provision(board)) std::cout << event.name << '\n';
//
// A function throws rainkit::Error if its call is wrong. wait() and the loop throw it if the operation fails.

#include <rainkit.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace rainkit {

inline rainkit_string to_c(std::string_view text) noexcept { return {text.data(), text.size()}; }

inline std::string_view to_view(const rainkit_string &text) noexcept {
    return text.length == 0 ? std::string_view() : std::string_view(text.data, text.length);
}

// The version of RainKit, such as 0.3.0.
inline std::string_view version() { return to_view(rainkit_version()); }

// Whether the library is at least as new as the header that the program was compiled with.
inline bool is_new_enough() { return rainkit_abi_version() >= RAINKIT_ABI_VERSION; }

// An error of a call or of an operation. what() is its message, one or two sentences for people.
class Error : public std::runtime_error {
public:
    std::int32_t code;    // RAINKIT_…
    std::string reason;   // the cause in snake case, more exact than the code; empty for calls that are wrong
    std::string remedy;   // what to try, or empty
    std::string step;     // the step of provisioning that failed, or empty
    std::string document; // what is known about several boards, as JSON; or empty

    explicit Error(std::int32_t code, const std::string &message = {})
        : std::runtime_error(message.empty() ? std::string(to_view(rainkit_code_name(code))) : message), code(code) {}

    explicit Error(const rainkit_event &event)
        : std::runtime_error(std::string(to_view(event.message))), code(event.code), reason(to_view(event.reason)),
          remedy(to_view(event.remedy)), step(to_view(event.step)), document(to_view(event.document)) {}
};

namespace details {
inline void check(std::int32_t code) {
    if (code != RAINKIT_OK) throw Error(code);
}
} // namespace details

enum class EventKind : std::int32_t {
    progress = RAINKIT_EVENT_PROGRESS,
    page = RAINKIT_EVENT_PAGE,
    question = RAINKIT_EVENT_QUESTION,
    result = RAINKIT_EVENT_RESULT,
};

// An event that is not an error, with its own copy of the strings.
struct Event {
    EventKind kind;
    std::uint64_t dropped; // how many progress events before this one were dropped
    std::string name;
    std::string document; // one JSON object
    std::string message;

    explicit Event(const rainkit_event &event)
        : kind(static_cast<EventKind>(event.kind)), dropped(event.dropped), name(to_view(event.name)),
          document(to_view(event.document)), message(to_view(event.message)) {}
};

// A call that waits. The destructor cancels it if it still runs.
class Operation {
public:
    explicit Operation(rainkit_operation *handle) noexcept : handle_(handle) {}
    Operation(Operation &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Operation &operator=(Operation &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Operation() { rainkit_operation_free(handle_); }

    rainkit_operation *get() const noexcept { return handle_; }

    // Readable while an event waits, for poll(2).
    int descriptor() const { return rainkit_operation_descriptor(handle_); }

    // Returns the next event if one waits already. After the result there is none.
    std::optional<Event> next() {
        return taken([this](rainkit_event *event) { return rainkit_next_event(handle_, event); });
    }

    // Waits for the next event. After the result it returns the result again.
    std::optional<Event> next(std::chrono::milliseconds limit) {
        return taken([this, limit](rainkit_event *event) { return rainkit_wait_event(handle_, limit.count(), event); });
    }

    // Waits for the result, and returns its JSON document.
    std::string wait() {
        rainkit_event event{};
        event.size = sizeof event;
        std::int32_t code = rainkit_wait(handle_, &event);
        if (event.kind == RAINKIT_EVENT_ERROR) throw Error(event);
        details::check(code);
        return std::string(to_view(event.document));
    }

    void answer(std::string_view answer) { details::check(rainkit_operation_answer(handle_, to_c(answer))); }

    void cancel() { details::check(rainkit_operation_cancel(handle_)); }

    // Each event as it comes, up to the result, which is the last one.
    class Iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Event;
        using difference_type = std::ptrdiff_t;
        using pointer = const Event *;
        using reference = const Event &;

        Iterator() = default;
        explicit Iterator(Operation &operation) : operation_(&operation) { ++*this; }
        reference operator*() const { return *event_; }
        pointer operator->() const { return &*event_; }
        Iterator &operator++() {
            if (event_ && event_->kind == EventKind::result)
                operation_ = nullptr;
            else
                event_ = operation_->next(std::chrono::milliseconds(-1));
            return *this;
        }
        bool operator==(const Iterator &other) const { return operation_ == other.operation_; }
        bool operator!=(const Iterator &other) const { return !(*this == other); }

    private:
        Operation *operation_ = nullptr;
        std::optional<Event> event_;
    };

    Iterator begin() { return Iterator(*this); }
    Iterator end() { return Iterator(); }

private:
    template <typename Take> std::optional<Event> taken(Take take) {
        rainkit_event event{};
        event.size = sizeof event;
        details::check(take(&event));
        if (event.kind == RAINKIT_EVENT_ERROR) throw Error(event);
        if (event.kind == RAINKIT_EVENT_NONE) return std::nullopt;
        return Event(event);
    }

    rainkit_operation *handle_;
};

// Options of a client: see rainkit_client_options. The texts must outlive the call of the constructor.
struct ClientOptions {
    std::string_view state;
    std::int32_t store = RAINKIT_STORE_AUTOMATIC;
    std::int32_t log_level = RAINKIT_LOG_OFF;
    std::string_view account;
    std::string_view deployment;
    std::string_view base_url;
    std::string_view ca_file;
    std::string_view provider;
    std::string_view provider_settings;
    std::string_view definitions;
    rainkit_logger logger = nullptr; // must not throw
    void *logger_context = nullptr;
    std::string_view claim_url;
    std::string_view sign_in_url;
    std::string_view client_id;
};

// Options of provisioning: see rainkit_provision_options.
struct ProvisionOptions {
    std::string_view board;
    std::string_view qr_payload;
    std::string_view proof;
    std::string_view user_name;
    std::int32_t security = 0;
    bool keeps_network = false;
    std::string_view ssid;
    std::string_view passphrase;
    bool without_account = false;
    bool resets_first = false;
    std::string_view name;
    std::string_view tags;
    std::string_view metadata;
    std::string_view custom_endpoint;
    std::string_view custom_data;
    std::uint32_t timeout_ms = 0;
};

// Options of a claim: see rainkit_claim_options.
struct ClaimOptions {
    std::string_view board;
    std::string_view proof;
    std::uint32_t timeout_ms = 0;
};

enum class ScheduleChange : std::int32_t {
    remove = RAINKIT_SCHEDULE_REMOVE,
    enable = RAINKIT_SCHEDULE_ENABLE,
    disable = RAINKIT_SCHEDULE_DISABLE,
};

// A user's account at one cloud, and the boards in reach.
class Client {
public:
    explicit Client(const ClientOptions &options) {
        rainkit_client_options given{};
        given.size = sizeof given;
        given.state = to_c(options.state);
        given.store = options.store;
        given.log_level = options.log_level;
        given.account = to_c(options.account);
        given.deployment = to_c(options.deployment);
        given.base_url = to_c(options.base_url);
        given.ca_file = to_c(options.ca_file);
        given.provider = to_c(options.provider);
        given.provider_settings = to_c(options.provider_settings);
        given.definitions = to_c(options.definitions);
        given.logger = options.logger;
        given.logger_context = options.logger_context;
        given.claim_url = to_c(options.claim_url);
        given.sign_in_url = to_c(options.sign_in_url);
        given.client_id = to_c(options.client_id);
        char message[1024];
        std::int32_t code = rainkit_client_new(&given, &handle_, message, sizeof message);
        if (code != RAINKIT_OK) throw Error(code, message);
    }
    Client(Client &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Client &operator=(Client &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Client() { rainkit_client_free(handle_); }

    rainkit_client *get() const noexcept { return handle_; }

    // ---- The account

    Operation sign_in_password(std::string_view user, std::string_view password, std::uint32_t timeout_ms = 0) {
        return start(rainkit_sign_in_password, to_c(user), to_c(password), timeout_ms);
    }
    Operation sign_in_browser(std::string_view identity_provider = {}, std::uint32_t timeout_ms = 0) {
        return start(rainkit_sign_in_browser, to_c(identity_provider), timeout_ms);
    }
    Operation sign_in_device(std::uint32_t timeout_ms = 0) { return start(rainkit_sign_in_device, timeout_ms); }
    Operation sign_out(bool everywhere = false, std::uint32_t timeout_ms = 0) {
        return start(rainkit_sign_out, std::int32_t(everywhere), timeout_ms);
    }
    Operation session(std::uint32_t timeout_ms = 0) { return start(rainkit_session, timeout_ms); }
    Operation profile(std::uint32_t timeout_ms = 0) { return start(rainkit_profile, timeout_ms); }
    Operation renew(std::uint32_t min_valid_ms = 0, std::uint32_t timeout_ms = 0) {
        return start(rainkit_renew, min_valid_ms, timeout_ms);
    }
    std::string access_token() const { return copied(rainkit_access_token); }
    std::string user_id() const { return copied(rainkit_user_id); }

    // ---- Boards

    Operation discover(std::string_view transports = {}, std::uint32_t timeout_ms = 0) {
        return start(rainkit_discover, to_c(transports), timeout_ms);
    }
    Operation provision(const ProvisionOptions &options) {
        rainkit_provision_options given{};
        given.size = sizeof given;
        given.board = to_c(options.board);
        given.qr_payload = to_c(options.qr_payload);
        given.proof = to_c(options.proof);
        given.user_name = to_c(options.user_name);
        given.security = options.security;
        given.keeps_network = options.keeps_network;
        given.ssid = to_c(options.ssid);
        given.passphrase = to_c(options.passphrase);
        given.without_account = options.without_account;
        given.resets_first = options.resets_first;
        given.name = to_c(options.name);
        given.tags = to_c(options.tags);
        given.metadata = to_c(options.metadata);
        given.custom_endpoint = to_c(options.custom_endpoint);
        given.custom_data = to_c(options.custom_data);
        given.timeout_ms = options.timeout_ms;
        return start(rainkit_provision, &given);
    }
    Operation claim(const ClaimOptions &options = {}) {
        rainkit_claim_options given{};
        given.size = sizeof given;
        given.board = to_c(options.board);
        given.proof = to_c(options.proof);
        given.timeout_ms = options.timeout_ms;
        return start(rainkit_claim, &given);
    }

    // ---- Nodes

    Operation node_list(std::uint32_t timeout_ms = 0) { return start(rainkit_node_list, timeout_ms); }
    Operation node_show(std::string_view node, std::uint32_t timeout_ms = 0) {
        return start(rainkit_node_show, to_c(node), timeout_ms);
    }
    Operation node_get(std::string_view node, std::uint32_t timeout_ms = 0) {
        return start(rainkit_node_get, to_c(node), timeout_ms);
    }
    Operation node_set(std::string_view nodes, std::string_view values, std::uint32_t wait_ms = 0, std::uint32_t timeout_ms = 0) {
        return start(rainkit_node_set, to_c(nodes), to_c(values), wait_ms, timeout_ms);
    }
    Operation node_watch(std::string_view nodes = {}, std::uint32_t timeout_ms = 0) {
        return start(rainkit_node_watch, to_c(nodes), timeout_ms);
    }
    Operation node_rename(std::string_view node, std::string_view name, std::uint32_t timeout_ms = 0) {
        return start(rainkit_node_rename, to_c(node), to_c(name), timeout_ms);
    }
    Operation node_remove(std::string_view node, std::uint32_t timeout_ms = 0) {
        return start(rainkit_node_remove, to_c(node), timeout_ms);
    }
    Operation schedule_list(std::string_view node, std::uint32_t timeout_ms = 0) {
        return start(rainkit_schedule_list, to_c(node), timeout_ms);
    }
    Operation schedule_add(std::string_view node, std::string_view name, std::string_view values, std::string_view time,
        std::string_view days = {}, std::uint32_t timeout_ms = 0) {
        return start(rainkit_schedule_add, to_c(node), to_c(name), to_c(values), to_c(time), to_c(days), timeout_ms);
    }
    Operation schedule_change(std::string_view node, std::string_view schedule, ScheduleChange change, std::uint32_t timeout_ms = 0) {
        return start(rainkit_schedule_change, to_c(node), to_c(schedule), std::int32_t(change), timeout_ms);
    }
    Operation share_list(std::string_view node = {}, std::uint32_t timeout_ms = 0) {
        return start(rainkit_share_list, to_c(node), timeout_ms);
    }
    Operation share_add(std::string_view nodes, std::string_view user, std::uint32_t timeout_ms = 0) {
        return start(rainkit_share_add, to_c(nodes), to_c(user), timeout_ms);
    }
    Operation share_remove(std::string_view nodes, std::string_view user, std::uint32_t timeout_ms = 0) {
        return start(rainkit_share_remove, to_c(nodes), to_c(user), timeout_ms);
    }
    Operation share_requests(bool sent = false, std::uint32_t timeout_ms = 0) {
        return start(rainkit_share_requests, std::int32_t(sent), timeout_ms);
    }
    Operation share_answer(std::string_view request_id, bool accept, std::uint32_t timeout_ms = 0) {
        return start(rainkit_share_answer, to_c(request_id), std::int32_t(accept), timeout_ms);
    }
    Operation update(std::string_view node, std::string_view image_path, std::uint32_t timeout_ms = 0) {
        return start(rainkit_update, to_c(node), to_c(image_path), timeout_ms);
    }

private:
    template <typename... Parameters, typename... Arguments>
    Operation start(std::int32_t (*function)(rainkit_client *, Parameters...), Arguments... arguments) {
        rainkit_operation *operation = nullptr;
        details::check(function(handle_, arguments..., &operation));
        return Operation(operation);
    }

    // The text may become longer between the two calls, when another thread renews the token.
    std::string copied(std::int32_t (*function)(rainkit_client *, char *, std::size_t, std::size_t *)) const {
        std::string text(4096, '\0');
        while (true) {
            std::size_t length = 0;
            std::int32_t code = function(handle_, text.data(), text.size(), &length);
            if (code == RAINKIT_OK) {
                text.resize(length);
                return text;
            }
            if (code != RAINKIT_BAD_DATA || length < text.size()) throw Error(code);
            text.assign(length + 1, '\0');
        }
    }

    rainkit_client *handle_ = nullptr;
};

} // namespace rainkit

#endif
