package lie

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	"sigs.k8s.io/karpenter/kwok/options"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// with runs a test with the honest cloud provider and what its NodeClass says of capacity.
func with(t *testing.T, annotation, value string, test func(*testing.T, cloudprovider.CloudProvider)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		api := fake.NewClientBuilder().WithObjects(&v1alpha1.KWOKNodeClass{
			ObjectMeta: metav1.ObjectMeta{Name: "default", Annotations: map[string]string{annotation: value}},
		}).Build()
		cloud, err := Lie{}.CloudProvider(options.ToContext(t.Context(), &options.Options{}), client.Client(api))
		if err != nil {
			t.Fatal(err)
		}
		test(t, cloud)
	})
}

// launch launches a NodeClaim that may be in some zones, and returns its zone, or "refused".
func launch(t *testing.T, cloud cloudprovider.CloudProvider, zones ...string) string {
	t.Helper()
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim"}}
	claim.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Name: "default"}
	for key, values := range map[string][]string{
		corev1.LabelInstanceTypeStable:   {"c-16x-amd64-linux"},
		karpenterv1.CapacityTypeLabelKey: {"spot", "on-demand"},
		corev1.LabelTopologyZone:         zones,
	} {
		claim.Spec.Requirements = append(claim.Spec.Requirements, karpenterv1.NodeSelectorRequirementWithMinValues{
			Key: key, Operator: corev1.NodeSelectorOpIn, Values: values,
		})
	}
	created, err := cloud.Create(t.Context(), claim)
	if cloudprovider.IsInsufficientCapacityError(err) {
		return "refused"
	}
	if err != nil {
		t.Fatal(err)
	}
	return created.Labels[corev1.LabelTopologyZone]
}

// available returns how many offerings of a zone are available.
func available(t *testing.T, cloud cloudprovider.CloudProvider, zone string) (n int) {
	t.Helper()
	pool := &karpenterv1.NodePool{}
	pool.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Name: "default"}
	types, err := cloud.GetInstanceTypes(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range types {
		for _, o := range each.Offerings {
			if o.Zone() == zone && o.Available {
				n++
			}
		}
	}
	return n
}

func TestTheFirstLaunchInAZoneThatIsShortIsRefusedAndThenTheZoneIsAvoided(t *testing.T) {
	with(t, shortageAnnotation, "count=0&zone=test-zone-a&capacityType=&nonce=1",
		func(t *testing.T, cloud cloudprovider.CloudProvider) {
			if available(t, cloud, "test-zone-a") == 0 {
				t.Error("a shortage that nobody has met is known")
			}
			for _, want := range []string{"refused", "test-zone-b"} {
				if got := launch(t, cloud, "test-zone-a", "test-zone-b"); got != want {
					t.Errorf("it was launched in %s, want %s", got, want)
				}
			}
			if got := launch(t, cloud, "test-zone-a"); got != "refused" {
				t.Errorf("it was launched in %s, which is short", got)
			}
			if n := available(t, cloud, "test-zone-a"); n != 0 {
				t.Errorf("%d offerings are available in a zone that refused a launch", n)
			}
		})
}

func TestAShortageEndsAfterItsCount(t *testing.T) {
	with(t, shortageAnnotation, "count=2&zone=&capacityType=&nonce=1",
		func(t *testing.T, cloud cloudprovider.CloudProvider) {
			for _, want := range []string{"refused", "refused", "test-zone-a"} {
				if got := launch(t, cloud, "test-zone-a"); got != want {
					t.Errorf("it was launched in %s, want %s", got, want)
				}
			}
		})
}

func TestAFullZoneIsKnownBeforeALaunch(t *testing.T) {
	with(t, fullZoneAnnotation, "test-zone-a", func(t *testing.T, cloud cloudprovider.CloudProvider) {
		if n := available(t, cloud, "test-zone-a"); n != 0 {
			t.Errorf("%d offerings are available in a full zone", n)
		}
		if got := launch(t, cloud, "test-zone-a", "test-zone-b"); got != "test-zone-b" {
			t.Errorf("it was launched in %s, want test-zone-b", got)
		}
	})
}

func TestNothingIsShortUnlessTheNodeClassSaysSo(t *testing.T) {
	with(t, shortageAnnotation, "", func(t *testing.T, cloud cloudprovider.CloudProvider) {
		if got := launch(t, cloud, "test-zone-a"); got != "test-zone-a" {
			t.Errorf("it was launched in %s, want test-zone-a", got)
		}
	})
}
