package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/apps/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/compare"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/report/chart"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/e2e/workload"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

const scaleHelp = `usage: plumbline scale [FLAGS]

Measures how long a provider takes, and what that costs whom, for more and more nodes with ten pods each: until all
pods run, until all nodes are replaced because of drift, until half of them are consolidated away, and until none is
left. A step whose time is over says how far it has come, and ends its size. Variables are those of make e2e.

`

// The steps of each size.
const (
	podsRun          = "all pods run"
	nodesDrift       = "all nodes drift"
	halfConsolidates = "half consolidates"
	noneLeft         = "none is left"
)

// usageEvery is how often processes' memory is looked at, in real time.
const usageEvery = 2 * time.Second

// podsPerNode fill a node of two CPUs.
const (
	podsPerNode = 10
	podCPU      = "180m"
)

// scaling measures one size after another.
type scaling struct {
	compare.Scale
	sizes  []int
	within time.Duration
	only   *regexp.Regexp
	folder string
	cpu    string // file for a profile of this process
	plan   *session.Plan
}

func runScale(ctx context.Context, args []string) error {
	s, err := parseScale(args)
	if err != nil {
		return err
	}
	c, a, err := selected()
	if err == nil && c.Cluster != "local" {
		err = fmt.Errorf("CLUSTER=%s: CPU and memory are known of local clusters' processes only", c.Cluster)
	}
	if err != nil {
		return err
	}
	if _, err := c.Reap(ctx); err != nil {
		return err
	}
	if s.cpu != "" {
		file, err := os.Create(s.cpu)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if s.plan, err = e2e.Prepare(ctx, c, a, step); err != nil {
		return err
	}
	if s.folder, err = e2e.NewRunFolder(filepath.Join(c.Artifacts, "scale")); err != nil {
		return err
	}
	s.Machine, s.Started = machine(), time.Now()
	for _, nodes := range s.sizes {
		size, failed := s.size(ctx, nodes)
		s.Sizes = append(s.Sizes, size)
		if err := s.write(); err != nil {
			return err
		}
		if failed != nil {
			fmt.Print(scaleTable(s.Scale))
			return fmt.Errorf("%d nodes: %w", nodes, failed)
		}
	}
	fmt.Print(scaleTable(s.Scale))
	step(fmt.Sprintf("the curves are in %s and %s", filepath.Join(s.folder, "scale.html"),
		filepath.Join(s.folder, "scale.json")))
	return nil
}

func parseScale(args []string) (*scaling, error) {
	s := &scaling{}
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), scaleHelp)
		flags.PrintDefaults()
	}
	sizes := os.Getenv("SIZES")
	if sizes == "" {
		sizes = "100,500,1000"
	}
	flags.StringVar(&sizes, "sizes", sizes, "`numbers` of nodes, the smallest first; or the variable SIZES")
	only := flags.String("only", "", "take only steps whose names match this `pattern`, and the first")
	flags.StringVar(&s.cpu, "cpuprofile", "", "write a CPU profile of recorder, proxy and measuring to this `file`")
	flags.DurationVar(&s.within, "within", 30*time.Minute, "how long each step may take, in real time")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	for field := range strings.FieldsFuncSeq(sizes, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(field)
		if err != nil || n < 2 {
			return nil, fmt.Errorf("SIZES=%s: %q is not a number of nodes from 2 up; say SIZES=100,500,1000", sizes, field)
		}
		s.sizes = append(s.sizes, n)
	}
	if s.within <= 0 {
		return nil, fmt.Errorf("WITHIN=%s: say how long a step may take, such as 1h", s.within)
	}
	if len(s.sizes) == 0 || !slices.IsSorted(s.sizes) {
		return nil, fmt.Errorf("SIZES=%s: say numbers of nodes, the smallest first, such as 100,500,1000", sizes)
	}
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		return nil, fmt.Errorf("ONLY=%s: %w", *only, err)
	}
	names := []string{podsRun, nodesDrift, halfConsolidates, noneLeft}
	if !slices.ContainsFunc(names, s.only.MatchString) {
		return nil, fmt.Errorf("ONLY=%s matches no step; they are: %s", *only, strings.Join(names, ", "))
	}
	return s, nil
}

