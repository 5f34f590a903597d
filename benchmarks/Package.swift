// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// What is measured inside of a process. A package of its own: the product never builds what only a measurement needs.
let package = Package(
    name: "RainKitBenchmarks",
    dependencies: [.package(name: "RainKit", path: "..")],
    targets: [
        .executableTarget(name: "handshake", dependencies: [.product(name: "RainKit", package: "RainKit")]),
        .executableTarget(name: "calls", dependencies: ["CurlLoop", .product(name: "RainKit", package: "RainKit")]),
        .executableTarget(name: "exchanges", dependencies: [.product(name: "RainKit", package: "RainKit")]),
        .executableTarget(name: "ledger", dependencies: [.product(name: "RainKit", package: "RainKit")]),
        .executableTarget(name: "peak"),
        // The yardstick: libcurl called from C, with nothing around it.
        .target(name: "CurlLoop", linkerSettings: [.linkedLibrary("curl")]),
    ]
)
