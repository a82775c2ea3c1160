# Every target makes the virtual environment first if it is not there. Another Python: make eval PYTHON=python3.12
PYTHON ?= python3
BIN = .venv/bin

.PHONY: eval check test test-slow lint bench lock clean

eval: .venv/installed ## score all strategies, print the table, write results/latest.*
	$(BIN)/python eval/run_retrieval.py

check: .venv/installed ## fail where retrieval or the answers became worse than the committed results; by those of another commit: BASE=origin/main
	judge() { $(BIN)/python "$$1" --check $${BASE:+--base "$$BASE"} $${ACCEPT:+--accept "$$ACCEPT"}; }; \
		judge eval/run_retrieval.py && judge eval/run_answers.py

test: .venv/installed ## run the tests, but for those marked as slow
	$(BIN)/python -m pytest -m "not slow"

test-slow: .venv/installed ## run the tests that are marked as slow
	$(BIN)/python -m pytest -m slow

lint: .venv/installed ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed ## the comparisons of results/bench.json (about fifteen minutes, and 20 GB of memory for the pipeline that it compares with)
	$(BIN)/python scripts/bench.py

# The stamp is made last, so that an install that was interrupted is done again.
.venv/installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

lock: ## compile requirements.txt anew from pyproject.toml (needs uv)
	uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --no-annotate --quiet \
		--custom-compile-command "make lock  (uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11)" --output-file requirements.txt
	printf '%s\n' '-e .[all]' >> requirements.txt

clean: ## remove the environment, indexes, the vector cache and the latest results
	rm -rf .venv .docmind results/latest.* results/timings.json
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
