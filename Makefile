# Callboard. `make` or `make help` lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# make build TAGS=opus speaks Opus too; it needs gcc, pkg-config and libopus-dev.
TAGS    ?=
LINTER  ?= go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# Each COMMAND:PACKAGE,… that is missing is installed from Debian or Ubuntu; see .ci/install.
SPEECH_TOOLS := espeak-ng:espeak-ng pocketsphinx_batch:pocketsphinx,pocketsphinx-en-us
TEST_TOOLS   := $(SPEECH_TOOLS) sipp:sip-tester redis-server:redis-server haproxy:haproxy chromium:chromium baresip:baresip-core sox:sox ffmpeg:ffmpeg openssl:openssl \
                python3:python3 gcc:gcc,libc6-dev pkg-config:pkg-config opus.pc:libopus-dev kamailio:kamailio tc:iproute2 tshark:tshark nft:nftables \
                node:nodejs npm:npm php:php-cli ruby:ruby nsd:nsd

# The binary is compiled by the profile in cmd/callboard/default.pgo; tests go without, or everything would be compiled twice.
# They compress as the binary does, which has no C: the Zstandard of C takes longer to compile than anything else.
export GOFLAGS := $(strip $(shell go env GOFLAGS 2>/dev/null) -pgo=off -tags=pebblegozstd)

# By itself the race detector lets every process wait for a second before it ends.
export GORACE := atexit_sleep_ms=0

