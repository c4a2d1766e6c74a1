# Callboard. `make` or `make help` lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# $(call any_of,NAMES) is the -run pattern that matches each of the test names.
empty  :=
any_of = ^($(subst $(empty) $(empty),|,$(strip $(1))))$$

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# make build TAGS=opus adds the Opus codec. Required: gcc, pkg-config, libopus-dev.
TAGS    ?=
LINTER  ?= go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# COMMAND:PACKAGE,… – .ci/install installs the Debian or Ubuntu packages where the command is missing.
SPEECH_TOOLS := espeak-ng:espeak-ng pocketsphinx_batch:pocketsphinx,pocketsphinx-en-us
# Voices of make dialogues besides those of espeak-ng.
VOICE_TOOLS  := espeak-ng:espeak-ng flite:flite text2wave:festival,festvox-kallpc16k /usr/share/festival/voices/english/ked_diphone:festvox-kdlpc16k
TEST_TOOLS   := $(SPEECH_TOOLS) sipp:sip-tester redis-server:redis-server haproxy:haproxy chromium:chromium baresip:baresip-core sox:sox ffmpeg:ffmpeg openssl:openssl \
                python3:python3 gcc:gcc,libc6-dev pkg-config:pkg-config opus.pc:libopus-dev kamailio:kamailio tc:iproute2 tshark:tshark nft:nftables \
                node:nodejs npm:npm php:php-cli ruby:ruby nsd:nsd

# Tests are compiled without the profile cmd/callboard/default.pgo, because the profile would compile every package a second time.
# pebblegozstd selects the Zstandard library in Go, as in the binary. The C library takes longer to compile than any other package.
export GOFLAGS := $(strip $(shell go env GOFLAGS 2>/dev/null) -pgo=off -tags=pebblegozstd)

# By default each process with the race detector sleeps one second at its exit.
export GORACE := atexit_sleep_ms=0

