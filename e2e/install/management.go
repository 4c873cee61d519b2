package install

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/providers"
)

const (
	// managementName is the name of the Secret with the management cluster's kubeconfig, for
	// the simulator.
	managementName = "plumbline-management"
	// managementVariable is the environment variable with the path of that kubeconfig.
	managementVariable = "PLUMBLINE_MANAGEMENT"
)

// manage starts the adapter's management cluster, if any, with its CRDs and manifests. It
// returns a kubeconfig that needs no other files.
func (p *Prepared) manage(ctx context.Context, c cluster.Cluster, v providers.Values,
	say func(string),
) (kubeconfig string, err error) {
	m := p.adapter.Management
	if m == nil {
		return "", nil
	}
	manager, ok := c.(cluster.Manager)
	if !ok {
		return "", fmt.Errorf("the adapter of %s has a management cluster, which this backend can't start; "+
			"the default one can", p.adapter.Name)
	}
	say("starting the management cluster")
	access, err := manager.Management(ctx)
	if err != nil {
		return "", fmt.Errorf("the management cluster: %w", err)
	}
	k, err := newClients(access.Config())
	if err != nil {
		return "", err
	}
	if err := k.establish(ctx, p.managementCRDs); err != nil {
		return "", fmt.Errorf("the management cluster: %w", err)
	}
	objects, err := p.renderFiles(m.Manifests, v)
	if err != nil {
		return "", fmt.Errorf("management: %w", err)
	}
	if err := k.applyAll(ctx, inOrder(objects), v.Namespace); err != nil {
		return "", fmt.Errorf("the management cluster: %w", err)
	}
	return portable(access.Kubeconfig())
}

// portable returns a kubeconfig with the contents of the files that it names.
func portable(file string) (string, error) {
	config, err := clientcmd.LoadFromFile(file)
	if err == nil {
		err = clientcmdapi.FlattenConfig(config)
	}
	if err != nil {
		return "", fmt.Errorf("the management cluster's kubeconfig: %w", err)
	}
	text, err := clientcmd.Write(*config)
	return string(text), err
}

// giveManagement gives the management cluster's kubeconfig to the simulator.
func giveManagement(pod *corev1.Pod, meta metav1.ObjectMeta, v providers.Values) *corev1.Secret {
	meta.Name = managementName
	giveSecret(pod, managementName, providers.ManagementFolder, managementVariable, v.ManagementFile)
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta,
		Data: map[string][]byte{"kubeconfig": []byte(v.Management)},
	}
}

// giveSecret mounts a Secret into the simulator's container, and tells where by a variable.
func giveSecret(pod *corev1.Pod, secret, folder, variable, value string) {
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name:         secret,
		VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}},
	})
	c := &pod.Spec.Containers[0]
	c.Env = append(c.Env, corev1.EnvVar{Name: variable, Value: value})
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: secret, MountPath: folder, ReadOnly: true})
}
