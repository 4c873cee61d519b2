// Package spread runs the parts of a run in the pods of a Kubernetes cluster: one Indexed Job, whose pods each run one
// part on local clusters of their own. The image has all that they need ([Image]), so pods neither build nor download.
//
// A run has a namespace of its own unless it is given one, and a Lease as long as its process lives. What it makes is
// removed when it ends, and what a dead run has left by the next one.
//
//	run, err := spread.Connect(options)
//	err = run.Check(ctx)       // rights, nodes, quota: all that is wrong
//	err = run.Run(ctx, ref)    // shows the parts' lines; artifacts come into options.Folder
package spread

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/lease"
)

// Options say what runs where.
type Options struct {
	Kubeconfig  string            // file with the access to the cluster
	Namespace   string            // an existing one; empty: a new one for this run
	Queue       string            // Kueue's LocalQueue that admits the Job; empty: none
	Parts       int               // how many pods share the run
	Command     []string          // what each runs, in the image
	Env         map[string]string // its variables
	Workers     int               // how many clusters a pod has at a time, by which it asks for CPU and memory
	StartWithin time.Duration     // how long pods may wait while none runs, before the run gives them up
	Folder      string            // gets the artifacts of each part, as part-1 and so on
	Out         io.Writer         // gets the parts' lines
}

// Run is a run on a cluster.
type Run struct {
	Options
	config *rest.Config
	client kubernetes.Interface
	name   string // of the namespace, unless it is given, and of the Job
}

// Connect returns a run on the cluster of a kubeconfig. It asks nothing of the cluster.
func Connect(o Options) (*Run, error) {
	config, err := cluster.Kubeconfig(o.Kubeconfig, "")
	if err != nil {
		return nil, fmt.Errorf("KUBECONFIG: %w", err)
	}
	config.QPS = -1 // a few dozen requests, and none may wait
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("KUBECONFIG=%s: %w", o.Kubeconfig, err)
	}
	return &Run{Options: o, config: config, client: client, name: fmt.Sprintf("plumbline-%s-%d",
		time.Now().UTC().Format("0102-150405"), os.Getpid())}, nil
}

// runLabel is on what a run makes: its namespace, or what it makes in one that was there.
const runLabel = "plumbline-e2e.github.io/run"

// removedWithin is how long removing a run's objects may take.
const removedWithin = 2 * time.Minute

// namespace is where everything of the run is.
func (r *Run) namespace() string {
	if r.Namespace != "" {
		return r.Namespace
	}
	return r.name
}

func (r *Run) say(format string, args ...any) { fmt.Fprintf(r.Out, "· "+format+"\n", args...) }

// Run runs all parts with an image, fetches their artifacts, and removes everything, also if ctx ends. The error
// names the parts that have no artifacts.
func (r *Run) Run(ctx context.Context, image string) (err error) {
	if err := r.removeDead(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.remove(context.WithoutCancel(ctx))) }()
	if err := r.createNamespace(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	release, err := lease.Hold(ctx, r.client.CoordinationV1(), r.namespace(), r.leaseName(), stop)
	if err != nil {
		return err
	}
	defer release()
	if _, err := r.client.BatchV1().Jobs(r.namespace()).Create(ctx, r.job(image), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("starting the parts: %w", err)
	}
	r.say("started %d parts as Job %s in namespace %s", r.Parts, r.name, r.namespace())
	if err = r.follow(ctx); errors.Is(err, context.Canceled) {
		r.say("interrupted: removing everything from the cluster")
		return errors.New("interrupted")
	}
	return err
}

// leaseName is the name of the run's Lease: in a shared namespace each run has one.
func (r *Run) leaseName() string {
	if r.Namespace != "" {
		return r.name
	}
	return lease.Name
}

