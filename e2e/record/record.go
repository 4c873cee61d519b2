package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/rights"
	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// systemNamespace exists in every cluster. Its UID, which nothing else tells, is the key of redaction.
const systemNamespace = "kube-system"

// answerWithin is how long the API server may take to answer a question before the recording.
const answerWithin = 15 * time.Second

// aboutFile is the file of a recording's folder that says what it is.
const aboutFile = "recording.json"

// Options says what is recorded, and where to.
type Options struct {
	Kubeconfig string // files as in the variable KUBECONFIG; empty: the service account of a pod
	Context    string // of the kubeconfig; empty: its current one
	Folder     string // may have earlier parts of the same recording
	Redact     bool   // replace names, and drop what could tell about a company
	Keep       int64  // bytes, compressed, beyond which the oldest parts are removed; 0: no limit
}

// About says what a recording is of.
type About struct {
	Kubernetes string                        `json:"kubernetes"` // version of the API server
	Redacted   bool                          `json:"redacted"`
	Kinds      []schema.GroupVersionResource `json:"kinds"`
}

// Cluster is a cluster that can be recorded.
type Cluster struct {
	About
	config  *rest.Config
	client  kubernetes.Interface
	options Options
}

// Recording is one that is under way.
type Recording struct {
	*history.Stream
	lock *filelock.Lock
}

// Connect asks a cluster what it serves. It changes nothing, and writes nothing.
func Connect(o Options) (*Cluster, error) {
	config, err := access(o)
	if err != nil {
		return nil, err
	}
	config.WarningHandler = rest.NoWarnings{}
	asking := rest.CopyConfig(config)
	asking.Timeout = answerWithin
	asking.QPS = -1 // one question for each right, at once
	client, err := kubernetes.NewForConfig(asking)
	if err != nil {
		return nil, err
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("the API server %s does not answer: %w", config.Host, err)
	}
	kinds, err := kindsOf(client.Discovery())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", config.Host, err)
	}
	return &Cluster{About{version.GitVersion, o.Redact, kinds}, config, client, o}, nil
}

func access(o Options) (*rest.Config, error) {
	if o.Kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err != nil {
			return nil, errors.New("no cluster is named: --kubeconfig, or KUBECONFIG, must name the file with the access to " +
				"it; only in a pod there is no need to")
		}
		return config, nil
	}
	config, err := cluster.Kubeconfig(o.Kubeconfig, o.Context)
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig: %w", err)
	}
	return config, nil
}

// Rights returns what the recording needs, and as lines what of it the API server denies.
func (c *Cluster) Rights(ctx context.Context) (all []rights.Right, missing []string, err error) {
	all = needed(c.Kinds, c.Redacted)
	missing, err = rights.Missing(ctx, c.client, all...)
	return all, missing, err
}

// Record starts the recording. It ends with ctx, or with Stop.
//
// It fails if rights are missing, and lists them; if another process records into the folder; or if the folder has a
// recording that is redacted while this one is not, or the other way round.
func (c *Cluster) Record(ctx context.Context) (*Recording, error) {
	_, missing, err := c.Rights(ctx)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("rights are missing on %s:\n  %s", c.config.Host, strings.Join(missing, "\n  "))
	}
	lock, err := filelock.Try(filepath.Join(c.options.Folder, ".lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("another process records into %s", c.options.Folder)
	}
	if err != nil {
		return nil, err
	}
	stream, err := c.start(ctx)
	if err != nil {
		lock.Release()
		return nil, err
	}
	return &Recording{stream, lock}, nil
}

func (c *Cluster) start(ctx context.Context) (*history.Stream, error) {
	if err := c.describe(); err != nil {
		return nil, err
	}
	o := history.StreamOptions{Keep: c.options.Keep}
	if c.Redacted {
		system, err := c.client.CoreV1().Namespaces().Get(ctx, systemNamespace, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		o.Rewrite = (&redactor{[]byte(system.UID)}).rewrite
	}
	return history.RecordParts(ctx, c.config, c.options.Folder, o, c.Kinds...)
}

// describe writes what the recording is of, and compares it with what is there already.
func (c *Cluster) describe() error {
	file := filepath.Join(c.options.Folder, aboutFile)
	before, err := Read(c.options.Folder)
	switch {
	case err == nil && before.Redacted != c.Redacted:
		return fmt.Errorf("%s: the recording there is %s, unlike this one: take another folder", c.options.Folder,
			map[bool]string{true: "redacted", false: "not redacted"}[before.Redacted])
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	data, err := json.MarshalIndent(c.About, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o600)
}

// Stop ends the recording, and returns the error of writing it, if any.
func (r *Recording) Stop() error {
	defer r.lock.Release()
	return r.Stream.Stop()
}

// Read returns what the recording in a folder is of. The error is os.ErrNotExist if the folder has none.
func Read(folder string) (About, error) {
	var about About
	data, err := os.ReadFile(filepath.Join(folder, aboutFile))
	if err != nil {
		return about, err
	}
	if err := json.Unmarshal(data, &about); err != nil {
		return about, fmt.Errorf("%s: %w", filepath.Join(folder, aboutFile), err)
	}
	return about, nil
}
