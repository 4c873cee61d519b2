package hostnode

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// refuse says what of the container this node can't do. All of it at once, and
// before anything is started: half a pod would fail in ways that are hard to read.
func refuse(p *corev1.Pod, c *corev1.Container, way Isolation) error {
	var problems []error
	for _, m := range c.VolumeMounts {
		v := volumeNamed(p, m.Name)
		if v == nil {
			continue
		}
		if err := refuseVolume(v); err != nil {
			problems = append(problems, err)
		} else if way == None && m.MountPath != accountDir {
			problems = append(problems, fmt.Errorf(
				"volume %q can't be mounted at %s: processes have no root of their own here (not root, and no user namespaces)", v.Name, m.MountPath))
		}
	}
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if probe != nil && probe.GRPC != nil {
			problems = append(problems, fmt.Errorf("a gRPC probe is not supported on node %s", Name))
		}
	}
	return errors.Join(problems...)
}

func refuseVolume(v *corev1.Volume) error {
	switch s := v.VolumeSource; {
	case s.HostPath != nil:
		return fmt.Errorf("volume %q: hostPath %s is refused: node %s is not a machine whose files a pod should see", v.Name, s.HostPath.Path, Name)
	case s.ConfigMap != nil, s.Secret != nil, s.DownwardAPI != nil, s.EmptyDir != nil:
		return nil
	case s.Projected != nil:
		for _, part := range s.Projected.Sources {
			if part.ClusterTrustBundle != nil || part.PodCertificate != nil {
				return fmt.Errorf("volume %q: projections of trust bundles and pod certificates are not supported on node %s", v.Name, Name)
			}
		}
		return nil
	}
	return fmt.Errorf("volume %q is of a kind that is not supported on node %s; supported: configMap, secret, downwardAPI, projected, emptyDir", v.Name, Name)
}
