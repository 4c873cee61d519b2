package hostnode

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// refuse lists everything in a pod that this node doesn't support, with advice. It runs before
// anything is started, because a partial pod would fail in ways that are hard to read.
func refuse(p *corev1.Pod) error {
	var problems []error
	users := map[string]string{} // of each emptyDir, the container that mounts it
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		say := func(err error) { problems = append(problems, fmt.Errorf("container %s: %w", c.Name, err)) }
		for _, m := range c.VolumeMounts {
			v := volumeNamed(p, m.Name)
			if v == nil {
				continue
			}
			if err := refuseVolume(v); err != nil {
				say(err)
			}
			if m.SubPath != "" || m.SubPathExpr != "" {
				say(fmt.Errorf("volume %q: subPath is not supported on node %s; mount the whole volume into a folder of its own",
					v.Name, Name))
			}
			if user, taken := users[v.Name]; taken && v.EmptyDir != nil {
				say(fmt.Errorf("volume %q: container %s mounts this emptyDir already, and on node %s only one mount of it is "+
					"supported; "+
					"give each container an emptyDir of its own", v.Name, user, Name))
			}
			users[v.Name] = c.Name
		}
		for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			if probe != nil && probe.HTTPGet == nil {
				say(fmt.Errorf("a probe by %s is not supported on node %s; ask an HTTP endpoint (httpGet), or leave the probe out",
					handler(probe), Name))
			}
		}
	}
	return errors.Join(problems...)
}

// handler returns the name of a probe's handler field in manifests.
func handler(p *corev1.Probe) string {
	switch {
	case p.TCPSocket != nil:
		return "tcpSocket"
	case p.GRPC != nil:
		return "grpc"
	default:
		return "exec"
	}
}

func refuseVolume(v *corev1.Volume) error {
	switch s := v.VolumeSource; {
	case s.HostPath != nil:
		return fmt.Errorf("volume %q: hostPath %s is refused: node %s is not a machine whose files a pod should see", v.Name,
			s.HostPath.Path, Name)
	case s.ConfigMap != nil, s.Secret != nil, s.DownwardAPI != nil, s.EmptyDir != nil:
		return nil
	case s.Projected != nil:
		for _, part := range s.Projected.Sources {
			if part.ClusterTrustBundle != nil || part.PodCertificate != nil {
				return fmt.Errorf("volume %q: projections of trust bundles and pod certificates are not supported on node %s",
					v.Name, Name)
			}
		}
		return nil
	}
	return fmt.Errorf("volume %q is of a kind that is not supported on node %s; supported: configMap, secret, "+
		"downwardAPI, projected, emptyDir", v.Name, Name)
}

// refuseMounts refuses all mounts but the service account's if the container has no own root.
func refuseMounts(c *corev1.Container, way Isolation) error {
	if way != None {
		return nil
	}
	var problems []error
	for _, m := range c.VolumeMounts {
		if m.MountPath != accountDir {
			problems = append(problems, fmt.Errorf(
				"volume %q can't be mounted at %s: processes have no root of their own here (not root, and no user namespaces)",
				m.Name, m.MountPath))
		}
	}
	return errors.Join(problems...)
}
