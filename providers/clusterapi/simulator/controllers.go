package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

var (
	deployments = schema.GroupVersionResource{Group: group, Version: version, Resource: "machinedeployments"}
	machines    = schema.GroupVersionResource{Group: group, Version: version, Resource: "machines"}
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// The steps of the controllers, by which faults and the journal name them.
const (
	createCall    = "machines:create"    // a Machine appears
	provisionCall = "machines:provision" // its computer is made
	deleteCall    = "machines:delete"    // it is deleted because of its MachineDeployment's replicas
)

// workers is the number of MachineDeployments that are worked on at a time.
const workers = 8

// controllers plays Cluster API's controllers of MachineDeployments and Machines. A change of an object
// starts the work. The work reads the present state, so it can be repeated.
type controllers struct {
	api    dynamic.Interface // of the management cluster
	base   *simulator.Base
	fleet  *simulator.Fleet[*machine]
	queue  workqueue.TypedRateLimitingInterface[types.NamespacedName] // of MachineDeployments
	late   time.Duration                                              // how late a Machine is whose creation is lost
	lock   sync.Mutex
	number map[types.NamespacedName]int // the last Machine's, by MachineDeployment
}

// run watches and works until ctx ends. It returns once the watches have begun.
func (c *controllers) run(ctx context.Context) error {
	informers := dynamicinformer.NewDynamicSharedInformerFactory(c.api, 0)
	type observer = func(_ context.Context, o *unstructured.Unstructured, gone bool)
	for kind, changed := range map[schema.GroupVersionResource]observer{
		deployments: c.deploymentChanged, machines: c.machineChanged,
	} {
		see := func(o any, gone bool) {
			if last, is := o.(cache.DeletedFinalStateUnknown); is {
				o = last.Obj
			}
			changed(ctx, o.(*unstructured.Unstructured), gone)
		}
		_, err := informers.ForResource(kind).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { see(o, false) },
			UpdateFunc: func(_, o any) { see(o, false) },
			DeleteFunc: func(o any) { see(o, true) },
		})
		if err != nil {
			return fmt.Errorf("watching %s: %w", kind.Resource, err)
		}
	}
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	for range workers {
		go func() {
			for c.next(ctx) {
			}
		}()
	}
	context.AfterFunc(ctx, c.queue.ShutDown)
	return ctx.Err()
}

func (c *controllers) deploymentChanged(_ context.Context, d *unstructured.Unstructured, _ bool) {
	c.queue.Add(types.NamespacedName{Namespace: d.GetNamespace(), Name: d.GetName()})
}

// machineChanged ends the computer of a Machine that is being deleted, and looks at its MachineDeployment.
func (c *controllers) machineChanged(ctx context.Context, m *unstructured.Unstructured, gone bool) {
	if (gone || m.GetDeletionTimestamp() != nil) && !c.fleet.Terminate(nodeName(m)) && !gone {
		go c.release(ctx, m.GetNamespace(), m.GetName()) // nothing was made for it
	}
	c.queue.Add(types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetLabels()[deploymentLabel]})
}

func (c *controllers) next(ctx context.Context) bool {
	key, ended := c.queue.Get()
	if ended {
		return false
	}
	defer c.queue.Done(key)
	if err := c.reconcile(ctx, key); err != nil && ctx.Err() == nil {
		slog.Warn("it is tried again", "MachineDeployment", key, "error", err)
		c.queue.AddRateLimited(key)
		return true
	}
	c.queue.Forget(key)
	return true
}

