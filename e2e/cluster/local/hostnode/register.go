package hostnode

import (
	"context"
	"fmt"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/applyconfigurations/coordination/v1"
)

// leaseSeconds is the node's lease duration. reportEvery is how often an unchanged status is
// written. Both are the kubelet's.
const (
	leaseSeconds = 40
	reportEvery  = 5 * time.Minute
)

func (n *Node) register(ctx context.Context) error {
	node := n.object()
	_, err := n.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) { // from an earlier run
		err = n.reportStatus(ctx)
	}
	if err != nil {
		return fmt.Errorf("registering node %s: %w", Name, err)
	}
	return nil
}

func (n *Node) object() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: Name, Labels: map[string]string{
			corev1.LabelOSStable:   "linux",
			corev1.LabelArchStable: runtime.GOARCH,
			corev1.LabelHostname:   Name,
		}},
		Spec: corev1.NodeSpec{
			Taints: []corev1.Taint{{Key: TaintKey, Value: "true", Effect: corev1.TaintEffectNoSchedule}},
		},
		Status: n.nodeStatus(metav1.Now()),
	}
}

// capacity returns made-up values: nothing enforces them, and a provider's pod must fit.
func capacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("4"),
		corev1.ResourceMemory:           resource.MustParse("8Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("20Gi"),
		corev1.ResourcePods:             resource.MustParse("20"),
	}
}

func (n *Node) nodeStatus(now metav1.Time) corev1.NodeStatus {
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason,
		message string,
	) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: kind, Status: status, Reason: reason, Message: message,
			LastHeartbeatTime: now, LastTransitionTime: now,
		}
	}
	return corev1.NodeStatus{
		Capacity: capacity(), Allocatable: capacity(),
		Conditions: []corev1.NodeCondition{
			condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "Plumbline plays this node's kubelet"),
			condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "is not measured"),
			condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "is not measured"),
			condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "is not measured"),
		},
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: loopback}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{
			KubeletEndpoint: corev1.DaemonEndpoint{Port: n.server.port()},
		},
		NodeInfo: corev1.NodeSystemInfo{
			OperatingSystem: "linux", Architecture: runtime.GOARCH, OSImage: "Plumbline host node",
			ContainerRuntimeVersion: "plumbline://" + string(n.isolation), KubeletVersion: "v1.0.0-plumbline",
		},
	}
}

// heartbeat renews the lease until the node is closed. It also restores the node's status:
// after a stall, the node lifecycle controller may have marked the node as dead.
func (n *Node) heartbeat() {
	tick := time.NewTicker(n.options.Heartbeat)
	defer tick.Stop()
	reported := time.Now()
	for {
		// A failure is retried at the next tick: at first the namespace may not exist. Others
		// report that the API server is gone.
		_ = n.renewLease(n.ctx)
		select {
		case <-n.ctx.Done():
			return
		case <-tick.C:
		}
		ready, err := n.isReady(n.ctx)
		if apierrors.IsNotFound(err) {
			_ = n.register(n.ctx)
			continue
		}
		if err == nil && (!ready || time.Since(reported) >= reportEvery) && n.reportStatus(n.ctx) == nil {
			reported = time.Now()
		}
	}
}

// isReady reports whether the node is Ready in the API.
func (n *Node) isReady(ctx context.Context) (ready bool, err error) {
	node, err := n.client.CoreV1().Nodes().Get(ctx, Name, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, nil
		}
	}
	return false, nil
}

func (n *Node) reportStatus(ctx context.Context) error {
	node, err := n.client.CoreV1().Nodes().Get(ctx, Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	status := n.nodeStatus(metav1.Now())
	for i := range status.Conditions {
		for _, old := range node.Status.Conditions {
			if old.Type == status.Conditions[i].Type && old.Status == status.Conditions[i].Status {
				status.Conditions[i].LastTransitionTime = old.LastTransitionTime
			}
		}
	}
	node.Status = status
	_, err = n.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

func (n *Node) renewLease(ctx context.Context) error {
	spec := coordination.LeaseSpec().WithHolderIdentity(Name).WithLeaseDurationSeconds(leaseSeconds).
		WithRenewTime(metav1.NowMicro())
	_, err := n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Apply(ctx,
		coordination.Lease(Name, corev1.NamespaceNodeLease).WithSpec(spec),
		metav1.ApplyOptions{FieldManager: "kubelet", Force: true})
	return err
}
