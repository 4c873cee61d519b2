package check_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// TestCountsAreNarrowed checks that each narrowing counts some of the objects, but not all.
func TestCountsAreNarrowed(t *testing.T) {
	pool, event := fixtures.NodePool(),
		historytest.Report("karpenter", "FailedScheduling", historytest.Pod("app-1", "app"))
	name, overlay := pool.GetName(), fixtures.NodeOverlay()
	node := func(n string) *historytest.Thing { return historytest.Node(n).Pool(name) }
	claim := func(n string) *historytest.Thing { return historytest.NodeClaim(n).Pool(name) }
	story := historytest.Begin().Add(historytest.Pool(name), historytest.Pool("another"),
		node("a").Ready().Label(karpenter.RegisteredLabel, "true").Taint("starting"),
		node("b").Ready().Label(karpenter.InitializedLabel, "true").Annotate("key", "value").
			Set("2026-01-02T15:03:05Z", "metadata", "creationTimestamp").Deleting(),
		claim("a").True(karpenter.Drifted), claim("b").True(karpenter.Initialized),
		historytest.Other(karpenter.NodeOverlays, "NodeOverlay", "", overlay.GetName()),
		event.Set("no room for it", "message"),
		historytest.Report("karpenter", "FailedScheduling", historytest.Pod("app-2", "app")))
	h := story.Start().Add(node("c")).History()
	before := h.StartMark()
	nodes := check.Nodes(pool)
	for words, c := range map[string]struct {
		count check.Count
		want  []string
	}{
		"initialized nodes":      {check.InitializedNodes(pool), []string{"b"}},
		"registered nodes":       {check.RegisteredNodes(pool), []string{"a"}},
		"starting nodes":         {check.StartingNodes(pool, "starting"), []string{"a"}},
		"drifted NodeClaims":     {check.DriftedNodeClaims(pool), []string{"a"}},
		"initialized NodeClaims": {check.InitializedNodeClaims(pool), []string{"b"}},
		"in a condition":         {check.NodeClaims(pool).In(karpenter.Drifted), []string{"a"}},
		"being deleted":          {nodes.Deleting(), []string{"b"}},
		"staying":                {nodes.Staying(), []string{"a", "c"}},
		"old":                    {nodes.Old(before), []string{"a", "b"}},
		"new":                    {nodes.New(before), []string{"c"}},
		"tainted with an effect": {nodes.With("tainted", check.TaintedWith("starting", "NoSchedule")), []string{"a"}},
		"with another effect":    {nodes.With("tainted", check.TaintedWith("starting", "NoExecute")), nil},
		"not so":                 {nodes.With("untainted", check.Tainted("starting").Not()), []string{"b", "c"}},
		"annotated":              {nodes.With("annotated", check.Annotated("key", "value")), []string{"b"}},
		"deleted at an age": {
			nodes.Deleting().With("at once", check.DeletedAt(time.Minute, time.Second)),
			[]string{"b"},
		},
		"deleted at another age": {nodes.Deleting().With("at once", check.DeletedAt(time.Hour, time.Second)), nil},
		"the object":             {check.The(pool), []string{name}},
		"several objects":        {check.The(fixtures.Node("a"), fixtures.Node("c"), fixtures.Node("d")), []string{"a", "c"}},
		"an overlay":             {check.The(overlay), []string{overlay.GetName()}},
		"of either kind":         {check.The(pool).Or(check.The(overlay)), []string{name, overlay.GetName()}},
		"events that mention": {
			check.Reports("FailedScheduling", nil).With("", check.Mentioning("no room")),
			[]string{"app-1.FailedScheduling"},
		},
	} {
		t.Run(words, func(t *testing.T) {
			var names []string
			for _, o := range c.count.Of(h.End()) {
				names = append(names, o.GetName())
			}
			NewWithT(t).Expect(names).To(ConsistOf(c.want))
		})
	}
}
