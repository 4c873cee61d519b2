package e2e

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Env is what a spec works with: one cluster, one provider, one recording.
// Its methods fail the spec themselves; they return only on success.
type Env struct{}

// Create applies objects, server-side and with strict field validation.
func (e *Env) Create(ctx context.Context, objects ...fixtures.Object) {}

// Change applies objects again after their builders were changed.
func (e *Env) Change(ctx context.Context, objects ...fixtures.Object) {}

// Delete deletes objects, without waiting for their finalizers.
func (e *Env) Delete(ctx context.Context, objects ...fixtures.Object) {}

// Patch applies a JSON merge patch to any object, as an outsider would.
// An empty namespace means a cluster-scoped object.
func (e *Env) Patch(ctx context.Context, kind schema.GroupVersionResource, namespace, name, patch string) {
}

// Await waits until exactly n objects are counted and returns them. It looks
// at the recording, so that no moment is missed.
func (e *Env) Await(ctx context.Context, n int, count check.Count) []*history.Object { return nil }

// AwaitAtLeast waits until n objects or more are counted and returns them.
func (e *Env) AwaitAtLeast(ctx context.Context, n int, count check.Count) []*history.Object {
	return nil
}

// Watch lets the cluster go on for a while and returns what was recorded
// meanwhile: for promises that something does not happen.
func (e *Env) Watch(ctx context.Context, d time.Duration) *history.History { return nil }

// Now marks this moment of the recording.
func (e *Env) Now() history.Mark { return 0 }

// Since is what was recorded from a mark until now.
func (e *Env) Since(m history.Mark) *history.History { return nil }

// World is the state that the recording adds up to now.
func (e *Env) World() *history.World { return nil }

// Expect judges checks over a recording. The spec fails unless all hold; a
// check that was never put to the test makes it vacuous.
func (e *Env) Expect(h *history.History, checks ...check.Check) {}

// Fail fails the spec with a sentence about the promise.
func (e *Env) Fail(format string, args ...any) {}
