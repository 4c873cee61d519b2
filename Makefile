# Everything here works from a fresh clone with Go, make and git; the rest is
# built from pinned Go modules and kept in a cache outside the checkout.
#
# Targets are thin: what they do is written in Go, so that importers of the
# suites, who don't get this file, get the same from `go test` alone.

# The toolchain that go.mod names is fetched if the installed one is older.
export GOTOOLCHAIN := auto

# Programs are static, so that images need nothing else, and all are compiled alike. Only the race detector needs C.
export CGO_ENABLED := 0

# What `make e2e` understands. Values go to the program as they were typed,
# dollar signs included, and the program says what is wrong with them.
VARIABLES := PROVIDER K8S KARPENTER CLUSTER NODE_IMAGE KUBECONFIG REGISTRY IMAGE GATES FOCUS SKIP LABELS PROCS SPEED KEEP FAILFAST LIE N SEED SPECS SHARD MUTANT ADAPTER FOLDER MATRIX NAME JOBS TAG A B WORKLOAD REPEATS FAIL_IF FROM TO FROM_IMAGE TO_IMAGE TO_PROVIDER LENGTH SIZES PATTERN REQUEST NTH RESUME FOR REPLAY DIR ON SHARDS NAMESPACE QUEUE START_WITHIN
$(foreach v,$(VARIABLES),$(eval override $v := $$(value $v)))
export $(VARIABLES)

# Artifacts lie in the checkout, whatever folder the tests run in.
export ARTIFACTS ?= $(CURDIR)/_artifacts

# How to run one spec again: this command, FOCUS added by the report.
export PLUMBLINE_RERUN := $(strip make e2e $(foreach v,PROVIDER K8S KARPENTER CLUSTER NODE_IMAGE KUBECONFIG REGISTRY IMAGE GATES,$(if $($v),$v=$($v))))

PLUMBLINE := go run ./hack/plumbline
TOOL      := go tool -modfile=$(CURDIR)/hack/tools/go.mod
# Tests of simulated clouds by the clouds' own SDKs, each in a module of its own.
SDKTESTS  := $(addprefix providers/,$(addsuffix /sdktest,simulator aws azure hetzner))
# Providers that are broken on purpose: of the newest release, and of the last one that converts, which has other
# dependencies than all else.
FAULTY    ?= providers/faulty providers/faulty/conversion
MODULES   := . hack/tools hack/browser hack/importer hack/mutants hack/node-image $(FAULTY) $(SDKTESTS)
PLATFORMS := linux/amd64 linux/arm64 darwin/arm64

# The race detector needs a C compiler; Go says whether it has found one.
RACE = $(if $(filter 1,$(shell CGO_ENABLED= go env CGO_ENABLED)),-race)

# Built like the programs of `make e2e`, so that Go's cache serves both: a
# provider is large.
RELEASED := GOFLAGS="$$GOFLAGS -trimpath" CGO_ENABLED=0

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##

.PHONY: test
test: ## run the unit tests; starts no cluster
	$(if $(RACE),CGO_ENABLED=1) go test $(RACE) ./...
	set -e; for m in $(FAULTY); do (cd $$m && $(RELEASED) go test ./...); done
	cd hack/mutants && go test ./...
	set -e; for m in $(SDKTESTS); do (cd $$m && go test ./...); done

.PHONY: lint
lint: lint-go lint-platforms lint-modules lint-workflows lint-catalogue ## check everything that can be checked without running it

.PHONY: lint-go
lint-go:
	$(TOOL) golangci-lint run
	cd hack/browser && $(TOOL) golangci-lint run --config $(CURDIR)/.golangci.yml
	cd hack/importer && $(TOOL) golangci-lint run --config $(CURDIR)/.golangci.yml
	cd hack/mutants && $(TOOL) golangci-lint run --config $(CURDIR)/.golangci.yml
	set -e; for m in $(FAULTY); do (cd $$m && $(RELEASED) $(TOOL) golangci-lint run --config $(CURDIR)/.golangci.yml); done
	set -e; for m in $(SDKTESTS); do (cd $$m && $(TOOL) golangci-lint run --config $(CURDIR)/.golangci.yml); done

