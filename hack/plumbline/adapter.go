package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/hack/plumbline/draft"
	"github.com/plumbline-e2e/plumbline/providers"
)

const adapterUsage = `usage: make adapter CHART=... [CHART_VERSION=...] [IMAGE=...] [CRDS=...] [NAME=...] [OUT=...]

Writes the first adapter of a provider from its Helm chart.
  CHART          a folder, an archive, or an address such as oci://registry.example/charts/karpenter
  CHART_VERSION  of a chart that has an address; default: the newest release
  IMAGE          the controller's; default: the chart's
  CRDS           a file or folder; default: the chart's own
  NAME           of the adapter; default: made from the chart's
  OUT            the file to write, which must not exist; default: plumbline.yaml`

// draftAdapter writes an adapter from a chart.
func draftAdapter(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("adapter", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprintln(os.Stderr, adapterUsage) }
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	chart, out := os.Getenv("CHART"), cmp.Or(os.Getenv("OUT"), "plumbline.yaml")
	o := draft.Options{
		Name: os.Getenv("NAME"), Path: chart, Version: os.Getenv("CHART_VERSION"), Image: os.Getenv("IMAGE"),
		CRDs: os.Getenv("CRDS"),
	}
	if err := checkDraft(chart, out, &o); err != nil {
		return err
	}
	cache, err := build.Open(step)
	if err != nil {
		return err
	}
	helm, err := install.OpenHelm(ctx, cache)
	if err != nil {
		return err
	}
	if providers.IsRemote(chart) {
		if chart, err = helm.Archive(ctx, cache, chart, o.Version); err != nil {
			return fmt.Errorf("CHART: %w", err)
		}
	}
	step("rendering the chart with other values, to see what each of them changes")
	c, err := draft.Open(ctx, helm.Run, chart)
	if err != nil {
		return fmt.Errorf("CHART=%s: %w", o.Path, err)
	}
	text, err := draft.Write(ctx, c, o)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, text, 0o644); err != nil { //nolint:gosec // it holds no secrets, and is to be read
		return err
	}
	step(fmt.Sprintf("wrote %s; its %d lines with TODO are yours", out, bytes.Count(text, []byte("TODO"))))
	return nil
}

// checkDraft checks what make gave, all of it, and reads the CRDs.
func checkDraft(chart, out string, o *draft.Options) error {
	var mistakes []error
	switch _, err := os.Stat(chart); {
	case chart == "":
		mistakes = append(mistakes, errors.New("CHART is missing\n"+adapterUsage))
	case providers.IsRemote(chart):
	case err != nil:
		mistakes = append(mistakes, fmt.Errorf("CHART=%s: there is no such folder or archive; "+
			"an address begins with oci:// or https://", chart))
	case o.Version != "":
		mistakes = append(mistakes, fmt.Errorf("CHART_VERSION=%s: CHART=%s is no address, and has one version", o.Version,
			chart))
	default:
		o.Path = relativeTo(out, chart)
	}
	if _, err := os.Stat(out); err == nil {
		mistakes = append(mistakes, fmt.Errorf("OUT=%s exists already; move it, or choose another name", out))
	} else if _, err := os.Stat(filepath.Dir(out)); err != nil {
		mistakes = append(mistakes, fmt.Errorf("OUT=%s: there is no folder %s", out, filepath.Dir(out)))
	}
	if o.CRDs != "" {
		var err error
		if o.Definitions, err = readObjects(o.CRDs); err != nil {
			mistakes = append(mistakes, fmt.Errorf("CRDS=%s: %w", o.CRDs, err))
		}
		o.CRDs = relativeTo(out, o.CRDs)
	}
	return errors.Join(mistakes...)
}

// relativeTo returns a path as a file beside it names it. Absolute paths stay.
func relativeTo(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	relative, err := filepath.Rel(filepath.Dir(file), path)
	if err != nil {
		return path
	}
	return relative
}

// readObjects reads the objects in a YAML file, or in those of a folder.
func readObjects(path string) (all []*unstructured.Unstructured, err error) {
	files, err := (&providers.Adapter{}).Files("").YAMLs(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such file or folder")
	case err != nil:
		return nil, err
	}
	for _, f := range files {
		objects, err := install.ParseObjects(f.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}
