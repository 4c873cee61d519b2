package check

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// inPool returns a story that starts with pool p and its ready nodes a, b and c.
func inPool() (s *historytest.Story, a, b, c *historytest.Thing) {
	node := func(name string) *historytest.Thing { return historytest.Node(name).Pool("p").Ready() }
	a, b, c = node("a"), node("b"), node("c")
	return historytest.Begin().Add(historytest.Pool("p"), a, b, c).Start(), a, b, c
}

// TestVerdicts judges each check on each story, with and without a gap.
func TestVerdicts(t *testing.T) {
	const pool = named("p")
	const tick = time.Second
	disrupted := DisruptedNodes(pool)
	one, two := AtMost(1, disrupted), AtMost(2, disrupted)
	disruption, noNodes := AtLeast(1, disrupted), None(Nodes(pool))
	taint := func(n *historytest.Thing) *historytest.Thing { return n.Taint(karpenter.DisruptedTaint) }
	isTainted := func(node *unstructured.Unstructured) Claim {
		return Each(Node(node.GetName()), "are tainted", Tainted(karpenter.UnregisteredTaint))
	}

	quiet := func() *historytest.Story { // nothing happens to the pool
		s, _, _, _ := inPool()
		return s.After(tick).Add(historytest.Node("other")).After(tick).Change(historytest.Node("other"))
	}
	disrupts := func() *historytest.Story { // a is tainted, then b; a goes, then b
		s, a, b, _ := inPool()
		return s.After(tick).Change(taint(a)).After(tick).Change(taint(b)).After(tick).Delete(a).After(tick).Delete(b)
	}
	keepsOn := func() *historytest.Story { // a is tainted, and stays
		s, a, _, _ := inPool()
		return s.After(tick).Change(taint(a))
	}
	nothing := func() *historytest.Story { return historytest.Begin() }
	joins := func(tainted bool) func() *historytest.Story {
		return func() *historytest.Story {
			s, _, _, _ := inPool()
			d := historytest.Node("d").Pool("p")
			if tainted {
				d.Taint(karpenter.UnregisteredTaint)
			}
			return s.After(tick).Add(d).After(3 * tick).Change(d.Ready()).After(tick).Change(d)
		}
	}

	zones := func(each ...string) func() *historytest.Story {
		return func() *historytest.Story {
			s := historytest.Begin()
			for i, zone := range each {
				s.Add(historytest.Node(fmt.Sprint("z", i)).Pool("p").Label("zone", zone))
			}
			return s.Add(historytest.Node("unlabelled").Pool("p")).Start()
		}
	}
	anything := func(*unstructured.Unstructured) bool { return true }
	claimed := func() *historytest.Story {
		return quiet().Add(historytest.NodeClaim("c").Pool("p").Set([]any{
			map[string]any{"key": "disk", "operator": "Exists"},
			map[string]any{"key": "zone", "operator": "In", "values": []any{"y", "x"}},
		}, "spec", "requirements"))
	}

	for name, c := range map[string]struct {
		check  Check
		story  func() *historytest.Story
		want   Verdict
		gapped Verdict // with a gap after everything
	}{
		"always: holds":                 {Always(two), disrupts, Holds, Unknown},
		"always: breaks":                {Always(one), disrupts, Broken, Broken},
		"always: never exercised":       {Always(two), quiet, Vacuous, Unknown},
		"always: nothing there":         {Always(two), nothing, Vacuous, Unknown},
		"always: broken from the start": {Always(None(ReadyNodes(pool))), quiet, Broken, Broken},
		"always: impossible to break":   {Always(AtLeast(0, disrupted)), disrupts, Vacuous, Unknown},
		"always at least: holds":        {Always(AtLeast(3, Nodes(pool))), quiet, Holds, Unknown},
		"always at least: breaks":       {Always(AtLeast(3, Nodes(pool))), disrupts, Broken, Broken},
		"always none: holds":            {Always(None(disrupted)), quiet, Holds, Unknown},
		"always none: breaks":           {Always(None(disrupted)), disrupts, Broken, Broken},
		"always none: nobody to ask":    {Always(None(disrupted)), nothing, Vacuous, Unknown},
		"always none: no population":    {Always(None(Node("x"))), quiet, Vacuous, Unknown},
		"always no nodes: pool is there": {Always(None(Nodes(named("q")))), func() *historytest.Story {
			return quiet().Add(historytest.Pool("q"))
		}, Holds, Unknown},
		"always no nodes: no such pool": {Always(None(Nodes(named("q")))), quiet, Vacuous, Unknown},
		"always exactly: holds":         {Always(Exactly(3, Nodes(pool))), quiet, Holds, Unknown},
		"always exactly: breaks":        {Always(Exactly(3, Nodes(pool))), disrupts, Broken, Broken},
		"always each: holds": {
			Always(Each(Nodes(pool), "are ready", karpenter.NodeReady)), disrupts,
			Holds, Unknown,
		},
		"always each: breaks": {
			Always(Each(Nodes(pool), "are ready", karpenter.NodeReady)), joins(true),
			Broken, Broken,
		},
		"always each: none there": {
			Always(Each(disrupted, "are ready", karpenter.NodeReady)), quiet,
			Vacuous, Unknown,
		},
		"always when: holds":            {Always(When(disruption, AtLeast(1, ReadyNodes(pool)))), disrupts, Holds, Unknown},
		"always when: breaks":           {Always(When(disruption, AtLeast(3, Nodes(pool)))), disrupts, Broken, Broken},
		"always when: never exercised":  {Always(When(disruption, AtLeast(1, ReadyNodes(pool)))), quiet, Vacuous, Unknown},
		"always and: one not exercised": {Always(AllOf(two, AtLeast(1, ReadyNodes(pool)))), quiet, Vacuous, Unknown},
		"always and: holds":             {Always(AllOf(two, AtLeast(1, ReadyNodes(pool)))), disrupts, Holds, Unknown},
		"always or: holds":              {Always(AnyOf(noNodes, AtLeast(1, ReadyNodes(pool)))), quiet, Holds, Unknown},
		"always or: breaks":             {Always(AnyOf(noNodes, None(disrupted))), disrupts, Broken, Broken},

		"always balanced: holds":      {Always(Balanced(1, Nodes(pool), "zone")), zones("x", "x", "y"), Holds, Unknown},
		"always balanced: breaks":     {Always(Balanced(1, Nodes(pool), "zone")), zones("x", "x", "x", "y"), Broken, Broken},
		"always balanced: one domain": {Always(Balanced(1, Nodes(pool), "zone")), zones("x", "x", "x"), Vacuous, Unknown},
		"always requiring: holds": {Always(Each(NodeClaims(pool).With("in x or y", Requiring("zone", "x", "y")),
			"are there", anything)), claimed, Holds, Unknown},
		"always requiring: breaks": {
			Always(Each(NodeClaims(pool), "are in x", Requiring("zone", "x"))), claimed,
			Broken, Broken,
		},
		"always requiring: none there": {
			Always(Each(NodeClaims(pool), "are in x", Requiring("zone", "x"))), quiet,
			Vacuous, Unknown,
		},

		"never: holds":           {Never(AtLeast(3, disrupted)), disrupts, Holds, Unknown},
		"never: breaks":          {Never(AtLeast(2, disrupted)), disrupts, Broken, Broken},
		"never: never exercised": {Never(AtLeast(2, disrupted)), quiet, Vacuous, Unknown},
		"never one: exercised":   {Never(disruption), quiet, Holds, Unknown},
		"never one: nobody":      {Never(disruption), nothing, Vacuous, Unknown},

		"sometimes: holds":   {Sometimes(disruption), disrupts, Holds, Unknown},
		"sometimes: breaks":  {Sometimes(disruption), quiet, Broken, Unknown},
		"reached: holds":     {two.Reached(), disrupts, Holds, Unknown},
		"reached: breaks":    {AtMost(3, disrupted).Reached(), disrupts, Broken, Unknown},
		"reached from below": {AtLeast(1, Nodes(pool)).Reached(), disrupts, Holds, Unknown},

		"finally: holds":           {Finally(Exactly(1, Nodes(pool))), disrupts, Holds, Unknown},
		"finally: breaks":          {Finally(Exactly(3, Nodes(pool))), disrupts, Broken, Unknown},
		"finally: never exercised": {Finally(two), disrupts, Vacuous, Unknown},

		"leads to: holds":              {LeadsTo(disruption, None(disrupted)), disrupts, Holds, Unknown},
		"leads to: breaks":             {LeadsTo(disruption, None(disrupted)), keepsOn, Broken, Unknown},
		"leads to: never exercised":    {LeadsTo(disruption, None(disrupted)), quiet, Vacuous, Unknown},
		"leads to: at once":            {LeadsTo(disruption, AtLeast(1, Nodes(pool))), keepsOn, Holds, Unknown},
		"leads to: from the start":     {LeadsTo(AtLeast(3, Nodes(pool)), AtMost(1, Nodes(pool))), disrupts, Holds, Unknown},
		"within: holds":                {Within(3*tick, LeadsTo(disruption, None(disrupted))), disrupts, Holds, Unknown},
		"within: too late":             {Within(2*tick, LeadsTo(disruption, None(disrupted))), disrupts, Broken, Unknown},
		"within: never exercised":      {Within(2*tick, LeadsTo(disruption, None(disrupted))), quiet, Vacuous, Unknown},
		"within: never came":           {Within(2*tick, LeadsTo(disruption, noNodes)), disrupts, Broken, Unknown},
		"within: ends before the time": {Within(time.Hour, LeadsTo(disruption, None(disrupted))), keepsOn, Unknown, Unknown},

		"until: holds":             {Until(None(disrupted), disruption), disrupts, Holds, Unknown},
		"until: breaks":            {Until(None(disrupted), AtMost(2, Nodes(pool))), disrupts, Broken, Broken},
		"until: the end not come":  {Until(None(disrupted), disruption), quiet, Broken, Unknown},
		"until: over at the start": {Until(None(disrupted), AtLeast(1, Nodes(pool))), disrupts, Vacuous, Unknown},

		"whenever enters: holds": {
			Whenever(Enters(Nodes(pool)), "it is tainted", isTainted), joins(true),
			Holds, Unknown,
		},
		"whenever enters: breaks": {
			Whenever(Enters(Nodes(pool)), "it is tainted", isTainted), joins(false),
			Broken, Broken,
		},
		"whenever enters: never exercised": {
			Whenever(Enters(Nodes(pool)), "it is tainted", isTainted), disrupts,
			Vacuous, Unknown,
		},
		"whenever leaves: holds": {
			Whenever(Leaves(Nodes(pool)), "one is there", ForAny(AtLeast(1, Nodes(pool)))),
			disrupts, Holds, Unknown,
		},
		"whenever leaves: breaks": {
			Whenever(Leaves(Nodes(pool)), "two are there", ForAny(AtLeast(2, Nodes(pool)))),
			disrupts, Broken, Broken,
		},
		"whenever leaves: never exercised": {
			Whenever(Leaves(Nodes(pool)), "one is there", ForAny(AtLeast(1, Nodes(pool)))),
			joins(true), Vacuous, Unknown,
		},

		"after: holds":           {After(Enters(Nodes(pool)), "it is ready", nodeIsReady), joins(true), Holds, Unknown},
		"after: breaks":          {After(Leaves(Nodes(pool)), "it comes back", nodeIsReady), disrupts, Broken, Unknown},
		"after: never exercised": {After(Enters(Nodes(pool)), "it is ready", nodeIsReady), disrupts, Vacuous, Unknown},
		"after within: holds": {
			Within(3*tick, After(Enters(Nodes(pool)), "it is ready", nodeIsReady)), joins(true),
			Holds, Unknown,
		},
		"after within: too late": {
			Within(2*tick, After(Enters(Nodes(pool)), "it is ready", nodeIsReady)), joins(true),
			Broken, Unknown,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := c.check.Judge(c.story().History())
			g.Expect(f.Verdict).To(Equal(c.want), f.String())
			gapped := c.check.Judge(c.story().After(tick).Gap(karpenter.Pods, "the test has one").History())
			g.Expect(gapped.Verdict).To(Equal(c.gapped), gapped.String())
			g.Expect(f.String()).To(ContainSubstring(c.check.String()))
		})
	}
}

