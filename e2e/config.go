package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/build/launch"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Config says how to run. People set it by environment variables, which `make e2e` passes on.
type Config struct {
	Cluster    string          // CLUSTER: the backend, local, kind or existing; default local
	Kubernetes string          // K8S: full version, such as v1.36.3; default the newest
	NodeImage  string          // NODE_IMAGE: image of kind's node; empty: kind's own for the version
	Kubeconfig string          // KUBECONFIG: of the existing cluster; other backends ignore it
	Registry   string          // REGISTRY: where its nodes pull this machine's images from; empty: nowhere
	Release    string          // KARPENTER: release of the provider's source module; empty: the adapter's
	Image      string          // IMAGE: image to use instead of the adapter's; empty: the adapter's
	To         string          // TO: release that specs upgrade the provider to; empty: the adapter's, if the next are set
	ToImage    string          // TO_IMAGE: image of that release; empty: the adapter's
	ToProvider string          // TO_PROVIDER: adapter of that release; empty: the same
	Gates      map[string]bool // GATES: feature gates that override the adapter's; nil: only the adapter's
	Focus      *regexp.Regexp  // FOCUS: run only specs whose ID or sentence matches; nil: all
	Skip       *regexp.Regexp  // SKIP: don't run specs whose ID or sentence matches; nil: none
	Labels     string          // LABELS: a Ginkgo label filter; empty: all
	Shard      Shard           // SHARD: run only this part of the selected specs, such as 2/4; empty: all
	Procs      int             // PROCS: number of specs at a time, each on a cluster of its own
	Speed      clock.Speed     // SPEED: of the clusters' clocks; default auto where the backend and the system allow it
	Keep       bool            // KEEP=1: keep the cluster of a failure until Ctrl-C
	FailFast   bool            // FAILFAST=1: begin with the quickest specs, and end with the first red one
	Artifacts  string          // ARTIFACTS: folder for artifacts; default _artifacts in the working directory
	Rerun      string          // PLUMBLINE_RERUN: the user's command, for "run it alone"

	backend cluster.Backend
	labels  types.LabelFilter
	tried   bool // the leading process has tried whether clocks can be bent

	controller report.Controller // what it was made of, as the leading process found it
	upgradedTo *report.Upgrade   // nil: nothing
	dealt      *deal             // nil: this run is the whole
}

// FromEnv reads the configuration from the environment. The error lists all mistakes and how
// to fix them.
func FromEnv() (Config, error) {
	var mistakes []error
	mistake := func(err error) {
		if err != nil {
			mistakes = append(mistakes, err)
		}
	}
	c := Config{
		NodeImage: os.Getenv("NODE_IMAGE"),
		Registry:  os.Getenv("REGISTRY"),
		Release:   os.Getenv("KARPENTER"),
		Image:     os.Getenv("IMAGE"),
		Labels:    os.Getenv("LABELS"),
		Rerun:     os.Getenv("PLUMBLINE_RERUN"),
	}
	var err, err2 error
	c.backend, err = selectedBackend()
	c.Cluster = c.backend.Name
	mistake(err)
	if c.backend.Guest != nil {
		c.Kubeconfig = os.Getenv("KUBECONFIG")
	}
	c.Kubernetes = os.Getenv("K8S")
	version, err := c.backend.Kubernetes(c.options())
	if err != nil && c.Kubernetes != "" {
		err = fmt.Errorf("K8S=%s: %w", c.Kubernetes, err)
	}
	mistake(err)
	c.Kubernetes = version
	if c.NodeImage != "" && !c.backend.NodeImages {
		with := backendsThat(func(b cluster.Backend) bool { return b.NodeImages })
		mistake(fmt.Errorf("NODE_IMAGE=%s: %s clusters use no node image; set %s", c.NodeImage, c.Cluster, with))
	}
	if c.Registry != "" && c.backend.Guest == nil {
		with := backendsThat(func(b cluster.Backend) bool { return b.Guest != nil })
		mistake(fmt.Errorf("REGISTRY=%s: images are loaded on %s clusters, without a registry; say %s", c.Registry,
			c.Cluster, with))
	}
	c.Gates, err = gates("GATES")
	mistake(err)
	c.Focus, err = pattern("FOCUS")
	c.Skip, err2 = pattern("SKIP")
	mistake(errors.Join(err, err2))
	c.labels, err = types.ParseLabelFilter(c.Labels)
	if err != nil {
		mistake(fmt.Errorf("LABELS=%s: not a Ginkgo label filter such as 'drift && !slow': %w", c.Labels, err))
	}
	c.Shard, err = ShardFromEnv()
	c.Speed, err2 = speed("SPEED", c.backend)
	mistake(errors.Join(err, err2))
	c.Procs, err = number("PROCS", procs(c.backend, c.Speed, runtime.NumCPU(), availableMemory()))
	mistake(err)
	if c.backend.Guest != nil && c.Procs > 1 {
		mistake(fmt.Errorf("PROCS=%d: there is only one cluster, on which specs run one after another; set PROCS=1", c.Procs))
	}
	c.Keep, err = flag("KEEP")
	c.FailFast, err2 = flag("FAILFAST")
	mistake(errors.Join(err, err2, c.readUpgrade()))
	c.Artifacts, err = filepath.Abs(envOr("ARTIFACTS", "_artifacts"))
	mistake(err)
	return c, errors.Join(mistakes...)
}

