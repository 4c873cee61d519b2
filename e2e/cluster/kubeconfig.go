package cluster

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Kubeconfig returns the access to a cluster from a kubeconfig, or from a list of them as in the variable KUBECONFIG.
// An empty context means the current one. Neither a default location nor a pod's service account stands in for a file
// that says nothing, so that no cluster is used by accident.
func Kubeconfig(list, context string) (*rest.Config, error) {
	files := filepath.SplitList(list)
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			return nil, err
		}
	}
	loaded, err := (&clientcmd.ClientConfigLoadingRules{Precedence: files}).Load()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	which := "its current context"
	if context != "" {
		which = "its context " + context
	}
	config, err := clientcmd.NewDefaultClientConfig(*loaded,
		&clientcmd.ConfigOverrides{CurrentContext: context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", list, which, err)
	}
	return config, nil
}