# Vetting compiles everything for the platform, tests included.
VETS := $(addprefix vet-,$(PLATFORMS))
.PHONY: lint-platforms $(VETS)
lint-platforms: $(VETS)
$(VETS): vet-%:
	GOOS=$(*D) GOARCH=$(*F) go vet -tags e2e ./...
	GOOS=$(*D) GOARCH=$(*F) go build ./...

# Importers get every require of the root module, so they are counted.
TIDIES := $(addprefix tidy-,$(MODULES))
.PHONY: lint-modules $(TIDIES)
lint-modules: $(TIDIES)
	@n=$$(go mod edit -json | grep -c '"Version"'); echo "go.mod has $$n requires; at most 100 are wanted"; test $$n -le 100
$(TIDIES): tidy-%:
	cd $* && go mod tidy -diff

.PHONY: lint-workflows
lint-workflows:
	$(TOOL) actionlint
	@! grep -rnE 'uses: [^.]' .github | grep -vE '@[0-9a-f]{40} # v[0-9.]+$$' || { echo 'pin actions by commit, with the version as a comment' >&2; exit 1; }

.PHONY: lint-catalogue
lint-catalogue:
	@$(PLUMBLINE) catalogue | diff suites/README.md - || { echo 'suites/README.md is not what the specs say; make catalogue' >&2; exit 1; }
	@$(PLUMBLINE) providers | diff providers/README.md - || { echo 'providers/README.md has another table; make providers' >&2; exit 1; }
	@$(PLUMBLINE) conformance-table -check

.PHONY: fix
fix: ## format the code and tidy every go.mod
	$(TOOL) golangci-lint fmt
	for m in $(MODULES); do (cd $$m && go mod tidy) || exit 1; done

.PHONY: apidiff
apidiff: ## compare the API that importers use with the last release's, by the rules of semantic versions
	@$(PLUMBLINE) apidiff

.PHONY: vuln
vuln: ## look for known vulnerabilities that the code reaches; needs vuln.go.dev
	$(TOOL) govulncheck ./...

##

# The program says by which version of the suites it is, unless git refuses the checkout, since it is somebody else's.
.PHONY: conformance.test
conformance.test:
	@go test -c -buildvcs=$(if $(shell git rev-parse HEAD 2>/dev/null),true,false) -tags e2e -o "$(ARTIFACTS)/$@" ./suites

# In the pods of a Kubernetes cluster: make e2e ON=kubernetes REGISTRY=... SHARDS=8
comma := ,
elsewhere = $(if $(ON),$(PLUMBLINE) kubernetes -on '$(ON)' -binary "$(ARTIFACTS)/conformance.test" $(1))

# `go test` would run in the folder of the package; from here, relative paths
# in PROVIDER and IMAGE mean what whoever typed them meant.
.PHONY: e2e
e2e: conformance.test ## run the suites against a provider: make e2e PROVIDER=kwok K8S=1.36 KARPENTER=v1.15.0 FOCUS=drift/one-to-one
	@$(or $(call elsewhere,e2e),exec "$(ARTIFACTS)/conformance.test" -test.run '^TestConformance$$')

# What the suites are worth: each lie must be caught by the specs that claim
# to, and the honest provider stay green.
.PHONY: lies
lies: conformance.test ## run the specs against providers that are broken on purpose: make lies LIE=cloud
	@$(or $(call elsewhere,lies),$(PLUMBLINE) lies -binary "$(ARTIFACTS)/conformance.test")

# The mistakes of releases: each is met on the release that made it.
.PHONY: recall
recall: conformance.test ## run the specs against releases with known defects, into suites/recall.md: an hour, or LIE=... for some
	@$(or $(call elsewhere,recall),$(PLUMBLINE) recall -binary "$(ARTIFACTS)/conformance.test")

# Two releases of a provider: FROM is installed, upgraded to TO under live objects, and back.
.PHONY: upgrade
upgrade: conformance.test ## upgrade a provider under live objects: make upgrade FROM=v1.14.3 TO=v1.15.0 PROVIDER=kwok FOCUS=drain
	@$(PLUMBLINE) upgrade -binary "$(ARTIFACTS)/conformance.test"

