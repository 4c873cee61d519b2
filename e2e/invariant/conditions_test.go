package invariant

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestConditionsWellFormed(t *testing.T) {
	type condition = map[string]any
	sound := func(changes ...any) condition {
		c := condition{
			"type": "Launched", "status": "True", "reason": "Launched", "message": "",
			"lastTransitionTime": at(time.Minute), "observedGeneration": int64(1),
		}
		for i := 0; i < len(changes); i += 2 {
			if c[changes[i].(string)] = changes[i+1]; changes[i+1] == nil {
				delete(c, changes[i].(string))
			}
		}
		return c
	}
	with := func(o *historytest.Thing, all ...any) *historytest.Thing {
		return o.Set(int64(1), "metadata", "generation").Set(all, "status", "conditions")
	}
	claim := func(all ...any) *historytest.Thing { return with(historytest.NodeClaim("c"), all...) }
	begin := historytest.Begin
	classes := schema.GroupVersionResource{Group: "karpenter.cloud.com", Version: "v1", Resource: "cloudnodeclasses"}
	class := func(all ...any) *historytest.Thing {
		return with(historytest.Other(classes, "CloudNodeClass", "", "k"), all...)
	}
	bad := sound("reason", "")
	judgeEach(t, conditionsWellFormed(), map[string]outcome{
		"sound": {begin().Add(claim(sound())), check.Holds, ""},
		"no reason": {
			begin().Add(claim(sound("reason", nil))), check.Broken,
			"Launched of NodeClaim c has no reason",
		},
		"an empty reason":         {begin().Add(claim(bad)), check.Broken, "Launched of NodeClaim c has no reason"},
		"a sentence for a reason": {begin().Add(claim(sound("reason", "not a word"))), check.Broken, "CamelCase"},
		"a long reason": {
			begin().Add(claim(sound("reason", strings.Repeat("a", 1025)))), check.Broken,
			"CamelCase",
		},
		"no message":     {begin().Add(claim(sound("message", nil))), check.Broken, "no message"},
		"a long message": {begin().Add(claim(sound("message", strings.Repeat("a", 32769)))), check.Broken, "32768"},
		"no time": {
			begin().Add(claim(sound("lastTransitionTime", nil))), check.Broken,
			"no lastTransitionTime",
		},
		"no date":        {begin().Add(claim(sound("lastTransitionTime", "yesterday"))), check.Broken, "yesterday"},
		"no such status": {begin().Add(claim(sound("status", "Perhaps"))), check.Broken, "Perhaps"},
		"no type":        {begin().Add(claim(sound("type", nil))), check.Broken, "no valid type"},
		"twice":          {begin().Add(claim(sound(), sound("status", "False"))), check.Broken, "is there twice"},
		"ahead of its time": {
			begin().Add(claim(sound("observedGeneration", int64(2)))), check.Broken,
			"observed at generation 2",
		},
		"back in time": {begin().Add(claim(sound())).
			Change(claim(sound("status", "False", "lastTransitionTime", at(0)))), check.Broken, "lastTransitionTime back"},
		"stays in time": {
			begin().Add(claim(sound())).After(time.Hour).Change(claim(sound("status", "False"))), check.Broken,
			"lastTransitionTime stays 2026-01-02T15:05:05Z, which was 59m0s ago",
		},
		"twice in a second": {begin().Add(claim(sound())).After(time.Minute + 5*time.Second).
			Change(claim(sound("status", "False"))), check.Holds, ""},
		"only its message changes": {
			begin().Add(claim(sound())).After(time.Hour).Change(claim(sound("message", "still"))),
			check.Holds, "",
		},
		"turned back by a spec": {
			begin().Add(claim(sound())).Change(claim(sound("lastTransitionTime", at(0)))),
			check.Holds, "",
		},
		"nonsense": {
			begin().Add(claim(sound("status", []any{}, "type", condition{}))), check.Broken,
			"no valid type",
		},
		"bad from the start": {begin().Add(claim(bad)).Start(), check.Broken, "no reason"},
		"a pool's":           {begin().Add(with(historytest.Pool("p"), bad)), check.Broken, "no reason"},
		"a NodeClass's":      {begin().Add(class(bad)), check.Broken, "no reason"},
		"a node's are of another API": {
			begin().Add(with(historytest.Node("n"), bad), with(historytest.Pod("p", "w"), bad)),
			check.Vacuous, "no object had conditions",
		},
		"a gap":           {begin().Add(claim(sound())).Gap(karpenter.NodeClaims, "410"), check.Unknown, "gap"},
		"bad after a gap": {begin().Gap(karpenter.NodeClaims, "410").Add(claim(bad)), check.Broken, "no reason"},
	})
	other := Params{NodeClass: schema.GroupVersionResource{
		Group: "karpenter.other.com", Version: "v1",
		Resource: "othernodeclasses",
	}}
	if f := conditionsWellFormed().Check(other).Judge(begin().Add(class(bad)).History()); f.Verdict != check.Vacuous {
		t.Errorf("only the provider's NodeClass is judged: %s", f)
	}
}