// options returns the cluster options that all clusters share.
func (c Config) options() cluster.Options {
	return cluster.Options{
		Kubernetes: c.Kubernetes, NodeImage: c.NodeImage, Kubeconfig: c.Kubeconfig,
		Registry: c.Registry,
	}
}

// Prepare builds the backend's and the provider's programs, or finds them in the cache. It
// starts nothing. Without a provider a is nil.
func Prepare(ctx context.Context, c Config, a *providers.Adapter, progress func(string)) (*session.Plan, error) {
	return session.Prepare(ctx, c.setup(a, progress))
}

// Ready builds all that a run needs, as Run does before its workers start. It returns the cache that was asked for it:
// one that is sealed by its answers serves the same run elsewhere.
func Ready(ctx context.Context, c Config, a *providers.Adapter, progress func(string)) (*build.Cache, error) {
	plan, err := Prepare(ctx, c, a, progress)
	if err != nil {
		return nil, err
	}
	_, err = ginkgoCLI(ctx, plan.Cache)
	_, err2 := launch.Starter(ctx, plan.Cache)
	return plan.Cache, errors.Join(err, err2)
}

// setup returns the wanted cluster and the provider on it.
func (c Config) setup(a *providers.Adapter, progress func(string)) session.Setup {
	return session.Setup{
		Backend: c.backend, Cluster: c.options(), Adapter: c.Gated(a), Release: c.Release, Image: c.Image,
		To: c.target(a), Speed: c.Speed, Tried: c.tried, Progress: progress,
	}
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// gates reads feature gates in Karpenter's own format.
func gates(name string) (map[string]bool, error) {
	v := os.Getenv(name)
	if v == "" {
		return nil, nil //nolint:nilnil // no gates are what an empty variable means
	}
	all := map[string]bool{}
	for entry := range strings.SplitSeq(v, ",") {
		gate, state, _ := strings.Cut(strings.TrimSpace(entry), "=")
		on, err := strconv.ParseBool(state)
		if err != nil || gate == "" {
			return nil, fmt.Errorf("%s=%s: %q is not a feature gate and its state; write them as in "+
				"StaticCapacity=true,NodeRepair=false", name, v, entry)
		}
		all[gate] = on
	}
	return all, nil
}

// Gated returns the adapter with the configuration's gates over its own.
func (c Config) Gated(a *providers.Adapter) *providers.Adapter {
	if len(c.Gates) == 0 || a == nil {
		return a
	}
	over := *a
	over.Controller.Gates = maps.Clone(a.Controller.Gates)
	if over.Controller.Gates == nil {
		over.Controller.Gates = map[string]bool{}
	}
	maps.Copy(over.Controller.Gates, c.Gates)
	return &over
}

func pattern(name string) (*regexp.Regexp, error) {
	v := os.Getenv(name)
	if v == "" {
		return nil, nil //nolint:nilnil // no pattern is what an empty variable means
	}
	re, err := regexp.Compile(v)
	if err != nil {
		return nil, fmt.Errorf("%s=%s: not a regular expression: %w", name, v, err)
	}
	return re, nil
}

func number(name string, otherwise int) (int, error) {
	v := os.Getenv(name)
	if v == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s=%s: not a whole number from 1 up", name, v)
	}
	return n, nil
}

