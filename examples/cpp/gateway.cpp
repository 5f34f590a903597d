// SPDX-License-Identifier: Apache-2.0

// A gateway with a thread for each board. It signs in, and provisions the lights of its command line at the same time. Then it watches them,
// switches them off, and ends when all of them have reported that they are off. (New lights are on.)
//
//   c++ -std=c++17 gateway.cpp -o gateway $(pkg-config --cflags --libs rainkit json-c)
//   EXAMPLE_… ./gateway serial:/dev/ttyUSB0 softap:192.168.4.1
//
// It ends with the number of the first error, which is also the exit code of rainctl.
#include <json-c/json.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <rainkit.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string_view setting(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

// A member of a JSON document as text; empty if it is absent.
std::string member(const std::string &document, const char *name) {
    std::unique_ptr<json_object, decltype(&json_object_put)> object(json_tokener_parse(document.c_str()), json_object_put);
    json_object *value = nullptr;
    return json_object_object_get_ex(object.get(), name, &value) ? json_object_get_string(value) : "";
}

void print(const std::string &line) {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    std::cout << line << std::endl;
}

// Provisions a board, and returns its node id.
std::string provision(rainkit::Client &client, const std::string &board) {
    rainkit::ProvisionOptions options;
    options.board = board;
    options.proof = setting("EXAMPLE_PROOF");
    options.ssid = setting("EXAMPLE_NETWORK");
    options.passphrase = setting("EXAMPLE_PASSPHRASE");
    std::string node;
    for (const rainkit::Event &event : client.provision(options)) {
        if (event.kind == rainkit::EventKind::result)
            node = member(event.document, "node_id");
        else
            print(board + ": " + member(event.document, "step") + " " + event.name);
    }
    print(board + ": is node " + node);
    return node;
}

// Sets values of boards. A new board needs a moment to tell the cloud what it is; until then it has no_configuration.
void set(rainkit::Client &client, const std::string &names, const char *values) {
    for (int attempt = 1;; attempt++) {
        try {
            client.node_set(names, values).wait();
            return;
        } catch (const rainkit::Error &error) {
            if (error.reason != "no_configuration" || attempt == 30) throw;
        }
        std::this_thread::sleep_for(std::chrono::seconds(1));
    }
}

// Switches all boards off, and waits until the watch has seen it.
void switch_off(rainkit::Client &client, std::set<std::string> nodes) {
    std::string names;
    for (const std::string &node : nodes) names += (names.empty() ? "" : ",") + node;
    auto watch = client.node_watch(names, 60'000);
    for (const rainkit::Event &event : watch) {
        if (event.kind == rainkit::EventKind::result) throw rainkit::Error(RAINKIT_DEADLINE, "Not all boards reported in time.");
        // From now on the watch misses nothing.
        if (event.name == "listening") set(client, names, R"({"Light": {"Power": false}})");
        if (member(event.document, "path") != "Light.Power") continue;
        std::string node = member(event.document, "node_id"), value = member(event.document, "value");
        print(node + ": Light.Power is " + value);
        if (value == "false") nodes.erase(node);
        if (nodes.empty()) break;
    }
    // Nothing of the watch still runs when the program ends.
    try {
        watch.cancel();
        watch.wait();
    } catch (const rainkit::Error &error) {
        if (error.code != RAINKIT_CANCELLED) throw;
    }
}

} // namespace

int main(int count, char **arguments) try {
    rainkit::ClientOptions options;
    options.state = setting("EXAMPLE_STATE");
    options.store = RAINKIT_STORE_FILE;
    options.base_url = setting("EXAMPLE_CLOUD");
    rainkit::Client client(options);
    client.sign_in_password(setting("EXAMPLE_USER"), setting("EXAMPLE_PASSWORD")).wait();

    std::vector<std::future<std::string>> boards;
    for (int i = 1; i < count; i++) {
        std::string board = arguments[i];
        boards.push_back(std::async(std::launch::async, [&client, board] { return provision(client, board); }));
    }
    std::set<std::string> nodes;
    for (auto &board : boards) nodes.insert(board.get());
    if (!nodes.empty()) switch_off(client, nodes);
    print("done");
    return 0;
} catch (const rainkit::Error &error) {
    std::cerr << error.what() << '\n';
    if (!error.step.empty()) std::cerr << "It failed at the step " << error.step << ".\n";
    if (!error.remedy.empty()) std::cerr << error.remedy << '\n';
    return error.code;
}
