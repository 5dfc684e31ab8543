# Every target installs what it needs in the virtual environment .venv, then does its work.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
CLI    := $(BIN)/itinera

# Seed of the random search. A failure names it; `make search SEED=…` repeats it.
SEED   ?= $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
SEED   := $(SEED)

.PHONY: test coverage demo bench tables slow search lint docs clean

# Stamp files record which extras are installed, so that a second run starts at once.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-core: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

$(VENV)/.installed-%: $(VENV)/.installed-core
	$(PIP) -e ".[$*]"
	@touch $@

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto -m "not slow" --durations=20

# About 60 % more processor time than `make test` on Python 3.11, where coverage traces every line; from Python 3.14 on it
# uses sys.monitoring, which costs little. `.ci/run` and the workflow in .github run it and print the table.
coverage: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto -m "not slow" --durations=20 --cov --cov-report=term

slow: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto -m "slow"
	$(MAKE) search SEED=$(SEED)

search: $(VENV)/.installed-test
	ITINERA_HYPOTHESIS=random $(BIN)/python -m pytest -n auto -m "hypothesis" --hypothesis-seed=$(SEED)

demo: $(VENV)/.installed-neural
	$(BIN)/python recipes/demo.py

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/building.py
	$(BIN)/python benchmarks/tours.py
	$(BIN)/python benchmarks/houses.py
	$(BIN)/python benchmarks/rendering.py
	$(BIN)/python benchmarks/walking.py
	$(BIN)/python benchmarks/learning.py
	$(BIN)/python benchmarks/segmentation.py
	$(BIN)/python benchmarks/ground_walking.py
	$(BIN)/python benchmarks/ground_training.py
	$(BIN)/python benchmarks/cluster.py
	$(BIN)/python benchmarks/ground_policies.py
	$(BIN)/python benchmarks/mapping.py
	$(BIN)/python benchmarks/vectorized_ground.py
	$(BIN)/python benchmarks/pointnav.py
	$(BIN)/python benchmarks/pointnav_training.py
	$(BIN)/python benchmarks/waypoints.py
	$(BIN)/python benchmarks/whole_loop.py
	$(BIN)/python benchmarks/planning_fields.py
	$(BIN)/python benchmarks/planning_rrt.py
	$(BIN)/python benchmarks/mixed_models.py
	$(BIN)/python benchmarks/reporting.py
	$(BIN)/python benchmarks/replaying.py
	$(BIN)/python benchmarks/server_load.py
	$(BIN)/python benchmarks/judging.py

# Recipes that need real data say so and pass where it is missing. The last nine train agents, with three seeds at the
# setting that the docs state. In minutes of one core, from optimizer steps and measured steps per minute (150 to 350 on
# graphs): 180, 35 (the variants, one seed), 120, 720, 1080 and 180 (two seeds) on the ground,
# 125, 140 and 120; two processes share them.
tables: $(VENV)/.installed-test
	$(BIN)/python recipes/interval_coverage.py
	$(BIN)/python recipes/subsets.py
	$(BIN)/python recipes/run_coverage.py
	$(BIN)/python recipes/stay_on_the_path_table1.py
	$(BIN)/python recipes/random_walks.py
	$(BIN)/python recipes/iterative_table1.py
	$(BIN)/python recipes/admissible_spl.py
	$(BIN)/python recipes/continuous_to_graph.py
	$(CLI) build hearth --out .tables/hearth
	$(BIN)/python recipes/hearth_shape.py .tables/hearth
	$(BIN)/python recipes/hearth_language.py
	$(BIN)/python recipes/hearth_agents.py .tables/hearth
	$(CLI) export hearth .tables/hearth --to mjcf --house 0 --house 1 --house 2 --house 3 --out .tables/hearth-mjcf --overwrite
	$(BIN)/python recipes/drive_mujoco.py .tables/hearth .tables/hearth-mjcf --tasks 50
	$(BIN)/python recipes/coverage_seen.py .tables/coverage.png
	$(BIN)/python recipes/sct_drivers.py .tables/hearth
	$(BIN)/python benchmarks/unit_costs.py --season .tables/hearth
	$(BIN)/python recipes/cluster_simulation.py --season .tables/hearth
	$(BIN)/python recipes/skill_recovery.py
	$(BIN)/python recipes/skill_designs.py .tables/hearth
	$(BIN)/python recipes/hearth_skills.py .tables/hearth 10
	$(BIN)/python recipes/stay_on_the_path.py --minutes 10 --seeds 3
	$(BIN)/python recipes/stay_on_the_path.py --minutes 10 --seeds 1 --variants geometry longer
	$(BIN)/python recipes/tour_memory.py --minutes 15 --seeds 3
	$(BIN)/python recipes/iterative_latent.py --hours 1 --seeds 3 --season .tables/hearth
	$(BIN)/python recipes/iterative_maps.py --hours 1 --seeds 3 --season .tables/hearth
	$(BIN)/python recipes/reading.py .tables/hearth --minutes 30 --seeds 2
	$(BIN)/python recipes/skills.py --minutes 10 --seeds 3 --every 10
	$(BIN)/python recipes/hearth_transfer.py .tables/hearth --minutes 10 --best 30 --seeds 3
	$(BIN)/python recipes/appearance_transfer.py .tables/hearth --minutes 5 --seeds 3

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir site

clean:
	rm -rf $(VENV) build dist site demo first_day .bench .tables .learning .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
