// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// One set of rules for every target: Swift 6 mode, warnings are errors, imports are explicit.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A C library of the system: a module map, a shim header, and the Debian package that brings it.
func system(_ name: String, _ pkgConfig: String? = nil, apt: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/C/\(name)", pkgConfig: pkgConfig, providers: apt.map { [.apt([$0])] })
}

/// The floors of docs/internals/architecture.md: folders of `Sources` in which the modules lie.
enum Floor: String {
    case system = "System/", boards = "Boards/", cloud = "Cloud/", testing = "Testing/", simulators = "Simulators/",
        top = ""
}

func target(_ name: String, on floor: Floor, _ dependencies: [Target.Dependency] = []) -> Target {
    target(name, path: "Sources/\(floor.rawValue)\(name)", dependencies)
}

func target(_ name: String, path: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

func tool(_ name: String, path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

/// The unit tests of a module, on its floor of `Tests`. They start no program and need only what compiling needs.
func tests(
    _ name: String, on floor: Floor = .top, _ dependencies: [Target.Dependency], resources: [Resource] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies, path: "Tests/\(floor.rawValue)\(name)Tests",
        resources: resources, swiftSettings: settings)
}

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

/// DocC's plugin is for those who write the documentation (make docs): no other build, and no consumer, downloads it.
let documentation: [Package.Dependency] =
    Context.environment["RAINKIT_DOCS"] == nil
    ? [] : [.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")]

/// Everything that starts a program. `swift test` leaves these tests out; `scripts/test` builds and runs them.
let endToEnd: [Target] =
    Context.environment["RAINKIT_END_TO_END"] == nil
    ? []
    : [
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "BrowserSignIn", "CloudSimulator", "DeviceCore", "ESPDeviceLog", "ESPProvisioning",
                "IdentityProviders", "ImprovSerial", "Protocomm", "ProtocommBLE", "ProtocommSecurity",
                "ProtocommSerial", "ProtocommSoftAP", "ProtocommWire", "RainAccount", "RainByteStream", "RainCore",
                "RainCrypto", "RainCryptoOpenSSL", "RainDBus", "RainHTTP", "RainHTTPCurl", "RainJSON", "RainKit",
                "RainKitTesting", "RainMQTT", "RainMaker", "RainMakerConsole", "RainNetworkManager", "RainOAuth",
                "RainOnboarding", "RainPrivateFiles", "RainQRCode", "RainSecretService", "RainSerialPort",
                "RainServiceDiscovery", "RainWaiting", "TestSupport", "cloud-sim", "firmware-sim", "fleet", "rainctl",
                argumentParser, logging,
            ],
            path: "Tests/EndToEnd", exclude: ["ForeignClients/Clients", "ForeignClients/Servers"],
            swiftSettings: settings)
    ]

/// Parsers of external input under libFuzzer (`make fuzz`), which needs its own compiler flags.
let fuzz: [Target] =
    Context.environment["RAINKIT_FUZZ"] == nil
    ? []
    : [
        tool(
            "fuzz", path: "Tests/Fuzz",
            [
                "ESPDeviceLog", "ESPProvisioning", "RainCore", "RainCryptoOpenSSL", "RainJSON", "RainMQTT", "RainMaker",
                "RainOAuth", "RainQRCode",
            ])
    ]

