package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/providers"
)

// mutantsTool is the module that puts mistakes into a provider's source.
const mutantsTool = "hack/mutants"

// These files say of some mutants why no spec is asked to catch them, and why none does.
const (
	excludedFile  = mutantsTool + "/excluded.yaml"
	survivorsFile = mutantsTool + "/survivors.yaml"
)

// reason says something of some mutants.
type reason struct {
	Why     string   `json:"why"`
	Mutants []string `json:"mutants"` // patterns of mutant.String
	any     *regexp.Regexp
}

// mutantGates are the gates that mutants are tried with: what is off can't be tested.
const mutantGates = "CapacityBuffer=true,NodeOverlay=true,NodeRepair=true,SpotToSpotConsolidation=true," +
	"StaticCapacity=true"

// mutant is one mistake, as the tool lists it.
type mutant struct {
	ID       int    `json:"id"`
	Name     string `json:"name"` // stays the same as long as the function does
	Package  string `json:"package"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	Operator string `json:"operator"`
	Before   string `json:"before"`
	After    string `json:"after"`
}

// String returns a mutant's name and what it changes, on one line.
func (x mutant) String() string {
	return x.Name + ": " + strings.Join(strings.Fields(x.Before), " ")
}

// mutantsConfig says which mutants are tried, and how hard.
type mutantsConfig struct {
	e2e.Config
	binary string
	n      int            // N: how many are drawn; default 20
	seed   uint64         // SEED: of the draw; default 1
	specs  int            // SPECS: how many specs see a mutant at most; default 40
	where  *regexp.Regexp // MUTANT: a pattern of names; nil: all
}

// runMutants tries a sample of the mistakes that could be made in a provider's source, each by
// the specs that it would make a difference to.
func runMutants(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	binary := flags.String("binary", "", "the compiled conformance test, which `make mutants` makes")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("mutants: %w", err)
	}
	c, a, err := mutantsFromEnv(*binary)
	if err != nil {
		return err
	}
	m, err := buildMutants(ctx, c, a)
	if err != nil {
		return err
	}
	if err := m.cover(ctx); err != nil {
		return err
	}
	drawn := m.draw()
	err = m.tryAll(ctx, drawn)
	if err != nil && ctx.Err() == nil {
		return err
	}
	file := filepath.Join(m.folder, "report.md") // also of what was tried until Ctrl-C
	fmt.Fprintf(os.Stdout, "\n%s\n%s\n", m.headline(drawn), file)
	return errors.Join(err, os.WriteFile(file, []byte(m.report(drawn)), 0o600))
}

// mutantsFromEnv reads the variables. The error holds all mistakes.
func mutantsFromEnv(binary string) (mutantsConfig, *providers.Adapter, error) {
	if os.Getenv("GATES") == "" {
		if err := os.Setenv("GATES", mutantGates); err != nil {
			return mutantsConfig{}, nil, err
		}
	}
	base, a, err := selected()
	c := mutantsConfig{Config: base, binary: binary}
	errs := []error{err}
	number := func(name string, otherwise int) int {
		text := cmp.Or(os.Getenv(name), strconv.Itoa(otherwise))
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			errs = append(errs, fmt.Errorf("%s=%s: not a whole number from 1 up", name, text))
		}
		return n
	}
	c.n, c.seed, c.specs = number("N", 20), uint64(number("SEED", 1)), number("SPECS", 40)
	if text := os.Getenv("MUTANT"); text != "" {
		c.where, err = regexp.Compile(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("MUTANT=%s: not a pattern of mutants' names: %w", text, err))
		}
	}
	for _, name := range []string{"KARPENTER", "IMAGE", "FOCUS", "SKIP", "LABELS", "KEEP", "LIE"} {
		if v := os.Getenv(name); v != "" {
			errs = append(errs, fmt.Errorf("%s=%s: mutants are made of the adapter's own release and tried by the specs that "+
				"they make a difference to; MUTANT selects mutants", name, v))
		}
	}
	if base.Cluster != "local" {
		errs = append(errs, fmt.Errorf("CLUSTER=%s: mutants write down what they reach, which only local clusters let them",
			base.Cluster))
	}
	if _, err := os.Stat(binary); err != nil {
		errs = append(errs, fmt.Errorf("the conformance test is missing, run `make mutants`: %w", err))
	}
	if a.Source.Module == "" || a.Controller.Build == nil || a.Controller.Build.Module != "" {
		errs = append(errs, fmt.Errorf("PROVIDER=%s: mutants are made of source that the adapter names as a module", a.Name))
	}
	return c, a, errors.Join(errs...)
}

// mutants is a build with all mutants of a provider, and what is known of them.
type mutants struct {
	mutantsConfig
	folder   string // for what outlives a run: coverage, results
	adapter  string // for PROVIDER
	all      []mutant
	excluded []reason // not to draw them
	survive  []reason // of those that are drawn
	coverage map[string]covered
	results  map[string]mutantResult // by name
}

// mutated says in which packages of a module mistakes are made: those that make decisions.
func mutated(module string) string {
	if module == "sigs.k8s.io/karpenter" {
		return "./pkg/controllers/...,./kwok/cloudprovider/..."
	}
	return "./pkg/cloudprovider/...,./pkg/controllers/...,./pkg/providers/..."
}

// buildMutants copies and mutates the source, and builds it once.
func buildMutants(ctx context.Context, c mutantsConfig, a *providers.Adapter) (*mutants, error) {
	cache, err := build.Open(step)
	if err != nil {
		return nil, err
	}
	source, err := cache.Module(ctx, a.Source.Module, a.Source.Version)
	if err != nil {
		return nil, err
	}
	m := &mutants{
		mutantsConfig: c, folder: filepath.Join(c.Artifacts, "mutants", a.Name+"-"+a.Source.Version),
		results: map[string]mutantResult{},
	}
	copied := filepath.Join(m.folder, "source")
	cmd := exec.CommandContext(ctx, "go", "run", ".", "-source", source, "-out", copied,
		"-packages", mutated(a.Source.Module))
	cmd.Dir = mutantsTool
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("making mutants: %w\n%s", err, bytes.TrimSpace(out))
	}
	step("made " + string(bytes.TrimSpace(out)) + " in " + copied)
	m.adapter = filepath.Join(copied, "adapter.yaml")
	base, err := filepath.Abs(providerName())
	if _, missing := os.Stat(providerName()); missing != nil || err != nil {
		base = providerName() // a name, not a file
	}
	text := fmt.Sprintf("name: %s\nbase: %s\ncontroller:\n  build: {module: ., package: %s}\n"+
		"  env: {MUTANT: '{{env \"MUTANT\"}}', MUTANT_COVERAGE: '{{env \"MUTANT_COVERAGE\"}}'}\n",
		a.Name, base, a.Controller.Build.Package)
	if err := os.WriteFile(m.adapter, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if err := errors.Join(readJSON(filepath.Join(copied, "mutants.json"), &m.all),
		readReasons(excludedFile, &m.excluded), readReasons(survivorsFile, &m.survive), m.readResults()); err != nil {
		return nil, err
	}
	mutated := providers.Load(m.adapter)
	if err := mutated.Validate(); err != nil {
		return nil, err
	}
	_, err = e2e.Prepare(ctx, c.Config, mutated, step)
	return m, err
}

// readReasons reads a file of reasons.
func readReasons(file string, into *[]reason) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(data, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for n := range *into {
		r := &(*into)[n]
		if r.any, err = regexp.Compile(strings.Join(r.Mutants, "|")); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if r.Why == "" || len(r.Mutants) == 0 {
			return fmt.Errorf("%s: a reason needs words and patterns of mutants: %q", file, r.Why)
		}
	}
	return nil
}

// whyOf returns the first reason that is about a mutant, or "".
func whyOf(reasons []reason, x mutant) string {
	for _, r := range reasons {
		if r.any.MatchString(x.String()) {
			return r.Why
		}
	}
	return ""
}

// meant returns the mutants that the user's pattern selects.
func (m *mutants) meant() []mutant {
	return slices.DeleteFunc(slices.Clone(m.all), func(x mutant) bool {
		return m.where != nil && !m.where.MatchString(x.Name)
	})
}

// draw returns the sample: the same for the same seed, source and pattern. A mutant that is excluded makes room for
// the next one, and leaves the others in the sample.
func (m *mutants) draw() []mutant {
	drawn := slices.DeleteFunc(shuffled(m.meant(), m.seed), func(x mutant) bool { return whyOf(m.excluded, x) != "" })
	return part(m.Shard, drawn[:min(m.n, len(drawn))])
}

// shuffled returns a copy in another order, which is the same for the same seed: any first part of it is a sample.
func shuffled[T any](all []T, seed uint64) []T {
	all = slices.Clone(all)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a draw that can be repeated
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
