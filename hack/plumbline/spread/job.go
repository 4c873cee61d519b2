package spread

import (
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Folders in the pods. All but these two can only be read.
const (
	workFolder = "/work" // caches, clusters and artifacts
	tmpFolder  = "/tmp"
)

// retries is how often a part starts again after its pod has failed. Evictions and drained nodes don't count.
const retries = 2

// What a worker's cluster takes, by measurement: README, "On Kubernetes".
const (
	cpuPerWorker    = 1000 // millicores
	memoryPerWorker = 1536 // MiB
	memoryBeside    = 512  // MiB, for the part's own process and the Ginkgo CLI
)

// resources are what a pod asks for. Memory is its limit too: the part's own processes die in a pod that takes more,
// and nobody else's. CPU has none: what is idle may be used.
func (o Options) resources() corev1.ResourceRequirements {
	memory := resource.NewQuantity(int64(memoryPerWorker*o.Workers+memoryBeside)<<20, resource.BinarySI)
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(cpuPerWorker*o.Workers), resource.DecimalSI),
			corev1.ResourceMemory: *memory,
		},
		Limits: corev1.ResourceList{corev1.ResourceMemory: *memory},
	}
}

// job returns the Job. Its pods have no privilege, no host path, no access to the API server, and a root that can't be
// written.
func (r *Run) job(image string) *batchv1.Job {
	labels := map[string]string{runLabel: r.name}
	ofJob := maps.Clone(labels)
	if r.Queue != "" {
		ofJob["kueue.x-k8s.io/queue-name"] = r.Queue
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: r.name, Namespace: r.namespace(), Labels: ofJob},
		Spec: batchv1.JobSpec{
			CompletionMode:       new(batchv1.IndexedCompletion),
			Completions:          new(int32(r.Parts)), //nolint:gosec // checked
			Parallelism:          new(int32(r.Parts)), //nolint:gosec // checked
			BackoffLimitPerIndex: new(int32(retries)),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionIgnore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
				},
			}}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       r.pod(image, labels),
			},
		},
	}
}

func (r *Run) pod(image string, labels map[string]string) corev1.PodSpec {
	env := []corev1.EnvVar{{Name: "SHARDS", Value: strconv.Itoa(r.Parts)}}
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		env = append(env, corev1.EnvVar{Name: name, Value: r.Env[name]})
	}
	return corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		TerminationGracePeriodSeconds: new(int64(60)),
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: labels},
		}},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(userID)), RunAsGroup: new(int64(userID)),
			FSGroup:        new(int64(userID)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: container, Image: image,
			Args: append([]string{"part", "--"}, r.Command...),
			Env:  env, Resources: r.resources(),
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			VolumeMounts: []corev1.VolumeMount{{Name: "work", MountPath: workFolder}, {Name: "tmp", MountPath: tmpFolder}},
		}},
		Volumes: []corev1.Volume{
			{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
	}
}
