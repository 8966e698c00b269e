# What a developer does here, one word each. `make test` is what CI runs.

.PHONY: check test rust fmt lint build unit doc python swarm mutants bench dist fuzz

# Before each commit: format, clippy, and the unit tests of what changed since BASE (HEAD), within a minute.
check:
	scripts/check $(BASE)

# All tests, with the time that each step took.
test:
	scripts/steps fmt lint build unit doc python

# All but the Python package's tests; needs no Python.
rust:
	scripts/steps fmt lint build unit doc

# Each step below looks at the whole workspace: so all of them build the same dependencies with the same features, once.
# The bindings need no interpreter to be compiled.
CARGO_FLAGS = --workspace --locked

fmt:
	cargo fmt --all --check

lint:
	cargo clippy $(CARGO_FLAGS) --all-targets -- -D warnings

build:
	cargo test $(CARGO_FLAGS) --lib --bins --tests --examples --no-run

unit:
	cargo test $(CARGO_FLAGS) --lib --bins --tests --examples

doc:
	cargo test $(CARGO_FLAGS) --doc
	RUSTDOCFLAGS="-D warnings" cargo doc $(CARGO_FLAGS) --no-deps --quiet

# The Python package, on the oldest and the newest CPython that is there, in virtual environments of its own.
python:
	python/check

# Random drives, schemes, hosts and faults for SECONDS (600) from case SEED on, or CASES of them. PROFILE=release is a little
# faster and has neither overflow checks nor debug assertions.
SEED ?= 1000000
PROFILE ?= dev
swarm:
	SWARM_SEED=$(SEED) SWARM_SECONDS=$(or $(SECONDS),$(if $(CASES),,600)) SWARM_CASES=$(CASES) RUST_BACKTRACE=0 \
		cargo test --package copyback --test swarm --profile $(PROFILE) --locked --quiet -- --ignored --nocapture

# Does a test notice a small change? Plants mutants in PATHS for SECONDS (600), and asks the crate's unit and integration
# tests: make mutants PATHS=crates/copyback/src/ftl/victim
mutants:
	scripts/mutants "$(PATHS)" $(or $(SECONDS),600)

# What a release has, in dist/: a stripped program, and one wheel for each CPython from 3.11 on.
dist:
	scripts/dist

# Speeds of one core, with nothing else running: see docs/performance.md.
bench:
	cargo bench --package copyback-cli --locked

# Fuzzing with coverage: one TARGET, or each in turn, for SECONDS (60). See CONTRIBUTING.md. The pinned toolchain does,
# where it is allowed what only nightly is (RUSTC_BOOTSTRAP). Without a sanitizer, as all code but the decompressors' is
# Rust with its own checks, and runs ten times as fast; SANITIZER=address is the other way.
TARGET ?=
SANITIZER ?= none
fuzz:
	@command -v cargo-fuzz >/dev/null || { echo 'cargo-fuzz is missing; install it: cargo install cargo-fuzz --locked'; exit 1; }
	cd fuzz && for target in $(or $(TARGET),$$(cargo fuzz list)); do \
		mkdir -p generated/$$target; \
		RUSTC_BOOTSTRAP=1 cargo fuzz run --sanitizer $(SANITIZER) $$target generated/$$target corpus/$$target -- \
			-max_total_time=$(or $(SECONDS),60) -max_len=4096 -rss_limit_mb=2048 -timeout=5 || exit 1; \
	done
