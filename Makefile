# RainKit: `make demo` shows the main task, `make test` runs all tests. The other targets are details.
SHELL := /bin/bash
PREFIX ?= /usr/local
SWIFT_FLAGS := --explicit-target-dependency-import-check error
FUZZ_ROUNDS_SOAK := 100000
FUZZ_SECONDS := 3600
# The suites with promised time limits.
TIMED = $(shell grep -rlE 'Timings\.(isAlone|limit)' Tests/EndToEnd | sed -E 's|.*/||; s|\.swift||' | paste -sd '|')

.PHONY: demo examples c-library c-examples check test timings soak fuzz test-bluez test-wifi bench docs lint format install uninstall deb apt test-deb build setup clean

demo: build
	@scripts/setup demo
	@scripts/demo

# Runs the programs of examples/ against the simulators, and rainctl with an added transport, as the documentation describes.
examples: build
	@scripts/setup demo
	@scripts/check-examples
	@scripts/check-transport

# For contributors before each commit: checks formatting and pages, and runs the unit tests, which need only the compiler.
check: lint
	@scripts/setup build
	@TMPDIR=$$(mkdir -p .build/tmp && cd .build/tmp && pwd) swift test $(SWIFT_FLAGS) --disable-xctest

test: setup
	@scripts/build-embedded
	@scripts/test
	@scripts/check-rows
	@scripts/check-identity
	@scripts/check-reasons
	@scripts/check-c-abi --self-test
	@scripts/check-c-abi

# Checks promised time limits, one at a time. No other program should run meanwhile.
timings: setup
	@RAINKIT_ALONE=1 SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=1 scripts/test --no-parallel --filter '^EndToEndTests\.($(TIMED))/'

soak: setup
	@RAINKIT_SOAK=1 RAINKIT_FUZZ_ROUNDS=$(FUZZ_ROUNDS_SOAK) scripts/test
	@scripts/test-bluez

# Fuzzes the parsers of external input with libFuzzer and the address sanitizer: an hour for all, or FUZZ_SECONDS.
fuzz: setup
	@scripts/fuzz $(FUZZ_SECONDS)

# Runs board and client through the real bluetoothd, in a small emulated machine: docs/internals/bluetooth-testing.md.
test-bluez: setup
	@scripts/test-bluez

# Runs the real NetworkManager on emulated radios, in a small emulated machine (docs/softap.md).
test-wifi: setup
	@scripts/test-wifi

# BEFORE=FILE compares an earlier rainctl, built by scripts/release-build, with this one, and measures nothing else.
bench: setup
	@scripts/bench $(if $(BEFORE),--before $(abspath $(BEFORE)))

docs:
	@scripts/setup build
	@scripts/build-docs

lint:
	@swift format lint --strict --parallel --recursive Package.swift Sources Tests firmware-sim benchmarks examples
	@scripts/check-language --self-test
	@scripts/check-language
	@scripts/check-messages
	@scripts/check-documentation
	@scripts/check-links
	@scripts/pictures --check
	@scripts/wrap-prose --check
	@scripts/check-identity
	@scripts/check-reasons
	@scripts/spdx --check

format:
	@swift format --in-place --parallel --recursive Package.swift Sources Tests firmware-sim benchmarks examples

# Builds librainkit, the library for C, into .build/c-library, and checks it.
c-library:
	@scripts/setup build
	@scripts/build-c-library $(SWIFT_FLAGS)
	@scripts/check-c-library

# Builds the examples in C, C++ and Go with an installed copy, and runs them against the simulators.
c-examples: build c-library
	@scripts/setup demo languages
	@rm -rf .build/c-installed
	@scripts/install-files "$(CURDIR)/.build/c-installed" /usr/local library development
	@scripts/check-c-examples .build/c-installed/usr/local

# Installs the program, completions for bash, zsh and fish, manual pages, and rules for udev; and the library for C with its headers.
install:
	@scripts/setup build people
	scripts/release-build $(SWIFT_FLAGS) --product rainctl
	scripts/build-c-library $(SWIFT_FLAGS)
	scripts/install-files "$(DESTDIR)" "$(PREFIX)"
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig

uninstall:
	scripts/install-files "$(DESTDIR)" "$(PREFIX)" --uninstall

# Builds Debian packages in .build/deb, and with apt a repository of them in .build/apt; test-deb tests both in a clean Debian 12 and 13.
deb:
	@scripts/setup build
	@scripts/build-deb

apt: deb
	@scripts/build-apt

test-deb:
	@scripts/setup build
	@scripts/test-deb 12 13

build:
	@scripts/setup build
	@scripts/swift-build $(SWIFT_FLAGS) --product rainctl
	@scripts/swift-build $(SWIFT_FLAGS) --product cloud-sim
	@scripts/swift-build $(SWIFT_FLAGS) --product firmware-sim
	@rm -f Package.resolved

setup:
	@scripts/setup

clean:
	rm -rf .build