func flag(name string) (bool, error) {
	v := os.Getenv(name)
	if v == "" {
		return false, nil
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("%s=%s: say 1 or 0", name, v)
	}
	return b, nil
}

// selects reports whether the configuration selects a spec.
func (c Config) selects(provider string, suite *Suite, spec *Spec) bool {
	sentence := report.Sentence(provider, suite.Name, spec.Name)
	matches := func(re *regexp.Regexp) bool { return re.MatchString(spec.id) || re.MatchString(sentence) }
	return (c.Focus == nil || matches(c.Focus)) &&
		(c.Skip == nil || !matches(c.Skip)) &&
		(c.labels == nil || c.labels(spec.labels(suite)))
}

// Selected returns how many specs the configuration selects. The error has all mistakes that need no cluster.
func (c Config) Selected(a *providers.Adapter, suites []*Suite) (int, error) {
	if err := c.checkSuites(a, suites); err != nil {
		return 0, err
	}
	_, selected, err := c.deal(a, suites)
	return len(selected), err
}

// Parts returns the IDs of the selected specs that each of so many parts of a run has.
func (c Config) Parts(a *providers.Adapter, suites []*Suite, parts int) (ids [][]string, err error) {
	if err := c.checkSuites(a, suites); err != nil {
		return nil, err
	}
	c.Shard = Shard{}
	_, selected, err := c.deal(a, suites)
	d, _ := dealOut(selected, parts)
	return d.Parts, err
}

// deal returns the deal of the selected specs to the parts of the run, and which this part has. If none is selected,
// the error shows examples.
func (c Config) deal(a *providers.Adapter, suites []*Suite) (deal, []chosen, error) {
	all := 0
	var examples []string
	for _, suite := range suites {
		for i, spec := range suite.Specs() {
			all++
			if i == 0 {
				examples = append(examples, fmt.Sprintf("  %s  %s", spec.id, report.Sentence(a.Name, suite.Name, spec.Name)))
			}
		}
	}
	selected := c.choose(a, suites)
	switch n := len(selected); {
	case all == 0:
		return deal{}, nil, errors.New(
			"there are no specs to run: give Run or Register at least one suite; suites.All() has them all")
	case n > 0 && n < c.Shard.Of:
		return deal{}, nil, fmt.Errorf("SHARD=%s: only %d specs are selected, and each part must have one", c.Shard, n)
	case n == 0:
		return deal{}, nil, fmt.Errorf("none of the %d specs is selected by %s; an ID and a sentence to match look "+
			"like\n%s\nand a label like %q; `make list` shows them all",
			all, c.selection(), strings.Join(examples, "\n"), suites[0].label())
	}
	if c.Shard.Whole() {
		return deal{}, selected, nil
	}
	d, parts := dealOut(selected, c.Shard.Of)
	d.Whole = c.selection() == "" && wholeCatalogue(suites)
	return d, parts[c.Shard.Part-1], nil
}

func (c Config) selection() string {
	var parts []string
	if c.Focus != nil {
		parts = append(parts, "FOCUS="+c.Focus.String())
	}
	if c.Skip != nil {
		parts = append(parts, "SKIP="+c.Skip.String())
	}
	if c.Labels != "" {
		parts = append(parts, "LABELS="+c.Labels)
	}
	return strings.Join(parts, " ")
}
