package lie

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kwokv1alpha1 "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// KWOK's cloud never runs out of instances. This one does, so that there can be lies about it. The
// adapter's hooks say by annotations of the NodeClass what is short; an empty value means nothing.
const (
	// shortageAnnotation has a shortage that shows at the launch only, as a query:
	// count=2&zone=a&capacityType=spot&nonce=7.
	shortageAnnotation = "karpenter.kwok.sh/shortage"
	// fullZoneAnnotation names a zone that takes no more instances, as the provider can read before it launches.
	fullZoneAnnotation = "karpenter.kwok.sh/full-zone"
)

// scarce is KWOK's cloud provider with a capacity that can run out. What was refused is not
// available until the shortage is over.
type scarce struct {
	cloudprovider.CloudProvider
	client client.Client

	mu       sync.Mutex
	refusals map[string]int // by the shortage's text
}

func withCapacity(unlimited cloudprovider.CloudProvider, c client.Client) *scarce {
	return &scarce{CloudProvider: unlimited, client: c, refusals: map[string]int{}}
}

// shortage is what can't be had. The zero value is none.
type shortage struct {
	text               string
	count              int // of launches that fail; 0: all
	zone, capacityType string
	known              bool // before a launch is tried
}

// Create launches an instance, unless it is short.
func (s *scarce) Create(ctx context.Context, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
	all, err := s.shortages(ctx, claim.Spec.NodeClassRef.Name)
	if err != nil {
		return nil, err
	}
	left := claim.DeepCopy()
	for _, short := range all {
		surprise := !short.known && s.refused(short) == 0 && short.concerns(claim)
		if surprise || !short.leaves(left) {
			s.refuse(short)
			return nil, cloudprovider.NewInsufficientCapacityError(errors.New("the cloud has no such instance left"))
		}
	}
	return s.CloudProvider.Create(ctx, left)
}

// GetInstanceTypes returns the instance types. Offerings that are known to be short are not available.
func (s *scarce) GetInstanceTypes(ctx context.Context,
	pool *karpenterv1.NodePool,
) ([]*cloudprovider.InstanceType, error) {
	types, err := s.CloudProvider.GetInstanceTypes(ctx, pool)
	if err != nil || pool == nil {
		return types, err
	}
	all, err := s.shortages(ctx, pool.Spec.Template.Spec.NodeClassRef.Name)
	if err != nil {
		return nil, err
	}
	for _, short := range all {
		if short.limited() && (short.known || s.refused(short) > 0) {
			types = short.mark(types)
		}
	}
	return types, nil
}

// shortages reads what is short for a NodeClass. One that doesn't exist has no shortage.
func (s *scarce) shortages(ctx context.Context, nodeClass string) ([]shortage, error) {
	class := &kwokv1alpha1.KWOKNodeClass{}
	if err := s.client.Get(ctx, client.ObjectKey{Name: nodeClass}, class); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	var all []shortage
	if zone := class.Annotations[fullZoneAnnotation]; zone != "" {
		all = append(all, shortage{text: zone, zone: zone, known: true})
	}
	text := class.Annotations[shortageAnnotation]
	if text == "" {
		return all, nil
	}
	said, err := url.ParseQuery(text)
	if err != nil {
		return nil, fmt.Errorf("annotation %s of NodeClass %s: %w", shortageAnnotation, nodeClass, err)
	}
	count, err := strconv.Atoi(said.Get("count"))
	if err != nil {
		return nil, fmt.Errorf("annotation %s of NodeClass %s: %w", shortageAnnotation, nodeClass, err)
	}
	short := shortage{text: text, count: count, zone: said.Get("zone"), capacityType: said.Get("capacityType")}
	if count == 0 || s.refused(short) < count {
		all = append(all, short)
	}
	return all, nil
}

func (s *scarce) refused(short shortage) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusals[short.text]
}

func (s *scarce) refuse(short shortage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals[short.text]++
}

// limited reports whether there are instances that are not short.
func (s shortage) limited() bool { return s.zone != "" || s.capacityType != "" }

// concerns reports whether a NodeClaim allows what is short.
func (s shortage) concerns(claim *karpenterv1.NodeClaim) bool {
	allowed := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	return (s.zone == "" || allowed.Get(corev1.LabelTopologyZone).Has(s.zone)) &&
		(s.capacityType == "" || allowed.Get(karpenterv1.CapacityTypeLabelKey).Has(s.capacityType))
}

// leaves takes what is short from a NodeClaim's requirements, and reports whether anything is left.
func (s shortage) leaves(claim *karpenterv1.NodeClaim) bool {
	if !s.concerns(claim) {
		return true
	}
	if s.zone != "" {
		claim.Spec.Requirements = append(claim.Spec.Requirements, without(corev1.LabelTopologyZone, s.zone))
	}
	if s.capacityType != "" {
		claim.Spec.Requirements = append(claim.Spec.Requirements, without(karpenterv1.CapacityTypeLabelKey, s.capacityType))
	}
	left := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	return s.limited() && left.Get(corev1.LabelTopologyZone).Len() > 0 &&
		left.Get(karpenterv1.CapacityTypeLabelKey).Len() > 0
}

func without(key, value string) karpenterv1.NodeSelectorRequirementWithMinValues {
	return karpenterv1.NodeSelectorRequirementWithMinValues{
		Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: []string{value},
	}
}

// mark returns copies of instance types without the availability of what is short.
func (s shortage) mark(types []*cloudprovider.InstanceType) []*cloudprovider.InstanceType {
	marked := make([]*cloudprovider.InstanceType, 0, len(types))
	for _, t := range types {
		t = t.DeepCopy()
		for _, o := range t.Offerings {
			o.Available = o.Available && !s.is(o)
		}
		marked = append(marked, t)
	}
	return marked
}

func (s shortage) is(o *cloudprovider.Offering) bool {
	return (s.zone == "" || o.Zone() == s.zone) && (s.capacityType == "" || o.CapacityType() == s.capacityType)
}
