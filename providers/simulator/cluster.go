package simulator

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Cluster is the cluster that instances join. With the zero value they live, but join nothing.
type Cluster struct {
	client kubernetes.Interface
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
	return &Cluster{client: client, Endpoint: config.Host, Version: version.GitVersion}, nil
}

// Node holds what an instance's kubelet and the cloud controller manager report about it.
type Node struct {
	Name       string
	ProviderID string
	Labels     map[string]string
	Taints     []corev1.Taint
	// Allocatable is the part of Capacity that is left for pods.
	Capacity, Allocatable corev1.ResourceList
}

// played is the annotation of nodes whose kubelet KWOK plays.
const played = "kwok.x-k8s.io/node"

// join registers a node as its kubelet would.
func (c *Cluster) join(ctx context.Context, n Node) {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels, Annotations: map[string]string{played: "fake"}},
		Spec:       corev1.NodeSpec{ProviderID: n.ProviderID, Taints: n.Taints},
		Status: corev1.NodeStatus{
			Capacity: n.Capacity, Allocatable: n.Allocatable,
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion: c.Version, OperatingSystem: "linux", Architecture: n.Labels[corev1.LabelArchStable],
			},
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: n.Name}},
		},
	}
	c.persist(ctx, "joining "+n.Name, func(ctx context.Context) error {
		_, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		return err
	})
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
			return true, nil // an earlier call succeeded, but its response was lost
		}
		if err != nil && ctx.Err() == nil {
			slog.Warn("it is tried again", "what", what, "error", err)
		}
		return err == nil, nil
	}) // it fails only when ctx ends
}
