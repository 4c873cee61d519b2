package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/compare"
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/measure"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/e2e/workload"
)

// cellNews is what the process of a cell tells its parent, one JSON document a line.
type cellNews struct {
	Step  string        `json:"step,omitempty"`
	At    time.Duration `json:"at,omitempty"` // how far the workload is
	Nodes int           `json:"nodes,omitempty"`
	Run   *compare.Run  `json:"run,omitempty"` // the last news
}

// runCell plays a workload on one cluster, in a process of its own: a process has only one clock.
func runCell(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("cell", flag.ContinueOnError)
	name := flags.String("workload", "", "a name or a file")
	seed := flags.Uint64("seed", 1, "of the workload")
	length := flags.Duration("length", 0, "of the workload")
	folder := flags.String("into", "", "folder for the recording and the logs")
	cluster := flags.String("cluster", "compare", "name of the cluster")
	build := flags.Bool("build", false, "only build what the cell needs")
	settings := flags.String("settings", "", "of the controller, as in SETTINGS")
	if err := flags.Parse(args); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	tell := func(n cellNews) { _ = out.Encode(n) }
	c, a, err := selected()
	if err != nil {
		return err
	}
	variables, err := compare.ParseSettings(*settings)
	if err != nil {
		return err
	}
	a.Controller.Env = with(a.Controller.Env, variables)
	plan, err := e2e.Prepare(ctx, c, a, func(s string) { tell(cellNews{Step: s}) })
	if err != nil || *build {
		return err
	}
	w, err := readWorkload(*name, *seed, *length)
	if err != nil {
		return err
	}
	plan.Leaps = true
	began := time.Now()
	r := &cellRun{workload: w, folder: *folder, tell: tell}
	s, err := plan.Start(ctx, *cluster, filepath.Join(*folder, "logs"))
	if err != nil {
		return err
	}
	r.Session, r.usage = s, newProcessMeter(plan.Cache, *cluster)
	run, err := r.play(ctx)
	if death := s.Err(); death != nil {
		err = death
	}
	err = errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	if err != nil {
		return err
	}
	if s.Clock == nil {
		run.Took = time.Since(began)
	}
	tell(cellNews{Run: run})
	return nil
}

// readWorkload returns a named workload, or one from a file, up to a length if that is not zero.
func readWorkload(name string, seed uint64, length time.Duration) (*workload.Workload, error) {
	var w *workload.Workload
	var err error
	if strings.ContainsAny(name, "./") {
		w, err = workload.Read(name)
	} else {
		w, err = workload.Named(name, seed)
	}
	if err == nil && length > 0 {
		w.Shorten(length)
	}
	return w, err
}

// with returns a map with other entries over its own.
func with(own, over map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, own)
	maps.Copy(all, over)
	return all
}

// cellRun is one workload on one cluster.
type cellRun struct {
	*session.Session
	workload *workload.Workload
	folder   string
	usage    *processMeter
	tell     func(cellNews)

	meter     *measure.Meter
	recording *history.Stream
	class     map[string]any // nodeClassRef
	scraped   time.Time
	unscraped error
}

// scrapeEvery is how often the controller's metrics are read, in the cluster's time.
const scrapeEvery = 5 * time.Minute

func (r *cellRun) play(ctx context.Context) (*compare.Run, error) {
	ctx, release := r.WhileAlive(ctx)
	defer release()
	into := filepath.Join(r.folder, "recording")
	var err error
	r.recording, err = history.RecordParts(ctx, r.Cluster.Config(), into, history.StreamOptions{PartSize: 16 << 20},
		karpenter.NodePools, karpenter.NodeClaims, karpenter.Nodes, karpenter.Pods, karpenter.PodDisruptionBudgets,
		karpenter.Events, r.Adapter.NodeClassGVR())
	if err != nil {
		return nil, err
	}
	r.meter = measure.New(r.workload.Length)
	run := &compare.Run{Recording: "recording", Cluster: r.Describe()}
	took, err := r.perform(ctx, run)
	err = errors.Join(err, r.recording.Stop())
	if err != nil {
		return nil, err
	}
	r.tell(cellNews{Step: "reading the recording"})
	if err := r.meter.Recording(into); err != nil {
		return nil, err
	}
	run.Result, run.Took = r.meter.Result(), took
	if r.unscraped != nil {
		run.Notes = append(run.Notes, fmt.Sprintf("the controller's metrics can't be read: %v", r.unscraped))
	}
	return run, nil
}