// size measures one size on a cluster of its own. What it has measured counts even after an error.
func (s *scaling) size(ctx context.Context, nodes int) (compare.Size, error) {
	size := compare.Size{Nodes: nodes, Pods: nodes * podsPerNode}
	name := fmt.Sprintf("scale-%d-%d", os.Getpid(), nodes)
	folder := filepath.Join(s.folder, strconv.Itoa(nodes))
	on, err := s.plan.Start(ctx, name, filepath.Join(folder, "logs"))
	if err != nil {
		return size, err
	}
	s.Cluster = on.Describe()
	r := &scaleRun{cellRun: &cellRun{Session: on, folder: folder, tell: func(cellNews) {}}, scaling: s, size: &size}
	r.usage = newProcessMeter(s.plan.Cache, name)
	err = r.perform(ctx)
	if death := on.Err(); death != nil {
		err = death
	}
	return size, errors.Join(err, on.Close(context.WithoutCancel(ctx)))
}

// scaleRun measures one size.
type scaleRun struct {
	*cellRun
	*scaling
	size *compare.Size

	apps typed.DeploymentInterface
	pool *fixtures.Pool
	app  *fixtures.Workload
}

// perform takes all steps.
func (r *scaleRun) perform(ctx context.Context) error {
	ctx, release := r.WhileAlive(ctx)
	defer release()
	client, err := kubernetes.NewForConfig(r.Session.Cluster.Config())
	if err != nil {
		return err
	}
	r.apps = client.AppsV1().Deployments(r.Namespace)
	r.recording, err = history.RecordParts(ctx, r.Session.Cluster.Config(), filepath.Join(r.cellRun.folder, "recording"),
		history.StreamOptions{PartSize: 16 << 20}, karpenter.NodePools, karpenter.NodeClaims, karpenter.Nodes, karpenter.Pods)
	if err == nil {
		err = r.createClass(ctx)
	}
	if err != nil {
		return err
	}
	if err := r.steps(ctx); err != nil {
		return errors.Join(err, r.recording.Stop())
	}
	p := r.recording.Progress()
	r.size.Events, r.size.Gaps = p.Events, len(p.Gaps)
	return r.recording.Stop()
}

func (r *scaleRun) steps(ctx context.Context) error {
	n, pods := r.size.Nodes, r.size.Pods
	r.pool = fixtures.NodePool().Called("scale").OnDemand().Require(workload.CPULabel, fixtures.In, "2").
		ConsolidationPolicy(fixtures.WhenEmptyOrUnderutilized).ConsolidateAfter("Never")
	r.app = fixtures.Deployment(pods).Called("app").CPU(podCPU).Memory("64Mi").On(r.pool)
	half := (n + 1) / 2
	first := "" // hash of the NodePool
	for _, s := range []struct {
		name string
		do   func() []fixtures.Object
		done func(fleet) bool
	}{
		{
			podsRun,
			func() []fixtures.Object { return []fixtures.Object{r.pool, r.app} },
			func(s fleet) bool { first = s.hash; return s.ready == pods && s.settled() },
		},
		{
			nodesDrift,
			func() []fixtures.Object { return []fixtures.Object{r.pool.NewTemplate().Budget("20%")} },
			func(s fleet) bool { return s.ready == pods && s.settled() && s.old == 0 && s.hash != first },
		},
		{
			halfConsolidates,
			func() []fixtures.Object {
				return []fixtures.Object{r.app.Replicas(pods / 2), r.pool.ConsolidateAfter("0s")}
			},
			func(s fleet) bool { return s.ready == pods/2 && s.settled() && s.nodes <= half+half/10 },
		},
		{
			noneLeft,
			func() []fixtures.Object { return []fixtures.Object{r.app.Replicas(0)} },
			func(s fleet) bool { return s.nodes == 0 },
		},
	} {
		if s.name != podsRun && !r.only.MatchString(s.name) {
			continue
		}
		ended, err := r.step(ctx, s.name, s.do(), s.done)
		if err != nil || !ended {
			return err
		}
	}
	return nil
}

// fleet is what a step waits for.
type fleet struct {
	ready int    // pods; -1: not all have been made, or some are too many
	nodes int    // NodeClaims
	busy  int    // of them, not initialized, or being deleted
	old   int    // of them, of another template than the NodePool's
	hash  string // of the NodePool's template
}

