package history

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestRecordRetriesListsAndFailsWhereRetryingIsNoUse(t *testing.T) {
	slow := func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		pause(r.Context(), 300*time.Millisecond)
		f.list(w, r)
	}
	for name, c := range map[string]struct {
		faults []fault
		fails  string
	}{
		"slow":        {[]fault{slow}, ""},
		"429 and 503": {[]fault{status(429, "TooManyRequests"), plainStatus(503)}, ""},
		"cut off": {[]fault{func(_ *fakeAPI, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"items":[`)
		}}, ""},
		"forbidden":               {[]fault{status(403, "Forbidden")}, "list pods: as the test wants it"},
		"a kind that is unknown":  {[]fault{plainStatus(404)}, "list pods: the server could not find the requested resource"},
		"an identity it rejects":  {[]fault{status(401, "Unauthorized")}, "list pods"},
		"an item without a name":  {[]fault{listOf(`{"metadata":{}}`), slow}, ""},
		"an answer that is a lie": {[]fault{listOf(`17`), slow}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			f := newFakeAPI(t)
			f.say("ADDED", "pods", "a")
			f.failLists(c.faults...)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			r, err := Record(ctx, f.config(), "", pods)
			if c.fails != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.fails)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.History().Start().List(pods)).To(HaveLen(1))
			g.Expect(r.Stop()).To(Succeed())
		})
	}
}

func listOf(item string) fault {
	return func(_ *fakeAPI, w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"kind":"ThingList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[%s]}`, item)
	}
}

func TestRecordFails(t *testing.T) {
	t.Run("when nobody answers in time", func(t *testing.T) {
		g := NewWithT(t)
		f := newFakeAPI(t)
		f.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := Record(ctx, f.config(), "", pods)
		g.Expect(err).To(MatchError(ContainSubstring("list pods")))
		g.Expect(err).To(MatchError(ContainSubstring("refused")))
	})
	t.Run("when watching is forbidden", func(t *testing.T) {
		g := NewWithT(t)
		f := newFakeAPI(t)
		f.failWatches(status(403, "Forbidden"))
		_, err := Record(t.Context(), f.config(), "", pods)
		g.Expect(err).To(MatchError(ContainSubstring("watch pods: as the test wants it")))
	})
	t.Run("when the file exists", func(t *testing.T) {
		g := NewWithT(t)
		file := filepath.Join(t.TempDir(), "there.jsonl")
		g.Expect(os.WriteFile(file, []byte("precious"), 0o600)).To(Succeed())
		_, err := Record(t.Context(), newFakeAPI(t).config(), file, pods)
		g.Expect(err).To(MatchError(os.ErrExist))
		g.Expect(os.ReadFile(file)).To(BeEquivalentTo("precious"))
	})
}
