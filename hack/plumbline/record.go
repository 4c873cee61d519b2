package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/image"
	"github.com/plumbline-e2e/plumbline/e2e/record"
)

const recordHelp = `usage: plumbline record [FLAGS]

Records what Karpenter does on a cluster of yours, until Ctrl-C or for some time. It only reads: NodePools,
NodeClaims, NodeClasses, Nodes, Pods, PodDisruptionBudgets and Events, no Secrets and no ConfigMaps. What Pods and
NodeClasses say of themselves is recorded as it is, environments included, unless --redact is given.

The folder can be given to judge, show and explain; recording into it again goes on with it.

  plumbline record --kubeconfig ~/.kube/config --for 2h
  plumbline record --role                                    the ClusterRole that it needs
  plumbline record --push registry.example/team              an image of this program
  plumbline record --manifest --image registry.example/team/plumbline-...@sha256:... | kubectl apply -f -
  kubectl exec -n plumbline deploy/plumbline-record -- /plumbline record --archive /recording | tar x -C recording
`

// progressEvery is how often a recording says how far it is.
const progressEvery = time.Minute

type recordFlags struct {
	record.Options
	duration       time.Duration
	role, manifest bool
	pod            record.Pod
	keep           string
	push, archive  string
}

// recordCluster records a cluster that somebody else runs.
func recordCluster(ctx context.Context, args []string) error {
	f, err := parseRecordFlags(args)
	if err != nil {
		return err
	}
	switch {
	case f.archive != "":
		return record.Archive(os.Stdout, f.archive)
	case f.push != "":
		return pushProgram(ctx, f.push)
	}
	c, err := record.Connect(f.Options)
	if err != nil {
		return err
	}
	if f.role || f.manifest {
		return printManifest(ctx, c, f)
	}
	r, err := c.Record(ctx)
	if err != nil {
		return err
	}
	step(fmt.Sprintf("recording %s into %s, %s", whatIsRecorded(c.About), f.Folder, until(f.duration)))
	return awaitEnd(ctx, r, f)
}

func parseRecordFlags(args []string) (*recordFlags, error) {
	f := &recordFlags{}
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), recordHelp, "\n")
		flags.PrintDefaults()
	}
	flags.StringVar(&f.Kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "`file` with the access to the cluster; "+
		"in a pod, its service account will do")
	flags.StringVar(&f.Context, "context", "", "`name` of the kubeconfig's context; the current one by default")
	flags.DurationVar(&f.duration, "for", 0, "how long to record, such as 2h; until Ctrl-C by default")
	flags.StringVar(&f.Folder, "into", filepath.Join("_artifacts", "recording"), "`folder` for the recording")
	flags.StringVar(&f.keep, "keep", "", "`size` of the recording, such as 4Gi, beyond which its oldest parts are "+
		"removed; no limit by default")
	flags.BoolVar(&f.Redact, "redact", false, "replace names, labels, images and addresses by hashes, and drop "+
		"environments, arguments, messages and annotations")
	flags.BoolVar(&f.role, "role", false, "print the ClusterRole that the recording needs, and record nothing")
	flags.BoolVar(&f.manifest, "manifest", false, "print a Deployment that records inside the cluster, and what it needs")
	flags.StringVar(&f.pod.Image, "image", "", "of the Deployment: `reference` of an image of this program; see --push")
	flags.StringVar(&f.pod.Namespace, "namespace", "plumbline", "of the Deployment: its `namespace`")
	flags.StringVar(&f.push, "push", "", "push an image of this program below a `path` of a registry, and print its "+
		"reference")
	flags.StringVar(&f.archive, "archive", "", "print the recording in a `folder` as a tar archive")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return f, f.check(flags.Args())
}

// check returns an error with all mistakes.
func (f *recordFlags) check(rest []string) error {
	var wrong []error
	if len(rest) > 0 {
		wrong = append(wrong, fmt.Errorf("%q: plumbline record takes flags only; see plumbline record -help",
			strings.Join(rest, " ")))
	}
	if f.duration < 0 {
		wrong = append(wrong, fmt.Errorf("--for %s: it should be positive, such as 2h", f.duration))
	}
	if f.keep != "" {
		var err error
		if f.Keep, err = record.ParseSize(f.keep); err != nil {
			wrong = append(wrong, fmt.Errorf("--keep: %w", err))
		}
	}
	if f.manifest && f.pod.Image == "" {
		wrong = append(wrong, errors.New("--manifest needs --image, an image of this program that the cluster can pull: "+
			"plumbline record --push makes one"))
	}
	f.pod.Redact, f.pod.Keep = f.Redact, f.keep
	if f.pod.Keep == "" {
		f.pod.Keep = "4Gi"
	}
	return errors.Join(wrong...)
}

func printManifest(ctx context.Context, c *record.Cluster, f *recordFlags) error {
	needed, missing, err := c.Rights(ctx)
	if err != nil {
		return err
	}
	var text string
	if f.manifest {
		text, err = record.Manifest(f.pod, needed)
	} else {
		text, err = record.Role(needed)
	}
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		step("you yourself lack of it:\n  " + strings.Join(missing, "\n  "))
	}
	_, err = fmt.Print(text)
	return err
}

// awaitEnd says how far the recording is, until it ends.
func awaitEnd(ctx context.Context, r *record.Recording, f *recordFlags) error {
	began := time.Now()
	var over <-chan time.Time
	if f.duration > 0 {
		over = time.After(f.duration)
	}
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			step(fmt.Sprintf("%s: %s", time.Since(began).Round(time.Second), r.Progress()))
			continue
		case <-over:
		case <-ctx.Done():
		case <-r.Failed():
		}
		break
	}
	err := r.Stop()
	p := r.Progress()
	step(fmt.Sprintf("recorded %s: %s", time.Since(began).Round(time.Second), p))
	for _, g := range p.Gaps {
		step(fmt.Sprintf("gap at %s: %s", g.Time.Format(time.RFC3339), g.Reason))
	}
	if err != nil {
		return err
	}
	step(fmt.Sprintf("next: plumbline judge %[1]s; plumbline show %[1]s; NODE=... plumbline explain %[1]s", f.Folder))
	return nil
}

func whatIsRecorded(a record.About) string {
	var kinds []string
	for _, kind := range a.Kinds {
		kinds = append(kinds, kind.Resource)
	}
	words := fmt.Sprintf("%s of a cluster with Kubernetes %s", strings.Join(kinds, ", "), a.Kubernetes)
	if a.Redacted {
		words += ", redacted"
	}
	return words
}

func until(d time.Duration) string {
	if d == 0 {
		return "until Ctrl-C"
	}
	return "for " + d.String()
}

// pushProgram pushes an image of this program, which must be a static Linux one.
func pushProgram(ctx context.Context, path string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := image.MayPush(path); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "plumbline-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ref, err := image.FromBinary(ctx, filepath.Join(dir, "image"), program, nil, "65532:65532")
	if err != nil {
		return fmt.Errorf("%w; build this program for Linux with CGO_ENABLED=0", err)
	}
	pulled, err := image.Push(ctx, ref, path)
	if err != nil {
		return err
	}
	_, err = fmt.Println(pulled)
	return err
}
