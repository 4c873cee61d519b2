package existing

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/semver"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// answerWithin is how long an API server may take to return its version.
const answerWithin = 10 * time.Second

// oldest is the first release of Kubernetes that serves all that specs use.
const oldest = "v1.30"

// access returns the access to the cluster of KUBECONFIG.
func access(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return nil, errors.New("KUBECONFIG is not set: it must name the file with the access to the cluster")
	}
	config, err := cluster.Kubeconfig(kubeconfig, "")
	if err != nil {
		return nil, fmt.Errorf("KUBECONFIG: %w", err)
	}
	config.QPS = -1                           // the harness's own requests aren't what is tested
	config.WarningHandler = rest.NoWarnings{} // the harness lists all kinds, also deprecated ones
	return config, nil
}

// Kubernetes returns the version that the API server reports. If asked is set, it must match:
// "1.36", "v1.36" or the full version.
func Kubernetes(kubeconfig, asked string) (version string, err error) {
	config, err := access(kubeconfig)
	if err != nil {
		return "", err
	}
	config.Timeout = answerWithin
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", fmt.Errorf("KUBECONFIG=%s: %w", kubeconfig, err)
	}
	served, err := client.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("KUBECONFIG=%s: the API server %s does not answer: %w", kubeconfig, config.Host, err)
	}
	version = served.GitVersion
	wanted := "v" + strings.TrimPrefix(asked, "v")
	release := strings.TrimSuffix(version, semver.Build(version)) // such as +k3s1
	switch {
	case semver.Compare(semver.MajorMinor(version), oldest) < 0:
		return "", fmt.Errorf("the API server %s is %s; it must be %s or later", config.Host, version, oldest)
	case asked != "" && wanted != semver.MajorMinor(version) && wanted != release && wanted != version:
		return "", fmt.Errorf("the API server %s is %s; leave K8S out to take it as it is", config.Host, version)
	}
	return version, nil
}

// clients holds the clients of the cluster.
type clients struct {
	config  *rest.Config
	typed   kubernetes.Interface
	dynamic dynamic.Interface
}

func connect(kubeconfig string) (*clients, error) {
	config, err := access(kubeconfig)
	if err != nil {
		return nil, err
	}
	c := &clients{config: config}
	if c.typed, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	c.dynamic, err = dynamic.NewForConfig(config)
	return c, err
}
