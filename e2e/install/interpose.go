package install

import (
	"context"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/providers"
)

// interposerName is the name of the pod between the controller and the API server.
const interposerName = "plumbline-interposer"

// interposerOf is what runs in that pod. It has no rights: requests keep the credentials of their sender.
var interposerOf = &providers.Simulator{ //nolint:gochecknoglobals // a constant
	Build: &providers.Build{Module: providers.Plumbline, Package: "./e2e/faults/interposer"},
	Port:  6444, TLS: true, Ready: faults.Ready,
}

// interposer is a proxy in a pod, through which the controller reaches the API server. Local clusters have one of their
// own (cluster.Interposed).
type interposer struct{ server *simulator }

// interpose starts the proxy, if the cluster has none of its own and can run it.
func (p *Prepared) interpose(ctx context.Context, c cluster.Cluster, k *clients, v providers.Values, image string,
	say func(string),
) (*interposer, error) {
	if image == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	say("starting the proxy by which requests to the API server can fail")
	port, err := c.Port(interposerOf.Port)
	if err != nil {
		return nil, fmt.Errorf("a port for the proxy: %w", err)
	}
	ca, err := newAuthority()
	if err != nil {
		return nil, err
	}
	objects, err := interposerObjects(v, image, port, ca)
	if err != nil {
		return nil, err
	}
	server, err := p.serve(ctx, "proxy", objects, port, Installed{
		Namespace: v.Namespace, cluster: c, clients: k, selector: labels.Set(interposerLabels()).String(),
		container: simulatorContainer(interposerOf, image, nil, port), serviceAccount: "default",
	})
	if err != nil {
		return nil, err
	}
	return &interposer{server}, nil
}

func interposerLabels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": interposerName}
}

// interposerObjects returns the proxy's pod, and the Secret with the CA of its certificate.
func interposerObjects(v providers.Values, image string, port int, ca *authority,
) ([]*unstructured.Unstructured, error) {
	meta := metav1.ObjectMeta{Name: interposerName, Namespace: v.Namespace, Labels: interposerLabels()}
	cluster.Own(&meta)
	address := fmt.Sprintf("$(%s):%d", podAddress, port)
	pod := serverPod(meta, "", simulatorContainer(interposerOf, image, []string{address}, port))
	secret := ca.give(pod, meta, interposerName)
	return asAllUnstructured(secret, pod)
}

// The variables of the Service kubernetes, by which client libraries find the API server.
const (
	serviceHost = "KUBERNETES_SERVICE_HOST"
	servicePort = "KUBERNETES_SERVICE_PORT"
)

// serviceAccountFolder is where client libraries look for the credentials of a pod.
const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// redirect makes the controller reach the API server through the proxy: by the variables of the Service kubernetes, and
// by credentials with the proxy's CA in place of the API server's. Their token is the usual one.
func (i *interposer) redirect(m *manifests) error {
	if i == nil {
		return nil
	}
	path := []string{"spec", "template", "spec"}
	containers, _, err := unstructured.NestedSlice(m.deployment.Object, append(path, "containers")...)
	if err != nil {
		return err
	}
	container, err := ControllerContainer(containers)
	if err != nil {
		return err
	}
	env, _ := container["env"].([]any)
	container["env"] = append(env,
		map[string]any{"name": serviceHost, "value": i.server.pod.Status.PodIP},
		map[string]any{"name": servicePort, "value": strconv.Itoa(i.server.port)})
	mounts, _ := container["volumeMounts"].([]any)
	container["volumeMounts"] = append(mounts,
		map[string]any{"name": interposerName, "mountPath": serviceAccountFolder, "readOnly": true})
	if err := unstructured.SetNestedSlice(m.deployment.Object, containers, append(path, "containers")...); err != nil {
		return err
	}
	volumes, _, err := unstructured.NestedSlice(m.deployment.Object, append(path, "volumes")...)
	if err != nil {
		return err
	}
	volumes = append(volumes, map[string]any{"name": interposerName, "projected": map[string]any{"sources": []any{
		map[string]any{"serviceAccountToken": map[string]any{"path": "token"}},
		map[string]any{"secret": map[string]any{
			"name": interposerName, "items": []any{map[string]any{"key": caCert, "path": "ca.crt"}},
		}},
		map[string]any{"downwardAPI": map[string]any{"items": []any{
			map[string]any{"path": "namespace", "fieldRef": map[string]any{"fieldPath": "metadata.namespace"}},
		}}},
	}}})
	return unstructured.SetNestedSlice(m.deployment.Object, volumes, append(path, "volumes")...)
}

// Interposer returns what stands between the controller and the API server, or nil.
func (i *Installed) Interposer() faults.Interposer {
	if own, is := i.cluster.(cluster.Interposed); is {
		return own.Faults()
	}
	if i.interposer == nil {
		return nil
	}
	return faults.Remote(i.interposer.server.ask)
}

// interposerComponent is the proxy's name in messages.
const interposerComponent = "the proxy between the controller and the API server"
