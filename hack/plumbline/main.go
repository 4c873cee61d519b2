// Command plumbline implements `make` targets other than runs of the suites.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/hack/plumbline/spread"
	"github.com/plumbline-e2e/plumbline/providers"
)

type command struct {
	name, help string
	run        func(ctx context.Context, args []string) error
	hidden     bool
}

func commands() []command {
	return []command{
		{name: "version", help: "print the version of this program, and of the Go that built it", run: printVersion},
		{name: "doctor", help: "say what this machine has and lacks, and what for", run: doctor},
		{name: "list", help: "list the specs; -format table or json", run: list},
		{name: "catalogue", help: "print suites/README.md, made from the specs", run: catalogue},
		{name: "fields", help: "print suites/fields.md, made from the schemas and the last run", run: fields},
		{name: "conversion", help: "print suites/conversion.md, made from the schemas and the last run", run: conversion},
		{name: "check", help: "check the adapter and say what would run, in seconds; -ids, -help", run: checkAdapter},
		{name: "providers", help: "print providers/README.md, with its table made from providers.yaml", run: writeProviders},
		{name: "conformance-table", help: "write providers/conformance.md; -check, -help", run: conformanceTable},
		{name: "setup", help: "build all that a run needs into the cache", run: setup},
		{name: "up", help: "start a cluster with the provider, or with PROVIDER=none, and leave it running", run: up},
		{name: "down", help: "end the cluster that up started", run: down},
		{name: "lies", help: "run the specs against providers that are broken on purpose; LIE chooses some", run: runLies},
		{name: "recall", help: "run the specs against releases with known defects; writes suites/recall.md", run: recall},
		{name: "upgrade", help: "upgrade the provider from FROM to TO under live objects, and back", run: runUpgrade},
		{name: "upgrade-matrix", help: "run it between releases; writes suites/upgrades.md", run: runUpgradeMatrix},
		{name: "faults", help: "run specs once for each write of the controller, which fails; PATTERN", run: runFaults},
		{name: "explore", help: "make up worlds and shrink those that break an invariant; FOR, SEED", run: runExplore},
		{name: "mutants", help: "run the specs against mistakes in the source; N, SEED, MUTANT choose", run: runMutants},
		{name: "adapter", help: "write the first adapter of a provider from its Helm chart: CHART=...", run: draftAdapter},
		{name: "judge", help: "judge recordings by every invariant: judge HISTORY.jsonl.gz..., or a folder", run: judge},
		{name: "record", help: "record what Karpenter does on a cluster of yours; -help", run: recordCluster},
		{name: "report", help: "write a run's index.html: report [FOLDER]; the latest run's by default", run: writeReport},
		{name: "merge", help: "join the parts of a run that several machines have shared: merge FOLDER", run: merge},
		{name: "kubernetes", help: "run e2e, lies, crash and others in a cluster's pods; -help", run: runOnKubernetes},
		{name: "estimate", help: "say how long a measured run would take if pods shared it; -help", run: estimate},
		{name: "times", help: "write suites/times.json from the latest run, or from a folder", run: writeTimes},
		{name: "show", help: "write a recording's timeline: show [-format perfetto] HISTORY [BESIDE]", run: showRecording},
		{name: "explain", help: "tell why a node came and went: NODE=name explain HISTORY.jsonl.gz", run: explainObject},
		{name: "summary", help: "print the latest run as Markdown", run: summary},
		{name: "annotate", help: "print the latest run's red specs as annotations of GitHub's", run: annotate},
		{name: "jobs", help: "print the jobs of the reusable workflow, by its inputs in the environment", run: printJobs},
		{name: "comment", help: "print what jobs found, for a pull request: comment RUNS [BASE]", run: printComment},
		{name: "post", help: "write a comment on PULL_REQUEST, over the one before: post FILE", run: postComment},
		{name: "apidiff", help: "say what importers of the last release would have to change", run: compareAPI},
		{name: "release", help: "check and make what is published as a release: release TAG", run: makeRelease},
		{name: "compare", help: "say what another release makes of a workload; A, B, WORKLOAD, -help", run: runCompare},
		{name: "scale", help: "measure how times, CPU and memory grow with the nodes; SIZES, -help", run: runScale},
		{name: "upstream", help: "run Karpenter's own regression suite on a cluster like that of up", run: upstream},
		{name: "bench", help: "measure start-up, memory and the recorder; writes bench.json", run: bench},
		{name: "clean-existing", help: "remove what dead runs have left on the cluster of KUBECONFIG", run: cleanExisting},
		{name: "clean", help: "remove artifacts, and what dead runs have left", run: clean},
		{name: "keep", run: keepCluster, hidden: true},
		{name: "cell", run: runCell, hidden: true},
		{name: "part", run: spread.Part, hidden: true},
		{name: "pinned", run: pinned, hidden: true},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := dispatch(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "✗ %s\n", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] == "help" || strings.TrimLeft(args[0], "-") == "help" || args[0] == "-h" {
		fmt.Print(usage())
		return nil
	}
	for _, c := range commands() {
		if c.name == args[0] {
			if err := c.run(ctx, args[1:]); !errors.Is(err, flag.ErrHelp) {
				return err
			}
			return nil
		}
	}
	return fmt.Errorf("there is no command %q\n\n%s", args[0], usage())
}

func usage() string {
	var b strings.Builder
	b.WriteString("usage: plumbline COMMAND\n\n")
	for _, c := range commands() {
		if !c.hidden {
			fmt.Fprintf(&b, "  %-17s %s\n", c.name, c.help)
		}
	}
	b.WriteString("\nVariables: PROVIDER, K8S, KARPENTER, CLUSTER, NODE_IMAGE, KUBECONFIG, REGISTRY, IMAGE, ARTIFACTS; " +
		"see README.md.\n" +
		"FOCUS and SKIP of `make e2e` match a spec's ID or its sentence, both as list shows them.\n")
	return b.String()
}

// selected reads the environment's selection. The error holds all mistakes.
func selected() (e2e.Config, *providers.Adapter, error) {
	c, err := e2e.FromEnv()
	a := providers.Named(providerName())
	return c, a, errors.Join(err, a.Validate())
}

func providerName() string {
	if p := os.Getenv("PROVIDER"); p != "" {
		return p
	}
	return "kwok"
}

// withProvider adds to a command what selects the provider.
func withProvider(command string) string {
	words := []string{command}
	for _, name := range []string{"PROVIDER", "K8S", "KARPENTER", "GATES"} {
		if v := os.Getenv(name); v != "" {
			words = append(words, name+"="+v)
		}
	}
	return strings.Join(words, " ")
}

func printVersion(context.Context, []string) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("this program was built without modules, and doesn't know its version")
	}
	fmt.Println("plumbline", info.Main.Version, info.GoVersion)
	return nil
}

func step(text string) { fmt.Fprintf(os.Stderr, "· %s\n", text) }

// pinned builds the programs of a pin and prints their folder.
func pinned(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: plumbline pinned NAME, a file of e2e/build/pins without its ending")
	}
	cache, err := build.Open(step)
	if err != nil {
		return err
	}
	dir, err := cache.Pinned(ctx, args[0])
	if err != nil {
		return err
	}
	fmt.Println(dir)
	return nil
}

// setup builds everything that a run needs, and starts nothing.
func setup(ctx context.Context, _ []string) error {
	c, a, err := selected()
	if err != nil {
		return err
	}
	if _, err = e2e.Prepare(ctx, c, a, step); err != nil {
		return err
	}
	step("everything is built")
	return nil
}
