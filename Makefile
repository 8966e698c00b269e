# What a developer does here, one word each. `make test` is what CI runs.

.PHONY: test fmt lint unit doc swarm bench

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