# Debian installs kamailio, nsd and tc in /usr/sbin and /sbin. The folder of the real python3 goes first: the start scripts of pyenv take
# ten times as long as Python, and tests start it hundreds of times.
PYTHON_DIR := $(filter-out /usr/bin /bin,$(shell python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' 2>/dev/null))
export PATH := $(if $(PYTHON_DIR),$(PYTHON_DIR):)$(PATH):/usr/sbin:/sbin

# The longest packages are tested first, one per processor. The others run with one more process, because they wait more than they compute.
LONG_PACKAGES ?= ./cmd/callboard ./httpapi ./actors/campaign/modeltest ./actors/node ./actors/call
TEST_PACKAGES ?= ./sip ./actors/campaign ./actors/webhook ./persistence/... $$(comm -23 <(go list ./... | sort) <(go list $(LONG_PACKAGES) $(OPUS_PACKAGES) | sort))
TEST_FLAGS    ?=
# Packages that are tested a second time with the tag opus.
OPUS_PACKAGES ?= ./media ./media/opus
FUZZ_PACKAGES ?= ./...
FUZZ_TIME     ?= 10s
BENCH          ?= .
BENCH_TIME     ?= 1s
BENCH_PACKAGES ?= $(shell go list ./... 2>/dev/null | grep -v /cmd/)
# Number of contacts of the large campaign and of stored calls in make bench. 10000000 take some minutes and 10 GB.
BENCH_CONTACTS ?= 1000000
BENCH_CALLS    ?= 1000000
# make bench BENCH_DOC=docs/benchmarks.md also writes the table to that file. The same holds for bench-cluster.
BENCH_DOC      ?=

# make soak SOAK_DOC=docs/soak.md also writes the table to that file. SOAK_RATE: short calls per second, at most.
SOAK_CALLS     ?= 200000
SOAK_LONG      ?= 300
SOAK_MINUTES   ?= 20
SOAK_RATE      ?= 250
SOAK_DOC       ?=

# Tests that only make nightly runs: faults of nodes and stores, the search for leaks, controls that prove that these tests detect
# planted faults, and tests of the whole service whose subject has other tests too, so that `make test` takes less than 16 minutes.
NIGHTLY_ONLY_TESTS := \
  TestFaultsOfNodesKeepInvariants \
  TestCampaignContinuesOnNextNodeAfterKills \
  TestKillsOfServiceAndRedisTogetherAndApart \
  TestFailoverToStaleReplicaCallsEachContactOnce \
  TestControlFailoverToTrustedStaleReplicaCallsTwice \
  TestControlFullRedisWithLateCommitCallsTwice \
  TestControlFullDiskReportedAsWrittenCallsTwice \
  TestClockSetBackCallsEachContactOnce \
  TestKillsOfNonDurableRedisAreRepairedFromLedger \
  TestControlKillsOfNonDurableRedisWithoutLedgerCallTwice \
  TestFullRedisStopsDialingAndLosesNoContact \
  TestKill9CallsEachContactOnceOnRedis \
  TestCallsReleaseAllResources \
  TestInboundCallAtAnyNodeReachesItsNumber \
  TestModelDetectsPlantedFaults \
  TestKillsOfServiceWithRetriesOnPebble \
  TestKamailioDispatcherKeepsCallPathAndFailsOver \
  TestWorkspacesAreDistributedAndSurviveNodeKills \
  TestAudioThroughNATInBothDirections \
  TestLiveCallEndsWhenSpendCapIsReached \
  TestDemoPlaysOnceAndItsDataSurvivesRestarts \
  TestGoClientFollowsCampaignThroughCrash \
  TestCampaignPausesDialingWhileTTSEngineIsDown \
  TestCallerDetailsOfTrunkAreStored \
  TestRedisOutageOfTenSecondsStopsOnlyDialing \
  TestRecordingsInBucketSurviveNodeLossAndBucketOutage \
  TestDrainLetsLiveCallsEndAndRejectsNewCalls \
  TestRecordingSurvivesKillOfNode \
  TestFullDiskStopsDialingAndLosesNoContact \
  TestThirdPartyClientsWorkWithAPI \
  TestPlanLimitsBoundSIPInvites \
  TestBlobsMoveCopiesDataFolderToBucket \
  TestContactUploadIsAtomicOnRedis \
  TestRestoredStoreSendsNothingDuringQuarantine \
  TestRemindersAreSentOnceAcrossKills \
  TestShardWithLiveCallsMovesToJoinedNode \
  TestTraceContextReachesCollectorToolWebhookAndLog \
  TestSIPTraceSurvivesKillUpToLastCommit \
  TestConcurrentRequestsWithSameIdempotencyKeyHaveOneEffect \
  TestControlClockSetBackWithLateCommitCallsTwice \
  TestClockSetBackWithRedisCallsEachContactOnce \
  TestWritesWaitWhileShardsMove \
  TestCallOverTLSMovesToAnotherNode \
  TestControlNodeWithoutLeaseCheckKeepsDialing \
  TestCallsOverIPv6 \
  TestCampaignIsCreatedAndMonitoredInBrowser \
  TestSIPpScenarios \
  TestBaresipCallOverTLSWithSDESKeys \
  TestBaresipCallWithAEADCipherSuite \
  TestSecurityOperationsAndAPIGuideCommandsWork \
  TestCommandLineGuideCommandsWork \
  TestCookbookRecipesPassTheirScenarios \
  TestAgentsGuideCommandsWork \
  TestCampaignGuideCommandsWork \
  TestWebhookGuideProgramsVerifyDeliveries \
  TestKeyCommandsOnRunningAndStoppedService \
  TestPhoneIsCalledOnceAfterPowerCutByAnyRegisteredContact \
  TestOpenAPIDocumentPassesLinter \
  TestBaresipRegistersAndExchangesCallsWithAgent \
  TestSupervisorListensWhispersAndBargesIn \
  TestBulkCallPastCallingHoursIsPlacedAtNextOpening \
  TestInviteWithReplacesAfterBaresipConsultsAgent \
  TestCallRequestOverridesAgentSettings \
  TestListenCommandForwardsEvents \
  TestAgentTransfersBaresipToBaresipAfterConsultation \
  TestCallsBeyondDrainTimeoutAreHungUpAndRecorded \
  TestRollingRestartKeepsCalls \
  TestSIPGuideCommandsWork \
  TestDataGuideCommandsWork \
  TestLoadTestingGuideCommandsWork \
  TestAppointmentsGuideCommandsWork \
  TestDestinationRulesApplyToEveryCall \
  TestHoldAndResumeByRemoteParty \
  TestMachineGetsMessageAfterBeepAndHumanGetsConversation \
  TestCallAnsweredToDeadNodeIsHungUpByNextNode \
  TestBaresipTransfersAgentToBaresipAfterConsultation \
  TestCallsSurvivePacketLoss
NIGHTLY_ONLY       := $(call any_of,$(NIGHTLY_ONLY_TESTS))
# Tests that make nightly runs with more cases or more time.
NIGHTLY_TESTS := $(call any_of,\
  TestEveryZoneOpensAsReferenceCalculation \
  TestEstimateIsWithinTenPercentAfterTenPercent \
  TestRandomScenariosSatisfyModel \
  Test(Kill|FullDisk|Clock|ControlClock).*)
NIGHTLY_PACKAGES := ./domain/calendar ./domain/simulation ./actors/campaign/modeltest ./cmd/callboard
NIGHTLY_ONLY_PACKAGES := ./actors/call ./actors/campaign/modeltest ./cmd/callboard

.PHONY: help run build test lint fmt bench bench-compare bench-cluster bench-parts profile e2e fuzz attack soak dialogues noises nightly chaos faults netem screenshots pictures dashboard-assets openapi postman client deb check tools clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## install missing packages, build, start the service with a demo campaign
	@.ci/install $(SPEECH_TOOLS) || echo "espeak-ng or pocketsphinx is missing: Callboard starts without speech synthesis or speech recognition"
	@$(MAKE) --no-print-directory build
	CALLBOARD_EGRESS_ALLOW=$${CALLBOARD_EGRESS_ALLOW:-127.0.0.0/8} bin/callboard serve --demo

build: ## build bin/callboard
	@command -v go >/dev/null || { echo "missing: go 1.26 or newer, from https://go.dev/dl/"; exit 1; }
	CGO_ENABLED=$(if $(filter opus,$(TAGS)),1,0) go build -pgo=auto -trimpath -tags '$(TAGS)' -ldflags '-s -w -X main.version=$(VERSION)' -o bin/callboard ./cmd/callboard

# Tests are built without debug information, which saves a tenth of the compile time. -trimpath lets a clean checkout reuse the
# build cache of another folder.
test lint e2e: export GOFLAGS += -trimpath -gcflags=all=-dwarf=false -ldflags=-w
# The compiler uses more memory to save time. The tests themselves run with Go's defaults.
test e2e: export GOGC := 400
test e2e: export GOMEMLIMIT := 2GiB
test e2e: export CGO_ENABLED := 1
TEST_BUILD := -race -vet=off -exec 'env -u GOGC -u GOMEMLIMIT' -count=1
# A failed test runs once more, except after a data race or more than ten failures. .ci/count lists these tests.
GOTESTSUM ?= go run gotest.tools/gotestsum@v1.13.0 --format pkgname-and-test-fails --format-icons text --format-hide-empty-pkg --hide-summary skipped \
             --rerun-fails=1 --rerun-fails-run-root-test --rerun-fails-abort-on-data-race

test: tools ## run all tests with the race detector, against SIPp, baresip, Kamailio, Redis, Chromium and Opus
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && status=0; \
	  $(GOTESTSUM) --jsonfile-timing-events "$$dir/long" --packages '$(LONG_PACKAGES)' -- $(TEST_BUILD) -timeout 15m -skip '$(NIGHTLY_ONLY)' $(TEST_FLAGS) || status=1; \
	  $(GOTESTSUM) --jsonfile-timing-events "$$dir/all" --packages "$(TEST_PACKAGES)" -- $(TEST_BUILD) -p $$(($$(nproc) + 1)) -timeout 15m -skip '$(NIGHTLY_ONLY)' $(TEST_FLAGS) || status=1; \
	  $(GOTESTSUM) --jsonfile-timing-events "$$dir/opus" --packages '$(OPUS_PACKAGES)' -- $(TEST_BUILD) -tags opus,pebblegozstd -timeout 5m $(TEST_FLAGS) || status=1; \
	  .ci/count $$status "$$dir/long" "$$dir/all" "$$dir/opus"

lint: ## run the linters, check the formatting, check names and sentences
	.ci/plain code adr pages
	CGO_ENABLED=0 $(LINTER) run

fmt: ## format all Go files
	$(LINTER) fmt

bench: tools build ## measure the service and print one table
	@go test -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 60m ./cmd/callboard -bench-doc '$(abspath $(BENCH_DOC))' -bench-contacts $(BENCH_CONTACTS) -bench-calls $(BENCH_CALLS) | \
	  sed -uE '/^(PASS|ok |goos|goarch|pkg:|cpu:)/d; s/^Benchmark([^ ]+)-[0-9]+[[:space:]]+1[[:space:]].*/measured: \1/'

bench-compare: tools build ## compare CPU, media, memory and turn latency of this revision with those of REV, five times each in turns (about 18 minutes)
	@test -n '$(REV)' || { echo 'which revision? make bench-compare REV=main~10' >&2; exit 1; }
	@dir=$$(mktemp -d) && trap 'git worktree remove --force "$$dir/tree" 2>/dev/null; rm -rf "$$dir"' EXIT && \
	  git worktree add --quiet --detach "$$dir/tree" '$(REV)' && $(MAKE) --no-print-directory -C "$$dir/tree" build && \
	  go test -run '^$$' -bench '^BenchmarkCompare$$' -benchtime 1x -timeout 60m ./cmd/callboard -bench-other "$$dir/tree/bin/callboard" | \
	  sed -uE '/^(PASS|ok |goos|goarch|pkg:|cpu:)/d; s/^Benchmark([^ ]+)-[0-9]+[[:space:]]+1[[:space:]].*/measured: \1/'

bench-cluster: tools build ## measure three nodes on one Redis: failover, forwarding, idle cost (about 4 minutes)
	@go test -run '^$$' -bench '^BenchmarkCluster' -benchtime 1x -timeout 30m ./cmd/callboard -bench-cluster -bench-doc '$(abspath $(BENCH_DOC))' | \
	  sed -uE '/^(PASS|ok |goos|goarch|pkg:|cpu:)/d; s/^Benchmark([^ ]+)-[0-9]+[[:space:]]+1[[:space:]].*/measured: \1/'

profile: tools build ## record the CPU profile of a mixed load for profile-guided optimization (cmd/callboard/default.pgo)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	  go test -run '^$$' -bench '^BenchmarkMixedLoad$$' -benchtime 1x -timeout 60m ./cmd/callboard -bench-profile "$$dir" && \
	  go tool pprof -proto "$$dir"/*.pprof >cmd/callboard/default.pgo

bench-parts: ## run the Go benchmarks of the packages: media, dialogs, stores, deliveries
	go test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCH_TIME) $(BENCH_PACKAGES) | { grep -vE '^(PASS|ok |\?|goos|goarch)' || true; }

e2e: tools ## run only the end-to-end tests of the binary
	@$(GOTESTSUM) --packages ./cmd/... -- $(TEST_BUILD) -timeout 15m $(TEST_FLAGS)

fuzz: ## run all fuzz tests, FUZZ_TIME each
	@go list $(FUZZ_PACKAGES) | while read -r package; do \
	  go test -list '^Fuzz' "$$package" | { grep '^Fuzz' || true; } | while read -r name; do \
	    echo "$$package $$name"; go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZ_TIME) "$$package" || exit 1; \
	  done || exit 1; \
	done

# make chaos RELIABILITY_DOC=docs/reliability.md also writes the figures to that file. The same holds for attack, faults, netem and dialogues.
RELIABILITY_DOC ?=
ATTACK_SECONDS  ?= 20
# Besides the floods: injected media, SDP with internal addresses, replayed digest proofs, header injection.
ATTACK_TESTS   := \
  TestAttack.* \
  TestConfirmedSourceExcludesInjectedPackets \
  TestDisallowedAddressGetsNoAudio \
  TestDigestNonceAndCountAreSingleUse \
  TestRegisterWithWrongPasswordOrUnknownUserIsRateLimited \
  TestCredentialsAreSentToCalledHostOnly \
  TestInviteRefusesInvalidInput

attack: tools ## attack SIP, RTP and HTTP, ATTACK_SECONDS per flood, and print the figures (about 2 minutes, no root)
	@CGO_ENABLED=1 ATTACK_SECONDS=$(ATTACK_SECONDS) go test -race -count=1 -timeout 15m -v -run '$(call any_of,$(ATTACK_TESTS))' ./sip ./media ./cmd/callboard | \
	  grep -E 'attack:|^(---|ok|FAIL|panic)' | .ci/keep '$(RELIABILITY_DOC)' attack

CHAOS_DELIVERIES ?= 100000
chaos: tools ## kill the service every few seconds during CHAOS_DELIVERIES webhook deliveries and count repeated ones (about 3 minutes)
	@CHAOS_DELIVERIES=$(CHAOS_DELIVERIES) go test -count=1 -timeout 30m -v -run '^(TestKillsLoseNoDeliveryAndKeepOrder|TestControlPositionStoredBeforeDeliveriesLosesEvents)$$' ./cmd/callboard | \
	  grep -E 'chaos:|^(---|ok|FAIL|panic)' | .ci/keep '$(RELIABILITY_DOC)' chaos

FAULTS_CONTACTS ?= 5000
faults: tools ## call FAULTS_CONTACTS contacts from three nodes while nodes, Redis and network fail (root; about 40 minutes)
	@FAULTS_CONTACTS=$(FAULTS_CONTACTS) .ci/faults | grep -E 'faults:|^(---|ok|FAIL|panic)' | .ci/keep '$(RELIABILITY_DOC)' faults

netem: tools ## place calls over a network with loss and jitter and print the figures (root; about 4 minutes)
	@.ci/netem | .ci/keep '$(RELIABILITY_DOC)' netem

soak: tools build ## place SOAK_CALLS short calls during SOAK_LONG calls of SOAK_MINUTES minutes and check for leaks (about 25 minutes)
	@SOAK_CALLS=$(SOAK_CALLS) SOAK_LONG=$(SOAK_LONG) SOAK_MINUTES=$(SOAK_MINUTES) SOAK_RATE=$(SOAK_RATE) SOAK_DOC='$(abspath $(SOAK_DOC))' \
	  go test -count=1 -timeout 120m -v -run '^TestCallsReleaseAllResources$$' ./cmd/callboard

# DIALOGUES=tuning uses the voices with which recognition was tuned. Default: other voices.
DIALOGUES ?= 1
DIALOGUE_TESTS := \
  TestNoiseBehindCallerDoesNotSilenceAgent \
  TestSoundsWithoutCallersSpeechBeginNoTurn \
  TestTurnsEndSoonAfterCallersStopSpeaking \
  TestPausesWithinSentencesDoNotEndTurns \
  TestStopWordsSilenceAgentAtOnce \
  TestCallersReachTheirGoalsByWords \
  TestRecordingsOfDialoguesAreComplete \
  TestAnsweringMachineDetectionRates \
  TestMachinesAreRecognizedByWords \
  TestPhraseRecognitionRates
DIALOGUE_PACKAGES := ./actors/conversation ./actors/call ./media/amd ./media/speech
dialogues: tools ## measure what callers hear and print one table: noise, turns, stop words, answering machines, 137 spoken dialogues over SIP, recordings (about 12 minutes)
	@.ci/install $(VOICE_TOOLS)
	@mkdir -p bin && CGO_ENABLED=1 DIALOGUES=$(DIALOGUES) go test -count=1 -p 1 -timeout 30m -parallel 10 -v -run '$(call any_of,$(DIALOGUE_TESTS))' $(DIALOGUE_PACKAGES) | \
	  tee bin/dialogues.log | awk '/dialogues: |^(FAIL|panic)/ {sub(/.*dialogues: /, ""); print; fflush()} / short$$/ {short = 1} END {exit short}' | \
	  .ci/keep '$(RELIABILITY_DOC)' dialogues

NOISES ?= bin/noises
noises: ## write the noises and a sentence of each voice of the tests into NOISES, as WAV files
	@.ci/install $(VOICE_TOOLS)
	@mkdir -p '$(NOISES)' && DIALOGUES=1 NOISES='$(abspath $(NOISES))' go test -count=1 -run '^(TestWriteNoisesAndVoices|TestSpeechHasStandardLevelAndNoSilenceAround)$$' ./media/testspeech

nightly: tools ## run the long tests: all hours of two years in all time zones, more random cases, faults of nodes and stores
	@CGO_ENABLED=1 NIGHTLY=1 go test -count=1 -timeout 300m -v -run '$(NIGHTLY_TESTS)' -skip '$(NIGHTLY_ONLY)' $(NIGHTLY_PACKAGES)
	@CGO_ENABLED=1 NIGHTLY=1 go test -race -count=1 -timeout 300m -v -run '$(NIGHTLY_ONLY)' $(NIGHTLY_ONLY_PACKAGES)

SCREENSHOTS ?= bin/screenshots
screenshots: tools ## take screenshots of all dashboard pages in both themes into SCREENSHOTS (about a minute)
	@mkdir -p '$(SCREENSHOTS)' && SCREENSHOTS='$(abspath $(SCREENSHOTS))' go test -count=1 -run '^TestCampaignIsCreatedAndMonitoredInBrowser$$' ./cmd/callboard

dashboard-assets: ## refresh the files of others in httpapi/dashboard/assets from npm
	@node .ci/dashboard-assets.mjs

pictures: tools ## take the screenshots of the README into docs/img (about a minute)
	@PICTURES='$(CURDIR)/docs/img' go test -count=1 -run '^TestDemoPlaysOnceAndItsDataSurvivesRestarts$$' ./cmd/callboard

openapi: tools build ## write bin/openapi.json and check it
	@bin/callboard openapi >bin/openapi.json
	@cd cmd/callboard/testdata/clients && REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true node_modules/.bin/redocly lint $(CURDIR)/bin/openapi.json

postman: build ## write bin/callboard.postman_collection.json
	@bin/callboard openapi --format postman >bin/callboard.postman_collection.json

client: ## generate the Go client (client/api_*.go) from the OpenAPI document
	@go test -count=1 -run '^TestGoClientMatchesOpenAPIDocument$$' ./httpapi -update

deb: build ## write a Debian package of bin/callboard into bin
	@deploy/debian/build bin/callboard '$(VERSION)' bin

check: ## check go.mod, run the linters and the tests
	go mod tidy -diff
	go mod verify
	@$(MAKE) --no-print-directory lint test

tools: ## install missing programs for the tests
	@.ci/install $(TEST_TOOLS)
	@.ci/clients
	@.ci/gateway

clean: ## remove build results
	rm -rf bin