.PHONY: upgrade-matrix
upgrade-matrix: conformance.test ## upgrade each release to the next, into suites/upgrades.md: two hours, or FROM=... for some
	@$(PLUMBLINE) upgrade-matrix -binary "$(ARTIFACTS)/conformance.test"

# The controller's writes, one after another, at the worst moment: it is killed, or its request fails.
.PHONY: crash
crash: conformance.test ## kill the controller before and after each of its writes: make crash FOCUS=^drift/one-to-one$
	@$(or $(call elsewhere,crash),$(PLUMBLINE) faults -binary "$(ARTIFACTS)/conformance.test" -patterns crash-before$(comma)crash-after)

.PHONY: faults
faults: conformance.test ## make each write of the controller fail: make faults FOCUS=^drift/one-to-one$ PATTERN=lose-answer
	@$(or $(call elsewhere,faults),$(PLUMBLINE) faults -binary "$(ARTIFACTS)/conformance.test" -patterns lose-answer$(comma)fail)

.PHONY: explore
explore: conformance.test ## make up worlds, judge them by the invariants, shrink what breaks: make explore FOR=30m SEED=1
	@$(or $(call elsewhere,explore),$(PLUMBLINE) explore -binary "$(ARTIFACTS)/conformance.test")

# Mistakes that nobody chose: made in the provider's source, and tried by the specs that they make a difference to.
.PHONY: mutants
mutants: conformance.test ## run the specs against mistakes in a provider's source: make mutants N=200 SEED=1 MUTANT=disruption/
	@$(PLUMBLINE) mutants -binary "$(ARTIFACTS)/conformance.test"

# One spec of each suite will do to see that importing works, and one that needs
# the importer's simulator. The artifacts lie apart, so that `latest` stays the last `make e2e`.
SAMPLE := ^(provisioning/fits|taints/startup|drift/template/labels|expiration/replaced|budgets/count)$$
.PHONY: import-test
import-test: override FOCUS := $(or $(FOCUS),$(SAMPLE)|^cloud/ended$$)
import-test: export ARTIFACTS := $(ARTIFACTS)/import
import-test: export PLUMBLINE_RERUN := $(subst make e2e,make import-test,$(PLUMBLINE_RERUN))
import-test: ## run the suites from another module, as a provider's repository does
	cd hack/importer && go test -count=1 -timeout 0

# What only shows in a browser.
.PHONY: test-pages
test-pages: export SCREENSHOTS ?= $(ARTIFACTS)/pages
test-pages: ## open the report and a timeline in Chromium or Chrome; screenshots are in _artifacts/pages
	cd hack/browser && go test -count=1 ./...

# What only shows on real clusters, of the harness itself. The first lives by a cluster's
# clock in the end, so that none of the others may be in its process. The builds of old releases are left out: they take
# ten minutes each time that caches are cold.

.PHONY: test-clusters
test-clusters: ## test the harness on real clusters: both doors, a cluster's life and death
	go test -tags e2e -count=1 -timeout 0 -run '(Twice|Verb)$$' ./e2e
	go test -tags e2e -count=1 -timeout 0 -run 'Exists$$' ./e2e
	go test -tags e2e -count=1 -timeout 0 -run 'Hangs$$' ./e2e/session
	go test -tags e2e -count=1 -timeout 0 ./e2e/faults ./e2e/cluster/local ./e2e/cluster/existing
	go test -tags e2e -count=1 -timeout 0 -skip 'AtEveryRelease$$' ./e2e/install ./hack/plumbline/draft ./e2e/record

# The artifacts lie apart, as those of import-test.
.PHONY: vacuity
vacuity: export ARTIFACTS := $(ARTIFACTS)/vacuity
vacuity: export PLUMBLINE_RERUN := $(subst make e2e,make vacuity,$(PLUMBLINE_RERUN))
vacuity: ## run every spec without its stimulus, which must prove nothing: make vacuity FOCUS=/drift/
	cd e2e && go test -tags e2e -count=1 -timeout 0 -run '^TestVacuous$$'

# The image and one spec of each behaviour, at the machine's own speed.
.PHONY: test-kind
test-kind: override FOCUS := $(or $(FOCUS),$(SAMPLE))
test-kind: override CLUSTER := kind
test-kind: export ARTIFACTS := $(ARTIFACTS)/kind
test-kind: ## try the kind backend, and a spec of each behaviour on it: make test-kind NODE_IMAGE=plumbline/node:v1.36.3
	go test -tags e2e -count=1 -timeout 0 ./e2e/cluster/kind
	@$(MAKE) --no-print-directory e2e

