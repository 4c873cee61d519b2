package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// hooks returns what happens to MachineDeployments behind the provider's back.
func (c *controllers) hooks() map[string]simulator.Hook {
	return map[string]simulator.Hook{
		"PUT /_sim/room": c.setRoom,
		"POST /_sim/roll": simulator.About(func(r *http.Request, id string) (any, error) {
			m, err := c.fleet.Find(id)
			if err != nil {
				return nil, err
			}
			return nil, c.roll(r.Context(), m)
		}),
	}
}

// setRoom lets the MachineDeployments of ?zone= and ?type=, or all, grow by ?machines= and no further.
func (c *controllers) setRoom(r *http.Request) (any, error) {
	query := r.URL.Query()
	room, err := strconv.ParseInt(query.Get("machines"), 10, 64)
	if err != nil || room < 0 {
		return nil, fmt.Errorf("?machines=%s: by how many Machines each MachineDeployment may grow must be a whole number, "+
			"0 or more", query.Get("machines"))
	}
	changed := []string{}
	return &changed, c.each(r.Context(), func(d *unstructured.Unstructured) error {
		o := (&machine{annotations: d.GetAnnotations()}).offering()
		if zone, kind := query.Get("zone"), query.Get("type"); zone != "" && zone != o.Zone || kind != "" && kind != o.Type {
			return nil
		}
		changed = append(changed, d.GetNamespace()+"/"+d.GetName())
		return c.setMaxSize(r.Context(), d, strconv.FormatInt(replicas(d)+room, 10))
	})
}

// reset lets all MachineDeployments grow again.
func (c *controllers) reset() {
	ctx := c.base.Context
	err := c.each(ctx, func(d *unstructured.Unstructured) error { return c.setMaxSize(ctx, d, nil) })
	if err != nil {
		slog.Error("MachineDeployments keep their greatest size", "error", err)
	}
}

// each calls do for each MachineDeployment.
func (c *controllers) each(ctx context.Context, do func(d *unstructured.Unstructured) error) error {
	all, err := c.api.Resource(deployments).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range all.Items {
		if err := do(&all.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// setMaxSize sets the greatest number of replicas of a MachineDeployment; nil: no limit.
func (c *controllers) setMaxSize(ctx context.Context, d *unstructured.Unstructured, n any) error {
	return c.patch(ctx, d.GetNamespace(), d.GetName(), map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{maxSizeAnnotation: n}},
	})
}

// roll changes the template of a Machine's MachineDeployment, so that all its Machines are replaced.
func (c *controllers) roll(ctx context.Context, m *machine) error {
	o, err := c.api.Resource(machines).Namespace(m.namespace).Get(ctx, m.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	annotation := map[string]any{"cluster.x-k8s.io/restartedAt": metav1.Now().Format(timeLayout)}
	patch := map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{
		"annotations": annotation,
	}}}}
	return c.patch(ctx, m.namespace, o.GetLabels()[deploymentLabel], patch)
}

// timeLayout has fractions of seconds: two rollouts in one second are two.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

func (c *controllers) patch(ctx context.Context, namespace, name string, patch map[string]any) error {
	text, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = c.api.Resource(deployments).Namespace(namespace).
		Patch(ctx, name, types.MergePatchType, text, metav1.PatchOptions{})
	return err
}
