package cloud

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	"sigs.k8s.io/karpenter/kwok/options"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

const (
	team  = "example.com/team"
	disk  = "example.com/disk"
	large = "c-16x-amd64-linux"
)

// asked returns a NodeClaim of the pool "pool" for a large spot instance with a fast disk. It
// requests 2 CPUs.
func asked(name string) *karpenterv1.NodeClaim {
	return requiring(requiring(requiring(requiring(&karpenterv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name),
			Labels:      map[string]string{karpenterv1.NodePoolLabelKey: "pool", team: "red", disk: "fast"},
			Annotations: map[string]string{karpenterv1.NodePoolHashAnnotationKey: "1", team: "red"},
		},
		Spec: karpenterv1.NodeClaimSpec{
			NodeClassRef: &karpenterv1.NodeClassReference{Name: "default"},
			Resources: karpenterv1.ResourceRequirements{ // KWOK derives the capacity from them
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
			},
		},
	}, corev1.LabelInstanceTypeStable, large), corev1.LabelArchStable, "amd64"), karpenterv1.CapacityTypeLabelKey, "spot"),
		disk, "fast")
}

// launched holds the results of a launch.
type launched struct {
	claim *karpenterv1.NodeClaim // as core has it afterwards
	told  *karpenterv1.NodeClaim // what core was told; nil after an error
	nodes []corev1.Node
}

// launches launches two NodeClaims in turn with a lie.
func launches(t *testing.T, name string) (cloudprovider.CloudProvider, client.Client, []launched) {
	t.Helper()
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}
	pool.Spec.Template.Spec.Requirements = []karpenterv1.NodeSelectorRequirementWithMinValues{
		{Key: disk, Operator: corev1.NodeSelectorOpIn, Values: []string{"fast", "slow"}},
	}
	api := fake.NewClientBuilder().
		WithObjects(pool, &v1alpha1.KWOKNodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}).Build()
	ctx := options.ToContext(t.Context(), &options.Options{})
	provider, err := Lies()[name].CloudProvider(ctx, api)
	if err != nil {
		t.Fatal(err)
	}
	var all []launched
	for _, one := range []string{"first", "second"} {
		var before corev1.NodeList
		if err := api.List(ctx, &before); err != nil {
			t.Fatal(err)
		}
		l := launched{claim: asked(one)}
		l.told, _ = provider.Create(ctx, l.claim)
		synctest.Wait() // KWOK's nodes join later
		var after corev1.NodeList
		if err := api.List(ctx, &after); err != nil {
			t.Fatal(err)
		}
		l.nodes = slices.DeleteFunc(after.Items, func(n corev1.Node) bool {
			return slices.ContainsFunc(before.Items, func(o corev1.Node) bool { return o.Name == n.Name })
		})
		all = append(all, l)
	}
	return provider, api, all
}

func TestLaunches(t *testing.T) {
	type expectation = func(launched) bool
	label := func(key, want string) expectation {
		return func(l launched) bool {
			return l.nodes[0].Labels[key] == want && l.told.Labels[key] == want
		}
	}
	alike := func(l launched) bool {
		n := l.nodes[0]
		return l.told.Status.ProviderID == n.Spec.ProviderID && n.Labels[corev1.LabelInstanceTypeStable] == large &&
			n.Labels[karpenterv1.CapacityTypeLabelKey] == "spot" && n.Labels[disk] == "fast" && n.Labels[team] == "red" &&
			n.Labels[corev1.LabelArchStable] == "amd64" && n.Labels[corev1.LabelTopologyZone] != "" &&
			l.claim.Annotations[team] == "red" && n.Annotations[team] == "red" &&
			slices.ContainsFunc(n.Spec.Taints, is(karpenterv1.UnregisteredNoExecuteTaint))
	}
	nodes := func(n int) expectation { return func(l launched) bool { return len(l.nodes) == n } }
	inCapitals := func(l launched) bool {
		is, told := l.nodes[0].Spec.ProviderID, l.told.Status.ProviderID
		return is != told && strings.EqualFold(is, told)
	}
	for name, wants := range map[string][2]expectation{
		"never-launches":      {nodes(0), nodes(0)},
		"leaks-an-instance":   {nodes(2), nodes(2)},
		"launches-then-fails": {func(l launched) bool { return l.told == nil && len(l.nodes) == 1 }, nodes(1)},
		"launches-once-per-pool": {alike, func(l launched) bool {
			return len(l.nodes) == 0 && l.told.Status.ProviderID != ""
		}},
		"launches-too-small": {func(l launched) bool { return l.nodes[0].Status.Allocatable.Cpu().Value() <= 1 }, alike},
		"launches-too-large": {func(l launched) bool {
			return l.nodes[0].Status.Capacity.Cpu().Value() == 16 && l.told.Status.Capacity.Cpu().Value() == 16
		}, nodes(1)},
		"launches-the-dearest": {
			label(corev1.LabelInstanceTypeStable, large),
			label(corev1.LabelInstanceTypeStable, large),
		},
		"launches-on-demand": {label(karpenterv1.CapacityTypeLabelKey, "on-demand"), alike},
		"forgets-the-provider-id": {func(l launched) bool {
			return l.told.Status.ProviderID == "" && len(l.nodes) == 1
		}, nodes(1)},
		"ignores-node-affinity": {func(l launched) bool {
			return l.nodes[0].Labels[disk] == "slow" && l.claim.Labels[disk] == "slow"
		}, alike},
		"forgets-labels": {func(l launched) bool {
			return l.nodes[0].Labels[team] == "" && l.claim.Labels[team] == ""
		}, alike},
		"forgets-the-capacity-type": {
			label(karpenterv1.CapacityTypeLabelKey, ""),
			label(karpenterv1.CapacityTypeLabelKey, ""),
		},
		"forgets-the-zone": {label(corev1.LabelTopologyZone, ""), label(corev1.LabelTopologyZone, "")},
		"promises-too-much": {func(l launched) bool {
			node, told := l.nodes[0].Status, l.told.Status
			return node.Capacity.Cpu().Value() == 2 && told.Capacity.Cpu().Value() == 20 &&
				told.Allocatable.Cpu().MilliValue() == 10*node.Allocatable.Cpu().MilliValue()
		}, nodes(1)},
		"mistakes-the-architecture": {label(corev1.LabelArchStable, "arm64"), label(corev1.LabelArchStable, "arm64")},
		"forgets-annotations": {func(l launched) bool {
			return l.nodes[0].Annotations[team] == "" && l.claim.Annotations[team] == "" &&
				l.claim.Annotations[karpenterv1.NodePoolHashAnnotationKey] == "1"
		}, nodes(1)},
		"joins-registered-at-once": {func(l launched) bool { return len(l.nodes[0].Spec.Taints) == 0 }, nodes(1)},
		"joins-without-taints": {func(l launched) bool {
			return l.nodes[0].Labels[karpenterv1.NodeDoNotSyncTaintsLabelKey] == "true"
		}, alike},
		"joins-in-capitals": {inCapitals, inCapitals},
		"joins-with-little-room": {func(l launched) bool {
			return l.nodes[0].Status.Allocatable.Pods().Value() == 2 && l.told.Status.Allocatable.Pods().Value() > 2
		}, alike},
		"": {alike, alike},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, _, all := launches(t, name)
				for i, holds := range wants {
					if !holds(all[i]) {
						t.Errorf("launch %d is not what the lie says:\nnodes %+v\ntold %+v\nclaim %+v", i, all[i].nodes, all[i].told,
							all[i].claim)
					}
				}
			})
		})
	}
}

func TestAForgottenInstanceJoinsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider, api, all := launches(t, "forgets-instances")
		node, claim := &all[0].nodes[0], all[0].told
		is := func() error { return api.Get(t.Context(), client.ObjectKeyFromObject(node), &corev1.Node{}) }
		claim.Finalizers = []string{karpenterv1.TerminationFinalizer}
		if err := api.Create(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		if err := provider.Delete(t.Context(), claim); !cloudprovider.IsNodeClaimNotFoundError(err) {
			t.Errorf("Delete should say that the instance is gone, and says %v", err)
		}
		if err := api.Delete(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		<-time.After(4 * tendEvery)
		if err := is(); !apierrors.IsNotFound(err) {
			t.Errorf("the node should wait until its claim is gone: %v", err)
		}
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
			t.Fatal(err)
		}
		claim.Finalizers = nil
		if err := api.Update(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		<-time.After(4 * tendEvery)
		if err := is(); err != nil {
			t.Errorf("the node should be there again: %v", err)
		}
	})
}

func TestInstancesThatDoNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, failing := range map[string]bool{"never-ends-instances": false, "fails-to-end": true} {
			provider, _, all := launches(t, name)
			if err := provider.Delete(t.Context(), all[0].told); (err != nil) != failing ||
				cloudprovider.IsNodeClaimNotFoundError(err) {
				t.Errorf("%s: Delete says %v", name, err)
			}
		}
	})
}

func TestDriftComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, wants := range map[string][]cloudprovider.DriftReason{
			"":                  {"", ""},
			"drifts-always":     {"ImageDrifted", "ImageDrifted"},
			"drifts-on-and-off": {"ImageDrifted", "", "ImageDrifted"},
		} {
			provider, _, all := launches(t, name)
			for i, want := range wants {
				if got, err := provider.IsDrifted(t.Context(), all[0].claim); got != want || err != nil {
					t.Errorf("%s: look %d finds %q, %v, want %q", name, i, got, err, want)
				}
			}
		}
	})
}

func TestOffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, lies := range map[string]func(*cloudprovider.InstanceType) bool{
			"offers-no-spot": func(it *cloudprovider.InstanceType) bool {
				return !slices.ContainsFunc(it.Offerings, func(o *cloudprovider.Offering) bool {
					return o.CapacityType() == "spot"
				})
			},
			"offers-room-for-two-pods": func(it *cloudprovider.InstanceType) bool { return it.Capacity.Pods().Value() == 2 },
			"offers-thousandfold-cpus": func(it *cloudprovider.InstanceType) bool { return it.Capacity.Cpu().Value() >= 1000 },
		} {
			provider, _, _ := launches(t, name)
			types, err := provider.GetInstanceTypes(t.Context(), nil)
			if err != nil || len(types) == 0 {
				t.Fatalf("%s: %d types, %v", name, len(types), err)
			}
			for _, it := range types {
				if !lies(it) {
					t.Errorf("%s is honest about %s", name, it.Name)
				}
			}
		}
	})
}
