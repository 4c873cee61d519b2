package history

import (
	"bytes"
	"context"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// interrupted records an interruption of the API server, during which a pod is added.
func interrupted(t *testing.T, g *WithT, api *fakeAPI) *Recorder {
	t.Helper()
	api.say("ADDED", "pods", "first")
	r, err := Record(t.Context(), api.config(), "", pods, nodes)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(r.Stop()).To(Succeed()) })

	over := r.Interrupt("the test wanted it")
	brief, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	g.Expect(over(brief)).To(MatchError(ContainSubstring("not watched again yet: pods, nodes")))
	api.compact()
	api.failLists(status(http.StatusForbidden, "Forbidden"), status(http.StatusServiceUnavailable, "ServiceUnavailable"))
	api.CloseClientConnections()
	api.say("ADDED", "pods", "unseen")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	g.Expect(over(ctx)).To(Succeed())
	return r
}

func TestInterruption(t *testing.T) {
	g := NewWithT(t)
	api := newFakeAPI(t)
	r := interrupted(t, g, api)
	mark := r.History().Mark()
	api.say("ADDED", "pods", "last")
	g.Expect(r.Await(t.Context(), func(w *World) bool { return w.Get(pods, "", "last") != nil })).To(Succeed())

	h := r.History()
	var kinds []schema.GroupVersionResource
	for _, gap := range h.Gaps() {
		g.Expect(gap.Asked).To(BeTrue())
		g.Expect(gap.Reason).To(Equal("the test wanted it"))
		kinds = append(kinds, gap.Resource)
	}
	g.Expect(kinds).To(ConsistOf(pods, nodes), "both, whether or not something happened")
	var saved bytes.Buffer
	g.Expect(Save(&saved, h)).To(Succeed())
	loaded, err := Load(&saved)
	g.Expect(err).NotTo(HaveOccurred())
	for _, whole := range []*History{h, h.From(0), loaded} {
		after, ok := whole.AfterInterruption()
		g.Expect(ok).To(BeTrue())
		g.Expect(after.Gaps()).To(BeEmpty())
		g.Expect(after.Start().List(pods)).To(HaveLen(2))
		g.Expect(after.Events()).To(HaveLen(1))
	}
	_, ok := h.From(mark.events + 1).AfterInterruption()
	g.Expect(ok).To(BeFalse(), "it was before")
}

func TestAGapThatNobodyAskedFor(t *testing.T) {
	g := NewWithT(t)
	api := newFakeAPI(t)
	r := interrupted(t, g, api)
	api.compact()
	api.CloseClientConnections()
	g.Eventually(func() []Gap { return r.History().Gaps() }).Should(ContainElement(HaveField("Asked", false)))
	after, ok := r.History().AfterInterruption()
	g.Expect(ok).To(BeTrue())
	g.Expect(after.Gaps()).NotTo(BeEmpty())
	g.Expect(after.Gaps()[0].Asked).To(BeFalse())
}

func TestAWatchThatIsClosedAsExpectedMissesNothingThatTheServerStillKnows(t *testing.T) {
	for about, c := range map[string]struct {
		meanwhile func(*fakeAPI)
		expected  bool
		lists     []fault // of the lists that follow
		gaps      int
		events    int // of first
	}{
		"nothing": {func(*fakeAPI) {}, true, nil, 0, 0},
		"changes": {func(api *fakeAPI) {
			for range 3 {
				api.say("MODIFIED", "nodes", "other")
				api.say("MODIFIED", "pods", "first")
			}
		}, true, nil, 0, 3},
		"changes that are forgotten": {func(api *fakeAPI) {
			for range 3 {
				api.say("MODIFIED", "pods", "first")
			}
		}, true, []fault{asked, status(http.StatusGone, "Expired")}, 1, 1},
		"gone, and back": {func(api *fakeAPI) {
			api.say("DELETED", "pods", "first")
			api.say("ADDED", "nodes", "other")
			api.say("ADDED", "pods", "first")
		}, true, nil, 0, 2},
		"nothing, unexpected": {func(*fakeAPI) {}, false, nil, 1, 0},
	} {
		t.Run(about, func(t *testing.T) {
			g := NewWithT(t)
			api := newFakeAPI(t)
			api.say("ADDED", "pods", "first")
			api.failWatches(ends(1), func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
				c.meanwhile(f)
				f.compact()
				f.failLists(c.lists...)
				status(http.StatusGone, "Expired")(f, w, r)
			})
			r, _ := record(t, api, pods)
			if c.expected {
				r.ExpectClosing()
			}
			await(t, r, pods, "second", api.say("ADDED", "pods", "second"))
			// The third watch follows a list, which must not have what is said next.
			g.Eventually(api.watchesSoFar).WithTimeout(10 * time.Second).Should(BeNumerically(">=", 3))
			await(t, r, pods, "last", api.say("ADDED", "pods", "last"))
			g.Expect(r.History().Gaps()).To(HaveLen(c.gaps))
			of := 0
			for _, e := range r.History().Events() {
				if e.Object.Name == "first" {
					of++
				}
			}
			g.Expect(of).To(Equal(c.events))
		})
	}
}

// asked answers a list as it should be.
func asked(f *fakeAPI, w http.ResponseWriter, r *http.Request) { f.list(w, r) }

func TestCompleteAsksAgainWhileTheServerCantAnswer(t *testing.T) {
	g := NewWithT(t)
	api := newFakeAPI(t)
	api.say("ADDED", "pods", "first")
	r, _ := record(t, api, pods)
	busy := status(http.StatusTooManyRequests, "TooManyRequests")
	api.failLists(busy, busy)
	h, err := r.Complete(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(h.End().List(pods)).To(HaveLen(1))
}
