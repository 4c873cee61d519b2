package lie

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	kwokv1alpha1 "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// KWOK's provider leaves out what others do: its NodeClasses have no hash, nobody looks after
// their status, its NodeClaims have no image, and none of its nodes drifts by itself. The faulty
// provider does that too, so that there can be lies about it.
const (
	// HashAnnotation has the hash of a NodeClass, on it and on NodeClaims; see the adapter.
	HashAnnotation        = "karpenter.kwok.sh/kwoknodeclass-hash"
	hashVersionAnnotation = HashAnnotation + "-version"
	hashVersion           = "v1"
	image                 = "image-1"

	// revisionAnnotation makes a NodeClass another one: what is hashed beside it could be changed
	// only together with how nodes join.
	revisionAnnotation = "karpenter.kwok.sh/revision"
	// nodeClassDrift is why instances drift that were launched with another NodeClass.
	nodeClassDrift cloudprovider.DriftReason = "NodeClassDrift"

	// tendEvery is how often NodeClasses are looked at.
	tendEvery = 250 * time.Millisecond
)

// TendNodeClasses hashes each NodeClass, and says of which generation its conditions are, until the
// context ends.
func (l Lie) TendNodeClasses(ctx context.Context, c client.Client) error {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		classes := &kwokv1alpha1.KWOKNodeClassList{}
		if err := c.List(ctx, classes); err != nil {
			log.FromContext(ctx).Error(err, "NodeClasses could not be listed")
		}
		for i := range classes.Items {
			if err := l.tend(ctx, c, &classes.Items[i]); client.IgnoreNotFound(err) != nil {
				log.FromContext(ctx).Error(err, "a NodeClass could not be patched; it is tried again")
			}
		}
	}, tendEvery)
	return nil
}

func (l Lie) tend(ctx context.Context, c client.Client, stored *kwokv1alpha1.KWOKNodeClass) error {
	class := stored.DeepCopy()
	class.Annotations = hashed(class.Annotations, class)
	for i := range class.Status.Conditions {
		class.Status.Conditions[i].ObservedGeneration = class.Generation
	}
	if l.NodeClass != nil {
		l.NodeClass(class)
	}
	if !equality.Semantic.DeepEqual(stored.Annotations, class.Annotations) {
		return c.Patch(ctx, class, client.MergeFrom(stored)) // its status is for the next time
	}
	if equality.Semantic.DeepEqual(stored.Status, class.Status) {
		return nil
	}
	err := c.Status().Patch(ctx, class, client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) {
		return nil // a spec or its hook was first
	}
	return err
}

func hashed(annotations map[string]string, class *kwokv1alpha1.KWOKNodeClass) map[string]string {
	all := map[string]string{}
	maps.Copy(all, annotations)
	all[HashAnnotation] = hash(class)
	all[hashVersionAnnotation] = hashVersion
	return all
}

func hash(class *kwokv1alpha1.KWOKNodeClass) string {
	return strconv.FormatInt(class.Spec.NodeRegistrationDelay.Nanoseconds(), 10) + class.Annotations[revisionAnnotation]
}

// describing is KWOK's cloud provider, whose NodeClaims have an image and the hash of their NodeClass,
// and drift if that changes.
type describing struct {
	cloudprovider.CloudProvider
	client client.Client
}

// Create launches an instance, and describes it.
func (d describing) Create(ctx context.Context, claim *karpenterv1.NodeClaim) (*karpenterv1.NodeClaim, error) {
	created, err := d.CloudProvider.Create(ctx, claim)
	if err != nil {
		return nil, err
	}
	class, err := d.classOf(ctx, claim)
	if err != nil {
		return nil, err
	}
	created = created.DeepCopy() // KWOK shares its maps with the Node
	created.Annotations = hashed(created.Annotations, class)
	created.Status.ImageID = image
	return created, nil
}

// IsDrifted returns nodeClassDrift if the NodeClass is not as it was at the launch.
func (d describing) IsDrifted(ctx context.Context, claim *karpenterv1.NodeClaim) (cloudprovider.DriftReason, error) {
	class, err := d.classOf(ctx, claim)
	if err != nil {
		return "", client.IgnoreNotFound(err)
	}
	if launched, is := claim.Annotations[HashAnnotation]; is && launched != hash(class) {
		return nodeClassDrift, nil
	}
	return d.CloudProvider.IsDrifted(ctx, claim)
}

func (d describing) classOf(ctx context.Context, claim *karpenterv1.NodeClaim) (*kwokv1alpha1.KWOKNodeClass, error) {
	class := &kwokv1alpha1.KWOKNodeClass{}
	if err := d.client.Get(ctx, client.ObjectKey{Name: claim.Spec.NodeClassRef.Name}, class); err != nil {
		return nil, fmt.Errorf("reading the NodeClass of NodeClaim %s: %w", claim.Name, err)
	}
	return class, nil
}
