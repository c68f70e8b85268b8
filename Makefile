# make demo, make test, make lint, make house. Everything is installed into .venv; nothing else is touched.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
EXTRAS ?= cpu,dev
VENV := .venv
comma := ,
READY := $(VENV)/ready-$(subst $(comma),-,$(EXTRAS))

.PHONY: demo test slow lint format house deploy-check clean

demo: $(READY)
	$(VENV)/bin/lethe demo --output demo-output > demo-output.json
	@mv demo-output.json demo-output/summary.json

# A process for each core, each with one thread: models that share cores wait for each other.
PYTEST := OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n auto --dist loadfile --durations=20

test: $(READY)
	$(PYTEST) -m "not slow"
	@echo "Left out: soak tests of time, memory and kills. Run them with make slow."

slow: $(READY)
	$(PYTEST) -m slow

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

format: $(READY)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

house: $(READY)
	$(VENV)/bin/python -m benchmarks.house

# The image check needs root, debootstrap and some minutes: DEPLOY=files leaves it out, and
# BUILD_ARGS="--build-arg EXTRAS=cpu,pgvector" is handed on.
DEPLOY ?= files image
deploy-check: $(READY)
	@for what in $(DEPLOY); do $(VENV)/bin/python -m deploy.check $$what $(BUILD_ARGS) || exit 1; done

$(READY): pyproject.toml constraints.txt
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --disable-pip-version-check --progress-bar off --quiet \
		--constraint constraints.txt --editable '.[$(EXTRAS)]'
	touch $@

clean:
	rm -rf $(VENV) demo-output build *.egg-info
