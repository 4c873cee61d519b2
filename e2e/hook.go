package e2e

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/plumbline-e2e/plumbline/providers"
)

// Hook does something to the provider's cloud, or to the spec's NodeClass, by
// the adapter's hook of that name. About says which node, instance or number it
// is about, where it is about one. The spec is skipped where the adapter has no
// such hook.
func (e *Env) Hook(ctx context.Context, name providers.HookName, about ...providers.HookValues) {
	var v providers.HookValues
	if len(about) > 0 {
		v = about[0]
	}
	e.nodeClass(ctx)
	v.NodeClass, v.Kubeconfig, v.Nonce = nodeClassObject, e.session.Cluster.Kubeconfig(), rand.String(8)
	v.Now = e.recorder.History().Taken().UTC().Format(time.RFC3339)
	_, err := e.session.Provider.Call(ctx, name, v)
	if errors.Is(err, providers.ErrNoHook) {
		e.skip("%v", err)
	}
	if err != nil {
		e.fail(ctx, "%w", err)
	}
}
