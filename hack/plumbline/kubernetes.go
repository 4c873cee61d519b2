package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/image"
	"github.com/plumbline-e2e/plumbline/hack/plumbline/spread"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites"
)

const kubernetesHelp = `usage: plumbline kubernetes [FLAGS] e2e|lies|recall|crash|faults|explore

Runs "make e2e", "make lies", "make recall", "make crash", "make faults" or "make explore" in the pods of a Kubernetes
cluster, a part of it in each, and merges the parts.

  make e2e ON=kubernetes REGISTRY=registry.example/team SHARDS=8

  KUBECONFIG    the file with the access to the cluster; ~/.kube/config by default
  REGISTRY      where the image of the pods is pushed to and pulled from; credentials are docker's
  SHARDS        how many pods share the run
  NAMESPACE     an existing namespace for them; by default the run makes one and removes it
  QUEUE         Kueue's LocalQueue in that namespace, which admits the Job
  PROCS         how many clusters a pod has at a time, one by default: each asks for a CPU and 1.5 GiB
  START_WITHIN  how long pods may wait while none runs, 10m by default

Pods need no rights in the cluster, no privilege and no network but for images that an adapter names. What selects
specs or lies, and SPEED, mean what they mean on one machine.
`

// passedOn are the variables that parts get as they are.
var passedOn = []string{
	"PROVIDER", "K8S", "KARPENTER", "IMAGE", "GATES", "FOCUS", "SKIP", "LABELS", "SPEED", "FAILFAST", "LIE",
	"PATTERN", "REQUEST", "NTH", "REPEATS", "FOR", "SEED",
}

// struckBy are the kinds of runs that strike requests, and by what unless PATTERN says it.
var struckBy = map[string]string{"crash": "crash-before,crash-after", "faults": "lose-answer,fail"}

// onKubernetes is a run in the pods of a cluster.
type onKubernetes struct {
	spread.Options
	config          e2e.Config
	kind, registry  string
	binary, program string  // the compiled suites and this program, static
	adapters        []trial // what is run with which provider and release
	folders         []string
}

// runOnKubernetes runs parts of a run in pods.
func runOnKubernetes(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("kubernetes", flag.ContinueOnError)
	on := flags.String("on", "kubernetes", "what the user has typed as ON=")
	binary := flags.String("binary", "", "the compiled conformance test, static, which `make e2e` makes")
	push := flags.Bool("push", false, "only push the image and print its reference, for what else runs its parts")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), kubernetesHelp, "\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	k, err := readKubernetes(*on, *binary, flags.Args(), *push)
	if err := errors.Join(err, k.findProgram()); err != nil {
		return err
	}
	if *push {
		if err := image.MayPush(k.registry); err != nil {
			return err
		}
		pulled, err := k.image(ctx)
		if err == nil {
			_, err = fmt.Println(pulled)
		}
		return err
	}
	run, err := spread.Connect(k.Options)
	if err != nil {
		return err
	}
	if err := errors.Join(run.Check(ctx, runtime.GOARCH), image.MayPush(k.registry)); err != nil {
		return err
	}
	pulled, err := k.image(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	failed := run.Run(ctx, pulled)
	if ctx.Err() != nil {
		return failed
	}
	step(fmt.Sprintf("the parts took %s; what each has left is in %s", time.Since(began).Round(time.Second), k.Folder))
	if parts, err := filepath.Glob(filepath.Join(k.Folder, "part-*")); err != nil || len(parts) == 0 {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, mergeParts(k.config.Artifacts, k.Folder))
}

