package schema

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// The timeout for the API server to apply another schema, and the polling interval.
const (
	patience = 20 * time.Second
	often    = 20 * time.Millisecond
)

// mark is a printer column that the rewritten CRDs have. kubectl shows it with -o wide.
const mark = "Shipped"

// Ship rewrites Karpenter's CRDs and returns as soon as the API server applies them.
func Ship(ctx context.Context, config *rest.Config, rewrite func(lie.CRD)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	crds := client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions",
	})
	for _, resource := range []string{"nodepools", "nodeclaims"} {
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			crd, err := crds.Get(ctx, resource+".karpenter.sh", metav1.GetOptions{})
			if err != nil || marked(crd) {
				return err
			}
			rewrite(crd.Object)
			columns, _ := version(crd.Object)["additionalPrinterColumns"].([]any)
			version(crd.Object)["additionalPrinterColumns"] = append(columns,
				node{"name": mark, "type": "string", "jsonPath": ".kind", "priority": int64(1)})
			_, err = crds.Update(ctx, crd, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			return fmt.Errorf("rewriting the CRD of %s: %w", resource, err)
		}
		if err := inForce(ctx, config, resource); err != nil {
			return fmt.Errorf("the API server does not apply the CRD of %s: %w", resource, err)
		}
	}
	return nil
}

// marked reports whether a CRD is already rewritten, by an earlier controller that was killed.
func marked(crd *unstructured.Unstructured) bool {
	columns, _ := version(crd.Object)["additionalPrinterColumns"].([]any)
	return slices.ContainsFunc(columns, func(c any) bool { n, ok := c.(node); return ok && n["name"] == mark })
}

// inForce waits until the API server prints objects with the mark. It applies columns and the
// schema together.
func inForce(ctx context.Context, config *rest.Config, resource string) error {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, often, true, func(ctx context.Context) (bool, error) {
		raw, err := client.Get().AbsPath("apis/karpenter.sh/v1", resource).
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(ctx).Raw()
		if err != nil {
			return false, err
		}
		var table metav1.Table
		if err := json.Unmarshal(raw, &table); err != nil {
			return false, err
		}
		return slices.ContainsFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool {
			return c.Name == mark
		}), nil
	})
}
