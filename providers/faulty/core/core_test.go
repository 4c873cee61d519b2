package core

import (
	"context"
	"testing"

	"github.com/awslabs/operatorpkg/controller"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/operator/injection"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

func TestOnlyThoseAreDeceivedWhoAreNamed(t *testing.T) {
	honest := fake.NewClientBuilder().WithObjects(pool()).Build()
	lying := Lies()["ignores-weights"].Client(honest)

	for asking, want := range map[string]*int32{provisioning: nil, disrupting: new(int32(7))} {
		ctx := injection.WithControllerName(t.Context(), asking)
		var one v1.NodePool
		if err := lying.Get(ctx, client.ObjectKey{Name: "pool"}, &one); err != nil {
			t.Fatal(err)
		}
		var all v1.NodePoolList
		if err := lying.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
			t.Fatal(err)
		}
		for _, got := range []*int32{one.Spec.Weight, all.Items[0].Spec.Weight} {
			if (got == nil) != (want == nil) {
				t.Errorf("%s reads the weight %v, want %v", asking, got, want)
			}
		}
	}
}

func TestAPatchOfWhatWasMisreadLeavesTheRestAlone(t *testing.T) {
	honest := fake.NewClientBuilder().WithObjects(pool()).Build()
	lying := Lies()["ignores-weights"].Client(honest)
	ctx := injection.WithControllerName(t.Context(), provisioning)

	var misread v1.NodePool
	if err := lying.Get(ctx, client.ObjectKey{Name: "pool"}, &misread); err != nil {
		t.Fatal(err)
	}
	stored := misread.DeepCopy()
	misread.Annotations = map[string]string{"seen": "yes"}
	if err := lying.Patch(ctx, &misread, client.MergeFrom(stored)); err != nil {
		t.Fatal(err)
	}

	var kept v1.NodePool
	if err := honest.Get(ctx, client.ObjectKey{Name: "pool"}, &kept); err != nil {
		t.Fatal(err)
	}
	if kept.Spec.Weight == nil || *kept.Spec.Weight != 7 || kept.Annotations["seen"] != "yes" {
		t.Errorf("the patch left weight %v and annotations %v, want 7 and the new one", kept.Spec.Weight, kept.Annotations)
	}
}

func TestControllersFetchWhatTheyAreGivenInTheirOwnName(t *testing.T) {
	honest := fake.NewClientBuilder().WithObjects(claim("30s")).Build()
	age := &fetched{name: expiring}
	for _, c := range Lies()["expires-at-half-the-age"].Controllers([]controller.Controller{age}) {
		if err := c.Register(t.Context(), managing{client: honest}); err != nil {
			t.Fatal(err)
		}
	}
	if got := age.claim.Spec.ExpireAfter.Duration.String(); got != "15s" {
		t.Errorf("the controller was given a NodeClaim that expires after %s, want 15s", got)
	}
}

func TestNeverIsReadAsAnAge(t *testing.T) {
	honest := fake.NewClientBuilder().WithObjects(claim("Never")).Build()
	ctx := injection.WithControllerName(t.Context(), expiring)
	var misread v1.NodeClaim
	if err := Lies()["expires-what-never-expires"].Client(honest).
		Get(ctx, client.ObjectKey{Name: "claim"}, &misread); err != nil {
		t.Fatal(err)
	}
	if misread.Spec.ExpireAfter.Duration == nil {
		t.Error("the NodeClaim never expires, want an age")
	}
}

func TestAControllerThatIsLeftOut(t *testing.T) {
	left := Lies()["never-expires"].Controllers([]controller.Controller{
		&fetched{name: expiring},
		&fetched{name: lifecycle},
	})
	if len(left) != 1 || nameOf(left[0]) != lifecycle {
		t.Errorf("%v are left, want %s alone", left, lifecycle)
	}
}

func TestHashesLeaveOutAndTakeIn(t *testing.T) {
	for name, change := range map[string]func(*v1.NodePool){
		"leaves-labels-out-of-the-hash": func(p *v1.NodePool) {
			p.Spec.Template.Labels = map[string]string{"new": "yes"}
		},
		"leaves-annotations-out-of-the-hash": func(p *v1.NodePool) {
			p.Spec.Template.Annotations = map[string]string{"new": "yes"}
		},
		"leaves-taints-out-of-the-hash": func(p *v1.NodePool) {
			p.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "new"}}
		},
		"leaves-expiration-out-of-the-hash": func(p *v1.NodePool) {
			p.Spec.Template.Spec.ExpireAfter = v1.MustParseNillableDuration("1h")
		},
		"leaves-grace-periods-out-of-the-hash": func(p *v1.NodePool) {
			p.Spec.Template.Spec.TerminationGracePeriod = &metav1.Duration{Duration: 1}
		},
		"takes-weights-into-the-hash": func(p *v1.NodePool) { p.Spec.Weight = new(int32(8)) },
		"takes-limits-into-the-hash": func(p *v1.NodePool) {
			p.Spec.Limits = v1.Limits{corev1.ResourceCPU: resource.MustParse("1")}
		},
		"takes-disruption-into-the-hash": func(p *v1.NodePool) {
			p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}}
		},
		"takes-requirements-into-the-hash": func(p *v1.NodePool) {
			p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{
				Key:      "new",
				Operator: corev1.NodeSelectorOpExists,
			}}
		},
	} {
		changed := pool()
		change(changed)
		honestly := pool().Hash() == changed.Hash()
		lying := written(t, Lies()[name], pool()) == written(t, Lies()[name], changed)
		if lying == honestly {
			t.Errorf("%s: the hash stays the same: %t, as it does honestly", name, lying)
		}
	}
}

// written returns the hash that a lie writes on a new NodeClaim of a pool.
func written(t *testing.T, l lie.Lie, p *v1.NodePool) string {
	t.Helper()
	honest := fake.NewClientBuilder().WithObjects(p).Build()
	c := claim("Never")
	if err := l.Client(honest).Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c.Annotations[v1.NodePoolHashAnnotationKey]
}

func pool() *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}
	p.Spec.Weight = new(int32(7))
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Name: "default"}
	return p
}

func claim(expireAfter string) *v1.NodeClaim {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "claim", Labels: map[string]string{v1.NodePoolLabelKey: "pool"}, Annotations: map[string]string{},
	}}
	c.Spec.ExpireAfter = v1.MustParseNillableDuration(expireAfter)
	return c
}

// fetched is a controller that reads a NodeClaim when the controller is registered.
type fetched struct {
	name  string
	claim v1.NodeClaim
}

func (f *fetched) Name() string { return f.name }

func (f *fetched) Register(ctx context.Context, m manager.Manager) error {
	return m.GetClient().Get(ctx, client.ObjectKey{Name: "claim"}, &f.claim)
}