# Debian keeps kamailio, nsd and tc where only root looks. Where python3 is a script that starts one of several versions, as with pyenv,
# the folder of that version goes first: the script takes ten times as long as the program, and guides and tests call it hundreds of times.
PYTHON_DIR := $(filter-out /usr/bin /bin,$(shell python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' 2>/dev/null))
export PATH := $(if $(PYTHON_DIR),$(PYTHON_DIR):)$(PATH):/usr/sbin:/sbin

# What takes longest begins first, a package for each processor at a time; after it one more, because the others wait more
# than they compute.
LONG_PACKAGES ?= ./cmd/callboard ./httpapi ./actors/campaign/modeltest ./actors/node ./actors/call
TEST_PACKAGES ?= ./sip ./actors/campaign ./actors/webhook ./persistence/... $$(comm -23 <(go list ./... | sort) <(go list $(LONG_PACKAGES) $(OPUS_PACKAGES) | sort))
TEST_FLAGS    ?=
# Tested as make build TAGS=opus builds them.
OPUS_PACKAGES ?= ./media ./media/opus
FUZZ_PACKAGES ?= ./...
FUZZ_TIME     ?= 10s
BENCH          ?= .
BENCH_TIME     ?= 1s
BENCH_PACKAGES ?= $(shell go list ./... 2>/dev/null | grep -v /cmd/)
# Contacts of the large campaign in make bench, and stored calls that it lists (10000000 take some minutes and 10 GB).
BENCH_CONTACTS ?= 1000000
BENCH_CALLS    ?= 1000000
# make bench BENCH_DOC=docs/benchmarks.md also keeps the table; so does bench-cluster.
BENCH_DOC      ?=

# make soak SOAK_DOC=docs/soak.md also keeps the table. SOAK_RATE bounds the short calls begun in a second.
SOAK_CALLS     ?= 200000
SOAK_LONG      ?= 300
SOAK_MINUTES   ?= 20
SOAK_RATE      ?= 250
SOAK_DOC       ?=

# make nightly alone runs these: faults of several nodes and stores at once, the search for leaks, and the
# controls that prove that the tests detect a fault.
NIGHTLY_ONLY     := ^Test(FaultsOfNodesLoseAndDoubleNothing|NodesThatDieHandTheWorkOn|KillsOfServiceAndRedisTogetherAndApart|FailOversToStaleReplicasCallNoContactTwice|FailOversToAStaleReplicaThatIsTrustedRingTwice|FullRedisServersMakePeopleRingTwiceWhereAttemptsAreStoredLate|FullDisksThatLieMakePeopleRingTwice|ClocksSetBackCallNoContactTwiceAndLoseNone|KillsOfARedisThatForgetsAreMadeGood|KillsOfARedisThatForgetsRingTwiceWhereItIsTrusted|FullRedisServersStopDiallingAndLoseNoContact|Kill9NeitherRingsTwiceNorForgetsOnRedis|NoCallLeavesAnythingBehind|ACallThatComesToAnyNodeReachesItsNumber|TheModelFindsPlantedFaults|KillsOfTheServiceWithRetriesOnPebble|ADispatcherStaysInThePathAndFailsOver|WorkspacesAreSpreadOverNodesAndOutliveThem)$$
# Tests that do more of the same where NIGHTLY is set.
NIGHTLY_TESTS    := ^(TestEveryZoneOpensAsACalculationOfItsOwnSays|TestTheEstimateIsWithinTenPercentFromTenPercentOn|TestTheModelAllowsWhateverHappens|Test(Kill|FullDisks|Clocks).*)$$
NIGHTLY_PACKAGES := ./domain/calendar ./domain/simulation ./actors/campaign/modeltest ./cmd/callboard
NIGHTLY_ONLY_PACKAGES := ./actors/call ./actors/campaign/modeltest ./cmd/callboard

.PHONY: help run build test lint fmt bench bench-compare bench-cluster bench-parts profile e2e fuzz attack soak dialogues nightly chaos faults netem amd screenshots pictures openapi postman client deb check tools clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## install what is missing, build, start the service and play the demo campaign
	@.ci/install $(SPEECH_TOOLS) || echo "going on without espeak-ng or pocketsphinx: prompts come from WAV files only, or no words are heard"
	@$(MAKE) --no-print-directory build
	CALLBOARD_EGRESS_ALLOW=$${CALLBOARD_EGRESS_ALLOW:-127.0.0.0/8} bin/callboard serve --demo

build: ## build bin/callboard
	@command -v go >/dev/null || { echo "missing: go 1.26 or newer, from https://go.dev/dl/"; exit 1; }
	CGO_ENABLED=$(if $(filter opus,$(TAGS)),1,0) go build -pgo=auto -trimpath -tags '$(TAGS)' -ldflags '-s -w -X main.version=$(VERSION)' -o bin/callboard ./cmd/callboard

# Nobody steps through these, so no tables for a debugger are written: a tenth of all compiling. -trimpath lets
# a clean checkout reuse what another folder compiled.
test lint e2e: export GOFLAGS += -trimpath -gcflags=all=-dwarf=false -ldflags=-w
# The compiler of make test trades memory for time; the tests themselves run with Go's defaults.
test e2e: export GOGC := 400
test e2e: export GOMEMLIMIT := 2GiB
test e2e: export CGO_ENABLED := 1
TEST_BUILD := -race -vet=off -exec 'env -u GOGC -u GOMEMLIMIT' -count=1
# A test that failed has one more run, unless there was a data race or more than ten failed; .ci/count names it.
GOTESTSUM ?= go run gotest.tools/gotestsum@v1.13.0 --format pkgname-and-test-fails --format-icons text --format-hide-empty-pkg --hide-summary skipped \
             --rerun-fails=1 --rerun-fails-run-root-test --rerun-fails-abort-on-data-race

test: tools ## run every test with the race detector, against SIPp, baresip, Kamailio and Redis, and sound with Opus too
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && status=0; \
	  $(GOTESTSUM) --jsonfile-timing-events "$$dir/long" --packages '$(LONG_PACKAGES)' -- $(TEST_BUILD) -timeout 15m -skip '$(NIGHTLY_ONLY)' $(TEST_FLAGS) || status=1; \
	  $(GOTESTSUM) --jsonfile-timing-events "$$dir/all" --packages "$(TEST_PACKAGES)" -- $(TEST_BUILD) -p $$(($$(nproc) + 1)) -timeout 15m -skip '$(NIGHTLY_ONLY)' $(TEST_FLAGS) || status=1; \
	  $(GOTESTSUM) --jsonfile-timing-events "$$dir/opus" --packages '$(OPUS_PACKAGES)' -- $(TEST_BUILD) -tags opus,pebblegozstd -timeout 5m $(TEST_FLAGS) || status=1; \
	  .ci/count $$status "$$dir/long" "$$dir/all" "$$dir/opus"

lint: ## run the linter, which also checks the formatting
	CGO_ENABLED=0 $(LINTER) run

fmt: ## format every Go file as the linter wants it
	$(LINTER) fmt

bench: tools build ## measure the whole service and print one table
	@go test -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 60m ./cmd/callboard -bench-doc '$(abspath $(BENCH_DOC))' -bench-contacts $(BENCH_CONTACTS) -bench-calls $(BENCH_CALLS) | \
	  sed -uE '/^(PASS|ok |goos|goarch|pkg:|cpu:)/d; s/^Benchmark([^ ]+)-[0-9]+[[:space:]]+1[[:space:]].*/measured: \1/'

bench-compare: tools build ## compare CPU, media, memory and turn latency of this revision with those of REV, five times each in turns (about 18 minutes)
	@test -n '$(REV)' || { echo 'which revision? make bench-compare REV=main~10' >&2; exit 1; }
	@dir=$$(mktemp -d) && trap 'git worktree remove --force "$$dir/tree" 2>/dev/null; rm -rf "$$dir"' EXIT && \
	  git worktree add --quiet --detach "$$dir/tree" '$(REV)' && $(MAKE) --no-print-directory -C "$$dir/tree" build && \
	  go test -run '^$$' -bench '^BenchmarkCompare$$' -benchtime 1x -timeout 60m ./cmd/callboard -bench-other "$$dir/tree/bin/callboard" | \
	  sed -uE '/^(PASS|ok |goos|goarch|pkg:|cpu:)/d; s/^Benchmark([^ ]+)-[0-9]+[[:space:]]+1[[:space:]].*/measured: \1/'

bench-cluster: tools build ## measure three nodes on one Redis (about 4 minutes): what faults, passing on and idling cost
	@go test -run '^$$' -bench '^BenchmarkCluster' -benchtime 1x -timeout 30m ./cmd/callboard -bench-cluster -bench-doc '$(abspath $(BENCH_DOC))' | \
	  sed -uE '/^(PASS|ok |goos|goarch|pkg:|cpu:)/d; s/^Benchmark([^ ]+)-[0-9]+[[:space:]]+1[[:space:]].*/measured: \1/'

profile: tools build ## record what the service does with its time under a mixed load that make bench does not measure, as cmd/callboard/default.pgo, by which it is compiled
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	  go test -run '^$$' -bench '^BenchmarkMixedLoad$$' -benchtime 1x -timeout 60m ./cmd/callboard -bench-profile "$$dir" && \
	  go tool pprof -proto "$$dir"/*.pprof >cmd/callboard/default.pgo

bench-parts: ## measure single parts: sound, dialogs, stores, deliveries
	go test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCH_TIME) $(BENCH_PACKAGES) | { grep -vE '^(PASS|ok |\?|goos|goarch)' || true; }

amd: ## print what people, machines and noise are taken for (about 10 s)
	@go test -run '^$$' -bench '^BenchmarkAnswers$$' -benchtime 1x ./media/amd | sed -E '/^(PASS|ok |goos|goarch|pkg:|cpu:|Benchmark)/d'

e2e: tools ## run only the tests of the whole binary
	@$(GOTESTSUM) --packages ./cmd/... -- $(TEST_BUILD) -timeout 15m $(TEST_FLAGS)

fuzz: ## feed noise to every parser, FUZZ_TIME each
	@go list $(FUZZ_PACKAGES) | while read -r package; do \
	  go test -list '^Fuzz' "$$package" | { grep '^Fuzz' || true; } | while read -r name; do \
	    echo "$$package $$name"; go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZ_TIME) "$$package" || exit 1; \
	  done || exit 1; \
	done

# make chaos RELIABILITY_DOC=docs/reliability.md also keeps the figures there; so do attack, netem and dialogues.
RELIABILITY_DOC ?=
ATTACK_SECONDS  ?= 20
# Injected sound, descriptions that point inside, proofs sent again and smuggled headers are tests of their own.
ATTACK_TESTS   := ^(TestAttack.*|TestASourceIsLockedAndAnInjectorIsRefused|TestNoSoundGoesWhereItMustNot|TestAProofCountsOnceFromItsSourceInItsTime|TestWrongPasswordsAndUnknownUsersGetTheSameAnswerAndAreSlowedDown|TestOnlyTheCalledHostGetsAProof|TestBadInputIsRefusedBeforeAnythingIsSent)$$

attack: tools ## attack every floor that strangers reach, ATTACK_SECONDS for each flood (about 2 minutes, no root), and print the figures
	@CGO_ENABLED=1 ATTACK_SECONDS=$(ATTACK_SECONDS) go test -race -count=1 -timeout 15m -v -run '$(ATTACK_TESTS)' ./sip ./media ./cmd/callboard | \
	  grep -E 'attack:|^(---|ok|FAIL|panic)' | .ci/keep '$(RELIABILITY_DOC)' attack

CHAOS_DELIVERIES ?= 100000
chaos: tools ## kill the service every few seconds while it makes CHAOS_DELIVERIES webhook deliveries, and count what came again (about 3 minutes)
	@CHAOS_DELIVERIES=$(CHAOS_DELIVERIES) go test -count=1 -timeout 30m -v -run '^(TestKillsLoseNoDeliveryAndKeepTheOrder|TestAPlaceStoredBeforeItsDeliveriesLosesSome)$$' ./cmd/callboard | \
	  grep -E 'chaos:|^(---|ok|FAIL|panic)' | .ci/keep '$(RELIABILITY_DOC)' chaos

FAULTS_CONTACTS ?= 5000
faults: tools ## ring FAULTS_CONTACTS contacts of eight workspaces on three nodes while these, Redis and the ways between them fail (root for network namespaces; about 40 minutes)
	@FAULTS_CONTACTS=$(FAULTS_CONTACTS) .ci/faults | grep -E 'faults:|^(---|ok|FAIL|panic)' | .ci/keep '$(RELIABILITY_DOC)' faults

netem: tools ## make calls over a bad network between two namespaces (root, about 4 minutes), and print the figures
	@.ci/netem | .ci/keep '$(RELIABILITY_DOC)' netem

soak: tools build ## place SOAK_CALLS short calls beside SOAK_LONG calls of SOAK_MINUTES and look for leaks (about 25 minutes, no root)
	@SOAK_CALLS=$(SOAK_CALLS) SOAK_LONG=$(SOAK_LONG) SOAK_MINUTES=$(SOAK_MINUTES) SOAK_RATE=$(SOAK_RATE) SOAK_DOC='$(abspath $(SOAK_DOC))' \
	  go test -count=1 -timeout 120m -v -run '^TestNoCallLeavesAnythingBehind$$' ./cmd/callboard

# DIALOGUES=tuning plays the voices by which recognition was tuned, instead of others.
DIALOGUES ?= 1
dialogues: tools ## let 132 callers of synthetic speech talk with an agent by words, and 5 by keys, over SIP (about 3 minutes), and print how many reach their goal
	@.ci/install flite:flite
	@CGO_ENABLED=1 DIALOGUES=$(DIALOGUES) go test -count=1 -timeout 30m -parallel 10 -v -run '^TestCallersReachTheirGoalsByWords$$' ./actors/call | grep -E 'dialogues:|reached|came to|^(ok|FAIL|panic)' | .ci/keep '$(RELIABILITY_DOC)' dialogues

nightly: tools ## run what is too long for every day: every hour of two years in every time zone, and more of all that is drawn by chance
	@CGO_ENABLED=1 NIGHTLY=1 go test -count=1 -timeout 300m -v -run '$(NIGHTLY_TESTS)' -skip '$(NIGHTLY_ONLY)' $(NIGHTLY_PACKAGES)
	@CGO_ENABLED=1 NIGHTLY=1 go test -race -count=1 -timeout 300m -v -run '$(NIGHTLY_ONLY)' $(NIGHTLY_ONLY_PACKAGES)

SCREENSHOTS ?= bin/screenshots
screenshots: tools ## take a picture of every page of the dashboard, in both themes, into SCREENSHOTS (about a minute)
	@mkdir -p '$(SCREENSHOTS)' && SCREENSHOTS='$(abspath $(SCREENSHOTS))' go test -count=1 -run '^TestACampaignIsMadeAndWatchedInABrowser$$' ./cmd/callboard

pictures: tools ## take the pictures of the README anew, into docs/img (about a minute)
	@PICTURES='$(CURDIR)/docs/img' go test -count=1 -run '^TestTheDemoPlaysOnceAndEverythingIsFoundAgain$$' ./cmd/callboard

openapi: tools build ## write bin/openapi.json and lint it
	@bin/callboard openapi >bin/openapi.json
	@cd cmd/callboard/testdata/clients && REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true node_modules/.bin/redocly lint $(CURDIR)/bin/openapi.json

postman: build ## write bin/callboard.postman_collection.json
	@bin/callboard openapi --format postman >bin/callboard.postman_collection.json

client: ## write the Go client (client/api_*.go) anew from the OpenAPI document
	@go test -count=1 -run '^TestTheGoClientIsThatOfTheDocument$$' ./httpapi -update

deb: build ## write a Debian package of bin/callboard into bin
	@deploy/debian/build bin/callboard '$(VERSION)' bin

check: ## everything a change must pass: tidy modules, the linter, the tests
	go mod tidy -diff
	go mod verify
	@$(MAKE) --no-print-directory lint test

tools: ## install what the tests need and is missing
	@.ci/install $(TEST_TOOLS)
	@.ci/clients
	@.ci/gateway

clean: ## remove what was built
	rm -rf bin