// TestGapBeforeABreach checks that a breach after a gap counts for claims about one moment,
// but not where the order of moments matters.
func TestGapBeforeABreach(t *testing.T) {
	g := NewWithT(t)
	s, a, _, _ := inPool()
	d := historytest.Node("d").Pool("p")
	h := s.Gap(karpenter.Nodes, "all gone").Change(a.Taint(karpenter.DisruptedTaint)).Add(d).History()
	never := AtLeast(7, Nodes(named("p")))
	none := None(DisruptedNodes(named("p")))
	g.Expect(Always(none).Judge(h).Verdict).To(Equal(Broken))
	g.Expect(Until(none, never).Judge(h).Verdict).To(Equal(Unknown))
	unregistered := Whenever(Enters(Nodes(named("p"))), "it is unregistered", func(*unstructured.Unstructured) Claim {
		return Each(Node("d"), "are tainted", Tainted(karpenter.UnregisteredTaint))
	})
	f := unregistered.Judge(h)
	g.Expect(f.Verdict).To(Equal(Unknown), "a node that appears in a gap may have been there for long")
	g.Expect(f.String()).To(ContainSubstring("the recording has a gap at +0s, nodes may be missing: all gone"))
	g.Expect(unregistered.Judge(h.From(6)).Verdict).To(Equal(Vacuous), "a view that begins after the gap has none")
}

