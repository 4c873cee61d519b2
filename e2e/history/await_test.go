package history

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func has(resource string) func(*World) bool {
	return func(w *World) bool { return w.Get(pods, "", resource) != nil }
}

// The bound is generous: BenchmarkAwait measures the delay.
func TestAwaitReturnsSoon(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	r, _ := record(t, f, pods)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	fastest := time.Hour
	for i := range 20 {
		name := fmt.Sprint("p", i)
		said := make(chan time.Time, 1)
		go func() {
			f.say("ADDED", "pods", name)
			said <- time.Now()
		}()
		g.Expect(r.Await(ctx, has(name))).To(Succeed())
		fastest = min(fastest, time.Since(<-said))
	}
	g.Expect(fastest).To(BeNumerically("<", 50*time.Millisecond))
}

// Await sees a state from before the call if it still holds, and every later state, however
// short.
func TestAwaitMissesNothing(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	r, _ := record(t, f, pods)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()

	await(t, r, pods, "before", f.say("ADDED", "pods", "before"))
	g.Expect(r.Await(ctx, has("before"))).To(Succeed(), "it happened before the call")

	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := r.Await(ctx, has("flash")); err != nil {
				t.Errorf("flash: %v", err)
			}
		})
	}
	worlds := 0
	seen := make(chan error, 1)
	go func() {
		seen <- r.Await(ctx, func(w *World) bool {
			worlds++ // in one goroutine
			return w.Get(pods, "", "last") != nil
		})
	}()
	for i := range 500 {
		f.say("ADDED", "pods", fmt.Sprint("noise", i%7))
	}
	pause(ctx, 20*time.Millisecond) // lets the waiters start; without it the test is only weaker
	f.say("ADDED", "pods", "flash")
	f.say("DELETED", "pods", "flash")
	f.say("ADDED", "pods", "last")
	all.Wait()
	g.Expect(<-seen).NotTo(HaveOccurred())
	g.Expect(worlds).To(BeNumerically("<=", 504), "one world for each event and one for the start")
}

func TestAwaitPredicateMayUseTheRecorder(t *testing.T) {
	g := NewWithT(t)
	f := newFakeAPI(t)
	r, _ := record(t, f, pods)
	f.say("ADDED", "pods", "a")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	g.Expect(r.Await(ctx, func(w *World) bool {
		r.History().Mark()
		return len(r.History().End().List(pods)) > 0 && len(w.List(pods)) > 0
	})).To(Succeed())
}

func TestAwaitGivesUp(t *testing.T) {
	never := func(*World) bool { return false }
	t.Run("with the cause of the context", func(t *testing.T) {
		g := NewWithT(t)
		r, _ := record(t, newFakeAPI(t), pods)
		late := errors.New("the spec's minute was over")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, late)
		defer cancel()
		g.Expect(r.Await(ctx, never)).To(MatchError(late))
	})
	t.Run("but not before it has looked", func(t *testing.T) {
		g := NewWithT(t)
		r, _ := record(t, newFakeAPI(t), pods)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		g.Expect(r.Await(ctx, func(*World) bool { return true })).To(Succeed())
	})
	t.Run("saying that a watch is broken", func(t *testing.T) {
		g := NewWithT(t)
		f := newFakeAPI(t)
		f.failWatches(ends(1))
		r, _ := record(t, f, pods)
		f.failWatches(plainStatus(503), plainStatus(503), plainStatus(503), plainStatus(503), plainStatus(503),
			plainStatus(503),
			plainStatus(503), plainStatus(503), plainStatus(503), plainStatus(503), plainStatus(503), plainStatus(503))
		await(t, r, pods, "a", f.say("ADDED", "pods", "a"))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := r.Await(ctx, never)
		g.Expect(err).To(MatchError(context.DeadlineExceeded))
		g.Expect(err).To(MatchError(ContainSubstring("a watch is broken: pods: ")))
	})
	t.Run("when the recording is stopped", func(t *testing.T) {
		g := NewWithT(t)
		r, _ := record(t, newFakeAPI(t), pods)
		time.AfterFunc(20*time.Millisecond, func() {
			if err := r.Stop(); err != nil {
				t.Error(err)
			}
		})
		g.Expect(r.Await(t.Context(), never)).To(MatchError(ErrStopped))
	})
}
