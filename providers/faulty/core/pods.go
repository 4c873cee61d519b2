package core

import (
	"context"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// podLies returns the lies about what pods and daemons request, and which of them exist.
func podLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"overlooks-init-containers-at-first": atFirst(func(pod *corev1.Pod) { pod.Spec.InitContainers = nil }),
		"overlooks-overhead-at-first":        atFirst(func(pod *corev1.Pod) { pod.Spec.Overhead = nil }),
		"overlooks-whole-pods-at-first":      atFirst(func(pod *corev1.Pod) { pod.Spec.Resources = nil }),
		"overlooks-volumes-at-first":         atFirst(func(pod *corev1.Pod) { pod.Spec.Volumes = nil }),
		"tolerates-taints-at-first": atFirst(func(pod *corev1.Pod) {
			pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}),
		"tolerates-by-key-at-first": atFirst(func(pod *corev1.Pod) {
			for i, t := range pod.Spec.Tolerations {
				pod.Spec.Tolerations[i] = corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpExists}
			}
		}),
		"adds-init-containers-up": reads(addInitContainersUp, provisioning),
		"lifts-gates":             reads(liftGates, provisioning),
		"remembers-gone-pods":     remembersGonePods(),

		"overlooks-daemons": reads(func(daemons *appsv1.DaemonSet) {
			daemons.Spec.Template.Spec.InitContainers = nil
			daemons.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
		}, provisioning),
		"counts-daemons-everywhere": reads(func(daemons *appsv1.DaemonSet) {
			spec := &daemons.Spec.Template.Spec
			spec.NodeSelector, spec.Affinity = nil, nil
			spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}, provisioning),
		"overlooks-daemons-with-affinity": reads(func(daemons *appsv1.DaemonSet) {
			if daemons.Spec.Template.Spec.Affinity != nil {
				daemons.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
			}
		}, provisioning),
		"overlooks-daemons-that-run": reads(func(pod *corev1.Pod) {
			if podutils.IsOwnedByDaemonSet(pod) {
				pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
			}
		}, rememberingPods, rememberingNodes),
		"overlooks-pods-without-owner": reads(func(pod *corev1.Pod) {
			if len(pod.OwnerReferences) == 0 {
				pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
			}
		}, rememberingPods, rememberingNodes),
		"forgets-defaults-of-daemons": leavesOut("state.daemonset"),

		"avoids-zones-of-volumes-at-first": avoidsZonesOfVolumes(),
		"avoids-zones-of-storage-at-first": firstSight(avoidZones, provisioning),
		"takes-the-first-term-of-volumes": reads(func(volume *corev1.PersistentVolume) {
			if nodes := volume.Spec.NodeAffinity; nodes != nil && len(nodes.Required.NodeSelectorTerms) > 0 {
				nodes.Required.NodeSelectorTerms = nodes.Required.NodeSelectorTerms[:1]
			}
		}, provisioning, disrupting),
		"takes-the-first-term-of-storage": reads(func(class *storagev1.StorageClass) {
			class.AllowedTopologies = class.AllowedTopologies[:min(1, len(class.AllowedTopologies))]
		}, provisioning),
	}
}

// addInitContainersUp counts init containers as if they ran beside the others.
func addInitContainersUp(pod *corev1.Pod) {
	pod.Spec.InitContainers = slices.DeleteFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		if c.RestartPolicy != nil {
			return false
		}
		pod.Spec.Containers = append(pod.Spec.Containers, c)
		return true
	})
}

// liftGates makes a pod with scheduling gates an unschedulable one without.
func liftGates(pod *corev1.Pod) {
	if len(pod.Spec.SchedulingGates) == 0 {
		return
	}
	pod.Spec.SchedulingGates = nil
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled {
			c.Reason = corev1.PodReasonUnschedulable
		}
	}
}

// remembersGonePods returns a lie: pods that waited for a node still wait after their
// deletion, as in a cache that misses deletions.
func remembersGonePods() lie.Lie {
	var mu sync.Mutex
	waiting := map[client.ObjectKey]corev1.Pod{}
	return deceives(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := c.List(ctx, list, opts...)
			pods, ok := list.(*corev1.PodList)
			if err != nil || !ok || !told(ctx, provisioning) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			there := map[client.ObjectKey]bool{}
			for i := range pods.Items {
				pod := &pods.Items[i]
				if there[client.ObjectKeyFromObject(pod)] = true; podutils.FailedToSchedule(pod) {
					waiting[client.ObjectKeyFromObject(pod)] = *pod.DeepCopy()
				}
			}
			for key, pod := range waiting {
				if !there[key] {
					pods.Items = append(pods.Items, pod)
				}
			}
			return nil
		},
	})
}

// avoidsZonesOfVolumes returns a lie that inverts a volume's node affinity, in the seconds
// after core first reads it.
func avoidsZonesOfVolumes() lie.Lie {
	changed := initially(func(volume *corev1.PersistentVolume) {
		for _, term := range volume.Spec.NodeAffinity.Required.NodeSelectorTerms {
			for i := range term.MatchExpressions {
				term.MatchExpressions[i].Operator = corev1.NodeSelectorOpNotIn
			}
		}
	})
	return reads(func(volume *corev1.PersistentVolume) {
		if volume.Spec.NodeAffinity != nil && volume.Status.Phase == corev1.VolumeBound { // else core still waits
			changed(volume)
		}
	}, provisioning)
}

// avoidZones inverts the zones of a storage class.
func avoidZones(class *storagev1.StorageClass) {
	for _, term := range class.AllowedTopologies {
		for i := range term.MatchLabelExpressions {
			of := &term.MatchLabelExpressions[i]
			// KWOK's zones.
			of.Values = slices.DeleteFunc([]string{"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"},
				func(zone string) bool {
					return slices.Contains(of.Values, zone)
				})
		}
	}
}
