package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
)

// benchedParts are the specs that are run in parts.
const benchedParts = "^(taints|nodeclaim)/"

// parts runs specs in 1, 2, 4 and 8 parts, each part of which has the machine to itself as if it had its own, and
// compares how long the longest takes with what `make estimate` says by the run that is whole.
func parts(ctx context.Context, c e2e.Config, a *providers.Adapter, scratch string) (figures []figure, err error) {
	c.Focus = regexp.MustCompile(benchedParts)
	var whole measured
	for _, of := range []int{1, 2, 4, 8} {
		var longest time.Duration
		all := filepath.Join(scratch, "parts", fmt.Sprint(of))
		for n := 1; n <= of; n++ {
			artifacts := filepath.Join(all, fmt.Sprint(n))
			if _, err := output(ctx, "make", "e2e", "ARTIFACTS="+artifacts, "FOCUS="+benchedParts, "PROCS=1",
				fmt.Sprintf("SHARD=%d/%d", n, of)); err != nil {
				return nil, err
			}
			run := filepath.Join(artifacts, "latest")
			_, took, err := readSpan(run)
			if err != nil {
				return nil, err
			}
			longest = max(longest, took)
			if of == 1 {
				if whole, err = measuredSpecs(c, a, run); err != nil {
					return nil, err
				}
			}
		}
		estimated, err := whole.on(of)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%d specs in %d parts", len(whole.takes), of)
		figures = append(figures, figure{Name: name + ", estimated", Value: estimated.Seconds(), Unit: "s"},
			figure{Name: name + ", measured", Value: longest.Seconds(), Unit: "s"})
		if of == 1 {
			continue
		}
		began := time.Now()
		if _, err := output(ctx, "make", "merge", "DIR="+all, "ARTIFACTS="+filepath.Join(scratch, "merged")); err != nil {
			return nil, err
		}
		figures = append(figures, figure{Name: name + ", merged", Value: time.Since(began).Seconds(), Unit: "s"})
	}
	return figures, nil
}
