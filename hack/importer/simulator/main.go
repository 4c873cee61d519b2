// Command simulator plays the cloud of this repository's provider. Its instances are the nodes that the provider makes.
package main

import (
	"errors"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

func main() {
	simulator.Main(simulator.Command{About: "The cloud of the KWOK provider.", Port: 4590, New: newCloud})
}

// newCloud returns a cloud without calls of its own: the provider makes nodes by the Kubernetes API.
func newCloud(b *simulator.Base) (simulator.Cloud, error) {
	if b.Nodes.Client() == nil {
		return simulator.Cloud{}, errors.New("without a cluster (--alone) there are no instances")
	}
	end := func(r *http.Request, id string) (any, error) {
		nodes := b.Nodes.Client().CoreV1().Nodes()
		all, err := nodes.List(r.Context(), metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, n := range all.Items {
			if n.Spec.ProviderID == id {
				return nil, nodes.Delete(r.Context(), n.Name, metav1.DeleteOptions{})
			}
		}
		return nil, fmt.Errorf("there is no instance %s", id)
	}
	return simulator.Cloud{
		Handler: http.NotFoundHandler(),
		Hooks:   map[string]simulator.Hook{"DELETE /_sim/instances": simulator.About(end)},
	}, nil
}