// perform plays the workload and returns how long it took in real time.
func (r *cellRun) perform(ctx context.Context, run *compare.Run) (time.Duration, error) {
	p := &workload.Player{Apply: r.apply, Delete: r.remove, Recording: r.recording, Progress: r.progress(ctx)}
	if r.Clock != nil {
		p.Jump = func(ctx context.Context, d time.Duration) error { return r.Clock.Jump(ctx, d, d) }
		r.Clock.Lag() // of before
	}
	if err := r.createClass(ctx); err != nil {
		return 0, err
	}
	r.scrape(ctx)
	began := r.real()
	err := p.Play(ctx, r.workload)
	r.scrape(ctx)
	run.Skipped, run.Moves = p.Skipped()
	if r.Clock != nil {
		if lag := r.Clock.Lag(); lag.Late > clock.MaxLag {
			run.Notes = append(run.Notes, fmt.Sprintf("the clock ran too fast: %s was %s late", lag.Process,
				lag.Late.Round(10*time.Millisecond)))
		}
	}
	return r.real() - began, err
}

// real returns a time of the machine, whatever the cluster's clock says. Only differences mean something.
func (r *cellRun) real() time.Duration {
	if r.Clock != nil {
		return r.Clock.Real()
	}
	return time.Duration(time.Now().UnixNano())
}

func (r *cellRun) progress(ctx context.Context) func(time.Duration) {
	return func(at time.Duration) {
		nodes := 0
		r.recording.Present(func(w *history.World) { nodes = len(w.List(karpenter.NodeClaims)) })
		r.tell(cellNews{At: at, Nodes: nodes})
		if time.Since(r.scraped) >= scrapeEvery {
			r.scrape(ctx)
		}
	}
}

func (r *cellRun) scrape(ctx context.Context) {
	r.scraped = time.Now()
	if cpu := r.usage.read()[karpenterProcess]; cpu > 0 {
		r.meter.Process(cpu, 1e6*r.usage.most[karpenterProcess])
	}
	page, err := r.Provider.Metrics(ctx)
	if err == nil {
		err = r.meter.Scrape(page)
	}
	if err != nil && !errors.Is(err, install.ErrNoMetric) || r.unscraped == nil {
		r.unscraped = err
	}
}

// createClass creates the NodeClass that all NodePools refer to.
func (r *cellRun) createClass(ctx context.Context) error {
	o := r.Adapter.NodeClassObject("plumbline")
	gvk := o.GroupVersionKind()
	r.class = map[string]any{"group": gvk.Group, "kind": gvk.Kind, "name": o.GetName()}
	return r.send(ctx, o)
}

func (r *cellRun) apply(ctx context.Context, object *unstructured.Unstructured) error {
	o := object.DeepCopy()
	if o.GetKind() == "NodePool" {
		giveSizes(o, r.Adapter.CPULabel)
		if err := env.AddDefaults(r.Adapter, o, r.class); err != nil {
			return err
		}
	}
	return r.send(ctx, o)
}

// send applies an object.
func (r *cellRun) send(ctx context.Context, o *unstructured.Unstructured) error {
	cluster.Own(o)
	client, err := r.resource(o)
	if err != nil {
		return err
	}
	_, err = client.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: "plumbline", Force: true})
	return err
}

func (r *cellRun) remove(ctx context.Context, o *unstructured.Unstructured) error {
	client, err := r.resource(o)
	if err != nil {
		return err
	}
	err = client.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (r *cellRun) resource(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	resource, namespace, err := install.Locate(r.Mapper, o, r.Namespace)
	if err != nil {
		return nil, fmt.Errorf("the cluster does not serve %s: %w", o.GroupVersionKind(), err)
	}
	return r.Client.Resource(resource).Namespace(namespace), nil
}

// giveSizes puts the provider's own label in the place of workload.CPULabel, or drops the requirement if there is none.
func giveSizes(pool *unstructured.Unstructured, label string) {
	path := []string{"spec", "template", "spec", "requirements"}
	all, _, _ := unstructured.NestedSlice(pool.Object, path...)
	var kept []any
	for _, r := range all {
		m, is := r.(map[string]any)
		if is && m["key"] == workload.CPULabel {
			if label == "" {
				continue
			}
			m["key"] = label
		}
		kept = append(kept, r)
	}
	if len(all) > 0 {
		_ = unstructured.SetNestedSlice(pool.Object, kept, path...)
	}
}
