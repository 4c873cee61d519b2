package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/hack/plumbline/draft"
)

const adapterUsage = `usage: make adapter CHART=... [CHART_VERSION=...] [IMAGE=...] [CRDS=...] [NAME=...] [OUT=plumbline.yaml]

Writes the first adapter of a provider from its Helm chart.
  CHART          a folder, an archive, or an address such as oci://registry.example/charts/karpenter
  CHART_VERSION  of a chart that has an address
  IMAGE          the controller's; default: the chart's
  CRDS           a file or folder; default: the chart's own
  NAME           of the adapter; default: made from the chart's
  OUT            the file to write; it must not exist`

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
	chart, out := os.Getenv("CHART"), envOr("OUT", "plumbline.yaml")
	o := draft.Options{Name: os.Getenv("NAME"), Path: chart, Image: os.Getenv("IMAGE"), CRDs: os.Getenv("CRDS")}
	if err := checkDraft(chart, out, &o); err != nil {
		return err
	}
	cache, err := build.Open(step)
	if err != nil {
		return err
	}
	dir, err := cache.Pinned(ctx, "helm")
	if err != nil {
		return err
	}
	step("rendering the chart with other values, to see what each of them changes")
	c, err := draft.Open(ctx, helmIn(dir, cache.Dir), chart, os.Getenv("CHART_VERSION"))
	if err != nil {
		return err
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
	case strings.Contains(chart, "://"):
	case err != nil:
		mistakes = append(mistakes, fmt.Errorf("CHART=%s: there is no such folder or archive; an address begins with oci:// or https://", chart))
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
		if o.Definitions, err = readYAML(o.CRDs); err != nil {
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

// readYAML reads a YAML file, or those of a folder, as one stream.
func readYAML(path string) ([]byte, error) {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, errors.New("there is no such file or folder")
	} else if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.y*ml")); err != nil || len(files) == 0 {
			return nil, errors.New("the folder holds no .yaml file")
		}
	}
	var all []byte
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(append(all, raw...), "\n---\n"...)
	}
	return all, nil
}

// helmIn returns the Helm in a folder. It uses none of the user's settings.
func helmIn(dir, cache string) draft.Helm {
	home := filepath.Join(cache, "helm-home")
	return func(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, filepath.Join(dir, "helm"), args...)
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "KUBECONFIG=" + filepath.Join(home, "none"),
			"HELM_CACHE_HOME=" + home, "HELM_CONFIG_HOME=" + home, "HELM_DATA_HOME=" + home,
		}
		var stderr bytes.Buffer
		cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &stderr
		out, err := cmd.Output()
		if said, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n\nUse --debug"); err != nil && said != "" {
			return nil, fmt.Errorf("helm says: %s", strings.TrimPrefix(said, "Error: "))
		}
		return out, err
	}
}

func envOr(name, other string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return other
}
