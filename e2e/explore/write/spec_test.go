package write

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/explore/draw"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

func apply(o fixtures.Object) explore.Action {
	return explore.Action{Do: explore.Apply, Object: o.Unstructured().Object}
}

func TestASequenceAsASpec(t *testing.T) {
	app := fixtures.Deployment(2).Called("app1").CPU("1").Spread(fixtures.TopologySpread("zone").MaxSkew(2))
	pool := fixtures.NodePool().Called("pool1").Limit("cpu", "3").Budget("0", fixtures.Drifted, fixtures.Empty)
	class := fixtures.PriorityClass(7).Unstructured()
	class.SetName("priority1")
	minute := metav1.Duration{Duration: time.Minute}
	text, err := Spec(explore.Sequence{Name: "seed-1", Actions: []explore.Action{
		apply(pool),
		apply(app),
		{Do: explore.Apply, Object: class.Object},
		{Do: explore.DeleteNode, Node: 2, Then: minute},
		{Do: explore.CallHook, Hook: providers.FailNextLaunch, Count: 3},
		{Do: explore.CallHook, Hook: providers.TerminateInstance},
		{Do: explore.KillController},
		{Do: explore.Delete, Object: class.Object},
		{Do: explore.DeleteInForeground, Object: pool.Unstructured().Object},
	}}, "It broke: limits are kept.")
	NewWithT(t).Expect(text, err).To(Equal(`package explored

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// It broke: limits are kept.
var _ = Suite.Add(e2e.Spec{
	Name:       "seed-1",
	Needs:      []providers.Capability{"nodePools"},
	Hooks:      []providers.HookName{"failNextLaunch", "terminateInstance"},
	Within:     11 * time.Minute,
	Foreground: true,
	Breaks: []e2e.Breach{
		{
			Invariant: "instances end before their nodes and NodeClaims do",
			Why:       "the instance ends behind Karpenter's back, and its node may with it",
		},
	},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Create(ctx, fixtures.NodePool().Called("pool1").Limit("cpu", "3").Budget("0", "Drifted", "Empty"))
		env.Create(ctx, fixtures.Deployment(2).Called("app1").CPU("1").
			Spread(fixtures.TopologySpread("zone").MaxSkew(2)))
		env.Create(ctx, explore.Manifest(` + "`" + `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: priority1
value: 7
` + "`" + `))
		explore.Action{Do: "delete-node", Node: 2}.Play(ctx, env)
		env.Observe(ctx, 1*time.Minute)
		explore.Action{Do: "hook", Hook: "failNextLaunch", Count: 3}.Play(ctx, env)
		explore.Action{Do: "hook", Hook: "terminateInstance"}.Play(ctx, env)
		env.KillController(ctx)
		env.Remove(ctx, fixtures.Existing("scheduling.k8s.io/v1", "PriorityClass", "priority1"))
		env.RemoveInForeground(ctx, fixtures.Existing("karpenter.sh/v1", "NodePool", "pool1"))
		env.Hook(ctx, "clearFailures")
		env.ExpectInvariants()
	},
})
`))
}

// Builders write what they have drawn. There is none for a PriorityClass or a ResourceClaim, or for one object of a
// volume.
func TestDrawnObjectsAreWrittenByBuilders(t *testing.T) {
	g := NewWithT(t)
	domain := draw.Domain{
		Zones: []string{"a", "b", "c"}, InstanceTypes: []string{"small", "middle", "large"},
		CapacityTypes: []string{"on-demand", "spot"}, Capabilities: providers.Capabilities(),
	}
	for seed := range 300 {
		for _, a := range draw.Draw(seed, domain, nil).Actions {
			kind, _ := a.Object["kind"].(string)
			if a.Do != explore.Apply || kind == "PriorityClass" || kind == "ResourceClaim" ||
				kind == "StorageClass" || strings.HasPrefix(kind, "Persistent") {
				continue
			}
			text, err := object(a.Object)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(text).To(HavePrefix("fixtures."), "%v", a.Object)
		}
	}
}

// A NodePool of the second NodeClass needs that first, in a spec and in commands.
func TestTheSecondNodeClassIsMade(t *testing.T) {
	g := NewWithT(t)
	pool := fixtures.NodePool().Called("pool1").NodeClassCalled(env.AnotherNodeClass)
	s := explore.Sequence{Name: "a", Actions: []explore.Action{{Do: explore.Apply, Object: pool.Unstructured().Object}}}
	text, err := Spec(s, "It broke.")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(MatchRegexp(`env.AnotherNodeClass\(ctx\)\s+env.Create\(ctx, fixtures.NodePool\(\).*NodeClassCalled`))
	commands, err := s.Commands(providers.Named("kwok"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(strings.Count(commands, "name: "+env.AnotherNodeClass)).To(Equal(2), "itself, and the reference")
}
