# Commands for developers: `make TARGET`. CI runs `make test`.

.PHONY: check test rust fmt prepare build unit doc python swarm mutants bench dist fuzz

# Before each commit: format, clippy, and the quick tests of the files that changed since BASE (default: HEAD; if nothing
# changed, the last commit). Takes less than a minute once dependencies are compiled.
check:
	scripts/check "$(or $(BASE),HEAD)"

# All tests, with the time that each step took.
test:
	scripts/steps fmt prepare unit doc python

# All but the Python package's tests; needs no Python.
rust:
	scripts/steps fmt build unit doc

# Every step uses the whole workspace. Cargo then selects the same features each time, and builds each dependency once.
CARGO_FLAGS = --workspace --locked
# The Python bindings compile without an interpreter, as they do for the wheel.
export PYO3_BUILD_EXTENSION_MODULE = 1

fmt:
	cargo fmt --all --check

# In these steps clippy compiles, and rustdoc reads the comments: see the script.
prepare build unit doc python: export RUSTC_WORKSPACE_WRAPPER = $(CURDIR)/scripts/lint-and-compile

# Compiles the tests; meanwhile, the environments of the package's tests are downloaded and unpacked. A missing
# interpreter is an error before anything is compiled.
prepare:
	@python/check interpreters
	@python/check environments & $(MAKE) --no-print-directory build && wait $$!

build:
	cargo test $(CARGO_FLAGS) --all-targets --no-run

unit:
	@# One thread more than there are cores, as some tests wait for other programs.
	RUST_TEST_THREADS=$$(($$(nproc) + 1)) cargo test $(CARGO_FLAGS) --tests --examples

# The examples in the comments of libraries.
doc:
	cargo test $(CARGO_FLAGS) --doc

# The Python package, on the oldest and the newest CPython that is there, in virtual environments of its own.
python:
	python/check

# Random drives, schemes, hosts and faults for SECONDS (600) from case SEED on, or CASES of them. PROFILE=release is a
# little faster, and has neither overflow checks nor debug assertions.
SEED ?= 1000000
PROFILE ?= dev
swarm:
	SWARM_SEED='$(SEED)' SWARM_SECONDS='$(SECONDS)' SWARM_CASES='$(CASES)' RUST_BACKTRACE=0 \
		cargo test --package copyback --test swarm --profile $(PROFILE) --locked --quiet -- --ignored --nocapture

# Finds code that no test checks: make mutants PATHS=crates/copyback/src/ftl/victim
# Makes small changes in PATHS one at a time (mutants), runs the crate's tests on each, and lists the mutants that pass
# all tests. Stops SECONDS (600) after the tests of the unchanged tree have passed.
mutants:
	scripts/mutants "$(PATHS)" "$(or $(SECONDS),600)"

# Builds the files of a release in dist/: a stripped program, and one wheel that every CPython from 3.11 on can load.
dist:
	scripts/dist

# Measures speeds on one core. Run it on an idle machine, and see docs/performance.md.
bench:
	cargo bench --package copyback-cli --locked

# Fuzzing with coverage: one TARGET, or each in turn, for SECONDS (60). See CONTRIBUTING.md. RUSTC_BOOTSTRAP lets the
# pinned toolchain use what otherwise needs nightly. Fuzzing without a sanitizer is ten times as fast, and all code but
# the decompressors' is Rust with its own checks; SANITIZER=address adds a sanitizer.
TARGET ?=
SANITIZER ?= none
fuzz:
	@command -v cargo-fuzz >/dev/null || { echo 'cargo-fuzz is missing; install it: cargo install cargo-fuzz --locked'; exit 1; }
	cd fuzz && targets="$(or $(TARGET),$$(cargo fuzz list))" && for target in $$targets; do \
		mkdir -p generated/$$target; \
		RUSTC_BOOTSTRAP=1 cargo fuzz run --sanitizer $(SANITIZER) $$target generated/$$target corpus/$$target -- \
			-max_total_time=$(or $(SECONDS),60) -max_len=4096 -rss_limit_mb=2048 -timeout=5 || exit 1; \
	done
