# RainKit: `make demo` shows the main job, `make test` proves it. Everything else is detail.
SHELL := /bin/bash
PREFIX ?= /usr/local
SWIFT_FLAGS := --explicit-target-dependency-import-check error
FUZZ_ROUNDS_SOAK := 100000
FUZZ_SECONDS := 3600
# The suites that hold promises of time.
TIMED = $(shell grep -rlE 'Timings\.(isAlone|limit)' Tests/EndToEnd | sed -E 's|.*/||; s|\.swift||' | paste -sd '|')

.PHONY: demo examples check test timings soak fuzz test-bluez test-wifi bench docs lint format install uninstall deb test-deb build setup clean

demo: build
	@scripts/setup demo
	@scripts/demo

# The programs of examples/ against the simulators, and a transport added to rainctl as the documentation says.
examples: build
	@scripts/setup demo
	@scripts/check-examples
	@scripts/check-transport

# What a contributor runs before each commit: the formatting, the pages, and the unit tests, which need only what compiling needs.
check: lint
	@scripts/setup build
	@TMPDIR=$$(mkdir -p .build/tmp && cd .build/tmp && pwd) swift test $(SWIFT_FLAGS) --disable-xctest

test: setup
	@scripts/build-embedded
	@scripts/test
	@scripts/check-rows
	@scripts/check-identity
	@scripts/check-reasons

# Promises of time, one at a time: nothing else may run meanwhile.
timings: setup
	@RAINKIT_ALONE=1 SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=1 scripts/test --no-parallel --filter '^EndToEndTests\.($(TIMED))/'

soak: setup
	@RAINKIT_SOAK=1 RAINKIT_FUZZ_ROUNDS=$(FUZZ_ROUNDS_SOAK) scripts/test
	@scripts/test-bluez

# Parsers of external input under libFuzzer with the address sanitizer: an hour for all, or FUZZ_SECONDS.
fuzz: setup
	@scripts/fuzz $(FUZZ_SECONDS)

# Board and client through the real bluetoothd, in a small emulated machine: docs/internals/bluetooth-testing.md.
test-bluez: setup
	@scripts/test-bluez

# The real NetworkManager on emulated radios, in a small emulated machine (docs/softap.md).
test-wifi: setup
	@scripts/test-wifi

bench: setup
	@scripts/bench

docs:
	@scripts/setup build
	@scripts/build-docs

lint:
	@swift format lint --strict --parallel --recursive Package.swift Sources Tests firmware-sim benchmarks examples
	@scripts/check-language --self-test
	@scripts/check-language
	@scripts/check-messages
	@scripts/check-documentation
	@scripts/check-identity
	@scripts/check-reasons
	@scripts/spdx --check

format:
	@swift format --in-place --parallel --recursive Package.swift Sources Tests firmware-sim benchmarks examples

# The program, completions for bash, zsh and fish, manual pages, and rules for udev.
install:
	@scripts/setup build people
	scripts/release-build $(SWIFT_FLAGS) --product rainctl
	scripts/install-files "$(DESTDIR)" "$(PREFIX)"

uninstall:
	scripts/install-files "$(DESTDIR)" "$(PREFIX)" --uninstall

# Packages for Debian, in .build/deb; test-deb tries them in a clean Debian 12.
deb:
	@scripts/setup build
	@scripts/build-deb

test-deb:
	@scripts/setup build
	@scripts/test-deb

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
