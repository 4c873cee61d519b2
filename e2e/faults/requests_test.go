package faults

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	nodeClaims = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
	pods       = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

func TestRequestsAreReadFromTheirLine(t *testing.T) {
	for line, want := range map[string]Request{
		"GET /api/v1/pods":                      {Verb: "list", Resource: "pods"},
		"GET /api/v1/pods?watch=true":           {Verb: "watch", Resource: "pods"},
		"GET /api/v1/pods?watch=1":              {Verb: "watch", Resource: "pods"},
		"GET /api/v1/pods?watch=false":          {Verb: "list", Resource: "pods"},
		"GET /api/v1/namespaces/a/pods/p":       {Verb: "get", Resource: "pods", Namespace: "a", Name: "p"},
		"PUT /api/v1/namespaces/a/status":       {Verb: "update", Resource: "namespaces", Name: "a", Subresource: "status"},
		"GET /api/v1/namespaces/a":              {Verb: "get", Resource: "namespaces", Name: "a"},
		"POST /api/v1/namespaces":               {Verb: "create", Resource: "namespaces"},
		"DELETE /api/v1/nodes":                  {Verb: "deletecollection", Resource: "nodes"},
		"DELETE /api/v1/nodes/n":                {Verb: "delete", Resource: "nodes", Name: "n"},
		"POST /apis/karpenter.sh/v1/nodeclaims": {Verb: "create", Group: "karpenter.sh", Resource: "nodeclaims"},
		"GET /apis/karpenter.sh/v1":             {Verb: "get"},
		"GET /version":                          {Verb: "get"},
		"POST /api/v1/namespaces/a/pods/p/eviction": {
			Verb: "create", Resource: "pods", Namespace: "a", Name: "p", Subresource: "eviction",
		},
		"PATCH /apis/karpenter.sh/v1/nodeclaims/c/status": {
			Verb: "patch", Group: "karpenter.sh", Resource: "nodeclaims", Name: "c", Subresource: "status",
		},
	} {
		method, path, _ := strings.Cut(line, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		NewWithT(t).Expect(requestOf(r)).To(Equal(want), line)
	}
}

func TestRequestsAreSelected(t *testing.T) {
	g := NewWithT(t)
	patch := Request{Verb: "patch", Group: "karpenter.sh", Resource: "nodeclaims", Name: "c"}
	status := patch
	status.Subresource = "status"
	create := Request{Verb: "create", Group: "karpenter.sh", Resource: "nodeclaims"}

	g.Expect(On("patch", nodeClaims).matches(patch)).To(BeTrue())
	g.Expect(On("patch", nodeClaims).matches(status)).To(BeFalse())
	g.Expect(On("patch", nodeClaims).Status().matches(status)).To(BeTrue())
	g.Expect(On("patch", nodeClaims).Named("c").matches(patch)).To(BeTrue())
	g.Expect(On("patch", nodeClaims).Named("d").matches(patch)).To(BeFalse())
	g.Expect(Writes(nodeClaims).matches(create)).To(BeTrue())
	g.Expect(Writes(pods).matches(create)).To(BeFalse())
	status.body = `{"status":{"providerID":"a"}}`
	g.Expect(On("patch", nodeClaims).Status().Setting("providerID").matches(status)).To(BeTrue())
	g.Expect(On("patch", nodeClaims).Status().Setting("nodeName").matches(status)).To(BeFalse())
	g.Expect(On("patch", nodeClaims).Setting("providerID").matches(patch)).To(BeFalse())
	g.Expect(Requests{}.matches(create)).To(BeTrue())
	g.Expect(Requests{}.matches(status)).To(BeTrue())
}

func TestFaultsAreSentences(t *testing.T) {
	conflict, busy := apierrors.NewConflict(nodeClaims.GroupResource(), "c", nil), apierrors.NewTooManyRequests("", 1)
	patch := On("patch", nodeClaims)
	for want, fault := range map[string]Fault{
		"the controller is killed after create nodeclaims":                     CrashAfter(On("create", nodeClaims)),
		"the controller is killed before request 2 to patch nodeclaims/status": CrashBefore(patch.Status().Nth(2)),
		"the controller is killed after request 3 to patch nodeclaims c":       CrashAfter(patch.Named("c").Nth(3)),
		"the answer is lost of patch nodeclaims that sets providerID":          LoseAnswer(patch.Setting("providerID")),
		"the answer is lost of write nodeclaims":                               LoseAnswer(Writes(nodeClaims)),
		"the answer is lost of create pods/eviction": LoseAnswer(On("create", pods).
			Subresource("eviction")),
		"refused: patch nodeclaims c (409 Conflict)":              Refuse(patch.Named("c"), conflict),
		"refused: any request for anything (429 TooManyRequests)": Refuse(Requests{}, busy),
		"delayed: any request for anything, by 2s":                Delay(Requests{}, 2*time.Second),
		"answered late: patch nodeclaims, by 2s":                  DelayAnswer(patch, 2*time.Second),
		"the API server doesn't answer for 1m0s":                  Freeze(time.Minute),
		"events are held back of pods for 1m0s":                   HoldEvents(pods, time.Minute),
		"an event is left out of pods p":                          SkipEvent(pods, "p", 1),
		"watches are cut of pods":                                 CutWatches(pods),
		"watches expire of pods":                                  ExpireWatches(pods),
	} {
		NewWithT(t).Expect(fault.String()).To(Equal(want))
		NewWithT(t).Expect(fault.Check()).To(Succeed(), want)
	}
}

func TestFaultsThatCantBeAreRefused(t *testing.T) {
	for want, fault := range map[string]Fault{
		`there is no verb "destroy", only get, list`:    CrashAfter(On("destroy", pods)),
		"there is none with number -1":                  LoseAnswer(On("create", pods).Nth(-1)),
		"a create names no object":                      LoseAnswer(On("create", pods).Named("p")),
		"a duration above 0 is needed, not 0s":          Freeze(0),
		"a duration above 0 is needed, not -1s":         HoldEvents(pods, -time.Second),
		"a refusal needs an error with an HTTP status":  Refuse(On("create", pods), nil),
		"a controller is killed once":                   CrashBefore(On("create", pods)).Times(2),
		"events are of a resource, and none is named":   CutWatches(schema.GroupVersionResource{}),
		"it can't strike -2 times; 0 is always":         LoseAnswer(On("create", pods)).Times(-2),
		"the subresource status is of no resource":      LoseAnswer(Requests{}.Status()),
		"with number -3; a create names no object, so ": LoseAnswer(On("create", pods).Nth(-3).Named("p")),
	} {
		NewWithT(t).Expect(fault.Check()).To(MatchError(ContainSubstring(want)))
	}
}