let package = Package(
    name: "RainKit",
    products: [
        .library(name: "RainKit", targets: ["RainKit"]),
        .library(name: "RainAccount", targets: ["RainAccount", "BrowserSignIn", "IdentityProviders", "RainMaker"]),
        .library(name: "ESPProvisioning", targets: ["ESPProvisioning"]),
        .library(name: "Protocomm", targets: ["Protocomm"]),
        .library(name: "RainKitTesting", targets: ["RainKitTesting"]),
        .executable(name: "rainctl", targets: ["rainctl"]),
        .executable(name: "cloud-sim", targets: ["cloud-sim"]),
        .executable(name: "firmware-sim", targets: ["firmware-sim"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        // Without its Foundation half, which would triple what starts with every command.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    ] + documentation,
    targets: [
        // System. RainCrypto is Embedded-safe.
        system("CRainOpenSSL", "libcrypto", apt: "libssl-dev"),
        system("CRainJSONC", "json-c", apt: "libjson-c-dev"),
        system("CRainMosquitto", "libmosquitto", apt: "libmosquitto-dev"),
        // Opened when it is needed.
        system("CRainCurl", apt: "libcurl4-openssl-dev"),
        system("CRainDescriptors"),
        // Its libraries are opened when they are needed (libqrencode, libpng, libturbojpeg, libzbar).
        system("CRainQRCode"),
        target("RainByteStream", on: .system, ["RainWaiting"]),
        target("RainCore", on: .system),
        target("RainCrypto", on: .system),
        target("RainCryptoOpenSSL", on: .system, ["RainCrypto", "CRainOpenSSL"]),
        target("RainDBus", on: .system, ["RainWaiting"]),
        target("RainHTTP", on: .system),
        target(
            "RainHTTPCurl", on: .system,
            ["RainByteStream", "RainCryptoOpenSSL", "RainHTTP", "RainWaiting", "CRainCurl"]),
        target("RainJSON", on: .system, ["CRainJSONC"]),
        target("RainMQTT", on: .system, ["RainByteStream", "RainWaiting"]),
        target("RainNetworkManager", on: .system, ["RainCore", "RainDBus", "RainWaiting"]),
        target("RainPrivateFiles", on: .system, ["RainJSON"]),
        target("RainQRCode", on: .system, ["CRainQRCode"]),
        target("RainSerialPort", on: .system, ["RainByteStream", "RainCore", "RainWaiting"]),
        target("RainServiceDiscovery", on: .system, ["RainDBus"]),
        target("RainWaiting", on: .system, ["CRainDescriptors"]),

        // Boards. ProtocommWire and ProtocommSecurity are Embedded-safe.
        target("ProtocommWire", on: .boards),
        target("ProtocommSecurity", on: .boards, ["ProtocommWire", "RainCrypto"]),
        target("Protocomm", on: .boards, ["ProtocommSecurity", "ProtocommWire", "RainWaiting", logging]),
        target("ProtocommSerial", on: .boards, ["Protocomm", "ProtocommWire", "RainSerialPort", logging]),
        target("ProtocommSoftAP", on: .boards, ["Protocomm", "ProtocommWire", "RainHTTP", logging]),
        target("ProtocommBLE", on: .boards, ["Protocomm", "ProtocommWire", "RainDBus", "RainWaiting", logging]),
        target(
            "ESPProvisioning", on: .boards,
            [
                "Protocomm", "ProtocommSecurity", "ProtocommWire", "RainCore", "RainCrypto", "RainJSON", "RainWaiting",
                logging,
            ]),
        target("ESPDeviceLog", on: .boards, ["ESPProvisioning", "RainCore", "RainSerialPort"]),
        target(
            "ImprovSerial", on: .boards, ["ESPProvisioning", "RainCore", "RainSerialPort", "RainWaiting", logging]),
        target(
            "RainMakerConsole", on: .boards,
            ["ESPProvisioning", "ProtocommSerial", "RainCore", "RainSerialPort", "RainWaiting", logging]),

        // Cloud.
        target("RainOAuth", on: .cloud, ["RainCore", "RainCrypto", "RainJSON"]),
        target(
            "RainAccount", on: .cloud,
            [
                "RainCore", "RainCrypto", "RainHTTP", "RainJSON", "RainOAuth", "RainPrivateFiles", "RainWaiting",
                logging,
            ]),
        target(
            "BrowserSignIn", on: .cloud,
            [
                "RainAccount", "RainCore", "RainCrypto", "RainOAuth", "RainPrivateFiles", "RainWaiting",
                "CRainDescriptors",
            ]),
        target(
            "IdentityProviders", on: .cloud,
            ["BrowserSignIn", "RainAccount", "RainCore", "RainCrypto", "RainHTTP", "RainJSON", "RainOAuth"]),
        target(
            "RainMaker", on: .cloud,
            [
                "BrowserSignIn", "RainAccount", "RainByteStream", "RainCore", "RainCrypto", "RainHTTP", "RainJSON",
                "RainMQTT", "RainOAuth", "RainWaiting", logging,
            ]),
        target(
            "RainSecretService", on: .cloud, ["RainAccount", "RainCore", "RainPrivateFiles", "RainWaiting", logging]),

        // Where boards and cloud meet, and the front door.
        target(
            "RainOnboarding", on: .top,
            [
                "ESPProvisioning", "RainAccount", "RainCore", "RainJSON", "RainMaker", "RainPrivateFiles",
                "RainWaiting", logging,
            ]),
        target(
            "RainKit", on: .top,
            [
                "BrowserSignIn", "ESPDeviceLog", "ESPProvisioning", "IdentityProviders", "ImprovSerial", "Protocomm",
                "ProtocommBLE",
                "ProtocommSecurity", "ProtocommSerial", "ProtocommSoftAP", "ProtocommWire", "RainAccount",
                "RainByteStream", "RainCore", "RainCrypto", "RainCryptoOpenSSL", "RainDBus", "RainHTTP", "RainHTTPCurl",
                "RainJSON", "RainMaker",
                "RainMakerConsole", "RainNetworkManager", "RainOAuth", "RainOnboarding", "RainPrivateFiles",
                "RainQRCode",
                "RainSecretService", "RainSerialPort", "RainServiceDiscovery", "RainWaiting", logging,
            ]),
        target(
            "RainKitTesting", on: .testing,
            [
                "BrowserSignIn", "DeviceCore", "IdentityProviders", "Protocomm", "ProtocommSecurity", "ProtocommWire",
                "RainAccount", "RainCore", "RainHTTP", "RainMaker", "RainOnboarding",
            ]),

        // Simulators. DeviceCore is Embedded-safe.
        target(
            "DeviceCore", path: "firmware-sim/DeviceCore", ["ProtocommSecurity", "ProtocommWire", "RainCrypto"]),
        // Uses the Embedded-safe targets with concrete types, so that scripts/build-embedded compiles their generics.
        target(
            "EmbeddedProbe", path: "firmware-sim/riscv32/Probe",
            ["DeviceCore", "ProtocommSecurity", "ProtocommWire", "RainCrypto"]),
        target(
            "CloudSimulator", on: .simulators,
            [
                "RainCore", "RainCrypto", "RainCryptoOpenSSL", "RainJSON", "RainWaiting", "CRainDescriptors",
                "CRainMosquitto", "CRainOpenSSL",
            ]),

        // Programs.
        // RainKit hands its rooms on, and what changes often is named all the same: SwiftPM (6.3) compiles a target anew for what it
        // names alone, and links yesterday's calls otherwise.
        tool(
            "rainctl", path: "Sources/rainctl",
            [
                "IdentityProviders", "ProtocommBLE", "RainAccount", "RainCore", "RainDBus", "RainHTTP", "RainJSON",
                "RainKit", "RainMaker", "RainOAuth", "RainPrivateFiles", "RainWaiting", "CRainDescriptors",
                argumentParser, logging, .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        tool("cloud-sim", path: "Sources/Simulators/cloud-sim", ["CloudSimulator", "RainJSON", argumentParser]),
        tool(
            "firmware-sim", path: "firmware-sim/Host",
            [
                "DeviceCore", "ProtocommSecurity", "ProtocommWire", "RainCrypto", "RainCryptoOpenSSL", "RainDBus",
                "RainJSON", "RainSerialPort", "RainWaiting", "CRainDescriptors", "CRainMosquitto", "CRainOpenSSL",
                argumentParser,
            ]),

        // Tests mirror Sources, floor by floor.
        target(
            "TestSupport", path: "Tests/TestSupport",
            ["RainAccount", "RainCrypto", "RainHTTP", "RainHTTPCurl", "RainJSON", logging]),
        tests("TestSupport", ["TestSupport"]),

        tests("RainByteStream", on: .system, ["RainByteStream", "TestSupport"]),
        tests("RainCore", on: .system, ["RainCore", "TestSupport"]),
        tests("RainQRCode", on: .system, ["RainQRCode", "TestSupport"]),
        tests("RainPrivateFiles", on: .system, ["RainPrivateFiles", "TestSupport"]),
        tests("RainWaiting", on: .system, ["RainWaiting", "RainKitTesting"]),
        tests("RainCryptoOpenSSL", on: .system, ["RainCrypto", "RainCryptoOpenSSL", "TestSupport"]),
        tests("RainHTTPCurl", on: .system, ["CRainCurl", "RainHTTP", "RainHTTPCurl", "TestSupport"]),
        tests("RainJSON", on: .system, ["RainJSON", "TestSupport"]),
        tests(
            "RainMQTT", on: .system,
            ["RainByteStream", "RainCrypto", "RainCryptoOpenSSL", "RainHTTPCurl", "RainMQTT", "TestSupport"]),
        tests("RainSerialPort", on: .system, ["RainKitTesting", "RainSerialPort", "TestSupport"]),
        tests("RainDBus", on: .system, ["RainDBus", "TestSupport"]),
        tests("RainNetworkManager", on: .system, ["RainCore", "RainDBus", "RainNetworkManager", "TestSupport"]),

        tests(
            "ProtocommWire", on: .boards, ["RainCrypto", "ProtocommWire", "TestSupport"],
            resources: [.copy("Fixtures")]),
        tests(
            "ProtocommSecurity", on: .boards,
            ["ProtocommSecurity", "ProtocommWire", "RainCrypto", "RainCryptoOpenSSL", "RainJSON", "TestSupport"],
            resources: [.copy("Fixtures")]),
        tests(
            "Protocomm", on: .boards,
            [
                "Protocomm", "ProtocommSecurity", "ProtocommWire", "RainCryptoOpenSSL", "RainKitTesting",
                "TestSupport",
            ]),
        tests(
            "ProtocommBLE", on: .boards,
            ["Protocomm", "ProtocommBLE", "ProtocommWire", "RainDBus", "RainKitTesting", "TestSupport", logging]),
        tests(
            "ProtocommSerial", on: .boards,
            [
                "Protocomm", "ProtocommSecurity", "ProtocommSerial", "ProtocommWire", "RainCryptoOpenSSL",
                "RainKitTesting", "RainSerialPort", "TestSupport",
            ]),
        tests(
            "ProtocommSoftAP", on: .boards,
            [
                "Protocomm", "ProtocommSoftAP", "ProtocommWire", "RainHTTP", "RainHTTPCurl", "RainKitTesting",
                "TestSupport",
            ]),
        tests(
            "ESPProvisioning", on: .boards,
            [
                "DeviceCore", "ESPProvisioning", "Protocomm", "ProtocommSecurity", "ProtocommWire", "RainCore",
                "RainCrypto", "RainCryptoOpenSSL", "RainKitTesting", "TestSupport", logging,
            ]),
        tests(
            "ESPDeviceLog", on: .boards,
            ["ESPDeviceLog", "ESPProvisioning", "RainCore", "RainKitTesting", "RainSerialPort", "TestSupport"]),
        tests("ImprovSerial", on: .boards, ["ImprovSerial", "RainJSON", "TestSupport"]),
        tests(
            "RainMakerConsole", on: .boards,
            [
                "ESPProvisioning", "RainCore", "RainKitTesting", "RainMakerConsole", "RainSerialPort", "TestSupport",
                logging,
            ]),

        tests(
            "RainOAuth", on: .cloud,
            ["RainCore", "RainCrypto", "RainCryptoOpenSSL", "RainJSON", "RainOAuth", "TestSupport"]),
        tests(
            "RainSecretService", on: .cloud,
            ["RainAccount", "RainCore", "RainKitTesting", "RainSecretService", "TestSupport"]),
        tests(
            "Cloud", on: .cloud,
            [
                "BrowserSignIn", "IdentityProviders", "RainAccount", "RainCore", "RainCrypto", "RainCryptoOpenSSL",
                "RainHTTP", "RainHTTPCurl", "RainJSON", "RainKitTesting", "RainMaker", "RainOAuth", "TestSupport",
                logging,
            ]),
        tests(
            "RainMaker", on: .cloud,
            [
                "RainAccount", "RainCore", "RainCryptoOpenSSL", "RainHTTP", "RainHTTPCurl", "RainJSON",
                "RainKitTesting", "RainMaker",
                "TestSupport",
            ]),

        tests(
            "RainOnboarding",
            [
                "DeviceCore", "ESPProvisioning", "Protocomm", "RainAccount", "RainCore", "RainCryptoOpenSSL",
                "RainHTTP", "RainJSON", "RainKitTesting", "RainMaker", "RainOnboarding", "RainPrivateFiles",
                "TestSupport", logging,
            ]),

        tests(
            "DeviceCore", on: .simulators,
            [
                "DeviceCore", "ProtocommSecurity", "ProtocommWire", "RainCrypto", "RainCryptoOpenSSL", "RainJSON",
                "TestSupport",
            ]),
        tests(
            "FirmwareSim", on: .simulators,
            [
                "DeviceCore", "ProtocommWire", "RainDBus", "RainJSON", "TestSupport", "firmware-sim",
                argumentParser,
            ]),
        tests(
            "CloudSimulator", on: .simulators,
            [
                "CloudSimulator", "RainCrypto", "RainCryptoOpenSSL", "RainHTTP", "RainHTTPCurl", "RainJSON",
                "TestSupport",
            ]),

        tests(
            "RainKit",
            [
                "IdentityProviders", "ProtocommBLE", "RainAccount", "RainCore", "RainDBus", "RainJSON", "RainKit",
                "RainKitTesting", "RainNetworkManager", "RainSerialPort", "RainServiceDiscovery", "TestSupport",
                logging,
            ]),
        tests(
            "rainctl",
            [
                "IdentityProviders", "RainAccount", "RainCore", "RainDBus", "RainJSON", "RainKit", "RainKitTesting",
                "TestSupport", "rainctl", argumentParser,
            ],
            resources: [.copy("Recorded")]),
        // A gateway in one process, which the fault run and the benchmark count from outside.
        // (ProtocommBLE is named for the reason that stands at rainctl.)
        tool("fleet", path: "Tests/Fleet", ["RainJSON", "ProtocommBLE", "RainKit", logging]),
        tests("Structure", ["TestSupport"]),
    ] + endToEnd + fuzz
)
