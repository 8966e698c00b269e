# What a developer does here, one word each. `make test` is what CI runs.

.PHONY: test fmt lint unit doc bench

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

# Speeds of one core, with nothing else running: see docs/performance.md.
bench:
	cargo bench --package copyback-cli --locked