// readKubernetes reads the variables. The error has all mistakes.
func readKubernetes(on, binary string, args []string, onlyPush bool) (k *onKubernetes, err error) {
	k = &onKubernetes{registry: os.Getenv("REGISTRY"), binary: binary}
	k.Kubeconfig = os.Getenv("KUBECONFIG")
	k.Namespace, k.Queue, k.Out = os.Getenv("NAMESPACE"), os.Getenv("QUEUE"), os.Stdout
	var mistakes []error
	mistake := func(wrong bool, format string, args ...any) {
		if wrong {
			mistakes = append(mistakes, fmt.Errorf(format, args...))
		}
	}
	mistake(on != "kubernetes", "ON=%s: say kubernetes, or leave it out to run on this machine", on)
	mistake(k.registry == "", "REGISTRY is not set: say where the image of the pods is pushed to and pulled from, "+
		"such as registry.example/team")
	for _, name := range []string{
		"SHARD", "JOB_COMPLETION_INDEX", "KEEP", "NODE_IMAGE", "TO", "TO_IMAGE", "TO_PROVIDER", "RESUME", "REPLAY",
	} {
		mistake(os.Getenv(name) != "", "%s=%s: that is for runs on one machine", name, os.Getenv(name))
	}
	given := os.Getenv("IMAGE")
	mistake(given != "" && !image.InRegistry(given), "IMAGE=%s: pods pull it from a registry, and don't have this "+
		"machine's images", given)
	mistake(k.Queue != "" && k.Namespace == "", "QUEUE=%s: Kueue's LocalQueues are in namespaces; say in which by "+
		"NAMESPACE", k.Queue)
	if len(args) == 1 {
		k.kind = args[0]
	}
	kinds := slices.Concat([]string{"e2e", "lies", "recall"}, slices.Sorted(maps.Keys(struckBy)), []string{"explore"})
	mistake(!slices.Contains(kinds, k.kind), "%q: say %s", strings.Join(args, " "), strings.Join(kinds, ", "))
	shards := os.Getenv("SHARDS")
	k.Parts, err = strconv.Atoi(shards)
	mistake(!onlyPush && (err != nil || k.Parts < 1), "SHARDS=%s: say how many pods share the run, such as 8", shards)
	k.Workers = 1
	if procs := os.Getenv("PROCS"); procs != "" {
		k.Workers, _ = strconv.Atoi(procs) // what is wrong with it, the parts' configuration says
	}
	k.StartWithin = 10 * time.Minute
	if within := os.Getenv("START_WITHIN"); within != "" {
		k.StartWithin, err = time.ParseDuration(within)
		mistake(err != nil || k.StartWithin <= 0, "START_WITHIN=%s: say how long, such as 10m", within)
	}
	mistakes = append(mistakes, k.readRun())
	return k, errors.Join(mistakes...)
}

// findProgram checks that the image can hold this program and the suites.
func (k *onKubernetes) findProgram() (err error) {
	if k.program, err = os.Executable(); err != nil {
		return err
	}
	for _, program := range []string{k.program, k.binary} {
		if _, err := image.StaticLinux(program); err != nil {
			return fmt.Errorf("the image of the pods can't be made: %s %w; `make e2e ON=kubernetes` builds it so", program, err)
		}
	}
	return nil
}