func (r *Run) createNamespace(ctx context.Context) error {
	if r.Namespace != "" {
		return nil
	}
	_, err := r.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: r.name, Labels: map[string]string{
			runLabel: r.name,
			// The pods need no more, and whoever reviews this sees it.
			"pod-security.kubernetes.io/enforce": "restricted",
		},
	}}, metav1.CreateOptions{})
	return err
}

// remove removes what the run has made, and waits until it is gone.
func (r *Run) remove(ctx context.Context) error {
	return r.removeRun(ctx, r.name, r.Namespace)
}

// removeRun removes the run of a name, in its own namespace or in the given one. The Job goes first: the Job controller
// takes its finalizers from pods as long as it knows their Job, and would leave a namespace terminating for minutes.
func (r *Run) removeRun(ctx context.Context, name, given string) error {
	within := cmp.Or(given, name)
	jobs, leases := r.client.BatchV1().Jobs(within), r.client.CoordinationV1().Leases(within)
	err := removed(ctx, "Job "+name,
		func() error {
			return jobs.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)})
		},
		func(ctx context.Context) error {
			_, err := jobs.Get(ctx, name, metav1.GetOptions{})
			return err
		})
	if given != "" {
		return errors.Join(err, ignoreNotFound(leases.Delete(ctx, name, metav1.DeleteOptions{})))
	}
	namespaces := r.client.CoreV1().Namespaces()
	return errors.Join(err, removed(ctx, "namespace "+name,
		func() error { return namespaces.Delete(ctx, name, metav1.DeleteOptions{}) },
		func(ctx context.Context) error {
			_, err := namespaces.Get(ctx, name, metav1.GetOptions{})
			return err
		}))
}

// removed removes an object, and waits until it is gone.
func removed(ctx context.Context, what string, remove func() error, get func(context.Context) error) error {
	err := ignoreNotFound(remove())
	if err == nil {
		err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, removedWithin, true,
			func(ctx context.Context) (bool, error) {
				err := get(ctx)
				return apierrors.IsNotFound(err), ignoreNotFound(err)
			})
	}
	if err != nil {
		return fmt.Errorf("removing %s: %w", what, err)
	}
	return nil
}

// removeDead removes what dead runs have left: those without a living holder of their Lease.
func (r *Run) removeDead(ctx context.Context) error {
	var left []metav1.ObjectMeta
	lists := metav1.ListOptions{LabelSelector: runLabel}
	if r.Namespace == "" {
		found, err := r.client.CoreV1().Namespaces().List(ctx, lists)
		if err != nil {
			return err
		}
		for _, n := range found.Items {
			left = append(left, n.ObjectMeta)
		}
	} else {
		found, err := r.client.BatchV1().Jobs(r.Namespace).List(ctx, lists)
		if err != nil {
			return err
		}
		for _, j := range found.Items {
			left = append(left, j.ObjectMeta)
		}
	}
	for _, o := range left {
		within, its := o.Name, lease.Name
		if r.Namespace != "" {
			within, its = r.Namespace, o.Name
		}
		who, err := lease.Holder(ctx, r.client.CoordinationV1(), within, its)
		if err != nil {
			return err
		}
		if who != "" || o.DeletionTimestamp != nil || time.Since(o.CreationTimestamp.Time) < youngest {
			continue
		}
		r.say("removing what a dead run left behind: %s", o.Name)
		if err := r.removeRun(ctx, o.Name, r.Namespace); err != nil {
			return err
		}
	}
	return nil
}

// youngest is how long after its start a run may have no Lease yet.
const youngest = 30 * time.Second

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// partFolder is where the artifacts of a part come, counted from 1.
func (r *Run) partFolder(part int) string {
	return filepath.Join(r.Folder, fmt.Sprintf("part-%d", part))
}

// indexOf returns which part a pod runs, counted from 1; 0: none.
func indexOf(pod *corev1.Pod) int {
	var index int
	if _, err := fmt.Sscan(pod.Annotations[batchv1.JobCompletionIndexAnnotation], &index); err != nil {
		return 0
	}
	return index + 1
}