.PHONY: import-cost
import-cost: ## count what importing the suites brings along
	@cd hack/importer && echo "$$(go mod edit -json | grep -c '"Version"') requires in go.mod" && \
	echo "$$(go list -deps -test -f '{{if and (not .Standard) (not .ForTest)}}{{.ImportPath}}{{end}}' . | sort -u | grep -c .) packages linked, beside Go's own" && \
	go list -m -f '{{.Path}} {{.Version}}' k8s.io/client-go github.com/onsi/ginkgo/v2

.PHONY: doctor
doctor: ## say what this machine has and lacks, and what for
	@$(PLUMBLINE) doctor

.PHONY: summary
summary: ## print what became of the last run, as Markdown
	@$(PLUMBLINE) summary

# What the workflow that other repositories call is made of.
.PHONY: jobs parts annotations comment post
jobs: ## print the jobs of the reusable workflow: make jobs NAME=x ADAPTER=kwok MATRIX='[{"k8s": ["1.36", "1.35"]}]'
	@$(PLUMBLINE) jobs
parts: ## print SHARDS parts of each of these jobs
	@$(PLUMBLINE) jobs -parts
annotations: ## print the last run's red specs as annotations of GitHub's
	@$(PLUMBLINE) annotate
comment: ## print what jobs found as a comment on a pull request: make comment JOBS=... FILE="runs base"
	@$(PLUMBLINE) comment $(FILE)
post: ## write it on PULL_REQUEST, over the one before: make post FILE=comment.md
	@$(PLUMBLINE) post $(FILE)

.PHONY: report
report: ## write a run's page for a browser: make report FILE=_artifacts/latest
	@$(PLUMBLINE) report $(FILE)

.PHONY: times
times: ## write how long specs take from the last run: machines that share a run deal them by it
	@$(PLUMBLINE) times $(FILE)

.PHONY: estimate
estimate: ## say how long measured runs would take if 1 to 1,000 pods shared them: make estimate FILE="_artifacts/latest _artifacts/faults/latest"
	@$(PLUMBLINE) estimate $(FILE)

.PHONY: image
image: conformance.test ## push the image of e2e ON=kubernetes for other systems, see hack/examples: make image REGISTRY=...
	@$(PLUMBLINE) kubernetes -push -binary "$(ARTIFACTS)/conformance.test" e2e

.PHONY: merge
merge: ## join the parts of a run that machines with SHARD=1/4 to 4/4 have shared: make merge DIR=parts
	@$(PLUMBLINE) merge '$(DIR)'

.PHONY: show
show: ## write the timeline of a recording: make show FILE=_artifacts/latest/histories/SPEC.jsonl.gz FORMAT=perfetto FROM=20m TO=30m, BESIDE= another one
	@$(PLUMBLINE) show $(if $(FORMAT),-format '$(FORMAT)') $(if $(FROM),-from '$(FROM)') $(if $(TO),-to '$(TO)') $(FILE) $(BESIDE)

.PHONY: explain
explain: ## tell why a node or pod came and went: make explain FILE=HISTORY.jsonl.gz NODE=name, or NODECLAIM, or POD
	@NODE='$(NODE)' NODECLAIM='$(NODECLAIM)' POD='$(POD)' $(PLUMBLINE) explain $(FILE)

.PHONY: record
record: ## record what Karpenter does on a cluster of yours, reading only: make record KUBECONFIG=... FOR=2h INTO=folder REDACT=yes KEEP=4Gi
	@$(PLUMBLINE) record $(if $(FOR),--for '$(FOR)') $(if $(INTO),--into '$(INTO)') $(if $(REDACT),--redact) $(if $(KEEP),--keep '$(KEEP)')

.PHONY: judge
judge: ## judge recordings by every invariant: make judge FILE=_artifacts/latest/histories
	@$(PLUMBLINE) judge $(FILE)

.PHONY: list
list: ## list the specs: make list FORMAT=json
	@$(PLUMBLINE) list $(if $(FORMAT),-format $(FORMAT))