// readRun reads what is run, as a part reads it.
func (k *onKubernetes) readRun() (err error) {
	for _, name := range []string{"REGISTRY", "KUBECONFIG"} { // they are about the pods, not about the clusters in them
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	k.Env = map[string]string{"PROCS": strconv.Itoa(k.Workers)}
	for _, name := range passedOn {
		if v := os.Getenv(name); v != "" {
			k.Env[name] = v
		}
	}
	selected, err := k.choose()
	if err != nil {
		return err
	}
	if k.config.Cluster != "local" {
		return fmt.Errorf("CLUSTER=%s: in pods clusters are local", k.config.Cluster)
	}
	if selected < k.Parts {
		return fmt.Errorf("SHARDS=%d: only %d are selected, and each part must have one", k.Parts, selected)
	}
	k.Folder = filepath.Join(k.config.Artifacts, "parts", fmt.Sprintf("%s-%d", time.Now().UTC().Format("20060102-150405"),
		os.Getpid()))
	return k.findFolders()
}

// choose reads what each part runs, and returns how much there is to share.
func (k *onKubernetes) choose() (selected int, err error) {
	k.Command = []string{spread.Tests, "-test.run", "^TestConformance$"}
	switch patterns := struckBy[k.kind]; {
	case k.kind == "lies" || k.kind == "recall":
		k.Command = []string{spread.Program, k.kind, "-binary", spread.Tests}
		var chosen []lie
		if k.config, _, chosen, err = chooseLies(k.binary, liesOf(k.kind)); err != nil {
			return 0, err
		}
		honest, lying, kept := trials(chosen)
		k.adapters = slices.Concat(honest, lying, kept)
		return len(chosen), nil
	case patterns != "":
		k.Command = []string{spread.Program, "faults", "-binary", spread.Tests, "-patterns", patterns}
		c, err := readFaults(k.binary, cmp.Or(os.Getenv("PATTERN"), patterns))
		if err != nil {
			return 0, err
		}
		k.config, selected = c.Config, math.MaxInt // each part learns how many requests there are
	case k.kind == "explore":
		k.Command = []string{spread.Program, "explore", "-binary", spread.Tests}
		x, err := readExploration(k.binary)
		if v := os.Getenv("LIE"); v != "" {
			err = errors.Join(err, fmt.Errorf("LIE=%s: looking for lies by exploration is for one machine", v))
		}
		if err != nil {
			return 0, err
		}
		k.config, selected = x.Config, math.MaxInt // there are always more seeds
	default:
		a := providers.Named(providerName())
		if k.config, err = e2e.FromEnv(); err != nil {
			return 0, errors.Join(err, a.Validate())
		}
		if selected, err = k.config.Selected(a, suites.All()); err != nil {
			return 0, err
		}
	}
	k.adapters = []trial{{provider: providerName(), release: k.config.Release}}
	return selected, nil
}

// findFolders finds the folders of adapters that aren't built in, and those that can't run in pods.
func (k *onKubernetes) findFolders() error {
	folders := map[string]bool{}
	for _, t := range k.adapters {
		for _, file := range []string{t.provider, t.vars["TO_PROVIDER"]} {
			if file == "" {
				continue
			}
			if mounts := providers.Named(file).Mounts(); len(mounts) > 0 {
				return fmt.Errorf("PROVIDER=%s: its controller has files at %s, and pods without privilege can't give it a "+
					"root of its own; it runs on machines only", file, strings.Join(mounts, ", "))
			}
			if slices.Contains(providers.Names(), file) {
				continue
			}
			here, err := os.Getwd()
			if err != nil {
				return err
			}
			absolute, err := filepath.Abs(file)
			if err != nil {
				return err
			}
			folder, err := filepath.Rel(here, filepath.Dir(absolute))
			if err != nil || !filepath.IsLocal(folder) {
				return fmt.Errorf("PROVIDER=%s: it must lie below the working directory, since it gets the same place in the image",
					file)
			}
			folders[folder] = true
		}
	}
	k.folders = slices.Sorted(maps.Keys(folders))
	return nil
}

// image builds the image of the pods, and returns its name in the registry.
func (k *onKubernetes) image(ctx context.Context) (pulled string, err error) {
	if err := os.MkdirAll(k.Folder, 0o755); err != nil {
		return "", err
	}
	content := spread.Content{Tests: k.binary, Program: k.program, Folders: k.folders}
	if content.Caches, err = k.fill(ctx); err != nil {
		return "", err
	}
	temporary, err := os.MkdirTemp("", "plumbline-parts-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	began := time.Now()
	ref, err := spread.Image(ctx, filepath.Join(temporary, "parts"), runtime.GOARCH, content)
	if err != nil {
		return "", fmt.Errorf("making the image of the pods: %w", err)
	}
	size, err := sizeOf(filepath.Join(temporary, "parts"))
	if err != nil {
		return "", err
	}
	step(fmt.Sprintf("made the image of the pods, %d MB, in %.1f s", size>>20, time.Since(began).Seconds()))
	began = time.Now()
	if pulled, err = image.Push(ctx, ref, k.registry); err == nil {
		step(fmt.Sprintf("pushed it in %.1f s: %s", time.Since(began).Seconds(), pulled))
	}
	return pulled, err
}

// fill builds all that parts will ask for, and returns the caches that were asked.
func (k *onKubernetes) fill(ctx context.Context) (caches []*build.Cache, err error) {
	err = eachProviding(k.config, k.adapters, func(c e2e.Config, a *providers.Adapter) error {
		cache, err := e2e.Ready(ctx, c, a, step)
		caches = append(caches, cache)
		return err
	})
	return caches, err
}

// sizeOf returns how many bytes the files below a folder have.
func sizeOf(folder string) (size int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
