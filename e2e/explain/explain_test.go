package explain

import (
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestALifeInARealRecording(t *testing.T) {
	g := NewWithT(t)
	h := load(g, "../timeline/testdata/consolidation.jsonl.gz")
	sentences, err := NodeClaim(h, "pool5xrfm-x4b2c")
	g.Expect(err).NotTo(HaveOccurred())
	order(g, sentences, "is asked for, of pool pool5xrfm", "It is meant for 1 pod: app-2jdv4-78c8484c8f-d2lsc",
		"It is launched as c-1x-amd64-linux in test-zone-d, spot", "It is registered", "It is initialized",
		"It may be consolidated", "DisruptionBlocked: Node is nominated", "ConsolidationRejected",
		"gets the taint karpenter.sh/disrupted",
		"It is disrupted: Underutilized", "Karpenter has decided that before", "is told to go: EvictionByEvictionAPI",
		"It is drained, 6.09s after its deletion", "The NodeClaim is gone")
	g.Expect(text(sentences)).NotTo(ContainSubstring("RegisteredNode"), "others' Events say nothing of Karpenter")
	for _, s := range sentences {
		if s.Number >= 0 {
			_, at := h.Place(h.IndexOf(s.Number))
			g.Expect(at).To(Equal(s.At), s.Text)
		}
	}
	byNode, err := Node(h, "kwok-pool5xrfm-x4b2c-tonguedune-4-coucd6awed-2474349558")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(byNode).To(Equal(sentences))

	sentences, err = Pod(h, "plumbline/app-2jdv4-78c8484c8f-d2lsc")
	g.Expect(err).NotTo(HaveOccurred())
	order(g, sentences, "is made", "default-scheduler says: FailedScheduling",
		"Nominated: Pod should schedule on: nodeclaim/pool5xrfm-x4b2c",
		"It is bound to node", "It is ready", "is disrupted; make explain NODE=", "It is told to go", "The pod is gone")
}

func TestWhoDeletesANodeClaim(t *testing.T) {
	g := NewWithT(t)
	made := historytest.Begin().History().Start().Time()
	for after, says := range map[string]string{
		"1m":    "It has expired: its expireAfter of 1m0s is over",
		"720h":  "wasn't disrupted before, and hasn't expired",
		"Never": "wasn't disrupted before, and hasn't expired",
	} {
		nodeClaim := historytest.NodeClaim("c").Pool("p").Set(after, "spec", "expireAfter").
			Set(made.Format(time.RFC3339), "metadata", "creationTimestamp")
		node := historytest.Node("n")
		h := historytest.Begin().Add(nodeClaim, node).Start().
			After(time.Minute).
			Change(nodeClaim.Set(made.Add(time.Minute).Format(time.RFC3339), "metadata", "deletionTimestamp")).
			After(time.Second).Delete(nodeClaim).History()
		sentences, err := NodeClaim(h, "c")
		g.Expect(err).NotTo(HaveOccurred())
		order(g, sentences, "is being deleted. ", "The NodeClaim is gone")
		g.Expect(text(sentences)).To(ContainSubstring(says))
	}
}

func TestADriftAndWhatCausedIt(t *testing.T) {
	g := NewWithT(t)
	pool, nodeClaim := historytest.Pool("p").Set(int64(1), "metadata", "generation"), historytest.NodeClaim("c").Pool("p")
	h := historytest.Begin().Add(pool, nodeClaim).Start().
		After(time.Second).Change(pool.Set(int64(2), "metadata", "generation").
		Set("b", "spec", "template", "metadata", "labels", "team")).
		After(time.Second).Change(nodeClaim.True(karpenter.Drifted)).
		After(time.Second).Change(nodeClaim.True(karpenter.DisruptionReason)).
		After(time.Second).Add(historytest.NodeClaim("d").Pool("p")).
		After(time.Second).Delete(nodeClaim).History()
	sentences, err := NodeClaim(h, "c")
	g.Expect(err).NotTo(HaveOccurred())
	order(g, sentences, "It has drifted", "NodePool p changed: spec.template.metadata.labels.team set to",
		"It is disrupted", "NodeClaim d is asked for, of the same pool: probably its replacement", "The NodeClaim is gone")
}

func TestWhatARecordingDoesNotShowIsSaid(t *testing.T) {
	g := NewWithT(t)
	nodeClaim := historytest.NodeClaim("c").Pool("p")
	h := historytest.Begin().Add(historytest.Pool("p"), historytest.Node("control-plane")).Start().
		After(time.Second).Add(nodeClaim).After(time.Second).Change(nodeClaim.True(karpenter.Drifted)).
		After(time.Second).Change(nodeClaim.Deleting()).History()
	sentences, err := NodeClaim(h, "c")
	g.Expect(err).NotTo(HaveOccurred())
	order(g, sentences, "For which pods, no Event says", "What changed before that, the recording doesn't show",
		"Who deleted it, the recording doesn't show")

	for name, ask := range map[string]func(*history.History, string) ([]Sentence, error){
		"the recording has no NodeClaim x; it has 1 NodeClaim: c":   NodeClaim,
		"the recording has no Node x; it has 1 Node: control-plane": Node,
		"the recording has no Pod x; it has 0 Pods: ":               Pod,
	} {
		_, err := ask(h, "x")
		g.Expect(err).To(MatchError(name))
	}
	_, err = Node(h, "control-plane")
	g.Expect(err).To(MatchError(HavePrefix("node control-plane has no NodeClaim")))
}

func TestAPodThatABudgetHoldsIsTold(t *testing.T) {
	g := NewWithT(t)
	nodeClaim := historytest.NodeClaim("c").Pool("p").Set("n", "status", "nodeName")
	pod := historytest.Pod("a", "app").On("n").Phase("Running").Ready().Label("app", "app")
	budget := historytest.Other(karpenter.PodDisruptionBudgets, "PodDisruptionBudget", "default", "keep").
		Set("app", "spec", "selector", "matchLabels", "app").Set(int64(0), "status", "disruptionsAllowed")
	h := historytest.Begin().Add(historytest.Pool("p"), nodeClaim, pod, budget).Start().
		After(time.Second).Change(nodeClaim.Deleting()).After(time.Second).Change(pod.Label("x", "y")).
		After(time.Second).Change(budget.Set(int64(1), "status", "disruptionsAllowed")).
		After(time.Second).Delete(pod).After(time.Second).Delete(nodeClaim).History()
	sentences, err := NodeClaim(h, "c")
	g.Expect(err).NotTo(HaveOccurred())
	order(g, sentences,
		"is being deleted", "Pod a is held: PodDisruptionBudget keep allows no disruption", "Pod a is gone")
	g.Expect(strings.Count(text(sentences), "is held")).To(Equal(1), "said once")
}

// order claims that sentences come in an order, among others.
func order(g Gomega, sentences []Sentence, want ...string) {
	var quoted []string
	for _, w := range want {
		quoted = append(quoted, regexp.QuoteMeta(w))
	}
	g.ExpectWithOffset(1, text(sentences)).To(MatchRegexp("(?s)" + strings.Join(quoted, ".*")))
}

func text(sentences []Sentence) string {
	var b strings.Builder
	for _, s := range sentences {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}

func load(g Gomega, file string) *history.History {
	h, err := history.LoadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	return h
}