func TestQuantities(t *testing.T) {
	g := NewWithT(t)
	pool := named("p")
	limit := Always(AtMostQuantity(resource.MustParse("5"), NodeClaimCapacity(pool, "cpu")))
	a, b := historytest.NodeClaim("a").Pool("p").Capacity("cpu", "2"),
		historytest.NodeClaim("b").Pool("p").Capacity("cpu", "2500m")
	story := historytest.Begin().Add(historytest.Pool("p")).Start()
	g.Expect(limit.Judge(story.History()).Verdict).To(Equal(Vacuous))
	story.Add(a, b, historytest.NodeClaim("other").Pool("q").Capacity("cpu", "100"))
	g.Expect(limit.Judge(story.History()).Verdict).To(Equal(Holds))
	story.After(time.Second).Add(historytest.NodeClaim("c").Pool("p").Set("600m", "spec", "resources", "requests", "cpu"))
	f := limit.Judge(story.History())
	g.Expect(f.Verdict).To(Equal(Broken))
	g.Expect(f.At).To(Equal(3))
	g.Expect(f.String()).To(ContainSubstring(
		"want: at most 5 cpu of the NodeClaims of pool p\n  got: 5100m cpu of the NodeClaims of pool p\n      NodeClaim a"))
}

func TestThatIsAClaimOfOnesOwn(t *testing.T) {
	g := NewWithT(t)
	calls := 0
	claim := That("nodes come in pairs", func(w *history.World) (ok, exercised bool, standing string) {
		calls++
		n := len(w.List(karpenter.Nodes))
		return n%2 == 0, n > 0, "they don't"
	}, karpenter.Nodes)
	story := historytest.Begin().Add(historytest.Pool("p"), historytest.Pool("q"), historytest.Pool("r")).Start()
	g.Expect(Always(claim).Judge(story.History()).Verdict).To(Equal(Vacuous))
	story.Change(historytest.Pool("q"))
	g.Expect(Always(claim).Judge(story.History()).Verdict).To(Equal(Vacuous))
	g.Expect(calls).To(Equal(2), "events of what it doesn't read don't ask it again")
	f := Always(claim).Judge(story.Add(historytest.Node("a")).History())
	g.Expect(f.Verdict).To(Equal(Broken))
	g.Expect(f.Standing).To(Equal("they don't"))
	g.Expect(Always(Untrue(claim)).Judge(story.History()).String()).
		To(ContainSubstring("always not (nodes come in pairs)"))
}

func TestReadsOfSeveralClaims(t *testing.T) {
	g := NewWithT(t)
	all := That("anything", func(*history.World) (bool, bool, string) { return true, true, "" })
	node, pod := AtLeast(1, Node("a")), AtLeast(1, PodsOf(nil))
	g.Expect(AllOf(node, pod, node).Reads()).To(Equal([]schema.GroupVersionResource{karpenter.Nodes, karpenter.Pods}))
	g.Expect(AnyOf(node, all).Reads()).To(BeEmpty(), "all")
	g.Expect(When(node, pod).Reads()).To(HaveLen(2))
}
