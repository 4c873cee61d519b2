package env

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plumbline-e2e/plumbline/providers"
)

// TypeLabels returns the node labels of an instance's type, from the adapter's hook
// nodeLabels, which asks the provider's cloud. The spec is skipped if there is no such hook.
func (e *Env) TypeLabels(ctx context.Context, providerID string) map[string]string {
	if ok, why := e.place.Adapter.Has(providers.NodeLabels); !ok {
		e.skip("%s", why)
	}
	answer, err := e.place.Provider.Call(ctx, providers.NodeLabels,
		e.hookValues(providers.HookValues{ProviderID: providerID}))
	labels := map[string]string{}
	if err == nil {
		if err = json.Unmarshal(answer, &labels); err != nil {
			err = fmt.Errorf("hook %s: its answer %.100q is no JSON object of labels: %w", providers.NodeLabels, answer, err)
		}
	}
	if err != nil {
		e.fail(ctx, "%w", err)
	}
	return labels
}
