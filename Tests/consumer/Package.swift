// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// A program that uses RainKit beside modules of its own with everyday names. Names of ours that are as common would stop it from
/// building: a package's modules share one space of names with those of all its dependencies.
let everyday = [
    "Account", "CCurl", "DBus", "HTTPCore", "Hashing", "HomeModel", "JSON", "OAuth2", "Onboarding", "SerialPort",
    "Threads",
    "Vocabulary",
]

let package = Package(
    name: "consumer",
    dependencies: [.package(name: "RainKit", path: "../..")],
    targets: everyday.map { .target(name: $0) } + [
        .executableTarget(
            name: "consumer",
            dependencies: everyday.map { .target(name: $0) } + [.product(name: "RainKit", package: "RainKit")])
    ]
)