.PHONY: adapter
adapter: ## write the first adapter of a provider from its chart: make adapter CHART=... IMAGE=... CRDS=... OUT=plumbline.yaml
	@$(PLUMBLINE) adapter

.PHONY: providers
providers: ## write the table in providers/README.md from providers.yaml
	@$(PLUMBLINE) providers > providers/README.md.new && mv providers/README.md.new providers/README.md

.PHONY: conformance-table
conformance-table: ## write providers/conformance.md and badges from committed runs; FILE=_artifacts/latest adds a run
	@$(PLUMBLINE) conformance-table $(FILE)

.PHONY: catalogue
catalogue: ## write suites/README.md from the specs
	@$(PLUMBLINE) catalogue > suites/README.md.new && mv suites/README.md.new suites/README.md

.PHONY: fields
fields: ## write suites/fields.md from the last run, or FILE="folder folder": make e2e with all gates first
	@$(PLUMBLINE) fields $(FILE) > suites/fields.md.new && mv suites/fields.md.new suites/fields.md

.PHONY: conversion
conversion: ## write suites/conversion.md from the last run, or FILE="folder folder": make e2e PROVIDER=aws KARPENTER=v1.0.8 FOCUS=^conversion/ first
	@$(PLUMBLINE) conversion $(FILE) > suites/conversion.md.new && mv suites/conversion.md.new suites/conversion.md

# The image goes into Docker's engine, as plumbline/node:<version>.
.PHONY: node-image
node-image: ## build an image for kind's nodes without any registry: make node-image K8S=1.36
	@hack/node-image/build

.PHONY: check
check: ## check an adapter and say which specs would be skipped, in seconds: make check PROVIDER=plumbline.yaml IDS=1
	@$(PLUMBLINE) check $(if $(IDS),-ids)

.PHONY: setup
setup: ## build what `make e2e` needs into the cache, without running anything
	@$(PLUMBLINE) setup

.PHONY: up
up: ## start a cluster with the provider, or PROVIDER=none, and leave it running
	@$(PLUMBLINE) up

.PHONY: down
down: ## end the cluster that `make up` started
	@$(PLUMBLINE) down

.PHONY: bench
bench: ## measure start-up, memory and the recorder into _artifacts/bench.json: make bench PROVIDER=azure ONLY=clusters
	@$(PLUMBLINE) bench $(if $(ONLY),-only '$(ONLY)')

.PHONY: bench-suites
bench-suites: conformance.test ## measure what bent time gains, by the whole catalogue and Karpenter's own suite: an hour and a half
	@$(PLUMBLINE) bench -suites "$(ARTIFACTS)/conformance.test"

# Two clusters side by side, REPEATS times; figures go into _artifacts/compare/latest.
.PHONY: compare
compare: ## say what another release or setting makes of a workload: make compare A=KARPENTER=v1.13.0 B=KARPENTER=v1.14.0 WORKLOAD=week FAIL_IF='cost>1.05'
	@go build -o "$(ARTIFACTS)/plumbline" ./hack/plumbline && exec "$(ARTIFACTS)/plumbline" compare

.PHONY: scale
scale: ## measure how times, CPU and memory grow with the nodes, into _artifacts/scale/latest: make scale SIZES=100,500,1000 ONLY='run|left'
	@go build -o "$(ARTIFACTS)/plumbline" ./hack/plumbline && exec "$(ARTIFACTS)/plumbline" scale $(if $(ONLY),-only '$(ONLY)') $(if $(WITHIN),-within '$(WITHIN)')

# By its own tests' standards: gates and settings are those of its Makefile.
.PHONY: upstream
upstream: ## run Karpenter's own suite against a cluster whose time is bent: make upstream SUITE=regression FOCUS=...
	@$(PLUMBLINE) upstream

.PHONY: release
release: ## check and make what is published as a release, in _artifacts/release: make release TAG=v1.2.3
	@$(PLUMBLINE) release "$$TAG"

.PHONY: clean
clean: ## remove artifacts, and what dead runs have left
	@$(PLUMBLINE) clean

.PHONY: clean-existing
clean-existing: ## remove what a dead run has left on a cluster of yours: make clean-existing KUBECONFIG=...
	@$(PLUMBLINE) clean-existing
