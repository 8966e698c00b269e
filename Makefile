# What a developer does here, one word each. `make test` is what CI runs.

.PHONY: test fmt lint unit doc swarm bench fuzz

test: fmt lint unit doc

fmt:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- -D warnings

unit:
	cargo test --workspace --lib --bins --tests --examples --locked

doc:
	cargo test --workspace --doc --locked
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

# Random drives, schemes, hosts and faults for SECONDS from case SEED on, or CASES of them. PROFILE=release is a little
# faster and has neither overflow checks nor debug assertions.
SEED ?= 1000000
SECONDS ?= $(if $(CASES),,600)
PROFILE ?= dev
swarm:
	SWARM_SEED=$(SEED) SWARM_SECONDS=$(SECONDS) SWARM_CASES=$(CASES) RUST_BACKTRACE=0 \
		cargo test --package copyback --test swarm --profile $(PROFILE) --locked --quiet -- --ignored --nocapture

# Speeds of one core, with nothing else running: see docs/performance.md.
bench:
	cargo bench --package copyback-cli --locked

# Fuzzing with coverage: one target, or each in turn, for so many seconds. See CONTRIBUTING.md. The pinned toolchain does,
# where it is allowed what only nightly is (RUSTC_BOOTSTRAP). Without a sanitizer, as all code but the decompressors' is
# Rust with its own checks, and runs ten times as fast; SANITIZER=address is the other way.
TARGET ?=
SECONDS ?= 60
SANITIZER ?= none
fuzz:
	@command -v cargo-fuzz >/dev/null || { echo 'cargo-fuzz is missing; install it: cargo install cargo-fuzz --locked'; exit 1; }
	cd fuzz && for target in $(or $(TARGET),$$(cargo fuzz list)); do \
		mkdir -p generated/$$target; \
		RUSTC_BOOTSTRAP=1 cargo fuzz run --sanitizer $(SANITIZER) $$target generated/$$target corpus/$$target -- \
			-max_total_time=$(SECONDS) -max_len=4096 -rss_limit_mb=2048 -timeout=5 || exit 1; \
	done
