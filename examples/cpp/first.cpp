// SPDX-License-Identifier: Apache-2.0
// Signs in, and prints the boards of the account as JSON. Build: c++ -std=c++17 first.cpp -o first $(pkg-config --cflags --libs rainkit)
#include <cstdlib>
#include <iostream>
#include <rainkit.hpp>

static const char *setting(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

int main() try {
    rainkit::ClientOptions options;
    options.store = RAINKIT_STORE_MEMORY;
    options.base_url = setting("EXAMPLE_CLOUD");
    rainkit::Client client(options);
    client.sign_in_password(setting("EXAMPLE_USER"), setting("EXAMPLE_PASSWORD")).wait();
    std::cout << client.node_list().wait() << '\n';
} catch (const rainkit::Error &error) {
    std::cerr << error.what() << ' ' << error.remedy << '\n';
    return error.code;
}