// reconcile makes a MachineDeployment have as many Machines as it has replicas. Machines of an older
// template are replaced one by one, the new one first.
func (c *controllers) reconcile(ctx context.Context, key types.NamespacedName) error {
	d, err := c.api.Resource(deployments).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := c.api.Resource(machines).Namespace(key.Namespace).
		List(ctx, metav1.ListOptions{LabelSelector: deploymentLabel + "=" + key.Name})
	if err != nil {
		return err
	}
	c.base.Random.Shuffle(len(list.Items), func(i, j int) { list.Items[i], list.Items[j] = list.Items[j], list.Items[i] })
	create, surplus := plan(d, list.Items)
	for range create {
		if err := c.create(ctx, d); err != nil {
			return err
		}
	}
	if len(surplus) > 0 {
		c.pause(ctx, c.call(deleteCall).Delay)
	}
	for _, m := range surplus {
		if err := c.delete(ctx, m.GetNamespace(), m.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// plan says how many Machines a MachineDeployment lacks, and which it has too many.
func plan(d *unstructured.Unstructured, all []unstructured.Unstructured) (create int,
	surplus []unstructured.Unstructured,
) {
	replicas := int(replicas(d))
	staying := slices.DeleteFunc(slices.Clone(all), func(m unstructured.Unstructured) bool {
		return m.GetDeletionTimestamp() != nil
	})
	rolls, ready := 0, true
	for _, m := range staying {
		if m.GetLabels()[revisionLabel] != revision(d) {
			rolls = 1
		} else if providerID(&m) == "" {
			ready = false
		}
	}
	if replicas > 0 && len(staying) < replicas+rolls {
		return replicas + rolls - len(staying), nil
	}
	if ready {
		rolls = 0 // the new ones run, so an old one can go
	}
	// Source: MachineSet's delete policy Random: marked ones, then those that don't run, then any.
	slices.SortStableFunc(staying, func(a, b unstructured.Unstructured) int {
		return cmp.Compare(priority(d, &a), priority(d, &b))
	})
	return 0, staying[:max(0, len(staying)-replicas-rolls)]
}

func priority(d, m *unstructured.Unstructured) int {
	_, marked := m.GetAnnotations()[deleteAnnotation]
	switch {
	case marked:
		return 0
	case m.GetLabels()[revisionLabel] != revision(d):
		return 1
	case providerID(m) == "":
		return 2
	default:
		return 3
	}
}

// revisionLabel tells Machines of different templates apart.
const revisionLabel = "machine-template-hash"

func revision(d *unstructured.Unstructured) string {
	template, _, _ := unstructured.NestedMap(d.Object, "spec", "template") // required by its schema
	text, _ := json.Marshal(template)                                      // it came from JSON
	return fmt.Sprintf("%x", sha256.Sum256(text))[:10]
}

func replicas(d *unstructured.Unstructured) int64 {
	n, _, _ := unstructured.NestedInt64(d.Object, "spec", "replicas") // checked by its schema
	return n
}

func providerID(m *unstructured.Unstructured) string {
	id, _, _ := unstructured.NestedString(m.Object, "spec", "providerID") // checked by its schema
	return id
}

func nodeName(m *unstructured.Unstructured) string {
	return (&machine{namespace: m.GetNamespace(), name: m.GetName()}).Name()
}

func ownedBy(d *unstructured.Unstructured) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(d, d.GroupVersionKind())}
}

// create makes a Machine and its computer.
func (c *controllers) create(ctx context.Context, d *unstructured.Unstructured) error {
	effect := c.call(createCall)
	if effect.Lost {
		effect.Delay += c.late
	}
	c.pause(ctx, effect.Delay)
	for {
		m, err := c.api.Resource(machines).Namespace(d.GetNamespace()).
			Create(ctx, newMachine(d, c.count(d)), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			continue // of an earlier life of this simulator
		}
		if err != nil {
			return err
		}
		go c.provision(ctx, &machine{namespace: m.GetNamespace(), name: m.GetName(), annotations: d.GetAnnotations()})
		return nil
	}
}

// count returns the number of the next Machine.
func (c *controllers) count(d *unstructured.Unstructured) int {
	c.lock.Lock()
	defer c.lock.Unlock()
	key := types.NamespacedName{Namespace: d.GetNamespace(), Name: d.GetName()}
	c.number[key]++
	return c.number[key]
}

// provision makes a Machine's computer, unless a fault prevents it for ever.
func (c *controllers) provision(ctx context.Context, m *machine) {
	effect := c.call(provisionCall)
	if effect.Silent || c.base.Faults.Shortage(m.offering()) {
		return
	}
	c.pause(ctx, effect.Delay)
	if err := c.fleet.Launch(m); err != nil {
		slog.Error("no computer is made", "Machine", m.Name(), "error", err)
		return
	}
	o, err := c.api.Resource(machines).Namespace(m.namespace).Get(ctx, m.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && o.GetDeletionTimestamp() != nil {
		c.fleet.Terminate(m.Name())
	}
}

// call counts a step and applies the faults to it.
func (c *controllers) call(name string) simulator.Effect {
	c.base.Journal.CountCall(name)
	return c.base.Faults.Call(name)
}

func (c *controllers) pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// entered tells Machines what becomes of their computers.
func (c *controllers) entered(ctx context.Context, m *machine, s simulator.State) {
	switch s {
	case simulator.Running:
		patch := fmt.Sprintf(`{"spec":{"providerID":%q}}`, m.ProviderID())
		c.persist(ctx, "telling the provider ID of "+m.Name(), func() error {
			_, err := c.api.Resource(machines).Namespace(m.namespace).
				Patch(ctx, m.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		})
	case simulator.ShuttingDown: // perhaps without the Machine's deletion, as a MachineHealthCheck would find
		c.persist(ctx, "deleting "+m.Name(), func() error { return c.delete(ctx, m.namespace, m.name) })
	case simulator.Terminated:
		c.release(ctx, m.namespace, m.name)
	}
}

func (c *controllers) delete(ctx context.Context, namespace, name string) error {
	err := c.api.Resource(machines).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// release lets a deleted Machine go.
func (c *controllers) release(ctx context.Context, namespace, name string) {
	c.persist(ctx, "releasing "+name, func() error {
		_, err := c.api.Resource(machines).Namespace(namespace).
			Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		return err
	})
}

// persist repeats a request until it succeeds, its object is gone, or ctx ends.
func (c *controllers) persist(ctx context.Context, what string, do func() error) {
	_ = wait.PollUntilContextCancel(ctx, again, true, func(context.Context) (bool, error) {
		err := do()
		if err == nil || apierrors.IsNotFound(err) {
			return true, nil
		}
		if ctx.Err() == nil {
			slog.Warn("it is tried again", "what", what, "error", err)
		}
		return false, nil
	}) // it fails only when ctx ends
}

// again is the time between attempts of a request to the API server.
const again = 500 * time.Millisecond