func (s fleet) String() string {
	pods := "pods are being made"
	if s.ready >= 0 {
		pods = fmt.Sprintf("%d pods ready", s.ready)
	}
	return fmt.Sprintf("%s, %d nodes, %d of them on their way, %d drifted", pods, s.nodes, s.busy, s.old)
}

func (s fleet) settled() bool { return s.busy == 0 && s.nodes > 0 }

// step applies objects and waits until something is so, or the step's time is over. It measures how long that takes,
// and what each process used.
func (r *scaleRun) step(
	ctx context.Context, name string, do []fixtures.Object, done func(fleet) bool,
) (ended bool, err error) {
	began, beganReal, before := time.Now(), r.real(), r.usage.read()
	for _, o := range do {
		if err := r.apply(ctx, o.Unstructured()); err != nil {
			return false, err
		}
	}
	var now fleet
	var took time.Duration
	said, looked := beganReal, beganReal
	for {
		if now, err = r.fleet(ctx); err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		took, ended = r.real()-beganReal, done(now)
		if ended || took > r.within {
			break
		}
		if r.real()-said > compareEvery {
			said = r.real()
			step(fmt.Sprintf("%d nodes, %s: %s, after %s", r.size.Nodes, name, now, report.Round(took)))
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		if r.real()-looked > usageEvery {
			looked = r.real()
			r.usage.read() // memory
		}
	}
	s := compare.Step{
		Name: name, Took: time.Since(began).Seconds(), Real: took.Seconds(), Processes: r.usage.since(before),
	}
	if !ended {
		s.Left = now.String()
	}
	r.size.Steps = append(r.size.Steps, s)
	step(fmt.Sprintf("%d nodes: %s after %s of cluster time, %s real", r.size.Nodes, s, report.Round(time.Since(began)),
		report.Round(took)))
	return ended, nil
}

func (r *scaleRun) fleet(ctx context.Context) (fleet, error) {
	d, err := r.apps.Get(ctx, r.app.GetName(), metav1.GetOptions{})
	if err != nil {
		return fleet{}, err
	}
	s := fleet{ready: ready(d)}
	r.recording.Present(func(w *history.World) {
		if pool := w.Get(karpenter.NodePools, "", r.pool.GetName()); pool != nil {
			s.hash = pool.Unstructured().GetAnnotations()[karpenter.NodePoolHashAnnotation]
		}
		for _, o := range w.List(karpenter.NodeClaims) {
			u := o.Unstructured()
			s.nodes++
			if u.GetDeletionTimestamp() != nil || !karpenter.IsTrue(u, karpenter.Initialized) {
				s.busy++
			}
			if u.GetAnnotations()[karpenter.NodePoolHashAnnotation] != s.hash {
				s.old++
			}
		}
	})
	return s, nil
}

// ready returns the pods that are ready, once the controller manager has seen the Deployment as it is.
func ready(d *appsv1.Deployment) int {
	if d.Status.ObservedGeneration < d.Generation || d.Status.Replicas != *d.Spec.Replicas {
		return -1
	}
	return int(d.Status.ReadyReplicas)
}

func (s *scaling) write() error {
	var page bytes.Buffer
	if err := s.WritePage(&page); err != nil {
		return err
	}
	return errors.Join(writeJSON(filepath.Join(s.folder, "scale.json"), s.Scale),
		os.WriteFile(filepath.Join(s.folder, "scale.html"), page.Bytes(), 0o644))
}

// scaleTable returns the measured times and shares for a terminal.
func scaleTable(s compare.Scale) string {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "nodes\tstep\tcluster's s\treal s\tshares of CPU\tmemory, MB\t")
	for _, size := range s.Sizes {
		for _, step := range size.Steps {
			var shares, memory []string
			for _, p := range step.Processes {
				shares = append(shares, fmt.Sprintf("%s %.0f%%", p.Name, 100*step.Share(p)))
				memory = append(memory, fmt.Sprintf("%.0f", p.Memory))
			}
			fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t\n", size.Nodes, step, chart.Number(step.Took), chart.Number(step.Real),
				strings.Join(shares, ", "), strings.Join(memory, ", "))
		}
	}
	_ = t.Flush() // into memory
	return b.String()
}
