package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// conclude writes faults.md, and prints what is red with the command that repeats it.
func (c faultsConfig) conclude(folder string, points []e2e.FaultPoint, outcomes []report.Outcome,
	took time.Duration,
) error {
	of := map[string]report.Outcome{}
	for _, o := range outcomes {
		of[o.ID] = o
	}
	verdicts := faultVerdicts(points, of)
	file := filepath.Join(folder, "faults.md")
	if err := os.WriteFile(file, []byte(faultsTable(points, of, verdicts)), 0o644); err != nil { //nolint:gosec // a report
		return err
	}
	counts := map[string]int{}
	for _, p := range points {
		verdict := verdicts[p.ID()]
		counts[verdict]++
		if verdict == string(report.Failed) {
			fmt.Fprintf(os.Stderr, "\n✗ %s\n  %s\n  ten times: %s FOCUS=^%s$ REPEATS=10\n", p.ID(),
				firstLine(of[p.ID()].Reason), c.command("crash"), p.ID())
		}
	}
	var said []string
	for _, verdict := range slices.Sorted(maps.Keys(counts)) {
		said = append(said, fmt.Sprintf("%d %s", counts[verdict], verdict))
	}
	fmt.Fprintf(os.Stderr, "\n%d requests struck: %s, in %s; %s\n", len(points), strings.Join(said, ", "),
		took.Round(time.Second), file)
	if counts[string(report.Failed)]+counts[string(report.Infra)]+counts[notRun] > 0 {
		return errors.New("not every fault left things as they should be")
	}
	return nil
}

// These are said of points beside the verdicts.
const (
	notRun     = "not run"
	notReached = "not reached" // the spec made fewer such requests this time
	// It failed since a launch wasn't recorded yet: suites/findings.md, "Karpenter: unrecorded launches".
	unrecordedLaunch = "known (unrecorded launch)"
)

// faultVerdicts returns what became of each point, by its ID.
func faultVerdicts(points []e2e.FaultPoint, of map[string]report.Outcome) map[string]string {
	verdicts := map[string]string{}
	for _, p := range points {
		if o, ran := of[p.ID()]; ran {
			verdicts[p.ID()] = faultVerdict(o)
		} else {
			verdicts[p.ID()] = notRun
		}
	}
	return verdicts
}

func faultVerdict(o report.Outcome) string {
	switch o.Verdict {
	case report.Vacuous:
		if strings.Contains(o.Reason, "never came about") {
			return notReached
		}
	case report.Failed:
		if h, err := history.LoadFile(o.History); err == nil && launchedUnrecorded(h) {
			return unrecordedLaunch
		}
	}
	return string(o.Verdict)
}

// launchedUnrecorded reports whether a recording shows that the controller was killed when it had launched an instance
// whose node has joined, and no NodeClaim had its provider ID yet. Why that ends badly is in suites/findings.md.
func launchedUnrecorded(h *history.History) bool {
	w := h.Start()
	for _, e := range h.Events() {
		if e.Object != nil && e.Resource == karpenter.Events &&
			karpenter.EventReason(e.Object.Unstructured()) == invariant.ReasonKilled && hasUnrecorded(w) {
			return true
		}
		w.Apply(e)
	}
	return false
}

func hasUnrecorded(w *history.World) bool {
	recorded := map[string]bool{}
	for _, c := range w.List(karpenter.NodeClaims) {
		recorded[karpenter.NodeClaimProviderID(c.Unstructured())] = true
	}
	return slices.ContainsFunc(w.List(karpenter.Nodes), func(node *history.Object) bool {
		id := karpenter.NodeProviderID(node.Unstructured())
		return id != "" && !recorded[id] && karpenter.HasTaint(node.Unstructured(), karpenter.UnregisteredTaint)
	})
}

// command returns the command that makes a target for the same provider.
func (c faultsConfig) command(target string) string {
	words := []string{"make " + target}
	for _, name := range []string{"PROVIDER", "K8S", "KARPENTER", "GATES"} {
		if v := os.Getenv(name); v != "" {
			words = append(words, name+"="+v)
		}
	}
	return strings.Join(words, " ")
}

// faultsTable returns a table for each spec: its writes, the patterns, and what became of each.
func faultsTable(points []e2e.FaultPoint, of map[string]report.Outcome, verdicts map[string]string) string {
	var b strings.Builder
	b.WriteString("# Faults\n\nEach write of the controller in a spec, struck once for each pattern.\n")
	spec := ""
	for _, p := range points {
		if p.Spec != spec {
			spec = p.Spec
			fmt.Fprintf(&b, "\n## %s\n\n| Request | Number | Pattern | Verdict | |\n|---|---:|---|---|---|\n", spec)
		}
		verdict, why := verdicts[p.ID()], ""
		if verdict != string(report.Passed) && verdict != notReached {
			why = cell(firstLine(of[p.ID()].Reason))
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", p.Request, p.Nth, p.Pattern, verdict, why)
	}
	return b.String()
}
