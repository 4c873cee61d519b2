package env

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// enforcedWithin is longer than the API server takes to learn of an admission policy.
const enforcedWithin = 5 * time.Second

// Enforce creates an admission policy and its binding, and waits for the API server to learn
// of them.
func (e *Env) Enforce(ctx context.Context, policy, binding fixtures.Object) {
	e.Create(ctx, policy, binding)
	e.Observe(ctx, enforcedWithin)
}

// Accepted expects that the API server accepts each of these objects, completed as Create
// does, in a dry run.
func (e *Env) Accepted(ctx context.Context, objects ...fixtures.Object) {
	for _, object := range objects {
		o, err := e.ask(ctx, object)
		switch {
		case err == nil:
			e.claim("the API server accepts " + called(o))
		case invalid(err):
			e.skipIfAbsent(o, err)
			e.Fail("%s is refused, though %s is valid: %v", called(o), spec(object), err)
		default:
			e.fail(ctx, "%s: %w", called(o), err)
		}
	}
}

// Refused expects that the API server refuses each of these objects, completed as Create does,
// in a dry run. The message must contain because.
func (e *Env) Refused(ctx context.Context, because string, objects ...fixtures.Object) {
	for _, object := range objects {
		o, err := e.ask(ctx, object)
		switch {
		case err == nil:
			e.Fail("%s is accepted with %s; it should have been refused: %s", called(o), spec(object), because)
		case !invalid(err):
			e.fail(ctx, "%s: %w", called(o), err)
		case !strings.Contains(err.Error(), because):
			e.skipIfAbsent(o, err)
			e.Fail("%s with %s is refused, but not for %q: %v", called(o), spec(object), because, err)
		}
		e.result.expects(o)
		e.claim(fmt.Sprintf("the API server refuses %s: %s", called(o), because))
	}
}

// RequireAccepted skips the spec unless the CRDs accept an object, completed as Create does.
func (e *Env) RequireAccepted(ctx context.Context, object fixtures.Object) {
	switch o, err := e.ask(ctx, object); {
	case err == nil:
	case invalid(err):
		e.skip("the CRDs of %s refuse %s already: %v", e.place.Provider.CoreVersion, spec(object), err)
	default:
		e.fail(ctx, "%s: %w", called(o), err)
	}
}

// RequireRefused expects what Refused does, and skips the spec if the object is accepted.
func (e *Env) RequireRefused(ctx context.Context, because string, object fixtures.Object) {
	if _, err := e.ask(ctx, object); err == nil {
		e.skip("the CRDs accept %s", spec(object))
	}
	e.Refused(ctx, because, object)
}

// ask sends an object to the API server in a dry run.
func (e *Env) ask(ctx context.Context, object fixtures.Object) (*unstructured.Unstructured, error) {
	o := e.complete(ctx, object.Unstructured())
	ref, err := e.refer(o)
	if err != nil {
		return o, err
	}
	_, err = e.send(ctx, ref, o, metav1.DryRunAll)
	return o, err
}

// invalid reports whether an error means an invalid object, not a failing server. For an
// object that doesn't fit the schema's types, such as a set with a duplicate, the status code
// says server failure.
func invalid(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		strings.Contains(err.Error(), "failed to create typed patch object")
}

// claim records a check that was tested once, and held.
func (e *Env) claim(what string) {
	e.result.Claims = append(e.result.Claims, report.Judged{Check: what, Verdict: check.Holds.String(), Tested: 1})
}

func called(o *unstructured.Unstructured) string { return o.GetKind() + " " + o.GetName() }

// spec returns an object's spec as JSON, before it is completed.
func spec(object fixtures.Object) string {
	text, err := json.Marshal(object.Unstructured().Object["spec"])
	if err != nil {
		return err.Error()
	}
	return string(text)
}
