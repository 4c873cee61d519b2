package env

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Cell is what kubectl prints of an object in one column.
type Cell struct {
	Column string
	Text   string // empty: any text that is not empty
	Wide   bool   // with -o wide only
}

// ExpectColumns expects that `kubectl get` prints an object in these columns, in this order.
// It may print others too. A column is wide in all releases or in none.
func (e *Env) ExpectColumns(ctx context.Context, object fixtures.Object, cells ...Cell) {
	ref, err := e.refer(object.Unstructured())
	if err != nil {
		e.fail(ctx, "asking how %s is printed: %w", object.GetName(), err)
	}
	kind, name := ref.kind, ref.name
	table, err := e.table(ctx, kind, name)
	if err != nil {
		e.fail(ctx, "asking how %s is printed: %w", ref, err)
	}
	if len(table.Rows) != 1 || len(table.Rows[0].Cells) != len(table.ColumnDefinitions) {
		e.Fail("%s %s is printed in %d rows; want one row with a cell for each column", kind.Resource, name, len(table.Rows))
	}
	after := -1
	for _, cell := range cells {
		at := slices.IndexFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool {
			return c.Name == cell.Column && c.Priority > 0 == cell.Wide
		})
		if at <= after {
			e.Fail("kubectl get %s prints %s; wanted is %s", kind.Resource, columns(table), cell)
		}
		after = at
		text := printed(table.Rows[0].Cells[at])
		if text == "" || cell.Text != "" && cell.Text != text {
			e.Fail("kubectl get %s prints %q of %s as %s; wanted is %q", kind.Resource, text, name, cell, cell.Text)
		}
		e.claim(fmt.Sprintf("kubectl get %s prints %s", kind.Resource, cell))
	}
}

// table asks the API server for an object as a Table, as kubectl does.
func (e *Env) table(ctx context.Context, kind schema.GroupVersionResource, name string) (*metav1.Table, error) {
	config := rest.CopyConfig(e.place.Cluster.Config())
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, err
	}
	raw, err := client.Get().AbsPath("apis", kind.Group, kind.Version, kind.Resource, name).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	table := &metav1.Table{}
	return table, json.Unmarshal(raw, table)
}

// String returns the column, and whether it is wide.
func (c Cell) String() string {
	if c.Wide {
		return c.Column + " (wide)"
	}
	return c.Column
}

func columns(t *metav1.Table) string {
	names := make([]string, len(t.ColumnDefinitions))
	for i, c := range t.ColumnDefinitions {
		names[i] = Cell{Column: c.Name, Wide: c.Priority > 0}.String()
	}
	return strings.Join(names, ", ")
}

// printed returns a cell as kubectl shows it, or "" if there is nothing to show.
func printed(cell any) string {
	if cell == nil {
		return ""
	}
	return fmt.Sprint(cell)
}

// Serves expects that the API server serves these resources of a group and version, with their
// kind, scope, singular, and all of their categories and short names.
func (e *Env) Serves(ctx context.Context, group schema.GroupVersion, wanted ...metav1.APIResource) {
	client, err := discovery.NewDiscoveryClientForConfig(e.place.Cluster.Config())
	if err != nil {
		e.fail(ctx, "asking what is served: %w", err)
	}
	list, err := client.ServerResourcesForGroupVersion(group.String())
	if apierrors.IsNotFound(err) {
		e.Fail("%s is not served", group)
	}
	if err != nil {
		e.fail(ctx, "asking what %s serves: %w", group, err)
	}
	for _, w := range wanted {
		i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == w.Name })
		if i < 0 {
			e.Fail("%s doesn't serve %s", group, w.Name)
		}
		if got := list.APIResources[i]; !serves(got, w) {
			e.Fail("%s serves %s as %s; wanted is %s", group, w.Name, got.String(), w.String())
		}
		e.claim(fmt.Sprintf("%s serves %s", group, w.Name))
	}
}

// ServesNoOther expects that the API server serves these resources in no other version of the group.
func (e *Env) ServesNoOther(ctx context.Context, version schema.GroupVersion, resources ...string) {
	client, err := discovery.NewDiscoveryClientForConfig(e.place.Cluster.Config())
	if err != nil {
		e.fail(ctx, "asking what is served: %w", err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		e.fail(ctx, "asking what is served: %w", err)
	}
	for _, resource := range resources {
		served := versions(lists, version.Group, resource)
		if !slices.Equal(served, []string{version.String()}) {
			e.Fail("%s is served in %s; wanted is %s alone", resource, strings.Join(served, ", "), version)
		}
		e.claim(fmt.Sprintf("%s is served in %s alone", resource, version))
	}
}

// versions returns the versions of a group that serve a resource.
func versions(lists []*metav1.APIResourceList, group, resource string) []string {
	var served []string
	for _, list := range lists {
		is := func(r metav1.APIResource) bool { return r.Name == resource }
		if strings.HasPrefix(list.GroupVersion, group+"/") && slices.ContainsFunc(list.APIResources, is) {
			served = append(served, list.GroupVersion)
		}
	}
	return served
}

func serves(got, wanted metav1.APIResource) bool {
	lacks := func(name string) bool { return !slices.Contains(slices.Concat(got.Categories, got.ShortNames), name) }
	return got.Kind == wanted.Kind && got.Namespaced == wanted.Namespaced && got.SingularName == wanted.SingularName &&
		!slices.ContainsFunc(slices.Concat(wanted.Categories, wanted.ShortNames), lacks)
}
