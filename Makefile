# What a developer does here, one word each. `make test` is what CI runs.

.PHONY: test rust fmt lint unit doc python swarm bench fuzz

test: rust python

# All but the Python package; needs no Python.
rust: fmt lint unit doc

fmt:
	cargo fmt --all --check

lint:
	cargo clippy --all-targets --locked -- -D warnings

unit:
	cargo test --lib --bins --tests --examples --locked

doc:
	cargo test --doc --locked
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked --quiet

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
