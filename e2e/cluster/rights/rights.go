// Package rights asks an API server which requests it allows.
package rights

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
)

// Right is a permission. Verbs and Resources are lists, separated by blanks. A resource may
// have a subresource, such as nodes/status. Name and Namespace are empty for all.
type Right struct{ Verbs, Group, Resources, Namespace, Name string }

// atOnce is the number of concurrent access reviews.
const atOnce = 10

// Missing returns the rights that the API server denies to the client, as lines such as
// "list, watch nodepools.karpenter.sh", sorted by resource.
func Missing(ctx context.Context, client kubernetes.Interface, needed ...Right) ([]string, error) {
	var mu sync.Mutex
	denied := map[string][]string{} // verbs by resource, name and namespace
	reviews, ctx := errgroup.WithContext(ctx)
	reviews.SetLimit(atOnce)
	for _, r := range needed {
		for resource := range strings.FieldsSeq(r.Resources) {
			for verb := range strings.FieldsSeq(r.Verbs) {
				reviews.Go(func() error {
					allowed, err := ask(ctx, client, r, resource, verb)
					if err != nil || allowed {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					what := r.what(resource)
					denied[what] = append(denied[what], verb)
					return nil
				})
			}
		}
	}
	if err := reviews.Wait(); err != nil {
		return nil, fmt.Errorf("asking what may be done: %w", err)
	}
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(denied)) {
		slices.Sort(denied[what])
		lines = append(lines, strings.Join(denied[what], ", ")+" "+what)
	}
	return lines, nil
}

func ask(ctx context.Context, client kubernetes.Interface, r Right, resource, verb string) (bool, error) {
	name, sub, _ := strings.Cut(resource, "/")
	review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx,
		&authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: verb, Group: r.Group, Resource: name, Subresource: sub, Namespace: r.Namespace, Name: r.Name,
			}},
		}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// what returns the words for a resource of a right.
func (r Right) what(resource string) string {
	words := schema.GroupResource{Group: r.Group, Resource: resource}.String()
	if r.Name != "" {
		words += " " + r.Name
	}
	if r.Namespace != "" {
		words += " in namespace " + r.Namespace
	}
	return words
}
