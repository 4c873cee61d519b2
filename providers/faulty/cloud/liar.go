package cloud

import (
	"cmp"
	"context"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// cloud is KWOK's cloud provider with an API client.
type cloud struct {
	cloudprovider.CloudProvider
	client client.Client
}

// A liar is a cloud provider whose set fields replace the honest behavior.
type liar struct {
	cloud
	create  creator
	end     func(context.Context, cloud, *karpenterv1.NodeClaim) error
	find    func(context.Context, cloud, string) (*karpenterv1.NodeClaim, error)
	types   func(context.Context, cloud, *karpenterv1.NodePool) ([]*cloudprovider.InstanceType, error)
	drifted func() bool
	reason  cloudprovider.DriftReason // of all that has drifted; empty: the provider's own
}

// A creator launches an instance for a NodeClaim, through an honest cloud. It may change the
// NodeClaim's metadata, which core writes back.
type creator func(context.Context, cloud, *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error)

// lying returns a decorator that makes a cloud provider a liar.
func lying(l liar) func(cloudprovider.CloudProvider, client.Client) cloudprovider.CloudProvider {
	return func(honest cloudprovider.CloudProvider, c client.Client) cloudprovider.CloudProvider {
		l.cloud = cloud{honest, c}
		return l
	}
}

// launching returns a lie about how instances begin.
func launching(create creator) lie.Lie { return lie.Lie{Cloud: lying(liar{create: create})} }

// ending returns a lie about how instances end.
func ending(end func(context.Context, cloud, *karpenterv1.NodeClaim) error) lie.Lie {
	return lie.Lie{Cloud: lying(liar{end: end})}
}

// drifting returns a lie about the provider's drift.
func drifting(drifted func() bool) lie.Lie { return lie.Lie{Cloud: lying(liar{drifted: drifted})} }

// reasoning returns a lie about why things drift.
func reasoning(reason cloudprovider.DriftReason) lie.Lie {
	return lie.Lie{Cloud: lying(liar{reason: reason})}
}

// Create launches an instance, by the lie if it is set.
func (l liar) Create(ctx context.Context, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
	if l.create == nil {
		return l.cloud.Create(ctx, claim)
	}
	return l.create(ctx, l.cloud, claim)
}

// Delete ends an instance, by the lie if it is set.
func (l liar) Delete(ctx context.Context, claim *karpenterv1.NodeClaim) error {
	if l.end == nil {
		return l.cloud.Delete(ctx, claim)
	}
	return l.end(ctx, l.cloud, claim)
}

// Get returns an instance by its provider ID, by the lie if it is set.
func (l liar) Get(ctx context.Context, id string) (*karpenterv1.NodeClaim, error) {
	if l.find == nil {
		return l.cloud.Get(ctx, id)
	}
	return l.find(ctx, l.cloud, id)
}

// GetInstanceTypes returns the instance types, by the lie if it is set.
func (l liar) GetInstanceTypes(ctx context.Context, pool *karpenterv1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if l.types == nil {
		return l.cloud.GetInstanceTypes(ctx, pool)
	}
	return l.types(ctx, l.cloud, pool)
}

// IsDrifted returns why an instance has drifted, or "".
func (l liar) IsDrifted(ctx context.Context, claim *karpenterv1.NodeClaim) (cloudprovider.DriftReason, error) {
	if l.drifted != nil && l.drifted() {
		return "ImageDrifted", nil
	}
	reason, err := l.cloud.IsDrifted(ctx, claim)
	if reason != "" {
		reason = cmp.Or(l.reason, reason)
	}
	return reason, err
}

// saying returns a creator that launches honestly and edits the NodeClaim that it returns.
func saying(edit func(*karpenterv1.NodeClaim)) creator {
	return func(ctx context.Context, honest cloud, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
		created, err := honest.Create(ctx, claim)
		if err != nil {
			return nil, err
		}
		created = created.DeepCopy() // KWOK shares its maps with the Node
		edit(created)
		return created, nil
	}
}

// joinedAs returns a lie that edits Nodes when they join.
func joinedAs(edit func(*corev1.Node)) lie.Lie {
	return lie.Lie{Instances: func(honest client.Client) client.Client { return joiner{honest, edit} }}
}

// labelled returns a lie about an instance's labels, on the Node and for core.
func labelled(edit func(map[string]string)) lie.Lie {
	l := joinedAs(func(node *corev1.Node) { edit(node.Labels) })
	l.Cloud = lying(liar{create: saying(func(claim *karpenterv1.NodeClaim) { edit(claim.Labels) })})
	return l
}

// sized returns a lie about an instance's resources, on the Node and for core.
func sized(as corev1.ResourceList) lie.Lie {
	l := joinedAs(func(node *corev1.Node) {
		node.Status.Capacity = overlaid(node.Status.Capacity, as)
		node.Status.Allocatable = overlaid(node.Status.Allocatable, as)
	})
	l.Cloud = lying(liar{create: saying(func(claim *karpenterv1.NodeClaim) {
		claim.Status.Capacity = overlaid(claim.Status.Capacity, as)
		claim.Status.Allocatable = overlaid(claim.Status.Allocatable, as)
	})})
	return l
}

func overlaid(truth, lie corev1.ResourceList) corev1.ResourceList {
	all := corev1.ResourceList{}
	maps.Copy(all, truth)
	maps.Copy(all, lie)
	return all
}

// joiner is a client that edits the Nodes that it creates.
type joiner struct {
	client.Client
	edit func(*corev1.Node)
}

// Create creates an edited copy of a Node. It leaves other objects unchanged.
func (j joiner) Create(ctx context.Context, object client.Object, opts ...client.CreateOption) error {
	if node, ok := object.(*corev1.Node); ok {
		node = node.DeepCopy()
		j.edit(node)
		object = node
	}
	return j.Client.Create(ctx, object, opts...)
}

// firsts records which keys it has seen. The zero value is empty.
type firsts struct{ seen sync.Map }

// of reports whether this is the first call for the key.
func (f *firsts) of(key string) bool {
	_, again := f.seen.LoadOrStore(key, true)
	return !again
}
