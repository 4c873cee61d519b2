package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/suites"
)

const checkUsage = `usage: plumbline check [-ids]

Checks the adapter PROVIDER: its fields, its CRDs, and that its chart or manifests
render. Says how many specs would run, and why others would be skipped. It takes
seconds, starts no cluster and doesn't build the provider. A released image must be
found, and the first call downloads the source module and builds Helm.

  -ids    name the specs that would be skipped

Variables: PROVIDER, K8S, KARPENTER, CLUSTER, IMAGE, GATES, FOCUS, SKIP, LABELS, SPEED.
`

// checkAdapter says what a run with the selected adapter would do.
func checkAdapter(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	ids := flags.Bool("ids", false, "")
	flags.Usage = func() { fmt.Print(checkUsage) }
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("check: %q: the adapter is chosen by PROVIDER\n\n%s", flags.Arg(0), checkUsage)
	}
	c, a, err := selected()
	if err != nil {
		return err
	}
	f, err := e2e.Check(ctx, c, a, step, suites.All()...)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "✓ %s on Kubernetes %s (%s)\n", describe(a.Name, f), c.Kubernetes, c.Cluster)
	tell(os.Stdout, f, *ids)
	return nil
}

// describe says on a line what there is of a provider.
func describe(provider string, f e2e.Forecast) string {
	core := "an unknown release of Karpenter"
	if f.Provider.Core != "" {
		core = "Karpenter " + f.Provider.Core
	}
	return fmt.Sprintf("%s: %s, %s, %s in the manifests, Deployment %s", provider, core,
		check.Words(len(f.Provider.CRDs), "CRDs"), check.Words(f.Provider.Objects, "objects"), f.Provider.Deployment)
}

// tell says what would run and what would not.
func tell(out io.Writer, f e2e.Forecast, ids bool) {
	skipped := 0
	for _, s := range f.Skipped {
		skipped += len(s.IDs)
	}
	fmt.Fprintf(out, "%s would run, %d of them known to fail; %d would be skipped\n",
		check.Words(f.Run, "specs"), f.Known, skipped)
	for _, s := range f.Skipped {
		fmt.Fprintf(out, "– %3d skipped: %s\n", len(s.IDs), s.Reason)
		if ids {
			fmt.Fprintf(out, "      %s\n", strings.Join(s.IDs, "\n      "))
		}
	}
}
