# `make` alone lists what there is. ARGS passes further words on: make test ARGS="-k ring", make lab ARGS=--no-browser

PYTHON := .venv/bin/python
READY := .venv/.ready

# a .venv that was moved, or whose Python is gone, is set up again
$(shell { [ -x $(PYTHON) ] && [ "$$(cat $(READY))" = "$(CURDIR)" ]; } 2>/dev/null || rm -f $(READY))

# each process would compile the package anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup lab test exercises notebooks test-all slides site bench docs lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

setup: $(READY) ## make .venv and install into it exactly what requirements.lock names

$(READY): requirements.lock pyproject.toml
	@if ! $(PYTHON) -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  for python in python3 python3.13 python3.12 python3.11 none; do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then break; fi; \
	  done; \
	  if [ $$python = none ]; then \
	    echo "fabriclab needs Python 3.11 or newer and found none (python3: $$(python3 --version 2>/dev/null || echo missing))." >&2; \
	    echo "Install one, then run make again." >&2; exit 1; \
	  fi; \
	  if ! $$python -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "$$($$python --version) lacks its venv module. Install it (Debian, Ubuntu: sudo apt-get install python3-venv), then run make again." >&2; exit 1; \
	  fi; \
	  echo "Making .venv with $$($$python --version)."; \
	  $$python -m venv --clear .venv; \
	fi
	@echo "Installing the packages of requirements.lock into .venv (the first time takes a minute or two)."
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@echo "Installing fabriclab itself, from this folder."
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@# nbgrader is here for what strips the exercises; its own panels are a course's choice, and cost JupyterLab seconds at each start
	@rm -f .venv/etc/jupyter/jupyter_server_config.d/nbgrader.json
	@$(PYTHON) -m jupyter labextension disable --level=sys_prefix @jupyter/nbgrader 2>/dev/null
	@echo "$(CURDIR)" > $(READY)
	@echo "Ready: make lab opens the notebooks, make test runs the tests."

lab: setup ## open JupyterLab on the first notebook
	$(PYTHON) -m jupyterlab --config=tools/lab_config.py --ServerApp.root_dir="$(CURDIR)" --LabApp.default_url=/lab/tree/notebooks/00-start-here.ipynb \
	  $$([ "$$(id -u)" != 0 ] || echo --allow-root) $(ARGS)

test: setup ## check the code's form, then run all tests and all notebooks
	$(PYTHON) -m ruff format --check --quiet . && $(PYTHON) -m ruff check --quiet .
	$(PYTHON) -m pytest -n 3 --dist loadfile --no-loadscope-reorder --nbval --nbval-current-env --nbval-cell-timeout=300 --nbval-sanitize-with tests/nbval.cfg $(ARGS)

test-all: setup ## the longer tests: the whole site in a browser, other Pythons, odd folders (many minutes)
	$(PYTHON) -m pytest -m slow tests/test_site.py tests/test_robust.py $(ARGS)

exercises: setup ## make exercises/ anew from solutions/
	$(PYTHON) -m fabriclab.classroom.strip

notebooks: setup ## run the notebooks and solutions, and save them with their outputs
	$(PYTHON) -m tools.rerun $(ARGS)

slides: setup ## make slides/, one deck for each notebook, to be opened in a browser
	$(PYTHON) -m tools.slides $(ARGS)

site: setup ## make build/site, the kit as pages to be read anywhere, without a kernel or a network
	$(PYTHON) -m tools.site $(ARGS)

bench: setup ## measure speed against what one would otherwise use
	@for script in benchmarks/*.py; do echo "== $$script"; $(PYTHON) "$$script" || exit 1; done

docs: setup ## make build/docs, the reference of models and logs, to be opened in a browser
	$(PYTHON) -m tools.docs $(ARGS)

lock: ## compile requirements.lock anew from pyproject.toml (needs uv; ARGS=--upgrade for newer versions)
	@PATH="$$PATH:$(CURDIR)/.venv/bin"; \
	command -v uv >/dev/null || { echo "make lock needs uv: pip install uv, then run it again." >&2; exit 1; }; \
	uv pip compile --quiet --no-strip-extras --universal --generate-hashes --python-version 3.11 --all-extras --custom-compile-command "make lock" \
	  pyproject.toml -o requirements.lock $(ARGS)

clean: ## remove .venv and everything else that make made and git does not keep
	rm -rf .venv .pytest_cache .hypothesis build slides fabriclab.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} + -o -name .ipynb_checkpoints -prune -exec rm -rf {} +
