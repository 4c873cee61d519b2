package simulator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Cluster is the cluster that instances join. With the zero value they live, but join nothing.
type Cluster struct {
	client kubernetes.Interface
	config *rest.Config
	// Endpoint is the URL of its API server. Version is the API server's, such as v1.36.3.
	Endpoint, Version string
}

// Connect finds the cluster as kubectl does: by $KUBECONFIG, or else as a pod of the cluster.
func Connect() (*Cluster, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster of the instances: %w", err)
	}
	config.QPS = -1 // no rate limit: a cloud starts a thousand instances at once
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster of the instances: %w", err)
	}
	return &Cluster{client: client, config: config, Endpoint: config.Host, Version: version.GitVersion}, nil
}

// Client returns a client of the cluster, or nil with the zero value.
func (c *Cluster) Client() kubernetes.Interface { return c.client }

// Config returns the configuration of further clients, such as a dynamic one, or nil with the zero value.
func (c *Cluster) Config() *rest.Config {
	if c.config == nil {
		return nil
	}
	return rest.CopyConfig(c.config)
}

// Node holds what an instance's kubelet and the cloud controller manager report about it.
type Node struct {
	Name       string
	ProviderID string
	// Labels are all that there are: also kubernetes.io/hostname, those of the operating system and the architecture, and
	// the type, zone and region that the cloud controller manager tells. Taints hold karpenter.sh/unregistered, if the
	// instance's user data asks for it.
	Labels, Annotations map[string]string
	Taints              []corev1.Taint
	// Allocatable is the part of Capacity that is left for pods.
	Capacity, Allocatable corev1.ResourceList
	// Conditions are there from the start. KWOK adds those of a healthy kubelet.
	Conditions []corev1.NodeCondition
	// KubeletVersion is such as v1.36.3; empty: the API server's.
	KubeletVersion string
}

// played is the annotation of nodes whose kubelet KWOK plays, and silent the label of those whose kubelet has stopped.
// KWOK lets go of nodes with the label. It doesn't notice that a node loses the annotation, and would renew the leases
// of nodes that are gone.
const (
	played = "kwok.x-k8s.io/node"
	silent = "plumbline.test/silent"
)

// join registers a node as its kubelet would. If there is a node of that name, the kubelet takes it over with its
// taints: an earlier instance has left it.
func (c *Cluster) join(ctx context.Context, n Node) {
	annotations := map[string]string{played: "fake"}
	maps.Copy(annotations, n.Annotations)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels, Annotations: annotations},
		Spec:       corev1.NodeSpec{ProviderID: n.ProviderID, Taints: n.Taints},
		Status: corev1.NodeStatus{
			Capacity: n.Capacity, Allocatable: n.Allocatable, Conditions: n.Conditions,
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion: cmp.Or(n.KubeletVersion, c.Version), OperatingSystem: "linux",
				Architecture: n.Labels[corev1.LabelArchStable],
			},
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: n.Name}},
		},
	}
	c.persist(ctx, "joining "+n.Name, func(ctx context.Context) error {
		_, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		if err = c.Speak(ctx, n.Name); apierrors.IsNotFound(err) {
			return fmt.Errorf("it has left meanwhile: %s", n.Name)
		}
		return err
	})
}

// Silence stops a node's kubelet. The node becomes not ready at once, as the node lifecycle controller makes it 40 s
// after the last report.
func (c *Cluster) Silence(ctx context.Context, node string) error {
	if err := c.play(ctx, node, "null", `"true"`); err != nil {
		return err
	}
	now := metav1.Now()
	status, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown",
		Message: "Kubelet stopped posting node status.", LastHeartbeatTime: now, LastTransitionTime: now,
	}}}})
	if err != nil {
		return err
	}
	_, err = c.client.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, status,
		metav1.PatchOptions{}, "status")
	return err
}

// Speak starts the kubelet of a node that Silence has stopped.
func (c *Cluster) Speak(ctx context.Context, node string) error {
	return c.play(ctx, node, `"fake"`, "null")
}

// play tells KWOK whether it plays a node's kubelet, by the values of the annotation and of the label, as JSON.
func (c *Cluster) play(ctx context.Context, node, annotation, label string) error {
	if c.client == nil {
		return errors.New("the simulator runs without a cluster (--alone): there are no nodes")
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s},"labels":{%q:%s}}}`, played, annotation, silent, label)
	_, err := c.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("node %s has not joined yet, or has left: %w", node, err)
	}
	return err
}

// leave deletes a node whose instance is gone, as the cloud controller manager does.
func (c *Cluster) leave(ctx context.Context, name string) {
	c.persist(ctx, "deleting "+name, func(ctx context.Context) error {
		return c.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	})
}

// publish records an instance's state in an Event about its node, which need not exist. So
// recordings of the cluster show the cloud too.
func (c *Cluster) publish(ctx context.Context, n Node, s State) {
	now := metav1.Now()
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:      fmt.Sprintf("%s.%x", n.Name, now.UnixNano()),
			Namespace: metav1.NamespaceDefault,
		},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: n.Name},
		Type:           corev1.EventTypeNormal, Reason: "Instance" + reasons[s], Message: n.ProviderID,
		Source: corev1.EventSource{Component: component}, FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	c.persist(ctx, "telling of "+n.Name, func(ctx context.Context) error {
		_, err := c.client.CoreV1().Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
		return err
	})
}

// component is the source of the events.
const component = "plumbline-simulator"

// again is the time between attempts of a request to the API server.
const again = 500 * time.Millisecond

// persist repeats a request until it succeeds or ctx ends, as the API server may be down.
func (c *Cluster) persist(ctx context.Context, what string, do func(context.Context) error) {
	if c.client == nil {
		return
	}
	_ = wait.PollUntilContextCancel(ctx, again, true, func(ctx context.Context) (bool, error) {
		err := do(ctx)
		if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
			return true, nil // an earlier attempt succeeded, but its response was lost
		}
		if err != nil && ctx.Err() == nil {
			slog.Warn("it is tried again", "what", what, "error", err)
		}
		return err == nil, nil
	}) // it fails only when ctx ends
}
